"""Opens the dataset of a table, and keeps the columns in the metastore equal to those of the dataset.

All commits to an `impl` table go through the namespace, since pylance gets it with the dataset.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lance_namespace import (
    InvalidInputError,
    InvalidTableStateError,
    TableNotFoundError,
    TableVersionNotFoundError,
    UnsupportedOperationError,
)

from metastored.errors import MetastoreError
from metastored.hive.statistics.basic import KEEP_STATISTICS
from metastored.lance.commits import Commits
from metastored.lance.conditions import conditional, is_conflict
from metastored.lance.connection import Connected
from metastored.lance.definition import SCHEMA, VERSION, columns_of, is_lance, version_of
from metastored.lance.files import Manifests, has_data
from metastored.lance.requests import CommitCalls
from metastored.model.names import TableName
from metastored.wire.generated.common import FieldSchema, Table
from metastored.wire.structs import replace

if TYPE_CHECKING:
    import lance
    import pyarrow

log = logging.getLogger("metastored.lance")


class Datasets(Connected):
    """Datasets of tables."""

    def manifests(self, name: TableName, table: Table, *, removes: bool = False) -> Manifests:
        """The manifests of a table."""
        return Manifests(self.place(name, table, removes=removes), self.properties.storage_options)

    def commits(self, name: TableName, table: Table) -> Commits:
        """The versions of an `impl` table."""
        return Commits(self.committer, name, table, self.manifests(name, table))

    def is_declared(self, name: TableName, table: Table) -> bool:
        """Whether a table has no data yet."""
        if self.is_managed(table) and version_of(table):
            return False
        return not has_data(self.place(name, table), self.properties.storage_options)

    def dataset(self, id: Sequence[str], table: Table, version: int | str | None = None) -> lance.LanceDataset:
        """The dataset of a table, of its newest version or of another one by its number or tag.

        Raises TableNotFoundError for a table that is declared and has no data, and TableVersionNotFoundError.
        """
        import lance

        name = self.levels.table(id)
        if self.is_declared(name, table):
            raise TableNotFoundError(f"table {name} is declared and has no data yet: insert rows first")
        options = dict(self.properties.storage_options) or None
        if isinstance(version, int) and not self.has_version(name, table, version):
            raise TableVersionNotFoundError(f"table {name} has no version {version}")
        if self.is_managed(table):
            return lance.dataset(
                namespace_client=self._commit_calls(name), table_id=list(id), version=version, storage_options=options
            )
        return lance.dataset(self.place(name, table), version=version, storage_options=options)

    def filled(self, name: TableName, table: Table) -> lance.LanceDataset:
        """The dataset, for a write that needs rows. Raises InvalidTableStateError if there are none."""
        try:
            return self.dataset(self.levels.id_of(name), table)
        except TableNotFoundError as error:
            raise InvalidTableStateError(str(error)) from None

    def has_version(self, name: TableName, table: Table, version: int) -> bool:
        """Whether a version has a manifest, or is the newest of an `impl` table."""
        if self.is_managed(table) and version_of(table) == version:
            return version > 0
        return version > 0 and self.manifests(name, table).find(version) is not None

    def written(
        self, id: Sequence[str], table: Table, rows: pyarrow.Table, mode: str, options: Mapping[str, str] | None = None
    ) -> lance.LanceDataset:
        """Writes rows; `mode` is create, append or overwrite. A declared table gets its first version."""
        import lance

        name = self.levels.table(id)
        storage_options = {**self.properties.storage_options, **(options or {})} or None
        if self.is_managed(table):
            # `create` would declare the table again.
            mode = "overwrite" if mode == "overwrite" else "append"
            return lance.write_dataset(
                rows,
                namespace_client=self._commit_calls(name),
                table_id=list(id),
                mode=mode,
                storage_options=storage_options,
            )
        if mode == "append" and self.is_declared(name, table):
            mode = "create"
        return lance.write_dataset(rows, self.place(name, table), mode=mode, storage_options=storage_options)

    def recorded(self, name: TableName, table: Table, dataset: lance.LanceDataset) -> None:
        """Stores the version and the columns of a `storage` table after a write, unless a later version is stored.

        The metastore has those of an `impl` table already. Writers at the same time keep what the others change.
        """
        if self.is_managed(table):
            return  # `create_table_version` has done it.
        columns, version = columns_of(dataset.schema), int(dataset.version)

        def change(now: Table, *, with_columns: bool = True) -> Table:
            if not is_lance(now) or self.is_managed(now) or _stored_version(now) > version or now.sd is None:
                return now
            storage = replace(now.sd, cols=columns) if with_columns and not _same(now, columns) else now.sd
            return replace(now, sd=storage, parameters={**(now.parameters or {}), VERSION: str(version)})

        if change(table) == table:
            return
        environment = dict(KEEP_STATISTICS)
        try:
            self.committer.change_table(name, change, environment=environment)
        except MetastoreError as error:  # A server that refuses the columns still gets the version.
            log.warning("the columns of %s in the metastore are not those of the dataset: %s", name, error)
            only_version = partial(change, with_columns=False)
            try:
                self.committer.change_table(name, only_version, environment=environment)
            except MetastoreError as last:
                log.warning("the version of %s in the metastore is not that of the dataset: %s", name, last)

    def record_schema(self, name: TableName, commits: Commits, version: int, head: bytes) -> None:
        """Stores the columns of a new version of an `impl` table, if its schema is not that of the last one.

        `head` is the schema as it is in the manifest. The alter is conditional: a later commit wins, and its writer
        stores the columns. The version is committed already: a failure is logged, and the next commit tries again.
        """
        digest = hashlib.sha256(head).hexdigest()[:32]
        if (commits.table.parameters or {}).get(SCHEMA) == digest:
            return
        import lance

        options = dict(self.properties.storage_options) or None
        try:
            schema = lance.dataset(self.place(name, commits.table), version=version, storage_options=options).schema
            self._store_schema(name, commits.table, digest, columns_of(schema), str(version))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # A panic of Lance is not an Exception.
            log.warning("the columns of version %d of %s are not stored in the metastore: %s", version, name, error)

    def _store_schema(
        self, name: TableName, table: Table, digest: str, columns: tuple[FieldSchema, ...], expected: str
    ) -> None:
        """Alters columns and their digest, if the version is the expected one.

        A server that refuses the columns still gets the digest.
        """
        assert table.sd is not None
        changed = replace(table, parameters={**(table.parameters or {}), SCHEMA: digest})
        environment = conditional(expected)
        for attempt in (replace(changed, sd=replace(table.sd, cols=columns)), changed):
            try:
                self.committer.alter(name, attempt, environment=environment)
                return
            except MetastoreError as error:
                if is_conflict(error):
                    return
                log.warning("the columns of %s in the metastore are not those of the dataset: %s", name, error)

    def _commit_calls(self, name: TableName) -> CommitCalls:
        """This namespace, for pylance."""
        return CommitCalls(self, partial(self.check_place, name))

    def no_branches(self, request: Any) -> None:
        """Raises UnsupportedOperationError for a request about a branch."""
        branch = getattr(request, "branch", None)
        if branch and branch != "main":
            raise UnsupportedOperationError(f"branches are not supported, and the request names branch {branch!r}")

    def columns_exist(self, dataset: lance.LanceDataset, columns: Sequence[str]) -> None:
        """Raises TableColumnNotFoundError if a column does not exist; fields of structs are written a.b."""
        from lance_namespace import TableColumnNotFoundError

        names = dataset.schema.names
        for column in columns:
            if not column:
                raise InvalidInputError("the name of a column is empty")
            if column not in names and column.partition(".")[0] not in names:
                raise TableColumnNotFoundError(f"there is no column {column}; the columns are {', '.join(names)}")


def _stored_version(table: Table) -> int:
    text = (table.parameters or {}).get(VERSION) or ""
    return int(text) if text.isascii() and text.isdigit() else 0


def _same(table: Table, columns: tuple[FieldSchema, ...]) -> bool:
    stored = (table.sd and table.sd.cols) or ()
    return [(each.name, each.type) for each in stored] == [(each.name, each.type) for each in columns]
