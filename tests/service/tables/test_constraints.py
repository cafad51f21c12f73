"""Constraints through the metastore's calls, on SQLite and PostgreSQL."""

from __future__ import annotations

import re
from typing import Any

import pytest

from metastored.errors import InvalidObjectException, MetaException, NoSuchObjectException
from metastored.hive.generation import Generation
from metastored.service.core.changes import unpack
from metastored.service.tables.constraints import follow_columns
from metastored.store.objects import events, tables
from metastored.wire.codec import binary
from metastored.wire.generated.common import (
    SQLCheckConstraint,
    SQLDefaultConstraint,
    SQLForeignKey,
    SQLNotNullConstraint,
    SQLPrimaryKey,
    SQLUniqueConstraint,
)
from metastored.wire.generated.constraints import (
    AddCheckConstraintRequest,
    AddDefaultConstraintRequest,
    AddForeignKeyRequest,
    AddNotNullConstraintRequest,
    AddPrimaryKeyRequest,
    AddUniqueConstraintRequest,
    AllTableConstraintsRequest,
    DropConstraintRequest,
    ForeignKeysRequest,
    PrimaryKeysRequest,
    UniqueConstraintsRequest,
)
from metastored.wire.generated.tables import CreateTableRequest
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore
from tests.support.objects import COLUMNS, DB, make_table
from tests.support.objects import sales_table as table

FLAGS = (True, False, True)


def primary(*columns: str, name: str | None = "pk1", of: str = "t") -> tuple[SQLPrimaryKey, ...]:
    return tuple(
        SQLPrimaryKey(DB, of, column, at, name, *FLAGS, catName="hive") for at, column in enumerate(columns, 1)
    )


def unique(*columns: str, name: str | None = "uk1", of: str = "t") -> tuple[SQLUniqueConstraint, ...]:
    return tuple(SQLUniqueConstraint("hive", DB, of, column, at, name, *FLAGS) for at, column in enumerate(columns, 1))


def foreign(
    *pairs: tuple[str, str], name: str | None = "fk1", of: str = "u", to: str = "t"
) -> tuple[SQLForeignKey, ...]:
    return tuple(
        SQLForeignKey(DB, to, there, DB, of, here, at, 1, 2, name, None, *FLAGS, catName="hive")
        for at, (here, there) in enumerate(pairs, 1)
    )


def add_primary(metastore: Metastore, *keys: SQLPrimaryKey) -> None:
    metastore.call("add_primary_key", AddPrimaryKeyRequest(primaryKeyCols=keys))


def add_foreign(metastore: Metastore, *keys: SQLForeignKey) -> None:
    metastore.call("add_foreign_key", AddForeignKeyRequest(foreignKeyCols=keys))


def primary_keys(metastore: Metastore, of: str = "t") -> Any:
    return metastore.call("get_primary_keys", PrimaryKeysRequest(db_name=DB, tbl_name=of)).primaryKeys


def foreign_keys(metastore: Metastore, **names: Any) -> Any:
    return metastore.call("get_foreign_keys", ForeignKeysRequest(**names)).foreignKeys


def drop(metastore: Metastore, name: str, of: str = "t") -> None:
    request = DropConstraintRequest(dbname=DB, tablename=of, constraintname=name)
    metastore.call("drop_constraint", request)


@pytest.fixture
def two(metastore: Metastore) -> Metastore:
    """A metastore with the tables `t` and `u`."""
    make_table(metastore, "t")
    make_table(metastore, "u")
    return metastore


def test_a_primary_key_comes_back_column_by_column(two: Metastore) -> None:
    add_primary(two, *primary("A", "b", name="PK1"))
    assert primary_keys(two) == primary("a", "b")


def test_a_table_has_one_primary_key(two: Metastore) -> None:
    add_primary(two, *primary("a"))
    with pytest.raises(MetaException) as caught:
        add_primary(two, *primary("b", name="pk2"))
    assert caught.value.message == f" Primary key already exists for: hive.{DB}.t"
    assert primary_keys(two) == primary("a")


def test_a_constraint_name_is_unique_in_the_metastore(two: Metastore) -> None:
    add_primary(two, *primary("a"))
    with pytest.raises(MetaException, match="Constraint name already exists: pk1"):
        two.call(
            "add_unique_constraint", AddUniqueConstraintRequest(uniqueConstraintCols=unique("a", name="pk1", of="u"))
        )


def test_a_constraint_without_a_name_gets_one_for_all_its_columns(two: Metastore) -> None:
    add_primary(two, *primary("a", "b", name=None))
    names = {key.pk_name for key in primary_keys(two)}
    assert len(names) == 1
    assert re.fullmatch(rf"pk_\d+_{int(two.clock() * 1000)}_0", names.pop())


def test_missing_tables_and_columns_are_named(two: Metastore) -> None:
    with pytest.raises(NoSuchObjectException, match="Parent table not found: nope"):
        add_primary(two, *primary("a", of="nope"))
    with pytest.raises(NoSuchObjectException, match="Parent column not found: nope"):
        add_primary(two, *primary("a", "nope"))
    with pytest.raises(NoSuchObjectException, match="Child table not found: nope"):
        add_foreign(two, *foreign(("a", "a"), of="nope"))
    with pytest.raises(NoSuchObjectException, match="Child column not found: nope"):
        add_foreign(two, *foreign(("nope", "a")))
    assert primary_keys(two) == ()
    assert primary_keys(two, "nope") == ()


def test_a_foreign_key_names_the_key_it_refers_to(two: Metastore) -> None:
    add_primary(two, *primary("a", "b"))
    keys = foreign(("a", "a"), ("b", "b"))
    add_foreign(two, *keys)
    expected = tuple(replace(key, pk_name="pk1") for key in keys)
    assert foreign_keys(two, foreign_db_name=DB, foreign_tbl_name="u") == expected
    assert foreign_keys(two, parent_db_name=DB, parent_tbl_name="T") == expected
    assert foreign_keys(two, parent_db_name=DB, parent_tbl_name="t", foreign_tbl_name="u") == expected
    assert foreign_keys(two, parent_db_name=DB, parent_tbl_name="u") == ()


def test_a_foreign_key_needs_a_complete_key_of_the_same_types(two: Metastore) -> None:
    with pytest.raises(MetaException, match="there are no primary keys or unique keys for referenced table"):
        add_foreign(two, *foreign(("a", "a")))
    add_primary(two, *primary("a", "b"))
    with pytest.raises(MetaException) as caught:
        add_foreign(two, *foreign(("a", "a")))
    assert caught.value.message == (
        "Foreign key references a:int; but no corresponding primary key or unique key exists."
        " Possible keys: [a:int;b:string;]"
    )
    with pytest.raises(MetaException, match="Foreign key references a:bigint;b:string; but no corresponding"):
        add_foreign(two, *foreign(("c", "a"), ("b", "b")))
    with pytest.raises(MetaException, match="Cannot be both foreign key and primary/unique key on same table"):
        add_foreign(two, *foreign(("a", "a"), ("b", "b"), of="t"))
    assert foreign_keys(two, foreign_db_name=DB) == ()


def test_clients_of_2_3_may_refer_to_any_column(start: Starter) -> None:
    metastore = start(Generation.HIVE_2_3)
    make_table(metastore, "t")
    make_table(metastore, "u")
    add_foreign(metastore, *(replace(key, catName=None) for key in foreign(("a", "c"))))
    assert [key.pk_name for key in foreign_keys(metastore, foreign_db_name=DB)] == [None]


def test_all_kinds_of_constraints_come_in_one_reply(hive_4: Metastore) -> None:
    make_table(hive_4, "t")
    place = ("hive", DB, "t")
    not_null = SQLNotNullConstraint(*place, "a", "nn1", *FLAGS)
    default = SQLDefaultConstraint(*place, "b", "'x'", "dc1", *FLAGS)
    checks = (
        SQLCheckConstraint(*place, "a", "a > 0", "cc1", *FLAGS),
        SQLCheckConstraint(*place, None, "a < c", "cc2", *FLAGS),
    )
    add_primary(hive_4, *primary("a"))
    hive_4.call("add_unique_constraint", AddUniqueConstraintRequest(uniqueConstraintCols=unique("c", "b")))
    hive_4.call("add_not_null_constraint", AddNotNullConstraintRequest(notNullConstraintCols=(not_null,)))
    hive_4.call("add_default_constraint", AddDefaultConstraintRequest(defaultConstraintCols=(default,)))
    hive_4.call("add_check_constraint", AddCheckConstraintRequest(checkConstraintCols=checks))
    request = AllTableConstraintsRequest(dbName=DB, tblName="t", catName="hive")
    result = hive_4.call("get_all_table_constraints", request).allTableConstraints
    assert tuple(result) == (primary("a"), (), unique("c", "b"), (not_null,), (default,), checks)
    requested = UniqueConstraintsRequest(catName="hive", db_name=DB, tbl_name="t")
    assert hive_4.call("get_unique_constraints", requested).uniqueConstraints == unique("c", "b")
    for method, kind in (("not_null", (not_null,)), ("default", (default,)), ("check", checks)):
        assert hive_4.call(f"get_{method}_constraints", requested)[0] == kind


def test_a_table_is_created_with_its_constraints_or_not_at_all(two: Metastore) -> None:
    add_primary(two, *primary("a"))
    new = table("v")
    with pytest.raises(InvalidObjectException, match="Parent column not found: nope"):
        two.call("create_table_with_constraints", new, primary("nope", of="v", name="pk2"))
    assert "v" not in two.call("get_all_tables", DB)
    keys = foreign(("a", "a"), of="v", name="fk2")
    two.call("create_table_with_constraints", new, primary("a", "b", of="v", name=None), keys)
    assert [key.column_name for key in primary_keys(two, "v")] == ["a", "b"]
    assert len(foreign_keys(two, foreign_db_name=DB, foreign_tbl_name="v")) == 1


def test_the_newer_way_of_creating_takes_constraints_too(metastore: Metastore) -> None:
    make_table(metastore, "t")
    request = CreateTableRequest(
        table=table("v"),
        uniqueConstraints=unique("a", of="v"),
        foreignKeys=foreign(("b", "a"), of="v", to="v"),
    )
    with pytest.raises(MetaException, match="Foreign key references a:string;"):
        metastore.call("create_table_req", request)
    request = replace(request, foreignKeys=None)
    metastore.call("create_table_req", request)
    requested = UniqueConstraintsRequest(catName="hive", db_name=DB, tbl_name="v")
    assert metastore.call("get_unique_constraints", requested).uniqueConstraints == unique("a", of="v")


def test_a_dropped_constraint_is_gone_and_a_second_time_missed(two: Metastore) -> None:
    add_primary(two, *primary("a", "b"))
    drop(two, "PK1")
    assert primary_keys(two) == ()
    for name, of in (("pk1", "t"), ("pk1", "nope")):
        with pytest.raises(NoSuchObjectException) as caught:
            drop(two, name, of)
        assert caught.value.message == (f"The constraint: pk1 does not exist for the associated table: {DB}.{of}")


def test_constraints_stay_with_a_renamed_table_and_are_dropped_with_a_dropped_one(two: Metastore) -> None:
    add_primary(two, *primary("a"))
    add_foreign(two, *foreign(("a", "a")))
    two.call("alter_table", DB, "t", replace(two.call("get_table", DB, "t"), tableName="w"))
    assert primary_keys(two, "w") == primary("a", of="w")
    assert [key.pktable_name for key in foreign_keys(two, foreign_db_name=DB)] == ["w"]
    two.call("drop_table", DB, "w", False)
    assert foreign_keys(two, foreign_db_name=DB) == ()
    add_primary(two, *primary("a", of="u"))


def test_constraints_follow_renamed_columns_and_are_dropped_with_dropped_columns(two: Metastore) -> None:
    add_primary(two, *primary("a", "b"))
    add_foreign(two, *foreign(("a", "a"), ("b", "b")))
    row = tables.find(two.database.reader(), "hive", DB, "t")
    assert row is not None
    renamed = table("t", columns=(("id", "int"), *COLUMNS[1:]))
    with two.database.write() as tx:
        follow_columns(tx, row.id, table("t"), renamed)
    assert [key.column_name for key in primary_keys(two)] == ["id", "b"]
    assert [key.pkcolumn_name for key in foreign_keys(two, foreign_db_name=DB)] == ["id", "b"]
    with two.database.write() as tx:
        follow_columns(tx, row.id, renamed, table("t", columns=(("id", "int"), ("c", "bigint"))))
    assert (primary_keys(two), foreign_keys(two, foreign_db_name=DB)) == ((), ())


def test_every_change_is_an_event(two: Metastore) -> None:
    last = events.current(two.database.reader())
    add_primary(two, *primary("a", name=None))
    (key,) = primary_keys(two)
    add_foreign(two, *foreign(("a", "a")))
    drop(two, "fk1", "u")
    two.call("create_table_with_constraints", table("v"), primary("a", of="v", name="pk2"))
    result = events.since(two.database.reader(), last)
    assert [(event.type, event.tbl) for event in result] == [
        ("ADD_PRIMARYKEY", "t"),
        ("ADD_FOREIGNKEY", "t"),
        ("DROP_CONSTRAINT", "u"),
        ("CREATE_TABLE", "v"),
        ("ADD_PRIMARYKEY", "v"),
    ]
    assert binary.decode(SQLPrimaryKey, dict(unpack(result[0].body))["primary_key"]) == key
    assert dict(unpack(result[2].body))["constraint"] == b"fk1"


def test_in_hive_4_a_constraint_name_is_unique_in_its_table_only(hive_4: Metastore) -> None:
    for name in ("t", "u"):
        make_table(hive_4, name)
        key = (SQLPrimaryKey(DB, name, "a", 1, "pk", True, False, True, catName="hive"),)
        hive_4.call("add_primary_key", AddPrimaryKeyRequest(key))
    unique = (SQLUniqueConstraint("hive", DB, "t", "b", 1, "PK", True, False, True),)
    with pytest.raises(MetaException, match="Constraint name already exists: pk"):
        hive_4.call("add_unique_constraint", AddUniqueConstraintRequest(unique))


def test_a_change_of_a_constraint_does_not_affect_another_of_the_same_name(hive_4: Metastore) -> None:
    for name in ("t", "u", "v"):
        make_table(hive_4, name)
        unique = (SQLUniqueConstraint("hive", DB, name, "b", 1, "uk", True, False, True),)
        hive_4.call("add_unique_constraint", AddUniqueConstraintRequest(unique))
    hive_4.call("drop_constraint", DropConstraintRequest(DB, "t", "uk"))
    table = hive_4.call("get_table", DB, "u")
    hive_4.call("alter_table", DB, "u", replace(table, sd=replace(table.sd, cols=table.sd.cols[:1])))
    left = {
        name: len(hive_4.call("get_unique_constraints", UniqueConstraintsRequest("hive", DB, name)).uniqueConstraints)
        for name in ("t", "u", "v")
    }
    assert left == {"t": 0, "u": 0, "v": 1}
