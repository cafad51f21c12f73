"""Filters in SQL match the same partitions as `metastored.filters.hive.tree.predicate`, on both databases."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metastored.filters.hive.tree import Between, Comparison, Filter, FilterKeyError, In, Like, MultiIn, Not, predicate
from metastored.filters.logic import And, Or
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_PARTITION
from metastored.store.engine.database import Database
from metastored.store.objects import partitions
from metastored.store.objects.partition_filters import PARAMETER_LIMIT, translate
from metastored.store.objects.partitions import NewPartition
from tests.support.examples import examples

KEYS = (("s", "string"), ("i", "int"), ("d", "date"))

TEXTS = ("", "a", "A", "b", "a%b", "a_b", "a*b", "[ab]", "a\\b", "éa", "\U0001f41d", "a\nb", "10", DEFAULT_PARTITION)
NUMBERS: tuple[str, ...] = (
    "0",
    "7",
    "07",
    "+7",
    "-7",
    "-07",
    "-0",
    "10",
    "9",
    "",
    "x",
    "7x",
    "+",
    "--7",
    " 7",
    "7\n",
    "٧",
)
NUMBERS += (
    DEFAULT_PARTITION,
    "9223372036854775807",
    "9223372036854775808",
    "-9999999999999999999",
    "00000000000000000007",
)
DATES = ("2024-01-01", "2024-01-02", "2023-12-31", "2024-1-1", "2024-01-01 ", "", "٢024-01-01", DEFAULT_PARTITION)

_rows = [(text, NUMBERS[n % len(NUMBERS)], DATES[n % len(DATES)]) for n, text in enumerate(TEXTS)]
_rows += [(TEXTS[n % len(TEXTS)], number, DATES[n // 3 % len(DATES)]) for n, number in enumerate(NUMBERS)]
_rows += [(TEXTS[n // 2 % len(TEXTS)], NUMBERS[n // 4 % len(NUMBERS)], day) for n, day in enumerate(DATES)]
ROWS: dict[str, tuple[str, str, str]] = {f"{number:03}": row for number, row in enumerate(_rows)}

_operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
_texts = st.sampled_from(TEXTS)
_numbers = st.sampled_from([0, 7, -7, 9, 10, 2**63 - 2, -(2**63) + 1])
_dates = st.sampled_from([date(2024, 1, 1), date(2024, 1, 2), date(1, 1, 1)])
_patterns = st.text(st.sampled_from("aAb%_*?[]\\é\n\U0001f41d"), max_size=4)
_literals: dict[str, st.SearchStrategy[Any]] = {"s": _texts, "i": _numbers, "d": _dates}
_keys = st.sampled_from(sorted(_literals))


@st.composite
def _leaves(draw: st.DrawFn) -> Filter:
    key = draw(_keys)
    literal, negated = _literals[key], draw(st.booleans())
    match draw(st.integers(0, 4)):
        case 0:
            return Like("s", draw(_patterns), negated)
        case 1:
            return Between(key, draw(literal), draw(literal), negated)
        case 2:
            return In(key, tuple(draw(st.lists(literal, max_size=3))), negated)
        case 3:
            row = st.tuples(*(_literals[name] for name in ("i", "s")))
            return MultiIn(("i", "s"), tuple(draw(st.lists(row, max_size=3))), negated)
        case _:
            return Comparison(key, draw(_operators), draw(literal))


def _branches(children: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    parts = st.lists(children, max_size=3).map(tuple)
    return st.one_of(parts.map(And), parts.map(Or), children.map(Not))


_filters = st.recursive(_leaves(), _branches, max_leaves=6)


@pytest.fixture
def filled(database: Database, table_id: int) -> tuple[Database, int]:
    rows = [NewPartition(name, values, 1, 1, None, 0, b"") for name, values in ROWS.items()]
    database.run(lambda tx: partitions.insert_many(tx, table_id, rows))
    return database, table_id


def _in_sql(filled: tuple[Database, int], node: Filter, generation: Generation) -> list[str] | None:
    database, table_id = filled
    where = translate(node, KEYS, generation, database.reader())
    if where is None:
        return None
    names = partitions.names_matching(database.reader(), table_id, where)
    assert partitions.count_matching(database.reader(), table_id, where) == len(names)
    return names


def _in_python(node: Filter, generation: Generation) -> list[str]:
    holds = predicate(node, KEYS, generation)
    return [name for name, values in ROWS.items() if holds(values)]


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(node=_filters, generation=st.sampled_from([Generation.HIVE_2_3, Generation.HIVE_4_0]))
def test_sql_and_python_agree(filled: tuple[Database, int], node: Filter, generation: Generation) -> None:
    assert _in_sql(filled, node, generation) == _in_python(node, generation)


@pytest.mark.parametrize("key", ["s", "i", "d"])
@pytest.mark.parametrize("op", ["=", "!="])
def test_the_default_partition_can_be_named_from_hive_4_on(filled: tuple[Database, int], key: str, op: str) -> None:
    node = Comparison(key, op, DEFAULT_PARTITION)
    assert _in_sql(filled, node, Generation.HIVE_4_0) == _in_python(node, Generation.HIVE_4_0)


@pytest.mark.parametrize(
    "node",
    [
        *(Comparison("d", op, text) for op in ("=", "!=", "<", ">=") for text in ("2024-1-1", "tomorrow")),
        *(In("d", ("2024-01-02", "2024-1-1"), negated) for negated in (False, True)),
        *(Like("d", "2024-01-0_", negated) for negated in (False, True)),
    ],
)
def test_dates_compare_with_other_text_as_strings_from_hive_4_on(filled: tuple[Database, int], node: Filter) -> None:
    assert _in_sql(filled, node, Generation.HIVE_4_0) == _in_python(node, Generation.HIVE_4_0)


@pytest.mark.parametrize("op", ["=", "<"])
def test_a_thousand_alternatives_are_one_query(filled: tuple[Database, int], op: str) -> None:
    node = Or(tuple(Comparison("s", op, f"{number}") for number in range(2000)))
    assert _in_sql(filled, node, Generation.HIVE_2_3) == _in_python(node, Generation.HIVE_2_3)


@pytest.mark.parametrize("generation", [Generation.HIVE_2_3, Generation.HIVE_4_0])
def test_equalities_of_several_keys_are_alternatives(filled: tuple[Database, int], generation: Generation) -> None:
    days = (date(2024, 1, 1), "2024-01-02", date(2023, 12, 31))
    equal = [
        Comparison(key, "=", each)
        for key, values in (("i", (7, 10)), ("s", ("a", "b")), ("d", days))
        for each in values
    ]
    node = Or((*equal, Comparison("i", ">", 9), Comparison("S", "=", "A")))
    assert _in_sql(filled, node, generation) == _in_python(node, generation)


def test_equalities_with_one_key_are_one_condition(filled: tuple[Database, int]) -> None:
    node = Or(tuple(Comparison("i", "=", number) for number in range(100)))
    where = translate(node, KEYS, Generation.HIVE_2_3, filled[0].reader())
    assert where is not None and len(where.params) == 2


NINE = tuple((f"k{number}", "string") for number in range(1, 10))


@pytest.mark.parametrize(
    ("node", "keys"),
    [
        (Comparison("k9", "=", "x"), NINE),
        (Comparison("t", "=", "2024-01-01 00:00:00"), (("t", "timestamp"),)),
        (Comparison("i", "<", 2**63 - 1), KEYS),
        (In("i", (-(2**63),)), KEYS),
        (Like("s", "x" * 20_000), KEYS),
        (Or(tuple(Comparison("s", "<", "x") for _ in range(PARAMETER_LIMIT + 1))), KEYS),
    ],
    ids=["ninth key", "timestamp", "extreme", "extreme in list", "long pattern", "too many"],
)
def test_conditions_that_sql_cannot_express_are_evaluated_in_python(
    database: Database, node: Filter, keys: Sequence[tuple[str, str]]
) -> None:
    assert translate(node, keys, Generation.HIVE_4_0, database.reader()) is None


def test_a_filter_that_hive_refuses_is_refused(database: Database) -> None:
    with pytest.raises(FilterKeyError, match="not a partitioning key"):
        translate(Comparison("nope", "=", "x"), KEYS, Generation.HIVE_2_3, database.reader())


HOSTILE = (
    "'",
    "''",
    "' OR '1' = '1",
    "'; DROP TABLE partitions; --",
    ":table_id",
    ":f0",
    "IN :f0",
    "%s",
    "%(table_id)s",
    "%%",
    "$1",
    "?",
    " FOR UPDATE",
    "\\'",
    '"v2"',
)


def _of_text(literal: str) -> tuple[Filter, ...]:
    """Every kind of condition, with a literal."""
    comparisons = (Comparison("s", op, literal) for op in ("=", "!=", "<", "<=", ">", ">="))
    return (
        *comparisons,
        Or((Comparison("s", "=", literal), Comparison("s", "=", "b"))),
        In("s", (literal, "b")),
        In("s", (literal,), True),
        Between("s", literal, literal),
        Like("s", literal),
        Like("s", literal, True),
        MultiIn(("i", "s"), ((7, literal),)),
        Not(Comparison("s", "=", literal)),
    )


@pytest.mark.parametrize("literal", HOSTILE)
def test_a_literal_is_never_part_of_the_text(database: Database, literal: str) -> None:
    tx = database.reader()
    for hostile, harmless in zip(_of_text(literal), _of_text("a"), strict=True):
        where, expected = (translate(node, KEYS, Generation.HIVE_4_0, tx) for node in (hostile, harmless))
        assert where is not None and expected is not None
        assert where.sql == expected.sql
        assert where.params.keys() == expected.params.keys()


@pytest.mark.parametrize("literal", HOSTILE)
def test_a_literal_of_any_text_finds_exactly_its_partitions(database: Database, table_id: int, literal: str) -> None:
    rows = {f"{number}": (text, "7", "2024-01-01") for number, text in enumerate((*HOSTILE, "a", "b"))}
    added = [NewPartition(name, values, None, None, None, -1, b"") for name, values in rows.items()]
    database.run(lambda tx: partitions.insert_many(tx, table_id, added))
    tx = database.reader()
    for node in _of_text(literal):
        where = translate(node, KEYS, Generation.HIVE_4_0, tx)
        assert where is not None
        matches = predicate(node, KEYS, Generation.HIVE_4_0)
        expected = sorted(name for name, values in rows.items() if matches(values))
        assert partitions.names_matching(tx, table_id, where) == expected
        assert partitions.count_matching(tx, table_id, where) == len(expected)


@pytest.mark.parametrize(
    "node",
    [
        Comparison("i", "=", 7),
        In("i", (7, 8)),
        And((Comparison("i", "=", 7), Comparison("s", "=", "a"))),
        MultiIn(("i", "s"), ((7, "a"), (8, "b"))),
    ],
)
def test_equalities_on_the_first_key_are_found_by_the_index(database: Database, node: Filter) -> None:
    if database.dialect != "sqlite":
        return  # PostgreSQL plans by the table's content, and here it is empty.
    used = _plan(database, node)
    assert used and all("partitions_values (table_id=? AND v1" in line for line in used)


@pytest.mark.parametrize("node", [Comparison("s", "=", "a"), In("s", ("a", "b")), Comparison("i", "<", 7)])
def test_other_conditions_are_evaluated_on_the_index_of_values(database: Database, node: Filter) -> None:
    if database.dialect != "sqlite":
        return
    used = _plan(database, node)
    assert used and all("USING INDEX partitions_values" in line for line in used)


def _plan(database: Database, node: Filter) -> list[str]:
    """How SQLite reads the partitions that satisfy a condition."""
    where = translate(node, (("i", "int"), ("s", "string")), Generation.HIVE_2_3, database.reader())
    assert where is not None
    sql = partitions._matching("body", where.sql).sqlite
    with database.migration() as engine, engine.connect() as connection:
        result = connection.exec_driver_sql(
            "EXPLAIN QUERY PLAN " + sql, {"table_id": 1, "limit": 1} | dict(where.params)
        )
        return [line[3] for line in result if "partitions" in line[3]]
