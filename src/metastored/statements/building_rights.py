"""Builds the values of the statements about roles and privileges, and checks what may be granted on which object."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from metastored.errors import StatementError
from metastored.hive.limits import shortened
from metastored.statements.basics import ROLE, Principal
from metastored.statements.clauses import Clauses, check_parts, token_of
from metastored.statements.rights import (
    CONNECTOR,
    DATABASE,
    GRANTED_ON,
    PRIVILEGES,
    SERVER,
    TABLE,
    CreateRole,
    DropRole,
    Grant,
    GrantRole,
    Privilege,
    Revoke,
    RevokeRole,
    SetRole,
    ShowCurrentRoles,
    ShowGrant,
    ShowPrincipals,
    ShowRoleGrant,
    ShowRoles,
    Target,
)

if TYPE_CHECKING:
    from lark import Token, Tree

RESERVED = ("all", "default", "none")
"""Names that no role may have: they are words of SET ROLE."""


class Grantable(NamedTuple):
    """A word after GRANT or REVOKE: a privilege or a role."""

    written: str
    columns: tuple[str, ...]
    tree: Any


class RightsBuilder(Clauses):
    """One method for each rule."""

    def on_create_role(self, tree: Tree[Token], children: list[Any]) -> CreateRole:
        name: str = children[0][1]
        if name.lower() in RESERVED:
            _refuse(tree, f"no role can have the name {name}: it is a word of SET ROLE")
        return CreateRole(name)

    def on_drop_role(self, tree: Tree[Token], children: list[Any]) -> DropRole:
        fields = dict(children)
        return DropRole(fields["role"], fields.get("if_exists", False))

    def on_set_role(self, tree: Tree[Token], children: list[Any]) -> SetRole:
        return SetRole(children[0][1])

    def on_show_roles(self, tree: Tree[Token], children: list[Any]) -> ShowRoles:
        return ShowRoles()

    def on_show_current_roles(self, tree: Tree[Token], children: list[Any]) -> ShowCurrentRoles:
        return ShowCurrentRoles()

    def on_show_role_grant(self, tree: Tree[Token], children: list[Any]) -> ShowRoleGrant:
        return ShowRoleGrant(children[0][1])

    def on_show_principals(self, tree: Tree[Token], children: list[Any]) -> ShowPrincipals:
        return ShowPrincipals(children[0][1])

    def on_show_grant(self, tree: Tree[Token], children: list[Any]) -> ShowGrant:
        fields = dict(children)
        return ShowGrant(fields.get("principal"), fields.get("object"))

    def on_grant(self, tree: Tree[Token], children: list[Any]) -> Grant | GrantRole:
        made: Grant | GrantRole = self._granted(tree, dict(children), Grant, GrantRole)
        return made

    def on_revoke(self, tree: Tree[Token], children: list[Any]) -> Revoke | RevokeRole:
        fields = dict(children)
        if fields.pop("cascade", False):
            _refuse(
                tree,
                "Hive's REVOKE has no CASCADE and no RESTRICT: grants do not depend on each other. "
                "Revoke what the principal has passed on by statements of its own; SHOW GRANT lists it",
            )
        made: Revoke | RevokeRole = self._granted(tree, fields, Revoke, RevokeRole)
        return made

    def _granted(self, tree: Tree[Token], fields: dict[str, Any], privileges: type, roles: type) -> Any:
        is_role, words = fields["grantables"]
        target, option = fields.get("object"), fields.get("option")
        known = [each.written.upper() in PRIVILEGES for each in words]
        if not is_role and target is None and option != "ADMIN" and any(known) and not all(known):
            role = words[known.index(False)]
            _refuse(role.tree, f"a statement grants privileges or roles, and {_shown(role)} is not a privilege")
        if is_role or (target is None and (option == "ADMIN" or not any(known))):
            if target is not None:
                _refuse(tree, "a role is granted without an object: leave ON out")
            if option == "GRANT":
                _refuse(tree, "the option of a role is called ADMIN OPTION", ("WITH ADMIN OPTION",))
            named = tuple(self._role_name(each) for each in words)
            return roles(named, fields["principals"], option is not None)
        if option == "ADMIN":
            _refuse(tree, "the option of a privilege is called GRANT OPTION", ("WITH GRANT OPTION",))
        target = Target() if target is None else target
        return privileges(
            tuple(_privilege(each, target) for each in words), fields["principals"], target, option is not None
        )

    @staticmethod
    def _role_name(each: Grantable) -> str:
        if each.columns:
            _refuse(each.tree, f"{_shown(each)} is not a privilege, and a role has no columns")
        return each.written if token_of(each.tree.children[0]).type == "QUOTED_NAME" else each.written.lower()

    # Clauses

    def on_grantables(self, tree: Tree[Token], children: list[Any]) -> tuple[str, Any]:
        by_role = children[0] == ("by_role", True)
        return "grantables", (by_role, children[1:] if by_role else children)

    def on_by_role(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "by_role", True

    def on_grantable(self, tree: Tree[Token], children: list[Any]) -> Grantable:
        return Grantable(children[0], children[1] if len(children) == 2 else (), tree)

    def on_column_names(self, tree: Tree[Token], children: list[str]) -> tuple[str, ...]:
        return tuple(children)

    def on_principals(self, tree: Tree[Token], children: list[tuple[str, Principal]]) -> tuple[str, Any]:
        return "principals", tuple(principal for _, principal in children)

    def on_principal(self, tree: Tree[Token], children: list[Any]) -> tuple[str, Principal]:
        kind = token_of(tree).type
        return "principal", Principal(children[0][1] if kind == ROLE else children[0], kind)

    def on_role(self, tree: Tree[Token], children: list[Any]) -> tuple[str, str]:
        """Names of roles are case-insensitive in Hive; in backquotes one is as written."""
        name = self.on_identifier(tree, children)
        return "role", name if token_of(tree).type == "QUOTED_NAME" else name.lower()

    def on_with_option(self, tree: Tree[Token], children: list[Any]) -> tuple[str, str]:
        return "option", str(tree.children[1].type)  # type: ignore[union-attr]

    def on_option_for(self, tree: Tree[Token], children: list[Any]) -> tuple[str, str]:
        return "option", token_of(tree).type

    def on_cascade(self, tree: Tree[Token], children: list[Any]) -> tuple[str, bool]:
        return "cascade", True

    def on_everything(self, tree: Tree[Token], children: list[Any]) -> tuple[str, None]:
        return "object", None

    def on_object(self, tree: Tree[Token], children: list[Target]) -> tuple[str, Target]:
        return "object", children[0]

    def on_on_server(self, tree: Tree[Token], children: list[Any]) -> Target:
        return Target(SERVER)

    def on_on_database(self, tree: Tree[Token], children: list[Any]) -> Target:
        check_parts(tree, children[0][1], "the database", 2)
        return Target(DATABASE, children[0][1])

    def on_on_table(self, tree: Tree[Token], children: list[Any]) -> Target:
        fields = dict(children)
        check_parts(tree, fields["name"], "the table", 3)
        return Target(TABLE, fields["name"], fields.get("partition", ()))

    def on_on_connector(self, tree: Tree[Token], children: list[str]) -> Target:
        return Target(CONNECTOR, (children[0],))

    def on_on_catalog(self, tree: Tree[Token], children: list[str]) -> Target:
        _refuse(
            tree,
            "the metastore's API has no grants on catalogs: grant on each database of the catalog, or ON SERVER; a "
            "remote catalog names its roles in 'metastored.remote.readers' and 'metastored.remote.writers'",
        )

    def on_on_location(self, tree: Tree[Token], children: list[str]) -> Target:
        _refuse(
            tree,
            "the metastore's API has no grants on single locations: GRANT USE_LOCATION ON SERVER allows all of them",
        )

    def on_on_function(self, tree: Tree[Token], children: list[Any]) -> Target:
        _refuse(tree, "the metastore's API has no grants on functions: all users can read them, and admins create them")


def _privilege(each: Grantable, target: Target) -> Privilege:
    word = each.written.upper()
    if word not in PRIVILEGES:
        near = get_close_matches(word, PRIVILEGES, 1)
        meant = f"; did you mean {near[0]}?" if near else f"; privileges are {', '.join(PRIVILEGES)}"
        _refuse(each.tree, f"{_shown(each)} is not a privilege{meant}")
    possible = GRANTED_ON.get(word, (target.kind,))
    if target.kind not in possible:
        where = " or ".join(f"ON {kind}" for kind in possible)
        _refuse(each.tree, f"{word} cannot be granted on a {target.kind.lower()}: it is granted {where}")
    if each.columns and target.kind != TABLE:
        _refuse(each.tree, f"columns are those of a table: {word} ({', '.join(each.columns)}) ON TABLE …")
    return Privilege(word, each.columns)


def _shown(each: Grantable) -> str:
    return repr(shortened(each.written))


def _refuse(tree: Any, problem: str, expected: tuple[str, ...] = ()) -> NoReturn:
    raise StatementError(problem, tree.meta.line, tree.meta.column, expected)
