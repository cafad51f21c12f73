"""The filters of get_table_names_by_filter."""

import re

import pytest

from metastored.filters.hive.tables import (
    BoundField,
    FieldValue,
    TableField,
    field_of,
    fields_of,
    only_parameter,
    parse_table_filter,
    table_predicate,
)
from metastored.filters.hive.tree import Comparison, FilterKeyError, FilterSyntaxError, In, Like, MultiIn, Not
from metastored.filters.logic import And, Or
from metastored.hive.generation import Generation

V2, V3, V4, V42 = Generation
OWNER, ACCESS = "hive_filter_field_owner__", "hive_filter_field_last_access__"
PARAMS = "hive_filter_field_params__"
NAME, TYPE = "hive_filter_field_tableName__", "hive_filter_field_tableType__"


def test_trino_and_iceberg_filter_by_parameters() -> None:
    text = f'{PARAMS}presto_view = "true" or {PARAMS}table_type like "ICEBERG"'
    assert parse_table_filter(text, V3) == Or(
        (Comparison(f"{PARAMS}presto_view", "=", "true"), Like(f"{PARAMS}table_type", "ICEBERG"))
    )


def test_owner_and_access_time_can_be_combined() -> None:
    text = f'{OWNER} like ".*o.*" and 0 <= {ACCESS}'
    assert parse_table_filter(text, V2) == And((Like(OWNER, "%o%"), Comparison(ACCESS, ">=", 0)))


def test_a_key_means_a_field() -> None:
    assert field_of(OWNER, V2) == (TableField.OWNER, "")
    assert field_of(ACCESS, V2) == (TableField.LAST_ACCESS, "")
    assert field_of(f"{PARAMS}EXTERNAL", V2) == (TableField.PARAMETER, "EXTERNAL")
    assert field_of(NAME, V4) == (TableField.NAME, "")
    assert field_of(TYPE, V4) == (TableField.TYPE, "")


@pytest.mark.parametrize(
    "text",
    [
        f'{PARAMS}n != "x"',
        f"{PARAMS}n = 5",
        f'({PARAMS}n) in ("a", "b")',
        f"{ACCESS} between 1 and 5",
        f'(struct({OWNER},{ACCESS})) in (const struct("a",1))',
    ],
)
def test_filters_that_hive_allows_are_allowed(text: str) -> None:
    for generation in Generation:
        assert parse_table_filter(text, generation) is not None


def test_names_and_types_are_for_hive_4() -> None:
    text = f'{NAME} = "t" and {TYPE} = "VIRTUAL_VIEW"'
    assert parse_table_filter(text, V4)
    with pytest.raises(FilterKeyError, match="Invalid key name in filter"):
        parse_table_filter(text, V3)


INVALID_KEY = "Invalid key name in filter.  Use constants from org.apache.hadoop.hive.metastore.api"


@pytest.mark.parametrize(
    ("generation", "text", "message"),
    [
        (V2, 'bogus = "x"', INVALID_KEY),
        (V42, '(bogus = "x") is not true', INVALID_KEY),
        (V2, f'{OWNER.upper()} = "x"', INVALID_KEY),
        (V2, f"{PARAMS}n > 1", "Only [!=, <>, =, LIKE] are supported operators for HIVE_FILTER_FIELD_PARAMS"),
        (V3, f"{PARAMS}n > 1", "Only [!=, LIKE, =, <>] are supported operators for HIVE_FILTER_FIELD_PARAMS"),
        (V3, f"{PARAMS}n between 1 and 2", "are supported operators for HIVE_FILTER_FIELD_PARAMS"),
        (V2, f'{ACCESS} like "1"', "Like is not supported for HIVE_FILTER_FIELD_LAST_ACCESS"),
        (V2, f'{ACCESS} = "1"', "is compared with seconds, an integer, not '1'"),
        (V2, f"{OWNER} = 1", "is compared with quoted text, not 1"),
    ],
)
def test_other_keys_operators_and_literals_are_refused(generation: Generation, text: str, message: str) -> None:
    with pytest.raises(FilterKeyError, match=re.escape(message)):
        parse_table_filter(text, generation)


def test_the_syntax_is_that_of_partition_filters() -> None:
    with pytest.raises(FilterSyntaxError, match=r"NoViableAltException\(-1@\[\]\)"):
        parse_table_filter("zzz", V2)


TABLE: dict[BoundField, FieldValue] = {
    BoundField(TableField.OWNER): "bob",
    BoundField(TableField.LAST_ACCESS): 7,
    BoundField(TableField.PARAMETER, "color"): "red",
    BoundField(TableField.TYPE): "MANAGED_TABLE",
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("", True),
        (f'{OWNER} = "bob"', True),
        (f'{OWNER} = "BOB"', False),
        (f'{OWNER} like "b.*" and {ACCESS} > 5', True),
        (f'{ACCESS} between 8 and 9 or {PARAMS}color = "red"', True),
        (f"{ACCESS} not between 1 and 9", False),
        (f'{PARAMS}color <> "red"', False),
        (f'{PARAMS}nope <> "red"', False),
        (f'{PARAMS}nope like ".*"', False),
        (f'({OWNER}) in ("al", "bob")', True),
        (f'({OWNER}) not in ("al", "bob")', False),
        (f'(struct({OWNER},{ACCESS})) in (const struct("bob",7))', True),
        (f'{TYPE} = "MANAGED_TABLE"', True),
    ],
)
def test_a_filter_holds_for_a_table_or_not(text: str, holds: bool) -> None:
    assert table_predicate(parse_table_filter(text, V4), V4)(TABLE.get) is holds


def test_the_fields_of_a_filter_are_listed() -> None:
    node = parse_table_filter(f'{OWNER} = "bob" and {PARAMS}color like "r.*"', V3)
    assert fields_of(node, V3) == {BoundField(TableField.OWNER), BoundField(TableField.PARAMETER, "color")}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (f'{PARAMS}a = "1"', "a"),
        (f'{PARAMS}a like "1%" and {PARAMS}a != "12"', "a"),
        (f'({PARAMS}a = "1" or {PARAMS}a = "2") and {PARAMS}a <> "3"', "a"),
        (f'{PARAMS}a = "1" or {PARAMS}b = "1"', None),
        (f'{PARAMS}a = "1" and {OWNER} = "ann"', None),
        (f'{OWNER} = "ann"', None),
    ],
)
def test_a_filter_that_one_parameter_decides_is_recognised(text: str, key: str | None) -> None:
    assert only_parameter(parse_table_filter(text, V3), V3) == key


def test_a_filter_that_holds_for_tables_without_the_parameter_is_not_decided_by_it() -> None:
    inner = Comparison(f"{PARAMS}a", "=", "1")
    assert only_parameter(Not(inner), V42) is None
    assert only_parameter(And((inner, Not(inner))), V42) is None
    assert only_parameter(In(f"{PARAMS}a", ("1",), True), V42) == "a"
    assert only_parameter(MultiIn((f"{PARAMS}a",), (("1",),), True), V42) is None
