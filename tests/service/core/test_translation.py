"""Hive 4's translation where it is not compared with a real Hive: other catalogs and other generations."""

from metastored.hive.generation import Generation
from metastored.service.core import translation
from metastored.service.core.translation import NONE, READ_ONLY, READ_WRITE, Access
from metastored.wire.generated.common import StorageDescriptor, Table
from metastored.wire.generated.databases import CreateDatabaseRequest, Database, GetDatabaseRequest
from metastored.wire.generated.tables import GetTableRequest
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore
from tests.support.objects import DB, make_table

ROOT = "file:/w"


def made(type: str = "EXTERNAL_TABLE", buckets: int = 0, **parameters: str) -> Table:
    return Table("t", "d", sd=StorageDescriptor(numBuckets=buckets), tableType=type, parameters=parameters)


def test_a_table_of_another_generation_has_no_access_type(metastore: Metastore) -> None:
    make_table(metastore)
    request = GetTableRequest(DB, "t", processorCapabilities=("EXTREAD",))
    assert metastore.call("get_table_req", request).table.accessType is None


def test_a_client_without_capabilities_gets_no_access_type(hive_4: Metastore) -> None:
    make_table(hive_4)
    assert hive_4.call("get_table_req", GetTableRequest(DB, "t")).table.accessType is None
    reported = hive_4.call("get_table_req", GetTableRequest(DB, "t", processorCapabilities=("EXTREAD",))).table
    assert (reported.accessType, reported.requiredWriteCapabilities) == (READ_ONLY, ("EXTWRITE",))


def test_the_translation_for_one_client_is_not_stored(hive_4: Metastore) -> None:
    hive_4.call("create_database_req", CreateDatabaseRequest("d", locationUri="file:/nowhere/odd"))
    reported = hive_4.call("get_database_req", GetDatabaseRequest("d", processorCapabilities=("HIVEFULLACIDWRITE",)))
    assert (reported.locationUri, reported.managedLocationUri) == ("file:/nowhere/d.db", "file:/nowhere/odd")
    raw = hive_4.call("get_database_req", GetDatabaseRequest("d", processorCapabilities=("MANAGE_RAW_METADATA",)))
    assert (raw.locationUri, raw.managedLocationUri) == ("file:/nowhere/odd", None)


def test_older_generations_get_a_database_untranslated(start: Starter) -> None:
    start(Generation.HIVE_4_0).call("create_database", Database(name="d", locationUri="file:/nowhere/odd"))
    assert start(Generation.HIVE_3_1).call("get_database", "d").locationUri == "file:/nowhere/odd"


def test_demands_are_read_without_regard_to_case_and_spaces() -> None:
    assert translation.demanded(made(OBJCAPABILITIES=" extread ,\tHiveBucket2")) == ("EXTREAD", "HIVEBUCKET2")
    assert translation.demanded(made()) is None


def test_a_managed_table_that_is_not_transactional_is_for_all() -> None:
    assert translation.access(made("MANAGED_TABLE"), ("ANYTHING",)) == Access(READ_WRITE)
    assert translation.access(made("MANAGED_TABLE", OBJCAPABILITIES="HIVESQL,HIVEMANAGESTATS"), ("X",)) == Access(
        READ_ONLY, writes=("HIVEMANAGESTATS",)
    )


def test_a_table_of_an_unknown_type_has_no_access() -> None:
    assert translation.access(made("INDEX_TABLE"), ("EXTREAD",)) == Access(NONE)
    assert translation.access(made("INDEX_TABLE", OBJCAPABILITIES="EXTREAD,EXTWRITE"), ("EXTREAD",)) == Access(
        NONE, ("EXTREAD",), ("EXTWRITE",)
    )


def test_databases_of_other_catalogs_have_one_directory_of_their_own() -> None:
    other = Database(name="d", catalogName="other", locationUri="file:/elsewhere/d.db")
    assert (
        translation.external_directory(other, ROOT)
        == translation.managed_directory(other, ROOT)
        == "file:/elsewhere/d.db"
    )
    assert translation.translated_database(other, ("HIVEFULLACIDWRITE",), ROOT) == other


def test_only_translated_tables_follow_their_names() -> None:
    marks = {"EXTERNAL": "TRUE", "TRANSLATED_TO_EXTERNAL": "true"}
    placed = Table("t", "d", sd=StorageDescriptor(location="file:/w/d.db/t"), parameters=marks)
    assert translation.follows_renames(placed)
    assert not translation.follows_renames(replace(placed, parameters={**marks, "table_type": "iceberg"}))
    assert not translation.follows_renames(replace(placed, parameters={"EXTERNAL": "TRUE"}))
