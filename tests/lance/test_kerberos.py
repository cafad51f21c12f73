"""A namespace on a metastore that requires Kerberos: each process authenticates with its own ticket."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import lance_namespace as ns
import pytest

from metastored.lance import Hive2Namespace
from metastored.testing import RunningServer
from tests.server.conftest import Realm
from tests.server.conftest import _realm as _realm
from tests.server.conftest import realm as realm
from tests.support.forks import running_server
from tests.support.lance import POINTS

pytestmark = [pytest.mark.kerberos, pytest.mark.slow]


@pytest.fixture
def server(realm: Realm) -> Iterator[RunningServer]:
    with running_server(kerberos_principal=realm.service, kerberos_keytab=realm.keytab) as running:
        yield running


@pytest.fixture
def space(server: RunningServer, realm: Realm, tmp_path: Path) -> Iterator[Hive2Namespace]:
    properties: dict[str, Any] = {
        "kerberos.principal": f"hive/_HOST@{realm.kdc.realm}",
        "ugi": "alice",
        "managed_by": "impl",
    }
    with Hive2Namespace(uri=f"thrift://localhost:{server.port}", root=str(tmp_path), **properties) as made:
        yield made


def test_a_process_with_a_ticket_writes_and_a_copy_of_its_namespace_too(
    space: Hive2Namespace, realm: Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRB5CCNAME", str(realm.cache))
    space.create_namespace(ns.CreateNamespaceRequest(id=["shop"]))
    id = ["shop", "points"]
    lance.write_dataset(POINTS, namespace_client=space, table_id=id, mode="create")
    with pickle.loads(pickle.dumps(space)) as copy:
        assert lance.write_dataset(POINTS, namespace_client=copy, table_id=id, mode="append").version == 2
    assert space.client.table(("shop", "points")).owner == "alice"


def test_a_process_without_a_ticket_is_unauthenticated(
    space: Hive2Namespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRB5CCNAME", str(tmp_path / "no tickets"))
    with pytest.raises(ns.UnauthenticatedError):
        space.list_namespaces(ns.ListNamespacesRequest(id=[]))
