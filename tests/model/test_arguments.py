"""Which argument of a call has the wrong type, in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.model.arguments import fault, fits
from metastored.model.makers import table
from metastored.wire.generated.common import FieldSchema
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace

T = table("d.t", {"c": "int"})
CREATE = METHODS["create_table"]


@pytest.mark.parametrize(
    ("method", "args", "said"),
    [
        (
            "create_table",
            ("d.t",),
            "create_table: tbl has to be a Table, not the str 'd.t'; metastored.table(…)",
        ),
        ("get_table", ("d", 7), "get_table: tbl_name has to be a text, not the int 7"),
        ("get_partition", ("d", "t", "ds=1"), "get_partition: part_vals has to be a list of texts, not the str 'ds=1'"),
        ("get_partitions", ("d", "t", "all"), "get_partitions: max_parts has to be a number, not the str 'all'"),
        ("add_partitions", (T,), "add_partitions: new_parts has to be a list of Partition structs, not the Table"),
        ("drop_table", ("d", "t", "yes"), "drop_table: deleteData has to be True or False, not the str 'yes'"),
        (
            "create_role",
            ("r",),
            "create_role: role has to be a Role, not the str 'r'; import it from",
        ),
    ],
)
def test_an_argument_of_a_wrong_type_is_named_with_what_would_work(method: str, args: Any, said: str) -> None:
    assert not fits(METHODS[method], args)
    assert (fault(METHODS[method], args) or "").startswith(said)


def test_a_fault_inside_of_an_argument_is_named_by_its_path() -> None:
    wrong = replace(T, sd=replace(T.sd, cols=(FieldSchema("c", 7),)))  # type: ignore[arg-type, type-var]
    assert (
        fault(METHODS["create_table"], (wrong,)) == "create_table: tbl.sd.cols[0].type has to be a text, not the int 7"
    )
    named = replace(T, parameters={"a": 1})
    assert (
        fault(METHODS["create_table"], (named,)) == "create_table: tbl.parameters['a'] has to be a text, not the int 1"
    )


def test_a_number_that_is_too_large_is_reported_with_its_limits() -> None:
    reported = "get_partitions: max_parts is 40000, and has to be between -32768 and 32767"
    assert fault(METHODS["get_partitions"], ("d", "t", 40_000)) == reported


def test_arguments_of_the_right_types_have_no_fault() -> None:
    for args in ((T,), (None,)):
        assert fits(METHODS["create_table"], args)
        assert fault(METHODS["create_table"], args) is None
    assert fits(METHODS["get_partition"], ("d", "t", ["1"]))
    assert fits(METHODS["drop_table"], ("d", "t", 1))
