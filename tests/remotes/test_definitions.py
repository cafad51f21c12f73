"""Which names are remote."""

from __future__ import annotations

from metastored.model.names import DatabaseName, TableName
from metastored.model.remotes.catalogs import RemoteCatalog
from metastored.model.remotes.definitions import Definitions
from metastored.remotes.definitions import Known
from tests.support.remotes import endpoint, remote_database, remote_table

SALES = remote_database("sales", "raw", "thrift://hms:9083")
SEEN = remote_table("shop.seen", "raw.clicks", "thrift://hms:9083")
OLD = RemoteCatalog("old", endpoint("thrift://old:9083"), prefix="old_")


def test_a_table_belongs_to_its_own_definition_or_to_the_remote_database_around_it() -> None:
    known = Known(Definitions([SALES, SEEN]))
    assert known.table(TableName("hive", "shop", "seen")) == SEEN
    assert known.table(TableName("hive", "sales", "seen")) == SALES
    assert known.table(TableName("hive", "shop", "mine")) is None
    assert known.table(TableName("spark", "shop", "seen")) is None


def test_a_local_database_is_not_hidden_by_a_prefix() -> None:
    known = Known(Definitions([], [OLD]), [DatabaseName("hive", "old_news")])
    assert known.database(DatabaseName("hive", "old_news")) is None
    found = known.database(DatabaseName("hive", "old_raw"))
    assert found is not None and (found.remote_database, found.of_catalog) == ("raw", "old")


def test_only_databases_that_can_be_remote_are_of_concern() -> None:
    assert Known(Definitions([SEEN])).concerns("shop")
    assert not Known(Definitions([SEEN])).concerns("sales")
    assert Known(Definitions([], [OLD])).concerns("anything")
