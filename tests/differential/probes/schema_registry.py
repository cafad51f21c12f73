"""Schemas, their versions and SerDes; and the statistics that query engines leave with the metastore."""

from typing import Any

from metastored.wire.generated.common import FieldSchema, SerDeInfo
from metastored.wire.generated.databases import Database
from metastored.wire.generated.metrics import GetRuntimeStatsRequest, RuntimeStat
from metastored.wire.generated.schema_registry import (
    AlterISchemaRequest,
    FindSchemasByColsRqst,
    GetSerdeRequest,
    ISchema,
    ISchemaName,
    MapSchemaVersionToSerdeRequest,
    SchemaVersion,
    SchemaVersionDescriptor,
    SetSchemaVersionStateRequest,
)
from tests.differential.script import SINCE_3_1, Ask, ask

DB = "reg"


def probe(label: str, method: str, request: Any) -> Ask:
    return ask(label, method, request, versions=SINCE_3_1)


def named(name: str = "s1", db: str = DB) -> ISchemaName:
    return ISchemaName("hive", db, name)


def schema(name: str | None = "S1", db: str = DB, **other: Any) -> ISchema:
    plain: dict[str, Any] = {"schemaType": 2, "compatibility": 2, "validationLevel": 2, "canEvolve": True}
    return ISchema(name=name, catName="hive", dbName=db, **(plain | other))


def version(number: int, name: str = "s1", **other: Any) -> SchemaVersion:
    plain: dict[str, Any] = {"createdAt": 7, "cols": (FieldSchema("a", "int", "space"), FieldSchema("b", "string"))}
    return SchemaVersion(schema=named(name), version=number, **(plain | other))


def of(number: int, name: str = "s1") -> SchemaVersionDescriptor:
    return SchemaVersionDescriptor(schema=named(name), version=number)


SCRIPT = [
    probe("for them", "create_database", Database(name=DB)),
    probe("plain", "create_ischema", schema()),
    probe("taken", "create_ischema", schema("s1")),
    probe("of no database", "create_ischema", schema("s2", "nodb")),
    probe("plain", "get_ischema", named()),
    probe("in upper case", "get_ischema", named("S1", "REG")),
    probe("missing", "get_ischema", named("nope")),
    probe("of no database", "get_ischema", named("s1", "nodb")),
    probe(
        "plain",
        "alter_ischema",
        AlterISchemaRequest(named(), schema(compatibility=1, canEvolve=False, description="d", schemaGroup="g")),
    ),
    probe("changed", "get_ischema", named()),
    probe("missing", "alter_ischema", AlterISchemaRequest(named("nope"), schema())),
    probe("none", "get_schema_latest_version", named()),
    probe("none", "get_schema_all_versions", named()),
    probe("plain", "add_schema_version", version(1)),
    probe("taken", "add_schema_version", version(1)),
    probe("of no schema", "add_schema_version", version(1, "nope")),
    probe(
        "with all",
        "add_schema_version",
        version(2, description="d", schemaText="t", fingerprint="f", name="n", state=1),
    ),
    probe("plain", "get_schema_version", of(1)),
    probe("with all", "get_schema_version", of(2)),
    probe("missing", "get_schema_version", of(9)),
    probe("plain", "get_schema_latest_version", named()),
    probe("plain", "get_schema_all_versions", named()),
    probe("state", "set_schema_version_state", SetSchemaVersionStateRequest(of(1), 5)),
    probe("of none", "set_schema_version_state", SetSchemaVersionStateRequest(of(9), 5)),
    probe("plain", "add_serde", SerDeInfo(name="Serde1", serializationLib="x.Y", parameters={"k": "v"})),
    probe("taken", "add_serde", SerDeInfo(name="Serde1", serializationLib="x.Y")),
    probe("plain", "get_serde", GetSerdeRequest("Serde1")),
    probe("in lower case", "get_serde", GetSerdeRequest("serde1")),
    probe("missing", "get_serde", GetSerdeRequest("nope")),
    probe("plain", "map_schema_version_to_serde", MapSchemaVersionToSerdeRequest(of(1), "Serde1")),
    probe("no version", "map_schema_version_to_serde", MapSchemaVersionToSerdeRequest(of(9), "Serde1")),
    probe("no serde", "map_schema_version_to_serde", MapSchemaVersionToSerdeRequest(of(1), "nope")),
    probe("mapped", "get_schema_version", of(1)),
    probe("nothing", "get_schemas_by_cols", FindSchemasByColsRqst()),
    probe("with versions", "drop_ischema", named()),
    probe("missing", "drop_schema_version", of(9)),
    probe("one", "drop_schema_version", of(1)),
    probe("another", "drop_schema_version", of(2)),
    probe("plain", "drop_ischema", named()),
    probe("missing", "drop_ischema", named()),
    probe("none", "get_runtime_stats", GetRuntimeStatsRequest(maxWeight=-1, maxCreateTime=-1)),
    probe("plain", "add_runtime_stats", RuntimeStat(createTime=3, weight=2, payload=b"abc")),
    probe("all", "get_runtime_stats", GetRuntimeStatsRequest(maxWeight=-1, maxCreateTime=-1)),
    probe("old", "get_runtime_stats", GetRuntimeStatsRequest(maxWeight=-1, maxCreateTime=5)),
    probe("of weight 0", "get_runtime_stats", GetRuntimeStatsRequest(maxWeight=0, maxCreateTime=-1)),
]
