"""Statements as text, so that `parse(printed(statement)) == statement`."""

from __future__ import annotations

import re
from typing import Final

from metastored.hive.quoting import backquoted
from metastored.statements.values import CreateConnector, CreateRemote, Kind, Pairs, Parts

PROPERTIES: Final = {Kind.TABLE: "TBLPROPERTIES", Kind.DATABASE: "DBPROPERTIES", Kind.CATALOG: "PROPERTIES"}
"""The keyword before the properties of each kind of remote."""

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_PLAIN: Final = re.compile(r"[a-z0-9_]*[a-z_][a-z0-9_]*")
_KEYWORDS: Final = frozenset(
    {"if", "extended", "formatted", "table", "database", "schema", "connector", "catalog", "function"}
)
"""Keywords that can be where a name can be: as names they need backquotes."""


def printed(statement: CreateRemote | CreateConnector) -> str:
    """The statement, one clause on each line, without `;`."""
    exists = "IF NOT EXISTS " if statement.if_not_exists else ""
    if isinstance(statement, CreateConnector):
        lines = [f"CREATE CONNECTOR {exists}{_identifier(statement.name)}"]
        lines += [f"TYPE {quoted(statement.type)}", f"URL {quoted(statement.url)}"]
        lines += _clause("COMMENT", statement.comment)
        return "\n".join([*lines, *_properties("DCPROPERTIES", statement.properties)])
    lines = [f"CREATE REMOTE {statement.kind.value} {exists}{name(statement.name)}"]
    lines += _clause("COMMENT", statement.comment)
    lines += _clause("PREFIX", statement.prefix)
    if statement.connected_to is not None:
        lines.append(f"CONNECTED TO {name(statement.connected_to)}")
    lines += _clause("VIA", statement.via)
    if statement.using is not None:
        lines.append(f"USING {_identifier(statement.using)}")
    return "\n".join([*lines, *_properties(PROPERTIES[statement.kind], statement.properties)])


def name(parts: Parts) -> str:
    """A name, in backquotes where it needs them."""
    return ".".join(map(_identifier, parts))


def quoted(text: str) -> str:
    """A text in single quotes, on one line and without control characters."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return "'" + _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped) + "'"


def _identifier(text: str) -> str:
    if _PLAIN.fullmatch(text) and text not in _KEYWORDS:
        return text
    return backquoted(text)


def _clause(word: str, text: str | None) -> list[str]:
    return [] if text is None else [f"{word} {quoted(text)}"]


def _properties(word: str, pairs: Pairs) -> list[str]:
    if not pairs:
        return []
    lines = [f"  {quoted(key)} = {quoted(value)}" for key, value in pairs]
    return [f"WITH {word} (", ",\n".join(lines), ")"]
