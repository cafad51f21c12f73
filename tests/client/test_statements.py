"""Statements become parameters and structs of the API, and definitions become statements again. No server is needed."""

from __future__ import annotations

import pytest

from metastored.client.statements.descriptions import described_connector, described_database, described_table, listed
from metastored.client.statements.rights import bag, reference
from metastored.client.statements.values import (
    Result,
    changed,
    create_statement,
    database_of,
    definition,
    kind_of_name,
    local_name,
    new_database,
    table_of,
)
from metastored.errors import InvalidInputException
from metastored.model.names import DatabaseName, TableName
from metastored.model.remotes.lists import list_key, name_of
from metastored.model.remotes.values import read_remote
from metastored.statements.parsing import parse
from metastored.statements.printing import printed
from metastored.statements.rights import Grant
from metastored.statements.values import AlterRemote, CreateRemote, Kind
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.connectors import DataConnector
from metastored.wire.generated.databases import Database, DatabaseType
from metastored.wire.generated.roles import HiveObjectType
from tests.statements.test_proposal import STATEMENTS

SALES = DatabaseName("", "sales")
URIS = {"hive.metastore.uris": "thrift://h:9083"}


def defined(text: str) -> dict[str, str]:
    statement = parse(text)
    assert isinstance(statement, CreateRemote)
    return definition(statement, local_name(statement.kind, statement.name, SALES))


def altered(text: str, before: dict[str, str]) -> dict[str, str]:
    statement = parse(text)
    assert isinstance(statement, AlterRemote)
    return changed(statement, local_name(statement.kind, statement.name, SALES), before)


# Names and defaults


def test_an_unqualified_name_is_in_the_current_database_and_catalog() -> None:
    current = DatabaseName("spark", "sales")
    assert table_of(("t",), current) == TableName("spark", "sales", "t")
    assert table_of(("d", "t"), current) == TableName("spark", "d", "t")
    assert table_of(("c", "d", "t"), current) == TableName("c", "d", "t")
    assert database_of(None, current) == current
    assert database_of(("d",), current) == DatabaseName("spark", "d")
    assert local_name(Kind.TABLE, ("T",), SALES) == ("hive", "sales", "t")


@pytest.mark.parametrize(
    ("text", "remote"),
    [
        ("CREATE REMOTE DATABASE D", "D"),
        ("CREATE REMOTE DATABASE d CONNECTED TO r", "r"),
        ("CREATE REMOTE TABLE t", "sales.t"),
        ("CREATE REMOTE TABLE other.t", "other.t"),
        ("CREATE REMOTE TABLE t CONNECTED TO rt", "sales.rt"),
        ("CREATE REMOTE TABLE t CONNECTED TO rdb.rt", "rdb.rt"),
        ("CREATE REMOTE TABLE t WITH TBLPROPERTIES ('metastored.remote' = 'a.b')", "a.b"),
        ("CREATE REMOTE CATALOG c CONNECTED TO spark", "spark"),
    ],
)
def test_the_remote_name_is_the_local_one_unless_connected_to_says_otherwise(text: str, remote: str) -> None:
    assert defined(text)["metastored.remote"] == remote


def test_clauses_become_parameters_beside_the_properties() -> None:
    text = "CREATE REMOTE CATALOG c PREFIX 'old_' VIA 'ssh' WITH PROPERTIES ('hive.metastore.uris'='thrift://h:1')"
    assert defined(text) == {
        "hive.metastore.uris": "thrift://h:1",
        "metastored.remote.prefix": "old_",
        "metastored.remote.via": "ssh",
    }


@pytest.mark.parametrize(
    "text",
    [
        "CREATE REMOTE TABLE t VIA 'ssh' WITH TBLPROPERTIES ('metastored.remote.via' = 'thrift')",
        "CREATE REMOTE TABLE t VIA 'ssh' WITH TBLPROPERTIES ('hive.metastore.client.factory.class' = 'a.B')",
        "CREATE REMOTE DATABASE d CONNECTED TO r WITH DBPROPERTIES ('metastored.remote' = 's')",
    ],
)
def test_a_clause_and_a_property_that_differ_are_refused(text: str) -> None:
    with pytest.raises(InvalidInputException, match="leave one of them out"):
        defined(text)


@pytest.mark.parametrize("name", STATEMENTS)
def test_each_statement_of_the_proposal_defines_a_remote(name: str) -> None:
    text, statement = STATEMENTS[name]
    local = local_name(statement.kind, statement.name, SALES)
    remote = read_remote("hive", local[1], local[2] if statement.kind is Kind.TABLE else None, defined(text))
    wanted = statement.connected_to or local[1:]
    assert remote.remote_name == ".".join(wanted)
    via = {"SSH, without commas": "ssh", "Glue, with a comment only": "glue", "Iceberg, without a semicolon": "iceberg"}
    assert remote.endpoint.via == via.get(name, "thrift")


# ALTER


def test_alter_replaces_what_it_names_and_keeps_the_rest() -> None:
    before = {
        **URIS,
        "metastored.remote": "r",
        "metastored.remote.via": "thrift",
        "metastored.remote.password": "******",
    }
    assert altered("ALTER REMOTE DATABASE d CONNECTED TO s", before) == {**before, "metastored.remote": "s"}
    assert altered("ALTER REMOTE DATABASE d VIA 'ssh' SET DBPROPERTIES ('ssh.tunnel.route'='a@b')", before) == {
        **before,
        "metastored.remote.via": "ssh",
        "ssh.tunnel.route": "a@b",
    }
    text = "ALTER REMOTE DATABASE d UNSET DBPROPERTIES ('metastored.remote.password')"
    assert "metastored.remote.password" not in altered(text, before)


def test_unset_of_a_key_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInputException, match=r"sales\.t has no property 'x'; it has hive\.metastore\.uris"):
        altered("ALTER REMOTE TABLE t UNSET TBLPROPERTIES ('x')", URIS)


# Structs


def test_a_database_using_a_connector_is_as_hive_4_creates_one() -> None:
    text = "CREATE REMOTE DATABASE d COMMENT 'c' USING conn WITH DBPROPERTIES ('connector.remoteDbName' = 'r')"
    statement = parse(text)
    assert isinstance(statement, CreateRemote)
    assert new_database(SALES, statement, defined(text)) == Database(
        name="sales",
        description="c",
        parameters={"connector.remoteDbName": "r"},
        type=DatabaseType.REMOTE,
        connector_name="conn",
        remote_dbname="r",
    )


def test_a_grant_is_global_or_on_a_database() -> None:
    everything, one = parse("GRANT CREATE_REMOTE TO USER u"), parse("GRANT CREATE_REMOTE ON DATABASE d TO ROLE r")
    assert isinstance(everything, Grant) and isinstance(one, Grant)
    assert reference(everything.target, SALES).objectType == HiveObjectType.GLOBAL
    (given,) = bag(everything, everything.privileges, reference(everything.target, SALES), "root").privileges or ()
    assert given.grantInfo is not None and given.grantInfo.privilege == "CREATE_REMOTE"
    (given,) = bag(one, one.privileges, reference(one.target, SALES), "root").privileges or ()
    assert given.hiveObject is not None and given.hiveObject.dbName == "d"


@pytest.mark.parametrize(
    ("kind", "name"), [(Kind.TABLE, ("hive", "d", "t")), (Kind.DATABASE, ("hive", "d")), (Kind.CATALOG, ("c",))]
)
def test_a_definition_is_listed_under_its_kind_and_full_name(kind: Kind, name: tuple[str, ...]) -> None:
    assert list_key(*name).startswith(f"{kind.value.lower()}:")
    assert (kind_of_name(name_of(list_key(*name))), name_of(list_key(*name))) == (kind, name)


# Definitions as statements


def test_show_create_prints_a_statement_that_makes_the_same_definition() -> None:
    for text in (
        "CREATE REMOTE TABLE sales.t CONNECTED TO r.t VIA 'thrift' WITH TBLPROPERTIES ('hive.metastore.uris' = 'thrift://h:1')",
        "CREATE REMOTE DATABASE d CONNECTED TO r VIA 'ssh' WITH DBPROPERTIES ('ssh.tunnel.route' = 'a@b')",
        "CREATE REMOTE CATALOG c PREFIX '' VIA 'thrift' WITH PROPERTIES ('metastored.remote.alias.x' = 'y')",
    ):
        statement = parse(text)
        assert isinstance(statement, CreateRemote)
        local = local_name(statement.kind, statement.name, SALES)
        again = printed(create_statement(statement.kind, local, defined(text)))
        assert defined(again) == defined(text)


def test_a_remote_of_another_catalog_is_printed_with_its_catalog() -> None:
    assert create_statement(Kind.TABLE, ("spark", "d", "t"), URIS).name == ("spark", "d", "t")
    assert create_statement(Kind.TABLE, ("hive", "d", "t"), URIS).name == ("d", "t")


# DESCRIBE and SHOW


def test_describe_appends_the_remote_configuration_with_secrets_masked() -> None:
    parameters = {**URIS, "metastored.remote": "r.t", "metastored.remote.password": "s3cret", "numRows": "3"}
    table = Table(
        tableName="t",
        dbName="d",
        sd=StorageDescriptor(cols=(FieldSchema("id", "bigint", "the key"),)),
        partitionKeys=(FieldSchema("ds", "string"),),
        parameters=parameters,
    )
    plain = described_table(table, None)
    assert plain.columns == ("col_name", "data_type", "comment")
    assert plain.rows[:2] == (("id", "bigint", "the key"), ("ds", "string", None))
    assert plain.rows[-4:] == (
        ("# Remote Information", "", ""),
        ("hive.metastore.uris", "thrift://h:9083", ""),
        ("metastored.remote", "r.t", ""),
        ("metastored.remote.password", "******", ""),
    )
    extended = described_table(table, "EXTENDED")
    assert ("Table Properties", "[numRows=3]", "") in extended.rows
    assert "s3cret" not in str(extended)


def test_describe_of_a_local_object_has_no_remote_configuration() -> None:
    assert "Remote" not in str(described_table(Table(tableName="t", dbName="d", parameters={"a": "b"}), "EXTENDED"))
    database = described_database(Database(name="d", parameters={"a": "b"}), True)
    assert ("Properties", "[a=b]") in database.rows and "Remote" not in str(database)


def test_describe_of_a_connector_masks_passwords() -> None:
    parameters = {"hive.sql.dbcp.password": "s3cret", "hive.sql.dbcp.username": "u"}
    result = described_connector(DataConnector("c", "mysql", "mysql://u:s3cret@h/db", parameters=parameters), True)
    facts = {row[0]: row[1] for row in result.rows}
    assert facts["URL"] == "mysql://u:******@h/db"
    assert facts["Properties"] == "[hive.sql.dbcp.password=******, hive.sql.dbcp.username=u]"


def test_show_remotes_has_a_row_for_each_definition_with_its_address() -> None:
    result = listed(
        [
            (Kind.TABLE, ("hive", "d", "t"), {**URIS, "metastored.remote": "r.t", "metastored.remote.access": "write"}),
            (Kind.DATABASE, ("spark", "d"), {"iceberg.table.path": "s3://b/t", "metastored.remote": "r"}),
            (Kind.CATALOG, ("c",), {**URIS, "metastored.remote.prefix": "c_"}),
            (Kind.CATALOG, ("own",), URIS),
        ]
    )
    assert [row[:6] for row in result.rows] == [
        ("catalog", "c", "c_*", "thrift", "thrift://h:9083", "read"),
        ("catalog", "own", "own.*", "thrift", "thrift://h:9083", "read"),
        ("database", "spark.d", "r", "iceberg", "s3://b/t", "read"),
        ("table", "d.t", "r.t", "thrift", "thrift://h:9083", "write"),
    ]


def test_a_result_has_its_rows_as_dicts() -> None:
    assert Result(("a", "b"), (("1", None),)).dicts() == [{"a": "1", "b": None}]
