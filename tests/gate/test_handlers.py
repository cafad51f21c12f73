"""Audit lines, limits and read-only servers: handlers around any handler."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from metastored.config import load
from metastored.errors import ApplicationError, MetaException
from metastored.gate.audited import Audited
from metastored.gate.rate_limited import RateLimited
from metastored.gate.read_only import ReadOnly, changes
from metastored.gate.services import ForServices
from metastored.server.assemble import guarded
from metastored.store.engine.migrate import ensure_schema
from metastored.wire.generated.databases import Database
from metastored.wire.generated.tables import GetTablesRequest
from metastored.wire.methods import METHODS
from tests.gate.conftest import House, Nothing, call_of, session_of
from tests.store.conftest import Opener

# --- audit --------------------------------------------------------------------------------------------------------


@pytest.fixture
def audited(opener: Opener, caplog: pytest.LogCaptureFixture) -> Iterator[House]:
    caplog.set_level(logging.INFO, logger="metastored.audit")
    database = opener()
    ensure_schema(database)
    times = iter(range(1000))
    house = House(database, lambda inner, service, pool: Audited(inner, lambda: next(times) / 1000))
    yield house
    house.close()


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "metastored.audit"]


def test_a_call_is_told_in_one_line(audited: House, caplog: pytest.LogCaptureFixture) -> None:
    audited.ask("alice", "get_all_tables", "default")
    assert lines(caplog) == ["user=alice peer=10.0.0.7:4711 method=get_all_tables object=default outcome=ok ms=1.000"]


def test_a_failed_call_is_told_by_the_kind_of_its_error(audited: House, caplog: pytest.LogCaptureFixture) -> None:
    audited.answer(session_of(None), "get_table", "db", "nope")
    (line,) = lines(caplog)
    assert "user=- " in line
    assert "object=db.nope outcome=NoSuchObjectException" in line


def test_secrets_are_never_told(audited: House, caplog: pytest.LogCaptureFixture) -> None:
    audited.ask("alice", "add_token", "an-identifier", "s3cret")
    audited.ask("alice", "add_master_key", "s3cret")
    audited.answer(session_of("alice"), "renew_delegation_token", "s3cret")
    assert len(lines(caplog)) == 3
    assert "s3cret" not in caplog.text


def test_no_name_can_make_a_second_line_or_field(audited: House, caplog: pytest.LogCaptureFixture) -> None:
    audited.answer(session_of("eve\nuser=root"), "get_table", "d outcome=ok", "t\nu")
    (line,) = lines(caplog)
    assert line.startswith('user="eve\\nuser=root" ')
    assert 'object="d outcome=ok.t\\nu" outcome=NoSuchObjectException' in line
    assert "\n" not in line


def test_many_names_are_told_by_their_number(audited: House, caplog: pytest.LogCaptureFixture) -> None:
    request = GetTablesRequest(dbName="default", tblNames=tuple(f"t{number}" for number in range(100)))
    audited.ask("alice", "get_table_objects_by_name_req", request)
    (line,) = lines(caplog)
    assert "default.t7,and 92 more" in line


# --- limits -------------------------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 6000.0

    def __call__(self) -> float:
        return self.now


class Limited:
    """Two servers on one database, three calls a minute."""

    def __init__(self, opener: Opener) -> None:
        self.clock = Clock()
        self.houses: list[House] = []
        self.limits: list[RateLimited] = []
        for _ in range(2):
            database = opener()
            ensure_schema(database)
            house = House(database, lambda inner, service, pool: Nothing())
            limit = RateLimited(Nothing(), database, house.pool, 3, self.clock)
            house.handler = limit
            self.houses.append(house)
            self.limits.append(limit)

    def passes(
        self, server: int, user: str | None, name: str = "get_all_databases", *, proven: bool = True, peer: str = ""
    ) -> bool:
        session = session_of(user)
        session.authenticated = proven
        session.peer = peer or session.peer
        error = self.houses[server].answer(session, name).error
        assert error is None or str(error) == "[STATUS=429] Too many requests."
        return error is None

    def flush(self, server: int) -> None:
        self.houses[server].loop.run_until_complete(self.limits[server].flush())


@pytest.fixture
def limited(opener: Opener) -> Iterator[Limited]:
    limited = Limited(opener)
    yield limited
    for house in limited.houses:
        house.close()


def test_a_user_who_asks_too_often_is_refused_until_the_next_minute(limited: Limited) -> None:
    assert [limited.passes(0, "alice") for _ in range(5)] == [True, True, True, False, False]
    assert limited.passes(0, "bob")
    limited.clock.now += 60
    assert limited.passes(0, "alice")


def test_who_has_not_proven_a_name_is_counted_by_address_whatever_the_name_is(limited: Limited) -> None:
    names = [None, "alice", "bob", "carol", "dave"]
    passed = [limited.passes(0, name, proven=False, peer=f"10.0.0.7:{port}") for port, name in enumerate(names)]
    assert passed == [True, True, True, False, False]
    assert limited.passes(0, "alice", proven=False, peer="10.0.0.8:1")
    assert limited.passes(0, "alice")
    limited.flush(0)
    limited.flush(1)
    assert not limited.passes(0, "eve", proven=False, peer="10.0.0.7:99")


def test_calls_are_counted_over_all_servers(limited: Limited) -> None:
    for server in (0, 1):
        for _ in range(2):
            assert limited.passes(server, "alice")
        limited.flush(server)
    assert not limited.passes(1, "alice")
    assert limited.passes(0, "alice")
    limited.flush(0)
    assert not limited.passes(0, "alice")


def test_a_flush_counts_each_call_once(limited: Limited) -> None:
    assert limited.passes(0, "alice")
    for _ in range(5):
        limited.flush(0)
    assert [limited.passes(0, "alice") for _ in range(3)] == [True, True, False]


def test_to_say_who_one_is_is_never_too_often(limited: Limited) -> None:
    assert all(limited.passes(0, "alice", "set_ugi") for _ in range(10))


def test_a_method_without_exceptions_tells_it_too(limited: Limited) -> None:
    for _ in range(3):
        limited.passes(0, "alice", proven=False)
    with pytest.raises(ApplicationError, match="STATUS=429"):
        limited.houses[0].ask("alice", "get_master_keys")


# --- read-only ----------------------------------------------------------------------------------------------------


def test_a_read_only_server_reads_and_changes_nothing(opener: Opener) -> None:
    database = opener()
    ensure_schema(database)
    house = House(database, lambda inner, service, pool: ReadOnly(inner))
    assert house.ask("alice", "get_all_databases") == ("default",)
    assert house.ask("alice", "set_ugi", "bob", ()) == ("bob",)
    with pytest.raises(MetaException, match="this metastore is read-only, and create_database would change it"):
        house.ask("alice", "create_database", Database(name="d"))
    assert house.past("get_all_databases") == ("default",)
    house.close()


def test_reads_sessions_and_nothing_else_pass_a_read_only_server() -> None:
    for method in METHODS.values():
        if method.verb in ("read", "session"):
            assert not changes(call_of(method.name)), method
        if method.verb in ("write", "ddl", "grant"):
            assert changes(call_of(method.name)), method


# --- together -----------------------------------------------------------------------------------------------------


def test_what_nobody_asked_for_is_not_there_but_the_guard_of_tokens(audited: House) -> None:
    handler, background = guarded(audited.local, load(environment={}), audited.service, audited.pool)
    assert isinstance(handler, ForServices)
    assert handler.inner is audited.local
    assert background == ()


def test_all_of_it_together_tells_refusals(audited: House, caplog: pytest.LogCaptureFixture) -> None:
    flags = {"authorization": "sql", "audit": "on", "read_only": "on", "limits_calls_per_minute": "100"}
    audited.handler, background = guarded(
        audited.local, load(environment={}, flags=flags), audited.service, audited.pool
    )
    assert len(background) == 1
    with pytest.raises(MetaException, match="Permission denied: user alice needs the admin role"):
        audited.ask("alice", "get_role_names")
    with pytest.raises(MetaException, match="read-only"):
        audited.ask("alice", "create_database", Database(name="d"))
    first, second = lines(caplog)
    assert "method=get_role_names object=- outcome=denied" in first
    assert "method=create_database object=d outcome=MetaException" in second
