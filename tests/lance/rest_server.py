"""A metastored with Lance's REST namespaces, on SQLite or PostgreSQL, and Lance's own client of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import lance_namespace as models
import pytest

import metastored
from metastored.config import KEYS
from metastored.server.tls import MADE_CERTIFICATE
from metastored.structs import (
    HiveObjectPrivilege,
    HiveObjectRef,
    HiveObjectType,
    PrincipalType,
    PrivilegeBag,
    PrivilegeGrantInfo,
)
from metastored.testing import RunningServer, running_server
from tests.lance.rest_support import POINTS, client, ipc
from tests.server.http.support import PASSWORD, USER, basic, user
from tests.support.postgres import running_postgres

DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]
"""The parameters of a fixture that starts a server on each of its databases."""


@contextmanager
def lance_server(
    folder: Path, database: str = "sqlite", users: Mapping[str, str] | None = None, **settings: Any
) -> Iterator[RunningServer]:
    """A server with the user maja and others, by their passwords, and a certificate that the server made itself."""
    with ExitStack() as stack:
        data: Path | str = folder / "data"
        if database == "postgresql":
            data = stack.enter_context(stack.enter_context(running_postgres()).database())
        settings["data" if isinstance(data, Path) else "database_url"] = data
        for name, password in {USER: PASSWORD, **(users or {})}.items():
            user("add", name, data=data, password=password)
        yield stack.enter_context(running_server(http_port=0, lance="on", **settings))


def rest(server: RunningServer, kind: str = "hive2", who: str = USER, password: str = PASSWORD) -> Any:
    """Lance's client, authenticated by a password, which verifies the server's certificate."""
    return client(
        uri=f"https://localhost:{server.http_port}/lance/{kind}",
        **{"tls.ssl_ca_cert": str(ca(server)), "header.Authorization": basic(who, password)["Authorization"]},
    )


def ca(server: RunningServer) -> Path:
    """The certificate of a server: it is self-signed, so it is its own authority."""
    return Path(server.data or KEYS["data"].default).expanduser() / MADE_CERTIFICATE


def make_table(namespace: Any, database: str, table: str = "t", **properties: str) -> list[str]:
    """A table with three rows in a database that may exist."""
    namespace.create_namespace(models.CreateNamespaceRequest(id=[database], mode="ExistOk"))
    request = models.CreateTableRequest(id=[database, table], properties=properties or None)
    namespace.create_table(request, ipc(POINTS))
    return [database, table]


def grant(server: RunningServer, table: list[str], *privileges: str, to: str = "bob") -> None:
    """Grants privileges on a table, as the administrator maja."""
    where = HiveObjectRef(HiveObjectType.TABLE, table[0], table[1])
    with metastored.connect(server.uri, user=USER, cache=False) as connected:
        for privilege in privileges:
            info = PrivilegeGrantInfo(privilege, 0, USER, PrincipalType.USER, False)
            bag = PrivilegeBag((HiveObjectPrivilege(where, to, PrincipalType.USER, info, "SQL"),))
            connected.api.grant_privileges(bag)
