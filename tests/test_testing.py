"""`running_server` and the fixture: what anybody's tests rely on."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from metastored.errors import ConfigError, ConnectError
from metastored.testing import RunningServer, running_server
from metastored.wire.codec import binary
from metastored.wire.connection import NEED_DATA, ClientConnection
from metastored.wire.message import Reply
from metastored.wire.methods import METHODS

# Starts and stops servers in processes of their own.
pytestmark = pytest.mark.slow

pytest_plugins = ["metastored.pytest_plugin"]


def databases(server: RunningServer) -> object:
    method = METHODS["get_all_databases"]
    wire = ClientConnection()
    with socket.create_connection((server.host, server.port), timeout=20) as connection:
        connection.sendall(wire.send(method, binary.encode_args(method, ())))
        while (event := wire.next_event()) is NEED_DATA:
            data = connection.recv(65536)
            assert data
            wire.receive_data(data)
    assert isinstance(event, Reply)
    return event.value(method)


def test_a_real_server_is_given_to_a_test(metastored_server: RunningServer) -> None:
    assert databases(metastored_server) == ("default",)
    assert metastored_server.uri == f"thrift://127.0.0.1:{metastored_server.port}"
    assert metastored_server.data is not None and metastored_server.data.is_dir()


def test_two_workers_share_an_empty_database() -> None:
    with running_server(workers=2) as server:
        assert len(server.workers) == 2
        assert databases(server) == ("default",)


def test_nothing_is_left_behind() -> None:
    with running_server() as server:
        data, pid = server.data, server.pid
    assert data is not None and not data.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_server_is_stopped_when_the_test_fails() -> None:
    with pytest.raises(ZeroDivisionError):
        with running_server() as server:
            raise ZeroDivisionError
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ConfigError, match="no setting 'wokers'"):
        with running_server(wokers=2):
            pass


def test_a_server_that_does_not_start_raises_with_the_reason(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(ConnectError, match="exit code 2 before it was ready") as caught:
        with running_server(data=blocked):
            pass
    assert "the data folder" in str(caught.value)
