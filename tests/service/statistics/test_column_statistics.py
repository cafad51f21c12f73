"""Column statistics through the metastore's calls, on SQLite and PostgreSQL."""

from __future__ import annotations

from dataclasses import replace as with_fields
from typing import Any

import pytest

from metastored.errors import (
    InvalidInputException,
    InvalidObjectException,
    MetaException,
    NoSuchObjectException,
)
from metastored.hive.generation import Generation
from metastored.hive.statistics.ndv import Estimation, HyperLogLog
from metastored.service.core.changes import unpack
from metastored.service.core.context import Context
from metastored.service.statistics.aggregate import get_aggr_stats_for
from metastored.service.statistics.delete import forget_changed_columns
from metastored.store.objects import events, tables
from metastored.wire.codec import binary
from metastored.wire.generated.common import (
    BooleanColumnStatsData,
    ColumnStatistics,
    ColumnStatisticsData,
    ColumnStatisticsObj,
    CompactionInfoStruct,
    CreationMetadata,
    Date,
    DateColumnStatsData,
    Decimal,
    DecimalColumnStatsData,
    DoubleColumnStatsData,
    LongColumnStatsData,
    SourceTable,
    Timestamp,
    TimestampColumnStatsData,
)
from metastored.wire.generated.statistics import (
    AggrStats,
    DeleteColumnStatisticsRequest,
    PartitionsStatsRequest,
    SetPartitionsStatsRequest,
    TableStatsRequest,
    UpdateTransactionalStatsRequest,
)
from metastored.wire.generated.tables import ClientCapabilities, ClientCapability, GetTableRequest
from metastored.wire.message import Session
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore
from tests.support.objects import DB, add_partitions, make_table, numbers, statistics, texts
from tests.support.objects import sales_table as table

ACCURATE = "COLUMN_STATS_ACCURATE"


def _of(metastore: Metastore, *columns: str, name: str = "t", **other: Any) -> dict[str, Any]:
    request = TableStatsRequest(dbName=DB, tblName=name, colNames=columns, **other)
    result = metastore.call("get_table_statistics_req", request).tableStats
    return {one.colName: next(data for data in one.statsData if data is not None) for one in result}


def _aggregated(metastore: Metastore, columns: tuple[str, ...], parts: tuple[str, ...], **other: Any) -> Any:
    request = PartitionsStatsRequest(dbName=DB, tblName="p", colNames=columns, partNames=parts, **other)
    return metastore.call("get_aggr_stats_for", request)


def _data(result: Any, column: str) -> Any:
    one = next(one for one in result.colStats if one.colName == column)
    return next(data for data in one.statsData if data is not None)


@pytest.fixture
def partitioned(metastore: Metastore) -> Metastore:
    """A metastore with an empty table `p` that has five partitions."""
    make_table(metastore, "p", keys=("ds",))
    add_partitions(metastore, "p", "0", "1", "2", "3", "4")
    return metastore


def _put(metastore: Metastore, part: str, *objects: ColumnStatisticsObj) -> None:
    assert metastore.call("update_partition_column_statistics", statistics(*objects, name="p", part=part))


# --- tables ---------------------------------------------------------------------------------------------------


def test_statistics_come_back_as_they_were_set(metastore: Metastore) -> None:
    make_table(metastore)
    assert metastore.call("update_table_column_statistics", statistics(numbers("C", 1, 9, 2, 3))) is True
    result = metastore.call("get_table_column_statistics", DB, "T", "c")
    assert result.statsDesc.lastAnalyzed == int(metastore.clock())
    assert (result.statsDesc.isTblLevel, result.statsDesc.dbName, result.statsDesc.tableName) == (True, DB, "t")
    assert result.statsObj == (numbers("c", 1, 9, 2, 3),)


def test_the_tables_parameters_list_accurate_statistics(metastore: Metastore) -> None:
    make_table(metastore)
    metastore.call("update_table_column_statistics", statistics(numbers("c", 1, 9), texts("b", 4, 2.5)))
    parameters = metastore.call("get_table", DB, "t").parameters
    assert parameters[ACCURATE] == '{"COLUMN_STATS":{"b":"true","c":"true"}}'


def test_an_update_keeps_the_fields_it_does_not_set(metastore: Metastore) -> None:
    make_table(metastore)
    metastore.call("update_table_column_statistics", statistics(numbers("c", 1, 9, 2, 3)))
    metastore.call("update_table_column_statistics", statistics(numbers("c", None, 20, 5, 7)))
    assert _of(metastore, "c") == {"c": LongColumnStatsData(1, 20, 5, 7)}


def test_no_statistics_are_an_empty_reply(metastore: Metastore) -> None:
    make_table(metastore)
    for column in ("c", "nope"):
        assert metastore.call("get_table_column_statistics", DB, "t", column) is None
    assert _of(metastore, "c", "nope") == {}


def test_a_missing_table_is_named_as_each_generation_does(start: Starter) -> None:
    for generation, text in (
        (Generation.HIVE_2_3, f"Specified database/table does not exist : {DB}.nope"),
        (Generation.HIVE_3_1, f"Specified catalog.database.table does not exist : hive.{DB}.nope"),
    ):
        metastore = start(generation)
        for method, args in (
            ("get_table_column_statistics", (DB, "nope", "c")),
            ("get_partition_column_statistics", (DB, "nope", "ds=1", "c")),
            ("update_table_column_statistics", (statistics(numbers("c", 1, 9), name="nope"),)),
        ):
            with pytest.raises(NoSuchObjectException) as caught:
                metastore.call(method, *args)
            assert caught.value.message == text


def test_statistics_of_a_missing_column_change_nothing(metastore: Metastore) -> None:
    make_table(metastore)
    with pytest.raises(MetaException) as caught:
        metastore.call("update_table_column_statistics", statistics(numbers("c", 1, 9), numbers("nope", 1, 9)))
    assert caught.value.message == f"Column nope doesn't exist in table t in database {DB}"
    assert _of(metastore, "c") == {}
    assert ACCURATE not in metastore.call("get_table", DB, "t").parameters


def test_statistics_without_data_are_refused(metastore: Metastore) -> None:
    make_table(metastore)
    nothing = ColumnStatisticsObj("c", "bigint", ColumnStatisticsData())
    with pytest.raises(InvalidObjectException, match="column c have no data"):
        metastore.call("update_table_column_statistics", statistics(nothing))


def test_every_kind_of_statistics_is_stored(metastore: Metastore) -> None:
    kinds: dict[str, tuple[str, str, Any]] = {
        "flag": ("boolean", "booleanStats", BooleanColumnStatsData(3, 4, 5)),
        "price": ("decimal(10,2)", "decimalStats", DecimalColumnStatsData(Decimal(b"\x01", 2), None, 1, 2)),
        "day": ("date", "dateStats", DateColumnStatsData(Date(1), Date(9), 0, 4)),
        "ratio": ("double", "doubleStats", DoubleColumnStatsData(0.5, 1.5, 0, 2)),
    }
    make_table(metastore, columns=tuple((name, type_) for name, (type_, _, _) in kinds.items()))
    given = [
        ColumnStatisticsObj(name, type_, ColumnStatisticsData(**{field: data}))
        for name, (type_, field, data) in kinds.items()
    ]
    metastore.call("update_table_column_statistics", statistics(*given))
    assert _of(metastore, *kinds) == {name: data for name, (_, _, data) in kinds.items()}


def test_timestamps_are_numbers_for_old_clients_and_their_own_kind_for_new_clients(start: Starter) -> None:
    old, new = start(Generation.HIVE_3_1), start(Generation.HIVE_4_0)
    make_table(old, columns=(("at", "timestamp"),), keys=("ds",), name="p")
    add_partitions(old, "p", "0")
    number, stamp = LongColumnStatsData(5, 9, 0, 3), TimestampColumnStatsData(Timestamp(5), Timestamp(9), 0, 3)
    given = ColumnStatisticsObj("at", "timestamp", ColumnStatisticsData(longStats=number))
    old.call("update_partition_column_statistics", statistics(given, name="p", part="ds=0"))
    for metastore, expected in ((old, number), (new, stamp)):
        assert _data(_aggregated(metastore, ("at",), ("ds=0",)), "at") == expected
        request = PartitionsStatsRequest(dbName=DB, tblName="p", colNames=("at",), partNames=("ds=0",))
        (result,) = metastore.call("get_partitions_statistics_req", request).partStats["ds=0"]
        assert expected in result.statsData


def test_engines_keep_their_statistics_apart(hive_4: Metastore) -> None:
    make_table(hive_4)
    for engine, high in (("hive", 9), ("impala", 90)):
        request = SetPartitionsStatsRequest(colStats=(statistics(numbers("c", 1, high)),), engine=engine)
        assert hive_4.call("update_table_column_statistics_req", request).result
    assert _of(hive_4, "c")["c"].highValue == 9
    assert _of(hive_4, "c", engine="impala")["c"].highValue == 90
    hive_4.call("delete_table_column_statistics", DB, "t", "c", "impala")
    assert (_of(hive_4, "c", engine="impala"), _of(hive_4, "c") != {}) == ({}, True)


@pytest.mark.parametrize(("generation", "engine"), [(Generation.HIVE_3_1, None), (Generation.HIVE_4_0, "hive")])
def test_replies_name_the_engine_since_hive_4(start: Starter, generation: Generation, engine: str | None) -> None:
    metastore = start(generation)
    make_table(metastore, "p", keys=("ds",))
    add_partitions(metastore, "p", "0")
    metastore.call("update_table_column_statistics", statistics(numbers("c", 1, 9), name="p"))
    _put(metastore, "ds=0", numbers("c", 1, 9))
    assert metastore.call("get_table_column_statistics", DB, "p", "c").engine == engine
    assert metastore.call("get_partition_column_statistics", DB, "p", "ds=0", "c").engine == engine


def test_a_request_for_plain_statistics_takes_one_and_does_not_merge(hive_4: Metastore) -> None:
    make_table(hive_4)
    one = statistics(numbers("c", 1, 9))
    for request in (
        SetPartitionsStatsRequest(colStats=(one, one)),
        SetPartitionsStatsRequest(colStats=(one,), needMerge=True),
    ):
        with pytest.raises(InvalidInputException):
            hive_4.call("update_table_column_statistics_req", request)


def test_a_rename_and_a_drop_carry_statistics_along(metastore: Metastore) -> None:
    make_table(metastore)
    metastore.call("update_table_column_statistics", statistics(numbers("c", 1, 9)))
    result = metastore.call("get_table", DB, "t")
    metastore.call("alter_table", DB, "t", replace(result, tableName="u"))
    assert _of(metastore, "c", name="u")["c"].highValue == 9
    metastore.call("drop_table", DB, "u", False)
    make_table(metastore, "u")
    assert _of(metastore, "c", name="u") == {}


def test_columns_that_are_gone_or_of_another_type_lose_their_statistics(partitioned: Metastore) -> None:
    _put(partitioned, "ds=0", numbers("a", 1, 2), texts("b", 3, 1.0), numbers("c", 1, 9))
    given = statistics(numbers("a", 1, 2), texts("b", 3, 1.0), numbers("c", 1, 9), name="p")
    partitioned.call("update_table_column_statistics", given)
    row = tables.find(partitioned.database.reader(), "hive", DB, "p")
    assert row is not None
    before, after = table("p"), table("p", columns=(("a", "int"), ("c", "string")))
    for cascade, left in ((False, {"a", "b", "c"}), (True, {"a"})):
        with partitioned.database.write() as tx:
            forget_changed_columns(tx, row.id, before, after, cascade=cascade)
        assert set(_of(partitioned, "a", "b", "c", name="p")) == {"a"}
        result = _aggregated(partitioned, ("a", "b", "c"), ("ds=0",))
        assert {one.colName for one in result.colStats} == left


def test_a_partition_whose_columns_change_loses_their_statistics(partitioned: Metastore) -> None:
    for part in ("ds=0", "ds=1"):
        _put(partitioned, part, numbers("a", 1, 2), numbers("c", 1, 9))
    result = partitioned.call("get_partition", DB, "p", ("0",))
    partitioned.call("alter_partition", DB, "p", replace(result, sd=replace(result.sd, cols=result.sd.cols[:2])))
    assert _aggregated(partitioned, ("a",), ("ds=0", "ds=1")).partsFound == 2
    assert _aggregated(partitioned, ("c",), ("ds=0", "ds=1")).partsFound == 1


def test_an_altered_table_loses_the_statistics_of_removed_columns(metastore: Metastore) -> None:
    make_table(metastore)
    metastore.call("update_table_column_statistics", statistics(numbers("a", 1, 2), numbers("c", 1, 9)))
    result = metastore.call("get_table", DB, "t")
    metastore.call("alter_table", DB, "t", replace(result, sd=replace(result.sd, cols=result.sd.cols[:2])))
    assert set(_of(metastore, "a", "c")) == {"a"}


# --- deleting -------------------------------------------------------------------------------------------------


def test_deleted_statistics_are_gone_and_a_second_time_missed(metastore: Metastore) -> None:
    make_table(metastore)
    metastore.call("update_table_column_statistics", statistics(numbers("c", 1, 9), texts("b", 1, 1.0)))
    assert metastore.call("delete_table_column_statistics", DB, "t", "C") is True
    assert set(_of(metastore, "b", "c")) == {"b"}
    with pytest.raises(NoSuchObjectException) as caught:
        metastore.call("delete_table_column_statistics", DB, "t", "c")
    assert caught.value.message == f"Column stats doesn't exist for db={DB} table=t col=c"
    assert metastore.call("delete_table_column_statistics", DB, "t", None) is True
    assert _of(metastore, "b", "c") == {}


def test_a_partitions_statistics_are_deleted_alone(partitioned: Metastore) -> None:
    for part in ("ds=0", "ds=1"):
        _put(partitioned, part, numbers("c", 1, 9))
    assert partitioned.call("delete_partition_column_statistics", DB, "p", "DS=0", "c")
    assert _aggregated(partitioned, ("c",), ("ds=0", "ds=1")).partsFound == 1
    with pytest.raises(NoSuchObjectException, match="partition=ds=0 col=c"):
        partitioned.call("delete_partition_column_statistics", DB, "p", "ds=0", "c")
    with pytest.raises(NoSuchObjectException, match="Partition ds=9 for which stats deletion is requested"):
        partitioned.call("delete_partition_column_statistics", DB, "p", "ds=9", "c")
    with pytest.raises(InvalidObjectException, match="incomplete partition name - missing ds"):
        partitioned.call("delete_partition_column_statistics", DB, "p", "x=9", "c")
    with pytest.raises(NoSuchObjectException, match=f"Table hive.{DB}.nope  for which stats deletion"):
        partitioned.call("delete_table_column_statistics", DB, "nope", "c")


def test_statistics_that_are_not_there_are_not_missed_in_hive_4_2(start: Starter) -> None:
    metastore = start(Generation.HIVE_4_2)
    make_table(metastore, "p", keys=("ds",))
    add_partitions(metastore, "p", "0")
    assert metastore.call("delete_table_column_statistics", DB, "p", "c") is True
    for part in ("ds=0", "ds=9"):
        assert metastore.call("delete_partition_column_statistics", DB, "p", part, "c") is True


def test_a_table_and_a_partition_key_that_are_not_there_are_still_missed_in_hive_4_2(start: Starter) -> None:
    metastore = start(Generation.HIVE_4_2)
    make_table(metastore, "p", keys=("ds",))
    with pytest.raises(NoSuchObjectException, match=f"Table hive.{DB}.nope  for which stats deletion"):
        metastore.call("delete_table_column_statistics", DB, "nope", "c")
    with pytest.raises(InvalidObjectException, match="incomplete partition name - missing ds"):
        metastore.call("delete_partition_column_statistics", DB, "p", "x=9", "c")


def test_one_request_deletes_the_statistics_of_many_partitions(start: Starter) -> None:
    metastore = start(Generation.HIVE_4_0)
    make_table(metastore, "p", keys=("ds",))
    add_partitions(metastore, "p", "0", "1", "2")
    for part in ("ds=0", "ds=1", "ds=2"):
        _put(metastore, part, numbers("c", 1, 9), texts("b", 1, 1.0))
    some = DeleteColumnStatisticsRequest(db_name=DB, tbl_name="p", part_names=("ds=0",), col_names=("c",))
    assert metastore.call("delete_column_statistics_req", some)
    assert _aggregated(metastore, ("c",), ("ds=0", "ds=1", "ds=2")).partsFound == 2
    assert metastore.call("delete_column_statistics_req", DeleteColumnStatisticsRequest(db_name=DB, tbl_name="p"))
    assert _aggregated(metastore, ("b", "c"), ("ds=0", "ds=1", "ds=2")) == AggrStats((), 0)


# --- partitions -----------------------------------------------------------------------------------------------


def test_partition_statistics_are_returned_by_partition(partitioned: Metastore) -> None:
    _put(partitioned, "DS=0", numbers("c", 1, 9), texts("b", 3, 1.5))
    _put(partitioned, "ds=1", numbers("c", 2, 8))
    result = partitioned.call("get_partition_column_statistics", DB, "p", "ds=0", "c")
    assert (result.statsDesc.isTblLevel, result.statsDesc.partName) == (False, "ds=0")
    request = PartitionsStatsRequest(
        dbName=DB, tblName="p", colNames=("C", "b"), partNames=("ds=0", "ds=1", "ds=2", "ds=9")
    )
    assert partitioned.call("get_partitions_statistics_req", request).partStats == {
        "ds=0": (texts("b", 3, 1.5), numbers("c", 1, 9)),
        "ds=1": (numbers("c", 2, 8),),
    }
    assert partitioned.call("get_partition_column_statistics", DB, "p", "ds=2", "c") is None
    assert '"c":"true"' in partitioned.call("get_partition", DB, "p", ("1",)).parameters[ACCURATE]


def test_statistics_of_a_missing_partition_change_nothing(partitioned: Metastore) -> None:
    given = tuple(statistics(numbers("c", 1, 9), name="p", part=part) for part in ("ds=0", "ds=9"))
    with pytest.raises(NoSuchObjectException, match="Partition for which stats is gathered doesn't exist"):
        partitioned.call("set_aggr_stats_for", SetPartitionsStatsRequest(colStats=given))
    assert _aggregated(partitioned, ("c",), ("ds=0",)).partsFound == 0
    with pytest.raises(InvalidObjectException, match="missing ds"):
        _put(partitioned, "x=1", numbers("c", 1, 9))
    with pytest.raises(InvalidObjectException, match=f"hive.{DB}.nope table not found"):
        partitioned.call("update_partition_column_statistics", statistics(numbers("c", 1, 9), name="nope", part="ds=0"))


def test_dropping_a_partition_drops_its_statistics(partitioned: Metastore) -> None:
    _put(partitioned, "ds=0", numbers("c", 1, 9))
    partitioned.call("drop_partition", DB, "p", ("0",), False)
    add_partitions(partitioned, "p", "0")
    assert _aggregated(partitioned, ("c",), ("ds=0",)).partsFound == 0


def test_a_compactor_learns_which_columns_have_statistics(hive_4: Metastore) -> None:
    make_table(hive_4, "p", keys=("ds",))
    add_partitions(hive_4, "p", "0")
    hive_4.call("update_table_column_statistics", statistics(texts("b", 1, 1.0), numbers("a", 1, 2), name="p"))
    _put(hive_4, "ds=0", numbers("c", 1, 9))
    of_table = CompactionInfoStruct(id=1, dbname=DB, tablename="p", type=1)
    of_part = CompactionInfoStruct(id=1, dbname=DB, tablename="p", type=1, partitionname="ds=0")
    assert hive_4.call("find_columns_with_stats", of_table) == ("a", "b")
    assert hive_4.call("find_columns_with_stats", of_part) == ("c",)


# --- aggregation ----------------------------------------------------------------------------------------------


def test_partitions_with_statistics_are_aggregated_exactly(partitioned: Metastore) -> None:
    for at, (low, high) in enumerate([(5, 50), (1, 9), (7, 80)]):
        _put(partitioned, f"ds={at}", numbers("c", low, high, at, 10 + at), texts("b", at, at / 2, 1, at + 1))
    result = _aggregated(partitioned, ("b", "c"), ("ds=0", "ds=1", "ds=2"))
    assert result.partsFound == 3
    assert [one.colName for one in result.colStats] == ["b", "c"]
    assert _data(result, "c") == LongColumnStatsData(1, 80, 3, 12)
    assert _data(result, "b")[:4] == (2, 1.0, 3, 3)


def test_distinct_numbers_are_at_most_as_many_as_between_lowest_and_highest(partitioned: Metastore) -> None:
    _put(partitioned, "ds=0", numbers("c", 1, 3, 0, 100))
    assert _data(_aggregated(partitioned, ("c",), ("ds=0",)), "c").numDVs == 3


def test_missing_partitions_are_extrapolated_along_their_order(partitioned: Metastore) -> None:
    for at in (1, 3):
        _put(partitioned, f"ds={at}", numbers("c", 10 * at, 10 * at + 5, 3, 4 + at))
    result = _aggregated(partitioned, ("c",), tuple(f"ds={at}" for at in range(5)))
    assert result.partsFound == 2
    # low falls to 30 - 20*3/2 = 0 at the left end, high rises to 15 + 20*3/2 = 45 at the right one.
    assert _data(result, "c") == LongColumnStatsData(0, 45, 15, 8)


def test_one_partition_alone_is_not_extrapolated(partitioned: Metastore) -> None:
    _put(partitioned, "ds=3", numbers("c", 30, 35, 3, 4))
    result = _aggregated(partitioned, ("c", "b"), ("ds=2", "ds=3"))
    assert (result.partsFound, len(result.colStats)) == (0, 1)
    assert _data(result, "c") == LongColumnStatsData(30, 35, 3, 4)


def test_decimals_are_compared_as_numbers(partitioned: Metastore) -> None:
    for part, low, high in (("ds=0", (150, 2), (2, 0)), ("ds=1", (14, 1), (1999, 3))):
        least, most = (Decimal(value.to_bytes(2), scale) for value, scale in (low, high))
        data = ColumnStatisticsData(decimalStats=DecimalColumnStatsData(least, most, 1, 5))
        _put(partitioned, part, ColumnStatisticsObj("c", "decimal(10,3)", data))
    result = _data(_aggregated(partitioned, ("c",), ("ds=0", "ds=1")), "c")
    assert result == DecimalColumnStatsData(Decimal(b"\x0e", 1), Decimal(b"\x02", 0), 2, 5)


def test_an_empty_request_returns_nothing(partitioned: Metastore) -> None:
    for columns, parts in (((), ("ds=0",)), (("c",), ())):
        assert _aggregated(partitioned, columns, parts) == AggrStats((), 0)
    with pytest.raises(NoSuchObjectException, match="does not exist"):
        request = PartitionsStatsRequest(dbName=DB, tblName="nope", colNames=("c",), partNames=("ds=0",))
        partitioned.call("get_aggr_stats_for", request)


def test_a_cached_reply_is_invalidated_by_any_change(start: Starter) -> None:
    one, other = start(), start()
    make_table(one, "p", keys=("ds",))
    add_partitions(one, "p", "0", "1")
    _put(one, "ds=0", numbers("c", 1, 9))
    for expected in (1, 2):
        for metastore in (one, other, one, other):
            assert _aggregated(metastore, ("c",), ("ds=0", "ds=1")).partsFound == expected
        _put(other, "ds=1", numbers("c", 2, 20))
    assert _data(_aggregated(one, ("c",), ("ds=0", "ds=1")), "c").highValue == 20


def _sketch(first: int) -> bytes:
    """Sixty values, of which neighbours by thirty share half."""
    return HyperLogLog(sparse=dict.fromkeys(range(first, first + 60), 1)).serialize()


def test_bit_vectors_give_the_distinct_values_when_the_server_is_configured_for_it(partitioned: Metastore) -> None:
    for at in range(3):
        _put(partitioned, f"ds={at}", numbers("c", 0, 10**6, 0, 60, bitVectors=_sketch(at * 30)))
    names = ("ds=0", "ds=1", "ds=2")
    assert _data(_aggregated(partitioned, ("c",), names), "c") == LongColumnStatsData(0, 10**6, 0, 60)
    service = with_fields(partitioned.service, estimation=Estimation(bit_vectors=True))
    context = Context(service, Session("test", Generation.HIVE_3_1))
    request = PartitionsStatsRequest(dbName=DB, tblName="p", colNames=("c",), partNames=names)
    result = _data(get_aggr_stats_for(context, request), "c")
    assert result.numDVs == 120
    assert HyperLogLog.parse(result.bitVectors).sparse.keys() == set(range(120))


# --- merging --------------------------------------------------------------------------------------------------


def _merge(metastore: Metastore, *given: ColumnStatistics) -> bool:
    merged: bool = metastore.call("set_aggr_stats_for", SetPartitionsStatsRequest(colStats=given, needMerge=True))
    return merged


def test_merged_statistics_are_those_of_both(metastore: Metastore) -> None:
    make_table(metastore)
    first = (numbers("c", 5, 9, 1, 60, bitVectors=_sketch(0)), texts("b", 3, 2.0, 1, 4))
    second = (numbers("c", 1, 7, 2, 60, bitVectors=_sketch(30)), texts("b", 5, 1.0, 2, 3))
    metastore.call("update_table_column_statistics", statistics(*first))
    assert _merge(metastore, statistics(*second))
    result = _of(metastore, "b", "c")
    assert result["c"] == LongColumnStatsData(1, 9, 3, 90)
    assert result["b"][:4] == (5, 2.0, 3, 4)


def test_a_column_whose_statistics_do_not_hold_is_not_merged_since_hive_3(start: Starter) -> None:
    for generation, expected in ((Generation.HIVE_3_1, {}), (Generation.HIVE_2_3, {"c": 9})):
        metastore = start(generation)
        make_table(metastore, f"t{generation.value}")
        assert _merge(metastore, statistics(numbers("c", 1, 9), name=f"t{generation.value}"))
        result = _of(metastore, "c", name=f"t{generation.value}")
        assert {name: data.highValue for name, data in result.items()} == expected


def test_partitions_are_merged_in_one_request(partitioned: Metastore) -> None:
    for part in ("ds=0", "ds=1"):
        _put(partitioned, part, numbers("c", 1, 9, 1, 3))
    given = [statistics(numbers("c", 0, high, 1, 4), name="p", part=f"ds={at}") for at, high in ((0, 20), (1, 5))]
    assert _merge(partitioned, *given)
    request = PartitionsStatsRequest(dbName=DB, tblName="p", colNames=("c",), partNames=("ds=0", "ds=1"))
    assert partitioned.call("get_partitions_statistics_req", request).partStats == {
        "ds=0": (numbers("c", 0, 20, 2, 4),),
        "ds=1": (numbers("c", 0, 9, 2, 4),),
    }


def test_a_table_has_one_set_of_statistics(metastore: Metastore) -> None:
    make_table(metastore)
    one = statistics(numbers("c", 1, 9))
    with pytest.raises(MetaException, match="Expecting only 1 ColumnStatistics for table's column stats, but find 2"):
        metastore.call("set_aggr_stats_for", SetPartitionsStatsRequest(colStats=(one, one)))
    assert metastore.call("set_aggr_stats_for", SetPartitionsStatsRequest(colStats=())) is True


# --- transactional tables -------------------------------------------------------------------------------------

ACID = {"transactional": "true", "transactional_properties": "insert_only"}


def _write(metastore: Metastore, write_id: int | None, snapshot: str | None) -> None:
    given = statistics(numbers("c", 1, 9))
    request = SetPartitionsStatsRequest(colStats=(given,), writeId=write_id, validWriteIdList=snapshot, engine="hive")
    metastore.call("update_table_column_statistics_req", request)


def test_a_reader_learns_whether_its_snapshot_covers_the_statistics(metastore: Metastore) -> None:
    make_table(metastore, parameters={**ACID, ACCURATE: '{"BASIC_STATS":"true"}', "DO_NOT_UPDATE_STATS": "true"})
    _write(metastore, 3, f"{DB}.t:3:{2**63 - 1}::")

    def compliant(snapshot: str | None) -> bool | None:
        request = TableStatsRequest(dbName=DB, tblName="t", colNames=("c",), validWriteIdList=snapshot, engine="hive")
        result: bool | None = metastore.call("get_table_statistics_req", request).isStatsCompliant
        return result

    assert compliant(f"{DB}.t:3:{2**63 - 1}::") is True
    assert compliant(f"{DB}.t:2:{2**63 - 1}::") is False
    assert compliant(None) is None


def test_a_change_of_statistics_of_a_transactional_table_needs_a_snapshot(start: Starter) -> None:
    metastore, newer = start(), start(Generation.HIVE_4_0)
    make_table(metastore, parameters={**ACID, ACCURATE: '{"BASIC_STATS":"true"}', "DO_NOT_UPDATE_STATS": "true"})
    with pytest.raises(MetaException, match="without providing the transactional write state for verification"):
        _write(newer, None, None)
    _write(metastore, 3, f"{DB}.t:3:{2**63 - 1}::")
    # A writer whose snapshot does not contain that write leaves statistics that are not accurate.
    _write(metastore, 2, f"{DB}.t:2:{2**63 - 1}::")
    known = ClientCapabilities(values=(ClientCapability.INSERT_ONLY_TABLES,))
    result = metastore.call("get_table_req", GetTableRequest(dbName=DB, tblName="t", capabilities=known))
    assert ACCURATE not in result.table.parameters


def test_rows_that_transactions_change_are_counted_for_materialized_views(metastore: Metastore) -> None:
    make_table(metastore)
    source = SourceTable(table=table("t", catName="hive"), insertedCount=1, updatedCount=0, deletedCount=0)
    metadata = CreationMetadata("hive", DB, "v", frozenset({f"{DB}.t"}), sourceTables=(source,))
    make_table(metastore, "v", creationMetadata=metadata, viewOriginalText="x", viewExpandedText="x")
    row = tables.find(metastore.database.reader(), "hive", DB, "t")
    assert row is not None
    request = UpdateTransactionalStatsRequest(tableId=row.id, insertCount=5, updatedCount=2, deletedCount=3)
    metastore.call("update_transaction_statistics", request)
    metastore.call("update_transaction_statistics", UpdateTransactionalStatsRequest(999, 1, 1, 1))
    (result,) = metastore.call("get_table", DB, "v").creationMetadata.sourceTables
    assert (result.insertedCount, result.updatedCount, result.deletedCount) == (6, 2, 3)


# --- events ---------------------------------------------------------------------------------------------------


def test_every_change_is_an_event(partitioned: Metastore) -> None:
    last = events.current(partitioned.database.reader())
    partitioned.call("update_table_column_statistics", statistics(numbers("c", 1, 9), name="p"))
    _put(partitioned, "ds=0", numbers("c", 1, 9))
    partitioned.call("delete_partition_column_statistics", DB, "p", "ds=0", "c")
    partitioned.call("delete_table_column_statistics", DB, "p", "c")
    result = events.since(partitioned.database.reader(), last)
    assert [(event.type, event.db, event.tbl) for event in result] == [
        ("UPDATE_TBL_COL_STAT_EVENT", DB, "p"),
        ("UPDATE_PART_COL_STAT_EVENT", DB, "p"),
        ("DELETE_PART_COL_STAT_EVENT", DB, "p"),
        ("DELETE_TBL_COL_STAT_EVENT", DB, "p"),
    ]
    objects = dict(unpack(result[1].body))
    assert set(objects) >= {"table", "values", "statistics"}
    assert binary.decode(ColumnStatistics, objects["statistics"]).statsObj == (numbers("c", 1, 9),)
    assert dict(unpack(result[2].body))["partition"] == b"ds=0"
