"""Whole metastores: prefixes, allow-lists, aliases and the policy for writes."""

from __future__ import annotations

import pytest

from metastored.errors import InvalidObjectException
from metastored.model.remotes.catalogs import RemoteCatalog, catalog_parameters, read_remote_catalog
from metastored.model.remotes.definitions import Definitions
from metastored.model.remotes.values import Access, read_remote

URIS = {"hive.metastore.uris": "thrift://old:9083"}


def catalog(name: str = "dw", **given: str) -> RemoteCatalog:
    keys = {f"metastored.remote.{key.replace('__', '.')}": value for key, value in given.items()}
    return read_remote_catalog(name, URIS | keys)


def test_without_a_prefix_its_databases_are_in_a_catalog_of_its_name() -> None:
    found = catalog()
    assert (found.shown_in, found.local_names("Sales")) == ("dw", ("sales",))
    remote = found.remote_of("SALES")
    assert remote is not None
    assert (remote.catalog, remote.database, remote.remote_database, remote.of_catalog) == (
        "dw",
        "sales",
        "sales",
        "dw",
    )


def test_with_a_prefix_they_are_in_the_default_catalog() -> None:
    found = catalog(prefix="DW_")
    assert (found.shown_in, found.local_names("sales")) == ("hive", ("dw_sales",))
    assert found.remote_database("Dw_Sales") == "sales"
    assert found.remote_database("sales") is None and found.remote_database("dw_") is None


def test_an_allow_list_hides_databases_by_every_name() -> None:
    found = catalog(databases="web_.*, sales")
    assert found.local_names("hr") == () and found.remote_of("hr") is None
    assert found.local_names("web_logs") == ("web_logs",)


def test_an_empty_allow_list_shows_nothing() -> None:
    assert catalog(databases="").local_names("sales") == ()


def test_an_alias_is_a_further_name() -> None:
    found = catalog(prefix="dw_", alias__datawarehouse="booking")
    assert found.local_names("datawarehouse") == ("dw_datawarehouse", "dw_booking")
    assert found.remote_database("dw_booking") == "datawarehouse"


def test_two_databases_cannot_have_one_alias() -> None:
    with pytest.raises(InvalidObjectException, match="two databases have the alias 'x'"):
        catalog(alias__a="x", alias__b="X")


def test_tables_are_shown_by_lists_for_each_database() -> None:
    found = catalog(tables="public_.*", tables__sales="orders")
    sales, other = found.remote_of("sales"), found.remote_of("hr")
    assert sales is not None and other is not None
    assert "orders" in sales.tables and "public_x" not in sales.tables
    assert "public_x" in other.tables and "orders" not in other.tables


def test_only_writable_databases_of_a_catalog_with_write_access_may_be_written() -> None:
    found = catalog(access="write", writable="scratch.*")
    assert [found.remote_of(name).access for name in ("scratch_1", "sales")] == [Access.WRITE, Access.READ]  # type: ignore[union-attr]
    read_only = catalog(writable="scratch.*").remote_of("scratch_1")
    assert read_only is not None and read_only.access is Access.READ


def test_a_catalog_written_as_parameters_is_read_as_the_same_one() -> None:
    found = catalog(
        prefix="",
        databases="a, b{1,2}",
        tables="x",
        tables__sales="orders",
        alias__a="z",
        access="write",
        writable="a",
        writers="etl, ops",
        readers="analysts",
        cache="10",
        timeout="5",
    )
    assert read_remote_catalog("dw", catalog_parameters(found, masked=False)) == found


def test_a_bad_prefix_is_refused() -> None:
    with pytest.raises(InvalidObjectException, match="letters, digits and _"):
        catalog(prefix="a.b")


def test_the_longest_prefix_wins_whatever_the_order_of_creation() -> None:
    short, long = catalog("a", prefix="w_"), catalog("b", prefix="w_x_")
    for order in ((short, long), (long, short)):
        found = Definitions(catalogs=order).database("hive", "W_X_sales")
        assert found is not None and (found.of_catalog, found.remote_database) == ("b", "sales")


def test_a_definition_of_its_own_comes_before_a_catalog() -> None:
    own = read_remote("hive", "w_sales", None, URIS)
    definitions = Definitions([own], [catalog("a", prefix="w_")])
    assert definitions.database(None, "W_SALES") is own
    assert definitions.database("other", "w_sales") is None


def test_tables_are_found_by_names_in_any_case() -> None:
    own = read_remote("hive", "d", "t", URIS)
    definitions = Definitions([own])
    assert definitions.table("HIVE", "D", "T") is own and definitions.tables_in(None, "d") == (own,)
    assert definitions.database(None, "d") is None and len(definitions) == 1
