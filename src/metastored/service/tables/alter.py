"""Changing a table: properties, columns, location, name, with cascade, and on a condition (HIVE-26882).

Everything is decided and written in one transaction. What a new name does to a table's directory is in
`rename.py`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from metastored.errors import InvalidOperationException, MetaException
from metastored.hive.names import is_valid_table_name, normalize
from metastored.hive.types.type_strings import incompatible_columns
from metastored.model import kinds, normal
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.conflicts import ConcurrentChange, locked
from metastored.service.core.context import Context, properties
from metastored.service.core.directories import EMPTY_PATH, NULL_PATH, placed
from metastored.service.core.serving import method
from metastored.service.core.transactional import checked_on_alter
from metastored.service.statistics.basic import gathered_on_alter
from metastored.service.statistics.delete import forget_changed_columns
from metastored.service.tables.constraints import follow_columns
from metastored.service.tables.get import table_name
from metastored.service.tables.rename import (
    Homes,
    Move,
    Plan,
    check_free,
    check_place,
    find_homes,
    keeps_files,
    move_directory,
    planned,
    rename,
)
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import partitions, tables
from metastored.store.objects.tables import TableRow
from metastored.wire import binary
from metastored.wire.generated.common import CreationMetadata, EnvironmentContext, StorageDescriptor, Table
from metastored.wire.generated.tables import AlterTableRequest, AlterTableResponse, TableParamsUpdate
from metastored.wire.structs import replace

CASCADE: Final = "CASCADE"
EXPECTED_KEY: Final = "expected_parameter_key"
EXPECTED_VALUE: Final = "expected_parameter_value"


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
    given = req.table
    if given is not None and req.writeId is not None and req.writeId > 0:
        given = replace(given, writeId=req.writeId)
    where = ctx.name(req.dbName, req.catName)
    alter(ctx, where, req.tableName, given, env, cascade=_says(env, CASCADE))
    return AlterTableResponse()


@method
def update_table_params(ctx: Context, updates: tuple[TableParamsUpdate, ...] | None) -> None:
    """Sets parameters of several tables, all on their conditions or none."""
    wanted = [(ctx.name(each.db_name, each.cat_name), table_name(each.table_name), each) for each in updates or ()]
    # One order for all callers, so that two of them cannot wait for each other.
    wanted.sort(key=lambda item: item[:2])

    def change(tx: Transaction) -> None:
        rows_of = {}
        for where, name, _ in wanted:
            row = tables.find(tx, *where, name)
            if row is None:
                raise MetaException(f"{ctx.full_name(where, name)} table not found")
            # All are locked before the first event is recorded.
            rows_of[where, name] = locked(tx, row)
        for where, name, update in wanted:
            current = rows_of[where, name]
            before = rows.table_of(current, *where)
            key, value = update.expected_param_key, update.expected_param_value
            _check_expected(before, update.params or {}, key, value)
            after = replace(before, parameters={**(before.parameters or {}), **(update.params or {})})
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
    """What a materialized view was made from, and when."""
    where, name = ctx.name(dbname, catName), table_name(tbl_name)
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


def _says(env: dict[str, str], key: str) -> bool:
    return env.get(key, "").lower() == "true"


# --- the one way ------------------------------------------------------------------------------------------------


def alter(
    ctx: Context, where: DatabaseName, name: str | None, given: Table | None, env: dict[str, str], *, cascade: bool
) -> None:
    """The one way to change a table; all forms of the call come here."""
    old_name = table_name(name)
    if given is None:
        raise InvalidOperationException("New table is null")
    if given.tableName is None:
        raise MetaException("Table name cannot be null.")
    if given.dbName is None:
        raise MetaException("Database name cannot be null.")
    if not is_valid_table_name(given.tableName, ctx.generation):
        raise InvalidOperationException(f"{given.tableName} is not a valid object name")
    row = tables.find(ctx.reader(), *where, old_name)
    if row is None:
        raise ctx.no_table_to_alter(where, name or "")
    normal.check_columns(given, InvalidOperationException)
    if given.catName is not None and normalize(given.catName) != where.catalog:
        raise InvalidOperationException(
            f"Tables cannot be moved between catalogs, old catalog{where.catalog}, new catalog {given.catName}"
        )
    before = rows.table_of(row, *where)
    wanted = normal.stored(checked_on_alter(before, _placed(ctx, given), ctx.rules), ctx.rules.external_in_any_case)
    target = DatabaseName(where.catalog, normalize(given.dbName))

    @cache
    def homes() -> Homes:
        return find_homes(ctx.reader(), where, target)

    check_place(ctx, target, before, wanted, homes)
    plan: Plan | None = None
    if target != where or wanted.tableName != old_name:
        _check_columns(ctx, before, wanted)
        plan = planned(ctx, where, target, before, wanted, homes())
        check_free(ctx, target, wanted, plan)
    if not (plan is not None and keeps_files(ctx.rules, before, wanted)):
        # Listing is I/O: it comes before the transaction.
        wanted = replace(wanted, parameters=gathered_on_alter(ctx, before, wanted, env))
    wanted = replace(wanted, parameters=normal.ddl_time(wanted.parameters, ctx.now()))

    taken = _taken(ctx, where, given)

    def change(tx: Transaction) -> Move | None:
        return _change(ctx, tx, where, row, target, wanted, env, taken, plan, cascade=cascade)

    try:
        move = ctx.database.run(change)
    except ConstraintViolated:
        raise taken from None
    if move is not None:
        move_directory(ctx, target, move)


def _placed(ctx: Context, table: Table) -> Table:
    sd = table.sd
    if sd is None or not sd.location:
        return table
    return replace(table, sd=replace(sd, location=placed(ctx, sd.location)))


def _taken(ctx: Context, where: DatabaseName, given: Table) -> InvalidOperationException:
    name = f"{given.dbName}.{given.tableName}"
    return InvalidOperationException(
        f"new table {name.lower() if ctx.rules.lowers_taken_names else name} already exists"
    )


def _change(
    ctx: Context,
    tx: Transaction,
    where: DatabaseName,
    found: TableRow,
    target: DatabaseName,
    wanted: Table,
    env: dict[str, str],
    taken: InvalidOperationException,
    plan: Plan | None,
    *,
    cascade: bool,
) -> Move | None:
    new_name = wanted.tableName or ""
    # Databases are locked before tables.
    if plan is not None and find_homes(tx, where, target, locked=True) != plan.homes:
        raise ConcurrentChange(f"database {target.database}")
    row = locked(tx, found)
    if plan is not None:
        if row != found:
            raise ConcurrentChange(f"table {found.name}")
        if tables.find(tx, *target, new_name) is not None:
            raise taken
    before = rows.table_of(row, *where)
    _check_expected(before, wanted.parameters or {}, env.get(EXPECTED_KEY), env.get(EXPECTED_VALUE))
    _check_columns(ctx, before, wanted)
    after = replace(
        wanted,
        tableName=new_name,
        dbName=target.database,
        catName=target.catalog,
        createTime=before.createTime,
        creationMetadata=wanted.creationMetadata or before.creationMetadata,
        writeId=wanted.writeId if wanted.writeId is not None else row.write_id,
    )
    move: Move | None = None
    named: tuple[int, str] | None = None
    if plan is not None:
        after, move = rename(ctx, tx, row, before, after, where, target, plan)
        assert plan.homes.target is not None  # else rename() has raised
        named = plan.homes.target.id, new_name
    if not kinds.is_view(after) and (after.sd is None or not after.sd.location):
        raise MetaException(NULL_PATH if after.sd is None or after.sd.location is None else EMPTY_PATH)
    tables.update(tx, row.id, **rows.table_columns(after)._asdict(), named=named)
    if after.sd is not None and before.sd is not None and after.sd.cols != before.sd.cols:
        forget_changed_columns(tx, row.id, before, after, cascade=cascade)
        follow_columns(tx, row.id, before, after)
        if cascade:
            _cascade(tx, row.id, after.sd)
    objects = [("before", binary.encode(before)), ("after", binary.encode(after))]
    # Hive's event of a renamed table is one of its new name.
    record(ctx, tx, "ALTER_TABLE", target, new_name, objects)
    return move


def _check_expected(before: Table, wanted: dict[str, str], key: str | None, expected: str | None) -> None:
    """The conditional alter: the caller says which value a parameter must still have."""
    if key is None or expected is None:
        return
    if key not in wanted:
        raise MetaException(f"New value for expected key {key} is not set")
    current = (before.parameters or {}).get(key)
    if current != expected:
        found = "null" if current is None else current
        raise MetaException(
            f"The table has been modified. The parameter value for key '{key}' is '{found}'."
            f" The expected was value was '{expected}'"
        )


def _check_columns(ctx: Context, before: Table, wanted: Table) -> None:
    old, new = before.sd, wanted.sd
    assert old is not None and new is not None
    if kinds.is_view(before):
        return
    strict = ctx.session.conf.get("metastore.disallow.incompatible.col.type.changes", "true").lower() != "false"
    if strict:
        bad = incompatible_columns(_typed(old), _typed(new), ctx.generation)
        if bad:
            raise InvalidOperationException(
                "The following columns have types incompatible with the existing columns in their respective"
                " positions :\n" + ",".join(bad)
            )
    # Only the names count: a partition key's type may change.
    if [key.name for key in before.partitionKeys or ()] != [key.name for key in wanted.partitionKeys or ()]:
        raise InvalidOperationException("partition keys can not be changed.")


def _typed(sd: StorageDescriptor) -> list[tuple[str, str]]:
    return [(column.name or "", column.type or "") for column in sd.cols or ()]


def _cascade(tx: Transaction, table_id: int, sd: StorageDescriptor) -> None:
    """The new columns in every shape of the table: the same cost however many partitions there are."""
    for number, shape in partitions.shapes(tx, table_id).items():
        old = rows.storage_of(shape)
        partitions.set_shape(tx, table_id, number, rows.shape_of(replace(old, cols=sd.cols)))
