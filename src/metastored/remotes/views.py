"""Names of tables in the text of views: remote names to local ones, in Hive's, Spark's and Trino's views. Pure.

The text is scanned, not parsed: comments, strings and everything but names of tables and of functions with a database
stay as they are. A name is one of a table where a query can have one: behind FROM and JOIN, and behind a comma there.
A column that is written with its database (`db.t.c`) is renamed where the query has that table. A name with a catalog
is renamed only if the catalog is the remote metastore; in a view of Trino, that is the catalog of the view. What cannot
be scanned is left unchanged.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from metastored.hive.names import normalize

RenameTable = Callable[[str, str], tuple[str, str]]
"""Database and table, normalised, to the names that they have here; the same names where there are none."""

_TOKEN: Final = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<text>'(?:[^'\\]|\\.|'')*')"""
    r"""|(?P<quoted>`(?:[^`]|``)*`|"(?:[^"]|"")*")|(?P<word>[^\W\d]\w*|\d\w*)|(?P<space>\s+)|(?P<mark>.)""",
    re.DOTALL,
)
_ENDS: Final = frozenset(
    (
        *("where", "group", "order", "having", "union", "intersect", "except", "minus"),
        *("limit", "window", "cluster", "distribute", "sort", "qualify"),
    )
)
"""Words that end the tables of a query."""
_TRINO: Final = re.compile(r"\s*(/\* Presto (?:Materialized )?View: )([A-Za-z0-9+/=\s]+?)( \*/)\s*", re.DOTALL)
_OF_SPARK_AND_HIVE: Final[Mapping[str, str]] = {"spark_catalog": "spark_catalog", "hive": "hive"}
"""The names of the metastore in views of Spark and Hive, which are the same everywhere."""
SPARK_NAMESPACE: Final = "view.catalogAndNamespace.part."
SPARK_2_DATABASE: Final = "view.default.database"


class _Token(NamedTuple):
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def name(self) -> str:
        """The identifier that it is, normalised."""
        if self.kind != "quoted":
            return normalize(self.text)
        quote = self.text[0]
        return normalize(self.text[1:-1].replace(quote * 2, quote))


def rename_view(text: str, rename: RenameTable, database: Callable[[str], str], trino_catalog: str = "") -> str:
    """The text of a view with local names. `database` renames a database that is named alone.

    `trino_catalog` is the name of this metastore in Trino, in the place of the remote's name there; empty where both
    have the same.
    """
    trino = _TRINO.fullmatch(text)
    if trino is None:
        return rename_query(text, rename, database)
    try:
        definition = json.loads(base64.b64decode(trino[2], validate=False))
        if not isinstance(definition, dict):
            return text
        own = normalize(definition["catalog"]) if isinstance(definition.get("catalog"), str) else ""
        catalogs = {own: trino_catalog or own}
        definition["originalSql"] = rename_query(definition["originalSql"], rename, database, catalogs)
        if isinstance(definition.get("schema"), str):
            definition["schema"] = database(normalize(definition["schema"]))
        if own:
            definition["catalog"] = catalogs[own]
    except (binascii.Error, ValueError, KeyError, TypeError):
        return text
    return trino[1] + base64.b64encode(json.dumps(definition, separators=(",", ":")).encode()).decode() + trino[3]


def rename_property(key: str, value: str, database: Callable[[str], str]) -> str:
    """A parameter of a Spark view, which has the database that unqualified names of its text belong to."""
    if key == SPARK_2_DATABASE or (key.startswith(SPARK_NAMESPACE) and key != f"{SPARK_NAMESPACE}0"):
        return database(normalize(value))
    return value


def rename_query(
    text: str,
    rename: RenameTable,
    database: Callable[[str], str],
    catalogs: Mapping[str, str] = _OF_SPARK_AND_HIVE,
) -> str:
    """A query with other names of tables. `catalogs` are the names of the remote metastore, and what they become."""
    tokens = [
        _Token(match.lastgroup or "", match.group(), match.start())
        for match in _TOKEN.finditer(text)
        if match.lastgroup not in ("comment", "space")
    ]
    chains = [(names, role) for names, role in _chains(tokens) if not _is_elsewhere(names, role, catalogs)]
    tables = {
        (names[-2].name, names[-1].name): rename(names[-2].name, names[-1].name)
        for names, role in chains
        if role == "table" and len(names) > 1
    }
    edits: dict[_Token, str] = {}
    for names, role in chains:
        if role == "table" and len(names) > 1:
            edits |= _renamed(names[-2:], tables[names[-2].name, names[-1].name])
            edits |= _renamed(names[-3:-2], tuple(catalogs[each.name] for each in names[-3:-2]))
        elif role == "function" and len(names) > 1:
            edits |= _renamed(names[-2:-1], (database(names[-2].name),))
            edits |= _renamed(names[-3:-2], tuple(catalogs[each.name] for each in names[-3:-2]))
        elif role == "column":
            for at in (0, 1):
                if len(names) > at + 2 and (names[at].name, names[at + 1].name) in tables:
                    edits |= _renamed(names[at : at + 2], tables[names[at].name, names[at + 1].name])
                    edits |= _renamed(names[:at], tuple(catalogs.get(each.name, each.name) for each in names[:at]))
                    break
    parts: list[str] = []
    copied = 0
    for token in sorted(edits, key=lambda token: token.start):
        parts += (text[copied : token.start], edits[token])
        copied = token.end
    return "".join((*parts, text[copied:]))


def _is_elsewhere(names: list[_Token], role: str, catalogs: Mapping[str, str]) -> bool:
    """Whether a table or a function is one of another catalog."""
    return role != "column" and len(names) > 2 and names[-3].name not in catalogs


def _renamed(tokens: list[_Token], names: tuple[str, ...]) -> Mapping[_Token, str]:
    """Only what changes, with the quotes that it had."""
    renamed = {}
    for token, name in zip(tokens, names, strict=True):
        if token.name != name:
            quote = token.text[0] if token.kind == "quoted" else ""
            renamed[token] = f"{quote}{name}{quote}"
    return renamed


class _Level:
    """What is known inside of one pair of parentheses."""

    def __init__(self, query: bool) -> None:
        self.query = query
        self.in_tables = False
        self.expects_table = False


def _chains(tokens: list[_Token]) -> Iterator[tuple[list[_Token], str]]:
    """Each `a.b.c`, and whether it names a table, a function or a column."""
    levels = [_Level(True)]
    at, before = 0, ""
    while at < len(tokens):
        token, level = tokens[at], levels[-1]
        word = token.text.lower() if token.kind == "word" else ""
        if token.text == "(":
            following = tokens[at + 1].text.lower() if at + 1 < len(tokens) else ""
            # What is in the parentheses of `FROM (a JOIN b)` are tables too.
            inner = _Level(following in ("select", "with", "from", "(") or level.expects_table)
            inner.expects_table = inner.in_tables = level.expects_table and following not in ("select", "with")
            level.expects_table = False
            levels.append(inner)
        elif token.text == ")":
            if len(levels) > 1:
                levels.pop()
        elif token.text == ",":
            level.expects_table = level.in_tables
        elif word in ("from", "join"):
            if level.query and before != "distinct":
                level.in_tables = level.expects_table = True
        elif word in _ENDS:
            level.in_tables = level.expects_table = False
        elif word == "select":
            level.in_tables = level.expects_table = False
            level.query = True
        elif word in ("lateral", "table", "unnest", "only") and level.expects_table:
            pass
        elif token.kind in ("quoted", "word"):
            names = [token]
            while at + 2 < len(tokens) and tokens[at + 1].text == "." and tokens[at + 2].kind in ("quoted", "word"):
                names.append(tokens[at + 2])
                at += 2
            called = at + 1 < len(tokens) and tokens[at + 1].text == "("
            if called:
                yield names, "function"
            elif level.expects_table:
                yield names, "table"
            else:
                yield names, "column"
            level.expects_table = False
        before, at = word, at + 1
