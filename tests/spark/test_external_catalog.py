"""The catalog itself: its settings, its lazy client, and what importing it loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

from metastored.errors import ConfigError, ConnectError
from metastored.spark import ExternalCatalog
from metastored.spark.connection import Settings
from metastored.spark.external_catalog import settings_of


def test_the_settings_are_those_of_spark() -> None:
    conf = {
        "spark.sql.warehouse.dir": "/house",
        "spark.sql.debug": "TRUE",
        "spark.sql.sources.schemaStringLengthThreshold": "100",
        "spark.hadoop.hadoop.user.name": "bob",
        "spark.sql.hive.metastorePartitionPruningInSetThreshold": "7",
        "spark.sql.hive.advancedPartitionPredicatePushdown.enabled": "false",
        "spark.sql.hive.metastorePartitionPruningFallbackOnException": "true",
        "spark.sql.session.timeZone": "Europe/Berlin",
    }
    assert settings_of(conf) == Settings(
        warehouse="/house",
        debug=True,
        threshold=100,
        user="bob",
        partition_pruning_in_set_threshold=7,
        advanced_partition_predicate_pushdown=False,
        partition_pruning_fallback_on_exception=True,
        time_zone="Europe/Berlin",
    )
    assert settings_of({}) == Settings()


def test_the_newer_threshold_wins() -> None:
    conf = {
        "spark.sql.hive.tablePropertyLengthThreshold": "5",
        "spark.sql.sources.schemaStringLengthThreshold": "9",
    }
    assert settings_of(conf).threshold == 5


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spark.sql.debug", "yes"),
        ("spark.sql.sources.schemaStringLengthThreshold", "0"),
        ("spark.sql.warehouse.dir", "file:x"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
        settings_of({key: value})


def test_a_configuration_without_a_metastore_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"spark\.hadoop\.hive\.metastore\.uris is missing"):
        ExternalCatalog.from_conf({})


def test_the_client_connects_at_its_first_use() -> None:
    catalog = ExternalCatalog.from_conf({"spark.hadoop.hive.metastore.uris": "thrift://127.0.0.1:1"})
    with pytest.raises(ConnectError):
        catalog.list_databases()
    catalog.close()


def test_the_package_does_not_import_pyspark() -> None:
    code = "import sys, metastored.spark; print([m for m in sys.modules if m.split('.')[0] in ('pyspark', 'pyarrow')])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
