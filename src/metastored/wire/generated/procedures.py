"""The metastore API, procedures. Made by tools/generate.py from api/procedures.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['AddPackageRequest', 'DropPackageRequest', 'GetPackageRequest', 'ListPackageRequest', 'ListStoredProcedureRequest', 'Package', 'StoredProcedure', 'StoredProcedureRequest']


if TYPE_CHECKING:

    class AddPackageRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        packageName: str | None = None
        ownerName: str | None = None
        header: str | None = None
        body: str | None = None

    class DropPackageRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        packageName: str | None = None

    class GetPackageRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        packageName: str | None = None

    class ListPackageRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None

    class ListStoredProcedureRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None

    class Package(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        packageName: str | None = None
        ownerName: str | None = None
        header: str | None = None
        body: str | None = None

    class StoredProcedure(NamedTuple):
        name: str | None = None
        dbName: str | None = None
        catName: str | None = None
        ownerName: str | None = None
        source: str | None = None

    class StoredProcedureRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        procName: str | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class AddPackageRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.0+', '2 string dbName @db in=4.0.0+', '3 string packageName @name in=4.0.0+', '4 string ownerName @user in=4.0.0+', '5 string header in=4.0.0+', '6 string body in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, packageName=None, ownerName=None, header=None, body=None):
            return new(cls, (catName, dbName, packageName, ownerName, header, body,))

        catName = at[0]
        dbName = at[1]
        packageName = at[2]
        ownerName = at[3]
        header = at[4]
        body = at[5]

    class DropPackageRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName required @cat in=4.0.0+', '2 string dbName required @db in=4.0.0+', '3 string packageName required @name in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, packageName=None):
            return new(cls, (catName, dbName, packageName,))

        catName = at[0]
        dbName = at[1]
        packageName = at[2]

    class GetPackageRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName required @cat in=4.0.0+', '2 string dbName required @db in=4.0.0+', '3 string packageName required @name in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, packageName=None):
            return new(cls, (catName, dbName, packageName,))

        catName = at[0]
        dbName = at[1]
        packageName = at[2]

    class ListPackageRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName required @cat in=4.0.0+', '2 string dbName @db in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None):
            return new(cls, (catName, dbName,))

        catName = at[0]
        dbName = at[1]

    class ListStoredProcedureRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName required @cat in=4.0.0+', '2 string dbName @db in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None):
            return new(cls, (catName, dbName,))

        catName = at[0]
        dbName = at[1]

    class Package(Struct):
        __slots__ = ()
        SPEC = ('1 string catName @cat in=4.0.0+', '2 string dbName @db in=4.0.0+', '3 string packageName @name in=4.0.0+', '4 string ownerName @user in=4.0.0+', '5 string header in=4.0.0+', '6 string body in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, packageName=None, ownerName=None, header=None, body=None):
            return new(cls, (catName, dbName, packageName, ownerName, header, body,))

        catName = at[0]
        dbName = at[1]
        packageName = at[2]
        ownerName = at[3]
        header = at[4]
        body = at[5]

    class StoredProcedure(Struct):
        __slots__ = ()
        SPEC = ('1 string name @name in=4.0.0+', '2 string dbName @db in=4.0.0+', '3 string catName @cat in=4.0.0+', '4 string ownerName @user in=4.0.0+', '5 string source in=4.0.0+',)

        def __new__(cls, name=None, dbName=None, catName=None, ownerName=None, source=None):
            return new(cls, (name, dbName, catName, ownerName, source,))

        name = at[0]
        dbName = at[1]
        catName = at[2]
        ownerName = at[3]
        source = at[4]

    class StoredProcedureRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName required @cat in=4.0.0+', '2 string dbName required @db in=4.0.0+', '3 string procName required @name in=4.0.0+',)

        def __new__(cls, catName=None, dbName=None, procName=None):
            return new(cls, (catName, dbName, procName,))

        catName = at[0]
        dbName = at[1]
        procName = at[2]
