"""The banner and the ready file."""

from __future__ import annotations

import pytest

from metastored.config import load
from metastored.server.banner import Warehouses, text, uri
from metastored.server.safety import is_loopback

ONE = Warehouses("file:/srv/warehouse", "file:/srv/warehouse")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *(("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True)),
        *(("0.0.0.0", False), ("::", False), ("10.0.0.1", False), ("metastore.example.com", False)),
    ],
)
def test_only_loopback_addresses_are_closed_to_the_network(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://metastored:hon@ey@db:5432/metastored", "postgresql://metastored:…@db:5432/metastored"),
        (
            "postgresql://db/metastored?user=metastored&password=honey&x=1",
            "postgresql://db/metastored?user=metastored&password=…&x=1",
        ),
    ],
)
def test_a_password_in_the_database_url_is_not_shown(url: str, shown: str) -> None:
    banner = text(load(environment={}, flags={"database_url": url}), 9083, ONE)
    assert shown in banner
    assert "hon" not in banner


def test_a_database_url_without_a_password_is_shown_as_it_is() -> None:
    settings = load(environment={}, flags={"database_url": "postgresql://metastored@db:5432/metastored"})
    assert "postgresql://metastored@db:5432/metastored" in text(settings, 9083, ONE)


def test_an_ipv6_address_is_written_in_brackets() -> None:
    assert uri("::1", 9083) == "thrift://[::1]:9083"


def test_a_server_on_all_addresses_is_reached_by_the_name_of_its_machine() -> None:
    assert "0.0.0.0" not in uri("0.0.0.0", 9083)


def test_spark_gets_the_warehouse_beside_the_address() -> None:
    banner = text(load(environment={}), 9083, ONE)
    assert "--conf spark.sql.warehouse.dir=file:/srv/warehouse\n" in banner
    assert "--conf spark.hadoop.hive.metastore.uris=thrift://127.0.0.1:9083\n" in banner


def test_a_warehouse_with_a_space_is_quoted_for_the_shell() -> None:
    spaced = Warehouses("file:/my data/warehouse", "file:/my data/warehouse")
    assert "--conf 'spark.sql.warehouse.dir=file:/my data/warehouse'\n" in text(load(environment={}), 9083, spaced)


def test_the_banner_of_one_warehouse_names_no_other() -> None:
    assert "stay in" not in text(load(environment={}), 9083, ONE)


def test_the_banner_names_the_warehouse_that_the_database_was_made_with() -> None:
    banner = text(load(environment={}), 9083, Warehouses("file:/new", "file:///old/"))
    assert "warehouse file:/new\n  new databases are created there; earlier ones stay in file:///old/\n" in banner


def test_the_address_of_icebergs_rest_catalog_is_shown_while_it_is_served() -> None:
    plain = {"http_port": "9443", "http_tls": "off"}
    banner = text(load(environment={}, flags={**plain, "iceberg": "on"}), 9083, ONE, 9443)
    assert "Iceberg REST: http://127.0.0.1:9443/iceberg\n" in banner
    assert "Iceberg" not in text(load(environment={}, flags=plain), 9083, ONE, 9443)


def test_the_addresses_of_lance_are_shown_while_they_are_served() -> None:
    plain = {"http_port": 9443, "http_tls": "off"}
    banner = text(load(environment={}, flags={**plain, "lance": "on"}), 9083, ONE, 9443)
    assert "Lance: http://127.0.0.1:9443/lance/hive2" in banner and "http://127.0.0.1:9443/lance/hive3" in banner
    assert "lance" not in text(load(environment={}, flags=plain), 9083, ONE, 9443)
