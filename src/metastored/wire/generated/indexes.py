"""The metastore API, indexes. Made by tools/generate.py from api/indexes.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['Index']


if TYPE_CHECKING:
    from metastored.wire.generated.common import StorageDescriptor

    class Index(NamedTuple):
        indexName: str | None = None
        indexHandlerClass: str | None = None
        dbName: str | None = None
        origTableName: str | None = None
        createTime: int | None = None
        lastAccessTime: int | None = None
        indexTableName: str | None = None
        sd: StorageDescriptor | None = None
        parameters: dict[str, str] | None = None
        deferredRebuild: bool | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class Index(Struct):
        __slots__ = ()
        SPEC = ('1 string indexName @name in=2.3', '2 string indexHandlerClass in=2.3', '3 string dbName @db in=2.3', '4 string origTableName @table in=2.3', '5 i32 createTime in=2.3', '6 i32 lastAccessTime in=2.3', '7 string indexTableName @table in=2.3', '8 StorageDescriptor sd in=2.3', '9 map<string,string> parameters in=2.3', '10 bool deferredRebuild in=2.3',)

        def __new__(cls, indexName=None, indexHandlerClass=None, dbName=None, origTableName=None, createTime=None, lastAccessTime=None, indexTableName=None, sd=None, parameters=None, deferredRebuild=None):
            return new(cls, (indexName, indexHandlerClass, dbName, origTableName, createTime, lastAccessTime, indexTableName, sd, parameters, deferredRebuild,))

        indexName = at[0]
        indexHandlerClass = at[1]
        dbName = at[2]
        origTableName = at[3]
        createTime = at[4]
        lastAccessTime = at[5]
        indexTableName = at[6]
        sd = at[7]
        parameters = at[8]
        deferredRebuild = at[9]
