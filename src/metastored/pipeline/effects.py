"""The tables that a step reads and writes, as far as the file says it. Pure.

Nothing can be said of Python functions and of Spark's declarative pipelines: they may read and write any table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from metastored.errors import MissingExtra, StatementError
from metastored.model.names import database_name, table_name
from metastored.pipeline.model import Step
from metastored.statements.words import is_own, split_statements

DEFAULT: Final = "default"
ANY: Final = ("python", "dataflow")
"""The types of steps that may read and write any table."""

_CREATE_DATABASE: Final = re.compile(
    r"\s*CREATE\s+(?:DATABASE|SCHEMA)\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:\w+\.)?(\w+|`[^`]+`)", re.IGNORECASE
)
"""sqlglot does not parse the properties of a database."""


@dataclass(slots=True)
class Effects:
    """What a step needs and makes. Names are `db.t` in lower case; a whole database is `db.*`."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    creates: set[str] = field(default_factory=set)
    """Those of `writes` that need not exist."""
    databases: set[str] = field(default_factory=set)
    """Databases that are created; their tables cannot be known before."""
    new_in: set[str] = field(default_factory=set)
    """Databases in which tables are created, and which the step itself does not create before."""
    anything: bool = False

    @property
    def requires(self) -> set[str]:
        """The tables that have to exist when the step begins."""
        return self.reads | (self.writes - self.creates)


def effects_of(step: Step) -> Effects:
    """What a step reads and writes."""
    match step.type:
        case "sql":
            return _sql_effects(step.text("sql"))
        case "copy" | "lance":
            target = _shown(step.text("to"))
            # A copy of a whole database creates the target.
            new_in = set() if target.endswith(".*") else {database_of(target)}
            return Effects({_shown(step.text("from"))}, {target}, {target}, new_in=new_in)
        case "analyze" | "repair" | "compact":
            table = {_shown(step.text("table"))}
            return Effects(set(table), set(table))
    return Effects(anything=True)


def database_of(name: str) -> str:
    """The database of a name of `Effects`."""
    return name.rpartition(".")[0]


def _shown(name: str) -> str:
    if "." not in name:
        return f"{database_name(name)}.*".lower()
    return str(table_name(name)).lower()


def _sql_effects(text: str) -> Effects:
    statements = _Statements()
    for statement in split_statements(text):
        statements.add(statement)
    return statements.effects


class _Statements:
    """The statements of a step, one after the other: they share the current database and temporary views."""

    def __init__(self) -> None:
        self.effects: Final = Effects()
        self._database = DEFAULT
        self._temporary: set[str] = set()

    def add(self, text: str) -> None:
        if is_own(text):
            self._add_own(text)
            return
        if (database := _CREATE_DATABASE.match(text)) is not None:
            self.effects.databases.add(database[1].strip("`").lower())
            return
        try:
            from sqlglot import exp

            from metastored.spark.acid.sql.tables import references
            from metastored.spark.source import parsed
        except ImportError:
            raise MissingExtra("a pipeline with SQL", "spark") from None
        try:
            source = parsed(text)
        except StatementError:
            return  # Spark says what is wrong when the step runs.
        tree = source.tree
        if tree is None:
            return
        if isinstance(tree, exp.Use):
            self._database = (tree.this.name if tree.this is not None else DEFAULT).lower()
            return
        if isinstance(tree, exp.Drop) and str(tree.args.get("kind")).upper() in ("SCHEMA", "DATABASE"):
            return
        changes = isinstance(
            tree,
            (exp.Create, exp.Insert, exp.Merge, exp.Update, exp.Delete, exp.Drop, exp.Alter, exp.TruncateTable),
        )
        target = None
        if changes:
            # A drop and a TRUNCATE have a list of tables; all others have the target first.
            target = (tree if isinstance(tree, (exp.Drop, exp.TruncateTable)) else tree.this).find(exp.Table)
        creates = isinstance(tree, exp.Create)
        for each in references(source):
            if each.node is target:
                continue
            self._read(each.parts)
        if isinstance(target, exp.Table):
            parts = tuple(part.name.lower() for part in target.parts)
            if creates and tree.find(exp.TemporaryProperty) is not None:
                self._temporary.add(parts[-1])
            elif creates:
                self._create(self._name(parts))
            elif isinstance(tree, exp.Drop):
                name = self._name(parts)
                self.effects.writes.add(name)
                self.effects.creates.add(name)
            elif not (len(parts) == 1 and parts[0] in self._temporary):
                self.effects.writes.add(self._name(parts))

    def _add_own(self, text: str) -> None:
        from metastored.statements.parsing import parse_script
        from metastored.statements.values import CreateRemote, Kind

        for each in parse_script(text):
            if not isinstance(each, CreateRemote):
                continue
            parts = tuple(part.lower() for part in each.name)
            if each.kind is Kind.TABLE:
                self._create(self._name(parts))
            else:
                self.effects.databases.add(parts[-1])

    def _create(self, name: str) -> None:
        self.effects.writes.add(name)
        self.effects.creates.add(name)
        if (database := database_of(name)) not in self.effects.databases:
            self.effects.new_in.add(database)

    def _read(self, parts: tuple[str, ...]) -> None:
        if len(parts) == 1 and parts[0] in self._temporary:
            return
        name = self._name(parts)
        if name not in self.effects.creates:
            self.effects.reads.add(name)

    def _name(self, parts: tuple[str, ...]) -> str:
        return f"{self._database}.{parts[0]}" if len(parts) == 1 else ".".join(parts[-2:])
