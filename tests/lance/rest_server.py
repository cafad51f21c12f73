"""A metastored with Lance's REST namespaces, on SQLite or PostgreSQL, and Lance's own client of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import lance_namespace as models

from metastored.config import KEYS
from metastored.server.tls import MADE_CERTIFICATE
from metastored.testing import RunningServer
from tests.lance.rest_support import POINTS, client, ipc
from tests.server.http.support import PASSWORD, USER, basic, server_with_users
from tests.support.grants import granted, table_ref


def lance_server(
    folder: Path, database: str = "sqlite", users: Mapping[str, str] | None = None, **settings: Any
) -> AbstractContextManager[RunningServer]:
    """A server with the user maja and others, by their passwords, and a certificate that the server made itself."""
    return server_with_users(folder, database, {USER: PASSWORD, **(users or {})}, lance="on", **settings)


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
    granted(server, to, *privileges, on=table_ref(table[0], table[1]))
