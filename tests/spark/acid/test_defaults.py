"""Default values of columns from the metastore: whoever may alter a table can store any text there."""

from __future__ import annotations

import pytest

import metastored
from metastored.errors import NotSupported
from metastored.model.names import table_name
from metastored.spark.acid.rows.defaults import default_values, is_constant
from metastored.structs import AddDefaultConstraintRequest, SQLDefaultConstraint
from metastored.testing import running_server


@pytest.mark.parametrize(
    "text",
    ["1", "-3.5", "1L", "'a;b'", "'it''s'", "null", "true", "(1)", "cast('2024-01-01' as date)", "date'2024-01-01'",
     "cast(1 as decimal(5,2))", "CURRENT_DATE", "current_date()", "current_timestamp()", "current_user()"],
)  # fmt: skip
def test_constants_are_defaults(text: str) -> None:
    assert is_constant(text)


@pytest.mark.parametrize(
    "text",
    ["reflect('java.lang.Runtime', 'exec')", "java_method('a', 'b')", "(select 1)", "1) from secrets --",
     "current_date) union select (1", "1, 2", "1; drop table t", "1 -- end", "1 /* end */", "'open", "a", "version()",
     "1 1", ""],
)  # fmt: skip
def test_everything_else_is_not(text: str) -> None:
    assert not is_constant(text)


@pytest.mark.slow
def test_a_default_that_is_no_constant_is_refused_with_its_column() -> None:
    with running_server() as server, metastored.connect(server.uri, cache=False) as client:
        client.create_table(metastored.table("default.t", {"a": "int", "b": "string"}))
        for column, value in (("a", "7"), ("b", "reflect('java.lang.System', 'exit')")):
            constraint = SQLDefaultConstraint("hive", "default", "t", column, value, f"d_{column}", True)
            client.api.add_default_constraint(AddDefaultConstraintRequest((constraint,)))
            if column == "a":
                assert default_values(client, table_name("default.t")) == {"a": "7"}
        with pytest.raises(NotSupported, match=r"default of the column b of default\.t is not a constant"):
            default_values(client, table_name("default.t"))
