"""The tables that a statement names, and which of them are ACID tables. Pure: the metastore is behind `Lookup`.

A name that a WITH clause defines is not a table. A name in a hint is an alias. Where sqlglot cannot parse a statement,
every name of it counts, so that a statement on an ACID table is never mistaken for one of Spark's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from typing import Final, NamedTuple

from sqlglot import TokenType, exp

from metastored.model.names import TableName
from metastored.spark.source import Source

Parts = tuple[str, ...]
"""A name as a statement has it, in lower case: `(t,)`, `(db, t)` or `(catalog, db, t)`."""

_LONGEST: Final = 3
_LITERALS: Final = frozenset(
    {TokenType.NUMBER, TokenType.STRING, TokenType.RAW_STRING, TokenType.HEX_STRING, TokenType.BIT_STRING}
)


class Definition(NamedTuple):
    """The definition of a stored view, as the metastore has it."""

    name: TableName
    text: str
    """Its query."""
    database: str
    """The database and the catalog in which the names of the query are resolved."""
    catalog: str
    columns: tuple[str, ...]
    """The columns of the view."""
    outputs: tuple[str, ...] = ()
    """The columns of the query that they are, by name; empty where they are all of them, by position."""


class Found(NamedTuple):
    """An ACID table, a view that reads one, or a Lance table: what Spark itself cannot read."""

    table: TableName
    """The ACID table, or the Lance table."""
    view: Definition | None = None
    """The view that reads the ACID table, if the name is that of a view."""
    lance: bool = False

    @property
    def name(self) -> TableName:
        """The table or the view that the name refers to."""
        return self.table if self.view is None else self.view.name


Lookup = Callable[[Set[Parts]], Mapping[Parts, Found]]
"""Returns the names that are ACID tables, views that read one, or Lance tables. All other names are missing."""


class Reference(NamedTuple):
    """A table in the tree of a statement."""

    node: exp.Table
    parts: Parts
    start: int
    """The position of the name in the text, and its end (exclusive)."""
    end: int
    simple: str
    """The last part of the name, with the quotes of the statement."""


def references(source: Source) -> list[Reference]:
    """The tables of a parsed statement, without those that its WITH clauses define."""
    assert source.tree is not None
    names: list[Reference] = []
    for node in source.tree.find_all(exp.Table):
        identifiers = [part for part in node.parts if isinstance(part, exp.Identifier)]
        if len(identifiers) != len(node.parts) or not 0 < len(identifiers) <= _LONGEST:
            continue
        if node.find_ancestor(exp.Hint, exp.JoinHint) is not None or _is_cte(node, identifiers):
            continue
        start, end = identifiers[0].meta.get("start"), identifiers[-1].meta.get("end")
        last = identifiers[-1].meta.get("start")
        if start is None or end is None or last is None:
            raise source.error(f"the position of the table {node.name} is unknown")
        parts = tuple(each.name.lower() for each in identifiers)
        names.append(Reference(node, parts, start, end + 1, source.text[last : end + 1]))
    return names


def _is_cte(node: exp.Table, identifiers: list[exp.Identifier]) -> bool:
    """Whether a WITH clause around this name defines it. A common table expression sees only those before itself."""
    if len(identifiers) != 1:
        return False
    name = identifiers[0].name.lower()
    inside: object = node
    above = node.parent
    while above is not None:
        clause = above if isinstance(above, exp.With) else above.args.get("with_")
        if isinstance(clause, exp.With) and clause is not inside:
            for each in clause.expressions:
                if each is inside and not clause.args.get("recursive"):
                    break
                if each.alias.lower() == name:
                    return True
                if each is inside:
                    break
        inside, above = above, above.parent
    return False


def indirect(source: Source) -> Iterator[tuple[Parts, int]]:
    """Names of tables that the tree has under other nodes: `TABLE t`."""
    assert source.tree is not None
    for node in source.tree.find_all(exp.Table):
        start = node.this.meta.get("start", 0) if isinstance(node.this, exp.Expression) else 0
        if isinstance(node.this, exp.Identifier) and node.this.name.lower() == "table" and node.alias:
            yield (node.alias.lower(),), start


def all_names(source: Source) -> Iterator[tuple[Parts, int]]:
    """Every chain of names in a statement that is not parsed, and its position."""
    index = 0
    while index < len(source.tokens):
        first = index
        parts, index = name_at(source, first)
        if 0 < len(parts) <= _LONGEST:
            yield parts, source.offset(first)
        index += not parts


def name_at(source: Source, index: int) -> tuple[Parts, int]:
    """The chain of names that begins at a token, and the token behind it; without names if there is none."""
    parts: list[str] = []
    while index < len(source.tokens) and _is_name(source, index):
        parts.append(source.tokens[index].text.lower())
        index += 1
        if not source.at(index, TokenType.DOT):
            break
        index += 1
    return tuple(parts), index


def _is_name(source: Source, index: int) -> bool:
    token = source.tokens[index]
    if token.token_type in (TokenType.IDENTIFIER, TokenType.VAR):
        return True
    return token.text.replace("_", "a").isalnum() and token.token_type not in _LITERALS
