"""The fixture of Waggle Dance's own integration tests: a local and a remote metastore, with one table in each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import metastored
from metastored.client._sync.client import Client
from metastored.structs import Partition
from metastored.testing import RunningServer
from tests.support.forks import running_server

DEAD = "thrift://127.0.0.1:1"
OF_SERVER = "file:/* -> 127.0.0.1,server:* -> 127.0.0.1"
"""Files and credentials of the server may be used for remotes on this machine."""


class Federation(NamedTuple):
    """`here` has local_database.local_table; `there` remote_database.remote_table with two partitions."""

    here: Client
    server: RunningServer
    there: Client
    remote: RunningServer

    def sql(self, text: str) -> Any:
        """Executes statements here; URIS is the address of the remote metastore, DEAD that of none."""
        for word, uri in (("URIS", self.remote.uri), ("DEAD", DEAD)):
            text = text.replace(word, f"'hive.metastore.uris' = '{uri}'")
        return self.here.sql(text)

    def catalog(self, name: str, prefix: str = "", uris: str = "URIS", **properties: str) -> None:
        """A remote catalog with a prefix. `properties` are keys of metastored.remote, with __ for a dot."""
        more = "".join(f", 'metastored.remote.{key.replace('__', '.')}' = '{text}'" for key, text in properties.items())
        self.sql(f"CREATE REMOTE CATALOG {name} PREFIX '{prefix}' WITH PROPERTIES ({uris}{more})")

    def clean(self) -> None:
        """Drops all remotes, and every database but the first ones."""
        for row in self.sql("SHOW REMOTES").dicts():
            self.sql(f"DROP REMOTE {row['kind']} {row['name']}")
        for client, kept in ((self.here, "local_database"), (self.there, "remote_database")):
            for name in client.databases():
                if name not in ("default", kept):
                    client.drop_database(name, cascade=True)

    def partitions(self, database: str) -> tuple[Partition, ...]:
        """Both partitions of the remote table by their names, as Spark asks for them."""
        found: tuple[Partition, ...] = self.here.api.get_partitions_by_names(
            database, "remote_table", ("continent=Europe/country=UK", "continent=Asia/country=China")
        )
        return found


@contextmanager
def federation(**settings: Any) -> Iterator[Federation]:
    """Two new servers; `settings` are those of the local one."""
    with (
        running_server(audit="on") as remote,
        running_server(**{"remotes_references": OF_SERVER, **settings}) as server,
        metastored.connect(remote.uri, cache=False) as there,
        metastored.connect(server.uri, cache=False) as here,
    ):
        found = Federation(here, server, there, remote)
        fill(found)
        yield found


def fill(found: Federation) -> None:
    """Creates Waggle Dance's tables."""
    found.here.create_database("local_database")
    found.here.create_table(metastored.table("local_database.local_table", {"id": "bigint", "name": "string"}))
    found.there.create_database("remote_database")
    keys = {"continent": "string", "country": "string"}
    columns = {"id": "bigint", "name": "string", "city": "string"}
    found.there.create_table(metastored.table("remote_database.remote_table", columns, partitioned_by=keys))
    found.there.add_partitions("remote_database.remote_table", [("Europe", "UK"), ("Asia", "China")])
