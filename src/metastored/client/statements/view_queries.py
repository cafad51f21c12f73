"""The query of a view, as far as it is known without an engine: its tables, and the columns of simple ones. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from metastored.errors import InvalidInputException
from metastored.model.names import TableName
from metastored.statements.basics import Parts
from metastored.statements.definitions import Column
from metastored.statements.words import pieces_of

Piece = tuple[str, str]
"""Its kind and its text, as `pieces_of` has them."""
_BEFORE_COLUMNS: Final = frozenset({"DISTINCT", "ALL"})
_STAR: Final = re.compile(r"(?:SELECT|,|\.)\s*\*", re.IGNORECASE)
_ENDS: Final = frozenset(
    {
        *("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "MINUS", "LATERAL", "WINDOW"),
        *("CLUSTER", "DISTRIBUTE", "SORT", "QUALIFY", "INSERT"),
    }
)
"""Words that end the list of tables."""
_COMBINED: Final = frozenset({"UNION", "INTERSECT", "EXCEPT", "MINUS"})
"""Words between two queries."""
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
    pieces = [*pieces_of(query)]
    words = [text.upper() if kind == "word" else text for kind, text in pieces]
    if words[:1] != ["SELECT"] or "FROM" not in words:
        return None
    at = words.index("FROM")
    name, end = _name_at(pieces, at + 1)
    rest = words[end:]
    if not name or (rest and (rest[0] != "WHERE" or not _COMBINED.isdisjoint(rest))):
        return None
    if words[1:at] == ["*"]:
        return name, None
    items: list[list[Piece]] = [[]]
    for piece in pieces[1:at]:
        if piece[1] == ",":
            items.append([])
        else:
            items[-1].append(piece)
    columns = [column for item in items if (column := _column(item)) is not None]
    return (name, tuple(columns)) if len(columns) == len(items) else None


def _column(pieces: list[Piece]) -> tuple[str, str] | None:
    """A column of a table and its name in the view: `a`, `t.a`, `a b` or `a AS b`; None for anything else."""
    name, end = _name_at(pieces, 0)
    if not name or name[0].upper() in _BEFORE_COLUMNS:
        return None
    rest = pieces[end:]
    if rest and rest[0][1].upper() == "AS" and len(rest) == 2:
        rest = rest[1:]
    if len(rest) > 1 or (rest and not _is_name(rest[0])):
        return None
    return name[-1], _bare(rest[0][1]) if rest else name[-1]


def _name_at(pieces: list[Piece], at: int) -> tuple[tuple[str, ...], int]:
    """The parts of the name that begins at a piece, and the piece behind it; no parts where there is none."""
    parts: list[str] = []
    while at < len(pieces) and _is_name(pieces[at]):
        parts.append(_bare(pieces[at][1]))
        at += 1
        if at == len(pieces) or pieces[at][1] != ".":
            return tuple(parts), at
        at += 1
    return (), at


def _is_name(piece: Piece) -> bool:
    return piece[0] == "word" or (piece[0] == "quoted" and piece[1].startswith("`"))


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
    names: dict[Parts, None] = {}
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
                names[name] = None
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
    return tuple(names)


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
