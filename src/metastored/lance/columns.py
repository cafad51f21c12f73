"""The operations on columns and on the metadata of a schema, by pylance. Each is one commit.

The columns in the metastore follow. Columns that a program computes elsewhere (virtual columns, backfills) need workers
that run it; a metastore has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lance_namespace import (
    AlterTableAddColumnsRequest,
    AlterTableAddColumnsResponse,
    AlterTableAlterColumnsRequest,
    AlterTableAlterColumnsResponse,
    AlterTableDropColumnsRequest,
    AlterTableDropColumnsResponse,
    InvalidInputError,
    UnsupportedOperationError,
    UpdateFieldMetadataRequest,
    UpdateFieldMetadataResponse,
    UpdateTableSchemaMetadataRequest,
    UpdateTableSchemaMetadataResponse,
)

from metastored.lance.arrow import texts_of, type_of
from metastored.lance.datasets import Datasets
from metastored.lance.requests import operation
from metastored.model.names import TableName
from metastored.wire.generated.common import Table

if TYPE_CHECKING:
    import lance


class ColumnOperations(Datasets):
    """Columns: add, alter, drop; metadata of the schema and of its fields."""

    @operation(AlterTableAddColumnsRequest)
    def alter_table_add_columns(self, request: AlterTableAddColumnsRequest) -> AlterTableAddColumnsResponse:
        """Adds columns whose values are SQL expressions over the existing ones."""
        name, table, dataset = self._opened(request)
        if not request.new_columns:
            raise InvalidInputError("new_columns is empty: name at least one column with its expression")
        expressions: dict[str, str] = {}
        for column in request.new_columns:
            if column.virtual_column is not None or column.computed is not None:
                raise UnsupportedOperationError(
                    f"the column {column.name} is computed by a program later, which a metastore does not run: give "
                    f"its expression"
                )
            if not column.name or not column.expression:
                raise InvalidInputError(f"the new column {column.name!r} needs a name and an SQL expression")
            if column.name in dataset.schema.names or column.name in expressions:
                raise InvalidInputError(f"there is a column {column.name} already")
            expressions[column.name] = column.expression
        dataset.add_columns(expressions)
        self.recorded(name, table, dataset)
        return AlterTableAddColumnsResponse(version=dataset.version)

    @operation(AlterTableAlterColumnsRequest)
    def alter_table_alter_columns(self, request: AlterTableAlterColumnsRequest) -> AlterTableAlterColumnsResponse:
        """Renames columns, casts them to another type, or changes whether they may be null."""
        name, table, dataset = self._opened(request)
        if not request.alterations:
            raise InvalidInputError("alterations is empty: name at least one column")
        self.columns_exist(dataset, [each.path for each in request.alterations])
        alterations: list[Any] = []
        for each in request.alterations:
            if each.virtual_column is not None:
                raise UnsupportedOperationError(f"{each.path} would be a virtual column, which is not supported")
            wanted = {
                "name": each.rename,
                "nullable": each.nullable,
                "data_type": None if each.data_type is None else type_of(each.data_type),
            }
            given = {key: value for key, value in wanted.items() if value is not None}
            if not given:
                raise InvalidInputError(f"the alteration of {each.path} needs rename, nullable or data_type")
            alterations.append({"path": each.path, **given})
        dataset.alter_columns(*alterations)
        self.recorded(name, table, dataset)
        return AlterTableAlterColumnsResponse(version=dataset.version)

    @operation(AlterTableDropColumnsRequest)
    def alter_table_drop_columns(self, request: AlterTableDropColumnsRequest) -> AlterTableDropColumnsResponse:
        """Drops columns; their data stays in the files of older versions."""
        name, table, dataset = self._opened(request)
        if not request.columns:
            raise InvalidInputError("columns is empty: name at least one column")
        self.columns_exist(dataset, request.columns)
        dataset.drop_columns(list(request.columns))
        self.recorded(name, table, dataset)
        return AlterTableDropColumnsResponse(version=dataset.version)

    @operation(UpdateTableSchemaMetadataRequest)
    def update_table_schema_metadata(
        self, request: UpdateTableSchemaMetadataRequest
    ) -> UpdateTableSchemaMetadataResponse:
        """Sets keys of the metadata of the schema, and keeps the others. Returns all of them."""
        name, table, dataset = self._opened(request)
        metadata = dataset.update_schema_metadata(dict(request.metadata or {}))
        self.recorded(name, table, dataset)
        return UpdateTableSchemaMetadataResponse(metadata=dict(metadata))

    @operation(UpdateFieldMetadataRequest)
    def update_field_metadata(self, request: UpdateFieldMetadataRequest) -> UpdateFieldMetadataResponse:
        """Sets keys of the metadata of columns; a key without a value is deleted."""
        name, table, dataset = self._opened(request)
        paths = [each.path for each in request.updates]
        if not paths or len(set(paths)) != len(paths):
            raise InvalidInputError("updates needs one entry for each column, and no column twice")
        self.columns_exist(dataset, paths)
        replaces = {bool(each.replace) for each in request.updates}
        if len(replaces) > 1:
            raise InvalidInputError("replace differs between the columns of a request: send two requests")
        dataset.update_field_metadata({each.path: each.metadata for each in request.updates}, replace=replaces.pop())
        self.recorded(name, table, dataset)
        fields = {path: texts_of(_field(dataset.schema, path).metadata) for path in paths}
        return UpdateFieldMetadataResponse(version=dataset.version, fields=fields)

    def _opened(self, request: Any) -> tuple[TableName, Table, lance.LanceDataset]:
        """The table of a request, and its dataset. Raises InvalidTableStateError if it has no data yet."""
        self.no_branches(request)
        name, table = self.table(request.id)
        return name, table, self.filled(name, table)


def _field(schema: Any, path: str) -> Any:
    """The field of a path; those of structs are written a.b."""
    first, *others = path.split(".") if path not in schema.names else [path]
    field = schema.field(first)
    for name in others:
        field = field.type.field(name)
    return field
