"""Parameters of tables and databases edited in the bytes of a result."""

from __future__ import annotations

import pytest

from metastored.errors import RemoteProtocolError
from metastored.wire.edit.parameters import Entries, edit_parameters
from metastored.wire.generated.common import CreationMetadata, FieldSchema, SourceTable, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.tables import GetTableResult, GetTablesResult
from metastored.wire.message import Reply
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace

TABLE = Table(
    tableName="t",
    dbName="d",
    sd=StorageDescriptor(cols=(FieldSchema("c", "string", None),), parameters={"x": "y"}),
    parameters={"a": "1", "b": "2"},
    viewOriginalText="select 1",
    tableType="VIRTUAL_VIEW",
)


def edit(name: bytes, type: bytes, entries: Entries) -> Entries:
    """Drops `a`, keeps the rest, adds the object's name and type."""
    kept = [(key, value) for key, value in entries if key != b"a"]
    return [*kept, (b"name", name), *([(b"type", type)] if type else [])]


def edited(method: str, value: object) -> object:
    found = METHODS[method]
    body = Reply.of(found, value).body
    assert isinstance(body, bytes)
    return Reply(edit_parameters(found, body, edit)).value(found)


EXPECTED = replace(TABLE, parameters={"b": "2", "name": "t", "type": "VIRTUAL_VIEW"})


def test_the_parameters_of_a_table_are_edited_and_nothing_else() -> None:
    assert edited("get_table", TABLE) == EXPECTED


def test_tables_inside_of_lists_and_results_are_edited() -> None:
    assert edited("get_table_req", GetTableResult(table=TABLE)) == GetTableResult(table=EXPECTED)
    assert edited("get_table_objects_by_name", (TABLE, TABLE)) == (EXPECTED, EXPECTED)
    assert edited("get_table_objects_by_name_req", GetTablesResult(tables=(TABLE,))) == GetTablesResult((EXPECTED,))


def test_an_object_without_parameters_gets_some() -> None:
    assert edited("get_table", replace(TABLE, parameters=None)) == replace(
        TABLE, parameters={"name": "t", "type": "VIRTUAL_VIEW"}
    )
    assert edited("get_database", Database(name="d")) == Database(name="d", parameters={"name": "d"})


def test_a_table_inside_of_another_ones_definition_stays() -> None:
    inner = SourceTable(table=TABLE, insertedCount=0, updatedCount=0, deletedCount=0)
    view = replace(TABLE, creationMetadata=CreationMetadata(sourceTables=(inner,)))
    found = edited("get_table", view)
    assert found == replace(view, parameters={"b": "2", "name": "t", "type": "VIRTUAL_VIEW"})


def test_a_result_without_tables_is_returned_as_it_is() -> None:
    method = METHODS["get_partition_names"]
    body = Reply.of(method, ("ds=1",)).body
    assert isinstance(body, bytes)
    assert edit_parameters(method, body, edit) is body


@pytest.mark.parametrize("cut", [5, 40, 80])
def test_a_result_that_ends_too_early_is_an_error(cut: int) -> None:
    method = METHODS["get_table"]
    body = Reply.of(method, TABLE).body
    assert isinstance(body, bytes)
    with pytest.raises(RemoteProtocolError, match="ends too early"):
        edit_parameters(method, body[:cut], edit)
