"""Directory jobs that failed, as a server's metrics show them. On SQLite and PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from metastored.store.engine.migrate import ensure_schema
from metastored.store.warehouse import jobs
from tests.server.http.support import browser
from tests.store.conftest import Opener
from tests.store.conftest import opener as opener
from tests.store.conftest import place as place
from tests.support.forks import running_server
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_failed_is_counted_once_whatever_the_number_of_workers(
    opener: Opener, place: tuple[str | None, Path | None], tmp_path: Path, workers: int
) -> None:
    database = opener()
    ensure_schema(database)
    warehouse = tmp_path / "warehouse"
    warehouse.mkdir()
    # A job of an earlier server: the removal of the warehouse itself.
    database.run(lambda tx: jobs.add(tx, "remove", f"file:{warehouse}", created=1))
    where = {"database_url": place[0]} if place[0] is not None else {"data": place[1]}
    with (
        running_server(**where, warehouse=f"file:{warehouse}", http_port=0, workers=workers) as server,
        browser(server) as client,
    ):
        eventually(lambda: b"\nmetastored_failed_jobs 1.0\n" in client.request("GET", "/metrics").body)
    assert warehouse.is_dir()
