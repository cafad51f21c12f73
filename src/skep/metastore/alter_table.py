"""Changing a table: properties, columns, location, name, with cascade, and on a condition (HIVE-26882).

Everything is decided and written in one transaction. A managed table's directory moves after the commit, by a job
that the same transaction wrote; when the move fails, the rename is taken back.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from skep.errors import InvalidOperationException, MetaException
from skep.hive.locations import join, parent, same_location
from skep.hive.locations import name as last_name
from skep.hive.names import is_valid_table_name, normalize
from skep.hive.types import incompatible_columns
from skep.metastore import normal, rows, translation
from skep.metastore.basic_stats import gathered_on_alter
from skep.metastore.changes import record
from skep.metastore.compat import Rules
from skep.metastore.constraints import follow_columns
from skep.metastore.context import DEFAULT_CATALOG, Context, DatabaseName, properties
from skep.metastore.delete_statistics import forget_changed_columns
from skep.metastore.directories import EMPTY_PATH, NULL_PATH, move_or_take_back, placed, plan_move
from skep.metastore.latest import locked, undisturbed
from skep.metastore.tables import table_name
from skep.metastore.transactional import checked_on_alter
from skep.store import databases, partitions, tables
from skep.store.resources import table_renamed
from skep.store.tables import TableRow
from skep.store.transaction import ConstraintViolated, Transaction
from skep.store.write_ids import TableName
from skep.wire import binary
from skep.wire.generated.common import CreationMetadata, EnvironmentContext, StorageDescriptor, Table
from skep.wire.generated.databases import Database
from skep.wire.generated.tables import AlterTableRequest, AlterTableResponse, TableParamsUpdate
from skep.wire.structs import replace

CASCADE: Final = "CASCADE"
EXPECTED_KEY: Final = "expected_parameter_key"
EXPECTED_VALUE: Final = "expected_parameter_value"


def alter_table(ctx: Context, dbname: str | None, tbl_name: str | None, new_tbl: Table | None) -> None:
    alter(ctx, ctx.name(dbname), tbl_name, new_tbl, {}, cascade=False)


def alter_table_with_cascade(
    ctx: Context, dbname: str | None, tbl_name: str | None, new_tbl: Table | None, cascade: bool | None
) -> None:
    alter(ctx, ctx.name(dbname), tbl_name, new_tbl, {}, cascade=bool(cascade))


def alter_table_with_environment_context(
    ctx: Context,
    dbname: str | None,
    tbl_name: str | None,
    new_tbl: Table | None,
    environment_context: EnvironmentContext | None,
) -> None:
    env = properties(environment_context)
    alter(ctx, ctx.name(dbname), tbl_name, new_tbl, env, cascade=_says(env, CASCADE))


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


class _Move(NamedTuple):
    """A directory that follows its table's new name."""

    source: str
    target: str
    job: int
    before: Table
    after: Table
    row: TableRow
    home: DatabaseName
    """Where the table is now."""


def alter(
    ctx: Context, where: DatabaseName, name: str | None, given: Table | None, env: dict[str, str], *, cascade: bool
) -> None:
    """The one way to change a table; all forms of the call come here."""
    old_name = table_name(name)
    if given is None:
        raise InvalidOperationException("New table is null")
    if given.tableName is None:
        raise MetaException("Table name cannot be null.")
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
    wanted = normal.stored(checked_on_alter(before, _placed(ctx, given), ctx.rules), ctx.rules)
    target = DatabaseName(where.catalog, normalize(given.dbName) if given.dbName else where.database)
    _check_place(ctx, target, before, wanted)
    renamed = target != where or wanted.tableName != old_name
    if renamed:
        _check_columns(ctx, before, wanted)
        _check_free(ctx, where, target, before, wanted)
    if not (renamed and _keeps_files(ctx.rules, before, wanted)):
        # Listing is I/O: it comes before the transaction.
        wanted = replace(wanted, parameters=gathered_on_alter(ctx, before, wanted, env))
    wanted = replace(wanted, parameters=normal.ddl_time(wanted.parameters, ctx.now()))

    def change(tx: Transaction) -> _Move | None:
        return _change(ctx, tx, where, old_name, target, wanted, env, cascade=cascade)

    try:
        move = ctx.database.run(change)
    except ConstraintViolated:
        raise _taken(target, wanted) from None
    if move is not None:
        _move(ctx, target, move)


def _placed(ctx: Context, table: Table) -> Table:
    sd = table.sd
    if sd is None or not sd.location:
        return table
    return replace(table, sd=replace(sd, location=placed(ctx, sd.location)))


def _keeps_place(rules: Rules, before: Table, wanted: Table) -> bool:
    """Whether a rename leaves the location to the server: not for views, external tables, or a new location."""
    if _is_translated(rules, before, wanted):
        return True
    source = before.sd.location if before.sd is not None else None
    given = wanted.sd.location if wanted.sd is not None else None
    unchanged = not given or (source is not None and same_location(given, source))
    return not normal.is_view(before) and not normal.is_external(before) and unchanged


def _keeps_files(rules: Rules, before: Table, wanted: Table) -> bool:
    """Whether a rename changes no file: it takes the data along or, in Hive 4, leaves an external table's alone."""
    if rules.moves_translated and normal.is_external(before) and not translation.is_iceberg(wanted):
        return True
    return _keeps_place(rules, before, wanted)


def _is_translated(rules: Rules, before: Table, wanted: Table) -> bool:
    return rules.moves_translated and translation.follows_renames(before) and translation.follows_renames(wanted)


def _taken(target: DatabaseName, wanted: Table) -> InvalidOperationException:
    return InvalidOperationException(f"new table {target.database}.{wanted.tableName} already exists")


def _change(
    ctx: Context,
    tx: Transaction,
    where: DatabaseName,
    old_name: str,
    target: DatabaseName,
    wanted: Table,
    env: dict[str, str],
    *,
    cascade: bool,
) -> _Move | None:
    new_name = wanted.tableName or ""
    renamed = target != where or new_name != old_name
    if renamed:
        # Databases are locked before tables, in the order of their names.
        for name in sorted({where, target}):
            home = databases.find(tx, *name)
            if home is not None:
                databases.lock(tx, home.id)
    row = tables.find(tx, *where, old_name)
    if row is None:
        raise ctx.no_table_to_alter(where, old_name)
    if renamed and tables.find(tx, *target, new_name) is not None:
        raise _taken(target, wanted)
    row = locked(tx, row)
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
    move: _Move | None = None
    if renamed:
        after, move = _rename(ctx, tx, row, before, after, where, target)
    if not normal.is_view(after) and (after.sd is None or not after.sd.location):
        raise MetaException(NULL_PATH if after.sd is None or after.sd.location is None else EMPTY_PATH)
    tables.update(tx, row.id, **rows.table_columns(after)._asdict())
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
    if normal.is_view(before):
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
        old = binary.decode(StorageDescriptor, shape + b"\x00")
        partitions.set_shape(tx, table_id, number, rows.shape_of(replace(old, cols=sd.cols)))


# --- renaming -----------------------------------------------------------------------------------------------------


def _rename(
    ctx: Context, tx: Transaction, row: TableRow, before: Table, after: Table, where: DatabaseName, target: DatabaseName
) -> tuple[Table, _Move | None]:
    """Names change; the directory of a managed table that lies where Hive put it follows."""
    home = databases.find(tx, *target)
    if home is None:
        raise InvalidOperationException(
            f"Unable to change partition or table. Database {where.database} does not exist"
            f" Check metastore logs for detailed stack.{target.database}"
        )
    tables.rename(tx, row.id, home.id, after.tableName or "")
    table_renamed(tx, TableName(*where, row.name), TableName(*target, after.tableName or ""))
    source = before.sd.location if before.sd is not None else None
    assert after.sd is not None
    if not source or not _keeps_place(ctx.rules, before, after):
        return after, None
    destination = _destination(ctx, tx, before, after, where, target)
    if destination is None:
        # The table was created somewhere else on purpose: it stays there, like an external one.
        return replace(after, sd=replace(after.sd, location=source)), None
    after = replace(after, sd=replace(after.sd, location=destination))
    for number, uri in partitions.bases(tx, row.id).items():
        if uri.startswith(source):
            partitions.set_base(tx, row.id, number, destination + uri[len(source) :])
    undisturbed(tx, [source, destination])
    job = plan_move(ctx, tx, source, destination)
    return after, _Move(source, destination, job, before, after, row, target)


def _destination(
    ctx: Context, tx: Transaction, before: Table, wanted: Table, where: DatabaseName, target: DatabaseName
) -> str | None:
    """Where a renamed table's directory goes; None if it does not lie where Hive put it, below its database."""
    source = before.sd.location if before.sd is not None else None
    found = databases.find(tx, *where), databases.find(tx, *target)
    if not source or found[0] is None or found[1] is None:
        return None
    old, new = rows.database_of(found[0], where.catalog), rows.database_of(found[1], target.catalog)
    if _is_translated(ctx.rules, before, wanted):
        root = translation.external_home(new, ctx.warehouse.root)
    else:
        old_root, above = _home(ctx, old), parent(source)
        if not old_root or above is None or not same_location(above, old_root):
            return None
        if last_name(source).lower() != (before.tableName or ""):
            return None
        root = _home(ctx, new)
    if not root:
        raise MetaException(f"database {target.database} has no location to move the table to")
    return join(root, wanted.tableName or "")


def _home(ctx: Context, database: Database) -> str | None:
    """Below which directory the managed tables of a database lie."""
    if ctx.rules.has_two_homes:
        return translation.managed_home(database, ctx.warehouse.root)
    return database.locationUri


def _check_free(ctx: Context, where: DatabaseName, target: DatabaseName, before: Table, wanted: Table) -> None:
    """Refuses a rename to where a directory is, before anything is written."""
    if not _keeps_place(ctx.rules, before, wanted):
        return
    with ctx.reading() as tx:
        if tables.find(tx, *target, wanted.tableName or "") is not None:
            return  # That is what is said then.
        destination = _destination(ctx, tx, before, wanted, where, target)
        undisturbed(tx, [destination])
    if destination is not None and ctx.warehouse.exists(destination):
        raise _occupied(ctx, target, destination)


def _check_place(ctx: Context, target: DatabaseName, before: Table, wanted: Table) -> None:
    """From Hive 4 on, a managed table may be moved only to where managed tables may be."""
    if not ctx.rules.translates_managed or target.catalog != DEFAULT_CATALOG:
        return
    places = [table.sd.location if table.sd is not None else None for table in (before, wanted)]
    if None in places or places[0] == places[1]:
        return
    row = databases.find(ctx.reader(), *target)
    if row is None:
        raise MetaException(f"Database {target.database} for table {wanted.tableName} could not be found")
    translation.check_place(wanted, rows.database_of(row, target.catalog), ctx.warehouse.root)


def _occupied(ctx: Context, target: DatabaseName, destination: str) -> InvalidOperationException:
    new = ctx.full_name(target, last_name(destination))
    return InvalidOperationException(f"New location for this table {new} already exists : {destination}")


def _move(ctx: Context, target: DatabaseName, move: _Move) -> None:
    """Moves the directory of a renamed table, or takes the rename back."""
    old = f"{move.before.dbName}.{move.before.tableName}"
    move_or_take_back(
        ctx,
        move.job,
        move.source,
        move.target,
        occupied=lambda: _occupied(ctx, target, move.target),
        failed=lambda error: InvalidOperationException(
            f"Alter Table operation for {old} failed to move data due to: '{error}'"
        ),
        take_back=lambda tx: _take_back(ctx, tx, move),
    )


def _take_back(ctx: Context, tx: Transaction, move: _Move) -> None:
    """Gives the table its old name and place again, with an event of its own: readers of the log saw the first."""
    tables.lock(tx, move.row.id)
    row = tables.find_by_id(tx, move.row.id)
    if row is None or row.name != last_name(move.target):
        # Somebody dropped or renamed it before we could: what they did stands.
        return
    now = rows.table_of(row, *move.home)
    back = DatabaseName(move.home.catalog, move.before.dbName or "")
    if rows.table_columns(move.after).body == row.body:
        restored = move.before
    else:
        # What others changed of it in the meantime stays; only the name and the place are ours to put back.
        sd = replace(now.sd, location=move.source) if now.sd is not None else None
        restored = replace(now, dbName=back.database, tableName=move.row.name, sd=sd)
    if tables.find(tx, *back, move.row.name) is None:
        table_renamed(tx, TableName(*move.home, row.name), TableName(*back, move.row.name))
        tables.rename(tx, row.id, move.row.db_id, move.row.name)
    else:
        # Its old name was given away: it keeps the new one, and lies where its files are.
        back = move.home
        restored = replace(restored, dbName=now.dbName, tableName=now.tableName)
    tables.update(tx, row.id, **rows.table_columns(restored)._asdict())
    for number, uri in partitions.bases(tx, row.id).items():
        if uri.startswith(move.target):
            partitions.set_base(tx, row.id, number, move.source + uri[len(move.target) :])
    objects = [("before", binary.encode(now)), ("after", binary.encode(restored))]
    record(ctx, tx, "ALTER_TABLE", back, restored.tableName, objects)
