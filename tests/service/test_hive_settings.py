"""The configuration that clients read: the server's own settings, and else Hive's defaults."""

from __future__ import annotations

import pytest

from metastored.config import Settings
from metastored.errors import ConfigValSecurityException, MetaException
from metastored.hive.generation import Generation
from metastored.server.assemble import hive_values
from metastored.service.hive_settings import OWN, default
from tests.service.conftest import Starter
from tests.support.metastore import Metastore

PROXY = "org.apache.hadoop.hive.metastore.MsckPartitionExpressionProxy"


def test_trino_learns_the_timeout_of_transactions(metastore: Metastore) -> None:
    assert metastore.call("get_config_value", "metastore.txn.timeout", "none") == "300s"


@pytest.mark.parametrize("key", ["hive.txn.max.open.batch", "metastore.batch.retrieve.max", "hive.max.open.txns"])
def test_hives_defaults_are_returned_under_both_names(metastore: Metastore, key: str) -> None:
    assert metastore.call("get_config_value", key, "none") != "none"


def test_an_unknown_key_has_the_callers_default(metastore: Metastore) -> None:
    assert metastore.call("get_config_value", "hive.no.such.key", "mine") == "mine"


def test_only_hives_keys_can_be_read_and_no_password(metastore: Metastore) -> None:
    for key in ("fs.defaultFS", "javax.jdo.option.ConnectionURL", "hive.metastore.keystore.password"):
        with pytest.raises(ConfigValSecurityException, match="cannot be accessed"):
            metastore.call("get_config_value", key, "x")


def test_keys_without_hive_are_for_hive_3_and_later(start: Starter) -> None:
    with pytest.raises(ConfigValSecurityException):
        start(Generation.HIVE_2_3).call("get_config_value", "metastore.txn.timeout", "x")


def test_the_timeouts_that_metastored_uses_are_returned() -> None:
    assert {key: default(key, (Generation.HIVE_4_0,)) for key in OWN} == {
        **dict.fromkeys(("metastore.txn.timeout", "hive.txn.timeout"), "300s"),
        **dict.fromkeys(("metastore.repl.txn.timeout", "hive.repl.txn.timeout"), "11d"),
    }


def test_the_servers_own_settings_come_before_hives_defaults(start: Starter) -> None:
    settings = Settings(port=9999, event_retention=60.0, admin_users=("root", "ops"), limits_partitions_per_call=7)
    metastore = start(configured=hive_values(settings))
    for key, value in {
        "hive.metastore.port": "9999",
        "metastore.thrift.port": "9999",
        "metastore.event.db.listener.timetolive": "60s",
        "hive.users.in.admin.role": "root,ops",
        "metastore.limit.partition.request": "7",
    }.items():
        assert metastore.call("get_config_value", key, "x") == value


def test_hives_own_settings_are_returned_as_by_hive() -> None:
    assert hive_values(Settings()) == {}


def test_a_session_of_hive_4_may_set_the_expression_proxy(hive_4: Metastore) -> None:
    assert hive_4.call("setMetaConf", "metastore.expression.proxy", PROXY) is None
    assert hive_4.call("getMetaConf", "metastore.expression.proxy").endswith("PartitionExpressionForMetastore")


def test_before_hive_4_there_is_no_such_setting_of_a_session(metastore: Metastore) -> None:
    with pytest.raises(MetaException, match=r"Invalid configuration key metastore\.expression\.proxy"):
        metastore.call("setMetaConf", "metastore.expression.proxy", PROXY)


def test_a_time_that_is_none_is_refused(metastore: Metastore) -> None:
    key = "metastore.client.socket.timeout"
    metastore.call("setMetaConf", key, "60s")
    metastore.call("setMetaConf", key, "60")
    for value, problem in {"zzz": "Invalid time unit zzz", "6x": "Invalid time unit x", "": "For input string"}.items():
        with pytest.raises(MetaException, match=problem):
            metastore.call("setMetaConf", key, value)
