"""Names on their way to a remote and back: local to remote in arguments, remote to local in results.

Pure: bytes in, bytes out. Names are replaced where the method table has them: databases, tables, both in one
(`@full_name`), catalogs and the text of views. Of other text only messages of errors are changed: a full name in them.

A result about a remote table can name other tables of the remote, as a foreign key does. Such a result is decoded, and
a database and a table are renamed together or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from metastored.bounded import BoundedDict
from metastored.errors import RemoteProtocolError
from metastored.hive.names import DEFAULT_CATALOG, CatalogNameError, decode_catalog_name, encode_catalog_name, normalize
from metastored.model.kinds import EXTERNAL, MANAGED
from metastored.model.remotes.values import Access, Remote
from metastored.remotes.pairs import rename_pairs
from metastored.remotes.relays import RenamedRelay
from metastored.remotes.views import rename_view
from metastored.wire.edit.splice import (
    Renames,
    carries_exception,
    splice_arguments,
    splice_message,
    splice_result,
    stream_result,
)
from metastored.wire.message import REPLY, Call, Relayed, Reply, Stream
from metastored.wire.methods import Method

SENT_MOST: Final = 256
SENT_LONGEST: Final = 512
"""How many arguments are kept with remote names, and how long they are at most."""
LONG: Final = 1024 * 1024
"""Bytes of a result from which on it is returned as a stream."""


class Renaming:
    """Between local and remote names: of one remote, or of several remote databases of one endpoint."""

    def __init__(
        self,
        remotes: tuple[Remote, ...],
        neighbours: Iterable[Remote] = (),
        shown: Callable[[str], str | None] = lambda name: None,
        trino_catalog: str = "",
    ) -> None:
        """In results the names of other remote databases are local too: of the `neighbours`, which are the remotes of
        the same endpoint, and of those for which `shown` returns the local name, by a remote catalog. Views of Trino
        get the catalog `trino_catalog`, if there is one.
        """
        first = remotes[0]
        self._table = first if first.table is not None else None
        self._catalog = first.catalog
        self._remote_catalog = normalize(first.remote_catalog or DEFAULT_CATALOG)
        self._to_remote = {remote.database: remote.remote_database for remote in remotes}
        self._to_local: dict[str, str] = {}
        # Two local names of one remote database: in results the first that the call named.
        for remote in (*remotes, *neighbours):
            if remote.table is None and remote.catalog == self._catalog:
                self._to_local.setdefault(normalize(remote.remote_database), remote.database)
        self._shown = shown
        self._trino_catalog = trino_catalog
        self._sent: BoundedDict[tuple[Method, bytes], bytes] = BoundedDict(SENT_MOST)
        """Arguments with remote names, by those with local names: engines repeat calls."""
        self._outward: dict[str, Any] = {"db": self._outward_name, "full_name": self._outward_full_name}
        self._inward: dict[str, Any] = {
            "db": self.database,
            "full_name": self._inward_full_name,
            "view_text": self._inward_view,
        }
        if self._table is not None:
            self._outward["table"] = self._outward_table
        if self._catalog != self._remote_catalog:
            self._outward["cat"] = lambda name: self._remote_catalog
            self._inward["cat"] = lambda name: self._catalog
        read_only = any(remote.access is not Access.WRITE for remote in remotes)
        if read_only:
            self._inward["table_type"] = _read_only_type
        self.same = (
            not read_only
            and not trino_catalog
            and self._catalog == self._remote_catalog
            and all(here == there for here, there in self._to_remote.items())
            and all(here == there for there, here in self._to_local.items())
            and (self._table is None or self._table.table == self._table.remote_table)
            and first.of_catalog is None
        )
        """Whether a reply of the remote is one of this server, byte for byte."""

    def call(self, call: Call) -> Call:
        """The call as the remote gets it."""
        given = call.body
        body = self._sent.get((call.method, given))
        if body is None:
            renames: Renames = self._outward
            body = splice_arguments(call.method, given, renames)
            if len(given) <= SENT_LONGEST:
                self._sent[call.method, given] = body
        return call if body == given else Call(call.method, None, call.seqid, body)

    def reply(self, method: Method, reply: Reply) -> Reply:
        """The remote's reply as the caller gets it."""
        if self.same or reply.kind != REPLY:
            return reply
        if isinstance(reply.body, Relayed):
            return Reply(self._relayed(method, reply.body))
        body = reply.body.read() if isinstance(reply.body, Stream) else reply.body
        if carries_exception(body):
            return Reply(splice_message(body, self.message), REPLY, reply.error)
        if self._table is None:
            return Reply(_spliced(method, body, self._inward), REPLY, reply.error)
        names = _NamesOfTable(self._table)
        renamed = _spliced(method, body, self._inward | {"db": names.database, "table": names.table})
        if names.others:
            value = Reply(body, REPLY).value(method)
            return Reply.of(method, rename_pairs(value, method.returns_role, self.pair, self._inward))
        return Reply(renamed, REPLY, reply.error)

    def _relayed(self, method: Method, body: Relayed) -> Relayed:
        if self._table is None:
            return RenamedRelay(method, body, self._inward)
        names = _NamesOfTable(self._table)

        def only_one() -> None:
            if names.others:
                raise RemoteProtocolError(f"a long result of {method.name} about one table names other tables too")

        return RenamedRelay(method, body, self._inward | {"db": names.database, "table": names.table}, only_one)

    def message(self, text: str) -> str:
        """An error's text with local names: full names anywhere, a database where it is all that the text names."""

        def full_name(match: re.Match[str]) -> str:
            database, table = self.pair(normalize(match[2]), normalize(match[3]))
            if (database, table) == (normalize(match[2]), normalize(match[3])):
                return match[0]
            return f"{self._catalog}.{database}.{table}" if match[1] else f"{database}.{table}"

        text = re.sub(rf"(?<![\w.])({re.escape(self._remote_catalog)}\.)?(\w+)\.(\w+)(?![\w.]*/)", full_name, text)
        head, name = re.fullmatch(r"(.*?)(\w*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
        if head in ("", "database ", f"database {self._remote_catalog}.", f"{self._remote_catalog}."):
            return head + self.database(name)
        return text

    def database(self, name: str) -> str:
        """The local name of a remote database; the same name where it has none."""
        local = self._to_local.get(normalize(name))
        return local if local is not None else self._shown(name) or name

    def pair(self, database: str, table: str) -> tuple[str, str]:
        """The local names of a remote table; the same names where it has none."""
        remote = self._table
        if remote is not None and (normalize(database), normalize(table)) == (
            normalize(remote.remote_database),
            normalize(remote.remote_table or ""),
        ):
            assert remote.table is not None
            return remote.database, remote.table
        return self.database(database), table

    # To the remote

    def _outward_name(self, name: str) -> str:
        """Without the default catalog that a Hive 3 client puts before it: the remote may be older."""
        try:
            plain = decode_catalog_name(name).database
        except CatalogNameError:
            return name
        remote = None if plain is None else self._to_remote.get(normalize(plain))
        if remote is None:
            return name
        if self._remote_catalog != DEFAULT_CATALOG:
            return encode_catalog_name(self._remote_catalog, remote) or remote
        return remote

    def _outward_table(self, name: str) -> str:
        assert self._table is not None and self._table.remote_table is not None
        return self._table.remote_table if normalize(name) == self._table.table else name

    def _outward_full_name(self, name: str) -> str:
        parts = name.split(".")
        if len(parts) not in (2, 3):
            return name
        parts[-2] = self._to_remote.get(normalize(parts[-2]), parts[-2])
        if self._table is not None:
            parts[-1] = self._outward_table(parts[-1])
        if len(parts) == 3:
            parts[0] = self._remote_catalog
        return ".".join(parts)

    # From the remote

    def _inward_full_name(self, name: str) -> str:
        parts = name.split(".")
        if len(parts) not in (2, 3):
            return name
        parts[-2:] = self.pair(parts[-2], parts[-1])
        if len(parts) == 3:
            parts[0] = self._catalog
        return ".".join(parts)

    def _inward_view(self, text: str) -> str:
        return rename_view(text, self.pair, self.database, self._trino_catalog) if text else text


class _NamesOfTable:
    """Names in one result about a remote table; `others` where the result names other tables of the remote too."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self.others = False

    def database(self, name: str) -> str:
        if normalize(name) == normalize(self._remote.remote_database):
            return self._remote.database
        self.others = True
        return name

    def table(self, name: str) -> str:
        if normalize(name) == normalize(self._remote.remote_table or ""):
            return self._remote.table or name
        self.others = True
        return name


def _read_only_type(type: str) -> str:
    """Engines empty and replace managed tables themselves: they delete the files before they call the metastore."""
    return EXTERNAL if type == MANAGED else type


def _spliced(method: Method, body: bytes, renames: Renames) -> bytes | Stream:
    return splice_result(method, body, renames) if len(body) < LONG else stream_result(method, body, renames)
