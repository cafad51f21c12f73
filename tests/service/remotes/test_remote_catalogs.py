"""Remote catalogs: whole metastores at once, made by create_catalog with the keys of remotes."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
)
from metastored.model.remotes.definitions import Definitions
from metastored.service.remotes.definitions import read_definitions
from metastored.wire.generated.catalogs import (
    AlterCatalogRequest,
    Catalog,
    CreateCatalogRequest,
    DropCatalogRequest,
    GetCatalogRequest,
)
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace
from tests.support.metastore import Metastore

DW = {"hive.metastore.uris": "thrift://old:9083", "metastored.remote.prefix": "dw_"}


def definitions(metastore: Metastore) -> Definitions:
    with metastore.database.read() as tx:
        return read_definitions(tx, metastore.service.remote_secrets)


def create(metastore: Metastore, parameters: dict[str, str] = DW) -> None:
    metastore.call("create_catalog", CreateCatalogRequest(Catalog(name="DW", parameters=parameters)))


def catalog(metastore: Metastore) -> Any:
    return metastore.call("get_catalog", GetCatalogRequest("dw")).catalog


def test_parameters_make_a_remote_catalog_without_a_location(metastore: Metastore) -> None:
    create(metastore)
    (found,) = definitions(metastore).catalogs
    assert (found.name, found.prefix, found.shown_in) == ("dw", "dw_", "hive")
    assert catalog(metastore).parameters == DW | {"metastored.remote.via": "thrift", "metastored.remote.access": "read"}
    assert "dw" in metastore.call("get_catalogs").names


def test_its_databases_are_found_by_their_local_names(metastore: Metastore) -> None:
    create(metastore)
    remote = definitions(metastore).database("hive", "DW_Sales")
    assert remote is not None and (remote.remote_database, remote.of_catalog) == ("sales", "dw")


def test_it_has_no_database_of_its_own(metastore: Metastore) -> None:
    create(metastore, {"hive.metastore.uris": "thrift://old:9083"})
    assert metastore.call("get_databases", "@dw#") == ()
    for parameters in ({}, {"hive.metastore.uris": "thrift://old:9083"}):
        with pytest.raises(InvalidObjectException, match="catalog dw is remote"):
            metastore.call("create_database", Database(name="d", catalogName="dw", parameters=parameters))


def test_a_name_that_is_taken_is_refused(metastore: Metastore) -> None:
    create(metastore)
    with pytest.raises(AlreadyExistsException):
        create(metastore)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("metastored.remote.databse", "x", "did you mean 'metastored.remote.databases'"),
        ("metastored.remote.databases", "(", "is neither a name nor a regular expression"),
        ("metastored.remote.connector", "c", "is a key of remote databases and tables only"),
    ],
)
def test_a_mistyped_definition_is_refused(metastore: Metastore, key: str, value: str, reason: str) -> None:
    with pytest.raises(InvalidObjectException, match=reason):
        create(metastore, DW | {key: value})


def test_an_alter_changes_the_definition(metastore: Metastore) -> None:
    create(metastore)
    seen = catalog(metastore)
    changed = replace(seen, parameters={**seen.parameters, "metastored.remote.databases": "sales"})
    metastore.call("alter_catalog", AlterCatalogRequest("dw", changed))
    assert definitions(metastore).database("hive", "dw_hr") is None


def test_alias_keys_of_any_name_can_be_added_and_removed(metastore: Metastore) -> None:
    create(metastore, DW | {"metastored.remote.alias.raw": "clean"})
    seen = catalog(metastore)
    parameters = {key: value for key, value in seen.parameters.items() if not key.endswith(".raw")}
    parameters["metastored.remote.alias.web"] = "www"
    metastore.call("alter_catalog", AlterCatalogRequest("dw", replace(seen, name="dw", parameters=parameters)))
    (found,) = definitions(metastore).catalogs
    assert found.aliases == (("web", "www"),)


def test_keys_cannot_be_added_to_a_local_catalog(metastore: Metastore) -> None:
    metastore.call("create_catalog", CreateCatalogRequest(Catalog(name="here", locationUri="file:/nowhere/here")))
    seen = metastore.call("get_catalog", GetCatalogRequest("here")).catalog
    with pytest.raises(MetaException, match="catalog here is local"):
        metastore.call("alter_catalog", AlterCatalogRequest("here", replace(seen, parameters=DW)))


def test_a_dropped_catalog_is_gone(metastore: Metastore) -> None:
    create(metastore)
    metastore.call("drop_catalog", DropCatalogRequest("dw"))
    assert len(definitions(metastore)) == 0


def test_a_local_catalog_still_needs_a_location(metastore: Metastore) -> None:
    with pytest.raises(InvalidObjectException, match="You must specify a path"):
        metastore.call("create_catalog", CreateCatalogRequest(Catalog(name="x")))
    with pytest.raises((InvalidOperationException, MetaException)):
        metastore.call("alter_catalog", AlterCatalogRequest("hive", None))


def test_two_catalogs_do_not_have_one_prefix_in_any_case(metastore: Metastore) -> None:
    create(metastore)
    other = Catalog(name="other", parameters=DW | {"metastored.remote.prefix": "DW_"})
    with pytest.raises(InvalidObjectException, match="which remote catalog dw has"):
        metastore.call("create_catalog", CreateCatalogRequest(other))
    different = replace(other, parameters=DW | {"metastored.remote.prefix": "x_"})
    metastore.call("create_catalog", CreateCatalogRequest(different))
    seen = metastore.call("get_catalog", GetCatalogRequest("other")).catalog
    same = replace(seen, parameters={**seen.parameters, "metastored.remote.prefix": "dw_"})
    with pytest.raises(MetaException, match="which remote catalog dw has"):
        metastore.call("alter_catalog", AlterCatalogRequest("other", same))
