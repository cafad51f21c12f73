"""`metastored partitions` and `metastored stats`: the partitions of a table, and the statistics of both."""

from __future__ import annotations

from itertools import islice
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from metastored.cli.errors import explained
from metastored.cli.options import Output, Server, Table, options
from metastored.cli.output import dumped, moment, print_result, print_rows
from metastored.cli.results import Rows, Value
from metastored.model.counting import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metastored.client._sync.client import Client
    from metastored.wire.generated.common import ColumnStatisticsObj

Where = Annotated[
    str | None,
    typer.Option(metavar="CONDITION", help="A condition over partition keys: \"ds >= '2024-01-01' and h < 12\"."),
]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="At most this many partitions.")]
One = Annotated[str | None, typer.Option(metavar="NAME", help="The statistics of this partition, as ds=2024-01-01.")]

BATCH: Final = 1000
"""Partitions in one call."""
COLUMNS = ("partition", "location", "rows", "bytes", "files", "created")
STATISTICS = ("column", "type", "nulls", "distinct", "low", "high", "average_length", "max_length", "trues", "falses")


@explained
@options(server=Server.read)
def partitions(server: Server, table: Table, where: Where = None, limit: Limit = None, output: Output = "text") -> None:
    """List the partitions of a table, with locations and sizes.

    Sizes are those that the metastore knows.
    """
    from metastored.hive.names import make_part_name
    from metastored.model.partitions import keys_of

    with server.connect() as client:
        keys = keys_of(client.table(table))
        rows = [
            (
                make_part_name(keys, each.values or ()),
                each.sd and each.sd.location,
                *_sizes(each.parameters or {}),
                moment(each.createTime),
            )
            for each in islice(client.partitions(table, where), limit)
        ]
    print_rows(COLUMNS, rows, output)


@explained
@options(server=Server.read)
def stats(server: Server, table: Table, partition: One = None, output: Output = "text") -> None:
    """Show the size of a table or partition, and column statistics."""
    analyzed: str | None = None
    with server.connect() as client:
        if partition is None:
            struct = client.table(table)
            parameters: Mapping[str, str] = struct.parameters or {}
            columns = client.statistics(table)
            if not columns and struct.partitionKeys:
                analyzed = _analyzed_partition(client, table)
        else:
            parameters = client.partition(table, partition).parameters or {}
            columns = client.partition_statistics(table, [partition]).get(partition, {})
    size = dict(zip(("rows", "bytes", "files"), _sizes(parameters), strict=True))
    rows = tuple(_statistics_of(each) for each in columns.values())
    if output == "json":
        names = STATISTICS
        typer.echo(dumped({**size, "columns": [dict(zip(names, row, strict=True)) for row in rows]}))
        return
    shown = ", ".join(counted(value, name.removesuffix("s")) for name, value in size.items() if value is not None)
    typer.echo(f"{table if partition is None else f'{table} {partition}'}: {shown or 'no size is known'}")
    if rows:
        print_result(Rows(STATISTICS, rows), output)
    elif analyzed is not None:
        typer.echo(
            "the partitions have statistics of columns, and the table has none of its own: "
            f"metastored stats {table} --partition {quote(analyzed)}"
        )
    else:
        typer.echo("there are no statistics of columns: ANALYZE TABLE … COMPUTE STATISTICS FOR COLUMNS makes them")


def _analyzed_partition(client: Client, table: str) -> str | None:
    """The last partition that has statistics of columns; None if none has."""
    names = client.partition_names(table)[::-1]
    for at in range(0, len(names), BATCH):
        by_partition = client.partition_statistics(table, names[at : at + BATCH])
        if analyzed := [name for name in names[at : at + BATCH] if by_partition.get(name)]:
            return analyzed[0]
    return None


def _sizes(parameters: Mapping[str, str]) -> tuple[int | None, int | None, int | None]:
    """Rows, bytes and files. Spark writes its own parameters; Hive's count where both are."""

    def number(*keys: str) -> int | None:
        for key in keys:
            text = parameters.get(key, "")
            # Hive writes -1 for what it does not know.
            if text.isdecimal():
                return int(text)
        return None

    return (
        number("numRows", "spark.sql.statistics.numRows"),
        number("totalSize", "spark.sql.statistics.totalSize"),
        number("numFiles"),
    )


def _statistics_of(column: ColumnStatisticsObj) -> tuple[Value, ...]:
    data: Any = next((each for each in column.statsData or () if each is not None), None)

    def field(name: str) -> Any:
        return getattr(data, name, None)

    return (
        column.colName,
        column.colType,
        field("numNulls"),
        field("numDVs"),
        _bound(field("lowValue")),
        _bound(field("highValue")),
        field("avgColLen"),
        field("maxColLen"),
        field("numTrues"),
        field("numFalses"),
    )


def _bound(value: Any) -> Value:
    """The lowest or highest value: a number as it is, dates, timestamps and decimals as text."""
    from metastored.catalog.hive_statistics import plain_bound

    bound = plain_bound(value)
    return bound if bound is None or isinstance(bound, int | float) else str(bound)
