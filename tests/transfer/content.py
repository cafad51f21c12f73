"""A metastore's worth of content, made through the API: every kind of object that an import has to carry."""

from __future__ import annotations

from typing import Any, Final

from metastored.client._sync.client import Client
from metastored.wire.generated.common import (
    BooleanColumnStatsData,
    ColumnStatistics,
    ColumnStatisticsData,
    ColumnStatisticsDesc,
    ColumnStatisticsObj,
    CreationMetadata,
    Decimal,
    DecimalColumnStatsData,
    FieldSchema,
    LongColumnStatsData,
    Order,
    PrincipalType,
    PrivilegeGrantInfo,
    SerDeInfo,
    SkewedInfo,
    SQLDefaultConstraint,
    SQLForeignKey,
    SQLNotNullConstraint,
    SQLPrimaryKey,
    SQLUniqueConstraint,
    StorageDescriptor,
    StringColumnStatsData,
    Table,
)
from metastored.wire.generated.constraints import (
    AddDefaultConstraintRequest,
    AddForeignKeyRequest,
    AddNotNullConstraintRequest,
    AddPrimaryKeyRequest,
    AddUniqueConstraintRequest,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function, FunctionType, ResourceType, ResourceUri
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.roles import HiveObjectPrivilege, HiveObjectRef, HiveObjectType, PrivilegeBag, Role
from metastored.wire.generated.statistics import SetPartitionsStatsRequest
from metastored.wire.structs import replace
from tests.support import objects

COLUMNS: Final = (
    FieldSchema("id", "bigint", "the number"),
    FieldSchema("name", "string", "ein Name, übrigens"),
    FieldSchema("price", "decimal(10,2)"),
    FieldSchema("good", "boolean"),
    FieldSchema("more", "struct<a:int,b:array<map<string,double>>>"),
)
KEYS: Final = (FieldSchema("ds", "string", "the day"), FieldSchema("h", "int"))
BATCH: Final = 2000


def storage(location: str | None = None, **fields: Any) -> StorageDescriptor:
    serde = SerDeInfo(None, objects.LAZY_SERDE, {"serialization.format": "1", "field.delim": "\x01"})
    return objects.storage(COLUMNS, location, serdeInfo=serde, **fields)


def table(db: str, name: str, **fields: Any) -> Table:
    given: dict[str, Any] = {
        "owner": "ann",
        "createTime": None,
        "retention": 7,
        "lastAccessTime": 12345,
        "sd": storage(),
        "parameters": {"comment": f"made for {name}", "numRows": "17", "über": "größe"},
    }
    return objects.table(db, name, **given | fields)


def column_statistics(seed: int) -> tuple[ColumnStatisticsObj, ...]:
    return (
        ColumnStatisticsObj("id", "bigint", ColumnStatisticsData(longStats=LongColumnStatsData(seed, seed + 9, 1, 9))),
        ColumnStatisticsObj(
            "name", "string", ColumnStatisticsData(stringStats=StringColumnStatsData(10 + seed % 5, 4.25, 2, 8))
        ),
        ColumnStatisticsObj(
            "price",
            "decimal(10,2)",
            ColumnStatisticsData(
                decimalStats=DecimalColumnStatsData(Decimal(b"\x00\xfa", 2), Decimal(b"\x03\xe8", 1), 0, 4)
            ),
        ),
        ColumnStatisticsObj(
            "good", "boolean", ColumnStatisticsData(booleanStats=BooleanColumnStatsData(seed % 7, 3, 0))
        ),
    )


def set_statistics(client: Client, db: str, name: str, parts: list[str] | None, seed: int) -> None:
    given = tuple(
        ColumnStatistics(
            statsDesc=ColumnStatisticsDesc(isTblLevel=part is None, dbName=db, tableName=name, partName=part),
            statsObj=column_statistics(seed + at),
            engine="hive",
        )
        for at, part in enumerate(parts or [None])
    )
    client.api.set_aggr_stats_for(SetPartitionsStatsRequest(colStats=given, engine="hive"))


def fill(client: Client, prefix: str, tables: int, partitions: int, few: int | None = None) -> None:
    """Databases whose names begin with `prefix`, with these numbers of tables and partitions in total.

    Ten tables have `few` partitions each, by default half of all together; one table has the others.
    """
    main, other = f"{prefix}_main", f"{prefix}_other"
    client.create_database(
        Database(name=main, description="the main one", parameters={"a": "1"}, ownerName="ann", ownerType=1)
    )
    client.create_database(Database(name=other, ownerName="crew", ownerType=PrincipalType.ROLE))
    _kinds_of_tables(client, main)
    _materialized_view(client, main)
    many, few = f"{prefix}_p", max(1, partitions // 20) if few is None else few
    client.create_table(table(main, many, partitionKeys=KEYS, tableType="MANAGED_TABLE"))
    add_partitions(client, main, many, partitions - 10 * few)
    for at in range(10):
        client.create_table(table(main, f"p{at}", partitionKeys=KEYS))
        add_partitions(client, main, f"p{at}", few)
    statistics = [f"ds=2024-{at:05d}/h={at % 24}" for at in range(min(few, 50))]
    set_statistics(client, main, "p0", statistics, 3)
    there = len(client.tables(main))
    for at in range(tables - there):
        client.create_table(table(other, f"t{at:03d}"))
    set_statistics(client, other, "t000", None, 1)
    _constraints(client, main, other)
    _functions(client, main)
    _privileges(client, prefix, main, other)


def _kinds_of_tables(client: Client, db: str) -> None:
    client.create_table(
        table(db, "view", tableType="VIRTUAL_VIEW", viewOriginalText="select 1", viewExpandedText="select 1 `_c0`")
    )
    external = {"EXTERNAL": "TRUE", "transient_lastDdlTime": "1234567890", "numFiles": "4", "totalSize": "99"}
    client.create_table(table(db, "external", tableType="EXTERNAL_TABLE", parameters=external))
    odd = storage(skewedInfo=SkewedInfo(("id",), (("1",), ("2",)), {}), storedAsSubDirectories=False)
    buckets = replace(odd, numBuckets=4, bucketCols=("id",), sortCols=(Order("name", 1),), parameters={"k": "v"})
    client.create_table(table(db, "buckets", sd=buckets))
    client.create_table(table(db, "dates", partitionKeys=(FieldSchema("d", "date"), FieldSchema("odd", "string"))))
    odd_values = [
        ("2024-02-29", "a b"),
        ("2024-03-01", "x/y=z:%"),
        ("2024-03-02", "__HIVE_DEFAULT_PARTITION__"),
        ("2024-03-03", "größe"),
    ]
    client.add_partitions(f"{db}.dates", [Partition(values=values, sd=storage()) for values in odd_values])


def _materialized_view(client: Client, db: str) -> None:
    """Its name sorts before its source table. Hive 4 requires more fields of the sources."""
    if not client.capabilities.has_materialized_views() or client.capabilities.version() >= (4, 0):
        return
    made_from = CreationMetadata("hive", db, "a_view", frozenset({f"{db}.external"}), "5:5::")
    view = table(db, "a_view", tableType="MATERIALIZED_VIEW", viewOriginalText="select 1", viewExpandedText="select 1")
    client.create_table(replace(view, creationMetadata=made_from, rewriteEnabled=True))


def add_partitions(client: Client, db: str, name: str, count: int) -> None:
    """Partitions that share a place, so that no thousands of directories have to be made."""
    root = client.table(f"{db}.{name}").sd
    assert root is not None
    parts = [
        Partition(
            values=(f"2024-{at:05d}", str(at % 24)),
            sd=storage(f"{root.location}/shared" if at % 3 else f"{root.location}/other"),
            parameters={"numRows": str(at)} if at % 2 else {"numFiles": "1", "totalSize": str(at), "who": "ann"},
            lastAccessTime=at,
        )
        for at in range(count)
    ]
    client.add_partitions(f"{db}.{name}", parts)


def _constraints(client: Client, db: str, other: str) -> None:
    key = (
        SQLPrimaryKey(db, "external", "id", 1, f"{db}_pk", True, False, True, "hive"),
        SQLPrimaryKey(db, "external", "name", 2, f"{db}_pk", True, False, True, "hive"),
    )
    client.api.add_primary_key(AddPrimaryKeyRequest(primaryKeyCols=key))
    other_key = SQLPrimaryKey(db, "buckets", "id", 1, f"{db}_pk2", False, False, True, "hive")
    client.api.add_primary_key(AddPrimaryKeyRequest(primaryKeyCols=(other_key,)))
    # The referring table sorts before the referenced table.
    refers = SQLForeignKey(
        db, "buckets", "id", other, "t000", "id", 1, 0, 0, f"{db}_fk", f"{db}_pk2", True, False, True, "hive"
    )
    client.api.add_foreign_key(AddForeignKeyRequest(foreignKeyCols=(refers,)))
    if not client.capabilities.has_constraints():
        return
    at: dict[str, Any] = {"catName": "hive", "table_db": db, "table_name": "buckets"}
    flags: dict[str, Any] = {"enable_cstr": True, "validate_cstr": False, "rely_cstr": False}
    unique = SQLUniqueConstraint(**at, column_name="name", key_seq=1, uk_name=f"{db}_uk", **flags)
    not_null = SQLNotNullConstraint(**at, column_name="name", nn_name=f"{db}_nn", **flags)
    default = SQLDefaultConstraint(**at, column_name="name", default_value="'x'", dc_name=f"{db}_dc", **flags)
    client.api.add_unique_constraint(AddUniqueConstraintRequest(uniqueConstraintCols=(unique,)))
    client.api.add_not_null_constraint(AddNotNullConstraintRequest(notNullConstraintCols=(not_null,)))
    client.api.add_default_constraint(AddDefaultConstraintRequest(defaultConstraintCols=(default,)))


def _functions(client: Client, db: str) -> None:
    client.api.create_function(
        Function(
            functionName="twice",
            dbName=db,
            className="org.example.Twice",
            ownerName="ann",
            ownerType=PrincipalType.USER,
            functionType=FunctionType.JAVA,
            resourceUris=(ResourceUri(ResourceType.JAR, "hdfs://nn/twice.jar"),),
        )
    )


def _privileges(client: Client, prefix: str, db: str, other: str) -> None:
    client.api.create_role(Role(roleName=f"{prefix}_role", ownerName="ann"))
    client.api.create_role(Role(roleName=f"{prefix}_inner", ownerName="bob"))
    client.api.grant_role(f"{prefix}_role", "carol", PrincipalType.USER, "ann", PrincipalType.USER, True)
    client.api.grant_role(f"{prefix}_role", f"{prefix}_inner", PrincipalType.ROLE, "ann", PrincipalType.USER, False)
    on = (
        (HiveObjectRef(HiveObjectType.DATABASE, db), "CREATE"),
        (HiveObjectRef(HiveObjectType.TABLE, other, "t000"), "SELECT"),
        (HiveObjectRef(HiveObjectType.COLUMN, other, "t000", columnName="name"), "SELECT"),
        (HiveObjectRef(HiveObjectType.TABLE, db, "p0"), "INSERT"),
    )
    grants = tuple(
        HiveObjectPrivilege(
            ref,
            f"{prefix}_role",
            PrincipalType.ROLE,
            PrivilegeGrantInfo(word, 0, "ann", PrincipalType.USER, word == "SELECT"),
            "SQL",
        )
        for ref, word in on
    )
    client.api.grant_privileges(PrivilegeBag(privileges=grants))
