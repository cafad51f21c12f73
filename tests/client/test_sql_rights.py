"""Roles and privileges by statements, at a server that enforces them: SQLite and PostgreSQL, both halves of the client.

The server trusts the user name of a connection, as every server without authentication does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest

import metastored
from metastored.errors import (
    DatabaseNotFound,
    Error,
    InvalidInputException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
    PermissionDenied,
    TableNotFound,
)
from tests.support.driven import connected
from tests.support.in_process import serving_metastore
from tests.support.postgres import shared_postgres


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def uri(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ExitStack() as stack:
        settings: dict[str, Any] = {"authorization": "sql", "admin_users": "root"}
        if request.param == "postgresql":
            settings["database_url"] = stack.enter_context(shared_postgres().database())
        yield stack.enter_context(serving_metastore(tmp_path_factory.mktemp("rights"), **settings))


As = Callable[[str], Any]


@pytest.fixture
def user(uri: str, half: str) -> Iterator[As]:
    """A client of a user; `root` is an admin, and `owner` owns `shop` and its tables."""
    with ExitStack() as stack:

        def client(name: str) -> Any:
            return stack.enter_context(connected(half, uri, user=name))

        root = client("root")
        root.create_database(metastored.database("shop", owner="owner"), if_not_exists=True)
        orders = metastored.table(
            "shop.orders", {"id": "bigint", "name": "string"}, partitioned_by={"ds": "string"}, owner="owner"
        )
        with suppress(NoSuchObjectException):
            root.drop_table("shop.orders")
        root.create_table(orders)
        root.add_partitions("shop.orders", [("1",)])
        yield client
        for row in root.sql("SHOW GRANT").dicts():
            if row["principal_name"] == "admin":
                continue  # The role has this grant from the first start.
            target = _target(row)
            columns = f" ({row['column']})" if row["column"] else ""
            principal = f"{row['principal_type']} `{row['principal_name']}`"
            root.sql(f"REVOKE {row['privilege']}{columns} ON {target} FROM {principal}")
        for (role,) in root.sql("SHOW ROLES").rows:
            if role not in ("admin", "public"):
                root.sql(f"DROP ROLE `{role}`")


def _target(row: dict[str, str]) -> str:
    if row["table"]:
        key, _, value = row["partition"].rpartition("=")
        partition = f" PARTITION ({key or 'ds'} = '{value}')" if row["partition"] else ""
        return f"TABLE {row['database']}.{row['table']}{partition}"
    return f"DATABASE {row['database']}" if row["database"] else "SERVER"


def granted(client: Any, what: str) -> list[tuple[str, ...]]:
    """Principal, privilege, option and grantor."""
    return [(*row[4:8], row[9]) for row in client.sql(f"SHOW GRANT {what}").rows]


def test_a_table_is_granted_by_its_owner_to_a_role_that_a_user_has(user: As) -> None:
    root, owner, bob = user("root"), user("owner"), user("bob")
    with pytest.raises(PermissionDenied, match=r"needs SELECT on table shop\.orders"):
        bob.table("shop.orders")
    root.sql("CREATE ROLE analyst; GRANT analyst TO USER bob")
    owner.sql("GRANT SELECT ON shop.orders TO ROLE analyst")
    assert bob.table("shop.orders").tableName == "orders"
    with pytest.raises(PermissionDenied, match="needs INSERT"):
        bob.add_partitions("shop.orders", [("2",)])
    assert granted(owner, "ON TABLE shop.orders") == [("analyst", "ROLE", "SELECT", "false", "owner")]
    owner.sql("REVOKE SELECT ON shop.orders FROM ROLE analyst")
    with pytest.raises(PermissionDenied):
        bob.table("shop.orders")


def test_show_grant_has_the_columns_of_hive(user: As) -> None:
    owner = user("owner")
    owner.sql("GRANT SELECT, INSERT ON shop.orders TO USER bob WITH GRANT OPTION")
    result = owner.sql("SHOW GRANT USER bob ON TABLE shop.orders")
    assert result.columns == (
        *("database", "table", "partition", "column", "principal_name", "principal_type", "privilege"),
        *("grant_option", "grant_time", "grantor"),
    )
    assert [row[:8] for row in result.rows] == [
        ("shop", "orders", "", "", "bob", "USER", "INSERT", "true"),
        ("shop", "orders", "", "", "bob", "USER", "SELECT", "true"),
    ]
    assert all(row[8].endswith("000") and row[9] == "owner" for row in result.rows)


def reads(client: Any) -> None:
    client.table("shop.orders")


def adds_a_partition(client: Any) -> None:
    client.api.append_partition("shop", "orders", ("new",))


def drops_a_partition(client: Any) -> None:
    client.drop_partition("shop.orders", ("1",))


def locks_for_an_update(client: Any) -> None:
    from metastored.wire.generated.common import DataOperationType
    from metastored.wire.generated.locks import LockComponent, LockLevel, LockRequest, LockType, UnlockRequest

    part = LockComponent(
        type=LockType.SHARED_WRITE,
        level=LockLevel.TABLE,
        dbname="shop",
        tablename="orders",
        operationType=DataOperationType.UPDATE,
    )
    lock = client.api.lock(LockRequest(component=(part,), user="bob", hostname="h")).lockid
    client.api.unlock(UnlockRequest(lock))


def creates_a_database(client: Any) -> None:
    client.create_database("made")
    client.drop_database("made")


def makes_a_remote_table(client: Any) -> None:
    client.sql("CREATE REMOTE TABLE shop.far WITH TBLPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:1')")


def makes_a_remote_database(client: Any) -> None:
    client.sql("CREATE REMOTE DATABASE far WITH DBPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:1')")


def uses_a_location(client: Any) -> None:
    outside = client.database("default").locationUri + "_elsewhere"
    client.create_table(metastored.table("default.elsewhere", {"id": "int"}, location=outside))


ACTIONS = {
    "reads": reads,
    "adds_a_partition": adds_a_partition,
    "drops_a_partition": drops_a_partition,
    "locks_for_an_update": locks_for_an_update,
    "creates_a_database": creates_a_database,
    "makes_a_remote_table": makes_a_remote_table,
    "makes_a_remote_database": makes_a_remote_database,
    "uses_a_location": uses_a_location,
}
DATA = {"reads", "adds_a_partition", "drops_a_partition", "locks_for_an_update"}


@pytest.mark.parametrize(
    ("granted_what", "opened"),
    [
        ("SELECT ON TABLE shop.orders", {"reads"}),
        ("INSERT ON TABLE shop.orders", {"adds_a_partition"}),
        ("UPDATE ON TABLE shop.orders", {"locks_for_an_update"}),
        ("DELETE ON TABLE shop.orders", {"drops_a_partition"}),
        ("ALL ON TABLE shop.orders", DATA),
        ("SELECT ON DATABASE shop", {"reads"}),
        ("ALL ON DATABASE shop", DATA),
        ("CREATE_REMOTE ON DATABASE shop", {"makes_a_remote_table"}),
        ("SELECT ON SERVER", {"reads"}),
        ("CREATE ON SERVER", {"creates_a_database"}),
        ("CREATE_REMOTE ON SERVER", {"makes_a_remote_table", "makes_a_remote_database"}),
        ("USE_LOCATION ON SERVER", {"uses_a_location"}),
        ("ALL ON SERVER", set(ACTIONS)),
        ("ALTER ON TABLE shop.orders", set()),
        ("SELECT (id) ON TABLE shop.orders", set()),
        ("SELECT ON TABLE shop.orders PARTITION (ds = '1')", set()),
    ],
)
def test_a_privilege_opens_its_calls_and_no_others(user: As, granted_what: str, opened: set[str]) -> None:
    root, bob = user("root"), user("bob")
    words, _, target = granted_what.partition(" ON ")
    root.sql(f"GRANT {words} ON {target} TO USER bob")
    allowed = set()
    for name, act in ACTIONS.items():
        try:
            act(bob)
        except PermissionDenied:
            continue
        allowed.add(name)
    root.sql("DROP REMOTE TABLE IF EXISTS shop.far; DROP REMOTE DATABASE IF EXISTS far")
    with suppress(NoSuchObjectException):
        root.drop_table("default.elsewhere", delete_data=False)
    assert allowed == opened


def test_the_grant_option_passes_a_privilege_on_until_it_is_revoked(user: As) -> None:
    owner, bob, carol = user("owner"), user("bob"), user("carol")
    owner.sql("GRANT SELECT ON shop.orders TO USER bob WITH GRANT OPTION")
    bob.sql("GRANT SELECT ON shop.orders TO USER carol")
    assert carol.table("shop.orders")
    owner.sql("REVOKE GRANT OPTION FOR SELECT ON shop.orders FROM USER bob")
    assert bob.table("shop.orders")
    with pytest.raises(PermissionDenied, match="SELECT with grant option"):
        bob.sql("GRANT SELECT ON shop.orders TO USER dave")
    assert ("carol", "USER", "SELECT", "false", "bob") in granted(owner, "ON TABLE shop.orders")


def test_revoke_all_takes_what_there_is_and_is_an_error_when_there_is_nothing(user: As) -> None:
    owner, root = user("owner"), user("root")
    owner.sql("GRANT SELECT, DELETE ON shop.orders TO USER bob")
    root.sql("GRANT SELECT ON shop.orders TO USER bob")
    owner.sql("REVOKE ALL ON shop.orders FROM USER bob")
    assert granted(owner, "ON TABLE shop.orders") == []
    with pytest.raises(InvalidOperationException, match="USER bob has no privilege"):
        owner.sql("REVOKE ALL ON shop.orders FROM USER bob")
    with pytest.raises(MetaException, match="No grant"):
        owner.sql("REVOKE SELECT ON shop.orders FROM USER bob")


def test_nothing_is_granted_when_one_of_the_principals_does_not_exist(user: As) -> None:
    owner = user("owner")
    with pytest.raises(MetaException, match="Role nosuch does not exist"):
        owner.sql("GRANT SELECT ON shop.orders TO USER bob, ROLE nosuch")
    assert granted(owner, "ON TABLE shop.orders") == []


def test_roles_of_several_principals_are_granted_together_or_not_at_all(user: As) -> None:
    root = user("root")
    root.sql("CREATE ROLE one; CREATE ROLE two; GRANT two TO USER carol")
    with pytest.raises(Error, match="carol already has the role two"):
        root.sql("GRANT one, two TO USER bob, USER carol")
    assert [row[0] for row in root.sql("SHOW ROLE GRANT USER bob").rows] == ["public"]
    assert [row[0] for row in root.sql("SHOW ROLE GRANT USER carol").rows] == ["public", "two"]


def test_an_object_that_does_not_exist_is_an_error_and_not_ignored(user: As) -> None:
    root = user("root")
    with pytest.raises(TableNotFound, match=r"shop\.nosuch"):
        root.sql("GRANT SELECT ON shop.nosuch TO USER bob")
    with pytest.raises(DatabaseNotFound):
        root.sql("GRANT SELECT ON nosuch.t TO USER bob")
    with pytest.raises(DatabaseNotFound):
        root.sql("SHOW GRANT ON DATABASE nosuch")
    with pytest.raises(InvalidOperationException, match="no column x; its columns are id, name, ds"):
        root.sql("GRANT SELECT (x) ON shop.orders TO USER bob")
    with pytest.raises(NoSuchObjectException):
        root.sql("GRANT SELECT ON shop.orders PARTITION (ds = '9') TO USER bob")
    with pytest.raises(InvalidInputException, match=r"is partitioned by \(ds\)"):
        root.sql("GRANT SELECT ON shop.orders PARTITION (h = '9') TO USER bob")
    assert {row[4] for row in root.sql("SHOW GRANT").rows} == {"admin"}


def test_a_table_is_found_beside_others_whose_names_look_like_patterns(user: As) -> None:
    root = user("root")
    with pytest.raises(TableNotFound):
        root.sql("GRANT SELECT ON shop.`ord*` TO USER bob")
    with pytest.raises(TableNotFound):
        root.sql("GRANT SELECT ON shop.`x|orders` TO USER bob")


def test_a_table_that_is_dropped_and_created_again_has_no_old_grants(user: As) -> None:
    root, owner, bob = user("root"), user("owner"), user("bob")
    owner.sql("GRANT SELECT ON shop.orders TO USER bob")
    root.drop_table("shop.orders")
    with pytest.raises(TableNotFound):
        owner.sql("REVOKE SELECT ON shop.orders FROM USER bob")
    root.create_table(metastored.table("shop.orders", {"id": "bigint"}, owner="owner"))
    with pytest.raises(PermissionDenied):
        bob.table("shop.orders")


def test_roles_are_listed_with_their_members_and_dropped_with_their_grants(user: As) -> None:
    root, bob = user("root"), user("bob")
    root.sql("CREATE ROLE Analyst; CREATE ROLE junior; GRANT ROLE analyst TO ROLE junior, USER al WITH ADMIN OPTION")
    root.sql("GRANT junior TO USER bob")
    assert [row for (row,) in root.sql("SHOW ROLES").rows] == ["admin", "analyst", "junior", "public"]
    members = root.sql("SHOW PRINCIPALS ANALYST")
    assert members.columns[:3] == ("principal_name", "principal_type", "grant_option")
    assert [row[:4] for row in members.rows] == [("al", "USER", "true", "root"), ("junior", "ROLE", "true", "root")]
    assert [row for (row,) in bob.sql("SHOW CURRENT ROLES").rows] == ["analyst", "junior", "public"]
    assert [row[0] for row in bob.sql("SHOW ROLE GRANT USER bob").rows] == ["junior", "public"]
    root.sql("REVOKE ADMIN OPTION FOR analyst FROM USER al")
    assert root.sql("SHOW PRINCIPALS analyst").rows[0][2] == "false"
    root.sql("REVOKE analyst FROM ROLE junior; DROP ROLE junior; DROP ROLE IF EXISTS junior")
    assert [row for (row,) in bob.sql("SHOW CURRENT ROLES").rows] == ["public"]
    for text in ("DROP ROLE junior", "SHOW PRINCIPALS junior"):
        with pytest.raises(NoSuchObjectException, match="there is no role junior; SHOW ROLES"):
            root.sql(text)
    with pytest.raises(InvalidOperationException, match="USER bob was not granted the role analyst"):
        root.sql("REVOKE analyst FROM USER bob")


def test_only_an_admin_makes_roles_and_sees_the_grants_of_others(user: As) -> None:
    bob = user("bob")
    for text in ("CREATE ROLE r", "DROP ROLE admin", "SHOW ROLES", "SHOW GRANT USER carol", "SHOW GRANT"):
        with pytest.raises(PermissionDenied):
            bob.sql(text)
    assert bob.sql("SHOW GRANT USER bob").rows == ()
    with pytest.raises(PermissionDenied, match="admin option on role admin"):
        bob.sql("GRANT admin TO USER bob")


def test_set_role_says_that_all_roles_are_always_in_effect(user: As) -> None:
    root = user("root")
    assert "nothing is changed" in root.sql("SET ROLE admin").rows[0][0]
    assert "nothing is changed" in root.sql("SET ROLE ALL").rows[0][0]
    with pytest.raises(InvalidOperationException, match="does not have the role nosuch"):
        root.sql("SET ROLE nosuch")
    with pytest.raises(InvalidOperationException, match="REVOKE takes a role away"):
        root.sql("SET ROLE NONE")


def test_names_of_principals_are_data_and_never_statements(user: As) -> None:
    root = user("root")
    name = "x'; DROP DATABASE shop -- `\n\x1b[2J"
    quoted = name.replace("`", "``")
    root.sql(f"GRANT SELECT ON shop.orders TO USER `{quoted}`")
    ((found, *_),) = granted(root, "ON TABLE shop.orders")
    assert found == name
    root.sql(f"REVOKE SELECT ON shop.orders FROM USER `{quoted}`")
    assert granted(root, "ON TABLE shop.orders") == []


def test_a_grant_that_exists_already_is_an_error_that_names_its_grantor(user: As) -> None:
    owner = user("owner")
    owner.sql("GRANT SELECT ON shop.orders TO USER bob")
    with pytest.raises(MetaException, match=r"already granted on table .*by owner"):
        owner.sql("GRANT SELECT ON shop.orders TO USER bob")
