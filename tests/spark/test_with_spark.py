"""Both directions with real Spark 4.3: each reads, alters and drops the tables of the other, and writes the same.

One Spark for each metastore does all the work; its own HiveExternalCatalog is the reference for what Python reads.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

import metastored
from metastored.catalog import CatalogManager, TableDefinition, columns_of_spark
from metastored.hive.locations import canonical, local_path
from metastored.model.formats import FORMATS
from metastored.model.spark.properties import PROVIDER
from metastored.model.spark.schemas import with_declared_as_string
from metastored.model.spark.type_strings import catalog_string, parse_ddl
from metastored.model.spark.types import schema_to_json
from metastored.model.spark.values import (
    BucketSpec,
    CatalogDatabase,
    CatalogStatistics,
    CatalogStorage,
    CatalogTable,
    CatalogTableType,
    TableIdentifier,
)
from metastored.spark import ExternalCatalog
from tests.spark.conftest import Metastore, empty
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]


class Case(NamedTuple):
    """One table, that Spark creates by SQL and Python by its definition."""

    ddl: str
    provider: str
    partitioned_by: tuple[str, ...] = ()
    buckets: BucketSpec | None = None
    rows: str = ""
    """Values that Spark inserts, of all columns."""
    stored_as: str = "textfile"
    """The format of a Hive serde table."""


SCALARS = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(12,3)", "STRING", "BINARY", "DATE",
    "TIMESTAMP", "TIMESTAMP_NTZ", "CHAR(5)", "VARCHAR(9)", "STRING COLLATE UTF8_LCASE", "STRING COLLATE UNICODE_CI",
    "INTERVAL YEAR TO MONTH", "INTERVAL DAY TO SECOND",
)  # fmt: skip


def generated(seed: int) -> Case:
    """A table with columns of types nested at random; their names have capitals."""
    chance = random.Random(seed)

    def type(depth: int) -> str:
        kind = chance.choice(("scalar", "scalar", "array", "map", "struct")) if depth else "scalar"
        match kind:
            case "array":
                return f"ARRAY<{type(depth - 1)}>"
            case "map":
                return f"MAP<{chance.choice(('INT', 'STRING', 'DATE'))}, {type(depth - 1)}>"
            case "struct":
                fields = ", ".join(f"F{at}: {type(depth - 1)}" for at in range(chance.randint(1, 3)))
                return f"STRUCT<{fields}>"
        return chance.choice(SCALARS)

    columns = ", ".join(f"Col{at} {type(2)}" for at in range(chance.randint(1, 6)))
    return Case(f"{columns}, `a.b` INT COMMENT 'naïve \"x\"', Part STRING", "parquet", ("Part",))


CASES = {
    **{f"generated_{seed}": generated(seed) for seed in range(12)},
    "parquet": Case("Id INT, Name STRING", "parquet", rows="(1, 'a'), (2, 'b')"),
    "orc": Case("Id INT, Name STRING", "orc", rows="(1, 'a'), (2, 'b')"),
    "json": Case("Id INT, Name STRING", "json", rows="(1, 'a'), (2, 'b')"),
    "csv": Case("Id INT, Name STRING", "csv", rows="(1, 'a'), (2, 'b')"),
    "text": Case("Line STRING", "text"),
    "serde": Case("Id INT, Name STRING", "hive", rows="(1, 'a'), (2, 'b')"),
    "serde_partitioned": Case("Id INT, Part STRING", "hive", ("Part",)),
    "serde_orc": Case("Id INT, Name STRING", "hive", rows="(1, 'a'), (2, 'b')", stored_as="orc"),
    "serde_parquet": Case("Id INT, Name STRING", "hive", rows="(1, 'a'), (2, 'b')", stored_as="parquet"),
    **{f"serde_{format}": Case("Id INT, Name STRING", "hive", stored_as=format)
       for format in ("sequencefile", "rcfile", "avro")},
    "declared": Case("Id INT, C CHAR(5), V VARCHAR(9)", "parquet", rows="(1, 'a', 'b'), (2, 'b', 'c')"),
    "partitioned": Case("V INT, Day DATE, Hour INT", "parquet", ("Day", "Hour"),
                        rows="(1, date'2024-01-01', 1), (2, date'2024-01-01', 2)"),
    "partitioned_json": Case("V INT, Day STRING", "json", ("Day",), rows="(1, 'x'), (2, 'y')"),
    "bucketed": Case("Id INT, Name STRING", "parquet", (), BucketSpec(4, ("Id",), ("Name",)), "(1, 'a'), (2, 'b')"),
    "wide": Case(", ".join(f"Column_{at} STRING COMMENT 'number {at}'" for at in range(200)), "json"),
    "variant": Case("V VARIANT, Id INT", "parquet"),
    "collated": Case("A STRING COLLATE UNICODE_CI, B MAP<STRING COLLATE UTF8_LCASE, STRING COLLATE UNICODE>",
                     "parquet"),
}  # fmt: skip

SCRIPT = """
import json
cases = json.loads(CASES)
catalog = spark._jsparkSession.sharedState().externalCatalog()

def option(found):
    return found.get() if found.isDefined() else None

def described(name):
    t = catalog.getTable("lab", name)
    stats, spec = option(t.stats()), option(t.bucketSpec())
    rows = None if stats is None else option(stats.rowCount())
    location = option(t.storage().locationUri())
    return {
        "schema": t.schema().json(),
        "type": t.tableType().name(),
        "provider": option(t.provider()),
        "partitions": [x for x in t.partitionColumnNames().mkString("\\n").split("\\n") if x],
        "buckets": None if spec is None else spec.toString(),
        "location": None if location is None else location.toString(),
        "comment": option(t.comment()),
        "collation": option(t.collation()),
        "properties": dict(x.split(" -> ", 1) for x in t.properties().mkString("\\n").split("\\n") if x),
        "stats": None if stats is None else [int(str(stats.sizeInBytes())), rows and int(str(rows))],
        "version": t.createVersion(),
        "view": option(t.viewText()),
        "catalog": t.tracksPartitionsInCatalog(),
        "case": t.schemaPreservesCase(),
        "owner": t.owner(),
        "storage": [option(t.storage().inputFormat()), option(t.storage().outputFormat()), option(t.storage().serde())],
    }

result = {"described": {}, "rows": {}, "dropped": []}
result["described before"] = {f"p_{name}": described(f"p_{name}") for name in cases}
spark.sql("use lab")
for name, case in cases.items():
    using = "stored as " + case["stored_as"] if case["provider"] == "hive" else "using " + case["provider"]
    parts = f" partitioned by ({', '.join(case['partitioned_by'])})" if case["partitioned_by"] else ""
    buckets = ""
    if case["buckets"]:
        number, by, sorted_by = case["buckets"]
        buckets = f" clustered by ({', '.join(by)}) sorted by ({', '.join(sorted_by)}) into {number} buckets"
    more = "comment 'all' tblproperties ('mine' = 'x')"
    spark.sql(f"create table s_{name} ({case['ddl']}) {using}{parts}{buckets} {more}")
result["described after creation"] = {f"s_{name}": described(f"s_{name}") for name in cases}
result["renamed"] = {}
for name, case in cases.items():
    if case["rows"]:
        spark.sql(f"insert into p_{name} values {case['rows']}")
        result["rows"][name] = spark.table(f"p_{name}").count()
        spark.sql(f"analyze table p_{name} compute statistics")
        spark.sql(f"alter table p_{name} set tblproperties ('by' = 'spark')")
        spark.sql(f"alter table p_{name} add columns (Later STRING)")
        spark.sql(f"alter table p_{name} rename to p_{name}_new")
        result["renamed"][name] = spark.table(f"p_{name}_new").count()
    else:
        spark.sql(f"drop table p_{name}")
        result["dropped"].append(name)
spark.sql("create view v as select Id, Name as `Other Name` from s_parquet")
spark.sql("create table external using json location '" + FOLDER + "/external' as select 1 as A")
spark.sql("create table external_parquet using parquet location '" + FOLDER + "/external_parquet' as select 1 as A")
spark.sql("create table collated_by_default (a string) using parquet default collation UTF8_LCASE")
spark.sql("insert into by_catalog values (1), (2)")
result["rows"]["by_catalog"] = spark.table("by_catalog").count()
names = [row[1] for row in spark.sql("show tables").collect()]
result["described"] = {name: described(name) for name in names}
result["shown"] = {
    name: {row[0]: row[1] for row in spark.sql(f"describe extended {name}").collect() if row[0]} for name in names
}
result["columns"] = {
    name: [[c.name, c.dataType, c.nullable, c.isPartition, c.isBucket] for c in spark.catalog.listColumns(name)]
    for name in names
}
"""


class Worked(NamedTuple):
    catalog: ExternalCatalog
    spark: dict[str, Any]
    raw: dict[str, dict[str, str]]
    """The parameters of the tables before they were altered."""
    before: dict[str, CatalogTable]


def definition(name: str, case: Case) -> CatalogTable:
    return CatalogTable(
        TableIdentifier(f"p_{name}", "lab"),
        CatalogTableType.MANAGED,
        storage(case),
        parse_ddl(case.ddl),
        provider=case.provider,
        partition_column_names=case.partitioned_by,
        bucket_spec=case.buckets,
        comment="all",
        properties={"mine": "x"},
        tracks_partitions_in_catalog=bool(case.partitioned_by) and case.provider != "hive",
    )


def storage(case: Case) -> CatalogStorage:
    if case.provider != "hive":
        return CatalogStorage()
    classes = FORMATS[case.stored_as]
    return CatalogStorage(None, classes.input, classes.output, classes.serde)


@pytest.fixture(scope="module")
def worked(metastore: Metastore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worked]:
    folder = tmp_path_factory.mktemp("tables")
    with metastored.connect(metastore.uri, user="ann", cache=False) as client:
        empty(client)
        catalog = ExternalCatalog(client)
        catalog.create_database(CatalogDatabase("lab", location_uri=(folder / "lab.db").as_uri()))
        for name, case in CASES.items():
            catalog.create_table(definition(name, case))
        with CatalogManager.load(
            environment={}, list=[{"name": "here", "type": "hive", "uri": metastore.uri}]
        ) as manager:
            manager.create_table(
                "lab.by_catalog",
                TableDefinition(columns=columns_of_spark("Id BIGINT"), properties={PROVIDER: "parquet"}),
            )
        raw = {f"p_{name}": dict(client.table(("lab", f"p_{name}")).parameters or {}) for name in CASES}
        before = {f"p_{name}": catalog.get_table("lab", f"p_{name}") for name in CASES}
        spark = run_spark(
            f"CASES = {as_json(CASES)!r}\nFOLDER = {str(folder)!r}\n{SCRIPT}",
            conf={
                "spark.hadoop.hive.metastore.uris": metastore.uri,
                "spark.sql.warehouse.dir": metastore.warehouse,
                "spark.sql.collation.allowInMapKeys": "true",
            },
            timeout=420,
        )
        raw |= {f"s_{name}": dict(client.table(("lab", f"s_{name}")).parameters or {}) for name in CASES}
        yield Worked(catalog, spark, raw, before)
        empty(client)


def as_json(cases: Mapping[str, Case]) -> str:
    """The cases for the script."""
    return json.dumps({name: case._asdict() | {"buckets": _spec(case.buckets)} for name, case in cases.items()})


def _spec(buckets: BucketSpec | None) -> list[Any] | None:
    if buckets is None:
        return None
    return [buckets.num_buckets, buckets.bucket_column_names, buckets.sort_column_names]


def as_described(table: CatalogTable) -> dict[str, Any]:
    """A table in the form that the script describes it."""
    spec = table.bucket_spec
    return {
        "schema": schema_to_json(table.schema),
        "type": table.table_type.value,
        "provider": table.provider,
        "partitions": list(table.partition_column_names),
        "buckets": None if spec is None else _bucket_text(spec),
        "location": table.storage.location_uri and canonical(table.storage.location_uri),
        "comment": table.comment,
        "collation": table.collation,
        "properties": dict(table.properties),
        "stats": table.stats and [table.stats.size_in_bytes, table.stats.row_count],
        "version": table.create_version,
        "view": table.view_text,
        "catalog": table.tracks_partitions_in_catalog,
        "case": table.schema_preserves_case,
        "owner": table.owner,
        "storage": [table.storage.input_format, table.storage.output_format, table.storage.serde],
    }


def _bucket_text(spec: BucketSpec) -> str:
    text = f"{spec.num_buckets} buckets, bucket columns: [{', '.join(spec.bucket_column_names)}]"
    return text + (f", sort columns: [{', '.join(spec.sort_column_names)}]" if spec.sort_column_names else "")


def test_python_reads_every_table_as_spark_does(worked: Worked) -> None:
    described = worked.spark["described"]
    assert len(described) > len(CASES)
    for name, expected in described.items():
        found = as_described(worked.catalog.get_table("lab", name))
        if expected["location"] is not None:
            expected["location"] = canonical(expected["location"])
        assert found == expected, name


def test_describe_extended_reports_what_python_reads(worked: Worked) -> None:
    for name, shown in worked.spark["shown"].items():
        table = worked.catalog.get_table("lab", name)
        for column in table.schema:
            assert shown[column.name] == catalog_string(column.data_type), name
        assert shown["Type"] == table.table_type.value, name
        assert shown.get("Owner") == table.owner
        assert shown.get("Comment") == table.comment
        if table.table_type.is_view:
            assert shown["View Text"] == table.view_text
            continue
        assert shown["Provider"] == table.provider
        assert local_path(shown["Location"]) == local_path(table.location)
        spec = table.bucket_spec
        assert shown.get("Num Buckets") == (None if spec is None else str(spec.num_buckets))
        if spec is not None:
            assert shown["Bucket Columns"] == f"[{', '.join(f'`{each}`' for each in spec.bucket_column_names)}]"
            assert shown["Sort Columns"] == f"[{', '.join(f'`{each}`' for each in spec.sort_column_names)}]"
        assert shown.get("Statistics") == (None if table.stats is None else _statistics(table.stats)), name


def _statistics(stats: CatalogStatistics) -> str:
    """As DESCRIBE EXTENDED reports them: an unknown number of rows is 0 there, though Spark's catalog has none."""
    return f"{stats.size_in_bytes} bytes, {stats.row_count or 0} rows"


def test_spark_catalog_lists_the_columns_that_python_reads(worked: Worked) -> None:
    for name, columns in worked.spark["columns"].items():
        table = worked.catalog.get_table("lab", name)
        buckets = () if table.bucket_spec is None else table.bucket_spec.bucket_column_names
        # spark.catalog shows char and varchar as string, with any catalog: Spark replaces the types after it read them.
        found = [
            [
                each.name, catalog_string(each.data_type), each.nullable, each.name in table.partition_column_names,
                each.name in buckets,
            ]
            for each in with_declared_as_string(table.schema)
        ]  # fmt: skip
        assert found == columns, name


def test_spark_reads_every_table_that_python_created_as_python_does(worked: Worked) -> None:
    for name, expected in worked.spark["described before"].items():
        assert as_described(worked.before[name]) == expected, name


def test_spark_writes_alters_renames_and_drops_the_tables_of_python(worked: Worked) -> None:
    filled = {name for name, case in CASES.items() if case.rows}
    assert worked.spark["rows"] == dict.fromkeys({*filled, "by_catalog"}, 2)
    assert worked.spark["renamed"] == dict.fromkeys(filled, 2)
    tables = set(worked.catalog.list_tables("lab"))
    for name in CASES:
        assert (f"p_{name}_new" in tables) == (name in filled)
        assert f"p_{name}" not in tables
    for name in filled:
        table = worked.catalog.get_table("lab", f"p_{name}_new")
        assert table.properties["by"] == "spark"
        assert "Later" in table.schema.names


@pytest.mark.parametrize("name", CASES)
def test_python_writes_the_parameters_that_spark_writes(worked: Worked, name: str) -> None:
    aside = {"transient_lastDdlTime", "spark.sql.create.version"}
    ours, theirs = (
        {key: value for key, value in worked.raw[f"{prefix}_{name}"].items() if key not in aside} for prefix in "ps"
    )
    assert ours == theirs


def test_python_alters_renames_and_drops_the_tables_of_spark(worked: Worked) -> None:
    catalog = worked.catalog
    for name in ("parquet", "json", "serde", "serde_orc", "partitioned"):
        table = catalog.get_table("lab", f"s_{name}")
        catalog.alter_table(replace(table, properties={**table.properties, "by": "python"}))
        catalog.rename_table("lab", f"s_{name}", f"s_{name}_new")
        found = catalog.get_table("lab", f"s_{name}_new")
        assert found.properties["by"] == "python"
        assert found.schema == table.schema
        catalog.drop_table("lab", f"s_{name}_new")
        assert not catalog.table_exists("lab", f"s_{name}_new")
