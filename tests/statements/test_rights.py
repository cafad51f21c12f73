"""Statements about roles and privileges are parsed into values; what cannot be granted is refused with a sentence."""

from __future__ import annotations

import pytest

from metastored.errors import StatementError
from metastored.statements.basics import GROUP, ROLE, Principal
from metastored.statements.parsing import parse
from metastored.statements.rights import (
    PRIVILEGES,
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
from metastored.statements.values import Statement
from metastored.statements.words import is_own

BOB = Principal("bob")
ORDERS = Target("TABLE", ("shop", "orders"))
SELECT = (Privilege("SELECT"),)

STATEMENTS: dict[str, Statement] = {
    "CREATE ROLE Analyst": CreateRole("analyst"),
    "CREATE ROLE `Analyst`": CreateRole("Analyst"),
    "DROP ROLE IF EXISTS analyst": DropRole("analyst", True),
    "SET ROLE ADMIN": SetRole("admin"),
    "SHOW ROLES": ShowRoles(),
    "SHOW CURRENT ROLES": ShowCurrentRoles(),
    "SHOW ROLE GRANT GROUP g": ShowRoleGrant(Principal("g", GROUP)),
    "SHOW PRINCIPALS analyst": ShowPrincipals("analyst"),
    "GRANT SELECT ON shop.orders TO USER bob": Grant(SELECT, (BOB,), ORDERS),
    "GRANT SELECT ON VIEW shop.orders TO USER bob": Grant(SELECT, (BOB,), ORDERS),
    "GRANT ALL PRIVILEGES ON DATABASE shop TO ROLE R WITH GRANT OPTION": Grant(
        (Privilege("ALL"),), (Principal("r", ROLE),), Target("DATABASE", ("shop",)), True
    ),
    "GRANT SELECT (id, name), INSERT ON TABLE shop.orders PARTITION (ds = '1') TO USER bob, GROUP g": Grant(
        (Privilege("SELECT", ("id", "name")), Privilege("INSERT")),
        (BOB, Principal("g", GROUP)),
        Target("TABLE", ("shop", "orders"), (("ds", "1"),)),
    ),
    "GRANT USE_LOCATION ON SERVER TO USER bob": Grant((Privilege("USE_LOCATION"),), (BOB,)),
    "GRANT CREATE TO USER bob": Grant((Privilege("CREATE"),), (BOB,)),
    "GRANT SELECT ON CONNECTOR c TO USER bob": Grant(SELECT, (BOB,), Target("CONNECTOR", ("c",))),
    "GRANT analyst TO USER bob WITH ADMIN OPTION": GrantRole(("analyst",), (BOB,), True),
    "GRANT ROLE select, `Two` TO ROLE other": GrantRole(("select", "Two"), (Principal("other", ROLE),)),
    "REVOKE SELECT ON shop.orders FROM USER bob": Revoke(SELECT, (BOB,), ORDERS),
    "REVOKE GRANT OPTION FOR SELECT ON shop.orders FROM USER bob": Revoke(SELECT, (BOB,), ORDERS, True),
    "REVOKE ADMIN OPTION FOR analyst FROM USER bob": RevokeRole(("analyst",), (BOB,), True),
    "REVOKE ROLE analyst FROM USER bob": RevokeRole(("analyst",), (BOB,)),
    "SHOW GRANT": ShowGrant(),
    "SHOW GRANT USER bob ON ALL": ShowGrant(BOB),
    "SHOW GRANT ON TABLE shop.orders": ShowGrant(None, ORDERS),
    "SHOW GRANT ROLE r ON SERVER": ShowGrant(Principal("r", ROLE), Target()),
}


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_statement_about_rights_becomes_a_value(text: str) -> None:
    assert parse(text) == STATEMENTS[text]


@pytest.mark.parametrize("text", STATEMENTS)
def test_spark_leaves_a_statement_about_rights_to_metastored(text: str) -> None:
    assert is_own(text)


@pytest.mark.parametrize("word", PRIVILEGES)
def test_every_privilege_can_be_granted_on_the_server(word: str) -> None:
    assert parse(f"grant {word.lower()} on server to user bob") == Grant((Privilege(word),), (BOB,))


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("GRANT SELCT ON t TO USER b", 7, "'SELCT' is not a privilege; did you mean SELECT"),
        ("GRANT frobnicate ON t TO USER b", 7, "privileges are SELECT, INSERT"),
        ("GRANT SELECT, foo TO USER b", 15, "grants privileges or roles, and 'foo' is not a privilege"),
        ("GRANT USE_LOCATION ON t TO USER b", 7, "cannot be granted on a table: it is granted ON SERVER"),
        ("GRANT CREATE_REMOTE ON t TO USER b", 7, "it is granted ON SERVER or ON DATABASE"),
        ("GRANT SELECT (a) ON DATABASE d TO USER b", 7, "columns are those of a table"),
        ("GRANT r (a) TO USER b", 7, "a role has no columns"),
        ("GRANT SELECT ON CATALOG c TO USER b", 17, "no grants on catalogs"),
        ("GRANT SELECT ON LOCATION 's3://b' TO USER b", 17, "GRANT USE_LOCATION ON SERVER"),
        ("GRANT SELECT ON FUNCTION f TO USER b", 17, "no grants on functions"),
        ("GRANT SELECT ON t TO USER b WITH ADMIN OPTION", 1, "is called GRANT OPTION"),
        ("GRANT ROLE r TO USER b WITH GRANT OPTION", 1, "is called ADMIN OPTION"),
        ("GRANT ROLE r ON t TO USER b", 1, "a role is granted without an object"),
        ("REVOKE SELECT ON t FROM USER b CASCADE", 1, "no CASCADE and no RESTRICT"),
        ("CREATE ROLE None", 1, "no role can have the name none"),
        ("GRANT SELECT ON a.b.c.d TO USER b", 17, "has 4 parts"),
        ("GRANT SELECT ON t TO bob", 22, "'bob' is not expected; expected: GROUP, ROLE or USER"),
    ],
)
def test_what_cannot_be_granted_is_refused_with_its_place_and_what_would_work(
    text: str, column: int, problem: str
) -> None:
    with pytest.raises(StatementError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (1, column)
    assert problem in str(caught.value)
