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
from metastored.model.names import TableName
from metastored.server.assemble import guarded
from metastored.store.engine.migrate import ensure_schema
from metastored.wire.generated.databases import Database
from metastored.wire.generated.tables import GetTablesRequest
from metastored.wire.methods import METHODS
from tests.gate.conftest import Guarded, Nothing, call_of, session_of
from tests.store.conftest import Opener

# --- audit --------------------------------------------------------------------------------------------------------


@pytest.fixture
def audited(opener: Opener, caplog: pytest.LogCaptureFixture) -> Iterator[Guarded]:
    caplog.set_level(logging.INFO, logger="metastored.audit")
    database = opener()
    ensure_schema(database)
    times = iter(range(1000))
    guarded = Guarded(database, lambda inner, service, pool: Audited(inner, lambda: next(times) / 1000))
    yield guarded
    guarded.close()


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "metastored.audit"]


def test_a_call_is_logged_in_one_line(audited: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    audited.call("alice", "get_all_tables", "default")
    assert lines(caplog) == ["user=alice peer=10.0.0.7:4711 method=get_all_tables object=default outcome=ok ms=1.000"]


def test_a_failed_call_is_logged_with_the_kind_of_its_error(audited: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    audited.reply(session_of(None), "get_table", "db", "nope")
    (line,) = lines(caplog)
    assert "user=- " in line
    assert "object=db.nope outcome=NoSuchObjectException" in line


def test_secrets_are_never_logged(audited: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    audited.call("alice", "add_token", "an-identifier", "s3cret")
    audited.call("alice", "add_master_key", "s3cret")
    audited.reply(session_of("alice"), "renew_delegation_token", "s3cret")
    assert len(lines(caplog)) == 3
    assert "s3cret" not in caplog.text


def test_no_name_can_make_a_second_line_or_field(audited: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    audited.reply(session_of("eve\nuser=root"), "get_table", "d outcome=ok", "t\nu")
    (line,) = lines(caplog)
    assert line.startswith('user="eve\\nuser=root" ')
    assert 'object="d outcome=ok.t\\nu" outcome=NoSuchObjectException' in line
    assert "\n" not in line


def test_of_many_names_only_the_number_is_logged(audited: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    request = GetTablesRequest(dbName="default", tblNames=tuple(f"t{number}" for number in range(100)))
    audited.call("alice", "get_table_objects_by_name_req", request)
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
        self.metastores: list[Guarded] = []
        self.limits: list[RateLimited] = []
        for _ in range(2):
            database = opener()
            ensure_schema(database)
            guarded = Guarded(database, lambda inner, service, pool: Nothing())
            limit = RateLimited(Nothing(), database, guarded.pool, 3, self.clock)
            guarded.handler = limit
            self.metastores.append(guarded)
            self.limits.append(limit)

    def passes(
        self,
        server: int,
        user: str | None,
        name: str = "get_all_databases",
        *,
        authenticated: bool = True,
        peer: str = "",
    ) -> bool:
        session = session_of(user)
        session.authenticated = authenticated
        session.peer = peer or session.peer
        error = self.metastores[server].reply(session, name).error
        assert error is None or str(error) == "[STATUS=429] Too many requests."
        return error is None

    def flush(self, server: int) -> None:
        self.metastores[server].loop.run_until_complete(self.limits[server].flush())


@pytest.fixture
def limited(opener: Opener) -> Iterator[Limited]:
    limited = Limited(opener)
    yield limited
    for each in limited.metastores:
        each.close()


def test_a_user_above_the_rate_limit_is_refused_until_the_next_minute(limited: Limited) -> None:
    assert [limited.passes(0, "alice") for _ in range(5)] == [True, True, True, False, False]
    assert limited.passes(0, "bob")
    limited.clock.now += 60
    assert limited.passes(0, "alice")


def test_an_unauthenticated_caller_is_counted_by_address(limited: Limited) -> None:
    names = [None, "alice", "bob", "carol", "dave"]
    passed = [limited.passes(0, name, authenticated=False, peer=f"10.0.0.7:{port}") for port, name in enumerate(names)]
    assert passed == [True, True, True, False, False]
    assert limited.passes(0, "alice", authenticated=False, peer="10.0.0.8:1")
    assert limited.passes(0, "alice")
    limited.flush(0)
    limited.flush(1)
    assert not limited.passes(0, "eve", authenticated=False, peer="10.0.0.7:99")


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


def test_set_ugi_is_not_rate_limited(limited: Limited) -> None:
    assert all(limited.passes(0, "alice", "set_ugi") for _ in range(10))


def test_a_method_without_exceptions_is_rate_limited_too(limited: Limited) -> None:
    for _ in range(3):
        limited.passes(0, "alice", authenticated=False)
    with pytest.raises(ApplicationError, match="STATUS=429"):
        limited.metastores[0].call("alice", "get_master_keys")


# --- read-only ----------------------------------------------------------------------------------------------------


def test_a_read_only_server_reads_and_changes_nothing(opener: Opener) -> None:
    database = opener()
    ensure_schema(database)
    guarded = Guarded(database, lambda inner, service, pool: ReadOnly(inner))
    assert guarded.call("alice", "get_all_databases") == ("default",)
    assert guarded.call("alice", "set_ugi", "bob", ()) == ("bob",)
    with pytest.raises(MetaException, match="this metastore is read-only, and create_database would change it"):
        guarded.call("alice", "create_database", Database(name="d"))
    assert guarded.unguarded("get_all_databases") == ("default",)
    guarded.close()


def test_reads_sessions_and_nothing_else_pass_a_read_only_server() -> None:
    for method in METHODS.values():
        if method.verb in ("read", "session"):
            assert not changes(call_of(method.name)), method
        if method.verb in ("write", "ddl", "grant"):
            assert changes(call_of(method.name)), method


# --- together -----------------------------------------------------------------------------------------------------


async def no_remotes(table: TableName) -> bool:
    return False


def test_only_the_guard_of_tokens_is_installed_by_default(audited: Guarded) -> None:
    handler, background, _ = guarded(audited.local, load(environment={}), audited.service, audited.pool, no_remotes)
    assert isinstance(handler, ForServices)
    assert handler.inner is audited.local
    assert background == ()


def test_the_audit_log_has_the_refusals_of_all_wrappers(audited: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    flags = {"authorization": "sql", "audit": "on", "read_only": "on", "limits_calls_per_minute": "100"}
    audited.handler, background, _ = guarded(
        audited.local, load(environment={}, flags=flags), audited.service, audited.pool, no_remotes
    )
    assert len(background) == 1
    with pytest.raises(MetaException, match="Permission denied: user alice needs the admin role"):
        audited.call("alice", "get_role_names")
    with pytest.raises(MetaException, match="read-only"):
        audited.call("alice", "create_database", Database(name="d"))
    first, second = lines(caplog)
    assert "method=get_role_names object=- outcome=denied" in first
    assert "method=create_database object=d outcome=MetaException" in second
