# Made by tools/unasync.py from _async/operations.py: DO NOT EDIT.
"""Changes of tables that keep what others change meanwhile, and reads and writes of transactional tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from metastored.client._sync import changes
from metastored.client._sync.acid import Read, Write, current_acid
from metastored.client._sync.locks import HEARTBEAT, Transaction
from metastored.client._sync.metadata import Metadata
from metastored.errors import (
    InvalidInputException,
)
from metastored.model import makers
from metastored.model.acid import Acid
from metastored.model.conditions import having
from metastored.model.makers import Columns
from metastored.model.names import Name, table_name
from metastored.wire.generated.common import (
    Table,
)
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.transactions import TxnType
from metastored.wire.structs import replace

if TYPE_CHECKING:
    pass


class Operations(Metadata):
    """The metadata of a metastore, and operations of several calls on it."""

    # Tables

    def change_table(
        self,
        name: Name,
        change: Callable[[Table], Table],
        cascade: bool = False,
        environment: Mapping[str, str] | None = None,
        write: tuple[int, str] | None = None,
    ) -> Table:
        """Replaces a table by `change(table)` and keeps what others change meanwhile. Returns the table as it was sent.

        metastored refuses the change if the table is not the one that was read, in anything that `change` leaves as it
        is. Then the table is read and changed again. Other servers have no such condition: the table is read
        immediately before, and what another client changes between these two calls is lost. `write` are the write id
        and the snapshot of statistics; raises ApplicationError if the server has no call for them (before Hive 4).
        """
        settings = {**(environment or {}), **({"CASCADE": "true"} if cascade else {})}
        return changes.change_table(self, table_name(name), change, settings, write)

    def change_partitions(
        self,
        name: Name,
        partitions: Sequence[str],
        change: Callable[[Partition], Partition],
        environment: Mapping[str, str] | None = None,
        write: tuple[int, str] | None = None,
    ) -> None:
        """The same for partitions, by their names (`ds=1`): those that exist, in batches, each complete or not at all.

        The condition of metastored is for all partitions of a batch together.
        """
        wanted = table_name(name)
        for at in range(0, len(partitions), self._batch):
            batch = tuple(partitions[at : at + self._batch])
            changes.change_partitions(self.api, wanted, batch, change, environment or {}, write)

    def set_parameters(
        self,
        name: Name,
        parameters: Mapping[str, str] | None = None,
        /,
        *,
        expected: tuple[str, str] | None = None,
        **more: str,
    ) -> Table:
        """Sets parameters of a table and keeps its others, as `change_table`. Returns the table as it was sent.

        Those whose names are not words of Python come as a dict. `expected` is the condition of `alter`.
        """
        new = {**(parameters or {}), **more}
        return self.change_table(
            name,
            lambda table: replace(table, parameters={**(table.parameters or {}), **new}),
            environment=having(expected),
        )

    def rename_table(self, name: Name, to: Name) -> None:
        """Renames a table or moves it to another database: `to` is `t`, `db.t` or `catalog.db.t`.

        The directory of a managed table is moved. The table is changed as by `change_table`. Raises TableNotFound, and
        InvalidOperationException if a table with the new name exists.
        """
        wanted = table_name(name)
        target = wanted._replace(table=to) if isinstance(to, str) and "." not in to else table_name(to)
        if target.catalog not in ("", wanted.catalog):
            raise InvalidInputException(f"{wanted} cannot be renamed to {target}: a table stays in its catalog")
        self.change_table(wanted, lambda table: replace(table, tableName=target.table, dbName=target.database))
        self.forget(target.database, target.table)

    def add_columns(self, name: Name, columns: Columns, cascade: bool = False) -> Table:
        """Appends columns to a table: `{"note": "string", "at": ("timestamp", "when")}`.

        With `cascade`, existing partitions get them too. The table is changed as by `change_table`. Returns the table
        as it was sent; raises InvalidInputException if a column exists.
        """
        return self.change_table(name, lambda table: makers.with_columns(table, columns), cascade)

    # Locks and transactions

    def acid(self, name: Name) -> Acid | None:
        """How a table is transactional, with its last write id and the write ids that a reader may see now.

        Returns None for a table that is not transactional. Raises TableNotFound.
        """
        (state,) = current_acid(self, [self.table(name)])
        return state

    def read(self, *names: Name, timeout: float = 60.0, heartbeat: float = HEARTBEAT) -> Read:
        """A consistent read of transactional tables, for `with`; `snapshots` has the visible write ids."""
        reading = Transaction(self.api, self.capabilities, self._identity.user, heartbeat, TxnType.READ_ONLY)
        return Read(self, reading, names, timeout)

    def write(
        self,
        name: Name,
        operation: str = "insert",
        partitions: Sequence[str] = (),
        exclusive: bool | None = None,
        timeout: float = 60.0,
        heartbeat: float = HEARTBEAT,
        transaction: Transaction | None = None,
    ) -> Write:
        """A write to a transactional table, for `with`: its files are named by `write_id`.

        `operation` is insert, update, delete, merge or overwrite; `partitions` (`ds=1`) limits the locks to them.
        `exclusive` excludes other writers if the server has such locks; None is the default of its version of Hive.
        It is committed at the end, and aborted on an error. With an open `transaction` it is a part of that, which
        ends it: all writes of a transaction have its first snapshot, and their own rows.
        """
        joined = transaction is not None
        if transaction is None:
            transaction = Transaction(self.api, self.capabilities, self._identity.user, heartbeat)
        return Write(self, transaction, table_name(name), operation, tuple(partitions), exclusive, timeout, joined)
