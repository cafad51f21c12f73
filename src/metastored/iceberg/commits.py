"""Commits: a metadata file is written, then a conditional alter lets the table point to it.

    1. read the table and its metadata, check the requirements, apply the updates
    2. check the rights, write the new metadata file
    3. take the lock that writers by Thrift take, read the table again, alter it if its metadata is still the same

If the alter is refused because another writer was first, the file is removed and the commit begins again: the
requirements decide whether it still holds. A server that is killed between 2 and 3 leaves a file that no table refers
to, and the table as it was. Files are never removed while it is not certain that the table does not refer to them.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, NamedTuple, TypeVar

from metastored.errors import AlreadyExistsException, Error, MetaException, MetastoreError
from metastored.iceberg.catalog import Catalog, Loaded, Locked, is_conflict
from metastored.iceberg.definition import changed_table, metadata_location, new_row
from metastored.iceberg.errors import (
    AlreadyExists,
    BadRequest,
    CommitFailed,
    Unsupported,
)
from metastored.iceberg.files import next_file
from metastored.iceberg.metadata import DEFAULT_VERSION, EMPTY, FORMAT_VERSION, logged, written
from metastored.iceberg.publishing import NewFiles
from metastored.iceberg.requests import Json, Request, few_records, identifier, optional, records
from metastored.iceberg.requirements import TABLE_EXISTS, check_requirements, is_create
from metastored.iceberg.rights import may_change, may_create
from metastored.iceberg.updates import Builder, merged, operations_of
from metastored.model import kinds
from metastored.model.names import TableName
from metastored.model.origins import METADATA_LOCATION
from metastored.wire.generated.common import Table
from metastored.wire.generated.tables import TableParamsUpdate

__all__ = [
    "Conflict",
    "check_free",
    "commit_table",
    "commit_transaction",
    "create",
    "insert",
    "loaded_reply",
    "rename_alter",
    "until_done",
]

log = logging.getLogger("metastored.iceberg")

ATTEMPTS: Final = 20
"""How often a commit begins again because another writer was first."""
LONGEST_WAIT: Final = 0.5
MAX_TABLES: Final = 1000
"""Of one transaction."""
DELETE_AFTER_COMMIT: Final = "write.metadata.delete-after-commit.enabled"

T = TypeVar("T")


class Conflict(Exception):
    """Another writer was first. Nothing was changed."""


class Prepared(NamedTuple):
    """A commit of one table up to its alter."""

    before: Loaded
    metadata: Json
    file: str
    changed: Callable[[Table], Table]
    """The new table of the metastore, by the present one."""
    old_files: Sequence[str] = ()
    """Metadata files that fell out of the log."""


def loaded_reply(file: str, metadata: Json) -> Json:
    """The reply to a commit, and to most other operations on tables."""
    return {"metadata-location": file, "metadata": written(metadata), "config": {}}


def until_done(
    names: Collection[TableName], attempt: Callable[[], T], after_wait: Callable[[], None] = lambda: None
) -> T:
    """The result of an attempt to change tables, which is repeated with growing waits while other writers are first.

    Writers of one worker wait for each other here, so that they neither outdo each other nor queue for the lock.
    `after_wait` is called before an attempt that had to wait for another writer.
    """
    wait = 0.01
    for _ in range(ATTEMPTS):
        with _turns.of(names) as waited:
            if waited:
                after_wait()
            try:
                return attempt()
            except Conflict:
                pass
        time.sleep(wait * random.random())
        wait = min(2 * wait, LONGEST_WAIT)
    which = ", ".join(map(str, names))
    raise CommitFailed(f"{which} was not committed: other writers were first {ATTEMPTS} times")


class _Turns:
    """One writer at a time for each table, in this process."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._busy: set[TableName] = set()

    @contextmanager
    def of(self, names: Collection[TableName]) -> Iterator[bool]:
        """The turn of a writer; True if it had to wait for it."""
        wanted = set(names)
        with self._lock:
            waited = bool(wanted & self._busy)
            self._lock.wait_for(lambda: not wanted & self._busy)
            self._busy |= wanted
        try:
            yield waited
        finally:
            with self._lock:
                self._busy -= wanted
                self._lock.notify_all()


_turns: Final = _Turns()


# --- one table ------------------------------------------------------------------------------------------------------


def commit_table(catalog: Catalog, request: Request) -> Json:
    """Applies updates to a table, or makes it if the commit requires that there is none."""
    fields, name = request.fields(), request.table
    sent = optional(fields, "identifier", dict, "the request")
    if sent is not None and identifier(request.route.prefix, sent, "identifier") != name:
        raise BadRequest(f"the request has another identifier than its path, which has {name}")
    requirements = few_records(fields, "requirements", "the request")
    updates = few_records(fields, "updates", "the request")
    if is_create(requirements):
        return _create_by_commit(catalog, name, updates)
    attempt = partial(_attempt, catalog, name, requirements, updates)
    return until_done([name], attempt, catalog.caller.forget)


def _attempt(catalog: Catalog, name: TableName, requirements: list[Json], updates: list[Json]) -> Json:
    before = catalog.table(name)
    prepared = _applied(catalog, before, requirements, updates)
    if prepared is None:
        return loaded_reply(before.file, before.metadata)
    _allow(catalog, prepared, updates)
    publish(catalog, prepared)
    _remove_old_files(catalog, prepared)
    return loaded_reply(prepared.file, prepared.metadata)


def _applied(catalog: Catalog, before: Loaded, requirements: list[Json], updates: list[Json]) -> Prepared | None:
    """A commit whose file is not written yet; None if it changes nothing. Raises CommitFailed, BadRequest."""
    _refuse_remote(catalog, before.name)
    check_requirements(requirements, before.metadata)
    builder = Builder(before.metadata)
    for update in merged(updates):
        builder.apply(update)
    if not builder.changed:
        return None
    updated = before.metadata["last-updated-ms"]
    metadata, old = logged(builder.built(updated), before.file, updated)
    file = next_file(metadata, before.file)
    removes = metadata["properties"].get(DELETE_AFTER_COMMIT, "false").lower() == "true"

    def changed(row: Table) -> Table:
        return changed_table(row, metadata, file, before.metadata, before.file)

    return Prepared(before, metadata, file, changed, old if removes else ())


def _allow(catalog: Catalog, prepared: Prepared, updates: list[Json]) -> None:
    """Raises an error if the caller may not make this commit. It comes before the first file."""
    before = prepared.before
    changed = prepared.changed(before.row)
    may_change(catalog, before.name, changed, operations_of(updates))
    catalog.check_file(before.name, (before.row.sd and before.row.sd.location) or "", prepared.file)


def publish(catalog: Catalog, prepared: Prepared) -> None:
    """Writes the file and lets the table point to it. Raises Conflict if another writer was first.

    The alter is the lock, too: it takes effect only if nobody has a lock on the table. So it excludes clients that
    lock the table, read it and alter it, and costs one transaction instead of three. If somebody has a lock, the commit
    waits for one as they do.
    """
    with NewFiles(catalog) as new:
        new.write_table(prepared.file, prepared.metadata)
        try:
            _point(catalog, new, prepared, unlocked=True)
        except Locked:
            with catalog.locked([prepared.before.name]):
                _point(catalog, new, prepared, unlocked=False)


def _point(catalog: Catalog, new: NewFiles, prepared: Prepared, *, unlocked: bool) -> None:
    """Lets the table point to its new file. Raises Conflict, and Locked if nobody else may have a lock."""
    name, expected = prepared.before.name, prepared.before.file
    row = catalog.row(name)
    if row is None or metadata_location(row) != expected:
        raise Conflict
    alter = partial(catalog.alter, name, prepared.changed(row), expected, committing=True, unlocked=unlocked)
    if not new.commit([(name, prepared.file)], alter):
        raise Conflict


def _remove_old_files(catalog: Catalog, prepared: Prepared) -> None:
    """Removes metadata files that fell out of the log, where the table says so: only those of its own."""
    for file in prepared.old_files:
        with suppress(Error):
            catalog.check_file(prepared.before.name, prepared.metadata["location"], file)
            catalog.files.remove(file)


def _refuse_remote(catalog: Catalog, name: TableName) -> None:
    if catalog.caller.is_remote(name):
        raise Unsupported(f"{name} is a table of a remote catalog, which is read here: commit to it there")


# --- new tables -----------------------------------------------------------------------------------------------------


def _create_by_commit(catalog: Catalog, name: TableName, updates: list[Json]) -> Json:
    """Makes a table by its updates: the end of a transaction that began with a staged table."""
    versions = [each.get(FORMAT_VERSION) for each in updates if each.get("action") == "upgrade-format-version"]
    first = versions[0] if versions and versions[0] in (1, 2, 3) else DEFAULT_VERSION
    builder = Builder({**EMPTY, FORMAT_VERSION: first}, new=True)
    for update in updates:
        builder.apply(update)
    metadata = builder.built(None)
    if metadata.get("table-uuid") is None:
        raise BadRequest("the commit makes a table and gives it no uuid: assign-uuid is missing")
    return create(catalog, name, metadata, TABLE_EXISTS)


def create(catalog: Catalog, name: TableName, metadata: Json, taken: str = "") -> Json:
    """Makes a table of the metastore with this metadata. Raises AlreadyExists, NoSuchNamespace."""
    catalog.database(name.database_name)
    check_free(catalog, name, taken=taken)
    file = next_file(metadata, None)
    row = changed_table(new_row_of(catalog, name, metadata), metadata, file, None, None)
    may_create(catalog, row)
    catalog.check_file(name, metadata["location"], file)
    with NewFiles(catalog) as new:
        new.write_table(file, metadata)
        insert(catalog, new, name, row, file)
    return loaded_reply(file, metadata)


def insert(catalog: Catalog, new: NewFiles, name: TableName, row: Table, file: str) -> None:
    """Stores a new table or view that refers to a file. Raises AlreadyExists."""

    def create_table() -> bool:
        catalog.client.api.create_table(row)
        return True

    try:
        new.commit([(name, file)], create_table)
    except AlreadyExistsException:
        raise AlreadyExists(f"Table already exists: {name}") from None


def check_free(catalog: Catalog, name: TableName, *, view: bool = False, taken: str = "") -> None:
    """Raises AlreadyExists if a table or view has the name; `taken` is the message if it is of the same kind."""
    row = catalog.row(name)
    if row is None:
        return
    kind, wanted = ("View" if kinds.is_any_view(row) else "Table"), ("View" if view else "Table")
    if kind != wanted:
        raise AlreadyExists(f"{kind} with same name already exists: {name}")
    raise AlreadyExists(taken or f"{kind} already exists: {name}")


def new_row_of(catalog: Catalog, name: TableName, metadata: Json) -> Table:
    owner = metadata["properties"].get("hive.metastore.table.owner") or catalog.caller.user
    return new_row(name, owner, metadata["last-updated-ms"] // 1000)


# --- several tables -------------------------------------------------------------------------------------------------


def commit_transaction(catalog: Catalog, request: Request) -> None:
    """Commits to several tables, all or none: their alters are one transaction of the metastore's database."""
    changes = records(request.fields(), "table-changes", "the request")
    if not 0 < len(changes) <= MAX_TABLES:
        raise BadRequest(f"table-changes has {len(changes)} entries: 1 to {MAX_TABLES} were expected")
    requested: dict[TableName, tuple[list[Json], list[Json]]] = {}
    for change in changes:
        name = identifier(request.route.prefix, change.get("identifier"), "identifier")
        if name in requested:
            raise BadRequest(f"table-changes has {name} twice: put all updates of a table into one entry")
        requirements = few_records(change, "requirements", f"the change of {name}")
        if is_create(requirements):
            raise BadRequest(f"{name} would be made: a transaction of several tables changes tables that exist")
        requested[name] = requirements, few_records(change, "updates", f"the change of {name}")
    until_done(requested, lambda: _attempt_all(catalog, requested))


def _attempt_all(catalog: Catalog, requested: dict[TableName, tuple[list[Json], list[Json]]]) -> None:
    applied = [
        (_applied(catalog, catalog.table(name), requirements, updates), updates)
        for name, (requirements, updates) in requested.items()
    ]
    steps = [(prepared, updates) for prepared, updates in applied if prepared is not None]
    if not steps:
        return
    entrusted = [prepared.before.name for prepared, updates in steps if operations_of(updates) is not None]
    for prepared, updates in steps:
        _allow(catalog, prepared, updates)
    if catalog.caller.authorized:
        catalog.caller.entrust(entrusted)
    _publish_all(catalog, [prepared for prepared, _ in steps])
    for prepared, _ in steps:
        _remove_old_files(catalog, prepared)


def _publish_all(catalog: Catalog, prepared: Sequence[Prepared]) -> None:
    with NewFiles(catalog) as new:
        for each in prepared:
            new.write_table(each.file, each.metadata)
        with catalog.locked(each.before.name for each in prepared):
            updates = tuple(_update(catalog, each) for each in prepared)
            pointers = [(each.before.name, each.file) for each in prepared]
            if not new.commit(pointers, partial(_alter_all, catalog, updates)):
                raise Conflict


def _alter_all(catalog: Catalog, updates: tuple[TableParamsUpdate, ...]) -> bool:
    """Alters all tables, or none: False if another writer was first at one of them."""
    try:
        catalog.caller.committer.api.update_table_params(updates)
    except MetaException as error:
        if is_conflict(error):
            return False
        raise
    return True


def _update(catalog: Catalog, prepared: Prepared) -> TableParamsUpdate:
    name, before = prepared.before.name, prepared.before.file
    row = catalog.row(name)
    if row is None or metadata_location(row) != before:
        raise Conflict
    return TableParamsUpdate(
        cat_name=name.catalog_field,
        db_name=name.database,
        table_name=name.table,
        params={METADATA_LOCATION: prepared.file},
        expected_param_key=METADATA_LOCATION,
        expected_param_value=before,
        table=prepared.changed(row),
    )


def rename_alter(catalog: Catalog, name: TableName, changed: Table, expected: str) -> bool:
    """A conditional alter that renames, under the lock of writers by Thrift; False if another writer was first."""
    with catalog.locked([name]):
        try:
            return catalog.alter(name, changed, expected, committing=False)
        except MetastoreError as error:
            if "already exists" in str(error):
                raise Conflict from None  # The next attempt says what took the name.
            raise
