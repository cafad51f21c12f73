"""The metastore API, functions. Made by tools/generate.py from api/functions.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['Function', 'FunctionType', 'GetAllFunctionsResponse', 'GetFunctionsRequest', 'GetFunctionsResponse', 'ResourceType', 'ResourceUri']


class FunctionType:
    JAVA = 1
    NAMES: ClassVar[dict[int, str]] = {1: 'JAVA'}


class ResourceType:
    JAR = 1
    FILE = 2
    ARCHIVE = 3
    NAMES: ClassVar[dict[int, str]] = {1: 'JAR', 2: 'FILE', 3: 'ARCHIVE'}


if TYPE_CHECKING:

    class Function(NamedTuple):
        functionName: str | None = None
        dbName: str | None = None
        className: str | None = None
        ownerName: str | None = None
        ownerType: int | None = None
        createTime: int | None = None
        functionType: int | None = None
        resourceUris: tuple[ResourceUri, ...] | None = None
        catName: str | None = None

    class GetAllFunctionsResponse(NamedTuple):
        functions: tuple[Function, ...] | None = None

    class GetFunctionsRequest(NamedTuple):
        dbName: str | None = None
        catalogName: str | None = None
        pattern: str | None = None
        returnNames: bool | None = None

    class GetFunctionsResponse(NamedTuple):
        function_names: tuple[str, ...] | None = None
        functions: tuple[Function, ...] | None = None

    class ResourceUri(NamedTuple):
        resourceType: int | None = None
        uri: str | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class Function(Struct):
        __slots__ = ()
        SPEC = ('1 string functionName @function', '2 string dbName @db', '3 string className @name', '4 string ownerName @user', '5 PrincipalType ownerType', '6 i32 createTime', '7 FunctionType functionType', '8 list<ResourceUri> resourceUris', '9 string catName @cat',)

        def __new__(cls, functionName=None, dbName=None, className=None, ownerName=None, ownerType=None, createTime=None, functionType=None, resourceUris=None, catName=None):
            return new(cls, (functionName, dbName, className, ownerName, ownerType, createTime, functionType, resourceUris, catName,))

        functionName = at[0]
        dbName = at[1]
        className = at[2]
        ownerName = at[3]
        ownerType = at[4]
        createTime = at[5]
        functionType = at[6]
        resourceUris = at[7]
        catName = at[8]

    class GetAllFunctionsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<Function> functions',)

        def __new__(cls, functions=None):
            return new(cls, (functions,))

        functions = at[0]

    class GetFunctionsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db in=4.1+', '2 string catalogName @cat in=4.1+', '3 string pattern @pattern in=4.1+', '4 bool returnNames default=true in=4.1+',)

        def __new__(cls, dbName=None, catalogName=None, pattern=None, returnNames=None):
            return new(cls, (dbName, catalogName, pattern, returnNames,))

        dbName = at[0]
        catalogName = at[1]
        pattern = at[2]
        returnNames = at[3]

    class GetFunctionsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<string> function_names @function in=4.1+', '2 list<Function> functions in=4.1+',)

        def __new__(cls, function_names=None, functions=None):
            return new(cls, (function_names, functions,))

        function_names = at[0]
        functions = at[1]

    class ResourceUri(Struct):
        __slots__ = ()
        SPEC = ('1 ResourceType resourceType', '2 string uri @location',)

        def __new__(cls, resourceType=None, uri=None):
            return new(cls, (resourceType, uri,))

        resourceType = at[0]
        uri = at[1]
