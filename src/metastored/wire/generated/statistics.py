"""The metastore API, statistics. Made by tools/generate.py from api/statistics.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['AggrStats', 'DeleteColumnStatisticsRequest', 'PartitionsStatsRequest', 'PartitionsStatsResult', 'SetPartitionsStatsRequest', 'SetPartitionsStatsResponse', 'TableStatsRequest', 'TableStatsResult', 'UpdateTransactionalStatsRequest']


if TYPE_CHECKING:
    from metastored.wire.generated.common import ColumnStatistics, ColumnStatisticsObj

    class AggrStats(NamedTuple):
        colStats: tuple[ColumnStatisticsObj, ...] | None = None
        partsFound: int | None = None
        isStatsCompliant: bool | None = None

    class DeleteColumnStatisticsRequest(NamedTuple):
        cat_name: str | None = None
        db_name: str | None = None
        tbl_name: str | None = None
        part_names: tuple[str, ...] | None = None
        col_names: tuple[str, ...] | None = None
        engine: str | None = None
        tableLevel: bool | None = None

    class PartitionsStatsRequest(NamedTuple):
        dbName: str | None = None
        tblName: str | None = None
        colNames: tuple[str, ...] | None = None
        partNames: tuple[str, ...] | None = None
        catName: str | None = None
        validWriteIdList: str | None = None
        engine: str | None = None

    class PartitionsStatsResult(NamedTuple):
        partStats: dict[str, tuple[ColumnStatisticsObj, ...]] | None = None
        isStatsCompliant: bool | None = None

    class SetPartitionsStatsRequest(NamedTuple):
        colStats: tuple[ColumnStatistics, ...] | None = None
        needMerge: bool | None = None
        writeId: int | None = None
        validWriteIdList: str | None = None
        engine: str | None = None

    class SetPartitionsStatsResponse(NamedTuple):
        result: bool | None = None

    class TableStatsRequest(NamedTuple):
        dbName: str | None = None
        tblName: str | None = None
        colNames: tuple[str, ...] | None = None
        catName: str | None = None
        validWriteIdList: str | None = None
        engine: str | None = None
        id: int | None = None

    class TableStatsResult(NamedTuple):
        tableStats: tuple[ColumnStatisticsObj, ...] | None = None
        isStatsCompliant: bool | None = None

    class UpdateTransactionalStatsRequest(NamedTuple):
        tableId: int | None = None
        insertCount: int | None = None
        updatedCount: int | None = None
        deletedCount: int | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class AggrStats(Struct):
        __slots__ = ()
        SPEC = ('1 list<ColumnStatisticsObj> colStats required', '2 i64 partsFound required', '3 bool isStatsCompliant in=4.0.0+',)

        def __new__(cls, colStats=None, partsFound=None, isStatsCompliant=None):
            return new(cls, (colStats, partsFound, isStatsCompliant,))

        colStats = at[0]
        partsFound = at[1]
        isStatsCompliant = at[2]

    class DeleteColumnStatisticsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string cat_name @cat in=4.1+', '2 string db_name required @db in=4.1+', '3 string tbl_name required @table in=4.1+', '4 list<string> part_names @part_name in=4.1+', '5 list<string> col_names in=4.1+', '6 string engine default=hive in=4.1+', '7 bool tableLevel default=false in=4.1+',)

        def __new__(cls, cat_name=None, db_name=None, tbl_name=None, part_names=None, col_names=None, engine=None, tableLevel=None):
            return new(cls, (cat_name, db_name, tbl_name, part_names, col_names, engine, tableLevel,))

        cat_name = at[0]
        db_name = at[1]
        tbl_name = at[2]
        part_names = at[3]
        col_names = at[4]
        engine = at[5]
        tableLevel = at[6]

    class PartitionsStatsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db', '2 string tblName required @table', '3 list<string> colNames required', '4 list<string> partNames required @part_name', '5 string catName @cat', '6 string validWriteIdList in=4.0.0+', '7 string engine default=hive in=4.0.0+',)

        def __new__(cls, dbName=None, tblName=None, colNames=None, partNames=None, catName=None, validWriteIdList=None, engine=None):
            return new(cls, (dbName, tblName, colNames, partNames, catName, validWriteIdList, engine,))

        dbName = at[0]
        tblName = at[1]
        colNames = at[2]
        partNames = at[3]
        catName = at[4]
        validWriteIdList = at[5]
        engine = at[6]

    class PartitionsStatsResult(Struct):
        __slots__ = ()
        SPEC = ('1 map<string,list<ColumnStatisticsObj>> partStats required @part_name', '2 bool isStatsCompliant in=4.0.0+',)

        def __new__(cls, partStats=None, isStatsCompliant=None):
            return new(cls, (partStats, isStatsCompliant,))

        partStats = at[0]
        isStatsCompliant = at[1]

    class SetPartitionsStatsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<ColumnStatistics> colStats required', '2 bool needMerge', '3 i64 writeId default=-1 in=4.0.0+', '4 string validWriteIdList in=4.0.0+', '5 string engine default=hive in=4.0.0+',)

        def __new__(cls, colStats=None, needMerge=None, writeId=None, validWriteIdList=None, engine=None):
            return new(cls, (colStats, needMerge, writeId, validWriteIdList, engine,))

        colStats = at[0]
        needMerge = at[1]
        writeId = at[2]
        validWriteIdList = at[3]
        engine = at[4]

    class SetPartitionsStatsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 bool result required in=4.0.0+',)

        def __new__(cls, result=None):
            return new(cls, (result,))

        result = at[0]

    class TableStatsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db', '2 string tblName required @table', '3 list<string> colNames required', '4 string catName @cat in=3.1+', '5 string validWriteIdList in=4.0.0+', '6 string engine default=hive in=4.0.0+', '7 i64 id default=-1 in=4.0.0+',)

        def __new__(cls, dbName=None, tblName=None, colNames=None, catName=None, validWriteIdList=None, engine=None, id=None):
            return new(cls, (dbName, tblName, colNames, catName, validWriteIdList, engine, id,))

        dbName = at[0]
        tblName = at[1]
        colNames = at[2]
        catName = at[3]
        validWriteIdList = at[4]
        engine = at[5]
        id = at[6]

    class TableStatsResult(Struct):
        __slots__ = ()
        SPEC = ('1 list<ColumnStatisticsObj> tableStats required', '2 bool isStatsCompliant in=4.0.0+',)

        def __new__(cls, tableStats=None, isStatsCompliant=None):
            return new(cls, (tableStats, isStatsCompliant,))

        tableStats = at[0]
        isStatsCompliant = at[1]

    class UpdateTransactionalStatsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 tableId required in=4.0.0+', '2 i64 insertCount required in=4.0.0+', '3 i64 updatedCount required in=4.0.0+', '4 i64 deletedCount required in=4.0.0+',)

        def __new__(cls, tableId=None, insertCount=None, updatedCount=None, deletedCount=None):
            return new(cls, (tableId, insertCount, updatedCount, deletedCount,))

        tableId = at[0]
        insertCount = at[1]
        updatedCount = at[2]
        deletedCount = at[3]
