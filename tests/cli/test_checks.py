"""The checks of `metastored doctor` beyond the database: configuration, warehouse, clocks, the server, its remotes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.store.engine import schema
from metastored.store.engine.opening import open_database
from tests.cli.running import refused, run
from tests.support.in_process import serving_metastore
from tests.support.postgres import PostgresServer


@pytest.fixture
def home(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The data folder of a running server, and its address."""
    with serving_metastore(tmp_path) as uri:
        yield str(tmp_path / "data"), uri


def findings(*words: str) -> list[tuple[str, str]]:
    return [(each["kind"], each["reason"]) for each in _doctor(*words)["findings"]]


def _doctor(*words: str) -> dict[str, Any]:
    found = run("doctor", "--output", "json", *words).json
    assert all(each["advice"] for each in found["findings"])
    return dict(found)


def test_the_running_server_and_its_remotes_are_called(home: tuple[str, str]) -> None:
    data, uri = home
    assert _doctor("--data", data, "--uri", uri)["checks"]["remotes"] == "there are none"
    with metastored.connect(uri) as client:
        client.sql("CREATE REMOTE DATABASE old WITH DBPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:1')")
    ((kind, reason),) = findings("--data", data, "--uri", uri)
    assert kind == "remote" and reason.startswith("database old:")
    done = run("doctor", "--data", data, "--uri", uri)
    assert done.code == 1
    assert "PROBLEM remotes: 0 of 1 answer\n" in done.out and done.out.endswith("\n1 problem found\n")
    assert "what would help: metastored remotes test NAME" in done.out


def test_a_server_that_was_named_must_answer(home: tuple[str, str]) -> None:
    data, _ = home
    ((kind, reason),) = findings("--data", data, "--uri", "thrift://127.0.0.1:1")
    assert kind == "server" and "127.0.0.1:1" in reason


def test_a_server_of_another_database_is_not_asked_for_its_remotes(
    home: tuple[str, str], shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("METASTORED_URI", shop)
    found = _doctor("--data", home[0])
    assert found["checks"]["server"] == f"the one at {shop} uses another database"
    assert found["findings"] == []


def test_settings_that_a_server_refuses_are_a_finding(home: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "metastored.yaml"
    file.write_text(f"data: {home[0]}\nauthorization: sql\n")
    ((kind, reason),) = findings("--config", str(file))
    assert kind == "configuration" and "admin_users" in reason


def test_settings_that_leave_something_open_are_a_note(home: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "metastored.yaml"
    file.write_text(f"data: {home[0]}\nhost: 0.0.0.0\n")
    found = _doctor("--config", str(file))
    assert found["findings"] == [] and any("without authentication" in note for note in found["notes"])
    assert "  note: " in run("doctor", "--config", str(file)).out


def test_a_configuration_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text("prot: 1\n")
    refused(("doctor", "--config", str(tmp_path / "m.yaml")), "unknown key 'prot'")


def test_a_warehouse_that_is_no_directory_is_a_finding(home: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "metastored.yaml"
    (tmp_path / "occupied").write_text("")
    file.write_text(f"data: {home[0]}\nwarehouse: {tmp_path / 'occupied'}\n")
    assert findings("--config", str(file)) == [("warehouse", f"{tmp_path / 'occupied'} is not a directory")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere: run the tests as another user")
def test_a_warehouse_that_may_not_be_written_is_a_finding(home: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "metastored.yaml"
    (tmp_path / "closed").mkdir(mode=0o500)
    file.write_text(f"data: {home[0]}\nwarehouse: {tmp_path / 'closed'}\n")
    assert findings("--config", str(file)) == [("warehouse", f"{tmp_path / 'closed'} may not be written by this user")]


def test_a_warehouse_that_the_server_does_not_access_is_not_checked(home: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "metastored.yaml"
    file.write_text(f"data: {home[0]}\nwarehouse: s3a://bucket/wh\ndirectories: local\n")
    found = _doctor("--config", str(file))
    assert "s3a://bucket/wh is not accessed by this server" in found["checks"]["warehouse"]


def test_times_in_the_future_are_a_finding(home: tuple[str, str]) -> None:
    with closing(open_database(None, Path(home[0]), threads=1)) as database:
        with database.migration() as engine, engine.begin() as connection:
            event = {"id": 1000, "time": int(time.time()) + 3600, "type": "X", "fmt": 1, "body": b""}
            connection.execute(schema.events.insert(), event)
    ((kind, reason),) = findings("--data", home[0])
    assert kind == "clock" and reason.startswith("the newest event is 3,") and "in the future" in reason


@pytest.mark.postgres
def test_the_clock_and_the_version_of_postgresql_are_read(postgres: PostgresServer, tmp_path: Path) -> None:
    with postgres.database() as url, serving_metastore(tmp_path, database_url=url) as uri:
        found = _doctor("--database-url", url, "--uri", uri)
    assert found["findings"] == []
    assert "PostgreSQL 1" in found["checks"]["versions"]
    assert "that of PostgreSQL differs by" in found["checks"]["clocks"]
