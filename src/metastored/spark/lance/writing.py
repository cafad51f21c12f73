"""Writes a DataFrame to a Lance table: the executors write fragments, one commit makes them a version of the table."""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from metastored.errors import InvalidInputException
from metastored.model.names import Name
from metastored.spark.lance import tables
from metastored.spark.lance.commits import Change, Job, committed
from metastored.spark.lance.schemas import check_appendable, lance_schema
from metastored.spark.lance.sessions import register

if TYPE_CHECKING:
    from lance_namespace import LanceNamespace
    from pyspark.sql import DataFrame

__all__ = ["write"]

MODES: Final = ("error", "errorifexists", "ignore", "append", "overwrite")


def write(
    df: DataFrame,
    name: Name,
    mode: str = "error",
    *,
    vectors: Mapping[str, int] | None = None,
    properties: Mapping[str, str] | None = None,
    namespace: LanceNamespace | None = None,
) -> int:
    """Writes the rows of a DataFrame to the Lance table `db.t` or `catalog.db.t`. Returns the version that has them.

    `mode` is one of Spark's: error, ignore, append, overwrite. A table that does not exist is created, with
    `properties`. `vectors` names array columns of a new table that are vectors, and their lengths: {"embedding": 128}.
    `namespace` is used instead of the session's metastore; it must be possible to pickle it.

    Raises TableAlreadyExistsError, ConversionError for rows that do not fit, and other errors of `lance_namespace`. If
    the write fails, the table is as before; a table that it declared is removed again.
    """
    if mode.lower() not in MODES:
        raise InvalidInputException(f"the mode is {mode!r}; known are {', '.join(MODES)}")
    id = tables.table_id(name)
    schema = lance_schema(df.schema, vectors or {})
    with tables.using(df.sparkSession, id, namespace) as table:
        return _write(df, table, id, mode.lower(), schema, properties or {})


def _write(
    df: Any, namespace: LanceNamespace, id: tuple[str, ...], mode: str, schema: Any, properties: Mapping[str, str]
) -> int:
    table = tables.find(namespace, id)
    if table is not None and table.has_data:
        if mode == "ignore":
            return int(table.dataset().version)
        if mode in ("error", "errorifexists"):
            from lance_namespace.errors import TableAlreadyExistsError

            raise TableAlreadyExistsError(f"the table {'.'.join(id)} exists: use mode append or overwrite")
    if table is not None:
        return _written(df, table, schema, mode)
    table = tables.make(namespace, id, properties)
    try:
        return _written(df, table, schema, mode)
    except BaseException:
        _remove(table)
        raise


def _written(df: Any, table: tables.LanceTable, schema: Any, mode: str) -> int:
    from metastored.spark.lance.source import NAME, TASK, packed

    read_version, change = None, "create"
    if table.has_data:
        dataset = table.dataset()
        read_version, change = dataset.version, mode
        if mode == "append":
            check_appendable(schema, dataset.schema)
            schema = dataset.schema
    job = Job(
        id=uuid.uuid4().hex,
        table_id=table.id,
        location=table.location,
        storage_options=table.storage_options,
        change=_change(change),
        schema=schema,
        read_version=read_version,
        namespace=pickle.dumps(table.namespace) if table.managed else None,
    )
    register(df.sparkSession)
    df.write.format(NAME).mode("append").option(TASK, packed(job)).save()
    version = committed(job)
    # Without rows an append makes no version.
    dataset = table.dataset(version)
    tables.record(table, dataset)
    return int(dataset.version)


def _change(word: str) -> Change:
    return "append" if word == "append" else "overwrite" if word == "overwrite" else "create"


def _remove(table: tables.LanceTable) -> None:
    """Removes a table that was declared for a write that failed, unless somebody else has written to it."""
    from lance_namespace import DropTableRequest

    now = tables.find(table.namespace, table.id)
    if now is not None and not now.has_data:
        table.namespace.drop_table(DropTableRequest(id=list(table.id)))
