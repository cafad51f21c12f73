"""Reads of PostgreSQL on the event loop: the rows of psycopg, in any order of calls, over connections that are lost."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import psycopg
import pytest

from metastored.errors import StoreError
from metastored.store.engine import pipeline as module
from metastored.store.engine.database import Database
from metastored.store.engine.opening import open_database
from metastored.store.engine.pipeline import Pipeline
from metastored.store.engine.postgresql import connect
from metastored.store.engine.replay import replayed
from metastored.store.engine.statements import Statement
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import catalogs, tables
from tests.store.conftest import create_schema, make_table
from tests.support.postgres import PostgresServer

pytestmark = pytest.mark.postgres

_ECHO = Statement("SELECT CAST(:number AS bigint), CAST(:text AS text)")
_NAME = Statement("SELECT name FROM catalogs WHERE name = :name")
_SLEEP = Statement("SELECT CAST(pg_sleep(CAST(:seconds AS integer)) AS text)")


@pytest.fixture(scope="module")
def url(postgres: PostgresServer) -> Iterator[str]:
    with postgres.database(create_schema) as url:
        yield url


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Pipeline]:
    """A pipeline with a connection."""
    pipeline = Pipeline(lambda: connect(url))
    try:
        await connected(pipeline)
        yield pipeline
    finally:
        pipeline.close()


async def connected(pipeline: Pipeline) -> None:
    """Waits until statements can be sent."""
    for _ in range(1000):
        pending = pipeline.read(_ECHO, {"number": 1, "text": "a"})
        if pending is not None:
            assert (await pending).rows == [(1, "a")]
            return
        await asyncio.sleep(0.01)
    raise AssertionError("no connection within 10 seconds")


async def read(pipeline: Pipeline, statement: Statement, **params: Any) -> list[Row]:
    pending = pipeline.read(statement, params)
    assert pending is not None
    return (await pending).rows


def test_rows_are_those_of_psycopg(url: str) -> None:
    text = (
        "SELECT true, false, CAST(7 AS smallint), -8, CAST(9000000000 AS bigint), CAST(1.5 AS double precision),"
        " CAST('ü' AS text), CAST('v' AS varchar), CAST('\\x00ff' AS bytea), CAST(NULL AS text)"
    )
    several = f"{text} UNION ALL SELECT false, NULL, NULL, NULL, NULL, NULL, '', NULL, '', 'x'"
    statement, nothing = Statement(several), Statement("SELECT 1 WHERE false")

    async def main() -> None:
        async with opened(url) as pipeline:
            with psycopg.connect(url) as other:
                assert await read(pipeline, statement) == other.execute(several.encode(), binary=True).fetchall()
            assert await read(pipeline, nothing) == []

    asyncio.run(main())


def test_many_statements_at_once_each_get_their_own_rows(url: str) -> None:
    async def main() -> None:
        async with opened(url) as pipeline:
            rows = await asyncio.gather(*(read(pipeline, _ECHO, number=at, text=f"t{at}") for at in range(2000)))
            assert rows == [[(at, f"t{at}")] for at in range(2000)]

    asyncio.run(main())


def test_long_parameters_and_long_rows_pass(url: str) -> None:
    long = "ä" * 3_000_000

    async def main() -> None:
        async with opened(url) as pipeline:
            rows = await asyncio.gather(*(read(pipeline, _ECHO, number=at, text=long) for at in range(4)))
            assert rows == [[(at, long)] for at in range(4)]

    asyncio.run(main())


@pytest.mark.parametrize("value", ["t\0x", "\ud800", ["t", 1], 1.5], ids=repr)
def test_a_value_that_cannot_be_sent_exactly_is_left_to_a_thread(url: str, value: object) -> None:
    """A text would be cut at a NUL, and find another row."""

    async def main() -> None:
        async with opened(url) as pipeline:
            assert pipeline.read(_NAME, {"name": value}) is None
            assert await read(pipeline, _NAME, name="t") == []

    asyncio.run(main())


def test_a_value_is_never_a_part_of_the_statement(url: str) -> None:
    hostile = "'; DROP TABLE catalogs; -- $1 %s"

    async def main() -> None:
        async with opened(url) as pipeline:
            assert await read(pipeline, _ECHO, number=1, text=hostile) == [(1, hostile)]

    asyncio.run(main())


def test_a_value_that_python_cannot_hold_fails_its_own_statement_only(url: str) -> None:
    date = Statement("SELECT CAST('infinity' AS date)")

    async def main() -> None:
        async with opened(url) as pipeline:
            with pytest.raises(StoreError, match="a value of PostgreSQL cannot be read"):
                await read(pipeline, date)
            await connected(pipeline)

    asyncio.run(main())


def test_an_error_concerns_its_own_statement_only(url: str) -> None:
    async def main() -> None:
        async with opened(url) as pipeline:
            good, bad, next_one = (pipeline.read(_ECHO, {"number": at, "text": "a"}) for at in (1, "no number", 2))
            assert good is not None and bad is not None and next_one is not None
            assert (await good).rows == [(1, "a")]
            with pytest.raises(StoreError, match="invalid input syntax"):
                await bad
            assert (await next_one).rows == [(2, "a")]
            assert await read(pipeline, _ECHO, number=3, text="b") == [(3, "b")]

    asyncio.run(main())


def test_statements_that_fail_again_and_again_leave_nothing_behind(url: str) -> None:
    prepared = Statement("SELECT count(*) FROM pg_prepared_statements")
    wrong = Statement("SELECT nothing FROM nowhere")

    async def main() -> None:
        async with opened(url) as pipeline:
            before = 0
            for _ in range(20):
                with pytest.raises(StoreError, match="invalid input syntax"):
                    await read(pipeline, _ECHO, number="no number", text="a")
                before = before or (await read(pipeline, prepared))[0][0]
            with pytest.raises(StoreError, match="nowhere"):
                await read(pipeline, wrong)
            assert pipeline.read(wrong, {}) is None, "from then on it runs on threads"
            assert await read(pipeline, prepared) == [(before,)]

    asyncio.run(main())


def test_a_table_that_is_changed_meanwhile_is_read_by_a_new_plan(url: str) -> None:
    statement = Statement("SELECT * FROM changing")

    async def main() -> None:
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("CREATE TABLE changing (a bigint)")
            other.execute("INSERT INTO changing VALUES (1)")
            async with opened(url) as pipeline:
                assert await read(pipeline, statement) == [(1,)]
                other.execute("ALTER TABLE changing ADD COLUMN b text DEFAULT 'x'")
                with pytest.raises(StoreError, match="cached plan"):
                    await read(pipeline, statement)
                assert await read(pipeline, statement) == [(1, "x")]

    asyncio.run(main())


def test_a_caller_who_leaves_does_not_disturb_the_others(url: str) -> None:
    async def main() -> None:
        async with opened(url) as pipeline:
            leaving = pipeline.read(_ECHO, {"number": 1, "text": "a"})
            assert leaving is not None
            leaving.cancel()
            assert await read(pipeline, _ECHO, number=2, text="b") == [(2, "b")]

    asyncio.run(main())


def test_a_lost_connection_fails_what_was_sent_and_is_opened_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE", 0.05)

    async def main() -> None:
        async with opened(url) as pipeline:
            pending = pipeline.read(_SLEEP, {"seconds": 60})
            assert pending is not None
            await asyncio.to_thread(terminate, url)
            with pytest.raises(StoreError, match=r"connection to PostgreSQL was lost|terminating connection"):
                await pending
            while pipeline.read(_ECHO, {"number": 1, "text": "a"}) is not None:
                await asyncio.sleep(0.01)
            await connected(pipeline)

    asyncio.run(asyncio.wait_for(main(), 30))


def test_a_connection_that_is_lost_while_nobody_reads_is_opened_again(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE", 0.05)

    async def main() -> None:
        async with opened(url) as pipeline:
            await asyncio.to_thread(terminate, url)
            while pipeline.read(_ECHO, {"number": 1, "text": "a"}) is not None:
                await asyncio.sleep(0.01)
            await connected(pipeline)

    asyncio.run(asyncio.wait_for(main(), 30))


def test_a_server_that_says_nothing_any_more_is_given_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that fails does not close its connections."""
    monkeypatch.setattr(module, "STALLED", 0.3)

    async def main() -> None:
        async with opened(url) as pipeline:
            ((process,),) = await read(pipeline, Statement("SELECT pg_backend_pid()"))
            os.kill(process, signal.SIGSTOP)
            try:
                pending = pipeline.read(_ECHO, {"number": 1, "text": "a"})
                assert pending is not None
                await asyncio.sleep(0.4)
                assert pipeline.read(_ECHO, {"number": 2, "text": "b"}) is None
                with pytest.raises(StoreError, match="was lost"):
                    await pending
            finally:
                os.kill(process, signal.SIGCONT)

    asyncio.run(main())


def test_each_event_loop_gets_a_connection_of_its_own(url: str) -> None:
    pipeline = Pipeline(lambda: connect(url))
    for _ in range(2):
        asyncio.run(connected(pipeline))
    pipeline.close()


def test_while_no_connection_can_be_opened_threads_are_used() -> None:
    def refused() -> psycopg.Connection[Row]:
        raise StoreError("not now")

    async def main() -> None:
        pipeline = Pipeline(refused)
        for _ in range(3):
            assert pipeline.read(_NAME, {"name": "hive"}) is None
            await asyncio.sleep(0.01)

    asyncio.run(main())


# --- functions that are called again with each row ----------------------------------------------------------------


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[Database]:
    with postgres.database(create_schema) as url:
        database = open_database(url, None)
        yield database
        database.close()


async def ready(database: Database) -> None:
    reader = database.loop_reader()
    assert isinstance(reader, Pipeline)
    await connected(reader)


def test_a_function_that_reads_is_called_again_with_each_row_that_it_needs(database: Database) -> None:
    database.run(make_table)
    calls: list[int] = []

    def work(known: Database) -> tuple[str, str]:
        calls.append(len(calls))
        found, table = catalogs.find(known.reader(), "hive"), tables.find(known.reader(), "hive", "db", "t")
        assert found is not None and table is not None
        return found.name, table.name

    async def main() -> None:
        await ready(database)
        reader = database.loop_reader()
        assert reader is not None
        found = await replayed(reader, work)
        assert found is not None
        assert found.value == ("hive", "t") and found.version == await asyncio.to_thread(database.version)
        assert calls == [0, 1, 2]

    asyncio.run(main())


def _writes(database: Database) -> int:
    return database.run(make_table)


def _in_a_transaction(database: Database) -> object:
    with database.read() as tx:
        return catalogs.names(tx)


def _by_a_list(database: Database) -> object:
    tx: Transaction = database.reader()
    return tx.all(Statement("SELECT name FROM catalogs WHERE name IN :names"), names=[])


def _forever(database: Database) -> object:
    return [database.reader().one(_ECHO, number=at, text="a") for at in range(1000)]


@pytest.mark.parametrize("work", [_writes, _in_a_transaction, _by_a_list, _forever], ids=lambda each: each.__name__)
def test_a_function_that_does_more_than_to_read_a_few_rows_is_left_to_a_thread(database: Database, work: Any) -> None:
    async def main() -> None:
        await ready(database)
        reader = database.loop_reader()
        assert reader is not None
        assert await replayed(reader, work) is None

    asyncio.run(main())
    assert catalogs.names(database.reader()) == []


def test_a_row_that_others_write_is_seen_by_the_next_read(database: Database) -> None:
    async def main() -> None:
        await ready(database)
        reader = database.loop_reader()
        assert reader is not None

        async def is_there(name: str) -> bool | None:
            found = await replayed(reader, lambda known: catalogs.find(known.reader(), name) is not None)
            return None if found is None else found.value

        for name in (f"c{at}" for at in range(20)):
            assert await is_there(name) is False
            await asyncio.to_thread(database.run, partial(catalogs.insert, name=name, body=b""))
            assert await is_there(name) is True

    asyncio.run(main())


def test_rows_have_the_version_that_they_were_read_in(database: Database) -> None:
    """Between two versions a row never changes, whoever writes meanwhile."""
    id = database.run(lambda tx: catalogs.insert(tx, "c", b""))
    done = threading.Event()

    def write() -> None:
        for number in range(200):
            database.run(partial(catalogs.update, id=id, body=b"%d" % number))
        done.set()

    async def main() -> None:
        await ready(database)
        reader = database.loop_reader()
        assert reader is not None
        seen: dict[int, bytes] = {}
        writer = asyncio.create_task(asyncio.to_thread(write))
        while not done.is_set():
            found = await replayed(reader, lambda known: catalogs.find(known.reader(), "c"))
            assert found is not None and found.value is not None and found.version is not None
            assert seen.setdefault(found.version, found.value.body) == found.value.body
        await writer
        assert list(seen) == sorted(seen) and len(seen) > 1

    asyncio.run(main())


def test_a_statement_with_an_order_keeps_it_and_has_no_version(database: Database) -> None:
    for name in ("b", "a", "c"):
        database.run(partial(catalogs.insert, name=name, body=b""))

    async def main() -> None:
        await ready(database)
        reader = database.loop_reader()
        assert reader is not None
        found = await replayed(reader, lambda known: catalogs.names(known.reader()))
        assert found == (["a", "b", "c"], None)

    asyncio.run(main())


def terminate(url: str) -> None:
    """Ends all other connections to a database."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
