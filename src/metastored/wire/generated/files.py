"""The metastore API, files. Made by tools/generate.py from api/files.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['CacheFileMetadataRequest', 'CacheFileMetadataResult', 'ClearFileMetadataRequest', 'ClearFileMetadataResult', 'FileMetadataExprType', 'GetFileMetadataByExprRequest', 'GetFileMetadataByExprResult', 'GetFileMetadataRequest', 'GetFileMetadataResult', 'MetadataPpdResult', 'PutFileMetadataRequest', 'PutFileMetadataResult']


class FileMetadataExprType:
    ORC_SARG = 1
    NAMES: ClassVar[dict[int, str]] = {1: 'ORC_SARG'}


if TYPE_CHECKING:

    class CacheFileMetadataRequest(NamedTuple):
        dbName: str | None = None
        tblName: str | None = None
        partName: str | None = None
        isAllParts: bool | None = None

    class CacheFileMetadataResult(NamedTuple):
        isSupported: bool | None = None

    class ClearFileMetadataRequest(NamedTuple):
        fileIds: tuple[int, ...] | None = None

    class ClearFileMetadataResult(NamedTuple):
        pass

    class GetFileMetadataByExprRequest(NamedTuple):
        fileIds: tuple[int, ...] | None = None
        expr: bytes | None = None
        doGetFooters: bool | None = None
        type: int | None = None

    class GetFileMetadataByExprResult(NamedTuple):
        metadata: dict[int, MetadataPpdResult] | None = None
        isSupported: bool | None = None

    class GetFileMetadataRequest(NamedTuple):
        fileIds: tuple[int, ...] | None = None

    class GetFileMetadataResult(NamedTuple):
        metadata: dict[int, bytes] | None = None
        isSupported: bool | None = None

    class MetadataPpdResult(NamedTuple):
        metadata: bytes | None = None
        includeBitset: bytes | None = None

    class PutFileMetadataRequest(NamedTuple):
        fileIds: tuple[int, ...] | None = None
        metadata: tuple[bytes, ...] | None = None
        type: int | None = None

    class PutFileMetadataResult(NamedTuple):
        pass

else:
    from metastored.wire.structs import Struct, at, new

    class CacheFileMetadataRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db', '2 string tblName required @table', '3 string partName @part_name', '4 bool isAllParts',)

        def __new__(cls, dbName=None, tblName=None, partName=None, isAllParts=None):
            return new(cls, (dbName, tblName, partName, isAllParts,))

        dbName = at[0]
        tblName = at[1]
        partName = at[2]
        isAllParts = at[3]

    class CacheFileMetadataResult(Struct):
        __slots__ = ()
        SPEC = ('1 bool isSupported required',)

        def __new__(cls, isSupported=None):
            return new(cls, (isSupported,))

        isSupported = at[0]

    class ClearFileMetadataRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<i64> fileIds required',)

        def __new__(cls, fileIds=None):
            return new(cls, (fileIds,))

        fileIds = at[0]

    class ClearFileMetadataResult(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class GetFileMetadataByExprRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<i64> fileIds required', '2 binary expr required', '3 bool doGetFooters', '4 FileMetadataExprType type',)

        def __new__(cls, fileIds=None, expr=None, doGetFooters=None, type=None):
            return new(cls, (fileIds, expr, doGetFooters, type,))

        fileIds = at[0]
        expr = at[1]
        doGetFooters = at[2]
        type = at[3]

    class GetFileMetadataByExprResult(Struct):
        __slots__ = ()
        SPEC = ('1 map<i64,MetadataPpdResult> metadata required', '2 bool isSupported required',)

        def __new__(cls, metadata=None, isSupported=None):
            return new(cls, (metadata, isSupported,))

        metadata = at[0]
        isSupported = at[1]

    class GetFileMetadataRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<i64> fileIds required',)

        def __new__(cls, fileIds=None):
            return new(cls, (fileIds,))

        fileIds = at[0]

    class GetFileMetadataResult(Struct):
        __slots__ = ()
        SPEC = ('1 map<i64,binary> metadata required', '2 bool isSupported required',)

        def __new__(cls, metadata=None, isSupported=None):
            return new(cls, (metadata, isSupported,))

        metadata = at[0]
        isSupported = at[1]

    class MetadataPpdResult(Struct):
        __slots__ = ()
        SPEC = ('1 binary metadata', '2 binary includeBitset',)

        def __new__(cls, metadata=None, includeBitset=None):
            return new(cls, (metadata, includeBitset,))

        metadata = at[0]
        includeBitset = at[1]

    class PutFileMetadataRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<i64> fileIds required', '2 list<binary> metadata required', '3 FileMetadataExprType type',)

        def __new__(cls, fileIds=None, metadata=None, type=None):
            return new(cls, (fileIds, metadata, type,))

        fileIds = at[0]
        metadata = at[1]
        type = at[2]

    class PutFileMetadataResult(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())

