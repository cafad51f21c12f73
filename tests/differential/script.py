"""The vocabulary of the scripts in `probes/`: calls to a metastore, as data.

A script is a list of probes. Each has a label, runs in its turn on both sides, and gives one line. The scripts never
read a reply themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from metastored.errors import ApplicationError, MetastoreError, TransportError
from metastored.wire.generated.common import EnvironmentContext, Table
from metastored.wire.generated.partitions import Partition
from tests.differential.peer import Peer, has

BEFORE_4 = ("2.3", "3.1")
SINCE_4_0_1 = ("4.0.1", "4.1")
HIVE_4 = ("4.0.0", *SINCE_4_0_1)
SINCE_3_1 = ("3.1", *HIVE_4)
ALL = ("2.3", *SINCE_3_1)

Show = Callable[[Any], Any]


class Probe(Protocol):
    """A request to a peer; its reply is one line."""

    @property
    def kind(self) -> str:
        """The prefix of the label, so that probes of different kinds may share one."""

    @property
    def label(self) -> str: ...
    @property
    def versions(self) -> Sequence[str]: ...
    def run(self, peer: Peer) -> str: ...


@dataclass(frozen=True)
class Ask:
    """One call; `show` selects the relevant part of a long reply."""

    label: str
    method: str
    args: tuple[Any, ...]
    show: Show | None = None
    versions: Sequence[str] = ALL
    kind: ClassVar[str] = ""

    def run(self, peer: Peer) -> str:
        if self.show is None:
            return peer.answer(self.method, *self.args)
        return _line(peer, lambda: self.show(peer.ask(self.method, *self.args)) if self.show else None)


def ask(label: str, method: str, *args: Any, show: Show | None = None, versions: Sequence[str] = ALL) -> Ask:
    """A call, made to the versions that have it."""
    return Ask(f"{method}: {label}", method, args, show, [version for version in versions if has(version, method)])


@dataclass(frozen=True)
class EditTable:
    """Gets a table, changes it and hands it back, as clients do."""

    label: str
    database: str
    table: str
    change: Callable[[Table], Table]
    env: dict[str, str] | None = None
    versions: Sequence[str] = ALL
    kind: ClassVar[str] = "alter: "

    def run(self, peer: Peer) -> str:
        def edit() -> Any:
            table = self.change(peer.ask("get_table", self.database, self.table))
            if self.env is None:
                return peer.ask("alter_table", self.database, self.table, table)
            env = EnvironmentContext(properties=self.env)
            return peer.ask("alter_table_with_environment_context", self.database, self.table, table, env)

        return _line(peer, edit)


@dataclass(frozen=True)
class EditPartition:
    """Gets a partition, changes it and hands it back; with other values it is renamed."""

    label: str
    database: str
    table: str
    values: tuple[str, ...]
    change: Callable[[Partition], Partition]
    env: dict[str, str] | None = None
    versions: Sequence[str] = ALL
    kind: ClassVar[str] = "alter partition: "

    def run(self, peer: Peer) -> str:
        def edit() -> Any:
            part = self.change(peer.ask("get_partition", self.database, self.table, self.values))
            if part.values != self.values:
                return peer.ask("rename_partition", self.database, self.table, self.values, part)
            if self.env is None:
                return peer.ask("alter_partition", self.database, self.table, part)
            env = EnvironmentContext(properties=self.env)
            return peer.ask("alter_partition_with_environment_context", self.database, self.table, part, env)

        return _line(peer, edit)


@dataclass(frozen=True)
class Tree:
    """The folders and files below a location."""

    label: str
    location: str
    versions: Sequence[str] = ALL
    kind: ClassVar[str] = "tree: "

    def run(self, peer: Peer) -> str:
        root = peer.path(self.location)
        if not root.exists():
            return "nothing"
        # Hadoop's local file system leaves a checksum file beside each file that it writes.
        result = (path for path in root.rglob("*") if not path.name.endswith(".crc"))
        return " ".join(sorted(f"{path.relative_to(root)}{'/' if path.is_dir() else ''}" for path in result)) or "empty"


@dataclass(frozen=True)
class Put:
    """Writes a file of so many bytes into the directory of a table."""

    label: str
    location: str
    size: int = 0
    versions: Sequence[str] = ALL
    kind: ClassVar[str] = "put: "

    def run(self, peer: Peer) -> str:
        path = peer.path(self.location)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * self.size)
        return "put"


@dataclass(frozen=True)
class Reconnect:
    """Ends the connection. Some calls that fail leave an open transaction to their connection in Hive."""

    label: str
    versions: Sequence[str] = ALL
    kind: ClassVar[str] = "reconnect: "

    def run(self, peer: Peer) -> str:
        peer.client.close()
        return "closed"


def _line(peer: Peer, question: Callable[[], Any]) -> str:
    try:
        return peer.shown(question())
    except (MetastoreError, ApplicationError, TransportError) as error:
        return peer.shown_error(error)


def lines(script: Sequence[Probe], peer: Peer) -> Iterator[tuple[str, str]]:
    """(label, reply) of every probe that this version has, in order."""
    for probe in script:
        if peer.version in probe.versions:
            yield f"{probe.kind}{probe.label}", probe.run(peer)
