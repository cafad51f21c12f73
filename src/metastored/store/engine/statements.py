"""SQL statements in one notation, and their texts for the drivers of SQLite and PostgreSQL. Nothing is run here.

    Statement("SELECT id, name FROM tables WHERE db_id = :db_id AND name IN :names ORDER BY name FOR UPDATE")

The notation is the SQL that both databases understand, with these rules:

- `:name` is a parameter. Every value is one: nothing that a client sent is ever part of a text.
- `IN :names` and `NOT IN :names` compare with a list of any length that is one parameter; bind it as
  `names=tx.list(items)`. The text does not depend on the length of the list.
- `LIMIT :limit` is bound as `limit=limit_of(n)`.
- `FOR UPDATE`, `FOR SHARE` and `SKIP LOCKED` are left out for SQLite, which has one write transaction at a time and
  no row locks.
- Keywords are in capitals, parameters in small letters. White space is collapsed, so a text may have several lines; it
  has no comments.

A text in quotes ('…' or "…") is not changed. Where the databases need different SQL, a function of the dialect returns
the text. A test prepares all statements on both databases: a column that does not exist fails there.
"""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Final, NamedTuple

__all__ = [
    "NO_LIMIT",
    "POSTGRESQL",
    "SQLITE",
    "Numbered",
    "Statement",
    "assigned",
    "column_list",
    "insert_into",
    "limit_of",
]

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"

NO_LIMIT: Final = 2**63 - 1
"""The value of `LIMIT :limit` for all rows. SQLite's -1 and PostgreSQL's NULL are errors to the other one."""

RESERVED: Final = frozenset({"end"})
"""The names of columns that are words of SQL and have to be quoted."""

_NOTATION: Final = re.compile(
    r"""
    (?P<quoted>      '[^']*' | "[^"]*" | :: )          # a doubled quote is two texts in quotes, one after the other
    | \b(?P<negated> NOT\s+ )? IN \s+ :(?P<list> [a-z]\w* )
    | :(?P<name>     [a-z]\w* )
    | (?P<locking>   \s+ FOR \s+ (?: UPDATE | SHARE ) (?: \s+ SKIP \s+ LOCKED )? \b )
    | (?P<percent>   % )
    | (?P<space>     \s+ )
    """,
    re.VERBOSE,
)


class Numbered(NamedTuple):
    """A statement whose parameters have numbers."""

    text: bytes
    names: tuple[str, ...]
    """Of the parameters $1, $2 and so on."""


class Statement:
    """One SQL statement, in the notation of this module. A callable returns it where the databases need different SQL.

    Its parameters have names, unless `positions` has their order: then each row of parameters is a tuple, which halves
    the drivers' time for a thousand rows.
    """

    def __init__(
        self, source: str | Callable[[str], str], positions: tuple[str, ...] | None = None, *, of_one: bool = False
    ) -> None:
        """With `of_one`, libpq's text compares with one value where others compare with a list."""
        self._source = source
        self._positions = positions
        self._is_of_one = of_one

    @cached_property
    def sqlite(self) -> str:
        """The text for sqlite3, with parameters as `:name` or `?`."""
        named = self._positions is None
        return self._written(SQLITE, lambda name: f":{name}" if named else "?")

    @cached_property
    def postgresql(self) -> bytes:
        """The text for psycopg, with parameters as `%(name)s` or `%s`; it takes computed SQL as bytes only."""
        named = self._positions is None
        return self._written(POSTGRESQL, lambda name: f"%({name})s" if named else "%s", percent="%%").encode()

    @cached_property
    def numbered(self) -> Numbered:
        """The text for libpq, with parameters as `$1`, and their names in this order."""
        numbers: dict[str, int] = {}
        text = self._written(POSTGRESQL, lambda name: f"${numbers.setdefault(name, len(numbers) + 1)}")
        return Numbered(text.encode(), tuple(numbers))

    @cached_property
    def lists(self) -> tuple[str, ...]:
        """The names of the parameters that are lists."""
        return tuple(dict.fromkeys(each["list"] for each in _NOTATION.finditer(self._text(POSTGRESQL)) if each["list"]))

    @cached_property
    def of_one(self) -> "Statement":
        """The same for lists of one item: PostgreSQL takes twice as long to find a row by an array as by a value."""
        return Statement(self._source, self._positions, of_one=True)

    def _text(self, dialect: str) -> str:
        return (self._source if isinstance(self._source, str) else self._source(dialect)).strip()

    def _written(self, dialect: str, parameter: Callable[[str], str], percent: str = "%") -> str:
        """The text for a database, with the parameters and percent signs of a driver."""
        names: list[str] = []

        def bound(name: str) -> str:
            names.append(name)
            return parameter(name)

        def replaced(match: re.Match[str]) -> str:
            if match["quoted"] is not None:
                return match["quoted"].replace("%", percent)
            if match["space"] is not None:
                return " "
            if match["percent"] is not None:
                return percent
            if match["name"] is not None:
                return bound(match["name"])
            if match["locking"] is not None:
                return "" if dialect == SQLITE else match["locking"]
            negated = match["negated"] is not None
            if self._is_of_one:
                return f"{'<>' if negated else '='} {bound(match['list'])}"
            return _membership(dialect, bound(match["list"]), negated=negated)

        text = _NOTATION.sub(replaced, self._text(dialect))
        if self._positions is not None and tuple(names) != self._positions:
            raise ValueError(f"a statement has the parameters {tuple(names)} in this order, not {self._positions}")
        return text


def _membership(dialect: str, parameter: str, *, negated: bool) -> str:
    """The comparison with a list that is one parameter: a JSON text for SQLite, an array for PostgreSQL."""
    if dialect == SQLITE:
        return f"{'NOT ' if negated else ''}IN (SELECT value FROM json_each({parameter}))"
    return f"<> ALL({parameter})" if negated else f"= ANY({parameter})"


def limit_of(limit: int) -> int:
    """The value to bind for a limit of Hive's, where any negative number means all rows."""
    return NO_LIMIT if limit < 0 else limit


# --- parts of a text that follow from the names of columns -------------------------------------------------------


def column_list(*columns: str, of: str = "") -> str:
    """`a, b`; with `of`, the name of a table in the statement, `t.a, t.b`."""
    return ", ".join(f"{of}.{_quoted(column)}" if of else _quoted(column) for column in columns)


def insert_into(table: str, *columns: str) -> str:
    """`INSERT INTO table (a, b) VALUES (:a, :b)`: each column gets the parameter of its name."""
    return f"INSERT INTO {table} ({column_list(*columns)}) VALUES ({', '.join(f':{column}' for column in columns)})"


def assigned(*columns: str) -> str:
    """`a = :a, b = :b`, for an UPDATE: each column gets the parameter of its name."""
    return ", ".join(f"{_quoted(column)} = :{column}" for column in columns)


def _quoted(column: str) -> str:
    return f'"{column}"' if column in RESERVED else column
