"""The locations of catalogs and of their databases."""

from metastored.wire.generated.catalogs import Catalog, CreateCatalogRequest, GetCatalogRequest
from metastored.wire.generated.databases import Database
from tests.support.metastore import Metastore


def test_a_catalogs_location_is_stored_as_written_and_contains_its_databases(metastore: Metastore) -> None:
    written = "file:///nowhere//cats/"
    metastore.call("create_catalog", CreateCatalogRequest(Catalog(name="cats", locationUri=written)))
    assert metastore.call("get_catalog", GetCatalogRequest("cats")).catalog.locationUri == written
    metastore.call("create_database", Database(name="d", catalogName="cats"))
    assert metastore.call("get_database", "@cats#default").locationUri == "file:/nowhere/cats"
    assert metastore.call("get_database", "@cats#d").locationUri == "file:/nowhere/cats/d.db"
