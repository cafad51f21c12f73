"""Waggle Dance's configuration becomes remote catalogs; unknown keys are refused, and what has no counterpart noted."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from metastored.errors import ConfigError
from metastored.model.remotes.catalogs import RemoteCatalog, read_remote_catalog
from metastored.model.remotes.values import Access
from metastored.remotes.waggle_dance import convert
from metastored.statements.parsing import parse
from metastored.statements.printing import printed
from metastored.statements.values import CreateRemote

SMALL = """
primary-meta-store:
  name: local
  remote-meta-store-uris: thrift://localhost:9083
federated-meta-stores:
- name: dw
  remote-meta-store-uris: thrift://dw:9083
"""
FULL = """
primary-meta-store:
  access-control-type: READ_AND_WRITE_AND_CREATE_ON_DATABASE_WHITELIST
  name: primary
  remote-meta-store-uris: thrift://a:9083,thrift://b:9083
  readOnlyRemoteMetaStoreUris: thrift://ro:9083
  writable-database-white-list: [my_writable_db1, user_db_.*]
federated-meta-stores:
- remote-meta-store-uris: thrift://federatedHostName2:9083
  name: secondary
  metastore-tunnel:
    route: ec2-user@bastion -> hadoop@emr-master
    private-keys: /home/user/.ssh/bastion.pem,/home/user/.ssh/emr.pem
    known-hosts: /home/user/.ssh/known_hosts
    timeout: 30000
  mapped-databases: [prod_db1, 'dev_group_1.*']
  mapped-tables:
  - database: prod_db1
    mapped-tables: [tbl1, 'tbl_2.*']
  database-name-mapping: {prod_db1: prod}
  configuration-properties: {hive.metastore.client.socket.timeout: 45s}
- name: My Glue
  glue-config: {glue-account-id: 123456789012, glue-endpoint: 'https://glue.us-east-1.amazonaws.com'}
  database-prefix: Glue_
"""


def catalogs(federation: str, **server: Any) -> dict[str, RemoteCatalog]:
    """The catalogs that the printed statements define."""
    found = {}
    for statement in convert(yaml.safe_load(federation), server).statements:
        again = parse(printed(statement))
        assert again == statement and isinstance(again, CreateRemote)
        parameters = dict(again.properties) | {"metastored.remote.via": again.via or ""}
        if again.prefix is not None:
            parameters["metastored.remote.prefix"] = again.prefix
        found[again.name[0]] = read_remote_catalog(again.name[0], parameters)
    return found


def test_prefixes_are_those_of_waggle_dance_when_databases_are_prefixed() -> None:
    found = catalogs(SMALL, **{"database-resolution": "PREFIXED"})
    assert {name: each.prefix for name, each in found.items()} == {"local": "", "dw": "dw_"}
    assert str(found["dw"].endpoint) == "thrift://dw:9083"
    assert found["dw"].access is Access.READ


def test_names_are_kept_when_they_are_resolved_manually() -> None:
    assert {each.prefix for each in catalogs(SMALL).values()} == {""}


def test_every_key_with_a_counterpart_is_converted() -> None:
    found = catalogs(FULL, **{"database-resolution": "PREFIXED"})
    primary, secondary, glue = found["primary"], found["secondary"], found["my_glue"]
    assert primary.access is Access.WRITE
    assert "user_db_7" in primary.writable and "other" not in primary.writable
    assert primary.endpoint.get("hive.metastore.uris") == "thrift://a:9083,thrift://b:9083"
    assert primary.endpoint.get("hive.metastore.uris.read-only") == "thrift://ro:9083"
    assert (secondary.endpoint.via, secondary.endpoint.timeout) == ("ssh", 45.0)
    assert secondary.endpoint.get("ssh.tunnel.route") == "ec2-user@bastion -> hadoop@emr-master"
    assert secondary.endpoint.get("ssh.tunnel.timeout") == "30"
    assert secondary.local_names("prod_db1") == ("secondary_prod_db1", "secondary_prod")
    assert secondary.local_names("other") == ()
    of = secondary.remote_of("secondary_prod")
    assert of is not None and "tbl_22" in of.tables and "x" not in of.tables
    assert (glue.endpoint.via, glue.prefix) == ("glue", "glue_")
    assert glue.endpoint.get("hive.metastore.glue.catalogid") == "123456789012"


def test_an_empty_allow_list_shows_nothing() -> None:
    text = "federated-meta-stores: [{name: a, remote-meta-store-uris: 'thrift://a:1', mapped-databases: []}]"
    assert catalogs(text)["a"].local_names("x") == ()


def test_what_has_no_counterpart_is_noted() -> None:
    text = """
federated-meta-stores:
- name: a
  remote-meta-store-uris: thrift://a:1
  latency: 5000
  hive-metastore-filter-hook: com.example.Hook
  impersonation-enabled: true
  database-prefix: a_
  configuration-properties: {hive.some.key: 1, hive.metastore.use.SSL: true}
  metastore-tunnel: {route: a@b, strict-host-key-checking: no}
- {name: b, remote-meta-store-uris: 'thrift://b:1'}
"""
    found = convert(yaml.safe_load(text))
    notes = "\n".join(found.notes)
    for word in (
        *("latency", "hive-metastore-filter-hook", "impersonation-enabled", "database-prefix", "hive.some.key"),
        *("strict-host-key-checking", "a, b show all their databases"),
    ):
        assert word in notes
    assert dict(found.statements[0].properties)["hive.metastore.use.SSL"] == "true"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SMALL + "  mapped-databses: [x]", "no such key: mapped-databses (metastore dw)"),
        (SMALL + "  metastore-tunnel: {rute: x}", "rute (metastore dw, metastore-tunnel)"),
        (SMALL + "other: 1", "other (the federation file)"),
        (SMALL + "  access-control-type: ALL", "access-control-type is ALL"),
        (SMALL + "- name: DW\n  remote-meta-store-uris: thrift://x:1", "two metastores have the name 'dw'"),
        (SMALL + "- remote-meta-store-uris: thrift://x:1", "no name"),
        (SMALL + "- name: c", "neither remote-meta-store-uris nor glue-config"),
        ("{}", "neither primary-meta-store nor federated-meta-stores"),
        ("[]", "not a map"),
        (SMALL + "  mapped-tables: [{database: x}]", "list of database and mapped-tables"),
    ],
)
def test_a_configuration_that_waggle_dance_would_misread_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        convert(yaml.safe_load(text))
    assert said in str(caught.value)


def test_the_server_file_has_only_waggle_dances_keys() -> None:
    with pytest.raises(ConfigError, match="database-resolutin"):
        convert(yaml.safe_load(SMALL), {"database-resolutin": "PREFIXED"})
    with pytest.raises(ConfigError, match="MANUAL and PREFIXED"):
        convert(yaml.safe_load(SMALL), {"database-resolution": "OTHER"})
