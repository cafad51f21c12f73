"""The values of a partition, however they are written."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from metastored.errors import InvalidInputException
from metastored.model.partitions import keys_of, listed, name_of, values_of
from metastored.wire.generated.common import FieldSchema, Table

KEYS = ("ds", "h")
TABLE = Table(partitionKeys=(FieldSchema("ds", "string"), FieldSchema("h", "int")))


@pytest.mark.parametrize(
    "given",
    [
        ("2024-01-01", "1"),
        ["2024-01-01", "1"],
        {"ds": "2024-01-01", "h": "1"},
        {"h": 1, "DS": date(2024, 1, 1)},
        "ds=2024-01-01/h=1",
        "h=1/ds=2024-01-01",
    ],
)
def test_a_list_a_dict_and_a_name_mean_the_same(given: Any) -> None:
    assert values_of("d.t", KEYS, given) == ("2024-01-01", "1")


def test_none_is_the_default_partition() -> None:
    assert values_of("d.t", KEYS, {"ds": None, "h": 1}) == ("__HIVE_DEFAULT_PARTITION__", "1")


def test_escapes_in_a_name_are_read() -> None:
    assert values_of("d.t", KEYS, "ds=a%2Fb/h=1") == ("a/b", "1")
    assert values_of("d.t", KEYS, "ds=a%3Db/h=1") == ("a=b", "1")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ds": "1"}, r"d\.t is partitioned by \(ds, h\), and values of \(ds\) were given"),
        ({"ds": "1", "h": "2", "x": "3"}, r"values of \(ds, h, x\) were given"),
        ("ds=1", r"values of \(ds\) were given"),
        (
            "2024-01-01",
            "does not name a partition of d.t: '2024-01-01' is not key=value; write \"ds=…/h=…\"",
        ),
        ("ds/h=1", "'ds' is not key=value"),
        ("ds=/h=1", "'ds=' has no value; that of the default partition is __HIVE_DEFAULT_PARTITION__"),
        ("=1/h=1", "'=1' is not key=value"),
        ("ds=a=b/h=1", "'ds=a=b' has more than one =; write %3D for a = in a value"),
        ("ds=1/h=1/DS=2", "the key DS occurs twice"),
        ("ds=1/h=1/", "'' is not key=value"),
        (("1",), "and 1 values were given: write"),
        ({"ds": 1.5, "h": 1}, "1.5 is not a value of the partition key ds: write it as text"),
        ({"ds": True, "h": 1}, "True is not a value of the partition key ds"),
        (7, "7 are not the values of a partition of d.t"),
    ],
)
def test_values_that_do_not_match_the_keys_are_refused_with_a_form_that_works(given: Any, said: str) -> None:
    with pytest.raises(InvalidInputException, match=said):
        values_of("d.t", KEYS, given)


def test_a_list_can_be_read_without_the_keys() -> None:
    assert listed("d.t", ["a", 1]) == ("a", "1")  # type: ignore[list-item]
    with pytest.raises(InvalidInputException, match="7 are not the values of a partition"):
        listed("d.t", 7)  # type: ignore[arg-type]


def test_a_partition_has_a_name_by_its_table() -> None:
    assert keys_of(TABLE) == KEYS
    assert name_of(TABLE, ("2024-01-01", "1")) == "ds=2024-01-01/h=1"
