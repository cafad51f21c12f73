"""Normal forms: Hive's values for the fields that a client omitted."""

from __future__ import annotations

import pytest

from metastored.errors import InvalidObjectException, InvalidOperationException, MetaException
from metastored.model import kinds, normal
from metastored.wire.generated.common import (
    FieldSchema,
    PrincipalType,
    SerDeInfo,
    SkewedInfo,
    StorageDescriptor,
    Table,
)
from metastored.wire.structs import replace

SD = StorageDescriptor(cols=(FieldSchema("Id", "bigint"),), serdeInfo=SerDeInfo("s", "lib"))
TABLE = Table(tableName=" T ", dbName="DB", sd=SD)


def test_a_storage_descriptor_has_lists_maps_and_numbers_for_all_omitted_fields() -> None:
    result = normal.storage(SD)
    assert result.cols == (FieldSchema("id", "bigint"),)
    assert result.serdeInfo == SerDeInfo("s", "lib", {})
    assert (result.bucketCols, result.sortCols, result.parameters, result.numBuckets) == ((), (), {}, 0)
    assert result.skewedInfo == SkewedInfo((), (), {})
    assert (result.compressed, result.storedAsSubDirectories) == (False, False)
    assert (result.location, result.inputFormat, result.outputFormat) == (None, None, None)


def test_storage_without_a_serde_is_refused() -> None:
    with pytest.raises(MetaException, match="Invalid SerDeInfo object"):
        normal.storage(StorageDescriptor())


def test_a_stored_table_has_names_in_lower_case_and_a_type() -> None:
    result = normal.stored(TABLE, True)
    assert (result.tableName, result.dbName, result.tableType) == ("t", "db", kinds.MANAGED)
    assert (result.createTime, result.retention, result.ownerType) == (0, 0, PrincipalType.USER)


@pytest.mark.parametrize(("in_any_case", "type"), [(True, kinds.EXTERNAL), (False, kinds.MANAGED)])
def test_external_in_small_letters_counts_since_hive_3(in_any_case: bool, type: str) -> None:
    assert normal.stored(replace(TABLE, parameters={"EXTERNAL": "true"}), in_any_case).tableType == type


@pytest.mark.parametrize(("name", "type", "text"), [(None, "int", "has no name"), ("a", None, "1, a, has no type")])
def test_a_column_needs_a_name_and_a_type(name: str | None, type: str | None, text: str) -> None:
    with pytest.raises(MetaException, match=text):
        normal.columns((FieldSchema(name, type),))


def test_columns_of_no_known_type_are_refused_by_the_callers_error() -> None:
    bad = replace(TABLE, sd=replace(SD, cols=(FieldSchema("a", "no type!"),)))
    with pytest.raises(InvalidObjectException, match="Invalid column type: no type!"):
        normal.check_columns(bad)
    with pytest.raises(InvalidOperationException, match="Invalid column type"):
        normal.check_columns(bad, InvalidOperationException)


def test_the_time_of_the_last_change_is_set_unless_the_client_set_it() -> None:
    assert normal.ddl_time(None, 7) == {normal.DDL_TIME: "7"}
    assert normal.ddl_time({normal.DDL_TIME: "0"}, 7) == {normal.DDL_TIME: "0"}
    assert normal.ddl_time_of_partition({normal.DDL_TIME: "0"}, 7) == {normal.DDL_TIME: "7"}
    assert normal.ddl_time_of_partition({normal.DDL_TIME: "3"}, 7) == {normal.DDL_TIME: "3"}
