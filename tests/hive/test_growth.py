"""A text that is 64 times as long takes each parser about 64 times as long; a longer text than the limit is refused.

Every parser gets the texts that are worst for it. Times are compared only with each other: a parser whose time grows
with the square of the length would need 4,096 times as long.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from metastored.client.statements import view_queries
from metastored.errors import InvalidInputException, StatementError
from metastored.filters.hive import kryo, kryo_5
from metastored.filters.hive.expressions import read_expression
from metastored.filters.hive.parser import parse_filter
from metastored.filters.hive.tables import parse_table_filter
from metastored.filters.hive.tree import FilterSyntaxError, predicate
from metastored.filters.patterns import like_expression
from metastored.hive import limits, locations, names, patterns, quartz
from metastored.hive.delegation import Identifier, Token
from metastored.hive.generation import Generation
from metastored.hive.transactions import snapshots
from metastored.hive.transactions.written_snapshots import WrittenTxnList
from metastored.hive.types import type_strings as types
from metastored.model.names import TableName
from metastored.model.spark.type_strings import parse_ddl
from metastored.statements.definitions import Column
from metastored.statements.parsing import parse_script

pytestmark = pytest.mark.slow

SHORT, LONG = 1024, 64 * 1024
TIMES = LONG // SHORT
MOST = 8 * TIMES
"""A linear parser needs 64 times as long, and a machine that does other things meanwhile some more."""
OWNER = 'hive_filter_field_owner__="a"'
KEYS = (("k", "string"), ("n", "int"))


def filled(head: str, piece: str, tail: str = "") -> Callable[[int], str]:
    """Texts of a length: the piece again and again between head and tail."""
    return lambda size: head + piece * ((size - len(head) - len(tail)) // len(piece)) + tail


def a_filter(text: str) -> None:
    for generation in (Generation.HIVE_3_1, Generation.HIVE_4_0, Generation.HIVE_4_2):
        with suppress(ValueError):
            predicate(parse_filter(text, generation), KEYS, generation)(["a", "1"])


def a_table_filter(text: str) -> None:
    parse_table_filter(text, Generation.HIVE_4_2)


def a_pattern(text: str) -> None:
    patterns._compile.cache_clear()
    patterns.compile_pattern(text)("a" * 128)


def a_like(text: str) -> None:
    like_expression.cache_clear()
    like_expression(text).fullmatch("a" * 128)


def a_tree(text: str) -> None:
    for head in (b"\x01", kryo_5.NAMED_ROOT, b""):
        with suppress(ValueError):
            read_expression(head + text.encode(), Generation.HIVE_4_2)
    with suppress(ValueError):
        kryo.read_expression(text.encode())


def a_snapshot(text: str) -> None:
    with suppress(ValueError):
        snapshots.ValidTxnList.parse(text)
    with suppress(ValueError):
        snapshots.ValidWriteIdList.parse(text)
    with suppress(ValueError):
        snapshots.parse_write_id_lists(text)
    with suppress(ValueError):
        WrittenTxnList(text).is_valid(7)


def a_statement(text: str) -> None:
    with suppress(StatementError):
        parse_script(text)


def a_query(text: str) -> None:
    view_queries.source_of(text)
    view_queries.tables_in(text)
    with suppress(InvalidInputException):
        view_queries.check_named(TableName("", "d", "v"), text, [Column("a", "int")])


CASES: dict[str, tuple[Callable[[str], Any], Callable[[int], str]]] = {
    "a partition name of one segment": (names.partition_name_to_spec, filled("", "a")),
    "a partition name of one segment that is all separators": (names.partition_name_to_spec, filled("", "=")),
    "a partition name without a value": (names.partition_name_to_vals, filled("", "a", "=")),
    "a partition name of many keys": (names.partition_name_to_spec, filled("", "k=v/")),
    "a partition name of escapes": (names.partition_name_to_spec, filled("k=", "%2F")),
    "a partition name of broken escapes": (names.partition_name_to_spec, filled("k=", "%")),
    "a value to escape": (names.escape, filled("", "/")),
    "a catalog and a database": (names.decode_catalog_name, filled("@a", "#")),
    "a directory name": (names.directory_name, filled("", "/")),
    "a pattern of one name": (a_pattern, filled("", "a")),
    "a pattern of stars": (a_pattern, filled("", "*")),
    "a pattern of pieces": (a_pattern, filled("", "*a")),
    "a pattern of alternatives": (a_pattern, filled("", "ab|")),
    "a pattern of dots": (a_pattern, filled("", ".")),
    "a LIKE of percent signs": (a_like, filled("", "%a")),
    "a LIKE of characters": (a_like, filled("", "a")),
    "a filter of comparisons": (a_filter, filled("", "k = 'a' or ", "k = 'a'")),
    "a filter of values": (a_filter, filled("(k) in (", "'a',", "'a')")),
    "a filter of rows": (a_filter, filled("(struct(k,n)) in (", "const struct('a',1),", "const struct('a',1))")),
    "a filter that is not closed": (a_filter, filled("k = '", "a")),
    "a filter of open quotes": (a_filter, filled("", "`'\"")),
    "a filter of backticks": (a_filter, filled("", "`")),
    "a filter of backslashes": (a_filter, filled("k = '", "\\")),
    "a filter of characters that nobody knows": (a_filter, filled("", "§")),
    "a filter of minus signs and spaces": (a_filter, filled("", "-   ")),
    "a filter of adjacent texts": (a_filter, filled("k = ", "'a'")),
    "a filter of digits": (a_filter, filled("n = ", "9")),
    "a filter of open parentheses": (a_filter, filled("", "(")),
    "a filter of pairs of parentheses": (a_filter, filled("", "(k='a') or ", "k='a'")),
    "a filter that is negated again and again": (
        a_filter,
        lambda size: filled("(", "k='a' or ", "k='a')")(size // 2) + filled("", " is false")(size // 2),
    ),
    "a filter of IS NOT TRUE": (a_filter, filled("k='a'", " is not true")),
    "a filter of table fields": (a_table_filter, filled("", f"{OWNER} or ", OWNER)),
    "a type of one word": (types.parse_type, filled("", "a")),
    "a type of words": (types.parse_type, filled("a", " a")),
    "a type of many fields": (types.parse_type, filled("struct<a:int", ",a:int", ">")),
    "a type of quoted fields": (types.parse_type, filled("struct<`", "``", "`:int>")),
    "a type that is nested": (types.parse_type, filled("", "array<")),
    "a column type": (types.is_valid_column_type, filled("", "a")),
    "a type in Spark's words": (parse_ddl, filled("a int", ", a int")),
    "a location of slashes": (locations.canonical, filled("file:", "/")),
    "a location of parents": (locations.canonical, filled("file:/", "../")),
    "a location of letters": (locations.parse_location, filled("", "a")),
    "a snapshot of ids": (a_snapshot, filled("9:1:", "12,", "13:")),
    "a snapshot of runs": (a_snapshot, filled("9:1:", "1-5,", "13:")),
    "a snapshot of colons": (a_snapshot, filled("", ":")),
    "a snapshot of digits": (a_snapshot, filled("9:1:", "9")),
    "snapshots of many tables": (a_snapshot, filled("9", "$d.t:9:1::")),
    "a cron expression": (quartz.parse, filled("0 0 0 ? * ", "MON,", "MON")),
    "a cron expression of digits": (quartz.parse, filled("0/", "9", " 0 0 ? * MON")),
    "an expression of zeros": (a_tree, filled("", "\0")),
    "an expression of letters": (a_tree, filled("", "a")),
    "an expression of ones": (a_tree, filled("", "\x01")),
    "a statement of open comments": (a_statement, filled("SHOW TABLES ", "/*")),
    "a statement of spaces": (a_statement, filled("SHOW TABLES", " ", "x")),
    "a statement of quotes": (a_statement, filled("SHOW TABLES LIKE '", "''")),
    "a statement of properties": (a_statement, filled("ALTER TABLE t SET TBLPROPERTIES ('a'='b'", ", 'a'='b'", ")")),
    "a statement of backslashes": (a_statement, filled("SHOW TABLES LIKE '", "\\\\", "'")),
    "many statements": (a_statement, filled("", "SHOW TABLES;")),
    "a statement that nobody knows": (a_statement, filled("", "abc ")),
    "a view of spaces": (a_query, filled("SELECT a", " ", "x")),
    "a view of columns": (a_query, filled("SELECT a", ", a b", " FROM t")),
    "a view of conditions": (a_query, filled("SELECT a FROM t WHERE ", "a AND ", "a")),
    "a view of parentheses": (a_query, filled("SELECT a FROM ", "(")),
    "a view of tables": (a_query, filled("SELECT 1 AS a FROM t", ", t")),
    "a view of stars": (a_query, filled("SELECT ", ", ", "*")),
    "a token's text": (Token.decode, filled("", "A")),
    "a token's identifier": (lambda text: Identifier.decode(text.encode()), filled("\0", "\x01a")),
}  # fmt: skip


def seconds(parse: Callable[[str], Any], text: str) -> float:
    """The shortest of several runs, in time of this thread alone. A refusal counts as a result too."""
    best, begun = float("inf"), time.monotonic()
    for _ in range(5):
        start = time.thread_time()
        with suppress(ValueError):
            parse(text)
        best = min(best, time.thread_time() - start)
        if time.monotonic() - begun > 0.5:
            break
    return best


@pytest.mark.parametrize("name", CASES)
def test_a_parser_takes_time_in_proportion_to_its_text(name: str) -> None:
    parse, text = CASES[name]
    seconds(parse, text(SHORT))  # Caches are filled now.
    for _ in range(3):
        ratio = seconds(parse, text(LONG)) / max(seconds(parse, text(SHORT)), 1e-6)
        if ratio < MOST:
            return
    pytest.fail(f"{TIMES} times the text takes {ratio:.0f} times as long")


@pytest.mark.parametrize(
    ("parse", "text", "most"),
    [
        (names.partition_name_to_spec, "k=v/", limits.MAX_PARTITION_NAME),
        (names.partition_name_to_vals, "k=v/", limits.MAX_PARTITION_NAME),
        (patterns.compile_pattern, "a|", limits.MAX_PATTERN),
        (lambda text: parse_filter(text, Generation.HIVE_4_2), "k=1 or ", limits.MAX_FILTER),
        (lambda text: parse_filter(f"k like '{text}'", Generation.HIVE_4_2), "%a", limits.MAX_LIKE),
        (types.parse_type, "array<", limits.MAX_TYPE),
        (quartz.parse, "0 ", limits.MAX_SCHEDULE),
        (lambda text: snapshots.parse_ids(text), "1,", limits.MAX_SNAPSHOT),
        (lambda text: kryo.read_expression(text.encode()), "\x01", kryo.MAX_BYTES),
    ],
)
def test_a_text_above_its_limit_is_refused_with_the_limit(parse: Callable[[str], Any], text: str, most: int) -> None:
    with pytest.raises(ValueError, match=str(most)):
        parse(text * (most // len(text) + 1))


@pytest.mark.parametrize(
    ("chain", "opposite", "nots"),
    [("is true", 0, 0), ("is false", 1, 0), ("is false is false", 0, 0), ("is not true", 0, 1), ("is not false", 1, 1),
     ("is not true is false", 0, 0), ("is not true is not true is not true", 0, 1), ("is not true is not true", 0, 2)],
)  # fmt: skip
def test_a_chain_of_is_means_what_its_links_mean_one_by_one(chain: str, opposite: int, nots: int) -> None:
    plain = "k != 'a'" if opposite else "k = 'a'"
    text = plain + " is not true" * nots
    assert parse_filter(f"k = 'a' {chain}", Generation.HIVE_4_2) == parse_filter(text, Generation.HIVE_4_2)


def test_a_filter_of_many_nots_can_be_evaluated() -> None:
    node = parse_filter("k = 'a'" + " is not true" * 5001, Generation.HIVE_4_2)
    assert [predicate(node, KEYS, Generation.HIVE_4_2)([value, "1"]) for value in "ab"] == [False, True]


def test_the_error_of_a_too_long_filter_names_a_remedy() -> None:
    with pytest.raises(FilterSyntaxError, match="request the partitions in several calls"):
        parse_filter("k=1 or " * limits.MAX_FILTER, Generation.HIVE_3_1)
