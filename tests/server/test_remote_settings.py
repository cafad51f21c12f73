"""The settings of remotes, in a real server: allowed hosts, the key file, references."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.errors import ConnectError, InvalidObjectException, TimeoutExceeded
from metastored.model.remotes.keys import MASK
from metastored.wire.generated.databases import Database
from tests.support.client import Client
from tests.support.forks import running_server

pytestmark = pytest.mark.slow

PASSWORD = "metastored.remote.password"


def database(name: str, host: str = "old.example.com", **given: str) -> Database:
    parameters = {"hive.metastore.uris": f"thrift://{host}:9083"}
    parameters |= {f"metastored.remote.{key}": value for key, value in given.items()}
    return Database(name=name, parameters=parameters)


def test_a_server_defines_remotes_as_its_settings_allow(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_bytes(base64.b64encode(os.urandom(32)))
    keys.chmod(0o600)
    settings: dict[str, Any] = {
        "remotes_hosts": "*.example.com",
        "remotes_key_file": keys,
        "remotes_references": "env:OLD_* -> *.example.com",
        "data": tmp_path / "data",
    }
    with running_server(**settings) as server:
        client = Client(server.host, server.port)
        client.call("create_database", database("d", password="s3cret"))
        with metastored.connect(server.uri) as connected:
            assert f"'{PASSWORD}' = '{MASK}'" in str(connected.sql("SHOW CREATE REMOTE DATABASE d").rows)
        client.call("create_database", database("e", password="env:OLD_PASSWORD"))
        with pytest.raises(InvalidObjectException, match=r"evil\.net:9083 is not among the hosts"):
            client.call("create_database", database("f", "evil.net"))
        with pytest.raises(InvalidObjectException, match="remotes_references allows only"):
            client.call("create_database", database("f", password="env:PATH"))
        assert client.call("get_all_databases") == ("d", "default", "e")
        client.close()
        assert "s3cret" not in server.log
    stored = b"".join(file.read_bytes() for file in (tmp_path / "data").glob("metastored.db*"))
    assert b"s3cret" not in stored and b"old.example.com" in stored


def test_a_server_does_not_start_without_its_key(tmp_path: Path) -> None:
    with pytest.raises((ConnectError, TimeoutExceeded), match="nokey: No such file"):
        with running_server(remotes_key_file=tmp_path / "nokey"):
            pass
