"""Spark's predicates as filters of the metastore: the cases of Spark's FiltersSuite, and the rules around them."""

from __future__ import annotations

import pytest

from metastored.errors import SparkCatalogError
from metastored.filters.spark.conversion import SQL_WILDCARD, FilterRules, convert_filters
from metastored.filters.spark.predicates import parse_predicate
from metastored.model.spark.types import (
    BYTE,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIMESTAMP,
    CharType,
    StructField,
    StructType,
    VarcharType,
)

SCHEMA = StructType(
    tuple(
        StructField(name, type)
        for name, type in (
            ("intcol", INTEGER), ("strcol", STRING), ("stringcol", STRING), ("datecol", DATE), ("doublecol", DOUBLE),
            ("varcharcol", VarcharType(5)), ("charcol", CharType(5)), ("p", INTEGER), ("bytecol", BYTE),
            ("timecol", TIMESTAMP), ("Upper", INTEGER), ("and", STRING), ("a b", STRING),
        )
    )
)  # fmt: skip
NUMBERS = ", ".join(str(each) for each in range(1, 20))
TEXTS = ", ".join(f"'{each}'" for each in range(1, 20))
DATES = ", ".join(f"DATE '1970-01-{each + 1:02}'" for each in range(1, 20))


def converted(*predicates: str, rules: FilterRules | None = None) -> str:
    columns = {each.name: each.data_type for each in SCHEMA}
    return convert_filters([parse_predicate(each, SCHEMA) for each in predicates], columns, rules or FilterRules())


@pytest.mark.parametrize(
    ("predicates", "filter"),
    [
        (("stringcol > 'test'",), 'stringcol > "test"'),
        (("'test' > stringcol",), '"test" > stringcol'),
        (("intcol = 1",), "intcol = 1"),
        (("1 = intcol",), "1 = intcol"),
        (("1 = intcol", "'a' = strcol"), '1 = intcol and "a" = strcol'),
        (("datecol = DATE '2019-01-01'",), 'datecol = "2019-01-01"'),
        (
            ("datecol IN (DATE '2019-01-01', DATE '2019-01-07')",),
            '(datecol) in ("2019-01-01", "2019-01-07")',
        ),
        (("datecol = NULL",), ""),
        (("datecol IN (NULL)",), ""),
        (("strcol = ''",), 'strcol = ""'),
        (("varcharcol = 'x'",), ""),
        (("charcol = 'x'",), ""),
        (
            ("stringcol = 'p1\" and q=\"q1'", "'p2\" and q=\"q2' = stringcol"),
            "stringcol = 'p1\" and q=\"q1' and 'p2\" and q=\"q2' = stringcol",
        ),
        (("intcol IN (1, NULL)",), "(intcol) in (1)"),
        (("NOT intcol = 1", "NOT 'a' = strcol"), 'intcol != 1 and "a" != strcol'),
        (("strcol NOT IN ('a', 'b')",), '(strcol) not in ("a", "b")'),
        (("strcol NOT IN ('a', NULL)",), ""),
        (("NOT intcol IN (1, NULL)",), ""),
        (("intcol IN (NULL)",), ""),
        (("1 = intcol OR 2 = intcol",), "(1 = intcol or 2 = intcol)"),
    ],
)
def test_a_case_of_the_filters_suite(predicates: tuple[str, ...], filter: str) -> None:
    assert converted(*predicates) == filter


@pytest.mark.parametrize(
    ("predicate", "filter"),
    [
        (f"intcol IN ({NUMBERS})", "(intcol >= 1 and intcol <= 19)"),
        (f"stringcol IN ({TEXTS})", '(stringcol >= "1" and stringcol <= "9")'),
        (f"CAST(intcol AS BIGINT) IN ({NUMBERS})", "(intcol >= 1 and intcol <= 19)"),
        (f"doublecol IN ({NUMBERS})", ""),
        (f"datecol IN ({DATES})", '(datecol >= "1970-01-02" and datecol <= "1970-01-20")'),
        (f"intcol NOT IN ({NUMBERS})", ""),
        ("intcol IN (1, 2)", "(intcol) in (1, 2)"),
    ],
)
def test_a_list_above_the_threshold_becomes_a_range(predicate: str, filter: str) -> None:
    assert converted(predicate, rules=FilterRules(in_set_threshold=15)) == filter


@pytest.mark.parametrize(("threshold", "filter"), [(2, "(p >= 1 and p <= 2)"), (3, "(p) in (1, 2)")])
def test_a_null_counts_for_the_threshold_and_is_left_out(threshold: int, filter: str) -> None:
    assert converted("p IN (NULL, 1, 2)", rules=FilterRules(in_set_threshold=threshold)) == filter


@pytest.mark.parametrize(
    ("predicate", "filter"),
    [
        ("1 = intcol OR 2 = intcol", ""),
        ("intcol IN (1)", ""),
        ("intcol != 1", ""),
        ("intcol >= 1", "intcol >= 1"),
        ("intcol = 1 AND strcol = 'a'", 'intcol = 1 and strcol = "a"'),
    ],
)
def test_without_the_advanced_conversion_only_comparisons_are_converted(predicate: str, filter: str) -> None:
    assert converted(predicate, rules=FilterRules(advanced=False)) == filter


@pytest.mark.parametrize(
    "predicate",
    [
        "intcol <=> 1", "intcol IS NULL", "intcol IS NOT NULL", "intcol * 10 IN (30)", "intcol + 1 = 2",
        "CAST(strcol AS INT) = 1", "CAST(intcol AS TINYINT) = 1", "strcol = 1", "intcol = 1.5", "doublecol = 1",
        "timecol = TIMESTAMP '2024-01-01 00:00:00'", "datecol = TIMESTAMP '2024-01-01 00:00:00'",
        "strcol = DATE '2024-01-01'", "intcol = p", "upper(strcol) = 'A'", "strcol LIKE 'a_b'", "strcol NOT LIKE 'a%'",
        "NOT contains(strcol, 'a')", "startswith(strcol, 'a.b')", "strcol = 'a\\\\b'", "`and` = 'x'", "`a b` = 'x'",
        "intcol = 9223372036854775808",
    ],
)  # fmt: skip
def test_what_the_metastore_cannot_express_is_left_out(predicate: str) -> None:
    assert converted(predicate) == ""
    assert converted(predicate, "p = 1") == "p = 1"
    assert converted(f"({predicate}) OR p = 1") == ""
    assert converted(f"(({predicate}) AND p = 1) OR p = 2") == "(p = 1 or p = 2)"


@pytest.mark.parametrize(
    ("predicate", "filter"),
    [
        ("intcol BETWEEN 1 AND 3", "intcol >= 1 and intcol <= 3"),
        ("(intcol = 1 AND p >= 2) OR (intcol = 2 AND p < 2)", "((intcol = 1 and p >= 2) or (intcol = 2 and p < 2))"),
        ("intcol = 1 OR intcol = 2 OR intcol = 3", "((intcol = 1 or intcol = 2) or intcol = 3)"),
        ("NOT (intcol = 1 OR intcol > 5)", "intcol != 1 and intcol <= 5"),
        ("intcol = '7'", "intcol = 7"),
        ("datecol >= '2024-01-31'", 'datecol >= "2024-01-31"'),
        ("INTCOL = 1", "intcol = 1"),
        ("upper = 1", "Upper = 1"),
        ("CAST(bytecol AS INT) < 3", "bytecol < 3"),
    ],
)
def test_predicates_are_converted_as_the_optimiser_leaves_them(predicate: str, filter: str) -> None:
    assert converted(predicate) == filter


@pytest.mark.parametrize(
    ("predicate", "old", "new"),
    [
        ("contains(strcol, 'v')", ".*v.*", "%v%"),
        ("startswith(strcol, 'v')", "v.*", "v%"),
        ("endswith(strcol, 'v')", ".*v", "%v"),
        ("strcol LIKE 'v%'", "v.*", "v%"),
        ("strcol LIKE '%v'", ".*v", "%v"),
        ("strcol LIKE '%v%'", ".*v.*", "%v%"),
    ],
)
def test_parts_of_texts_have_the_wildcard_of_the_version(predicate: str, old: str, new: str) -> None:
    assert converted(predicate) == f'strcol like "{old}"'
    assert converted(predicate, rules=FilterRules(wildcard=SQL_WILDCARD)) == f'strcol like "{new}"'


def test_a_pattern_without_wildcards_is_an_equality() -> None:
    assert converted("strcol LIKE 'abc'") == 'strcol = "abc"'
    assert converted("strcol LIKE 'a%c'") == '(strcol like "a.*" and strcol like ".*c")'


def test_a_text_with_both_quotes_is_refused() -> None:
    with pytest.raises(SparkCatalogError) as caught:
        converted("strcol = 'a\"b\\'c'")
    assert caught.value.condition == "INTERNAL_ERROR_INVALID_PARTITION_FILTER_VALUE"
