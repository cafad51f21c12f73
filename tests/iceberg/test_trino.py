"""Trino 476 with its Iceberg connector over REST (`iceberg.catalog.type=rest`), unmodified, beside clients over Thrift.

`make trino` installs Trino; only `make soak` runs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyiceberg.exceptions import CommitFailedException

from metastored.testing import RunningServer
from tests.documentation.blocks import blocks
from tests.iceberg.rest_server import ROWS, hive_catalog, iceberg_server, rest_catalog, stored
from tests.support.apache import MissingPeer
from tests.support.trino import Trino, TrinoError, running_trino

pytestmark = [pytest.mark.slow, pytest.mark.peers, pytest.mark.soak]

WRITERS, COMMITS = 4, 3
PAGE = Path(__file__).parents[2] / "docs" / "start" / "iceberg-rest.md"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with a namespace `shop`, and a table `items` of three rows that pyiceberg has written over REST."""
    with iceberg_server(tmp_path_factory.mktemp("iceberg"), workers=2) as running:
        catalog = rest_catalog(running)
        catalog.create_namespace("shop")
        catalog.create_table("shop.items", ROWS.schema).append(ROWS)
        yield running


@pytest.fixture(scope="module")
def trino(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trino]:
    """Trino with the catalog `ice`, of the properties that the page has."""
    (block,) = (each for each in blocks(PAGE) if each.language == "properties")
    printed = block.text.replace("localhost:9443", f"127.0.0.1:{server.http_port}")
    assert printed != block.text
    rest = {
        **dict(line.split("=", 1) for line in printed.splitlines()),
        "iceberg.rest-catalog.view-endpoints-enabled": "true",
        "fs.hadoop.enabled": "true",
    }
    try:
        with running_trino(server.uri, tmp_path_factory.mktemp("trino"), {"ice": rest}) as running:
            yield running
    except MissingPeer as reason:
        pytest.skip(str(reason))


def test_trino_reads_what_pyiceberg_wrote(trino: Trino) -> None:
    assert ("items",) in trino.execute("show tables in ice.shop")
    assert sorted(trino.execute("select id, name from ice.shop.items")) == [(1, "a"), (2, "b"), (3, "c")]


def test_rows_of_trino_are_read_over_both_protocols(trino: Trino, server: RunningServer) -> None:
    trino.execute("create table ice.shop.sales (id bigint, day date) with (partitioning = array['month(day)'])")
    trino.execute("insert into ice.shop.sales values (1, date '2026-01-01'), (2, date '2026-02-01')")
    trino.execute("update ice.shop.sales set id = 20 where id = 2")
    trino.execute("delete from ice.shop.sales where id = 1")
    trino.execute("merge into ice.shop.sales t using (values 20, 30) s (id) on t.id = s.id "
                  "when matched then update set id = 21 "
                  "when not matched then insert values (s.id, date '2026-03-01')")  # fmt: skip
    for catalog in (rest_catalog(server), hive_catalog(server)):
        rows = catalog.load_table("shop.sales").scan().to_arrow()
        assert sorted(rows.column("id").to_pylist()) == [21, 30]
    parameters = stored(server, "shop", "sales").parameters or {}
    assert parameters["table_type"] == "ICEBERG" and "previous_metadata_location" in parameters


def test_a_table_evolves_by_trino_and_by_thrift(trino: Trino, server: RunningServer) -> None:
    trino.execute("create table ice.shop.evolving as select * from ice.shop.items")
    trino.execute("alter table ice.shop.evolving add column price double")
    with hive_catalog(server).load_table("shop.evolving").update_schema() as schema:
        schema.rename_column("name", "label")
    trino.execute("insert into ice.shop.evolving (id, label, price) values (4, 'd', 2.5)")
    assert sorted(trino.execute("select id, label, price from ice.shop.evolving where id > 2")) == [
        (3, "c", None),
        (4, "d", 2.5),
    ]


def test_a_view_and_a_rename_and_a_drop_of_trino_are_those_of_the_metastore(
    trino: Trino, server: RunningServer
) -> None:
    trino.execute("create view ice.shop.few as select id from ice.shop.items where id < 3")
    assert sorted(trino.execute("select * from ice.shop.few")) == [(1,), (2,)]
    assert rest_catalog(server).list_views("shop") == [("shop", "few")]
    trino.execute("drop view ice.shop.few")
    trino.execute("create table ice.shop.old (id bigint)")
    trino.execute("alter table ice.shop.old rename to ice.shop.new")
    assert ("shop", "new") in hive_catalog(server).list_tables("shop")
    trino.execute("drop table ice.shop.new")
    assert ("shop", "new") not in hive_catalog(server).list_tables("shop")


def test_commits_of_trino_and_of_thrift_at_once_are_not_lost(trino: Trino, server: RunningServer) -> None:
    """A commit that a conflict refused is made again."""
    rest_catalog(server).create_table("shop.busy", ROWS.schema)

    def write(writer: int) -> int:
        refused = 0
        for number in range(COMMITS):
            while True:
                try:
                    if writer % 2:
                        trino.execute(f"insert into ice.shop.busy values ({writer * 100 + number}, 'trino')")
                    else:
                        hive_catalog(server).load_table("shop.busy").append(ROWS)
                    break
                except CommitFailedException:
                    refused += 1
                except TrinoError as error:
                    assert "ICEBERG_COMMIT_ERROR" in str(error), error
                    refused += 1
        return refused

    with ThreadPoolExecutor(WRITERS) as pool:
        refused = list(pool.map(write, range(WRITERS)))
    by_trino = sorted(trino.execute("select id from ice.shop.busy where name = 'trino'"))
    expected = sorted((writer * 100 + number,) for writer in range(1, WRITERS, 2) for number in range(COMMITS))
    assert by_trino == expected, refused
    by_thrift = WRITERS // 2 * COMMITS * ROWS.num_rows
    assert trino.execute("select count(*) from ice.shop.busy") == [(by_thrift + len(expected),)]
    assert len(hive_catalog(server).load_table("shop.busy").metadata.snapshots) == WRITERS * COMMITS
