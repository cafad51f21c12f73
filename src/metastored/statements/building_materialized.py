"""Builds the values of the statements about materialized views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from metastored.statements.building_definitions import DefinitionsBuilder, merged, once, refuse
from metastored.statements.clauses import check_parts, fields_of, token_of
from metastored.statements.materialized import (
    AlterMaterializedView,
    CreateMaterializedView,
    DropMaterializedView,
    ShowMaterializedViews,
)

if TYPE_CHECKING:
    from lark import Token, Tree

CLAUSES = frozenset({"comment", "stored_as", "row_format", "location", "properties"})
"""Those of tables that a materialized view has."""
OTHERS = frozenset({"name", "query", "columns", "if_not_exists", "disabled"})


class MaterializedBuilder(DefinitionsBuilder):
    """One method for each rule."""

    def on_create_materialized_view(self, tree: Tree[Token], children: list[Any]) -> CreateMaterializedView:
        once(tree, children)
        fields = fields_of(tree, children, 3)
        if fields.keys() - CLAUSES - OTHERS:
            refuse(
                tree,
                "a materialized view takes COMMENT, ROW FORMAT, STORED AS, LOCATION and TBLPROPERTIES; one with "
                "partitions is made in Hive",
            )
        stored, row = fields.pop("stored_as", None), fields.pop("row_format", None)
        if stored is not None or row is not None:
            fields["storage"] = merged(stored, row)
        return CreateMaterializedView(**fields)

    def on_disabled(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "disabled", True

    def on_alter_materialized_view(self, tree: Tree[Token], children: list[Any]) -> AlterMaterializedView:
        check_parts(tree, children[0][1], "the name", 3)
        return AlterMaterializedView(children[0][1], children[1])

    def on_rewrite(self, tree: Tree[Token], children: list[Any]) -> bool:
        return token_of(tree).type == "ENABLE"

    def on_rebuild(self, tree: Tree[Token], children: list[Any]) -> NoReturn:
        refuse(tree, "REBUILD computes the rows of the view, which Hive does: run ALTER MATERIALIZED VIEW there")

    def on_drop_materialized_view(self, tree: Tree[Token], children: list[Any]) -> DropMaterializedView:
        return DropMaterializedView(**fields_of(tree, children, 3))

    def on_show_materialized_views(self, tree: Tree[Token], children: list[Any]) -> ShowMaterializedViews:
        return ShowMaterializedViews(**fields_of(tree, children, 2))
