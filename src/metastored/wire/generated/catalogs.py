"""The metastore API, catalogs. Made by tools/generate.py from api/catalogs.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['AlterCatalogRequest', 'Catalog', 'CreateCatalogRequest', 'DropCatalogRequest', 'GetCatalogRequest', 'GetCatalogResponse', 'GetCatalogsResponse']


if TYPE_CHECKING:

    class AlterCatalogRequest(NamedTuple):
        name: str | None = None
        newCat: Catalog | None = None

    class Catalog(NamedTuple):
        name: str | None = None
        description: str | None = None
        locationUri: str | None = None
        createTime: int | None = None
        parameters: dict[str, str] | None = None

    class CreateCatalogRequest(NamedTuple):
        catalog: Catalog | None = None

    class DropCatalogRequest(NamedTuple):
        name: str | None = None
        ifExists: bool | None = None

    class GetCatalogRequest(NamedTuple):
        name: str | None = None

    class GetCatalogResponse(NamedTuple):
        catalog: Catalog | None = None

    class GetCatalogsResponse(NamedTuple):
        names: tuple[str, ...] | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class AlterCatalogRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string name @cat in=3.1+', '2 Catalog newCat in=3.1+',)

        def __new__(cls, name=None, newCat=None):
            return new(cls, (name, newCat,))

        name = at[0]
        newCat = at[1]

    class Catalog(Struct):
        __slots__ = ()
        SPEC = ('1 string name @cat in=3.1+', '2 string description in=3.1+', '3 string locationUri @location in=3.1+', '4 i32 createTime in=4.0.0+', '5 map<string,string> parameters in=4.2+',)

        def __new__(cls, name=None, description=None, locationUri=None, createTime=None, parameters=None):
            return new(cls, (name, description, locationUri, createTime, parameters,))

        name = at[0]
        description = at[1]
        locationUri = at[2]
        createTime = at[3]
        parameters = at[4]

    class CreateCatalogRequest(Struct):
        __slots__ = ()
        SPEC = ('1 Catalog catalog in=3.1+',)

        def __new__(cls, catalog=None):
            return new(cls, (catalog,))

        catalog = at[0]

    class DropCatalogRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string name @cat in=3.1+', '2 bool ifExists default=true in=4.1+',)

        def __new__(cls, name=None, ifExists=None):
            return new(cls, (name, ifExists,))

        name = at[0]
        ifExists = at[1]

    class GetCatalogRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string name @cat in=3.1+',)

        def __new__(cls, name=None):
            return new(cls, (name,))

        name = at[0]

    class GetCatalogResponse(Struct):
        __slots__ = ()
        SPEC = ('1 Catalog catalog in=3.1+',)

        def __new__(cls, catalog=None):
            return new(cls, (catalog,))

        catalog = at[0]

    class GetCatalogsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<string> names @cat in=3.1+',)

        def __new__(cls, names=None):
            return new(cls, (names,))

        names = at[0]
