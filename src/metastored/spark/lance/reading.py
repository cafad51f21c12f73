"""Reads a Lance table as a DataFrame: one task for each fragment; Lance itself selects columns and rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from metastored.errors import InvalidInputException
from metastored.model.names import Name
from metastored.spark.lance import tables
from metastored.spark.lance.schemas import arrow, spark_schema
from metastored.spark.lance.sessions import register

if TYPE_CHECKING:
    from lance_namespace import LanceNamespace
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from metastored.spark.lance.source import Scan

__all__ = ["read"]


def read(
    spark: SparkSession,
    name: Name,
    columns: Sequence[str] | None = None,
    filter: str | None = None,
    version: int | None = None,
    *,
    namespace: LanceNamespace | None = None,
) -> DataFrame:
    """The rows of the Lance table `db.t` or `catalog.db.t` as a DataFrame.

    `columns` are read and no others; `filter` is a condition in Lance's SQL, which uses the indices of the table;
    `version` is a number, the newest if it is None. The DataFrame keeps its version, whatever is written later.

    Raises TableNotFoundError, InvalidInputException for an unknown column and for a filter that Lance cannot parse, and
    ConversionError for a type that Spark does not have.
    """
    id = tables.table_id(name)
    with tables.using(spark, id, namespace) as table:
        scan, schema = _planned(table, id, columns, filter, version)
    session: Any = spark
    register(session)
    from metastored.spark.lance.source import NAME, TASK, packed

    frame: DataFrame = session.read.format(NAME).schema(schema).option(TASK, packed(scan)).load()
    return frame


def _planned(
    namespace: LanceNamespace,
    id: tuple[str, ...],
    columns: Sequence[str] | None,
    filter: str | None,
    version: int | None,
) -> tuple[Scan, StructType]:
    """What the executors read, and its schema."""
    table = tables.find(namespace, id)
    if table is None or not table.has_data:
        from lance_namespace.errors import TableNotFoundError

        missing = "does not exist" if table is None else "is declared, and has no data yet"
        raise TableNotFoundError(f"the table {'.'.join(id)} {missing}")
    dataset = table.dataset(version)
    chosen = tuple(dataset.schema.names if columns is None else columns)
    unknown = [each for each in chosen if each not in dataset.schema.names]
    if unknown or not chosen:
        what = f"has no column {unknown[0]!r}" if unknown else "cannot be read without columns"
        raise InvalidInputException(f"{'.'.join(id)} {what}; it has {', '.join(dataset.schema.names)}")
    if filter is not None:
        try:
            dataset.scanner(columns=list(chosen), filter=filter).explain_plan()
        except (ValueError, OSError, RuntimeError) as error:
            raise InvalidInputException(f"Lance refuses the filter {filter!r}: {error}") from None
    from metastored.spark.lance.source import Scan

    scan = Scan(
        location=table.location,
        storage_options=table.storage_options,
        version=int(dataset.version),
        fragments=tuple(each.fragment_id for each in dataset.get_fragments()),
        columns=chosen,
        filter=filter,
    )
    return scan, spark_schema(arrow().schema([dataset.schema.field(each) for each in chosen]))
