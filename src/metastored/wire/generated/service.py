"""The metastore API, service. Made by tools/generate.py from api/service.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['CmRecycleRequest', 'CmRecycleResponse', 'PropertyGetRequest', 'PropertyGetResponse', 'PropertySetRequest', 'fb_status']


class fb_status:
    DEAD = 0
    STARTING = 1
    ALIVE = 2
    STOPPING = 3
    STOPPED = 4
    WARNING = 5
    NAMES: ClassVar[dict[int, str]] = {0: 'DEAD', 1: 'STARTING', 2: 'ALIVE', 3: 'STOPPING', 4: 'STOPPED', 5: 'WARNING'}


if TYPE_CHECKING:

    class CmRecycleRequest(NamedTuple):
        dataPath: str | None = None
        purge: bool | None = None

    class CmRecycleResponse(NamedTuple):
        pass

    class PropertyGetRequest(NamedTuple):
        nameSpace: str | None = None
        mapPrefix: str | None = None
        mapPredicate: str | None = None
        mapSelection: tuple[str, ...] | None = None

    class PropertyGetResponse(NamedTuple):
        properties: dict[str, dict[str, str]] | None = None

    class PropertySetRequest(NamedTuple):
        nameSpace: str | None = None
        propertyMap: dict[str, str] | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class CmRecycleRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dataPath required @location in=3.1+', '2 bool purge required in=3.1+',)

        def __new__(cls, dataPath=None, purge=None):
            return new(cls, (dataPath, purge,))

        dataPath = at[0]
        purge = at[1]

    class CmRecycleResponse(Struct):
        __slots__ = ()
        SPEC = ()

        def __new__(cls):
            return new(cls, ())


    class PropertyGetRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string nameSpace required in=4.0.0+', '2 string mapPrefix in=4.0.0+', '3 string mapPredicate in=4.0.0+', '4 list<string> mapSelection in=4.0.0+',)

        def __new__(cls, nameSpace=None, mapPrefix=None, mapPredicate=None, mapSelection=None):
            return new(cls, (nameSpace, mapPrefix, mapPredicate, mapSelection,))

        nameSpace = at[0]
        mapPrefix = at[1]
        mapPredicate = at[2]
        mapSelection = at[3]

    class PropertyGetResponse(Struct):
        __slots__ = ()
        SPEC = ('1 map<string,map<string,string>> properties in=4.0.0+',)

        def __new__(cls, properties=None):
            return new(cls, (properties,))

        properties = at[0]

    class PropertySetRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string nameSpace required in=4.0.0+', '2 map<string,string> propertyMap in=4.0.0+',)

        def __new__(cls, nameSpace=None, propertyMap=None):
            return new(cls, (nameSpace, propertyMap,))

        nameSpace = at[0]
        propertyMap = at[1]
