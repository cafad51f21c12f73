"""The same work by Spark's catalog and by Python's, each on a table of its own, and what the metastore then has.

`interleaved` runs it inside of a process of Spark's. Nothing here is a test, and nothing compares.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from metastored.model.spark.type_strings import parse_ddl
from metastored.model.spark.values import (
    CatalogStatistics,
    CatalogStorage,
    CatalogTable,
    CatalogTablePartition,
    CatalogTableType,
    TableIdentifier,
)
from metastored.spark import ExternalCatalog
from tests.spark.scala_values import option

DB = "turns"


class Stored:
    """Spark's own catalog, and Python's, over one metastore, in the current database `DB`."""

    def __init__(self, spark: Any, catalog: ExternalCatalog) -> None:
        self.spark = spark
        self.jvm = spark._jvm
        self.java = spark._jsparkSession.sharedState().externalCatalog()
        self.catalog = catalog

    def table(self, name: str, ddl: str, **changes: Any) -> None:
        definition = CatalogTable(
            TableIdentifier(name, DB), CatalogTableType.MANAGED, CatalogStorage(), parse_ddl(ddl), provider="parquet"
        )
        self.catalog.create_table(replace(definition, **changes))

    def work(self) -> dict[str, Any]:
        """The same work by Spark and by Python on two tables: by name, what the metastore has of each."""
        found: dict[str, Any] = {}
        for name, ddl in (
            ("void", "a int, n void"),
            ("voids in an array", "n array<void>"),
            ("voids in a struct", "n struct<x: void>"),
        ):
            theirs, ours = f"s_{len(found)}", f"p_{len(found)}"
            self.spark.sql(f"create table {theirs} ({ddl}) using parquet")
            self.table(ours, ddl)
            found[name] = [self.raw(theirs), self.raw(ours)]
        for format in ("sequencefile", "textfile", "rcfile", "avro", "orc", "parquet"):
            theirs, ours = f"s_{len(found)}", f"p_{len(found)}"
            self.spark.sql(f"create table {theirs} (a int) stored as {format}")
            storage = self.java.getTable(DB, theirs).storage()
            classes = [option(each) for each in (storage.inputFormat(), storage.outputFormat(), storage.serde())]
            self.table(ours, "a int", provider="hive", storage=CatalogStorage(None, *classes))
            found[f"stored as {format}"] = [self.raw(theirs), self.raw(ours)]
        for provider, form in (("parquet", "using parquet"), ("hive", "stored as orc")):
            theirs, ours = f"s_{len(found)}", f"p_{len(found)}"
            for each in (theirs, ours):
                self.spark.sql(f"create table {each} (v int) {form}")
                self.spark.sql(f"insert into {each} values (1), (2)")
            self.java.alterTable(self.java.getTable(DB, theirs))
            self.catalog.alter_table(self.catalog.get_table(DB, ours))
            found[f"an altered table of {provider}"] = [self.raw(theirs), self.raw(ours)]
            schema = self.spark.table(theirs).schema.add("w", "string").json()
            self.java.alterTableDataSchema(DB, theirs, self.jvm.org.apache.spark.sql.types.DataType.fromJson(schema))
            self.catalog.alter_table_data_schema(DB, ours, parse_ddl("v int, w string"))
            found[f"another schema of {provider}"] = [self.raw(theirs), self.raw(ours)]
            self.java.renameTable(DB, theirs, f"{theirs}_new")
            self.catalog.rename_table(DB, ours, f"{ours}_new")
            found[f"a renamed table of {provider}"] = [self.raw(f"{theirs}_new"), self.raw(f"{ours}_new")]
            theirs, ours = f"s_{len(found)}", f"p_{len(found)}"
            keyed = "(v int, ds string) using parquet partitioned by (ds)"
            keyed = keyed if provider == "parquet" else "(v int) partitioned by (ds string) stored as orc"
            for each in (theirs, ours):
                self.spark.sql(f"create table {each} {keyed}")
            self.spark.sql(f"alter table {theirs} add partition (ds = '1')")
            statistics = CatalogStatistics(7, 7)  # Spark stores none when it adds a partition.
            self.catalog.create_partitions(DB, ours, [CatalogTablePartition({"ds": "1"}, stats=statistics)])
            found[f"an added partition of {provider}"] = [self.raw_partition(theirs), self.raw_partition(ours)]
            spec = self.jvm.org.apache.spark.api.python.PythonUtils.toScalaMap({"ds": "1"})
            same = self.jvm.java.util.ArrayList()
            same.add(self.java.getPartition(DB, theirs, spec))
            self.java.alterPartitions(DB, theirs, self.jvm.org.apache.spark.api.python.PythonUtils.toSeq(same))
            self.catalog.alter_partitions(DB, ours, [self.catalog.get_partition(DB, ours, {"ds": "1"})])
            found[f"an altered partition of {provider}"] = [self.raw_partition(theirs), self.raw_partition(ours)]
        for name, form in (
            ("OpenCSV", "row format serde 'org.apache.hadoop.hive.serde2.OpenCSVSerde'"),
            ("Avro", "stored as avro"),
            (
                "RegexSerDe",
                "row format serde 'org.apache.hadoop.hive.serde2.RegexSerDe' "
                "with serdeproperties ('input.regex' = '(.*) (.*)')",
            ),
            ("text", "stored as textfile"),
        ):
            table = f"s_{len(found)}"
            self.spark.sql(f"create table {table} (a string comment 'first', b string) {form}")
            theirs = json.loads(self.java.unwrapped().getRawTable(DB, table).schema().json())["fields"]
            schema = self.catalog.get_raw_table(DB, table).schema
            found[f"comments of {name}"] = [
                [each["metadata"].get("comment") for each in theirs],
                [each.comment for each in schema],
            ]
        return found

    def raw(self, table: str) -> dict[str, Any]:
        found = self.catalog.client.fresh_table(f"{DB}.{table}")
        assert found.sd is not None and found.sd.serdeInfo is not None
        return {
            "type": found.tableType,
            "columns": [list(each) for each in found.sd.cols or ()],
            "parameters": _without_times(found.parameters),
            "classes": [found.sd.inputFormat, found.sd.outputFormat, found.sd.serdeInfo.serializationLib],
            "buckets": found.sd.numBuckets,
        }

    def raw_partition(self, table: str) -> dict[str, Any]:
        (found,) = self.catalog.client.partitions(f"{DB}.{table}")
        assert found.sd is not None and found.sd.serdeInfo is not None
        return {
            "parameters": _without_times(found.parameters),
            "classes": [found.sd.inputFormat, found.sd.outputFormat, found.sd.serdeInfo.serializationLib],
            "buckets": found.sd.numBuckets,
            "columns": [list(each) for each in found.sd.cols or ()],
        }


def _without_times(parameters: Mapping[str, str] | None) -> dict[str, str]:
    return {key: value for key, value in (parameters or {}).items() if key != "transient_lastDdlTime"}
