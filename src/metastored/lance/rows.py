"""The operations on rows, by pylance: insert, merge-insert, update, delete, count and restore.

Each write is one commit. On an `impl` table it is decided by the metastore; pylance rebases and repeats it after a
conflict.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from lance_namespace import (
    CountTableRowsRequest,
    CountTableRowsResponse,
    DeleteFromTableRequest,
    DeleteFromTableResponse,
    InsertIntoTableRequest,
    InsertIntoTableResponse,
    InvalidInputError,
    MergeInsertIntoTableRequest,
    MergeInsertIntoTableResponse,
    RestoreTableRequest,
    RestoreTableResponse,
    UpdateTableRequest,
    UpdateTableResponse,
)

from metastored.lance.arrow import read_rows
from metastored.lance.datasets import Datasets
from metastored.lance.requests import mode_of, operation

if TYPE_CHECKING:
    import lance

INSERT: Final = ("append", "overwrite")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class RowOperations(Datasets):
    """Rows in, changed, out."""

    @operation(InsertIntoTableRequest)
    def insert_into_table(self, request: InsertIntoTableRequest, request_data: bytes) -> InsertIntoTableResponse:
        """Appends the rows of an Arrow IPC stream, or replaces all rows. A declared table gets its first version."""
        self.no_branches(request)
        mode = mode_of(request.mode, INSERT, "mode")
        name, table = self.table(request.id)
        rows = read_rows(request_data)
        dataset = self.written(self.levels.id_of(name), table, rows, mode)
        self.recorded(name, table, dataset)
        return InsertIntoTableResponse(num_inserted_rows=rows.num_rows, version=dataset.version)

    @operation(MergeInsertIntoTableRequest)
    def merge_insert_into_table(
        self, request: MergeInsertIntoTableRequest, request_data: bytes
    ) -> MergeInsertIntoTableResponse:
        """Updates the rows that have the same keys, inserts the others, and deletes those that are missing."""
        self.no_branches(request)
        if not request.on:
            raise InvalidInputError("merge insert needs the columns of its key: on")
        name, table = self.table(request.id)
        rows = read_rows(request_data)
        if self.is_declared(name, table) and request.when_not_matched_insert_all:
            dataset = self.written(self.levels.id_of(name), table, rows, "append")
            self.recorded(name, table, dataset)
            return _merged(dataset, {"num_inserted_rows": rows.num_rows})
        dataset = self.filled(name, table)
        self.columns_exist(dataset, request.on)
        builder = dataset.merge_insert(list(request.on))
        if request.when_matched_update_all:
            builder = builder.when_matched_update_all(request.when_matched_update_all_filt)
        if request.when_not_matched_insert_all:
            builder = builder.when_not_matched_insert_all()
        if request.when_not_matched_by_source_delete:
            builder = builder.when_not_matched_by_source_delete(request.when_not_matched_by_source_delete_filt)
        if request.timeout:
            builder = builder.retry_timeout(timedelta(seconds=_seconds(request.timeout)))
        if request.use_index is not None:
            builder = builder.use_index(request.use_index)
        counts = builder.execute(rows)
        self.recorded(name, table, dataset)
        return _merged(dataset, counts)

    @operation(UpdateTableRequest)
    def update_table(self, request: UpdateTableRequest) -> UpdateTableResponse:
        """Sets columns to SQL expressions in the rows for which a predicate holds."""
        self.no_branches(request)
        name, table = self.table(request.id)
        dataset = self.filled(name, table)
        changes = {update[0]: update[1] for update in request.updates}
        if not changes:
            raise InvalidInputError("an update needs at least one column with its expression")
        self.columns_exist(dataset, list(changes))
        counts = dataset.update(changes, request.predicate)
        self.recorded(name, table, dataset)
        return UpdateTableResponse(updated_rows=counts["num_rows_updated"], version=dataset.version)

    @operation(DeleteFromTableRequest)
    def delete_from_table(self, request: DeleteFromTableRequest) -> DeleteFromTableResponse:
        """Deletes the rows for which a predicate holds."""
        self.no_branches(request)
        name, table = self.table(request.id)
        dataset = self.filled(name, table)
        dataset.delete(request.predicate)
        self.recorded(name, table, dataset)
        return DeleteFromTableResponse(version=dataset.version)

    @operation(CountTableRowsRequest)
    def count_table_rows(self, request: CountTableRowsRequest) -> CountTableRowsResponse:
        """The number of rows, of those for which a predicate holds, in the newest or another version."""
        self.no_branches(request)
        name, table = self.table(request.id)
        dataset = self.dataset(self.levels.id_of(name), table, request.version)
        return CountTableRowsResponse(count=dataset.count_rows(request.predicate))

    @operation(RestoreTableRequest)
    def restore_table(self, request: RestoreTableRequest) -> RestoreTableResponse:
        """Makes an older version the newest one, as a new version."""
        self.no_branches(request)
        name, table = self.table(request.id)
        dataset = self.dataset(self.levels.id_of(name), table, request.version)
        dataset.restore()  # type: ignore[no-untyped-call]
        self.recorded(name, table, dataset)
        return RestoreTableResponse()


def _merged(dataset: lance.LanceDataset, counts: Any) -> MergeInsertIntoTableResponse:
    return MergeInsertIntoTableResponse(
        num_updated_rows=counts.get("num_updated_rows", 0),
        num_inserted_rows=counts.get("num_inserted_rows", 0),
        num_deleted_rows=counts.get("num_deleted_rows", 0),
        version=dataset.version,
    )


def _seconds(text: str) -> float:
    """A duration such as 30s, 500ms or 5m."""
    units: Sequence[str] = sorted(_UNITS, key=len, reverse=True)
    unit = next((each for each in units if text.endswith(each)), None)
    number = text.removesuffix(unit or "").strip()
    if unit is None or not number.replace(".", "", 1).isdigit():
        raise InvalidInputError(f"timeout is {text!r}: write 30s, 500ms, 5m or 1h")
    return float(number) * _UNITS[unit]
