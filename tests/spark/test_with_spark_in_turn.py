"""Spark 4.3 and Python work in turn on one metastore: partitions, statistics, corrupted tables, views, any schema.

One Spark for each metastore does all the work of `interleaved`; Spark's own HiveExternalCatalog is the reference.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import metastored
from tests.spark.conftest import Metastore, empty
from tests.spark.interleaved import AWKWARD, CORRUPTED, HISTOGRAM, STATISTICS, VIEWS
from tests.spark.scala_values import plain
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
SCHEMAS = 30
COMMON = (
    "boolean", "byte", "short", "integer", "long", "float", "double", "decimal(12,3)", "string", "binary", "date",
    "timestamp", "timestamp_ntz",
)  # fmt: skip
COLLATIONS = ("spark.UTF8_LCASE", "icu.UNICODE_CI", "icu.UNICODE")
NAMES = ("Id", "naïve", "a.b", "two words", "UPPER", "quo`te", "日本", "x-y", "_", "1st")


def generated(seed: int) -> str:
    """A schema at random, as Spark's JSON: nested types, odd names, comments, collations, NOT NULL."""
    chance = random.Random(seed)
    nullable = seed % 2 == 0

    def field(name: str, depth: int) -> dict[str, Any]:
        kind = data_type(depth)
        metadata: dict[str, Any] = {"comment": f'the "{name}"\n\\ é'} if chance.random() < 0.3 else {}
        if kind == "string" and chance.random() < 0.3:
            metadata["__COLLATIONS"] = {name: chance.choice(COLLATIONS)}
        return {"name": name, "type": kind, "nullable": nullable or chance.random() < 0.5, "metadata": metadata}

    def nulls() -> bool:
        return nullable or chance.random() < 0.5

    def data_type(depth: int) -> Any:
        match chance.choice(("atomic", "atomic", "array", "map", "struct")) if depth else "atomic":
            case "array":
                return {"type": "array", "elementType": data_type(depth - 1), "containsNull": nulls()}
            case "map":
                key = chance.choice(("integer", "string", "date"))
                return {"type": "map", "keyType": key, "valueType": data_type(depth - 1), "valueContainsNull": nulls()}
            case "struct":
                names = chance.sample(NAMES[:5], chance.randint(1, 3))
                return {"type": "struct", "fields": [field(name, depth - 1) for name in names]}
        return chance.choice(COMMON)

    names = chance.sample(NAMES, chance.randint(1, 6))
    return json.dumps({"type": "struct", "fields": [field(name, 2) for name in names]}, ensure_ascii=False)


@pytest.fixture(scope="module")
def done(metastore: Metastore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("turns")
    schemas = json.dumps([generated(seed) for seed in range(SCHEMAS)])
    with metastored.connect(metastore.uri, user="ann", cache=False) as client:
        empty(client)
        yield run_spark(
            f"import json, sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom tests.spark.interleaved import work\n"
            f"result = work(spark, {metastore.uri!r}, {str(folder)!r}, json.loads({schemas!r}))",
            conf={
                "spark.hadoop.hive.metastore.uris": metastore.uri,
                "spark.sql.warehouse.dir": metastore.warehouse,
                "spark.sql.session.timeZone": "UTC",
            },
            timeout=540,
        )
        empty(client)


# --- partitions --------------------------------------------------------------------------------------------

STEPS = ("Python created", "Spark changed", "Spark created", "Python changed")


@pytest.mark.parametrize("step", STEPS)
def test_both_list_the_same_partitions(done: dict[str, Any], step: str) -> None:
    found = done["partitions"][step]
    assert found["python"]["names"] == found["spark"]["names"]
    by_name = [
        sorted(each["partitions"], key=lambda part: str(part["spec"])) for each in (found["python"], found["spark"])
    ]
    assert by_name[0] == by_name[1]
    assert len(by_name[0]) >= 4


def test_spark_reads_alters_renames_and_drops_partitions_of_python(done: dict[str, Any]) -> None:
    found = done["partitions"]["Spark changed"]
    names = found["python"]["names"]
    assert "Region=eu/Hour=1" in names and "Region=new/Hour=6" in names
    assert "Region=__HIVE_DEFAULT_PARTITION__/Hour=3" in names
    assert not any("gone" in name or "old" in name for name in names)
    moved = next(each for each in found["python"]["partitions"] if each["spec"]["Region"] == "eu")
    assert moved["location"].endswith("/moved")
    assert [3, None, 3] in found["rows"]


def test_python_alters_renames_drops_and_creates_partitions_of_spark(done: dict[str, Any]) -> None:
    found = done["partitions"]["Python changed"]
    parts = {each["spec"]["Region"]: each for each in found["spark"]["partitions"]}
    assert set(parts) == {"eu", AWKWARD, "__HIVE_DEFAULT_PARTITION__", "new", "late"}
    assert parts[AWKWARD]["parameters"]["by"] == "python"
    assert parts["new"]["location"].endswith("/s/Region=new/Hour=4")
    assert parts["late"]["location"].endswith("/s/Region=late/Hour=7")
    assert found["rows"] == [[1, "eu", 1], [2, AWKWARD, 2], [3, None, 3], [4, "new", 4]]


def test_statistics_of_a_partition_are_read_by_both(done: dict[str, Any]) -> None:
    created = {each["spec"]["Region"]: each for each in done["partitions"]["Python created"]["spark"]["partitions"]}
    assert created["eu"]["stats"] == [55, 9]
    analyzed = {each["spec"]["Region"]: each for each in done["partitions"]["Spark created"]["python"]["partitions"]}
    assert analyzed["eu"]["stats"][1] == 1


STORED = (
    *("void", "voids in an array", "voids in a struct"),
    *(f"stored as {format}" for format in ("sequencefile", "textfile", "rcfile", "avro", "orc", "parquet")),
    *(
        f"{what} of {provider}"
        for what in (
            "an altered table",
            "another schema",
            "a renamed table",
            "an added partition",
            "an altered partition",
        )
        for provider in ("parquet", "hive")
    ),
    *(f"comments of {serde}" for serde in ("OpenCSV", "Avro", "RegexSerDe", "text")),
)


@pytest.mark.parametrize("what", STORED)
def test_both_store_the_same(done: dict[str, Any], what: str) -> None:
    theirs, ours = done["stored"][what]
    assert ours == theirs


# --- statistics --------------------------------------------------------------------------------------------

LENGTHS = {
    "cbool": 1, "cbyte": 1, "cshort": 2, "cint": 4, "clong": 8, "cdouble": 8, "cfloat": 4, "cdecimal": 16, "cdate": 4,
    "ctimestamp": 8, "ctimestamp_ntz": 8,
}  # fmt: skip
BOUNDS = {
    "cbool": ("false", "true"), "cbyte": ("1", "2"), "cshort": ("1", "30000"), "cint": ("1", "40000000"),
    "clong": ("1", "5536453629"), "cdouble": ("1.123456789", "6.987654321"), "cfloat": ("1.12345", "7.54321"),
    "cdecimal": ("-1.756893400357024346", "84376864556435654231.524645784930122085"),
    "cdate": ("2016-05-08", "2016-05-09"),
    "ctimestamp": ("2016-05-08 00:00:01.123456", "2016-05-09 00:00:02.987654"),
    "ctimestamp_ntz": ("2016-05-08 00:00:01.123456", "2016-05-09 00:00:02.987654"),
    "cstring": (None, None), "cbinary": (None, None),
}  # fmt: skip


@pytest.mark.parametrize("step", ["analyzed", "written", "kept", "after an insert"])
def test_both_read_the_same_statistics(done: dict[str, Any], step: str) -> None:
    found = done["statistics"][step]
    assert found["python"] == found["spark"]
    assert found["python"]["columns"]


@pytest.mark.parametrize("name", BOUNDS)
def test_python_reads_the_statistics_of_each_type(done: dict[str, Any], name: str) -> None:
    """The values are those of Spark's StatisticsSuite."""
    found = done["statistics"]["analyzed"]["python"]["columns"][name]
    assert (found["distinct_count"], found["null_count"], found["version"]) == (2, 1, 2)
    assert (found["min"], found["max"]) == BOUNDS[name]
    if name in LENGTHS:
        assert found["avg_len"] == found["max_len"] == LENGTHS[name]


@pytest.mark.parametrize("step", ["analyzed", "written"])
def test_describe_extended_shows_what_python_reads(done: dict[str, Any], step: str) -> None:
    found = done["statistics"][step]
    for name, shown in found["described"].items():
        stat = found["python"]["columns"][name]
        texts = {key: "NULL" if stat[of] is None else str(stat[of]) for key, of in SHOWN.items()}
        assert {key: shown[key] for key in texts} == texts, name
        if stat["histogram"] is None:
            assert shown["histogram"] == "NULL"
            continue
        height, bins = stat["histogram"]
        assert numbers(shown["histogram"]) == {"height": height, "num_of_bins": len(bins)}
        for at, (low, high, distinct) in enumerate(bins):
            expected = {"lower_bound": low, "upper_bound": high, "distinct_count": distinct}
            assert numbers(shown[f"bin_{at}"]) == expected, name


def numbers(text: str) -> dict[str, float]:
    """The values of `height: 1.5, num_of_bins: 2`. Java writes large numbers in another way than Python."""
    return {name: float(value) for name, value in (each.split(": ") for each in text.split(", "))}


SHOWN = {
    "num_nulls": "null_count", "distinct_count": "distinct_count", "avg_col_len": "avg_len", "max_col_len": "max_len",
}  # fmt: skip


def test_spark_has_a_histogram_for_each_number_and_time(done: dict[str, Any]) -> None:
    columns = done["statistics"]["analyzed"]["python"]["columns"]
    having = {name for name, stat in columns.items() if stat["histogram"] is not None}
    assert having >= {"cbyte", "cshort", "cint", "clong", "cdouble", "cfloat", "cdecimal", "cdate", "ctimestamp"}
    assert "cstring" not in having


def test_spark_reads_the_histogram_of_python_and_plans_with_it(done: dict[str, Any]) -> None:
    written = done["statistics"]["written"]["spark"]["columns"]
    assert written == {name: plain(stat) for name, stat in STATISTICS.col_stats.items()}
    assert written["Id"]["histogram"][1] == [[each.lo, each.hi, each.ndv] for each in HISTOGRAM.bins]
    # Without the histogram, Spark takes values as spread evenly: 9 of 1000, which is one row of a hundred.
    assert done["statistics"]["estimated"] >= 80


def test_statistics_of_other_columns_are_dropped_when_the_table_changed(done: dict[str, Any]) -> None:
    assert set(done["statistics"]["after an insert"]["python"]["columns"]) == {"cint"}
    assert len(done["statistics"]["kept"]["python"]["columns"]) == 14


# --- corrupted tables and views ----------------------------------------------------------------------------

OTHER_NAMES = {"JsonParseException": "ConversionError"}
"""Errors that Spark does not name: Python's name for them."""


@pytest.mark.parametrize("state", CORRUPTED)
def test_a_corrupted_table_has_the_outcome_of_spark(done: dict[str, Any], state: str) -> None:
    assert_same_outcome(done["corrupted"][state])


@pytest.mark.parametrize("state", VIEWS)
def test_a_corrupted_view_has_the_outcome_of_spark(done: dict[str, Any], state: str) -> None:
    assert_same_outcome(done["views"][state])
    assert done["views"][state]["python"]["error"].startswith("INTERNAL_ERROR_METADATA_CATALOG.")


def assert_same_outcome(found: dict[str, Any]) -> None:
    expected = found["spark"]
    if isinstance(expected, dict):
        expected = {"error": OTHER_NAMES.get(expected["error"], expected["error"])}
    assert found["python"] == expected


@pytest.mark.parametrize("writer", ["of Spark", "of Python"])
def test_the_context_of_a_view_is_read_by_both(done: dict[str, Any], writer: str) -> None:
    found = done["views"][writer]
    assert found["python"] == found["spark"]
    namespace, columns, configs, *_ = found["python"]
    assert namespace == ["spark_catalog", "turns"]
    assert columns == ["One Column", "Other"]
    assert configs["spark.sql.session.timeZone"] == "Europe/Berlin"


def test_spark_selects_from_a_view_of_python(done: dict[str, Any]) -> None:
    assert done["views"]["rows"] == [[1, "x"]]


# --- schemas -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(SCHEMAS))
def test_any_schema_is_read_alike_and_stored_alike(done: dict[str, Any], seed: int) -> None:
    found = done["schemas"][seed]
    ours, theirs = found["created by Python"], found["created by Spark"]
    assert ours["python"] == ours["spark"]
    assert json.loads(ours["spark"]) == json.loads(found["given"])
    assert theirs["python"] == theirs["spark"]
    if seed % 2 == 0:  # Spark's createTable makes columns nullable.
        assert ours["parameters"] == theirs["parameters"]
        assert ours["columns"] == theirs["columns"]
