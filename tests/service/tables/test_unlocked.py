"""metastored's own condition that nobody has a lock on a table: one alter instead of lock, alter and unlock."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import metastored
from metastored.errors import MetaException
from metastored.model.conditions import EXPECTED_KEY, EXPECTED_VALUE, IS_LOCKED, OTHER_VALUE, UNLOCKED
from metastored.structs import Table
from metastored.testing import RunningServer
from metastored.wire.generated.locks import ShowLocksRequest
from metastored.wire.structs import replace
from tests.server.http.support import DATABASES, server_with_users

pytestmark = pytest.mark.slow

# Two writers of each kind, who always meet; four, with twice as many changes each, with `make soak`.
SIZES = [pytest.param(2, 6, id="few"), pytest.param(4, 12, id="many", marks=pytest.mark.soak)]


@pytest.fixture(scope="module", params=DATABASES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with server_with_users(tmp_path_factory.mktemp("unlocked"), request.param, {}) as running:
        yield running


@pytest.fixture
def client(server: RunningServer) -> Iterator[metastored.Client]:
    with metastored.connect(server.uri, cache=False) as connected:
        connected.create_database("d")
        for name in ("t", "other"):
            connected.create_table(metastored.table(f"d.{name}", {"a": "int"}, properties={"n": "0"}))
        yield connected
        connected.drop_database("d", cascade=True)


def number(table: Table) -> int:
    return int((table.parameters or {})["n"])


def numbered(table: Table, n: int) -> Table:
    return replace(table, parameters={**(table.parameters or {}), "n": str(n)})


def alter_unlocked(client: metastored.Client, expected: str = "0") -> None:
    """Adds one, if nobody has a lock and nobody else has added one."""
    changed = numbered(client.table("d.t"), int(expected) + 1)
    environment = {EXPECTED_KEY: "n", EXPECTED_VALUE: expected, UNLOCKED: "true"}
    client.alter("d.t", changed, environment=environment)


def test_a_table_without_locks_is_altered_and_has_none_afterwards(client: metastored.Client) -> None:
    alter_unlocked(client)
    assert number(client.table("d.t")) == 1
    assert client.api.show_locks(ShowLocksRequest()).locks == ()


@pytest.mark.parametrize("type", ["shared_read", "shared_write", "exclusive"])
def test_a_table_that_another_client_has_locked_is_not_altered(client: metastored.Client, type: str) -> None:
    with client.lock("d.t", type=type):
        with pytest.raises(MetaException, match=IS_LOCKED):
            alter_unlocked(client)
        assert number(client.table("d.t")) == 0
    alter_unlocked(client)


def test_a_lock_on_the_database_counts_and_one_on_another_table_does_not(client: metastored.Client) -> None:
    with client.lock("d.other", type="exclusive"):
        alter_unlocked(client)
    with client.lock("d", type="exclusive"), pytest.raises(MetaException, match=IS_LOCKED):
        alter_unlocked(client, "1")


def test_the_table_of_a_refused_alter_can_still_be_locked(client: metastored.Client) -> None:
    with client.lock("d.t", type="shared_read"), pytest.raises(MetaException, match=IS_LOCKED):
        alter_unlocked(client)
    with client.lock("d.t", type="exclusive"):
        pass


@pytest.mark.parametrize(("writers", "changes"), SIZES)
def test_nothing_is_lost_beside_clients_that_lock_read_and_alter(
    server: RunningServer, client: metastored.Client, writers: int, changes: int
) -> None:
    """Hive's clients alter under their lock, without a condition: an alter between their read and theirs is lost."""

    def locking() -> None:
        with metastored.connect(server.uri, cache=False) as writer:
            for _ in range(changes):
                with writer.lock("d.t", type="exclusive"):
                    table = writer.table("d.t")
                    writer.alter("d.t", numbered(table, number(table) + 1))

    def unlocked() -> None:
        with metastored.connect(server.uri, cache=False) as writer:
            for _ in range(changes):
                while True:
                    try:
                        alter_unlocked(writer, str(number(writer.table("d.t"))))
                        break
                    except MetaException as error:
                        assert any(text in str(error) for text in (IS_LOCKED, OTHER_VALUE)), error

    with ThreadPoolExecutor(2 * writers) as threads:
        for done in [threads.submit(work) for work in (locking, unlocked) for _ in range(writers)]:
            done.result(120)
    assert number(client.table("d.t")) == 2 * writers * changes
