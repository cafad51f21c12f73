"""`metastored show`: one database, table or partition, with what Hive, Spark and readers of ACID tables see in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from metastored.cli.errors import explained
from metastored.cli.options import Output, Server, options
from metastored.cli.output import dumped, moment, print_object, print_result
from metastored.cli.results import Rows, Value

if TYPE_CHECKING:
    from metastored.client._sync.client import Client
    from metastored.wire.generated.common import Table
    from metastored.wire.generated.databases import Database
    from metastored.wire.generated.partitions import Partition

PROPERTIES: Final = "Table Properties"

Object = Annotated[
    str,
    typer.Argument(
        metavar="OBJECT",
        help="A database (db), a table (db.table), or a partition (db.table/ds=2024-01-01/h=1); a catalog may stand "
        "before each.",
    ),
]


@explained
@options(server=Server.read)
def show(server: Server, object: Object, output: Output = "text") -> None:
    """Show a database, a table or a partition as the engines see it.

    A name of two parts is a table, or else a database of that catalog. JSON has the object as the API returns it, and
    beside it what is derived from it.
    """
    name, slash, partition = object.partition("/")
    with server.connect() as client:
        if slash:
            _show_partition(client, name, partition, output)
        elif "." not in name:
            _show_database(client, name, output)
        else:
            _show_table(client, name, output)


def _show_database(client: Client, name: str, output: str) -> None:
    from metastored.client.statements.descriptions import described_database
    from metastored.model.plain import to_dict

    database: Database = client.database(name)
    if output == "json":
        print_object({"database": to_dict(database)}, "", output)
    else:
        print_result(described_database(database, True), output)


def _show_table(client: Client, name: str, output: str) -> None:
    from metastored.client.statements.descriptions import described_table
    from metastored.errors import NoSuchObjectException
    from metastored.model.plain import to_dict

    try:
        table: Table = client.table(name)
    except NoSuchObjectException:
        if name.count(".") == 1 and _is_catalog(client, name.partition(".")[0]):
            return _show_database(client, name, output)
        raise
    derived = _derived(table)
    if output == "json":
        return print_object({"table": to_dict(table), **derived}, "", output)
    described = described_table(table, "EXTENDED")
    rows: list[tuple[Value, ...]] = [row for row in described.rows if row[0] != PROPERTIES]
    sections = (
        (f"# {PROPERTIES}", _properties(table)),
        ("# Hive and ACID", derived["hive"]),
        ("# As Spark sees it", derived["spark"]),
    )
    for heading, facts in sections:
        if facts:
            rows += [("", "", ""), (heading, "", "")]
            rows += [(key, value if isinstance(value, str) else dumped(value), "") for key, value in facts.items()]
    print_result(Rows(described.columns, tuple(rows)), output)
    return None


def _properties(table: Table) -> dict[str, str]:
    """One on each line, without those that other sections show: Spark's schema, and the definition of a remote."""
    from metastored.model.remotes.keys import is_remote, without_remote_keys

    parameters = table.parameters or {}
    shown = without_remote_keys(parameters) if is_remote(parameters) else parameters
    return {key: shown[key] for key in sorted(shown) if not key.startswith("spark.sql.sources.schema")}


def _show_partition(client: Client, name: str, partition: str, output: str) -> None:
    from metastored.model.plain import to_dict

    struct: Partition = client.partition(name, partition)
    sd = struct.sd
    facts: tuple[tuple[str, Value], ...] = (
        ("Table", name),
        ("Partition", partition),
        ("Location", sd and sd.location),
        ("Created Time", moment(struct.createTime)),
        ("Serde Library", sd and sd.serdeInfo and sd.serdeInfo.serializationLib),
        ("InputFormat", sd and sd.inputFormat),
        *sorted((struct.parameters or {}).items()),
    )
    if output == "json":
        print_object({"partition": to_dict(struct)}, "", output)
    else:
        print_result(Rows(("info_name", "info_value"), tuple(fact for fact in facts if fact[1] is not None)), output)


def _is_catalog(client: Client, name: str) -> bool:
    from metastored.cli.metastore.ls import catalogs

    return name.lower() in catalogs(client)


def _derived(table: Table) -> dict[str, dict[str, Any]]:
    """What programs conclude from the parameters of a table: Hive's kind and format, and Spark's schema."""
    from metastored.model import kinds
    from metastored.model.acid import acid_of
    from metastored.model.formats import format_of
    from metastored.model.spark.reading import spark_table
    from metastored.model.spark.type_strings import catalog_string

    acid = acid_of(table)
    hive: dict[str, Any] = {"format": format_of(table), "external": kinds.is_external(table)}
    if acid is not None:
        hive["acid"] = "insert-only" if acid.insert_only else "full"
        hive["write_id"] = acid.write_id
    form = spark_table(table)
    spark: dict[str, Any] = {}
    if form is not None:
        spark = {
            "provider": form.provider,
            "columns": {each.name: catalog_string(each.data_type) for each in form.schema},
            "partition_columns": list(form.partition_column_names),
            "created_by": f"Spark {form.create_version}" if form.create_version else None,
        }
    return {"hive": _set(hive), "spark": _set(spark)}


def _set(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if value is not None}
