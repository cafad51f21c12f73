"""Statements written in SQLAlchemy Core and compiled to text once for each database.

They never open a connection.

The text runs on the driver's own connection, so a call pays for neither SQLAlchemy's compiler nor its result
objects. Every value is a named `bindparam`; constants belong into the statement as `literal_column`.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

from sqlalchemy import Select, bindparam, literal_column
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import Compiled, SQLCompiler
from sqlalchemy.sql.elements import BindParameter, ClauseElement, ColumnElement
from sqlalchemy.sql.operators import OperatorType
from sqlalchemy.types import Boolean

_Style = Literal["named", "qmark", "pyformat", "format"]

SQLITE = "sqlite"
POSTGRESQL = "postgresql"

NO_LIMIT = 2**63 - 1
"""The value of `LIMIT :limit` for all rows. SQLite's -1 and PostgreSQL's NULL are errors to the other one."""


class Numbered(NamedTuple):
    """A statement whose parameters have numbers."""

    text: bytes
    names: tuple[str, ...]
    """Of the parameters $1, $2 and so on."""


class Statement:
    """One SQL statement. A callable makes it where the databases need different SQL.

    Its parameters have names, unless `positions` has their order: then each row of parameters is a tuple, which halves
    the drivers' time for a thousand rows.
    """

    def __init__(
        self,
        source: ClauseElement | Callable[[str], ClauseElement],
        positions: tuple[str, ...] | None = None,
    ) -> None:
        self._source = source
        self._positions = positions

    @cached_property
    def sqlite(self) -> str:
        """The text for sqlite3, with parameters as `:name` or `?`."""
        from sqlalchemy.dialects.sqlite.base import SQLiteDialect

        style: _Style = "named" if self._positions is None else "qmark"
        return self._compile(SQLITE, SQLiteDialect(paramstyle=style))

    @cached_property
    def postgresql(self) -> bytes:
        """The text for psycopg, with parameters as `%(name)s` or `%s`; it takes computed SQL as bytes only."""
        # Imported late, because it takes a fifth of the time to import SQLAlchemy.
        from sqlalchemy.dialects.postgresql.base import PGDialect

        style: _Style = "pyformat" if self._positions is None else "format"
        dialect = PGDialect(paramstyle=style)  # type: ignore[no-untyped-call]
        return self._compile(POSTGRESQL, dialect).encode()

    @cached_property
    def numbered(self) -> Numbered:
        """The text for libpq, with parameters as `$1`, and their names in this order."""
        from sqlalchemy.dialects.postgresql.base import PGDialect

        dialect = PGDialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]
        compiled = self._compiled(POSTGRESQL, dialect)
        names = compiled.positiontup if isinstance(compiled, SQLCompiler) else None
        return Numbered(str(compiled).encode(), tuple(names or ()))

    def _compile(self, name: str, dialect: Dialect) -> str:
        compiled = self._compiled(name, dialect)
        if self._positions is not None:
            assert isinstance(compiled, SQLCompiler)
            names = tuple(compiled.positiontup or ())
            if names != self._positions:
                raise ValueError(f"a statement has the parameters {names} in this order, not {self._positions}")
        return str(compiled)

    def _compiled(self, name: str, dialect: Dialect) -> Compiled:
        source = self._source if isinstance(self._source, ClauseElement) else self._source(name)
        compiled = source.compile(dialect=dialect)
        values = {key: value for key, value in (compiled.params or {}).items() if value is not None}
        if values:
            raise ValueError(f"a statement binds the constants {values}; write them as literal_column: {compiled}")
        return compiled


class InList(ColumnElement[bool]):
    """`column IN (a list bound as one parameter)`: the text does not depend on the length of the list."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        self.column = column
        self.parameter: BindParameter[Any] = bindparam(name)

    def self_group(self, against: OperatorType | None = None) -> Self:
        # Otherwise SQLAlchemy writes `… IN (…) = 1` for SQLite, which then scans the table instead of an index.
        return self


@compiles(InList, SQLITE)
def _in_json(element: InList, compiler: SQLCompiler, **options: Any) -> str:
    column = compiler.process(element.column, **options)
    return f"{column} IN (SELECT value FROM json_each({compiler.process(element.parameter, **options)}))"


@compiles(InList, POSTGRESQL)
def _equals_any(element: InList, compiler: SQLCompiler, **options: Any) -> str:
    column = compiler.process(element.column, **options)
    return f"{column} = ANY({compiler.process(element.parameter, **options)})"


def in_list(column: ColumnElement[Any], name: str) -> InList:
    """A condition on a list of any length; bind the list as `name=tx.list(items)`."""
    return InList(column, name)


def limited(statement: Select[Any]) -> Select[Any]:
    """The statement with `LIMIT :limit`; bind it as `limit=limit_of(n)`."""
    # Without a literal offset SQLAlchemy binds one of its own for SQLite.
    return statement.limit(bindparam("limit")).offset(literal_column("0"))


def limit_of(limit: int) -> int:
    """The value to bind for a limit of Hive's, where any negative number means all rows."""
    return NO_LIMIT if limit < 0 else limit


def bound(*names: str) -> dict[str, Any]:
    """The values of an INSERT or UPDATE: each column bound under its own name."""
    return {name: bindparam(name) for name in names}
