"""An older Spark, 3.5, and Python read the tables of each other, and those of Spark 2.0, alike, in one session.

The reference is Spark 3.5's own HiveExternalCatalog, over metastored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import metastored
from metastored.hive.locations import canonical
from metastored.model.spark.converting import to_hive_table
from metastored.model.spark.values import (
    CatalogDatabase,
    CatalogStatistics,
    ColumnStat,
    Histogram,
    HistogramBin,
    TableIdentifier,
)
from metastored.spark import ExternalCatalog
from metastored.testing import running_server
from tests.spark.test_backward_compatibility import TABLES, Places
from tests.spark.test_with_spark import CASES, Worked, as_described, as_json, definition
from tests.support.spark import SPARK_3_5, run_spark

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
]

KNOWN = (
    "parquet", "orc", "json", "csv", "serde", "declared", "partitioned", "partitioned_json", "bucketed", "wide",
    "collated",
)  # fmt: skip
"""The cases whose types Spark 3.5 has; it reads a collated string as a string."""
HISTOGRAM = Histogram(3.5, (HistogramBin(1.0, 4.0, 4), HistogramBin(4.0, 7.0, 3)))
STATS = CatalogStatistics(77, 7, {"Id": ColumnStat(7, "1", "7", 0, 4, 4, HISTOGRAM)})

SCRIPT = """
import json
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
        "properties": dict(x.split(" -> ", 1) for x in t.properties().mkString("\\n").split("\\n") if x),
        "stats": None if stats is None else [int(str(stats.sizeInBytes())), rows and int(str(rows))],
        "version": t.createVersion(),
        "view": option(t.viewText()),
        "catalog": t.tracksPartitionsInCatalog(),
        "case": t.schemaPreservesCase(),
        "owner": t.owner(),
        "storage": [option(t.storage().inputFormat()), option(t.storage().outputFormat()), option(t.storage().serde())],
    }

cases = json.loads(CASES)
result = {"python": {f"p_{name}": described(f"p_{name}") for name in cases}, "rows": {}}
result["old"] = {name: described(name) for name in json.loads(OLD)}
spark.sql("use lab")
histogram = option(option(catalog.getTable("lab", "p_parquet").stats()).colStats().apply("Id").histogram())
result["histogram"] = [histogram.height(), [[b.lo(), b.hi(), b.ndv()] for b in histogram.bins()]]
spark.conf.set("spark.sql.statistics.histogram.enabled", "true")
for name, case in cases.items():
    using = "stored as textfile" if case["provider"] == "hive" else "using " + case["provider"]
    parts = f" partitioned by ({', '.join(case['partitioned_by'])})" if case["partitioned_by"] else ""
    buckets = ""
    if case["buckets"]:
        number, by, sorted_by = case["buckets"]
        buckets = f" clustered by ({', '.join(by)}) sorted by ({', '.join(sorted_by)}) into {number} buckets"
    if name != "collated":
        spark.sql(f"create table s_{name} ({case['ddl']}) {using}{parts}{buckets} comment 'all'")
    if case["rows"]:
        spark.sql(f"insert into p_{name} values {case['rows']}")
        spark.sql(f"insert into s_{name} values {case['rows']}")
        result["rows"][name] = [spark.table(f"p_{name}").count(), spark.table(f"s_{name}").count()]
spark.sql("analyze table s_parquet compute statistics for all columns")
spark.sql("create view v as select Id, Name as `Other Name` from s_parquet")
spark.sql("create table external using json location '" + FOLDER + "/external' as select 1 as A")
# A directory of a partition whose column the files have too.
spark.sql("select 1 as id, 2 as p").write.parquet(FOLDER + "/overlap/p=1")
spark.sql("create table overlap using parquet options (path '" + FOLDER + "/overlap')")
names = [row[1] for row in spark.sql("show tables").collect() if not row[1].startswith(("p_", "old_"))]
result["spark"] = {name: described(name) for name in names}
"""


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worked]:
    folder = tmp_path_factory.mktemp("tables")
    cases = {name: CASES[name] for name in KNOWN}
    with running_server() as server, metastored.connect(server.uri, user="ann", cache=False) as client:
        catalog = ExternalCatalog(client)
        catalog.create_database(CatalogDatabase("lab", location_uri=(folder / "lab.db").as_uri()))
        for name, case in cases.items():
            catalog.create_table(definition(name, case))
        catalog.alter_table_stats("lab", "p_parquet", STATS)
        for at, (make, _) in enumerate(TABLES.values()):
            places = Places(f"file:{folder}/lab.db/old_{at}", f"file:{folder}/chosen_{at}")
            client.create_table(
                to_hive_table(replace(make(places), identifier=TableIdentifier(f"old_{at}", "lab")), "ann")
            )
        old = [f"old_{at}" for at in range(len(TABLES))]
        before = {name: catalog.get_table("lab", name) for name in (*old, *(f"p_{name}" for name in cases))}
        spark = run_spark(
            f"CASES = {as_json(cases)!r}\nOLD = {json.dumps(old)!r}\nFOLDER = {str(folder)!r}\n{SCRIPT}",
            conf={"spark.hadoop.hive.metastore.uris": server.uri, "spark.sql.warehouse.dir": server.warehouse},
            timeout=420,
            python=str(SPARK_3_5 / "bin/python"),
        )
        yield Worked(catalog, spark, {}, before)


def comparable(described: dict[str, Any]) -> dict[str, Any]:
    """Spark 3.5 has no collations of tables; locations are compared as Hadoop does."""
    location = described["location"]
    return {key: value for key, value in described.items() if key != "collation"} | {
        "location": location and canonical(location)
    }


def test_spark_3_5_reads_the_tables_of_python_as_python_does(worked: Worked) -> None:
    for name, expected in worked.spark["python"].items():
        found = comparable(as_described(worked.before[name]))
        if name == "p_collated":
            assert [each["name"] for each in json.loads(found.pop("schema"))["fields"]] == ["A", "B"]
            expected.pop("schema")
        assert found == comparable(expected), name


def test_python_reads_the_tables_of_spark_3_5_as_spark_does(worked: Worked) -> None:
    assert {"v", "external", "overlap", "s_wide", "s_bucketed"} <= set(worked.spark["spark"])
    for name, expected in worked.spark["spark"].items():
        table = worked.catalog.get_table("lab", name)
        assert comparable(as_described(table)) == comparable(expected), name
        assert table.create_version == "3.5.6"


@pytest.mark.parametrize("at", range(len(TABLES)), ids=list(TABLES))
def test_both_read_the_tables_of_spark_2_0_alike(worked: Worked, at: int) -> None:
    expected = worked.spark["old"][f"old_{at}"]
    assert comparable(as_described(worked.before[f"old_{at}"])) == comparable(expected)


def test_spark_3_5_writes_into_the_tables_of_python(worked: Worked) -> None:
    filled = {name for name in KNOWN if CASES[name].rows}
    assert worked.spark["rows"] == {name: [2, 2] for name in filled}


def test_histograms_are_read_both_ways(worked: Worked) -> None:
    assert worked.spark["histogram"] == [3.5, [[1.0, 4.0, 4], [4.0, 7.0, 3]]]
    stats = worked.catalog.get_table("lab", "s_parquet").stats
    assert stats is not None
    histogram = stats.col_stats["Id"].histogram
    assert histogram is not None
    assert (histogram.bins[0].lo, histogram.bins[-1].hi, stats.row_count) == (1.0, 2.0, 2)
