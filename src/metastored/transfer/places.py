"""Opens the source or target of a transfer: a folder, a database's URL, or a metastore's address."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from metastored.client._sync.client import connect
from metastored.client.mechanisms import Mechanism
from metastored.client.sasl import kerberos
from metastored.errors import ConfigError
from metastored.transfer.local import FILE, Opening, opened
from metastored.transfer.reading import Reader
from metastored.transfer.writing import RemoteWriter, Writer

ADDRESSES: Final = ("thrift", "thrifts", "http", "https")
DATABASES: Final = ("postgresql", "postgres")
_PASSWORD: Final = re.compile(r"(://[^/@:]*):[^/@]*(?=@)")
TIMEOUT: Final = 600.0
"""Seconds for one call: an old metastore may take long to list a million names."""


@dataclass(frozen=True)
class Access:
    """Credentials and options for opening a source or target."""

    user: str | None = None
    password: str | None = None
    kerberos_principal: str | None = None
    warehouse: str = "file:/nonexistent"
    """The location of the default database of a new folder, until it is copied from the source."""


class End(NamedTuple):
    """An open source or target."""

    reader: Reader
    writer: Writer
    folder: Path | None
    """The data folder, if there is one."""


def is_address(text: str) -> bool:
    return text.partition("://")[0] in ADDRESSES and "://" in text


@contextmanager
def open_end(text: str, access: Access, opening: Opening = Opening.CREATE) -> Iterator[End]:
    """Opens the metastore that `text` names; `opening` says what happens if its database does not exist."""
    if is_address(text):
        sasl: Callable[[str], Mechanism] | None = None
        if access.kerberos_principal is not None:
            sasl = kerberos(access.kerberos_principal)
        with connect(
            text, user=access.user, password=access.password, sasl=sasl, timeout=TIMEOUT, cache=False
        ) as client:
            yield End(Reader(client, text), RemoteWriter(client), None)
        return
    scheme = text.partition("://")[0] if "://" in text else ""
    if scheme and scheme not in DATABASES:
        known = ", ".join(f"{each}://" for each in (*ADDRESSES, "postgresql"))
        raise ConfigError(f"{text!r} begins with {scheme}://; {known} or a folder was expected")
    folder = None if scheme else Path(text)
    if folder is not None and opening is Opening.REQUIRE and not (folder / FILE).is_file():
        raise ConfigError(f"{text!r} holds no database of metastored's: there is no {FILE} in it")
    with opened(text if scheme else None, folder, access.warehouse, opening) as (client, writer):
        yield End(Reader(client, _PASSWORD.sub(r"\1", text)), writer, folder)
