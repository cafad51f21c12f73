"""Several processes on one database: no update is lost, no event id missing, and a killed one leaves no trace."""

import os
import signal
import time
from pathlib import Path

import pytest

from metastored.store.engine.database import Database
from metastored.store.engine.migrate import HEAD
from metastored.store.engine.statements import Statement
from metastored.store.objects import events
from tests.support.processes import finish_python, start_python

pytestmark = pytest.mark.slow

Place = tuple[str | None, Path | None]

_WRITER = """
import sys
from pathlib import Path
from metastored.store.objects import events
from metastored.store.engine.database import Database
from metastored.store.engine.opening import open_database
from metastored.store.engine.migrate import HEAD
from metastored.store.engine.statements import Statement

READ = Statement("SELECT value FROM meta WHERE key = 'n' FOR UPDATE")
WRITE = Statement("UPDATE meta SET value = :value WHERE key = 'n'")

def work(tx):
    value = int(tx.one(READ)[0])
    tx.run(WRITE, value=str(value + 1))
    events.append(tx, 0, "X", None, None, None, 1, b"")

url, data, times = sys.argv[1:]
database = open_database(url or None, Path(data) if data else None)
for _ in range(int(times)):
    database.run(work)
print("done")
"""

_COUNT = Statement("SELECT value FROM meta")
_BEGIN = Statement("INSERT INTO meta (key, value) VALUES ('n', '0')")


def _arguments(place: Place, times: int) -> tuple[str, str, str]:
    return place[0] or "", str(place[1] or ""), str(times)


def test_eight_writers_lose_no_update_and_leave_no_gap(database: Database, place: Place) -> None:
    database.run(lambda tx: tx.run(_BEGIN))
    writers = [start_python(_WRITER, *_arguments(place, 50)) for _ in range(8)]
    assert [finish_python(writer) for writer in writers] == ["done"] * 8
    assert database.reader().one(_COUNT) == ("400",)
    assert [event.id for event in events.since(database.reader(), 0)] == list(range(1, 401))


_STARTER = """
import sys
from pathlib import Path
from metastored.store.engine.database import Database
from metastored.store.engine.opening import open_database
from metastored.store.engine.migrate import ensure_schema, revision
url, data = sys.argv[1:]
database = open_database(url or None, Path(data) if data else None)
ensure_schema(database)
print(revision(database))
"""


@pytest.mark.usefixtures("without_schema")
def test_eight_servers_may_start_at_once_on_nothing(place: Place) -> None:
    servers = [start_python(_STARTER, *_arguments(place, 0)[:2]) for _ in range(8)]
    assert [finish_python(server) for server in servers] == [HEAD] * 8


def test_a_killed_writer_leaves_complete_transactions_and_no_lock(database: Database, place: Place) -> None:
    database.run(lambda tx: tx.run(_BEGIN))
    writer = start_python(_WRITER, *_arguments(place, 1_000_000))
    while events.current(database.reader()) < 20:
        assert writer.poll() is None, writer.communicate()
        time.sleep(0.01)
    os.kill(writer.pid, signal.SIGKILL)
    writer.communicate()
    database.run(lambda tx: events.append(tx, 0, "X", None, None, None, 1, b""))
    ids = [event.id for event in events.since(database.reader(), 0)]
    assert ids == list(range(1, len(ids) + 1))
    assert database.reader().one(_COUNT) == (str(len(ids) - 1),)
