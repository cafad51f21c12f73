"""Connectors by name: those built in, those of other packages, and what is said of one that is missing."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from metastored.connectors.context import Context
from metastored.connectors.registry import CONNECTORS, Connectors
from metastored.errors import ConfigError, MissingExtra, install_command
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.hosts import AllowedHosts
from metastored.model.remotes.keys import BUILT_IN
from metastored.model.remotes.values import read_remote
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS

PACKAGE = """
from metastored.wire.message import Reply

class Toy:
    def __init__(self, endpoint, context):
        self.endpoint, self.context = endpoint, context

    async def handle(self, call, session):
        return Reply.of(call.method, (self.endpoint.get("toy.box"),))

def connect(endpoint, context):
    return Toy(endpoint, context)
"""


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with the connectors `toy` and `broken`."""
    (tmp_path / "toys.py").write_text(PACKAGE)
    info = tmp_path / "toys-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[metastored.connectors]\ntoy = toys:connect\nbroken = toys:nothing\n")
    monkeypatch.syspath_prepend(str(tmp_path))


def test_every_connector_that_definitions_know_is_there() -> None:
    assert set(CONNECTORS) == set(BUILT_IN)


def test_a_connector_of_another_package_is_found_by_its_entry_point(toys: None) -> None:
    remote = read_remote("hive", "play", None, {"metastored.remote.via": "toy", "toy.box": "blocks"})
    context = Context(AllowedHosts.read(["10.0.0.0/8"]))
    handler: Any = Connectors(context).connect(remote.endpoint)
    assert handler.context is context
    method = METHODS["get_all_databases"]
    reply = asyncio.run(handler.handle(Call(method, ()), Session()))
    assert reply.value(method) == ("blocks",)


def test_a_connector_that_nobody_has_is_refused_with_those_that_are_there(toys: None) -> None:
    expected = "there is no connector 'hudi'; installed are broken, glue, http, iceberg, ssh, thrift, toy"
    with pytest.raises(ConfigError, match=expected):
        Connectors().connect(Endpoint("hudi", ()))


def test_a_connector_that_cannot_be_loaded_is_named_with_the_reason(toys: None) -> None:
    with pytest.raises(ConfigError, match=r"the connector 'broken' \(toys:nothing\) cannot be loaded: AttributeError"):
        Connectors().connect(Endpoint("broken", ()))


@pytest.mark.parametrize(
    ("via", "keys", "module", "extra"),
    [
        ("ssh", {"hive.metastore.uris": "thrift://h:9083", "ssh.tunnel.route": "a@b"}, "asyncssh", "ssh"),
        ("glue", {"aws.region": "us-east-1"}, "boto3", "glue"),
        ("iceberg", {"iceberg.table.path": "/t"}, "pyiceberg", "iceberg"),
    ],
)
def test_an_extra_that_is_not_installed_is_named_with_its_pip_line(
    via: str, keys: dict[str, str], module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=re.escape(install_command(extra))):
        Connectors().connect(Endpoint(via, tuple(keys.items())))
