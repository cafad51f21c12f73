"""A whole transfer: catalogs, databases, tables with all that is theirs, functions, foreign keys, roles, privileges.

One walk serves all: a copy writes what differs, a dry run tells what it would write, a verification tells what is
different. So a copy can be run again at any time, and its second run is the verification of the first.
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
from metastored.wire.structs import replace

BATCH: Final = 100
"""Tables read in one call."""


def transfer(ends: Ends) -> None:
    """From end to end. What was refused is in the tally, and a later run tries it again."""
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
        for sentence in (*ends.source.lacking.values(), *ends.target.lacking.values()):
            ends.tally.note(sentence)
        if ends.writes:
            ends.journal.finish()


class _Walk:
    """What was found on the way."""

    def __init__(self, ends: Ends) -> None:
        self._ends = ends
        self._chosen: list[DatabaseName] = []
        """The databases of the source that are meant."""
        self._catalogs: list[str | None] = []
        """The catalogs of the source that are meant."""
        self._homes: list[DatabaseName] = []
        """The databases that were compared."""
        self._missing: set[DatabaseName] = set()
        """Databases that the target does not have, and in a dry run does not get."""
        self._names: dict[DatabaseName, list[str]] = {}
        self._materialized: dict[DatabaseName, list[str]] = {}

    def choose(self) -> None:
        """Lists what is meant, before anything is written. Raises ConfigError for a pattern that matches nothing."""
        ends, selection = self._ends, self._ends.selection
        catalogs = ends.source.catalogs()
        self._catalogs = [name for name in catalogs if selection.has_catalog(name)]
        self._expect("catalogs", selection.catalogs, [name or DEFAULT_CATALOG for name in catalogs])
        databases = [
            DatabaseName(catalog or "", name) for catalog in self._catalogs for name in ends.source.databases(catalog)
        ]
        self._chosen = [home for home in databases if selection.has_database(home.database)]
        # What only the target has is meant too, where it is to be dropped or shown.
        more = [name for catalog in self._catalogs for name in self._more_databases(catalog)]
        self._expect("databases", selection.databases, [*(home.database for home in databases), *more])
        if selection.tables is not None:
            self._expect("tables", selection.tables, [name for home in self._chosen for name in self._all_tables(home)])

    def _expect(self, kind: str, pattern: str | None, names: Collection[str]) -> None:
        """Raises ConfigError when a pattern matches none of these names, and notes which of its alternatives do not."""
        if pattern is None:
            return
        ends = self._ends
        missed = unmatched(pattern, names)
        where = f"{ends.source.name} nor in {ends.target.name}" if ends.looks_for_more else ends.source.name
        if len(missed) == len(unmatched(pattern, ())):
            raise ConfigError(
                f"--{kind} {pattern!r} matches nothing in {where}; * stands for anything and | separates alternatives"
            )
        for part in missed:
            ends.tally.note(f"of --{kind}, {part!r} matches nothing in {where}")

    def _more_databases(self, catalog: str | None) -> list[str]:
        ends = self._ends
        if ends.selection.databases is None or not ends.looks_for_more or not self._is_in_target(catalog):
            return []
        return ends.target.databases(ends.catalogs.target(catalog))

    def _all_tables(self, home: DatabaseName) -> list[str]:
        """The names at the source and, where that is of interest, at the target."""
        ends, target = self._ends, self._ends.catalogs.home(home)
        names = ends.source.table_names(home)
        if ends.looks_for_more and ends.target.database(target) is not None:
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
            wanted = ends.catalogs.target(name)
            if wanted is not None and not ends.target.has_catalogs():
                raise NotSupported(
                    f"{ends.target.name} has no catalogs, which came with Hive 3: there is no place for {wanted}. "
                    f"Choose one catalog with --catalogs, or a newer target."
                )
            self._catalog(name, wanted)
            for home in self._chosen:
                if home.catalog_field == name:
                    self._database(home)

    def _catalog(self, name: str | None, wanted: str | None) -> None:
        ends = self._ends
        found = ends.source.catalog(name)
        there = ends.target.catalog(wanted)
        if found is None:
            if there is None and wanted is not None:
                # The source is from before there were catalogs: only its databases have locations.
                default = ends.source.database(DatabaseName("", DEFAULT_DATABASE))
                self._new_catalog(wanted, default.locationUri if default is not None else None)
            return
        if not ends.target.has_catalogs():
            return
        ends.tally.saw("catalog")
        label = wanted or DEFAULT_CATALOG
        after = replace(found, name=label)
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

    def _database(self, home: DatabaseName) -> None:
        ends = self._ends
        target = ends.catalogs.home(home)
        with ends.failing("database", str(target)):
            found = ends.source.database(home)
            if found is None:
                return
            ends.tally.saw("database")
            after = replace(found, catalogName=target.catalog_field, privileges=None)
            there = ends.target.database(target)
            if there is None:
                if not ends.writes:
                    self._missing.add(home)
                put = partial(ends.writer.put_database, target, after, None)
                ends.settle("database", str(target), Action.ADD, put)
            else:
                fields = differences(after, there, ends.writer.stamped)
                if fields:
                    put = partial(ends.writer.put_database, target, after, there)
                    ends.settle("database", str(target), Action.ALTER, put, fields)
            self._homes.append(home)

    # Tables

    def tables(self) -> None:
        ends = self._ends
        for home in self._homes:
            names = ends.source.table_names(home)
            self._names[home] = [name for name in names if ends.selection.has_table(name)]
        ends.tally.display.tables(sum(map(len, self._names.values())))
        for home, names in self._names.items():
            target = ends.catalogs.home(home)
            there = self._there(home)
            for at in range(0, len(names), BATCH):
                self._batch(home, names[at : at + BATCH], there)
            if ends.looks_for_more:
                for name in sorted(there - set(ends.source.table_names(home))):
                    if ends.selection.has_table(name):
                        drop = partial(ends.writer.drop_table, target.table(name))
                        ends.settle("table", f"{target}.{name}", Action.DROP, drop)
        for home, views in self._materialized.items():
            self._batch(home, views, self._there(home), last=True)

    def _there(self, home: DatabaseName) -> set[str]:
        """The tables that the target has."""
        if home in self._missing:
            return set()
        return set(self._ends.target.table_names(self._ends.catalogs.home(home)))

    def _batch(self, home: DatabaseName, names: Sequence[str], there: set[str], *, last: bool = False) -> None:
        """Some tables of a database. Materialized views come last, since they name the tables they were made from."""
        ends = self._ends
        open_ones = [name for name in names if not ends.journal.is_done(_key(ends, home, name))]
        for _ in range(len(names) - len(open_ones)):
            ends.tally.display.table_done()
        if not open_ones:
            return
        found = ends.source.tables(home, open_ones, singly=last)
        known = [name for name in open_ones if name in there]
        others = ends.target.tables(ends.catalogs.home(home), known, singly=last)
        for name in open_ones:
            table = found.get(name)
            if table is not None and table.tableType == MATERIALIZED_VIEW and not last:
                self._materialized.setdefault(home, []).append(name)
                continue
            if table is not None:  # Otherwise it was dropped since it was listed.
                with ends.failing("table", f"{ends.catalogs.home(home)}.{name}"):
                    self._table(home, table, others.get(name))
                    if ends.writes:
                        ends.journal.done(_key(ends, home, name))
            ends.tally.display.table_done()

    def _table(self, home: DatabaseName, table: Table, there: Table | None) -> None:
        ends = self._ends
        name = table.tableName or ""
        if there is not None and ends.writes and is_another(table, there):
            # It was dropped and made anew: its old partitions would mean nothing.
            ends.writer.drop_table(ends.catalogs.home(home).table(name))
            there = None
        is_new = there is None
        if not table.partitionKeys:
            ends.tally.display.table(str(ends.catalogs.home(home).table(name)), 0)
        copy_table(ends, home, table, there)
        if ends.selection.has("constraints") and not is_view(table) and (ends.writes or not is_new):
            copy_constraints(ends, home, name, is_new=is_new)
        if is_transactional(table.parameters):
            copy_write_ids(ends, home, name, is_new=is_new)
        if table.partitionKeys:
            PartitionCopy(ends, home, table, is_new=is_new).run(_key(ends, home, name))

    # What comes after all tables

    def functions(self) -> None:
        ends = self._ends
        if not ends.selection.has("functions") or ends.selection.tables is not None:
            return
        for home in self._homes:
            target = ends.catalogs.home(home)
            names = ends.source.function_names(home)
            there = set() if home in self._missing else set(ends.target.function_names(target))
            for name in names:
                with ends.failing("function", f"{target}.{name}"):
                    self._function(home, target, name, name in there)
            if ends.looks_for_more:
                for name in sorted(there - set(names)):
                    drop = partial(ends.writer.drop_function, target, name)
                    ends.settle("function", f"{target}.{name}", Action.DROP, drop)

    def _function(self, home: DatabaseName, target: DatabaseName, name: str, is_there: bool) -> None:
        ends = self._ends
        found = ends.source.function(home, name)
        if found is None:
            return
        ends.tally.saw("function")
        after = replace(found, catName=target.catalog_field)
        before = ends.target.function(target, name) if is_there else None
        fields = [] if before is None else differences(after, before, ends.writer.stamped)
        if before is None or fields:
            action = Action.ADD if before is None else Action.ALTER
            put = partial(ends.writer.put_function, target, after, before)
            ends.settle("function", f"{target}.{name}", action, put, fields)

    def foreign_keys(self) -> None:
        """These need both of their tables, so they come behind all of them."""
        ends = self._ends
        if not ends.selection.has("constraints"):
            return
        for home, names in self._names.items():
            key = f"foreign keys of {ends.catalogs.home(home)}"
            if ends.journal.is_done(key) or home in self._missing:
                continue
            for name in names:
                with ends.failing("table", f"{ends.catalogs.home(home)}.{name}"):
                    copy_foreign_keys(ends, home, name)
            if ends.writes:
                ends.journal.done(key)

    def rest(self) -> None:
        """Databases that only the target has."""
        ends = self._ends
        if not ends.looks_for_more or ends.selection.tables is not None:
            return
        for catalog in self._catalogs:
            target = ends.catalogs.target(catalog)
            if not self._is_in_target(catalog):
                continue
            known = set(ends.source.databases(catalog)) | {DEFAULT_DATABASE}
            for name in ends.target.databases(target):
                if name not in known and ends.selection.has_database(name):
                    home = DatabaseName(target or "", name)
                    ends.settle("database", str(home), Action.DROP, partial(ends.writer.drop_database, home))


def _key(ends: Ends, home: DatabaseName, name: str) -> str:
    """A table in the journal."""
    return f"table {ends.catalogs.home(home)}.{name}"
