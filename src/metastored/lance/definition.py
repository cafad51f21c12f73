"""A Lance table as a table of the metastore: how it is recognised, and how it is made. Pure.

    tableType           EXTERNAL_TABLE, with the parameter EXTERNAL=TRUE: without the parameter a metastore stores the
                        table as managed, and deletes its data when it is dropped
    table_type          lance, in any case
    managed_by          storage or impl, in any case; storage if it is missing
    version             the newest version, 0 for a table without data; it counts only for managed_by=impl

Tables that Lance's own clients made are stored as MANAGED_TABLE, since they do not set EXTERNAL. They are recognised by
`table_type` alone.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from lance_namespace import InvalidInputError, InvalidTableStateError

from metastored.errors import ConversionError
from metastored.hive.types.arrow import from_arrow_field
from metastored.model.formats import FileFormat
from metastored.model.kinds import EXTERNAL, EXTERNAL_PARAMETER
from metastored.model.makers import storage
from metastored.model.names import TableName
from metastored.model.origins import TABLE_TYPE
from metastored.wire.generated.common import FieldSchema, Table
from metastored.wire.structs import replace

if TYPE_CHECKING:
    import pyarrow

log = logging.getLogger("metastored.lance")

LANCE: Final = "lance"
MANAGED_BY: Final = "managed_by"
VERSION: Final = "version"
MANIFEST: Final = "lance.manifest_path"
"""Where the writer of the newest version of an `impl` table put its manifest: it repairs an unfinished commit."""
SCHEMA: Final = "lance.schema"
"""A digest of the Lance schema that the columns in the metastore were made from."""

FORMAT: Final = FileFormat(
    input="org.lance.mapred.LanceInputFormat",
    output="org.lance.mapred.LanceOutputFormat",
    serde="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
)
"""The classes of a table. The formats are Lance's own, so an engine without them refuses to read the files as text. The
serde is one that Hive and Spark have, so they can describe the table."""

MAX_TYPE: Final = 4000
"""The longest text of a column type that Hive 2.3 stores."""


class ManagedBy(Enum):
    """Who keeps the versions of a table."""

    STORAGE = "storage"
    """The directory: the newest manifest in it is the newest version."""
    IMPL = "impl"
    """The metastore: the parameter `version` is the newest version."""


def managed_by_of(text: str | None, what: str) -> ManagedBy:
    """Reads the value of `managed_by`; storage if it is missing. Raises InvalidInputError for another word."""
    word = (text or ManagedBy.STORAGE.value).strip().lower()
    try:
        return ManagedBy(word)
    except ValueError:
        raise InvalidInputError(f"{what} is {text!r}: it is storage or impl") from None


def is_lance(table: Table) -> bool:
    """Whether the parameter `table_type` is lance, in any case."""
    return ((table.parameters or {}).get(TABLE_TYPE) or "").lower() == LANCE


def managed_by(table: Table) -> ManagedBy:
    """Who keeps the versions of a table. Raises InvalidTableStateError if the parameter has another word."""
    text = (table.parameters or {}).get(MANAGED_BY)
    try:
        return managed_by_of(text, MANAGED_BY)
    except InvalidInputError:
        raise InvalidTableStateError(
            f"the parameter {MANAGED_BY} of {table.dbName}.{table.tableName} is {text!r}: it is storage or impl"
        ) from None


def version_of(table: Table) -> int:
    """The newest version of an `impl` table. Raises InvalidTableStateError if the parameter is not a number."""
    text = (table.parameters or {}).get(VERSION)
    if text is None or not (text.isascii() and text.isdigit()):
        raise InvalidTableStateError(
            f"the parameter {VERSION} of {table.dbName}.{table.tableName} is {text!r}: it is the number of the newest "
            f"version, 0 for a table without data"
        )
    return int(text)


def lance_table(
    name: TableName,
    location: str,
    kind: ManagedBy,
    properties: Mapping[str, str],
    *,
    version: int = 0,
    schema: pyarrow.Schema | None = None,
    owner: str | None = None,
) -> Table:
    """A table to be created. The parameters of the definition win over `properties`."""
    parameters = {
        **properties,
        EXTERNAL_PARAMETER: "TRUE",
        TABLE_TYPE: LANCE,
        MANAGED_BY: kind.value,
        VERSION: str(version),
    }
    return Table(
        tableName=name.table,
        dbName=name.database,
        owner=owner,
        createTime=0,
        lastAccessTime=0,
        retention=0,
        sd=replace(storage(columns_of(schema) if schema is not None else (), FORMAT, {}), location=location),
        partitionKeys=(),
        parameters=parameters,
        tableType=EXTERNAL,
        catName=name.catalog_field,
    )


def columns_of(schema: pyarrow.Schema) -> tuple[FieldSchema, ...]:
    """The columns of a Lance schema as the metastore stores them.

    A type that Hive does not have is a string, and its comment names Arrow's type. The metastore stores names in lower
    case; of columns that differ only in case, the first is there.
    """
    columns: dict[str, FieldSchema] = {}
    for field in schema:
        if field.name.lower() in columns:
            log.warning("column %s is not shown in the metastore: another column has its name", field.name)
            continue
        columns[field.name.lower()] = FieldSchema(field.name.lower(), *_type(field))
    return tuple(columns.values())


def _type(field: Any) -> tuple[str, str | None]:
    try:
        text = str(from_arrow_field(field))
    except ConversionError:
        text = ""
    if text and len(text) <= MAX_TYPE:
        fixed = getattr(field.type, "list_size", None)
        return text, f"Arrow type {field.type}" if isinstance(fixed, int) and fixed > 0 else None
    return "string", f"Arrow type {field.type}"[:255]
