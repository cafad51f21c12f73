"""Constraints. On the database of these tests 2.3 cannot store any, so only 3.1 is compared."""

from __future__ import annotations

from typing import Any

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
    CheckConstraintsRequest,
    DefaultConstraintsRequest,
    DropConstraintRequest,
    ForeignKeysRequest,
    NotNullConstraintsRequest,
    PrimaryKeysRequest,
    UniqueConstraintsRequest,
)
from metastored.wire.generated.databases import Database
from tests.differential.probes.objects import with_columns, with_fields
from tests.differential.script import HIVE_4, SINCE_3_1, Ask, EditTable, Probe
from tests.differential.script import ask as ask_all
from tests.support.objects import table

DB = "con"
FLAGS = (True, False, True)


def ask(label: str, method: str, *args: Any, show: Any = None) -> Ask:
    return ask_all(label, method, *args, show=show, versions=SINCE_3_1)


def since_4(label: str, method: str, *args: Any) -> Ask:
    return ask_all(label, method, *args, versions=HIVE_4)


def primary(*columns: str, name: str | None, of: str = "t") -> AddPrimaryKeyRequest:
    return AddPrimaryKeyRequest(keys(*columns, name=name, of=of))


def keys(*columns: str, name: str | None, of: str) -> tuple[SQLPrimaryKey, ...]:
    return tuple(
        SQLPrimaryKey(DB, of, column, at, name, *FLAGS, catName="hive") for at, column in enumerate(columns, 1)
    )


def unique(*columns: str, name: str, of: str = "t") -> AddUniqueConstraintRequest:
    return AddUniqueConstraintRequest(
        tuple(SQLUniqueConstraint("hive", DB, of, column, at, name, *FLAGS) for at, column in enumerate(columns, 1))
    )


def foreign(*pairs: tuple[str, str], name: str, of: str = "u", to: str = "t") -> AddForeignKeyRequest:
    return AddForeignKeyRequest(
        tuple(
            SQLForeignKey(DB, to, there, DB, of, here, at, 1, 2, name, None, *FLAGS, catName="hive")
            for at, (here, there) in enumerate(pairs, 1)
        )
    )


def of(name: str) -> tuple[str, str, str]:
    return "hive", DB, name


def drop(name: str, of: str = "t") -> DropConstraintRequest:
    return DropConstraintRequest(dbname=DB, tablename=of, constraintname=name)


def columns_of(result: Any) -> Any:
    return tuple((key.column_name, key.key_seq) for key in result.primaryKeys)


CHECK = SQLCheckConstraint(*of("t"), "a", "a > 0", "cc1", *FLAGS)

SCRIPT: list[Probe] = [
    ask("for them", "create_database", Database(name=DB)),
    ask("t", "create_table", table(DB, "t", "a int, b string, c bigint")),
    ask("u", "create_table", table(DB, "u", "a int, b string, c bigint")),
    ask("none", "get_primary_keys", PrimaryKeysRequest(DB, "t")),
    ask("missing table", "get_primary_keys", PrimaryKeysRequest(DB, "nope")),
    ask("two columns", "add_primary_key", primary("A", "b", name="PK1")),
    ask("two columns", "get_primary_keys", PrimaryKeysRequest(DB.upper(), "T")),
    ask("a second", "add_primary_key", primary("c", name="pk2")),
    ask("missing table", "add_primary_key", primary("c", name="pk3", of="nope")),
    ask("missing column", "add_primary_key", primary("nope", name="pk3", of="u")),
    ask("a name that is taken", "add_unique_constraint", unique("a", name="pk1", of="u")),
    ask("plain", "add_unique_constraint", unique("c", name="uk1")),
    ask("plain", "get_unique_constraints", UniqueConstraintsRequest(*of("t"))),
    ask("plain", "add_foreign_key", foreign(("a", "a"), ("b", "b"), name="fk1")),
    ask("of the child", "get_foreign_keys", ForeignKeysRequest(foreign_db_name=DB, foreign_tbl_name="u")),
    ask("of the parent", "get_foreign_keys", ForeignKeysRequest(parent_db_name=DB, parent_tbl_name="t")),
    ask("of both", "get_foreign_keys", ForeignKeysRequest(DB, "t", DB, "u")),
    ask("of no such", "get_foreign_keys", ForeignKeysRequest(DB, "u", DB, "t")),
    ask("half a key", "add_foreign_key", foreign(("a", "a"), name="fk2")),
    ask("another type", "add_foreign_key", foreign(("b", "c"), name="fk2")),
    ask("to a table without keys", "add_foreign_key", foreign(("a", "a"), name="fk2", of="t", to="u")),
    ask("missing child", "add_foreign_key", foreign(("a", "a"), name="fk2", of="nope")),
    ask("missing parent", "add_foreign_key", foreign(("a", "a"), name="fk2", to="nope")),
    ask(
        "plain",
        "add_not_null_constraint",
        AddNotNullConstraintRequest((SQLNotNullConstraint(*of("t"), "a", "nn1", *FLAGS),)),
    ),
    ask("plain", "get_not_null_constraints", NotNullConstraintsRequest(*of("t"))),
    ask(
        "plain",
        "add_default_constraint",
        AddDefaultConstraintRequest((SQLDefaultConstraint(*of("t"), "b", "'x'", "dc1", *FLAGS),)),
    ),
    ask("plain", "get_default_constraints", DefaultConstraintsRequest(*of("t"))),
    ask("plain", "add_check_constraint", AddCheckConstraintRequest((CHECK,))),
    ask("plain", "get_check_constraints", CheckConstraintsRequest(*of("t"))),
    EditTable("renamed", DB, "t", with_fields(tableName="w"), versions=SINCE_3_1),
    ask("renamed", "get_primary_keys", PrimaryKeysRequest(DB, "w")),
    ask("renamed", "get_foreign_keys", ForeignKeysRequest(foreign_db_name=DB, foreign_tbl_name="u")),
    ask("one", "drop_constraint", drop("NN1", "w")),
    ask("one", "get_not_null_constraints", NotNullConstraintsRequest(*of("w"))),
    ask("again", "drop_constraint", drop("nn1", "w")),
    ask("with its table", "create_table_with_constraints", table(DB, "x"), keys("a", "b", name="pkx", of="x")),
    ask("with its table", "get_primary_keys", PrimaryKeysRequest(DB, "x")),
    ask("a missing column", "create_table_with_constraints", table(DB, "y"), keys("nope", name="pky", of="y")),
    ask("after a missing column", "get_table", DB, "y"),
    ask("without a name", "add_primary_key", primary("a", "b", name=None, of="u")),
    ask("without a name", "get_primary_keys", PrimaryKeysRequest(DB, "u"), show=columns_of),
    # --- names that are taken
    ask("n1", "create_table", table(DB, "n1", "a int, b string, c bigint")),
    ask("n2", "create_table", table(DB, "n2", "a int, b string, c bigint")),
    ask("one name", "add_primary_key", primary("a", name="same", of="n1")),
    ask("the same name on another table", "add_primary_key", primary("a", name="same", of="n2")),
    ask("the same name on another table", "get_primary_keys", PrimaryKeysRequest(DB, "n2")),
    ask("the same name on the same table", "add_unique_constraint", unique("b", name="SAME", of="n1")),
    ask("the same name on another table", "add_unique_constraint", unique("b", name="uq", of="n1")),
    ask("the same name on a third table", "add_unique_constraint", unique("b", name="uq", of="n2")),
    ask("the same name twice", "add_unique_constraint", unique("c", name="uq", of="n2")),
    ask("after the same names", "get_unique_constraints", UniqueConstraintsRequest(*of("n2"))),
    ask(
        "the same name",
        "add_not_null_constraint",
        AddNotNullConstraintRequest((SQLNotNullConstraint(*of("n1"), "a", "nn", *FLAGS),)),
    ),
    ask(
        "the same name on another table",
        "add_not_null_constraint",
        AddNotNullConstraintRequest((SQLNotNullConstraint(*of("n2"), "a", "nn", *FLAGS),)),
    ),
    ask(
        "the same name on the same table",
        "add_not_null_constraint",
        AddNotNullConstraintRequest((SQLNotNullConstraint(*of("n2"), "b", "nn", *FLAGS),)),
    ),
    ask("a name", "add_foreign_key", foreign(("a", "a"), name="fkn", of="n2", to="n1")),
    since_4("the same name on the other table", "add_foreign_key", foreign(("a", "a"), name="fkn", of="n1", to="n2")),
    ask("after the same names", "get_foreign_keys", ForeignKeysRequest(DB, "n1", DB, "n2")),
    ask("one of two of a name", "drop_constraint", drop("nn", "n1")),
    ask("one of two of a name, dropped", "get_not_null_constraints", NotNullConstraintsRequest(*of("n1"))),
    ask("one of two of a name, left", "get_not_null_constraints", NotNullConstraintsRequest(*of("n2"))),
    ask("one of two foreign keys", "drop_constraint", drop("fkn", "n1")),
    ask("of one of two foreign keys", "get_foreign_keys", ForeignKeysRequest(DB, "n1", DB, "n2")),
    ask("of the other of two foreign keys", "get_foreign_keys", ForeignKeysRequest(DB, "n2", DB, "n1")),
    EditTable(
        "without a column of constraints",
        DB,
        "n1",
        with_columns("a int"),
        versions=HIVE_4,
    ),
    since_4("after a column went", "get_unique_constraints", UniqueConstraintsRequest(*of("n1"))),
    since_4("of the other after a column went", "get_unique_constraints", UniqueConstraintsRequest(*of("n2"))),
    ask("the parent", "drop_table", DB, "w", True),
    ask("without the parent", "get_foreign_keys", ForeignKeysRequest(foreign_db_name=DB, foreign_tbl_name="u")),
    ask("with all", "drop_database", DB, True, True),
]
