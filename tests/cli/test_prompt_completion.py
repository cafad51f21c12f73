"""Completion at the prompt of `metastored sql`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import metastored
from metastored.cli.sql.prompt_completion import Completion
from metastored.client._sync.statements import Statements
from metastored.wire.structs import replace
from tests.support.forks import running_server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def completion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Completion]:
    with running_server() as server, metastored.connect(server.uri, cache=False) as client:
        client.sql(
            f"""
            CREATE DATABASE shop; CREATE CATALOG lake LOCATION 'file://{tmp_path_factory.mktemp("lake")}';
            CREATE TABLE shop.orders (id BIGINT, price INT, `odd name` INT) PARTITIONED BY (ds STRING);
            CREATE TABLE shop.other (colour INT);
            CREATE DATABASE deep; CREATE TABLE deep.sea (fish INT)
            """
        )
        # A hostile client stores what would be printed on the terminal.
        table = client.fresh_table("shop.other")
        assert table.sd is not None and table.sd.cols
        columns = (*table.sd.cols, replace(table.sd.cols[0], name="colour\x1b[2j"))
        client.api.alter_table("shop", "other", replace(table, sd=replace(table.sd, cols=columns)))
        yield Completion(client, Statements(client, "shop"))


@pytest.mark.parametrize(
    ("line", "begun", "found"),
    [
        ("CREATE_", "CREATE_", ["CREATE_REMOTE"]),
        ("create_", "create_", ["create_remote"]),
        ("SHOW PARTITIONS ord", "ord", ["orders"]),
        ("USE shop", "shop", ["shop"]),
        ("DESCRIBE CATALOG lak", "lak", ["lake"]),
        ("ALTER TABLE orders CHANGE COLUMN pr", "pr", None),
        ("ALTER TABLE orders DROP PARTITION (d", "d", None),
        ("SHOW PARTITIONS shop.o", "shop.o", ["shop.orders", "shop.other"]),
        ("SHOW PARTITIONS deep.", "deep.", ["deep.sea"]),
        ("COMMENT ON COLUMN orders.p", "orders.p", ["orders.price"]),
        ("COMMENT ON COLUMN deep.sea.", "deep.sea.", ["deep.sea.fish"]),
        ("DESCRIBE lake.", "lake.", ["lake.default"]),
        ("ALTER TABLE deep.sea CHANGE COLUMN fi", "fi", None),
        ("ALTER TABLE orders CHANGE COLUMN `od", "od", ["odd name"]),
        ("ALTER TABLE orders CHANGE COLUMN od", "od", []),
        ("ALTER TABLE other CHANGE COLUMN `col", "col", ["colour"]),
        ("DESCRIBE nosuch.table.", "nosuch.table.", []),
        ("USE '", "zzz", []),
    ],
)
def test_the_words_that_are_offered(completion: Completion, line: str, begun: str, found: list[str] | None) -> None:
    words = completion.candidates(line, begun)
    if found is not None:
        assert words == found
    else:
        assert {"d": "ds", "fi": "fish", "pr": "price"}[begun] in words
    assert all(word.isprintable() for word in words)


def test_lines_before_count_too(completion: Completion) -> None:
    completion.before = "ALTER TABLE orders"
    try:
        assert "price" in completion.candidates("  CHANGE COLUMN pri", "pri")
    finally:
        completion.before = ""
    assert "price" not in completion.candidates("  CHANGE COLUMN pri", "pri")


def test_what_readline_calls_ends_with_none(completion: Completion) -> None:
    complete = completion.completer(lambda: "SHOW PARTITIONS ord")
    assert [complete("ord", 0), complete("ord", 1)] == ["orders", None]


def test_a_server_that_is_gone_leaves_the_keywords() -> None:
    with metastored.connect("thrift://127.0.0.1:1", timeout=1) as client:
        completion = Completion(client, Statements(client))
        assert completion.candidates("CREATE TABLE t (a INT) TBL", "TBL") == ["TBLPROPERTIES"]
        assert completion.candidates("DESCRIBE a.b.", "a.b.") == []
