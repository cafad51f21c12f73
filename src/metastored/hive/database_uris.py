"""Addresses of databases in definitions of remotes: one host, as it is written, and no options that name others. Pure.

The libraries of PostgreSQL take hosts, files and passwords from the query of an address (`?host=`, `?passfile=`) and
from the environment of the process. So only listed options pass, and an address has exactly one host, which every
parser finds in the same place.
"""

from __future__ import annotations

import os
from typing import Final
from urllib.parse import parse_qsl, urlsplit

OPTIONS: Final = frozenset({
    "application_name", "connect_timeout", "keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval",
    "sslmode", "target_session_attrs", "tcp_user_timeout",
})  # fmt: skip
"""Options of PostgreSQL that name no host, no file and no credentials."""
UNUSED: Final = {"password": "", "passfile": os.devnull, "gssencmode": "disable"}
"""What a connection gets in place of the server's own PGPASSWORD, ~/.pgpass and Kerberos ticket."""


def is_database(uri: str) -> bool:
    """Whether this is the address of a database, for a SQL catalog."""
    return _scheme(uri) in ("postgresql", "sqlite")


def is_file(uri: str) -> bool:
    """Whether this is the address of a database in a file of the server."""
    return _scheme(uri) == "sqlite"


def file_of(uri: str) -> str:
    """The path of a database in a file: `/d/c.db` of `sqlite:////d/c.db`."""
    return urlsplit(uri.strip()).path.removeprefix("/")


def check_database(uri: str) -> None:
    """Raises ValueError for an address that could lead to another host, or that names a file or credentials.

    Addresses of other services pass.
    """
    if not is_database(uri):
        return
    parts = urlsplit(uri.strip())
    given = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    if is_file(uri):
        if parts.netloc or parts.query or parts.fragment:
            raise ValueError("a path and nothing else was expected, such as sqlite:////data/catalog.db")
        return
    if unknown := sorted(given - OPTIONS):
        raise ValueError(
            f"the option {unknown[0]!r} is not allowed in the address of a database; allowed are "
            f"{', '.join(sorted(OPTIONS))}"
        )
    if not parts.hostname or "," in parts.netloc or "@" in parts.path + parts.query + parts.fragment:
        raise ValueError("the address of a database has one host, as in postgresql+psycopg://user@host:5432/catalog")


def _scheme(uri: str) -> str:
    return urlsplit(uri.strip()).scheme.partition("+")[0]
