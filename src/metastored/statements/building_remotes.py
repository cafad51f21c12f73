"""Builds the values of the statements about remotes and connectors, and of those that only read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metastored.errors import StatementError
from metastored.statements.clauses import Clauses, fields_of
from metastored.statements.values import (
    AlterConnector,
    AlterRemote,
    CreateConnector,
    CreateRemote,
    DescribeConnector,
    DropConnector,
    DropRemote,
    Kind,
    ShowConnectors,
    ShowCreateRemote,
    ShowRemotes,
    Use,
)

if TYPE_CHECKING:
    from lark import Token, Tree


class RemotesBuilder(Clauses):
    """One method for each rule."""

    # Remotes

    def on_create_remote_table(self, tree: Tree[Token], children: list[Any]) -> CreateRemote:
        return CreateRemote(Kind.TABLE, **fields_of(tree, children, 3))

    def on_create_remote_database(self, tree: Tree[Token], children: list[Any]) -> CreateRemote:
        return CreateRemote(Kind.DATABASE, **fields_of(tree, children, 2))

    def on_create_remote_catalog(self, tree: Tree[Token], children: list[Any]) -> CreateRemote:
        return CreateRemote(Kind.CATALOG, **fields_of(tree, children, 1))

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
        return ShowRemotes(**fields_of(tree, children, 2))

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

    def on_use(self, tree: Tree[Token], children: list[Any]) -> Use:
        return Use(**fields_of(tree, children, 2))


def _single(tree: Tree[Token], children: list[tuple[str, Any]]) -> dict[str, Any]:
    """The clauses of a statement about a connector, which has a simple name."""
    fields = fields_of(tree, children, 1)
    fields["name"] = fields["name"][0]
    return fields


def _changes(tree: Tree[Token], children: list[tuple[str, Any]], parts: int) -> dict[str, Any]:
    fields = fields_of(tree, children, parts)
    if "properties" in fields:
        fields["set"] = fields.pop("properties")
    if len(fields) == 1:
        raise StatementError(
            "the statement changes nothing", tree.meta.line, tree.meta.column, ("CONNECTED TO", "SET", "UNSET", "VIA")
        )
    return fields


def _kind_and_name(tree: Tree[Token], children: list[tuple[str, Any]]) -> dict[str, Any]:
    most = {Kind.TABLE: 3, Kind.DATABASE: 2, Kind.CATALOG: 1}
    return fields_of(tree, children, most[dict(children)["kind"]])
