"""Every statement of the proposal "Hive remote databases/tables", as it is printed there."""

from __future__ import annotations

import pytest

from metastored.statements.parsing import parse
from metastored.statements.values import CreateRemote, Kind

THRIFT = "org.apache.hadoop.hive.metastore.ThriftHiveMetastoreClientFactory"
URIS = (("hive.metastore.uris", "thrift://remote-hms:9083"),)

TABLE = """
    CREATE REMOTE TABLE local_db.local_tbl
    CONNECTED TO remote_db.remote_tbl
    VIA 'org.apache.hadoop.hive.metastore.ThriftHiveMetastoreClientFactory'
    WITH TBLPROPERTIES (
      'hive.metastore.uris' = 'thrift://remote-hms:9083'
    );
"""
DATABASE = """
    CREATE REMOTE DATABASE local_db_name
    CONNECTED TO remote_db_name
    VIA 'org.apache.hadoop.hive.metastore.ThriftHiveMetastoreClientFactory'
    WITH DBPROPERTIES (
      'hive.metastore.uris' = 'thrift://remote-hms:9083'
    );
"""
SHORT_DATABASE = """
    CREATE REMOTE DATABASE db_name
    WITH DBPROPERTIES (
      'hive.metastore.uris' = 'thrift://remote-hms:9083'
    );
"""
SHORT_TABLE = """
CREATE REMOTE TABLE tbl_name
    WITH TBLPROPERTIES (
      'hive.metastore.uris' = 'thrift://remote-hms:9083'
    );
"""
SSH = """
    CREATE REMOTE TABLE tbl_name
    VIA 'org.apache.hadoop.hive.metastore.SSHThriftHiveMetastoreClientFactory'
    WITH TBLPROPERTIES (
      'hive.metastore.uris' = 'thrift://metastore.domain:9083'
      'ssh.tunnel.route' = 'bastionuser@bastion-host.domain -> user@cluster-node.domain'
      'ssh.tunnel.private.keys' = '/home/user/.ssh/bastionuser-key-pair.pem,/home/user/.ssh/user-key-pair.pem'
      'ssh.tunnel.known.hosts' = '/home/user/.ssh/known_hosts'
    );
"""
GLUE = """
    CREATE REMOTE TABLE tbl_name
    VIA 'com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory'
    WITH TBLPROPERTIES (
      -- Glue endpoint configuration
    );
"""
ICEBERG = """
    CREATE REMOTE TABLE tbl_name
    VIA 'xxx.yyy.iceberg.hive.zzz.IcebergTableHiveClientFactory'
    WITH TBLPROPERTIES (
      'iceberg.table.path' = 'an-atomic-store:/tables/tbl_name'
    )
"""
STATEMENTS = {
    "table": (
        TABLE,
        CreateRemote(
            Kind.TABLE,
            ("local_db", "local_tbl"),
            connected_to=("remote_db", "remote_tbl"),
            via=THRIFT,
            properties=URIS,
        ),
    ),
    "database": (
        DATABASE,
        CreateRemote(Kind.DATABASE, ("local_db_name",), connected_to=("remote_db_name",), via=THRIFT, properties=URIS),
    ),
    "database with defaults": (SHORT_DATABASE, CreateRemote(Kind.DATABASE, ("db_name",), properties=URIS)),
    "table with defaults": (SHORT_TABLE, CreateRemote(Kind.TABLE, ("tbl_name",), properties=URIS)),
    "SSH, without commas": (
        SSH,
        CreateRemote(
            Kind.TABLE,
            ("tbl_name",),
            via="org.apache.hadoop.hive.metastore.SSHThriftHiveMetastoreClientFactory",
            properties=(
                ("hive.metastore.uris", "thrift://metastore.domain:9083"),
                ("ssh.tunnel.route", "bastionuser@bastion-host.domain -> user@cluster-node.domain"),
                (
                    "ssh.tunnel.private.keys",
                    "/home/user/.ssh/bastionuser-key-pair.pem,/home/user/.ssh/user-key-pair.pem",
                ),
                ("ssh.tunnel.known.hosts", "/home/user/.ssh/known_hosts"),
            ),
        ),
    ),
    "Glue, with a comment only": (
        GLUE,
        CreateRemote(
            Kind.TABLE,
            ("tbl_name",),
            via="com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory",
        ),
    ),
    "Iceberg, without a semicolon": (
        ICEBERG,
        CreateRemote(
            Kind.TABLE,
            ("tbl_name",),
            via="xxx.yyy.iceberg.hive.zzz.IcebergTableHiveClientFactory",
            properties=(("iceberg.table.path", "an-atomic-store:/tables/tbl_name"),),
        ),
    ),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_of_the_proposal_is_parsed_as_printed(name: str) -> None:
    text, expected = STATEMENTS[name]
    assert parse(text) == expected


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_of_the_proposal_may_end_with_a_semicolon_or_not(name: str) -> None:
    text, expected = STATEMENTS[name]
    bare = text.strip().removesuffix(";")
    assert parse(bare) == parse(f"{bare};") == expected
