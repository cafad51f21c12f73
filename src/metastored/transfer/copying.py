"""A complete transfer: catalogs, databases, tables and their parts, functions, foreign keys, roles, privileges.

All modes run the same comparison: a copy writes the differences, a dry run prints what it would write, a verification
prints the differences. So a copy can be repeated at any time, and the second run verifies the first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

from metastored.errors import ConfigError, NotSupported
from metastored.hive.names import DEFAULT_CATALOG, DEFAULT_DATABASE
from metastored.model.acid import is_transactional
from metastored.model.kinds import MATERIALIZED_VIEW, is_view
from metastored.model.names import DatabaseName
from metastored.model.remotes.keys import ACCESS
from metastored.transfer.differences import differences
from metastored.transfer.ends import Ends
from metastored.transfer.partitions import PartitionCopy
from metastored.transfer.privileges import copy_grants, copy_roles
from metastored.transfer.report import Action
from metastored.transfer.selection import unmatched
from metastored.transfer.tables import copy_constraints, copy_foreign_keys, copy_table, is_another
from metastored.transfer.write_ids import copy_write_ids
from metastored.wire.generated.catalogs import Catalog
from metastored.wire.generated.common import Table
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace

BATCH: Final = 100
"""Tables read in one call."""


def transfer(ends: Ends) -> None:
    """Runs the transfer. Refused objects are in the tally's failures, and a later run retries them."""
    with ends.journal:
        walk = _Walk(ends)
        walk.choose()
        walk.catalogs()
        walk.tables()
        walk.functions()
        walk.foreign_keys()
        if ends.selection.has("privileges"):
            copy_roles(ends)
            copy_grants(ends)
        walk.rest()
        for sentence in (*ends.source.missing_methods.values(), *ends.target.missing_methods.values()):
            ends.tally.note(sentence)
        if ends.writes:
            ends.journal.finish()


class _Walk:
    """The state of one run."""

    def __init__(self, ends: Ends) -> None:
        self._ends = ends
        self._chosen: list[DatabaseName] = []
        """The selected databases of the source."""
        self._catalogs: list[str | None] = []
        """The selected catalogs of the source."""
        self._databases: list[DatabaseName] = []
        """The databases that were compared."""
        self._missing: set[DatabaseName] = set()
        """Databases that do not exist in the target; a dry run does not create them."""
        self._names: dict[DatabaseName, list[str]] = {}
        self._materialized: dict[DatabaseName, list[str]] = {}
        self._remote: set[tuple[DatabaseName, str]] = set()
        """Tables of the source that are remote ones."""

    def choose(self) -> None:
        """Lists the selected objects before the first write. Raises ConfigError for a pattern that matches nothing."""
        ends, selection = self._ends, self._ends.selection
        catalogs = ends.source.catalogs()
        self._catalogs = [name for name in catalogs if selection.has_catalog(name)]
        self._expect("catalogs", selection.catalogs, [name or DEFAULT_CATALOG for name in catalogs])
        databases = [
            DatabaseName(catalog or "", name) for catalog in self._catalogs for name in ends.source.databases(catalog)
        ]
        self._chosen = [db for db in databases if selection.has_database(db.database)]
        # Objects that exist only in the target are included, if they are to be dropped or listed.
        more = [name for catalog in self._catalogs for name in self._more_databases(catalog)]
        self._expect("databases", selection.databases, [*(db.database for db in databases), *more])
        if selection.tables is not None:
            self._expect("tables", selection.tables, [name for db in self._chosen for name in self._all_tables(db)])

    def _expect(self, kind: str, pattern: str | None, names: Collection[str]) -> None:
        """Raises ConfigError when a pattern matches none of these names, and notes alternatives without a match."""
        if pattern is None:
            return
        ends = self._ends
        missed = unmatched(pattern, names)
        where = f"{ends.source.name} nor in {ends.target.name}" if ends.includes_extra else ends.source.name
        if len(missed) == len(unmatched(pattern, ())):
            raise ConfigError(
                f"--{kind} {pattern!r} matches nothing in {where}; * stands for anything and | separates alternatives"
            )
        for part in missed:
            ends.tally.note(f"of --{kind}, {part!r} matches nothing in {where}")

    def _more_databases(self, catalog: str | None) -> list[str]:
        ends = self._ends
        if ends.selection.databases is None or not ends.includes_extra or not self._is_in_target(catalog):
            return []
        return ends.target.databases(ends.catalogs.target(catalog))

    def _all_tables(self, db: DatabaseName) -> list[str]:
        """The table names of the source and, if these are included, of the target."""
        ends, target = self._ends, self._ends.catalogs.target_database(db)
        names = ends.source.table_names(db)
        if ends.includes_extra and ends.target.database(target) is not None:
            names += ends.target.table_names(target)
        return names

    def _is_in_target(self, catalog: str | None) -> bool:
        """Whether the target has this catalog of the source."""
        target = self._ends.catalogs.target(catalog)
        return target is None or self._ends.target.catalog(target) is not None

    # Catalogs and databases

    def catalogs(self) -> None:
        ends = self._ends
        for name in self._catalogs:
            target = ends.catalogs.target(name)
            if target is not None and not ends.target.has_catalogs():
                raise NotSupported(
                    f"{ends.target.name} has no catalogs, which came with Hive 3: {target} cannot be created there. "
                    f"Choose one catalog with --catalogs, or a newer target."
                )
            if self._is_remote("catalog", target or DEFAULT_CATALOG, ends.source.catalog(name)):
                continue
            self._catalog(name, target)
            for db in self._chosen:
                if db.catalog_field == name:
                    self._database(db)

    def _is_remote(self, kind: str, name: str, source: Catalog | Database | Table | None) -> bool:
        """Whether an object is a remote. Remotes are left out: neither their metadata nor their secrets are copied."""
        if source is None or ACCESS not in (source.parameters or {}):
            return False
        self._ends.tally.note(f"{kind} {name} is remote and was left out; create it in {self._ends.target.name} again")
        return True

    def _catalog(self, name: str | None, target: str | None) -> None:
        ends = self._ends
        catalog = ends.source.catalog(name)
        there = ends.target.catalog(target)
        if catalog is None:
            if there is None and target is not None:
                # The source is older than Hive 3 and has no catalogs: only its databases have locations.
                default = ends.source.database(DatabaseName("", DEFAULT_DATABASE))
                self._new_catalog(target, default.locationUri if default is not None else None)
            return
        if not ends.target.has_catalogs():
            return
        ends.tally.count("catalog")
        label = target or DEFAULT_CATALOG
        after = replace(catalog, name=label)
        if there is None:
            ends.settle("catalog", label, Action.ADD, partial(ends.writer.put_catalog, after, None))
            return
        fields = differences(after, there, ends.writer.stamped)
        if fields:
            with ends.failing("catalog", label):
                ends.settle("catalog", label, Action.ALTER, partial(ends.writer.put_catalog, after, there), fields)

    def _new_catalog(self, name: str, location: str | None) -> None:
        new = Catalog(name=name, description=f"From {self._ends.source.name}", locationUri=location)
        self._ends.settle("catalog", name, Action.ADD, partial(self._ends.writer.put_catalog, new, None))

    def _database(self, db: DatabaseName) -> None:
        ends = self._ends
        target = ends.catalogs.target_database(db)
        with ends.failing("database", str(target)):
            database = ends.source.database(db)
            if database is None or self._is_remote("database", str(target), database):
                return
            ends.tally.count("database")
            after = replace(database, catalogName=target.catalog_field, privileges=None)
            there = ends.target.database(target)
            if there is None:
                if not ends.writes:
                    self._missing.add(db)
                put = partial(ends.writer.put_database, target, after, None)
                ends.settle("database", str(target), Action.ADD, put)
            else:
                fields = differences(after, there, ends.writer.stamped)
                if fields:
                    put = partial(ends.writer.put_database, target, after, there)
                    ends.settle("database", str(target), Action.ALTER, put, fields)
            self._databases.append(db)

    # Tables

    def tables(self) -> None:
        ends = self._ends
        for db in self._databases:
            names = ends.source.table_names(db)
            self._names[db] = [name for name in names if ends.selection.has_table(name)]
        ends.tally.display.tables(sum(map(len, self._names.values())))
        for db, names in self._names.items():
            target = ends.catalogs.target_database(db)
            there = self._there(db)
            for at in range(0, len(names), BATCH):
                self._batch(db, names[at : at + BATCH], there)
            if ends.includes_extra:
                for name in sorted(there - set(ends.source.table_names(db))):
                    if ends.selection.has_table(name):
                        drop = partial(ends.writer.drop_table, target.table(name))
                        ends.settle("table", f"{target}.{name}", Action.DROP, drop)
        for db, views in self._materialized.items():
            self._batch(db, views, self._there(db), last=True)

    def _there(self, db: DatabaseName) -> set[str]:
        """The tables that the target has."""
        if db in self._missing:
            return set()
        return set(self._ends.target.table_names(self._ends.catalogs.target_database(db)))

    def _batch(self, db: DatabaseName, names: Sequence[str], there: set[str], *, last: bool = False) -> None:
        """Copies some tables of a database. Materialized views come last, since they refer to their source tables."""
        ends = self._ends
        open_ones = [name for name in names if not ends.journal.is_done(_key(ends, db, name))]
        for _ in range(len(names) - len(open_ones)):
            ends.tally.display.table_done()
        if not open_ones:
            return
        tables = ends.source.tables(db, open_ones, singly=last)
        known = [name for name in open_ones if name in there]
        others = ends.target.tables(ends.catalogs.target_database(db), known, singly=last)
        for name in open_ones:
            table = tables.get(name)
            if table is not None and table.tableType == MATERIALIZED_VIEW and not last:
                self._materialized.setdefault(db, []).append(name)
                continue
            if table is not None:  # Otherwise it was dropped since it was listed.
                with ends.failing("table", f"{ends.catalogs.target_database(db)}.{name}"):
                    self._table(db, table, others.get(name))
                    if ends.writes:
                        ends.journal.done(_key(ends, db, name))
            ends.tally.display.table_done()

    def _table(self, db: DatabaseName, table: Table, there: Table | None) -> None:
        ends = self._ends
        name = table.tableName or ""
        if self._is_remote("table", str(ends.catalogs.target_database(db).table(name)), table):
            self._remote.add((db, name))
            return
        if there is not None and ends.writes and is_another(table, there):
            # It was dropped and recreated: the old partitions do not belong to it.
            ends.writer.drop_table(ends.catalogs.target_database(db).table(name))
            there = None
        is_new = there is None
        if not table.partitionKeys:
            ends.tally.display.table(str(ends.catalogs.target_database(db).table(name)), 0)
        copy_table(ends, db, table, there)
        if ends.selection.has("constraints") and not is_view(table) and (ends.writes or not is_new):
            copy_constraints(ends, db, name, is_new=is_new)
        if is_transactional(table.parameters):
            copy_write_ids(ends, db, name, is_new=is_new)
        if table.partitionKeys:
            PartitionCopy(ends, db, table, is_new=is_new).run(_key(ends, db, name))

    # After all tables

    def functions(self) -> None:
        ends = self._ends
        if not ends.selection.has("functions") or ends.selection.tables is not None:
            return
        for db in self._databases:
            target = ends.catalogs.target_database(db)
            names = ends.source.function_names(db)
            there = set() if db in self._missing else set(ends.target.function_names(target))
            for name in names:
                with ends.failing("function", f"{target}.{name}"):
                    self._function(db, target, name, name in there)
            if ends.includes_extra:
                for name in sorted(there - set(names)):
                    drop = partial(ends.writer.drop_function, target, name)
                    ends.settle("function", f"{target}.{name}", Action.DROP, drop)

    def _function(self, db: DatabaseName, target: DatabaseName, name: str, is_there: bool) -> None:
        ends = self._ends
        function = ends.source.function(db, name)
        if function is None:
            return
        ends.tally.count("function")
        after = replace(function, catName=target.catalog_field)
        before = ends.target.function(target, name) if is_there else None
        fields = [] if before is None else differences(after, before, ends.writer.stamped)
        if before is None or fields:
            action = Action.ADD if before is None else Action.ALTER
            put = partial(ends.writer.put_function, target, after, before)
            ends.settle("function", f"{target}.{name}", action, put, fields)

    def foreign_keys(self) -> None:
        """Foreign keys come after all tables, since both of their tables must exist."""
        ends = self._ends
        if not ends.selection.has("constraints"):
            return
        for db, names in self._names.items():
            key = f"foreign keys of {ends.catalogs.target_database(db)}"
            if ends.journal.is_done(key) or db in self._missing:
                continue
            for name in names:
                if (db, name) in self._remote:
                    continue
                with ends.failing("table", f"{ends.catalogs.target_database(db)}.{name}"):
                    copy_foreign_keys(ends, db, name)
            if ends.writes:
                ends.journal.done(key)

    def rest(self) -> None:
        """Databases that exist only in the target."""
        ends = self._ends
        if not ends.includes_extra or ends.selection.tables is not None:
            return
        for catalog in self._catalogs:
            target = ends.catalogs.target(catalog)
            if not self._is_in_target(catalog):
                continue
            known = set(ends.source.databases(catalog)) | {DEFAULT_DATABASE}
            for name in ends.target.databases(target):
                if name not in known and ends.selection.has_database(name):
                    db = DatabaseName(target or "", name)
                    ends.settle("database", str(db), Action.DROP, partial(ends.writer.drop_database, db))


def _key(ends: Ends, db: DatabaseName, name: str) -> str:
    """The key of a table in the journal."""
    return f"table {ends.catalogs.target_database(db)}.{name}"
