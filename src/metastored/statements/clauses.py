"""Builds values from lark's tree: names, texts, and the clauses that several statements share.

Each rule of the grammar that makes a value has a method `on_<rule>`, which gets the rule's tree and its built children.
A clause is a pair of its field and its value. Tokens are not children: `token_of` is for the rules that need theirs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from metastored.errors import StatementError
from metastored.statements.basics import Kind, Pairs, Parts

if TYPE_CHECKING:
    from lark import Token, Tree

MOST_DEPTH: Final = 150
"""Levels of rules: a type in a type takes three."""
_ESCAPE: Final = re.compile(r"\\u([0-9A-Fa-f]{4})|\\(.)|''|\"\"", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a"}


class Clauses:
    """The clauses, and the walk over the tree."""

    def build(self, tree: Any, depth: int = 0) -> Any:
        """The value of a tree. Raises StatementError, also for types that are nested too deeply."""
        if depth > MOST_DEPTH:
            raise StatementError("the type is nested too deeply", tree.meta.line, tree.meta.column)
        children = [self.build(each, depth + 1) for each in tree.children if hasattr(each, "data")]
        make: Callable[[Tree[Token], list[Any]], Any] = getattr(self, f"on_{tree.data}")
        return make(tree, children)

    def on_connected_to(self, tree: Tree[Token], children: list[Any]) -> tuple[str, Parts]:
        return "connected_to", children[0][1]

    def on_via(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return "via", children[0]

    def on_using(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return "using", children[0]

    def on_prefix(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return "prefix", children[0]

    def on_comment(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return "comment", children[0]

    def on_type(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return "type", children[0]

    def on_url(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return "url", children[0]

    def on_like(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return "like", children[0]

    def on_in(self, tree: Tree[Token], children: list[Any]) -> tuple[str, Parts]:
        return "database", children[0][1]

    def on_if_not_exists(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "if_not_exists", True

    def on_if_exists(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "if_exists", True

    def on_extended(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "extended", True

    def on_detail(self, tree: Tree[Token], children: list[Any]) -> tuple[str, str]:
        return "detail", token_of(tree).type

    def on_kind(self, tree: Tree[Token], children: list[Any]) -> tuple[str, Kind]:
        word = token_of(tree).type
        return "kind", Kind.DATABASE if word == "SCHEMA" else Kind[word]

    def on_partition(self, tree: Tree[Token], children: list[tuple[str, str]]) -> tuple[str, Pairs]:
        return "partition", distinct(tree, children, "partition key")

    def on_value(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return children[0], children[1]

    def on_properties(self, tree: Tree[Token], children: list[tuple[str, str]]) -> tuple[str, Pairs]:
        return "properties", distinct(tree, children, "property")

    def on_property(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return children[0], children[1]

    def on_keys(self, tree: Tree[Token], children: list[str]) -> tuple[str, tuple[str, ...]]:
        return "unset", tuple(children)

    def on_name(self, tree: Tree[Token], children: list[str]) -> tuple[str, Parts]:
        return "name", tuple(children)

    def on_identifier(self, tree: Tree[Token], children: list[Any]) -> str:
        token = token_of(tree)
        return token[1:-1].replace("``", "`") if token.type == "QUOTED_NAME" else str(token)

    def on_text(self, tree: Tree[Token], children: list[Any]) -> str:
        return _ESCAPE.sub(_unescaped, token_of(tree)[1:-1])

    def on_number(self, tree: Tree[Token], children: list[Any]) -> str:
        return str(token_of(tree))


def _unescaped(match: re.Match[str]) -> str:
    if match[1] is not None:
        return chr(int(match[1], 16))
    if match[2] is not None:
        return _ESCAPED.get(match[2], match[2])
    return match[0][0]


def token_of(tree: Tree[Token]) -> Token:
    token = tree.children[0]
    assert not hasattr(token, "data")
    return token


def fields_of(tree: Tree[Token], children: list[tuple[str, Any]], parts: int) -> dict[str, Any]:
    """The clauses of a statement; its own name has at most so many parts."""
    fields = dict(children)
    check_parts(tree, fields.get("name"), "the name", parts)
    check_parts(tree, fields.get("database"), "the database", 2)
    return fields


def check_parts(tree: Tree[Token], name: Parts | None, what: str, most: int) -> None:
    if name is not None and len(name) > most:
        raise StatementError(
            f"{what} {'.'.join(name)} has {len(name)} parts; at most {most} are possible",
            tree.meta.line,
            tree.meta.column,
        )


def distinct(tree: Tree[Token], pairs: list[tuple[str, str]], what: str) -> Pairs:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise StatementError(f"the {what} {key!r} is given twice", tree.meta.line, tree.meta.column)
        seen.add(key)
    return tuple(pairs)
