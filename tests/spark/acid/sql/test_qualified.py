"""Columns of a MERGE without a qualifier get that of the side that has them. Without Spark."""

from __future__ import annotations

import pytest

from metastored.errors import InvalidInputException
from metastored.spark.acid.sql.changing import qualified
from metastored.spark.acid.sql.values import Sql, Unqualified

SIDES = {"target": frozenset({"id", "name"}), "source": frozenset({"id", "x"})}


def test_a_column_gets_the_side_that_has_it() -> None:
    sql = Sql(
        "x > 1 AND name = source.id AND y", (), (Unqualified(0, "x"), Unqualified(10, "name"), Unqualified(31, "y"))
    )
    assert qualified(sql, SIDES) == "source.x > 1 AND target.name = source.id AND y"


def test_a_column_of_both_sides_is_an_error() -> None:
    with pytest.raises(InvalidInputException, match="id is a column of the target and of the source: qualify it"):
        qualified(Sql("id = 1", (), (Unqualified(0, "id"),)), SIDES)


def test_only_the_sides_that_a_clause_sees_count() -> None:
    sql = Sql("id + 1", (), (Unqualified(0, "id"),))
    assert qualified(sql, {"source": SIDES["source"]}) == "source.id + 1"
