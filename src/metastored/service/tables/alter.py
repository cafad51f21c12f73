"""Altering a table: properties, columns, location, name, with cascade, and conditionally (HIVE-26882).

Everything is checked and written in one transaction. `rename.py` moves the directory of a renamed table.

An alter whose conditions (`model/conditions.py`) do not hold is a MetaException and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from metastored.errors import InvalidOperationException, MetaException
from metastored.hive.names import is_valid_table_name, normalize
from metastored.hive.statistics.basic import KEEP_STATISTICS
from metastored.hive.types.type_strings import incompatible_columns
from metastored.model import kinds, normal
from metastored.model.conditions import (
    CHANGES_ONLY,
    EXPECTED_KEY,
    EXPECTED_VALUE,
    IS_LOCKED,
    OTHER_TABLE,
    OTHER_VALUE,
    UNLOCKED,
    with_changes_of,
)
from metastored.model.names import DatabaseName, TableName
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.conflicts import ConcurrentChange, locked
from metastored.service.core.context import Context, properties
from metastored.service.core.directories import EMPTY_PATH, NULL_PATH, stored_location
from metastored.service.core.serving import method
from metastored.service.core.transactional import checked_on_alter
from metastored.service.remotes.databases import refuse_in_remote
from metastored.service.remotes.defining import refuse_new_keys
from metastored.service.remotes.tables import alter_remote_table, find_remote
from metastored.service.statistics.basic import gathered_on_alter
from metastored.service.statistics.delete import forget_changed_columns
from metastored.service.statistics.validity import Writer
from metastored.service.statistics.validity import checked_on_alter as checked_statistics
from metastored.service.tables.constraints import follow_columns
from metastored.service.tables.get import required_table_name
from metastored.service.tables.rename import (
    DatabaseRows,
    Move,
    Plan,
    check_free,
    check_location,
    find_databases,
    keeps_files,
    move_directory,
    planned,
    rename,
)
from metastored.service.transactions.locks import in_the_way
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import partitions, tables
from metastored.store.objects.tables import TableRow
from metastored.wire.codec import binary
from metastored.wire.generated.common import CreationMetadata, EnvironmentContext, StorageDescriptor, Table
from metastored.wire.generated.tables import AlterTableRequest, AlterTableResponse, TableParamsUpdate
from metastored.wire.structs import replace

CASCADE: Final = "CASCADE"


@method
def alter_table(ctx: Context, dbname: str | None, tbl_name: str | None, new_tbl: Table | None) -> None:
    alter(ctx, ctx.name(dbname), tbl_name, new_tbl, {}, cascade=False)


@method
def alter_table_with_cascade(
    ctx: Context, dbname: str | None, tbl_name: str | None, new_tbl: Table | None, cascade: bool | None
) -> None:
    alter(ctx, ctx.name(dbname), tbl_name, new_tbl, {}, cascade=bool(cascade))


@method
def alter_table_with_environment_context(
    ctx: Context,
    dbname: str | None,
    tbl_name: str | None,
    new_tbl: Table | None,
    environment_context: EnvironmentContext | None,
) -> None:
    env = properties(environment_context)
    alter(ctx, ctx.name(dbname), tbl_name, new_tbl, env, cascade=_says(env, CASCADE))


@method
def alter_table_req(ctx: Context, req: AlterTableRequest) -> AlterTableResponse:
    env = dict(properties(req.environmentContext))
    if req.expectedParameterKey is not None and req.expectedParameterValue is not None:
        env |= {EXPECTED_KEY: req.expectedParameterKey, EXPECTED_VALUE: req.expectedParameterValue}
    requested, snapshot = req.table, None
    if requested is not None and req.writeId is not None and req.writeId > 0:
        requested = replace(requested, writeId=req.writeId)
        snapshot = req.validWriteIdList
    where = ctx.name(req.dbName, req.catName)
    alter(ctx, where, req.tableName, requested, env, cascade=_says(env, CASCADE), snapshot=snapshot)
    return AlterTableResponse()


@method
def update_table_params(ctx: Context, updates: tuple[TableParamsUpdate, ...] | None) -> None:
    """Sets parameters of several tables, or replaces the tables; all of them if every condition holds, else none."""
    if any(each.table is not None for each in updates or ()):
        _replace_all(ctx, updates or ())
        return
    targets = [
        (ctx.name(each.db_name, each.cat_name), required_table_name(each.table_name), each) for each in updates or ()
    ]
    # One order for all callers, so that two of them cannot deadlock.
    targets.sort(key=lambda item: item[:2])

    def change(tx: Transaction) -> None:
        rows_of = {}
        for where, name, _ in targets:
            row = tables.find(tx, *where, name)
            if row is None:
                raise MetaException(f"{ctx.full_name(where, name)} table not found")
            # All are locked before the first event is recorded.
            rows_of[where, name] = locked(tx, row)
        for where, name, update in targets:
            current = rows_of[where, name]
            before = rows.table_of(current, *where)
            key, value = update.expected_param_key, update.expected_param_value
            _check_expected(before, update.params or {}, key, value)
            full_name = f"table {where.database}.{name}"
            if find_remote(tx, current, before) is not None:
                raise MetaException(f"{full_name} is remote; its definition is changed by alter_table")
            after = replace(before, parameters={**(before.parameters or {}), **(update.params or {})})
            refuse_new_keys(before.parameters, after.parameters, full_name)
            tables.update(tx, current.id, **rows.table_columns(after)._asdict())
            objects = [("before", binary.encode(before)), ("after", binary.encode(after))]
            record(ctx, tx, "ALTER_TABLE", where, name, objects)

    ctx.database.run(change)


@method
def update_creation_metadata(
    ctx: Context,
    catName: str | None,
    dbname: str | None,
    tbl_name: str | None,
    creation_metadata: CreationMetadata | None,
) -> None:
    """The tables and the time of the last build of a materialized view."""
    where, name = ctx.name(dbname, catName), required_table_name(tbl_name)
    if creation_metadata is None:
        raise MetaException("update_creation_metadata needs the metadata")
    metadata = replace(creation_metadata, materializationTime=ctx.now_in_milliseconds())

    def change(tx: Transaction) -> None:
        row = tables.find(tx, *where, name)
        if row is None:
            raise ctx.no_table_to_alter(where, name)
        row = locked(tx, row)
        after = replace(rows.table_of(row, *where), creationMetadata=metadata)
        tables.update(tx, row.id, **rows.table_columns(after)._asdict())

    ctx.database.run(change)


def _replace_all(ctx: Context, updates: tuple[TableParamsUpdate, ...]) -> None:
    """Alters several tables in one transaction, as commits of Iceberg's REST catalog need it. None is renamed."""
    steps: dict[tuple[DatabaseName, str], _Alteration] = {}
    for update in updates:
        where, name = ctx.name(update.db_name, update.cat_name), required_table_name(update.table_name)
        full_name = f"table {where.database}.{name}"
        if update.table is None or (where, name) in steps:
            raise MetaException(f"{full_name} has no new definition in the call, or two of them")
        row = tables.find(ctx.reader(), *where, name)
        if row is None:
            raise MetaException(f"{ctx.full_name(where, name)} table not found")
        if find_remote(ctx.reader(), row, rows.table_of(row, *where)) is not None:
            raise MetaException(f"{full_name} is remote; it is changed by alter_table")
        env = dict(KEEP_STATISTICS)
        if update.expected_param_key is not None and update.expected_param_value is not None:
            env |= {EXPECTED_KEY: update.expected_param_key, EXPECTED_VALUE: update.expected_param_value}
        try:
            step = _prepared(ctx, where, name, update.table, env, cascade=False)
        except InvalidOperationException as error:  # The call declares only MetaException.
            raise MetaException(error.message) from None
        if step is None or step.plan is not None:
            raise MetaException(f"{full_name} would be renamed; that needs an alter_table of its own")
        steps[where, name] = step
    # One order for all callers, so that two of them cannot deadlock.
    ordered = [steps[key] for key in sorted(steps)]

    def change(tx: Transaction) -> None:
        for step in ordered:
            # All are locked before the first event is recorded.
            locked(tx, step.row)
        for step in ordered:
            step.change(tx)

    ctx.database.run(change)


def _says(env: dict[str, str], key: str) -> bool:
    return env.get(key, "").lower() == "true"


# --- common to all -----------------------------------------------------------------------------------------------


def alter(
    ctx: Context,
    where: DatabaseName,
    name: str | None,
    requested: Table | None,
    env: dict[str, str],
    *,
    cascade: bool,
    snapshot: str | None = None,
) -> None:
    """Alters a table; all forms of the call use it. `snapshot` is the list of write ids that the caller sees."""
    prepared = _prepared(ctx, where, name, requested, env, cascade=cascade, snapshot=snapshot)
    if prepared is None:
        return
    try:
        move = ctx.database.run(prepared.change)
    except ConstraintViolated:
        raise prepared.taken from None
    if move is not None:
        move_directory(ctx, prepared.target, move)


class _Alteration(NamedTuple):
    """An alter that was checked, and what remains to be done in a transaction."""

    row: TableRow
    target: DatabaseName
    plan: Plan | None
    """None if the table keeps its name and database."""
    taken: InvalidOperationException
    """The error if another call takes the new name."""
    change: Callable[[Transaction], Move | None]


def _prepared(
    ctx: Context,
    where: DatabaseName,
    name: str | None,
    requested: Table | None,
    env: dict[str, str],
    *,
    cascade: bool,
    snapshot: str | None = None,
) -> _Alteration | None:
    """Checks an alter and does all of it that needs no transaction; None for a remote table, which is then altered."""
    old_name = required_table_name(name)
    if requested is None:
        raise InvalidOperationException("New table is null")
    if requested.tableName is None:
        raise MetaException("Table name cannot be null.")
    if requested.dbName is None:
        raise MetaException("Database name cannot be null.")
    if not is_valid_table_name(requested.tableName, ctx.accepts):
        raise InvalidOperationException(f"{requested.tableName} is not a valid object name")
    row = tables.find(ctx.reader(), *where, old_name)
    if row is None:
        raise ctx.no_table_to_alter(where, name or "")
    before = rows.table_of(row, *where)
    if find_remote(ctx.reader(), row, before) is not None:
        # A commit of Iceberg compares the remote's own parameters, which are not stored here.
        _check_expected(before, requested.parameters or {}, env.get(EXPECTED_KEY), env.get(EXPECTED_VALUE))
        alter_remote_table(ctx, where, row, requested, _taken(ctx, where, requested))
        return None
    refuse_new_keys(
        before.parameters, requested.parameters, f"table {where.database}.{old_name}", InvalidOperationException
    )
    same_storage = (
        requested.sd is not None and requested.sd == before.sd and requested.partitionKeys == before.partitionKeys
    )
    if not same_storage:  # Otherwise it was checked when it was stored.
        normal.check_columns(requested, InvalidOperationException)
    if requested.catName is not None and normalize(requested.catName) != where.catalog:
        raise InvalidOperationException(
            f"Tables cannot be moved between catalogs, old catalog{where.catalog}, new catalog {requested.catName}"
        )
    changed = normal.stored(
        checked_on_alter(before, requested if same_storage else _with_location(ctx, requested), ctx.rules),
        ctx.rules.external_in_any_case,
        storage_is_normal=same_storage,
    )
    target = DatabaseName(where.catalog, normalize(requested.dbName))

    databases_read: list[DatabaseRows] = []

    def database_rows() -> DatabaseRows:
        """Read at most once, and only where they matter."""
        if not databases_read:
            databases_read.append(find_databases(ctx.reader(), where, target))
        return databases_read[0]

    entered = database_rows().target if target != where else None
    if entered is not None:
        refuse_in_remote(ctx.reader(), entered, target, f"table {changed.tableName}", InvalidOperationException)
    check_location(ctx, target, before, changed, database_rows)
    plan: Plan | None = None
    if target != where or changed.tableName != old_name:
        _check_columns(ctx, before, changed)
        plan = planned(ctx, where, target, before, changed, database_rows())
        check_free(ctx, target, changed, plan)
    condition = _Condition(ctx, env, changed)
    condition.check(before)  # Also without a lock: most refusals need none.
    if not (plan is not None and keeps_files(ctx.rules, before, changed)):
        # Listing is I/O: it is done before the transaction.
        changed = replace(changed, parameters=gathered_on_alter(ctx, before, changed, env))
    changed = replace(changed, parameters=normal.ddl_time(changed.parameters, ctx.now()))

    taken = _taken(ctx, where, requested)

    def change(tx: Transaction) -> Move | None:
        return _change(
            ctx, tx, where, row, before, target, changed, condition, taken, plan, cascade=cascade, snapshot=snapshot
        )

    return _Alteration(row, target, plan, taken, change)


def _with_location(ctx: Context, table: Table) -> Table:
    sd = table.sd
    if sd is None or not sd.location:
        return table
    return replace(table, sd=replace(sd, location=stored_location(ctx, sd.location)))


def _taken(ctx: Context, where: DatabaseName, requested: Table) -> InvalidOperationException:
    name = f"{requested.dbName}.{requested.tableName}"
    return InvalidOperationException(
        f"new table {name.lower() if ctx.rules.lowers_taken_names else name} already exists"
    )


def _change(
    ctx: Context,
    tx: Transaction,
    where: DatabaseName,
    stored_row: TableRow,
    before: Table,
    target: DatabaseName,
    changed: Table,
    condition: _Condition,
    taken: InvalidOperationException,
    plan: Plan | None,
    *,
    cascade: bool,
    snapshot: str | None,
) -> Move | None:
    new_name = changed.tableName or ""
    condition.check_unlocked(tx, where.table(stored_row.name))
    # Databases are locked before tables.
    if plan is not None and find_databases(tx, where, target, locked=True) != plan.database_rows:
        raise ConcurrentChange(f"database {target.database}")
    row = locked(tx, stored_row)
    if plan is not None:
        # The statistics of partitions do not matter for a rename.
        if row != stored_row._replace(statistics_stamp=row.statistics_stamp):
            raise ConcurrentChange(f"table {stored_row.name}")
        if tables.find(tx, *target, new_name) is not None:
            raise taken
    if row != stored_row:
        before = rows.table_of(row, *where)
        condition.check(before)
    _check_columns(ctx, before, changed)
    after = replace(
        changed,
        tableName=new_name,
        dbName=target.database,
        catName=target.catalog,
        createTime=before.createTime,
        creationMetadata=changed.creationMetadata or before.creationMetadata,
        writeId=changed.writeId if changed.writeId is not None else row.write_id,
    )
    if snapshot is not None:
        old, new = before.parameters or {}, dict(after.parameters or {})
        writer = Writer(after.writeId or 0, snapshot)
        after = replace(after, parameters=checked_statistics(before, old, new, row.write_id, writer))
    move: Move | None = None
    named: tuple[int, str] | None = None
    if plan is not None:
        after, move = rename(ctx, tx, row, before, after, where, target, plan)
        assert plan.database_rows.target is not None  # Otherwise rename() has raised an error.
        named = plan.database_rows.target.id, new_name
    if not kinds.is_view(after) and (after.sd is None or not after.sd.location):
        raise MetaException(NULL_PATH if after.sd is None or after.sd.location is None else EMPTY_PATH)
    columns = rows.table_columns(after)
    tables.update(tx, row.id, **columns._asdict(), named=named)
    if after.sd is not None and before.sd is not None and after.sd.cols != before.sd.cols:
        forget_changed_columns(tx, row.id, before, after, cascade=cascade)
        follow_columns(tx, row.id, before, after)
        if cascade:
            _cascade(tx, row.id, after.sd)
    objects = [("before", rows.whole_table(before, row.body)), ("after", rows.whole_table(after, columns.body))]
    # Hive records the event of a renamed table under its new name.
    record(ctx, tx, "ALTER_TABLE", target, new_name, objects)
    return move


class _Condition:
    """The conditions of an alter. They are checked on the table as it was read, and again if it has changed since."""

    def __init__(self, ctx: Context, env: dict[str, str], requested: Table) -> None:
        self._ctx = ctx
        self._unlocked = _says(env, UNLOCKED)
        self._external_in_any_case = ctx.rules.external_in_any_case
        self._requested = requested
        self._key, self._value = env.get(EXPECTED_KEY), env.get(EXPECTED_VALUE)
        only = env.get(CHANGES_ONLY)
        self._only = None if only is None else frozenset(filter(None, only.split(",")))

    def check(self, before: Table) -> None:
        """Raises MetaException if a condition does not hold for the stored table."""
        if self._only is not None and not self._is_same(before, self._only):
            raise MetaException(f"{OTHER_TABLE}the parameters of {CHANGES_ONLY}: {', '.join(sorted(self._only))}")
        try:
            _check_expected(before, self._requested.parameters or {}, self._key, self._value)
        except MetaException as error:
            if self._only is None:
                raise
            # A caller learns from a refusal that this server knows the other condition too.
            raise MetaException(f"{error.message}. The condition {CHANGES_ONLY} holds") from None

    def check_unlocked(self, tx: Transaction, table: TableName) -> None:
        """Raises MetaException if the alter needs a table without locks, and it has one.

        Locks on it are granted to others only after the transaction ends.
        """
        if self._unlocked and (holder := in_the_way(self._ctx, tx, table)) is not None:
            raise MetaException(f"{IS_LOCKED}{holder}")

    def _is_same(self, before: Table, only: frozenset[str]) -> bool:
        if rows.same_table(with_changes_of(before, self._requested, only), self._requested, only):
            return True
        if before.sd is None:
            return False
        # An import may have stored a table that is not in its normal form.
        before = normal.stored(before, self._external_in_any_case)
        return rows.same_table(with_changes_of(before, self._requested, only), self._requested, only)


def _check_expected(before: Table, required: dict[str, str], key: str | None, expected: str | None) -> None:
    """The conditional alter: the caller names the value that a parameter must still have."""
    if key is None or expected is None:
        return
    if key not in required:
        raise MetaException(f"New value for expected key {key} is not set")
    current = (before.parameters or {}).get(key)
    if current != expected:
        current_text = "null" if current is None else current
        raise MetaException(f"{OTHER_VALUE}{key}' is '{current_text}'. The expected was value was '{expected}'")


def _check_columns(ctx: Context, before: Table, changed: Table) -> None:
    old, new = before.sd, changed.sd
    assert old is not None and new is not None
    if kinds.is_view(before):
        return
    strict = ctx.session.conf.get("metastore.disallow.incompatible.col.type.changes", "true").lower() != "false"
    if strict and new.cols != old.cols:
        refused = [incompatible_columns(_typed(old), _typed(new), dialect) for dialect in ctx.dialects]
        if all(refused):
            bad = refused[0]
            raise InvalidOperationException(
                "The following columns have types incompatible with the existing columns in their respective"
                " positions :\n" + ",".join(bad)
            )
    # Only the names are compared: a partition key's type may change.
    if [key.name for key in before.partitionKeys or ()] != [key.name for key in changed.partitionKeys or ()]:
        raise InvalidOperationException("partition keys can not be changed.")


def _typed(sd: StorageDescriptor) -> list[tuple[str, str]]:
    return [(column.name or "", column.type or "") for column in sd.cols or ()]


def _cascade(tx: Transaction, table_id: int, sd: StorageDescriptor) -> None:
    """Sets the new columns in every shape of the table: the cost does not depend on the number of partitions."""
    for number, shape in partitions.shapes(tx, table_id).items():
        old = rows.storage_of(shape)
        partitions.set_shape(tx, table_id, number, rows.shape_of(replace(old, cols=sd.cols)))
