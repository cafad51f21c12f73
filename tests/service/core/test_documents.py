"""Objects stored as documents: what each kind stores, refuses and deletes.

`tests/differential` compares the messages with Hive's.
"""

from __future__ import annotations

from typing import Any

import pytest

from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    MetaException,
    NoSuchObjectException,
)
from metastored.hive.generation import Generation
from metastored.service.retention import REPLICATION_METRICS_AGE, RUNTIME_STATS_AGE, clean
from metastored.wire.generated.common import FieldSchema, SerDeInfo
from metastored.wire.generated.connectors import (
    AlterDataConnectorRequest,
    CreateDataConnectorRequest,
    DataConnector,
    DropDataConnectorRequest,
    GetDataConnectorRequest,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.files import (
    CacheFileMetadataRequest,
    ClearFileMetadataRequest,
    GetFileMetadataByExprRequest,
    GetFileMetadataRequest,
    PutFileMetadataRequest,
)
from metastored.wire.generated.indexes import Index
from metastored.wire.generated.metrics import (
    GetReplicationMetricsRequest,
    GetRuntimeStatsRequest,
    ReplicationMetricList,
    ReplicationMetrics,
    RuntimeStat,
)
from metastored.wire.generated.procedures import (
    AddPackageRequest,
    DropPackageRequest,
    GetPackageRequest,
    ListPackageRequest,
    ListStoredProcedureRequest,
    StoredProcedure,
    StoredProcedureRequest,
)
from metastored.wire.generated.schema_registry import (
    AlterISchemaRequest,
    FindSchemasByColsRqst,
    GetSerdeRequest,
    ISchema,
    ISchemaName,
    MapSchemaVersionToSerdeRequest,
    SchemaVersion,
    SchemaVersionDescriptor,
    SchemaVersionState,
    SetSchemaVersionStateRequest,
)
from metastored.wire.generated.service import PropertyGetRequest, PropertySetRequest
from metastored.wire.generated.types import Type
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore
from tests.support.objects import storage, table

DAY = 86400


# --- types ----------------------------------------------------------------------------------------------------------


def test_a_type_is_stored_until_it_is_dropped(metastore: Metastore) -> None:
    assert metastore.call("create_type", Type(name="ty", type1="int")) is True
    assert metastore.call("get_type", " ty ") == Type(name="ty", type1="int", fields=())
    with pytest.raises(AlreadyExistsException, match="Type ty already exists"):
        metastore.call("create_type", Type(name="ty"))
    with pytest.raises(InvalidObjectException, match="Invalid type name"):
        metastore.call("create_type", Type(name="a b"))
    with pytest.raises(MetaException, match="Not yet implemented"):
        metastore.call("get_type_all", "ty")
    assert metastore.call("drop_type", "ty") is True
    assert metastore.call("drop_type", "ty") is True
    with pytest.raises(NoSuchObjectException, match='Type "ty" not found'):
        metastore.call("get_type", "ty")


# --- connectors -----------------------------------------------------------------------------------------------------

CONNECTOR = DataConnector(name="Con", type="mysql", url="jdbc:mysql://h/d", parameters={"k": "v"}, description="d")


def test_connectors_are_made_and_changed_by_the_calls_of_4_0_0(hive_4: Metastore) -> None:
    hive_4.call("create_dataconnector", CONNECTOR)
    with pytest.raises(AlreadyExistsException, match="DataConnector CON already exists"):
        hive_4.call("create_dataconnector", replace(CONNECTOR, name="CON"))
    result: DataConnector = hive_4.call("get_dataconnector_req", GetDataConnectorRequest("CON"))
    assert (result.name, result.ownerName, result.ownerType, result.createTime) == (
        "con",
        "tester",
        1,
        int(hive_4.clock.now),
    )
    hive_4.call("alter_dataconnector", "con", DataConnector(name="other", url="jdbc:x", ownerName="o"))
    changed = hive_4.call("get_dataconnector_req", GetDataConnectorRequest("con"))
    assert changed == replace(result, url="jdbc:x", ownerName="o", parameters={})
    assert hive_4.call("get_dataconnectors") == ("con",)
    hive_4.call("drop_dataconnector", "Con", False, True)
    assert hive_4.call("get_dataconnectors") == ()


def test_connectors_are_made_and_changed_by_the_calls_of_4_0_1(hive_4: Metastore) -> None:
    hive_4.call("create_dataconnector_req", CreateDataConnectorRequest(CONNECTOR))
    hive_4.call("alter_dataconnector_req", AlterDataConnectorRequest("con", replace(CONNECTOR, url="jdbc:x")))
    assert hive_4.call("get_dataconnector_req", GetDataConnectorRequest("con")).url == "jdbc:x"
    hive_4.call("drop_dataconnector_req", DropDataConnectorRequest("con", False, True))
    hive_4.call("drop_dataconnector_req", DropDataConnectorRequest("con", True, True))
    with pytest.raises(NoSuchObjectException, match="DataConnector con doesn't exist"):
        hive_4.call("drop_dataconnector_req", DropDataConnectorRequest("con", False, True))
    with pytest.raises(NoSuchObjectException, match="Dataconnector named con does not exist"):
        hive_4.call("alter_dataconnector_req", AlterDataConnectorRequest("con", CONNECTOR))


# --- indexes --------------------------------------------------------------------------------------------------------


@pytest.fixture
def indexed(start: Starter) -> Metastore:
    """A Hive 2.3 with the table d.t and its index i in d.it."""
    old = start(Generation.HIVE_2_3)
    old.call("create_database", Database(name="d"))
    old.call("create_table", table("d", "t"))
    old.call("add_index", _index("i", "it"), table("d", "it", tableType="INDEX_TABLE"))
    return old


def _index(name: str, own: str) -> Index:
    return Index(name, "x.Y", "d", "t", indexTableName=own, sd=storage(), parameters={"k": "v"})


def test_an_index_is_found_by_its_table(indexed: Metastore) -> None:
    result = indexed.call("get_index_by_name", "D", "T", "I")
    assert (result.indexName, result.dbName, result.origTableName, result.indexTableName) == ("i", "d", "t", "it")
    assert indexed.call("get_indexes", "d", "t", 10) == (result,)
    assert indexed.call("get_index_names", "d", "t", 10) == ("i",)
    assert indexed.call("get_index_names", "d", "it", 10) == ()


def test_an_index_can_get_other_parameters(indexed: Metastore) -> None:
    indexed.call("alter_index", "d", "t", "i", replace(_index("i", "it"), parameters={"x": "y"}))
    assert indexed.call("get_index_by_name", "d", "t", "i").parameters["x"] == "y"
    with pytest.raises(MetaException, match="index=nope not found"):
        indexed.call("alter_index", "d", "t", "nope", _index("i", "it"))


def test_an_index_follows_its_table_to_another_name(indexed: Metastore) -> None:
    indexed.call("alter_table", "d", "t", replace(indexed.call("get_table", "d", "t"), tableName="u"))
    assert indexed.call("get_index_by_name", "d", "u", "i").origTableName == "u"


def test_an_index_that_cannot_be_added_leaves_no_table_behind(indexed: Metastore) -> None:
    with pytest.raises(AlreadyExistsException, match="Index already exists:Index"):
        indexed.call("add_index", _index("i", "it2"), table("d", "it2"))
    with pytest.raises(InvalidObjectException, match="orginal table do not exist"):
        indexed.call("add_index", replace(_index("j", "it2"), origTableName="nope"), table("d", "it2"))
    with pytest.raises(InvalidObjectException, match="index table already exists"):
        indexed.call("add_index", _index("j", "it"), table("d", "it"))
    with pytest.raises(InvalidObjectException, match="Storage descriptor is not defined"):
        indexed.call("add_index", replace(_index("j", "it2"), sd=None), table("d", "it2"))
    assert indexed.call("get_all_tables", "d") == ("it", "t")


def test_the_table_of_an_index_is_dropped_only_with_it(indexed: Metastore) -> None:
    with pytest.raises(MetaException, match="Please do drop index instead"):
        indexed.call("drop_table", "d", "it", True)
    assert indexed.call("drop_index_by_name", "d", "t", "i", True) is True
    assert indexed.call("get_all_tables", "d") == ("t",)
    with pytest.raises(NoSuchObjectException, match=r"d\.t index=i not found"):
        indexed.call("drop_index_by_name", "d", "t", "i", True)


def test_a_table_takes_its_indexes_with_it(indexed: Metastore) -> None:
    indexed.call("drop_table", "d", "t", True)
    assert indexed.call("get_all_tables", "d") == ()
    indexed.call("create_table", table("d", "t"))
    assert indexed.call("get_index_names", "d", "t", 10) == ()


def test_a_database_takes_its_indexes_with_it(indexed: Metastore) -> None:
    indexed.call("drop_database", "d", True, True)
    assert indexed.call("get_all_databases") == ("default",)


# --- procedures and packages ----------------------------------------------------------------------------------------


def test_a_procedure_is_replaced_by_another_of_its_name(hive_4: Metastore) -> None:
    hive_4.call("create_database", Database(name="d"))
    for text in ("one", "two"):
        hive_4.call("create_stored_procedure", StoredProcedure("P", "D", "hive", "o", text))
    expected = StoredProcedureRequest("hive", "d", "P")
    assert hive_4.call("get_stored_procedure", expected) == StoredProcedure("P", "d", "hive", "o", "two")
    assert hive_4.call("get_all_stored_procedures", ListStoredProcedureRequest("hive", "d")) == ("P",)
    assert hive_4.call("get_all_stored_procedures", ListStoredProcedureRequest("hive")) == ("P",)
    hive_4.call("drop_stored_procedure", expected)
    hive_4.call("drop_stored_procedure", expected)
    with pytest.raises(NoSuchObjectException, match=r"HPL/SQL StoredProcedure d\.P does not exist"):
        hive_4.call("get_stored_procedure", expected)
    with pytest.raises(NoSuchObjectException, match=r"There is no database hive\.nodb"):
        hive_4.call("create_stored_procedure", StoredProcedure("P", "nodb", "hive", "o", "x"))


def test_a_package_is_stored_with_its_head_and_body(hive_4: Metastore) -> None:
    hive_4.call("create_database", Database(name="d"))
    hive_4.call("add_package", AddPackageRequest("hive", "d", "Pk", "o", "head", "body"))
    result = hive_4.call("find_package", GetPackageRequest("hive", "D", "Pk"))
    assert (result.header, result.body, result.dbName) == ("head", "body", "d")
    assert hive_4.call("get_all_packages", ListPackageRequest("hive", "d")) == ("Pk",)
    hive_4.call("drop_package", DropPackageRequest("hive", "d", "Pk"))
    with pytest.raises(NoSuchObjectException, match=r"HPL/SQL package d\.Pk does not exist"):
        hive_4.call("find_package", GetPackageRequest("hive", "d", "Pk"))
    with pytest.raises(MetaException, match=r"There is no database hive\.nodb"):
        hive_4.call("add_package", AddPackageRequest("hive", "nodb", "Pk", "o", "head", "body"))


def test_a_database_takes_its_documents_with_it(hive_4: Metastore) -> None:
    hive_4.call("create_database", Database(name="d"))
    hive_4.call("add_package", AddPackageRequest("hive", "d", "Pk", "o", "head", "body"))
    hive_4.call("create_ischema", _schema())
    hive_4.call("add_schema_version", _version(1))
    hive_4.call("drop_database", "d", True, False)
    hive_4.call("create_database", Database(name="d"))
    assert hive_4.call("get_all_packages", ListPackageRequest("hive")) == ()
    assert hive_4.call("get_schemas_by_cols", FindSchemasByColsRqst(colName="a")).schemaVersions == ()


# --- the schema registry --------------------------------------------------------------------------------------------

NAME = ISchemaName("hive", "d", "s")


def _schema(**other: Any) -> ISchema:
    return ISchema(schemaType=2, name="S", catName="hive", dbName="d", compatibility=2, validationLevel=1, **other)


def _version(number: int, *columns: str) -> SchemaVersion:
    cols = tuple(FieldSchema(name, "int", "space") for name in columns or ("a",))
    return SchemaVersion(schema=NAME, version=number, createdAt=1, cols=cols)


@pytest.fixture
def registry(metastore: Metastore) -> Metastore:
    """A Hive 3.1 with the schema d.s and two versions of it."""
    metastore.call("create_database", Database(name="d"))
    metastore.call("create_ischema", _schema())
    metastore.call("add_schema_version", _version(1))
    metastore.call("add_schema_version", _version(10, "a", "b"))
    return metastore


def test_a_schema_can_be_changed_but_for_its_name_and_type(registry: Metastore) -> None:
    assert registry.call("get_ischema", NAME).canEvolve is False
    registry.call("alter_ischema", AlterISchemaRequest(NAME, _schema(canEvolve=True, description="x")))
    result = registry.call("get_ischema", replace(NAME, schemaName="S"))
    assert (result.name, result.description, result.canEvolve) == ("s", "x", True)
    with pytest.raises(AlreadyExistsException, match=r"Schema with name d\.S already exists"):
        registry.call("create_ischema", _schema())
    with pytest.raises(NoSuchObjectException, match="Could not find schema ISchemaName"):
        registry.call("alter_ischema", AlterISchemaRequest(replace(NAME, schemaName="nope"), _schema()))
    with pytest.raises(NoSuchObjectException, match="No schema named ISchemaName"):
        registry.call("get_ischema", replace(NAME, schemaName="nope"))


def test_versions_are_ordered_by_their_numbers(registry: Metastore) -> None:
    assert registry.call("get_schema_latest_version", NAME).version == 10
    assert [each.version for each in registry.call("get_schema_all_versions", NAME)] == [10, 1]
    assert registry.call("get_schema_version", SchemaVersionDescriptor(NAME, 1)) == _version(1)
    with pytest.raises(AlreadyExistsException, match="version 10 already exists"):
        registry.call("add_schema_version", _version(10))
    with pytest.raises(NoSuchObjectException, match="No schema version"):
        registry.call("get_schema_version", SchemaVersionDescriptor(NAME, 2))


def test_a_schema_with_versions_cannot_be_dropped(registry: Metastore) -> None:
    with pytest.raises(Exception, match="at least one valid version"):
        registry.call("drop_ischema", NAME)
    for number in (1, 10):
        registry.call("drop_schema_version", SchemaVersionDescriptor(NAME, number))
    registry.call("drop_ischema", NAME)
    with pytest.raises(NoSuchObjectException, match="does not exist"):
        registry.call("drop_ischema", NAME)
    with pytest.raises(NoSuchObjectException, match="No versions of schema"):
        registry.call("get_schema_latest_version", NAME)


@pytest.mark.parametrize(
    ("wanted", "versions"),
    [
        ({"colName": "A"}, [1, 10]),
        ({"colName": "b"}, [10]),
        ({"colName": "b", "type": "string"}, []),
        ({"colNamespace": "space", "type": "INT"}, [1, 10]),
        ({"colNamespace": "other"}, []),
    ],
)
def test_versions_are_found_by_their_columns(registry: Metastore, wanted: dict[str, str], versions: list[int]) -> None:
    result = registry.call("get_schemas_by_cols", FindSchemasByColsRqst(**wanted)).schemaVersions
    assert [each.version for each in result] == versions
    with pytest.raises(MetaException, match="You must specify column name or column namespace"):
        registry.call("get_schemas_by_cols", FindSchemasByColsRqst(type="int"))


def test_a_version_gets_a_state_and_a_serde(registry: Metastore) -> None:
    one = SchemaVersionDescriptor(NAME, 1)
    serde = SerDeInfo(name="Serde", serializationLib="x.Y", parameters={})
    registry.call("add_serde", serde)
    assert registry.call("get_serde", GetSerdeRequest("Serde")) == serde
    registry.call("map_schema_version_to_serde", MapSchemaVersionToSerdeRequest(one, "Serde"))
    registry.call("set_schema_version_state", SetSchemaVersionStateRequest(one, SchemaVersionState.ENABLED))
    result = registry.call("get_schema_version", one)
    assert (result.serDe, result.state) == (serde, SchemaVersionState.ENABLED)
    with pytest.raises(AlreadyExistsException, match="Serde with name Serde already exists"):
        registry.call("add_serde", serde)
    with pytest.raises(NoSuchObjectException, match="No SerDe named nope"):
        registry.call("map_schema_version_to_serde", MapSchemaVersionToSerdeRequest(one, "nope"))


# --- metrics --------------------------------------------------------------------------------------------------------


def test_runtime_statistics_come_back_newest_first_up_to_a_weight(metastore: Metastore) -> None:
    for number in range(4):
        metastore.call("add_runtime_stats", RuntimeStat(weight=2, payload=b"%d" % number))
        metastore.clock.forward(1)

    def payloads(weight: int, before: int = -1) -> bytes:
        request = GetRuntimeStatsRequest(maxWeight=weight, maxCreateTime=before)
        return b"".join(stat.payload or b"" for stat in metastore.call("get_runtime_stats", request))

    assert (payloads(-1), payloads(3), payloads(0)) == (b"3210", b"32", b"3")
    assert payloads(-1, int(metastore.clock.now) - 2) == b"10"
    metastore.clock.forward(RUNTIME_STATS_AGE - 1)
    clean(metastore.service, DAY)
    assert payloads(-1) == b"3"


def test_metrics_of_a_replication_are_merged_by_execution(hive_4: Metastore) -> None:
    def add(id: int, **other: Any) -> None:
        given = ReplicationMetrics(scheduledExecutionId=id, policy="p", dumpExecutionId=1, **other)
        hive_4.call("add_replication_metrics", ReplicationMetricList((given,)))

    def matching(**expected: Any) -> list[tuple[Any, ...]]:
        reply = hive_4.call("get_replication_metrics", GetReplicationMetricsRequest(**expected))
        return [(each.scheduledExecutionId, each.metadata, each.progress) for each in reply.replicationMetricList]

    add(9, metadata="m", progress="p1")
    add(9, progress="p2")
    add(10, metadata="x" * 4001)
    assert matching(policy="p") == [(10, None, "RM_Metadata limit exceeded to 4001"), (9, "m", "p2")]
    assert matching(scheduledExecutionId=9) == [(9, "m", "p2")]
    assert matching(policy="other") == []
    hive_4.clock.forward(REPLICATION_METRICS_AGE + 1)
    clean(hive_4.service, DAY)
    assert matching(policy="p") == []


# --- files and properties -------------------------------------------------------------------------------------------


def test_footers_of_files_are_not_cached_and_the_replies_say_so(metastore: Metastore) -> None:
    assert metastore.call("get_file_metadata", GetFileMetadataRequest((1,))).isSupported is False
    by_expression = GetFileMetadataByExprRequest(fileIds=(1,), expr=b"")
    assert metastore.call("get_file_metadata_by_expr", by_expression).isSupported is False
    assert metastore.call("cache_file_metadata", CacheFileMetadataRequest("d", "t")).isSupported is False
    metastore.call("put_file_metadata", PutFileMetadataRequest(fileIds=(1,), metadata=(b"",)))
    metastore.call("clear_file_metadata", ClearFileMetadataRequest(fileIds=(1,)))


def test_properties_are_stored_in_maps_by_their_path(hive_4: Metastore) -> None:
    given = {"c.d.t.policy": "x", "c.d.t.fill": "3", "c.d.owner": "me", "size": "1"}
    assert hive_4.call("set_properties", PropertySetRequest("hms", given)) is True

    def matching(**expected: Any) -> Any:
        return hive_4.call("get_properties", PropertyGetRequest(nameSpace="hms", **expected)).properties

    assert matching() == {"": {"size": "1"}, "c.d": {"owner": "me"}, "c.d.t": {"policy": "x", "fill": "3"}}
    assert matching(mapPrefix="c.d.t", mapSelection=("fill",), mapPredicate="true") == {"c.d.t": {"fill": "3"}}
    hive_4.call("set_properties", PropertySetRequest("hms", {"c.d.owner": "", "c.d.t.fill": "4"}))
    assert matching(mapPrefix="c.") == {"c.d.t": {"policy": "x", "fill": "4"}}
    with pytest.raises(NoSuchObjectException, match="no PropertyManager namespace is declared, namespace nope"):
        hive_4.call("set_properties", PropertySetRequest("nope", {}))
    with pytest.raises(MetaException, match="metastored does not evaluate"):
        matching(mapPredicate="fill > 3")
