"""Names that are values in a statement: every spelling that Spark reads as the name of an ACID table. Without Spark."""

from __future__ import annotations

import pytest

from metastored.errors import AcidStatementError
from metastored.spark.acid.sql.indirection import CannotEvaluate, only_literals, with_names
from tests.spark.acid.sql.test_planning import lookup


@pytest.mark.parametrize(
    "name",
    ["orders", "ORDERS", " orders ", "`orders`", "shop.orders", "shop . orders", "`shop`.`orders`", "orders -- x",
     "/* x */ orders", "spark_catalog.shop.orders"],
)  # fmt: skip
def test_a_name_is_found_in_all_spellings(name: str) -> None:
    assert "IDENTIFIER" not in with_names(f"SELECT * FROM IDENTIFIER('{name}')", lookup, only_literals)


def test_other_names_stay_as_they_are() -> None:
    text = "SELECT IDENTIFIER('a.b') FROM IDENTIFIER('customers') -- IDENTIFIER('orders')"
    assert with_names(text, lookup, only_literals) == text
    assert with_names("SELECT 'IDENTIFIER(''orders'')'", lookup, only_literals) == "SELECT 'IDENTIFIER(''orders'')'"


@pytest.mark.parametrize("argument", ["x", "concat('a', 'b')", "'or\\u0064ers'", "r'orders'", "'a' 'b'"])
def test_what_is_no_plain_literal_is_evaluated(argument: str) -> None:
    asked: list[str] = []

    def evaluate(text: str) -> str:
        asked.append(text)
        return "orders"

    assert with_names(f"DELETE FROM IDENTIFIER({argument})", lookup, evaluate) == "DELETE FROM `orders`"
    assert asked == [argument]


@pytest.mark.parametrize("value", ["a b", "", "a.b.c.d", "orders; DROP", "or'ders", "a..b"])
def test_a_value_that_is_no_name_is_refused(value: str) -> None:
    with pytest.raises(AcidStatementError, match="could not be read as a name"):
        with_names("SELECT * FROM IDENTIFIER(v)", lookup, lambda text: value)


def test_a_null_and_an_error_are_refused() -> None:
    def fails(text: str) -> str:
        raise CannotEvaluate("no variable v")

    with pytest.raises(AcidStatementError, match=r"IDENTIFIER\(…\) is null"):
        with_names("SELECT * FROM IDENTIFIER(v)", lookup, lambda text: None)
    with pytest.raises(AcidStatementError, match=r"cannot be evaluated here \(no variable v\)"):
        with_names("SELECT * FROM IDENTIFIER(v)", lookup, fails)


def test_a_subquery_on_an_acid_table_is_never_evaluated() -> None:
    def fails(text: str) -> str:
        raise AssertionError(text)

    with pytest.raises(AcidStatementError, match="names an ACID table"):
        with_names("SELECT * FROM IDENTIFIER((SELECT name FROM items))", lookup, fails)
