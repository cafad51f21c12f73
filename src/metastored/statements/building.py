"""Builds the values of a script from lark's tree: each topic has a class with its rules, and this one has them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metastored.statements.building_materialized import MaterializedBuilder
from metastored.statements.building_remotes import RemotesBuilder
from metastored.statements.building_rights import RightsBuilder
from metastored.statements.building_shows import ShowsBuilder
from metastored.statements.values import Statement

if TYPE_CHECKING:
    from lark import Token, Tree


class Builder(RemotesBuilder, RightsBuilder, MaterializedBuilder, ShowsBuilder):
    """All rules."""

    def on_script(self, tree: Tree[Token], children: list[Any]) -> tuple[Statement, ...]:
        return tuple(children)
