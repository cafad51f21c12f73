"""The properties of a namespace, by Lance's names, and how namespaces are found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import lance_namespace as ns
import pytest

import metastored
from metastored.errors import install_command
from metastored.lance import Hive2Namespace, Hive3Namespace
from metastored.lance.definition import ManagedBy
from metastored.lance.properties import Properties, properties_of
from metastored.testing import RunningServer
from tests.support.lance import opened

pytestmark = pytest.mark.slow


def test_every_property_is_read() -> None:
    assert properties_of(
        {
            "uri": "thrift://a:9083,thrift://b:9083",
            "root": "s3://bucket/lance/",
            "client.pool-size": "7",
            "ugi": "ann:staff,admins",
            "managed_by": "IMPL",
            "storage.aws_region": "eu-central-1",
            "kerberos.principal": "hive/_HOST@REALM",
        }
    ) == Properties(
        "thrift://a:9083,thrift://b:9083",
        "s3://bucket/lance",
        7,
        "ann",
        ("staff", "admins"),
        ManagedBy.IMPL,
        {"aws_region": "eu-central-1"},
        "hive/_HOST@REALM",
    )


def test_the_defaults_are_those_of_lance() -> None:
    found = properties_of({})
    assert (found.uri, found.pool_size, found.user, found.managed_by) == (
        "thrift://localhost:9083",
        3,
        None,
        ManagedBy.STORAGE,
    )


def test_a_relative_root_is_below_the_current_directory() -> None:
    assert properties_of({"root": "lake"}).root == f"file:{os.getcwd()}/lake"


@pytest.mark.parametrize(
    ("key", "value"),
    [("client.pool-size", "many"), ("client.pool-size", "0"), ("managed_by", "me"), ("roott", "x"), ("root", "s3:x")],
)
def test_a_property_that_cannot_be_used_is_refused(key: str, value: str) -> None:
    with pytest.raises(ns.InvalidInputError, match=key):
        properties_of({key: value})


@pytest.mark.parametrize(("name", "kind"), [("hive2", Hive2Namespace), ("hive3", Hive3Namespace)])
def test_connect_finds_both_namespaces_by_their_names(name: str, kind: type) -> None:
    found = ns.connect(f"metastored-{name}", {"uri": "thrift://127.0.0.1:1"})
    assert type(found) is kind
    assert "thrift://127.0.0.1:1" in found.namespace_id()


def test_a_metastore_that_does_not_answer_is_a_service_that_is_not_available() -> None:
    space = ns.connect("metastored-hive2", {"uri": "thrift://127.0.0.1:1"})
    with pytest.raises(ns.ServiceUnavailableError):
        space.list_namespaces(ns.ListNamespacesRequest(id=[]))


def test_the_second_address_is_used_when_the_first_is_dead(metastored_uri: str, tmp_path: Path) -> None:
    with opened(f"thrift://127.0.0.1:1,{metastored_uri}", "hive2", tmp_path) as space:
        assert "default" in space.list_namespaces(ns.ListNamespacesRequest(id=[])).namespaces


def test_the_user_of_ugi_owns_what_is_created(metastored_uri: str, tmp_path: Path) -> None:
    with opened(metastored_uri, "hive2", tmp_path, ugi="bob:staff") as space:
        space.create_namespace(ns.CreateNamespaceRequest(id=["owned"]))
        space.declare_table(ns.DeclareTableRequest(id=["owned", "t"]))
        assert space.client.table(("owned", "t")).owner == "bob"


def test_a_client_of_the_caller_is_used_and_stays_open(metastored_uri: str, tmp_path: Path) -> None:
    with metastored.connect(metastored_uri, cache=False) as client:
        with Hive2Namespace(client, root=str(tmp_path)) as space:
            assert "default" in space.list_namespaces(ns.ListNamespacesRequest(id=[])).namespaces
        assert client.databases()


def test_without_a_root_tables_are_stored_in_the_directory_of_their_database(own_server: RunningServer) -> None:
    with Hive2Namespace(uri=own_server.uri) as space:
        space.create_namespace(ns.CreateNamespaceRequest(id=["shop"]))
        location = space.declare_table(ns.DeclareTableRequest(id=["shop", "t"])).location
        assert location == f"{own_server.warehouse.removeprefix('file:')}/shop.db/t"


def test_a_missing_extra_names_the_pip_line() -> None:
    program = "import sys; sys.modules['lance_namespace'] = None; import metastored.lance"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert install_command("lance") in done.stderr
