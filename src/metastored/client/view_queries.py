"""The query of a view, as far as it is known without an engine: its tables, and the columns of simple ones. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from metastored.errors import InvalidInputException
from metastored.hive.statements.basics import Parts
from metastored.hive.statements.definitions import Column
from metastored.hive.statements.words import pieces_of
from metastored.model.names import TableName

_SIMPLE: Final = re.compile(
    r"SELECT\s+(?P<list>\*|[\w`,.\s]+?)\s+FROM\s+(?P<name>[\w.`]+)\s*(?:WHERE\b(?!.*\b(?:UNION|INTERSECT|EXCEPT)\b).*)?",
    re.IGNORECASE | re.DOTALL,
)
"""A query of one table whose columns are those of the table."""
_STAR: Final = re.compile(r"(?:SELECT|,|\.)\s*\*", re.IGNORECASE)
_ENDS: Final = frozenset(
    {
        *("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "MINUS", "LATERAL", "WINDOW"),
        *("CLUSTER", "DISTRIBUTE", "SORT", "QUALIFY", "INSERT"),
    }
)
"""Words that end the list of tables."""
_NO_NAMES: Final = frozenset({"SELECT", "FROM", "VALUES", "LATERAL", "UNNEST", "TABLE"})
_QUERIES: Final = ("select", "with", "from", "values", "table", "map", "reduce", "(")


def check_query(query: str) -> None:
    """Raises InvalidInputException for a text that cannot be the query of a view."""
    if not query.lower().startswith(_QUERIES):
        raise InvalidInputException("the query of a view begins with SELECT or WITH")


def source_of(query: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...] | None] | None:
    """The table of a simple query, and its columns with their names in the view; None for `*`.

    None for any other query: its columns are not known without an engine.
    """
    found = _SIMPLE.fullmatch(query.strip())
    if found is None:
        return None
    name = tuple(part.strip("`") for part in found["name"].split("."))
    if found["list"] == "*":
        return name, None
    columns = []
    for item in found["list"].split(","):
        words = item.split()
        if len(words) == 3 and words[1].lower() == "as":
            words = [words[0], words[2]]
        if not 1 <= len(words) <= 2:
            return None
        columns.append((words[0].rpartition(".")[2].strip("`"), words[-1].rpartition(".")[2].strip("`")))
    return name, tuple(columns)


def check_named(name: TableName, query: str, columns: Iterable[Column]) -> None:
    """Raises InvalidInputException if a query does not name a column of its view: engines look columns up by name."""
    if _STAR.search(query) is not None:
        return
    words = {word.lower() for word in re.findall(r"\w+|`[^`]+`", query)}
    for each in columns:
        if each.name.lower() not in words and f"`{each.name.lower()}`" not in words:
            raise InvalidInputException(
                f"the query of {name} does not name its column {each.name}: write SELECT … AS {each.name}"
            )


def tables_in(query: str) -> tuple[Parts, ...]:
    """The names of the tables that a query reads, without those of its WITH; each once, in their order.

    They are behind FROM and JOIN, and behind the commas between them. FROM of a function, as in `extract(year FROM d)`,
    names no table.
    """
    pieces = [*pieces_of(query)]
    named = {_bare(pieces[at][1]).lower() for at in range(len(pieces) - 2) if _is_named_query(pieces[at : at + 3])}
    found: dict[Parts, None] = {}
    levels = [_Level()]
    at = 0
    while at < len(pieces):
        kind, text = pieces[at]
        word = text.upper() if kind == "word" else text
        level = levels[-1]
        if level.expects and (kind == "word" or text.startswith("`")) and word not in _NO_NAMES:
            end = at + 1
            while end + 1 < len(pieces) and pieces[end][1] == ".":
                end += 2
            name = tuple(_bare(pieces[each][1]) for each in range(at, end, 2))
            is_function = end < len(pieces) and pieces[end][1] == "("
            if not is_function and (len(name) > 1 or name[0].lower() not in named):
                found[name] = None
            level.expects = False
            at = end
            continue
        if word == "(":
            levels.append(_Level(level.expects, level.expects))
            level.expects = False
        elif word == ")":
            levels = levels[:-1] or [_Level()]
        elif word == "SELECT":
            levels[-1] = _Level(selects=True)
        elif word == "FROM" and (level.selects or at == 0) and pieces[at - 1][1].upper() != "DISTINCT":
            level.expects = level.lists = True
        elif word == "JOIN":
            level.expects = True
        elif word == ",":
            level.expects = level.lists
        elif kind == "word" and word in _ENDS:
            level.lists = level.expects = False
        at += 1
    return tuple(found)


@dataclass(slots=True)
class _Level:
    """What is between two parentheses, up to here."""

    expects: bool = False
    """Whether the name of a table is next."""
    lists: bool = False
    """Whether a comma separates tables."""
    selects: bool = False


def _is_named_query(pieces: list[tuple[str, str]]) -> bool:
    """Whether it is the beginning of a query in WITH: `name AS (`."""
    return pieces[1][1].upper() == "AS" and pieces[2][1] == "(" and (pieces[0][0] == "word" or pieces[0][1][0] == "`")


def _bare(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
