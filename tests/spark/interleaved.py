"""What Spark and Python do in turn, inside one process of Spark's: each step records what both of them read.

`test_with_spark_in_turn` runs `work` in a Spark of its own and compares. Nothing here is a test, and nothing compares.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import metastored
from metastored.hive.locations import canonical
from metastored.model.spark.columns import schema_parameters
from metastored.model.spark.type_strings import parse_ddl
from metastored.model.spark.types import schema_from_json
from metastored.model.spark.values import (
    CatalogDatabase,
    CatalogStatistics,
    CatalogStorage,
    CatalogTable,
    CatalogTablePartition,
    CatalogTableType,
    ColumnStat,
    Histogram,
    HistogramBin,
    TableIdentifier,
)
from metastored.spark import ExternalCatalog
from tests.spark.scala_values import column, columns_of, java_outcome, option, outcome, pairs, plain, sizes, split
from tests.spark.stored_forms import Stored

DB = "turns"
AWKWARD = "a/b=c %{x}é"
HISTOGRAM = Histogram(
    10.0, (*(HistogramBin(float(at), at + 1.0, 1) for at in range(9)), HistogramBin(9.0, 1000.0, 991))
)
"""Nine tenths of the rows are below 9, though the largest value is 1000."""
STATISTICS = CatalogStatistics(
    1000, 100, {"Id": ColumnStat(1000, "0", "1000", 0, 4, 4, HISTOGRAM), "Name": ColumnStat(3, null_count=1)}
)
KEY = "spark.sql.sources.schema"
PROVIDER = {"spark.sql.sources.provider": "json"}
SCHEMA = schema_parameters(parse_ddl("Aa int, Pp string"), ())
CORRUPTED: dict[str, Mapping[str, str]] = {
    "a part of the schema is missing": {**PROVIDER, f"{KEY}.numParts": "3", f"{KEY}.part.0": "{"},
    "the schema is no json": {**PROVIDER, KEY: "{broken"},
    "the name of a partition column is missing": {**PROVIDER, **SCHEMA, f"{KEY}.numPartCols": "1"},
    "the name of a bucket column is missing": {
        **PROVIDER, **SCHEMA, f"{KEY}.numBuckets": "2", f"{KEY}.numBucketCols": "1",
    },
    "the name of a sort column is missing": {
        **PROVIDER, **SCHEMA, f"{KEY}.numBuckets": "2", f"{KEY}.numSortCols": "1",
    },
    "a partition column is not in the schema": {
        **PROVIDER, **SCHEMA, f"{KEY}.numPartCols": "1", f"{KEY}.partCol.0": "pp",
    },
    "there are no buckets": {**PROVIDER, **SCHEMA, f"{KEY}.numBuckets": "0"},
    "there are too many buckets": {**PROVIDER, **SCHEMA, f"{KEY}.numBuckets": "100001"},
    "statistics have no size": {**PROVIDER, **SCHEMA, "spark.sql.statistics.numRows": "1"},
    "a part without a number of parts": {**PROVIDER, f"{KEY}.part.0": "{"},
    "buckets without columns": {**PROVIDER, **SCHEMA, f"{KEY}.numBuckets": "2"},
    "statistics of a column are broken": {
        **PROVIDER, **SCHEMA, "spark.sql.statistics.totalSize": "1", "spark.sql.statistics.colStats.Aa.version": "2",
        "spark.sql.statistics.colStats.Aa.maxLen": "long",
    },
}  # fmt: skip
VIEWS: dict[str, Mapping[str, str]] = {
    "a part of the namespace is missing": {"view.catalogAndNamespace.numParts": "1"},
    "a column of the query is missing": {"view.query.out.numCols": "1"},
    "the temporary views are no names": {"view.referredTempViewNames": "[1]"},
    "the temporary functions are no names": {"view.referredTempFunctionsNames": "[1]"},
    "the temporary variables are no names": {"view.referredTempVariablesNames": "[1]"},
}


def work(spark: Any, uri: str, folder: str, schemas: list[str]) -> dict[str, Any]:
    """All steps. The result has what Spark and what Python read, by step."""
    with metastored.connect(uri, user="ann", cache=False) as client:
        turns = Turns(spark, ExternalCatalog(client), folder)
        turns.catalog.create_database(CatalogDatabase(DB, location_uri=f"file:{folder}/{DB}.db"))
        spark.sql(f"use {DB}")
        return {
            "partitions": turns.partitions(),
            "statistics": turns.statistics(),
            "corrupted": turns.corrupted(),
            "views": turns.views(),
            "schemas": turns.schemas(schemas),
            "stored": Stored(spark, turns.catalog).work(),
        }


class Turns:
    """Spark's own catalog, and Python's, over one metastore."""

    def __init__(self, spark: Any, catalog: ExternalCatalog, folder: str) -> None:
        self.spark = spark
        self.java = spark._jsparkSession.sharedState().externalCatalog()
        self.catalog = catalog
        self.folder = folder

    def table(self, name: str, ddl: str, *keys: str, **changes: Any) -> None:
        definition = CatalogTable(
            TableIdentifier(name, DB),
            CatalogTableType.MANAGED,
            CatalogStorage(),
            parse_ddl(ddl),
            provider="parquet",
            partition_column_names=keys,
            tracks_partitions_in_catalog=bool(keys),
        )
        self.catalog.create_table(replace(definition, **changes))

    # --- partitions ----------------------------------------------------------------------------------------

    def partitions(self) -> dict[str, Any]:
        steps: dict[str, Any] = {}
        self.table("p", "V INT, Region STRING, Hour INT", "Region", "Hour")
        specs = [("eu", "1"), (AWKWARD, "2"), ("gone", "4"), ("old", "5")]
        self.catalog.create_partitions(
            DB, "p", [CatalogTablePartition({"Region": region, "Hour": hour}) for region, hour in specs]
        )
        columns = {"V": ColumnStat(9, "1", "9", 0, 4, 4, HISTOGRAM)}
        with_stats = replace(
            self.catalog.get_partition(DB, "p", {"region": "eu", "hour": "1"}), stats=CatalogStatistics(55, 9, columns)
        )
        self.catalog.alter_partitions(DB, "p", [with_stats])
        steps["Python created"] = self.both("p")
        self.spark.sql("insert into p partition (Region = 'eu', Hour = 1) values (1), (2)")
        self.spark.sql("insert into p values (3, NULL, 3)")
        self.spark.sql("alter table p drop partition (Region = 'gone')")
        self.spark.sql(
            "alter table p partition (Region = 'old', Hour = 5) rename to partition (Region = 'new', Hour = 6)"
        )
        self.spark.sql(f"alter table p partition (Region = 'eu', Hour = 1) set location 'file:{self.folder}/moved'")
        self.spark.sql("analyze table p partition (Region, Hour) compute statistics")
        steps["Spark changed"] = self.both("p")
        self.spark.sql("create table s (V INT, Region STRING, Hour INT) using parquet partitioned by (Region, Hour)")
        self.spark.sql(
            f"insert into s values (1, 'eu', 1), (2, '{AWKWARD}', 2), (3, NULL, 3), (4, 'old', 4), (5, 'x', 5)"
        )
        self.spark.sql("analyze table s partition (Region = 'eu', Hour = 1) compute statistics")
        steps["Spark created"] = self.both("s")
        part = self.catalog.get_partition(DB, "s", {"Region": AWKWARD, "Hour": "2"})
        self.catalog.alter_partitions(DB, "s", [replace(part, parameters={**part.parameters, "by": "python"})])
        self.catalog.rename_partitions(DB, "s", [{"Region": "old", "Hour": "4"}], [{"Region": "new", "Hour": "4"}])
        self.catalog.drop_partitions(DB, "s", [{"Region": "x"}])
        self.catalog.create_partitions(DB, "s", [CatalogTablePartition({"region": "late", "hour": "7"})])
        self.spark.catalog.refreshTable("s")
        steps["Python changed"] = self.both("s")
        return steps

    def both(self, table: str) -> dict[str, Any]:
        none = self.spark._jvm.scala.Option.empty()
        listed = self.java.listPartitions(DB, table, none)
        theirs = [self.described(listed.apply(at)) for at in range(listed.size())]
        ours = [
            {
                "spec": dict(each.spec),
                "location": canonical(each.location),
                "parameters": {key: value for key, value in each.parameters.items() if key != "transient_lastDdlTime"},
                "stats": each.stats and [each.stats.size_in_bytes, each.stats.row_count],
                "columns": each.stats and {name: plain(stat) for name, stat in each.stats.col_stats.items()},
            }
            for each in self.catalog.list_partitions(DB, table)
        ]
        names = self.java.listPartitionNames(DB, table, none)
        rows = self.spark.sql(f"select v, region, hour from {table} order by v").collect()
        return {
            "spark": {"names": [names.apply(at) for at in range(names.size())], "partitions": theirs},
            "python": {"names": self.catalog.list_partition_names(DB, table), "partitions": ours},
            "rows": [list(row) for row in rows],
        }

    def described(self, partition: Any) -> dict[str, Any]:
        parameters = pairs(partition.parameters())
        parameters.pop("transient_lastDdlTime", None)
        return {
            "spec": pairs(partition.spec()),
            "location": canonical(self.path(option(partition.storage().locationUri()))),
            "parameters": parameters,
            "stats": sizes(option(partition.stats())),
            "columns": columns_of(option(partition.stats())),
        }

    def path(self, uri: Any) -> str:
        """A location as Hive has it, not as a URI: percent signs are characters of it."""
        return str(self.spark._jvm.org.apache.hadoop.fs.Path(uri).toString())

    # --- statistics ----------------------------------------------------------------------------------------

    def statistics(self) -> dict[str, Any]:
        conf = self.spark.conf
        conf.set("spark.sql.statistics.histogram.enabled", "true")
        conf.set("spark.sql.statistics.histogram.numBins", "4")
        conf.set("spark.sql.cbo.enabled", "true")
        self.spark.sql(
            "create table analyzed (cbool boolean, cbyte tinyint, cshort smallint, cint int, clong bigint,"
            " cdouble double, cfloat float, cdecimal decimal(38,18), cstring string, cbinary binary, cdate date,"
            " ctimestamp timestamp, ctimestamp_ntz timestamp_ntz, `Mixed.Case` int) using parquet"
        )
        times = "timestamp'2016-05-08 00:00:01.123456', timestamp_ntz'2016-05-08 00:00:01.123456'"
        later = "timestamp'2016-05-09 00:00:02.987654', timestamp_ntz'2016-05-09 00:00:02.987654'"
        self.spark.sql(
            "insert into analyzed values"
            " (false, 1, 1, 1, 1, 1.123456789, 1.12345, -1.756893400357024346, 'string escrito en espanol', X'6162',"
            f" date'2016-05-08', {times}, 1),"
            " (true, 2, 30000, 40000000, 5536453629, 6.987654321, 7.54321, 84376864556435654231.524645784930122085,"
            f" '日本語で書かれたstring', X'6364', date'2016-05-09', {later}, 2),"
            f" ({', '.join(['null'] * 14)})"
        )
        self.spark.sql("analyze table analyzed compute statistics for all columns")
        self.table("written", "Id INT, Name STRING", table_type=CatalogTableType.MANAGED)
        self.catalog.alter_table_stats(DB, "written", STATISTICS)
        estimated = self.spark.sql("select * from written where Id < 9")._jdf.queryExecution().optimizedPlan().stats()
        found = {
            "analyzed": self.columns("analyzed"),
            "written": self.columns("written"),
            "estimated": int(str(option(estimated.rowCount()))),
        }
        self.spark.sql("alter table analyzed set tblproperties ('k' = 'v')")
        found["kept"] = self.columns("analyzed")
        self.spark.sql("insert into analyzed (cint) values (7)")
        self.spark.sql("analyze table analyzed compute statistics for columns cint")
        found["after an insert"] = self.columns("analyzed")
        return found

    def columns(self, table: str) -> dict[str, Any]:
        restored = self.catalog.get_table(DB, table)
        stats = option(self.java.getTable(DB, table).stats())
        assert restored.stats is not None
        by_column = stats.colStats()
        names = sorted(split(by_column.keys().mkString("\n")))
        shown = {
            name: {row[0]: row[1] for row in self.spark.sql(f"describe extended {table} `{name}`").collect()}
            for name in names
        }
        return {
            "spark": {"sizes": sizes(stats), "columns": {name: column(by_column.apply(name)) for name in names}},
            "python": {
                "sizes": [restored.stats.size_in_bytes, restored.stats.row_count],
                "columns": {name: plain(stat) for name, stat in sorted(restored.stats.col_stats.items())},
            },
            "described": shown,
        }

    # --- corrupted tables ----------------------------------------------------------------------------------

    def corrupted(self) -> dict[str, Any]:
        found = {}
        for at, (state, parameters) in enumerate(CORRUPTED.items()):
            name = f"corrupted_{at}"
            plain_table = metastored.table((DB, name), {"col": "array<string>"}, properties=parameters)
            self.catalog.client.create_table(plain_table)
            found[state] = {
                "spark": java_outcome(self.spark_schema, name),
                "python": outcome(self.python_schema, name),
            }
        return found

    def spark_schema(self, name: str) -> str:
        return str(self.java.getTable(DB, name).schema().json())

    def python_schema(self, name: str) -> str:
        return self.catalog.get_table(DB, name).schema.json()

    def views(self) -> dict[str, Any]:
        self.spark.sql("set spark.sql.session.timeZone = Europe/Berlin")
        self.spark.sql("create view of_spark as select 1 as `One Column`, 'x' collate UTF8_LCASE as Other")
        found: dict[str, Any] = {
            "of Spark": {"spark": self.context("of_spark"), "python": self.read_context("of_spark")}
        }
        definition = self.catalog.get_table(DB, "of_spark")
        of_python = replace(definition, identifier=TableIdentifier("of_python", DB), create_time=0)
        self.catalog.create_table(of_python)
        found["of Python"] = {"spark": self.context("of_python"), "python": self.read_context("of_python")}
        found["rows"] = [list(row) for row in self.spark.sql("select * from of_python").collect()]
        for at, (state, properties) in enumerate(VIEWS.items()):
            broken = replace(of_python, identifier=TableIdentifier(f"broken_{at}", DB), properties=properties)
            self.catalog.create_table(broken)
            found[state] = {
                "spark": java_outcome(self.context, f"broken_{at}"),
                "python": outcome(self.read_context, f"broken_{at}"),
            }
        return found

    def context(self, name: str) -> list[Any]:
        table = self.java.getTable(DB, name)
        return [
            split(table.viewCatalogAndNamespace().mkString("\n")),
            split(table.viewQueryColumnNames().mkString("\n")),
            pairs(table.viewSQLConfigs()),
            table.viewReferredTempViewNames().size(),
            table.viewReferredTempFunctionNames().size(),
            table.viewReferredTempVariableNames().size(),
            table.viewSchemaMode().toString(),
        ]

    def read_context(self, name: str) -> list[Any]:
        table = self.catalog.get_table(DB, name)
        return [
            list(table.view_catalog_and_namespace),
            list(table.view_query_column_names),
            table.view_sql_configs,
            len(table.view_referred_temp_view_names),
            len(table.view_referred_temp_function_names),
            len(table.view_referred_temp_variable_names),
            table.view_schema_mode,
        ]

    # --- schemas -------------------------------------------------------------------------------------------

    def schemas(self, schemas: list[str]) -> list[dict[str, Any]]:
        """Each schema as Python creates a table with it and Spark reads it, and the other way round."""
        from pyspark.sql.types import StructType

        found = []
        for at, text in enumerate(schemas):
            provider = ("parquet", "json", "orc")[at % 3]
            ours, theirs = f"python_{at}", f"spark_{at}"
            storage = CatalogStorage(f"file:{self.folder}/{ours}")
            self.catalog.create_table(
                CatalogTable(
                    TableIdentifier(ours, DB),
                    CatalogTableType.EXTERNAL,
                    storage,
                    schema_from_json(text),
                    provider=provider,
                )
            )
            parsed = StructType.fromJson(json.loads(text))
            self.spark.catalog.createTable(theirs, f"{self.folder}/{theirs}", provider, parsed)
            found.append(
                {
                    "given": text,
                    "created by Python": self.reads(ours),
                    "created by Spark": self.reads(theirs),
                }
            )
        return found

    def reads(self, name: str) -> dict[str, Any]:
        struct = self.catalog.client.table((DB, name))
        assert struct.sd is not None
        aside = ("transient_lastDdlTime", "spark.sql.create.version")
        return {
            "spark": self.spark_schema(name),
            "python": self.python_schema(name),
            "parameters": {key: value for key, value in (struct.parameters or {}).items() if key not in aside},
            "columns": [list(each) for each in struct.sd.cols or ()],
        }
