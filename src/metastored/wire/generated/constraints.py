"""The metastore API, constraints. Made by tools/generate.py from api/constraints.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['AddCheckConstraintRequest', 'AddDefaultConstraintRequest', 'AddForeignKeyRequest', 'AddNotNullConstraintRequest', 'AddPrimaryKeyRequest', 'AddUniqueConstraintRequest', 'AllTableConstraintsRequest', 'AllTableConstraintsResponse', 'CheckConstraintsRequest', 'CheckConstraintsResponse', 'DefaultConstraintsRequest', 'DefaultConstraintsResponse', 'DropConstraintRequest', 'ForeignKeysRequest', 'ForeignKeysResponse', 'NotNullConstraintsRequest', 'NotNullConstraintsResponse', 'PrimaryKeysRequest', 'PrimaryKeysResponse', 'SQLAllTableConstraints', 'UniqueConstraintsRequest', 'UniqueConstraintsResponse']


if TYPE_CHECKING:
    from metastored.wire.generated.common import SQLCheckConstraint, SQLDefaultConstraint, SQLForeignKey, SQLNotNullConstraint, SQLPrimaryKey, SQLUniqueConstraint

    class AddCheckConstraintRequest(NamedTuple):
        checkConstraintCols: tuple[SQLCheckConstraint, ...] | None = None

    class AddDefaultConstraintRequest(NamedTuple):
        defaultConstraintCols: tuple[SQLDefaultConstraint, ...] | None = None

    class AddForeignKeyRequest(NamedTuple):
        foreignKeyCols: tuple[SQLForeignKey, ...] | None = None

    class AddNotNullConstraintRequest(NamedTuple):
        notNullConstraintCols: tuple[SQLNotNullConstraint, ...] | None = None

    class AddPrimaryKeyRequest(NamedTuple):
        primaryKeyCols: tuple[SQLPrimaryKey, ...] | None = None

    class AddUniqueConstraintRequest(NamedTuple):
        uniqueConstraintCols: tuple[SQLUniqueConstraint, ...] | None = None

    class AllTableConstraintsRequest(NamedTuple):
        dbName: str | None = None
        tblName: str | None = None
        catName: str | None = None
        validWriteIdList: str | None = None
        tableId: int | None = None

    class AllTableConstraintsResponse(NamedTuple):
        allTableConstraints: SQLAllTableConstraints | None = None

    class CheckConstraintsRequest(NamedTuple):
        catName: str | None = None
        db_name: str | None = None
        tbl_name: str | None = None
        validWriteIdList: str | None = None
        tableId: int | None = None

    class CheckConstraintsResponse(NamedTuple):
        checkConstraints: tuple[SQLCheckConstraint, ...] | None = None

    class DefaultConstraintsRequest(NamedTuple):
        catName: str | None = None
        db_name: str | None = None
        tbl_name: str | None = None
        validWriteIdList: str | None = None
        tableId: int | None = None

    class DefaultConstraintsResponse(NamedTuple):
        defaultConstraints: tuple[SQLDefaultConstraint, ...] | None = None

    class DropConstraintRequest(NamedTuple):
        dbname: str | None = None
        tablename: str | None = None
        constraintname: str | None = None
        catName: str | None = None

    class ForeignKeysRequest(NamedTuple):
        parent_db_name: str | None = None
        parent_tbl_name: str | None = None
        foreign_db_name: str | None = None
        foreign_tbl_name: str | None = None
        catName: str | None = None
        validWriteIdList: str | None = None
        tableId: int | None = None

    class ForeignKeysResponse(NamedTuple):
        foreignKeys: tuple[SQLForeignKey, ...] | None = None

    class NotNullConstraintsRequest(NamedTuple):
        catName: str | None = None
        db_name: str | None = None
        tbl_name: str | None = None
        validWriteIdList: str | None = None
        tableId: int | None = None

    class NotNullConstraintsResponse(NamedTuple):
        notNullConstraints: tuple[SQLNotNullConstraint, ...] | None = None

    class PrimaryKeysRequest(NamedTuple):
        db_name: str | None = None
        tbl_name: str | None = None
        catName: str | None = None
        validWriteIdList: str | None = None
        tableId: int | None = None

    class PrimaryKeysResponse(NamedTuple):
        primaryKeys: tuple[SQLPrimaryKey, ...] | None = None

    class SQLAllTableConstraints(NamedTuple):
        primaryKeys: tuple[SQLPrimaryKey, ...] | None = None
        foreignKeys: tuple[SQLForeignKey, ...] | None = None
        uniqueConstraints: tuple[SQLUniqueConstraint, ...] | None = None
        notNullConstraints: tuple[SQLNotNullConstraint, ...] | None = None
        defaultConstraints: tuple[SQLDefaultConstraint, ...] | None = None
        checkConstraints: tuple[SQLCheckConstraint, ...] | None = None

    class UniqueConstraintsRequest(NamedTuple):
        catName: str | None = None
        db_name: str | None = None
        tbl_name: str | None = None
        validWriteIdList: str | None = None
        tableId: int | None = None

    class UniqueConstraintsResponse(NamedTuple):
        uniqueConstraints: tuple[SQLUniqueConstraint, ...] | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class AddCheckConstraintRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<SQLCheckConstraint> checkConstraintCols required in=3.1+',)

        def __new__(cls, checkConstraintCols=None):
            return new(cls, (checkConstraintCols,))

        checkConstraintCols = at[0]

    class AddDefaultConstraintRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<SQLDefaultConstraint> defaultConstraintCols required in=3.1+',)

        def __new__(cls, defaultConstraintCols=None):
            return new(cls, (defaultConstraintCols,))

        defaultConstraintCols = at[0]

    class AddForeignKeyRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<SQLForeignKey> foreignKeyCols required',)

        def __new__(cls, foreignKeyCols=None):
            return new(cls, (foreignKeyCols,))

        foreignKeyCols = at[0]

    class AddNotNullConstraintRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<SQLNotNullConstraint> notNullConstraintCols required in=3.1+',)

        def __new__(cls, notNullConstraintCols=None):
            return new(cls, (notNullConstraintCols,))

        notNullConstraintCols = at[0]

    class AddPrimaryKeyRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<SQLPrimaryKey> primaryKeyCols required',)

        def __new__(cls, primaryKeyCols=None):
            return new(cls, (primaryKeyCols,))

        primaryKeyCols = at[0]

    class AddUniqueConstraintRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<SQLUniqueConstraint> uniqueConstraintCols required in=3.1+',)

        def __new__(cls, uniqueConstraintCols=None):
            return new(cls, (uniqueConstraintCols,))

        uniqueConstraintCols = at[0]

    class AllTableConstraintsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbName required @db in=4.0.0+', '2 string tblName required @table in=4.0.0+', '3 string catName required @cat in=4.0.0+', '4 string validWriteIdList in=4.0.0-4.1', '5 i64 tableId default=-1 in=4.0.0-4.1',)

        def __new__(cls, dbName=None, tblName=None, catName=None, validWriteIdList=None, tableId=None):
            return new(cls, (dbName, tblName, catName, validWriteIdList, tableId,))

        dbName = at[0]
        tblName = at[1]
        catName = at[2]
        validWriteIdList = at[3]
        tableId = at[4]

    class AllTableConstraintsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 SQLAllTableConstraints allTableConstraints required in=4.0.0+',)

        def __new__(cls, allTableConstraints=None):
            return new(cls, (allTableConstraints,))

        allTableConstraints = at[0]

    class CheckConstraintsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName required @cat in=3.1+', '2 string db_name required @db in=3.1+', '3 string tbl_name required @table in=3.1+', '4 string validWriteIdList in=4.0.0-4.1', '5 i64 tableId default=-1 in=4.0.0-4.1',)

        def __new__(cls, catName=None, db_name=None, tbl_name=None, validWriteIdList=None, tableId=None):
            return new(cls, (catName, db_name, tbl_name, validWriteIdList, tableId,))

        catName = at[0]
        db_name = at[1]
        tbl_name = at[2]
        validWriteIdList = at[3]
        tableId = at[4]

    class CheckConstraintsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<SQLCheckConstraint> checkConstraints required in=3.1+',)

        def __new__(cls, checkConstraints=None):
            return new(cls, (checkConstraints,))

        checkConstraints = at[0]

    class DefaultConstraintsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName required @cat in=3.1+', '2 string db_name required @db in=3.1+', '3 string tbl_name required @table in=3.1+', '4 string validWriteIdList in=4.0.0-4.1', '5 i64 tableId default=-1 in=4.0.0-4.1',)

        def __new__(cls, catName=None, db_name=None, tbl_name=None, validWriteIdList=None, tableId=None):
            return new(cls, (catName, db_name, tbl_name, validWriteIdList, tableId,))

        catName = at[0]
        db_name = at[1]
        tbl_name = at[2]
        validWriteIdList = at[3]
        tableId = at[4]

    class DefaultConstraintsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<SQLDefaultConstraint> defaultConstraints required in=3.1+',)

        def __new__(cls, defaultConstraints=None):
            return new(cls, (defaultConstraints,))

        defaultConstraints = at[0]

    class DropConstraintRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbname required @db', '2 string tablename required @table', '3 string constraintname required @name', '4 string catName @cat in=3.1+',)

        def __new__(cls, dbname=None, tablename=None, constraintname=None, catName=None):
            return new(cls, (dbname, tablename, constraintname, catName,))

        dbname = at[0]
        tablename = at[1]
        constraintname = at[2]
        catName = at[3]

    class ForeignKeysRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string parent_db_name @db', '2 string parent_tbl_name @table', '3 string foreign_db_name @db', '4 string foreign_tbl_name @table', '5 string catName @cat in=3.1+', '6 string validWriteIdList in=4.0.0-4.1', '7 i64 tableId default=-1 in=4.0.0-4.1',)

        def __new__(cls, parent_db_name=None, parent_tbl_name=None, foreign_db_name=None, foreign_tbl_name=None, catName=None, validWriteIdList=None, tableId=None):
            return new(cls, (parent_db_name, parent_tbl_name, foreign_db_name, foreign_tbl_name, catName, validWriteIdList, tableId,))

        parent_db_name = at[0]
        parent_tbl_name = at[1]
        foreign_db_name = at[2]
        foreign_tbl_name = at[3]
        catName = at[4]
        validWriteIdList = at[5]
        tableId = at[6]

    class ForeignKeysResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<SQLForeignKey> foreignKeys required',)

        def __new__(cls, foreignKeys=None):
            return new(cls, (foreignKeys,))

        foreignKeys = at[0]

    class NotNullConstraintsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName required @cat in=3.1+', '2 string db_name required @db in=3.1+', '3 string tbl_name required @table in=3.1+', '4 string validWriteIdList in=4.0.0-4.1', '5 i64 tableId default=-1 in=4.0.0-4.1',)

        def __new__(cls, catName=None, db_name=None, tbl_name=None, validWriteIdList=None, tableId=None):
            return new(cls, (catName, db_name, tbl_name, validWriteIdList, tableId,))

        catName = at[0]
        db_name = at[1]
        tbl_name = at[2]
        validWriteIdList = at[3]
        tableId = at[4]

    class NotNullConstraintsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<SQLNotNullConstraint> notNullConstraints required in=3.1+',)

        def __new__(cls, notNullConstraints=None):
            return new(cls, (notNullConstraints,))

        notNullConstraints = at[0]

    class PrimaryKeysRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string db_name required @db', '2 string tbl_name required @table', '3 string catName @cat in=3.1+', '4 string validWriteIdList in=4.0.0-4.1', '5 i64 tableId default=-1 in=4.0.0-4.1',)

        def __new__(cls, db_name=None, tbl_name=None, catName=None, validWriteIdList=None, tableId=None):
            return new(cls, (db_name, tbl_name, catName, validWriteIdList, tableId,))

        db_name = at[0]
        tbl_name = at[1]
        catName = at[2]
        validWriteIdList = at[3]
        tableId = at[4]

    class PrimaryKeysResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<SQLPrimaryKey> primaryKeys required',)

        def __new__(cls, primaryKeys=None):
            return new(cls, (primaryKeys,))

        primaryKeys = at[0]

    class SQLAllTableConstraints(Struct):
        __slots__ = ()
        SPEC = ('1 list<SQLPrimaryKey> primaryKeys in=4.0.0+', '2 list<SQLForeignKey> foreignKeys in=4.0.0+', '3 list<SQLUniqueConstraint> uniqueConstraints in=4.0.0+', '4 list<SQLNotNullConstraint> notNullConstraints in=4.0.0+', '5 list<SQLDefaultConstraint> defaultConstraints in=4.0.0+', '6 list<SQLCheckConstraint> checkConstraints in=4.0.0+',)

        def __new__(cls, primaryKeys=None, foreignKeys=None, uniqueConstraints=None, notNullConstraints=None, defaultConstraints=None, checkConstraints=None):
            return new(cls, (primaryKeys, foreignKeys, uniqueConstraints, notNullConstraints, defaultConstraints, checkConstraints,))

        primaryKeys = at[0]
        foreignKeys = at[1]
        uniqueConstraints = at[2]
        notNullConstraints = at[3]
        defaultConstraints = at[4]
        checkConstraints = at[5]

    class UniqueConstraintsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName required @cat in=3.1+', '2 string db_name required @db in=3.1+', '3 string tbl_name required @table in=3.1+', '4 string validWriteIdList in=4.0.0-4.1', '5 i64 tableId default=-1 in=4.0.0-4.1',)

        def __new__(cls, catName=None, db_name=None, tbl_name=None, validWriteIdList=None, tableId=None):
            return new(cls, (catName, db_name, tbl_name, validWriteIdList, tableId,))

        catName = at[0]
        db_name = at[1]
        tbl_name = at[2]
        validWriteIdList = at[3]
        tableId = at[4]

    class UniqueConstraintsResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<SQLUniqueConstraint> uniqueConstraints required in=3.1+',)

        def __new__(cls, uniqueConstraints=None):
            return new(cls, (uniqueConstraints,))

        uniqueConstraints = at[0]
