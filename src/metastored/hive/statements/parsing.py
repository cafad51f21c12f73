"""Parses statements. A text that is none raises StatementError: its line, its column, and what would be right there.

lark is imported, and the grammar compiled, at the first statement: a quarter of a second, once in a process. There is
no cache of the compiled grammar in a file: it would save 0.13 s, and lark's is a pickle, which whoever can write it can
make execute anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from metastored.errors import StatementError
from metastored.hive.limits import shortened
from metastored.hive.statements.values import (
    AlterConnector,
    AlterRemote,
    CreateConnector,
    CreateRemote,
    DescribeConnector,
    DescribeDatabase,
    DescribeTable,
    DropConnector,
    DropRemote,
    GrantCreateRemote,
    Kind,
    Pairs,
    Parts,
    Principal,
    RevokeCreateRemote,
    ShowConnectors,
    ShowCreateRemote,
    ShowDatabases,
    ShowPartitions,
    ShowRemotes,
    ShowTables,
    Statement,
    Use,
)

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

GRAMMAR: Final = Path(__file__).with_name("grammar.lark")
NEVER_NAMED: Final = frozenset({"BLANKS", "LINE_COMMENT", "BLOCK_COMMENT"})
WORDS: Final = {
    "NAME": "a name",
    "QUOTED_NAME": "a name in backquotes",
    "TEXT": "a text in quotes",
    "NUMBER": "a number",
    "$END": "the end of the statement",
    "SEMICOLON": ";",
    "COMMA": ",",
    "DOT": ".",
    "EQUAL": "=",
    "LPAR": "(",
    "RPAR": ")",
}
"""Terminals that are no keywords, as errors call them."""

_ESCAPE: Final = re.compile(r"\\u([0-9A-Fa-f]{4})|\\(.)|''|\"\"", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a"}


def parse(text: str) -> Statement:
    """The statement that a text is; a `;` may end it. Raises StatementError also where there are several."""
    statements = parse_script(text)
    if len(statements) != 1:
        found = "no statement" if not statements else f"{len(statements)} statements"
        raise StatementError(f"one statement is expected, and there is {found}", 1, 1)
    return statements[0]


def parse_script(text: str) -> tuple[Statement, ...]:
    """The statements of a text, separated by `;`. Raises StatementError; then none of them should be executed."""
    from lark.exceptions import UnexpectedInput

    parser: Any = _parser().parse_interactive(text)
    tokens: list[Token] = []
    try:
        for token in parser.iter_parse():
            tokens.append(token)
        tree = parser.feed_eof()
    except UnexpectedInput as error:
        right = len(tokens) - (bool(tokens) and tokens[-1] is getattr(error, "token", None))
        raise _error(error, text, _accepted(text, right)) from None
    statements: tuple[Statement, ...] = _Builder().build(tree)
    return statements


def keywords() -> tuple[str, ...]:
    """All keywords of the statements, sorted, for completion."""
    return tuple(sorted(each.name for each in _parser().terminals if each.name not in {*WORDS, *NEVER_NAMED}))


@cache
def _parser() -> Lark:
    from lark import Lark

    return Lark(
        GRAMMAR.read_text("utf-8"), parser="lalr", start="script", propagate_positions=True, maybe_placeholders=True
    )


def _error(error: Any, text: str, accepted: set[str]) -> StatementError:
    """An error of lark's in our words."""
    names = accepted - {"QUOTED_NAME"} if "NAME" in accepted else accepted
    expected = tuple(sorted(WORDS.get(name, name) for name in names))
    token = getattr(error, "token", None)
    if token is None:
        at: int = error.pos_in_stream
        sign = text[at]
        line, column = error.line, error.column
        if sign in "'\"`":
            return StatementError(f"the quote {sign} is not closed", line, column, expected)
        if text.startswith("/*", at):
            return StatementError("the comment /* is not closed", line, column, expected)
        return StatementError(f"the character {sign!r} is not expected", line, column, expected)
    if token.type == "$END":
        before = text.rstrip()
        line = before.count("\n") + 1
        return StatementError("the statement is not complete", line, len(before) - before.rfind("\n"), expected)
    # A text may be a secret: it is not repeated.
    found = WORDS["TEXT"] if token.type == "TEXT" else repr(shortened(str(token)))
    return StatementError(f"{found} is not expected", token.line, token.column, expected)


def _accepted(text: str, tokens: int) -> set[str]:
    """The terminals that may follow the first tokens of a text.

    The parser that failed has reduced what is before the wrong token, and accepts less by now: another one stops there.
    """
    from lark.exceptions import UnexpectedInput

    parser: Any = _parser().parse_interactive(text)
    reading = parser.iter_parse()
    with suppress(UnexpectedInput, StopIteration):
        for _ in range(tokens + 1):
            next(reading)  # It feeds the token before.
    accepted: set[str] = parser.accepts()
    return accepted


class _Builder:
    """Values from lark's tree: each rule has a method of its name, which gets the rule's tree and its built children.

    A clause is a pair of its field and its value. Tokens are no children: `_token` is for the rules that need theirs.
    """

    def build(self, tree: Any) -> Any:
        children = [self.build(each) for each in tree.children if hasattr(each, "data")]
        make: Callable[[Tree[Token], list[Any]], Any] = getattr(self, f"on_{tree.data}")
        return make(tree, children)

    def on_script(self, tree: Tree[Token], children: list[Any]) -> tuple[Statement, ...]:
        return tuple(children)

    # Remotes

    def on_create_remote_table(self, tree: Tree[Token], children: list[Any]) -> CreateRemote:
        return CreateRemote(Kind.TABLE, **_fields(tree, children, 3))

    def on_create_remote_database(self, tree: Tree[Token], children: list[Any]) -> CreateRemote:
        return CreateRemote(Kind.DATABASE, **_fields(tree, children, 2))

    def on_create_remote_catalog(self, tree: Tree[Token], children: list[Any]) -> CreateRemote:
        return CreateRemote(Kind.CATALOG, **_fields(tree, children, 1))

    def on_alter_remote_table(self, tree: Tree[Token], children: list[Any]) -> AlterRemote:
        return AlterRemote(Kind.TABLE, **_changes(tree, children, 3))

    def on_alter_remote_database(self, tree: Tree[Token], children: list[Any]) -> AlterRemote:
        return AlterRemote(Kind.DATABASE, **_changes(tree, children, 2))

    def on_alter_remote_catalog(self, tree: Tree[Token], children: list[Any]) -> AlterRemote:
        return AlterRemote(Kind.CATALOG, **_changes(tree, children, 1))

    def on_drop_remote(self, tree: Tree[Token], children: list[Any]) -> DropRemote:
        return DropRemote(**_kind_and_name(tree, children))

    def on_show_create_remote(self, tree: Tree[Token], children: list[Any]) -> ShowCreateRemote:
        return ShowCreateRemote(**_kind_and_name(tree, children))

    def on_show_remotes(self, tree: Tree[Token], children: list[Any]) -> ShowRemotes:
        return ShowRemotes(**_fields(tree, children, 2))

    # Connectors

    def on_create_connector(self, tree: Tree[Token], children: list[Any]) -> CreateConnector:
        return CreateConnector(**_single(tree, children))

    def on_alter_connector(self, tree: Tree[Token], children: list[Any]) -> AlterConnector:
        fields = _single(tree, children)
        if "principal" in fields:
            fields["owner"] = fields.pop("principal")
        return AlterConnector(**fields)

    def on_drop_connector(self, tree: Tree[Token], children: list[Any]) -> DropConnector:
        return DropConnector(**_single(tree, children))

    def on_show_connectors(self, tree: Tree[Token], children: list[Any]) -> ShowConnectors:
        return ShowConnectors()

    def on_describe_connector(self, tree: Tree[Token], children: list[Any]) -> DescribeConnector:
        return DescribeConnector(**_single(tree, children))

    # The rest

    def on_show_databases(self, tree: Tree[Token], children: list[Any]) -> ShowDatabases:
        return ShowDatabases(**dict(children))

    def on_show_tables(self, tree: Tree[Token], children: list[Any]) -> ShowTables:
        return ShowTables(**_fields(tree, children, 2))

    def on_show_partitions(self, tree: Tree[Token], children: list[Any]) -> ShowPartitions:
        return ShowPartitions(**_fields(tree, children, 3))

    def on_describe_database(self, tree: Tree[Token], children: list[Any]) -> DescribeDatabase:
        return DescribeDatabase(**_fields(tree, children, 2))

    def on_describe_table(self, tree: Tree[Token], children: list[Any]) -> DescribeTable:
        return DescribeTable(**_fields(tree, children, 3))

    def on_use(self, tree: Tree[Token], children: list[Any]) -> Use:
        return Use(**_fields(tree, children, 2))

    def on_grant(self, tree: Tree[Token], children: list[Any]) -> GrantCreateRemote:
        return GrantCreateRemote(**_fields(tree, children, 2))

    def on_revoke(self, tree: Tree[Token], children: list[Any]) -> RevokeCreateRemote:
        return RevokeCreateRemote(**_fields(tree, children, 2))

    # Clauses

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

    def on_on(self, tree: Tree[Token], children: list[Any]) -> tuple[str, Parts]:
        return "database", children[0][1]

    def on_if_not_exists(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "if_not_exists", True

    def on_if_exists(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "if_exists", True

    def on_extended(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "extended", True

    def on_detail(self, tree: Tree[Token], children: list[Any]) -> tuple[str, str]:
        return "detail", _token(tree).type

    def on_kind(self, tree: Tree[Token], children: list[Any]) -> tuple[str, Kind]:
        word = _token(tree).type
        return "kind", Kind.DATABASE if word == "SCHEMA" else Kind[word]

    def on_principal(self, tree: Tree[Token], children: list[str]) -> tuple[str, Principal]:
        return "principal", Principal(children[0], _token(tree).type == "ROLE")

    def on_partition(self, tree: Tree[Token], children: list[tuple[str, str]]) -> tuple[str, Pairs]:
        return "partition", _distinct(tree, children, "partition key")

    def on_value(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return children[0], children[1]

    def on_properties(self, tree: Tree[Token], children: list[tuple[str, str]]) -> tuple[str, Pairs]:
        return "properties", _distinct(tree, children, "property")

    def on_property(self, tree: Tree[Token], children: list[str]) -> tuple[str, str]:
        return children[0], children[1]

    def on_keys(self, tree: Tree[Token], children: list[str]) -> tuple[str, tuple[str, ...]]:
        return "unset", tuple(children)

    def on_name(self, tree: Tree[Token], children: list[str]) -> tuple[str, Parts]:
        return "name", tuple(children)

    def on_identifier(self, tree: Tree[Token], children: list[Any]) -> str:
        token = _token(tree)
        return token[1:-1].replace("``", "`") if token.type == "QUOTED_NAME" else str(token)

    def on_text(self, tree: Tree[Token], children: list[Any]) -> str:
        return _ESCAPE.sub(_unescaped, _token(tree)[1:-1])

    def on_number(self, tree: Tree[Token], children: list[Any]) -> str:
        return str(_token(tree))


def _unescaped(match: re.Match[str]) -> str:
    if match[1] is not None:
        return chr(int(match[1], 16))
    if match[2] is not None:
        return _ESCAPED.get(match[2], match[2])
    return match[0][0]


def _token(tree: Tree[Token]) -> Token:
    token = tree.children[0]
    assert not hasattr(token, "data")
    return token


def _fields(tree: Tree[Token], children: list[tuple[str, Any]], parts: int) -> dict[str, Any]:
    """The clauses of a statement; its own name has at most so many parts."""
    fields = dict(children)
    _check_parts(tree, fields.get("name"), "the name", parts)
    _check_parts(tree, fields.get("database"), "the database", 2)
    return fields


def _single(tree: Tree[Token], children: list[tuple[str, Any]]) -> dict[str, Any]:
    """The clauses of a statement about a connector, which has a simple name."""
    fields = _fields(tree, children, 1)
    fields["name"] = fields["name"][0]
    return fields


def _changes(tree: Tree[Token], children: list[tuple[str, Any]], parts: int) -> dict[str, Any]:
    fields = _fields(tree, children, parts)
    if "properties" in fields:
        fields["set"] = fields.pop("properties")
    if len(fields) == 1:
        raise StatementError(
            "the statement changes nothing", tree.meta.line, tree.meta.column, ("CONNECTED TO", "SET", "UNSET", "VIA")
        )
    return fields


def _kind_and_name(tree: Tree[Token], children: list[tuple[str, Any]]) -> dict[str, Any]:
    most = {Kind.TABLE: 3, Kind.DATABASE: 2, Kind.CATALOG: 1}
    return _fields(tree, children, most[dict(children)["kind"]])


def _check_parts(tree: Tree[Token], name: Parts | None, what: str, most: int) -> None:
    if name is not None and len(name) > most:
        raise StatementError(
            f"{what} {'.'.join(name)} has {len(name)} parts; at most {most} are possible",
            tree.meta.line,
            tree.meta.column,
        )


def _distinct(tree: Tree[Token], pairs: list[tuple[str, str]], what: str) -> Pairs:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise StatementError(f"the {what} {key!r} is given twice", tree.meta.line, tree.meta.column)
        seen.add(key)
    return tuple(pairs)
