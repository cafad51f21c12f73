"""Which names of a statement are ACID tables, views that read one, or Lance tables: looked up in the metastore.

A name is resolved as Spark does it: a temporary view before a table of the current database. The rows and files of a
table are never read here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from metastored.client._sync.client import Client
from metastored.errors import ApplicationError, MetastoreError, NoSuchObjectException, StatementError
from metastored.model.acid import is_transactional
from metastored.model.formats import format_of
from metastored.model.kinds import is_view
from metastored.model.names import TableName
from metastored.model.origins import TableFormat
from metastored.spark.acid.sql.indirection import CannotEvaluate, Evaluate
from metastored.spark.acid.sql.plain import plain_sql
from metastored.spark.acid.sql.tables import Definition, Found, Lookup, Parts, all_names, references
from metastored.spark.read_only import refuse_read_only
from metastored.spark.source import parsed
from metastored.wire.generated.common import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_CATALOG: Final = "spark_catalog"
"""The catalog of a Spark session that is the metastore."""
_NAMESPACE: Final = "view.catalogAndNamespace."
"""The parameters in which Spark stores the current catalog and database of a view."""
_OUTPUTS: Final = "view.query.out."
"""The parameters in which Spark stores the columns of the query of a view."""


@dataclass(frozen=True, slots=True)
class Names:
    """The rules by which a session resolves names."""

    database: str
    """The current database."""
    catalog: str = SPARK_CATALOG
    """The current catalog."""
    is_temporary: Callable[[str], bool] = lambda name: False
    """Whether a name is that of a temporary view."""

    def table(self, parts: Parts) -> TableName | None:
        """The table of the metastore that a name refers to, if no temporary view has it; None in other catalogs."""
        if len(parts) == 3:
            return TableName("", *parts[1:]) if parts[0] == SPARK_CATALOG else None
        if self.catalog != SPARK_CATALOG:
            return None
        return TableName("", *parts) if len(parts) == 2 else TableName("", self.database, parts[0])

    def is_hidden(self, parts: Parts) -> bool:
        """Whether a temporary view has the name of a table."""
        return len(parts) == 1 and self.is_temporary(parts[0])


def names_of(spark: SparkSession) -> Names:
    """The rules of a session as they are now."""

    def is_temporary(name: str) -> bool:
        if any(sign in name for sign in "*|'\\"):
            return False
        views = plain_sql(spark, f"SHOW VIEWS LIKE '{name}'").collect()
        return any(row["isTemporary"] and row["viewName"].lower() == name for row in views)

    return Names(spark.catalog.currentDatabase().lower(), spark.catalog.currentCatalog().lower(), is_temporary)


def session_lookup(
    spark: SparkSession, connect: Callable[[], AbstractContextManager[Client]], lance: bool = False
) -> Lookup:
    """The lookup of a session, of Lance tables too if `lance` is set. It connects only for statements with tables."""

    def lookup(names: Set[Parts]) -> Mapping[Parts, Found]:
        if not names:
            return {}
        with connect() as client:
            return MetastoreLookup(client, names_of(spark), lance)(names)

    return lookup


def refuse_written(
    spark: SparkSession, connect: Callable[[], AbstractContextManager[Client]], written: Set[Parts]
) -> None:
    """Raises InvalidOperationException if one of these names is a table of a read-only remote."""
    if not written:
        return
    rules = names_of(spark)
    tables = [table for parts in sorted(written) if (table := rules.table(parts)) and not rules.is_hidden(parts)]
    if tables:
        with connect() as client:
            refuse_read_only(client, tables)


def session_evaluation(spark: SparkSession) -> Evaluate:
    """Evaluates constants with the session, whose variables they may have."""

    def evaluate(text: str) -> str | None:
        try:
            row = plain_sql(spark, f"SELECT CAST(({text}\n) AS STRING)").first()
        except Exception as error:  # Spark has many: of its parser, of its analyzer, of the evaluation.
            raise CannotEvaluate(str(error).partition("\n")[0]) from error
        return None if row is None else row[0]

    return evaluate


class MetastoreLookup:
    """Finds ACID tables, views on them, and if requested Lance tables, in a metastore. It is a `tables.Lookup`."""

    def __init__(self, client: Client, names: Names, lance: bool = False) -> None:
        self._client = client
        self._names = names
        self._lance = lance

    def __call__(self, names: Set[Parts]) -> Mapping[Parts, Found]:
        return self._find(names, self._names, frozenset())

    def _find(self, names: Set[Parts], rules: Names, above: frozenset[TableName]) -> dict[Parts, Found]:
        """`above` are the views that are being resolved."""
        wanted = {parts: table for parts in names if (table := rules.table(parts)) is not None}
        acid: dict[TableName, Found] = {}
        for struct in self._tables(frozenset(wanted.values()) - above):
            name = TableName("", (struct.dbName or "").lower(), (struct.tableName or "").lower())
            if is_transactional(struct.parameters):
                acid[name] = Found(name)
            elif self._lance and format_of(struct) == TableFormat.LANCE.value:
                acid[name] = Found(name, lance=True)
            elif is_view(struct) and (read_table := self._read_by(struct, above | {name})) is not None:
                acid[name] = Found(read_table, _definition(name, struct))
        return {parts: acid[table] for parts, table in wanted.items() if table in acid and not rules.is_hidden(parts)}

    def _tables(self, names: frozenset[TableName]) -> list[Table]:
        by_database: dict[str, list[str]] = {}
        for name in sorted(names):
            by_database.setdefault(name.database, []).append(name.table)
        structs: list[Table] = []
        for database, tables in by_database.items():
            try:
                structs += self._client.tables_by_name(database, tuple(tables))
            except (MetastoreError, ApplicationError):
                # Servers word it differently. Any other error may hide an ACID table, which Spark would take for plain.
                if self._exists(database):
                    raise
        return structs

    def _exists(self, database: str) -> bool:
        """Whether there is a database of this name: that of parquet.`/path` is none."""
        try:
            self._client.database(database)
        except NoSuchObjectException:
            return False
        return True

    def _read_by(self, view: Table, above: frozenset[TableName]) -> TableName | None:
        """An ACID table that a view reads."""
        text = view.viewExpandedText or view.viewOriginalText or ""
        try:
            source = parsed(text)
        except StatementError:
            return None
        parts = {parts for parts, _ in all_names(source)} if source.tree is None else {
            each.parts for each in references(source)
        }  # fmt: skip
        tables = self._find(parts, _rules_of(view), above)
        return next((each.table for _, each in sorted(tables.items()) if not each.lance), None)


def _definition(name: TableName, view: Table) -> Definition:
    rules, parameters = _rules_of(view), view.parameters or {}
    count = parameters.get(f"{_OUTPUTS}numCols", "")
    return Definition(
        name,
        view.viewExpandedText or view.viewOriginalText or "",
        rules.database,
        rules.catalog,
        tuple(each.name or "" for each in (view.sd.cols if view.sd is not None else None) or ()),
        tuple(parameters.get(f"{_OUTPUTS}col.{at}", "") for at in range(int(count) if count.isdigit() else 0)),
    )


def _rules_of(view: Table) -> Names:
    """The rules by which the names in a view are resolved: Spark stores them, Hive has complete names."""
    parameters = view.parameters or {}
    parts = [
        parameters.get(f"{_NAMESPACE}part.{at}", "").lower()
        for at in range(int(parameters.get(f"{_NAMESPACE}numParts") or 0))
    ]
    if len(parts) >= 2:
        return Names(parts[-1], parts[0])
    return Names((view.dbName or "").lower())
