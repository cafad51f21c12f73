"""`analyze` on real Spark: Hive's and Spark's statistics of all types, partitions that changed, histograms, errors.

One Spark does all the work. Its own SQL computes the expected values, and its own ANALYZE those of Spark's properties.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hive_metastore.ThriftHiveMetastore import Client as HiveClient
from hive_metastore.ttypes import PartitionsStatsRequest, TableStatsRequest
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

import metastored
from metastored.hive.statistics.ndv import HyperLogLog, read
from metastored.hive.types.decimals import decimal_value
from metastored.model.spark.histograms import histogram_from_text
from metastored.model.spark.properties import read_large_property
from metastored.model.spark.statistics import COLUMN_PREFIX
from metastored.testing import RunningServer, running_server
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = {
    "bo": "id % 3 = 0", "ti": "cast(id as tinyint)", "i": "cast(id % 40 as int)", "l": "id * 1000000007",
    "f": "cast(id / 3 as float)", "d": "id / 7", "de": "cast(id / 4 as decimal(12,2))",
    "De2": "cast(id as decimal(30,10)) / 3", "s": "concat('näme', id)", "ch": "cast(id as string)",
    "bi": "cast(concat('b', id) as binary)", "da": "date_add(date'1969-12-25', cast(id as int))",
    "ts": "timestamp'1969-12-31 23:59:58.5' + make_dt_interval(0, 0, 0, id)", "none": "cast(null as int)",
}  # fmt: skip
"""Every fifth row has nulls."""

SCRIPT = r"""
import os
import metastored
from metastored.errors import Error
from metastored.spark import statistics
from metastored.spark.statistics import gathering, parquet_files

spark.sql("create database d")
columns = COLUMNS
selected = ", ".join(f"if(id % 5 = 4, null, {text}) as `{name}`" for name, text in columns.items())
rows = f"select {selected}, array(id) as arr from range(0, 120, 1, 3)"
types = [f"`{name}` {type}" for name, type in spark.sql(rows).dtypes]
types = [each.replace("`ch` string", "`ch` char(6)") for each in types]
result = {}
forms = {"mine": "using parquet", "rows": "using parquet", "theirs": "using parquet", "serde": "stored as textfile"}
for name, form in forms.items():
    spark.sql(f"create table d.{name} ({', '.join(types)}) {form}")
    spark.sql(f"insert into d.{name} {rows}")

def told(done):
    return [done.table, done.rows, done.bytes, list(done.columns), list(done.partitions), list(done.skipped)]
def refused(*args, **options):
    try:
        statistics.analyze(spark, *args, **options)
    except Error as error:
        return f"{type(error).__name__}: {error}"

read_by_rows, by_rows = [], gathering.gather
def counted(*args):
    read_by_rows.append(True)
    return by_rows(*args)
gathering.gather = counted
result["mine"] = told(statistics.analyze(spark, "d.mine"))
result["mine by rows"] = len(read_by_rows)
largest, parquet_files.LARGEST = parquet_files.LARGEST, 0
statistics.analyze(spark, "d.rows")
parquet_files.LARGEST = largest
result["all by rows"] = len(read_by_rows)
spark.sql("create table d.old using parquet as select date'1799-12-31' as d, 1 as i")
statistics.analyze(spark, "d.old")
result["old by rows"] = len(read_by_rows)
result["serde"] = told(statistics.analyze(spark, "d.serde", columns=["I", "s"]))
spark.sql(f"analyze table d.theirs compute statistics for columns {', '.join(columns)}")
result["cost"] = spark.sql("explain cost select * from d.mine where i < 10").collect()[0][0]
selected = []
for name in columns:
    text = "bi" if name == "bi" else f"rtrim(`{name}`)"
    length = f"avg(coalesce(length({text}), 0)), max(length({text}))" if name in ("s", "ch", "bi") else "null, null"
    low, high = (f"{each}(`{name}`)" for each in ("min", "max"))
    if name == "ts":
        low, high = (f"floor(cast({each} as double))" for each in (low, high))
    elif name == "da":
        low, high = (f"unix_date({each})" for each in (low, high))
    elif name in ("s", "ch", "bi"):
        low = high = "null"
    selected.append(f"struct(count(*) - count(`{name}`), size(collect_set(`{name}`)), cast({low} as string), "
                    f"cast({high} as string), {length})")
expected = dict(zip(columns, map(list, spark.sql(f"select {', '.join(selected)} from d.mine").collect()[0])))
result["expected"] = expected
result["trues"] = list(spark.sql("select count_if(bo), count_if(not bo) from d.mine").collect()[0])

spark.sql("create table d.js (Id bigint, x string) using json")
spark.sql("insert into d.js select id, 'x' from range(10)")
result["js"] = told(statistics.analyze(spark, "d.js"))

spark.sql("create table d.p (id bigint, v string, ts timestamp, N int, ds string) using parquet partitioned by (N, ds)")
stamp = "timestamp'2024-01-01 00:00:00.25' + make_dt_interval(0, 0, 0, id)"
insert = f"insert into d.p select id, concat('v', id), {stamp}, "
spark.sql(insert + "id % 2, if(id % 4 < 2, 'a b/c', null) from range(0, 400, 1, 4)")
result["first"] = told(statistics.analyze(spark, "d.p"))
result["again"] = told(statistics.analyze(spark, "d.p"))
result["other column"] = told(statistics.analyze(spark, "d.p", columns=["v"]))
spark.sql(insert + "1, 'a b/c' from range(400, 500)")
result["changed"] = told(statistics.analyze(spark, "d.p"))
result["cost of partitions"] = spark.sql("explain cost select * from d.p").collect()[0][0]
result["forced"] = told(statistics.analyze(spark, "d.p", partitions="n = 0", force=True))
result["named"] = told(statistics.analyze(spark, "d.p", partitions=[{"n": 1, "ds": "a b/c"}], columns=[]))

spark.sql("create table d.one (id bigint, ds string) using parquet partitioned by (ds)")
spark.sql("insert into d.one values (1, 'a'), (2, 'a'), (3, 'b')")
result["only one"] = told(statistics.analyze(spark, "d.one", partitions=["ds=a"]))
spark.sql("create table d.empty (id bigint, s string) using parquet")
result["empty"] = told(statistics.analyze(spark, "d.empty"))

spark.conf.set("spark.sql.statistics.histogram.numBins", "10")
spark.conf.set("spark.sql.statistics.histogram.enabled", "true")
for name in ("h_mine", "h_theirs"):
    spark.sql(f"create table d.{name} using parquet as select cast(floor(pow(id, 1.2)) as int) as i, id / 7 as d, "
              "date_add(date'2024-01-01', cast(id % 90 as int)) as da, cast(id as string) as s, "
              "timestamp'2024-01-01' + make_dt_interval(0, 0, 0, id) as ts, "
              "cast(id / 3 as decimal(12, 3)) as de from range(0, 20000, 1, 3)")
statistics.analyze(spark, "d.h_mine", histograms=True)
spark.sql("analyze table d.h_theirs compute statistics for all columns")

spark.sql("create view d.view as select 1 as x")
result["errors"] = [
    refused("d.mine", columns=["nope"]), refused("d.mine", columns=["arr"]), refused("d.view"),
    refused("d.mine", partitions="ds = 'a'"), refused("d.p", partitions=["n=7/ds=x"]), refused("d.missing"),
    refused("d.mine", columns="i"),
]
"""


class Done(NamedTuple):
    result: dict[str, Any]
    client: metastored.Client
    server: RunningServer

    def parameters(self, table: str) -> dict[str, str]:
        return dict(self.client.table(table).parameters or {})

    def data(self, table: str, column: str) -> Any:
        found = self.client.statistics(table, [column])[column].statsData
        assert found is not None
        return next(each for each in found if each is not None)


@pytest.fixture(scope="module")
def done() -> Iterator[Done]:
    with running_server(distinct_values="bit-vectors") as server, metastored.connect(server.uri) as client:
        script = SCRIPT.replace("= COLUMNS", f"= {COLUMNS!r}")
        settings = {"spark.sql.session.timeZone": "UTC", "spark.sql.cbo.enabled": "true"}
        conf = {**metastored.spark.conf(server.uri), **settings}
        yield Done(run_spark(script, conf=conf, timeout=280), client, server)


def number(bound: Any) -> Any:
    """A bound of Hive's statistics as a number."""
    if hasattr(bound, "scale"):
        return decimal_value(bound)
    return bound[0] if isinstance(bound, tuple) else bound


def test_the_result_names_what_was_read(done: Done) -> None:
    table, rows, size, columns, partitions, skipped = done.result["mine"]
    assert (table, rows, partitions, skipped) == ("d.mine", 120, [], [])
    assert size == int(done.parameters("d.mine")["totalSize"]) > 0
    assert columns == list(COLUMNS), "an array has no statistics"


def test_hive_gets_the_counts_bounds_and_lengths_of_its_formulas(done: Done) -> None:
    for name, (nulls, distinct, low, high, average, longest) in done.result["expected"].items():
        if name == "bo":
            continue
        data = done.data("d.mine", name.lower())
        assert data.numNulls == nulls, name
        if hasattr(data, "lowValue"):
            bounds = [number(each) for each in (data.lowValue, data.highValue)]
            texts = [None if each is None else Decimal(each) for each in (low, high)]
            assert bounds == (pytest.approx([float(each or 0) for each in texts]) if name in ("f", "d") else texts), (
                name
            )
        if average is not None:
            assert (data.avgColLen, data.maxColLen) == (pytest.approx(average), longest), name
        if hasattr(data, "numDVs"):
            assert data.numDVs == max(distinct, 1), name


def test_trues_and_falses_are_counted(done: Done) -> None:
    data = done.data("d.mine", "bo")
    assert [data.numTrues, data.numFalses, data.numNulls] == [*done.result["trues"], 24]


def test_bit_vectors_are_hives_own(done: Done) -> None:
    sketch = read(done.data("d.mine", "l").bitVectors)
    assert isinstance(sketch, HyperLogLog)
    assert sketch.precision == 10
    assert sketch.estimate() == 96


def test_basic_statistics_are_accurate(done: Done) -> None:
    parameters = done.parameters("d.mine")
    assert (parameters["numRows"], parameters["numFiles"]) == ("120", "3")
    assert '"BASIC_STATS":"true"' in parameters["COLUMN_STATS_ACCURATE"]
    assert '"de2":"true"' in parameters["COLUMN_STATS_ACCURATE"]


def test_spark_gets_the_properties_of_its_own_analyze(done: Done) -> None:
    mine, theirs = done.parameters("d.mine"), done.parameters("d.theirs")
    keys = {key for key in theirs if key.startswith("spark.sql.statistics.")}
    assert keys == {key for key in mine if key.startswith("spark.sql.statistics.")}
    different = {
        key: (mine[key], theirs[key]) for key in keys if mine[key] != theirs[key] and not key.endswith("distinctCount")
    }
    # Spark counts the padding of char.
    assert set(different) <= {f"{COLUMN_PREFIX}ch.{each}" for each in ("avgLen", "maxLen")}
    for key in keys:
        if key.endswith("distinctCount"):
            assert int(mine[key]) == pytest.approx(int(theirs[key]), rel=0.1), key
    assert f"{COLUMN_PREFIX}De2.max" in keys, "names keep their case"


def test_sparks_planner_sees_rows_and_column_statistics(done: Done) -> None:
    plan = done.result["cost"]
    assert "rowCount=120" in plan
    filtered = next(line for line in plan.splitlines() if "Filter" in line)
    assert "rowCount=2" in filtered or "rowCount=3" in filtered, filtered


@contextmanager
def hive_client(server: RunningServer) -> Iterator[Any]:
    """A client that Apache Thrift's compiler made of Hive's own interface definition; pyiceberg contains it."""
    transport = TBufferedTransport(TSocket(server.host, server.port))
    transport.open()
    try:
        yield HiveClient(TBinaryProtocol(transport))
    finally:
        transport.close()


# Trino's planner, and SHOW STATS, read statistics by get_table_statistics_req and get_partitions_statistics_req, and
# the number of rows from the parameter numRows.


def test_the_table_call_of_trinos_planner_returns_the_statistics(done: Done) -> None:
    names = [name.lower() for name in COLUMNS]
    with hive_client(done.server) as hive:
        found = hive.get_table_statistics_req(TableStatsRequest("d", "mine", names)).tableStats
        assert hive.get_table("d", "mine").parameters["numRows"] == "120"
    data = {each.colName: each.statsData for each in found}
    assert sorted(data) == sorted(names)
    expected = done.result["expected"]
    assert (data["i"].longStats.lowValue, data["i"].longStats.highValue) == (0, 38)
    assert data["i"].longStats.numNulls == expected["i"][0] == 24
    assert data["s"].stringStats.numDVs == expected["s"][1] == 96
    assert data["s"].stringStats.avgColLen == pytest.approx(expected["s"][4])
    assert data["da"].dateStats.lowValue.daysSinceEpoch == int(expected["da"][2])
    assert [data["bo"].booleanStats.numTrues, data["bo"].booleanStats.numFalses] == done.result["trues"]


def test_the_partition_call_of_trinos_planner_returns_the_statistics(done: Done) -> None:
    with hive_client(done.server) as hive:
        request = PartitionsStatsRequest("d", "p", ["id", "v"], NAMES)
        found = hive.get_partitions_statistics_req(request).partStats
        rows = [each.parameters["numRows"] for each in hive.get_partitions_by_names("d", "p", NAMES)]
    bounds = {
        name: (each.statsData.longStats.lowValue, each.statsData.longStats.highValue)
        for name, columns in found.items()
        for each in columns
        if each.colName == "id"
    }
    assert bounds == {NAMES[0]: (2, 398), NAMES[1]: (0, 396), NAMES[2]: (3, 399), NAMES[3]: (1, 499)}
    assert {name: sorted(each.colName for each in columns) for name, columns in found.items()} == {
        name: ["id", "v"] for name in NAMES
    }
    assert sorted(rows) == ["100", "100", "100", "200"]


def test_the_statistics_of_files_are_those_of_sparks_rows(done: Done) -> None:
    assert (done.result["mine by rows"], done.result["all by rows"]) == (0, 1)
    assert done.client.statistics("d.mine") == done.client.statistics("d.rows")
    ours, rows = ({key: value for key, value in done.parameters(each).items() if COLUMN_PREFIX in key}
                  for each in ("d.mine", "d.rows"))  # fmt: skip
    assert ours == rows and len(ours) > 50


def test_spark_reads_the_rows_of_files_with_old_dates(done: Done) -> None:
    assert done.result["old by rows"] == 2
    assert number(done.data("d.old", "d").lowValue) == -62092
    assert done.data("d.old", "i").numDVs == 1


def test_columns_are_chosen_in_any_case_and_other_formats_are_read(done: Done) -> None:
    assert done.result["serde"][1:2] + done.result["serde"][3:4] == [120, ["i", "s"]]
    assert set(done.client.statistics("d.serde")) == {"i", "s"}


def test_a_table_of_spark_alone_gets_sparks_statistics(done: Done) -> None:
    assert done.result["js"][1] == 10
    assert done.parameters("d.js")[f"{COLUMN_PREFIX}Id.max"] == "9"
    assert done.client.statistics("d.js") == {}


NAMES = ["n=0/ds=__HIVE_DEFAULT_PARTITION__", "n=0/ds=a b%2Fc", "n=1/ds=__HIVE_DEFAULT_PARTITION__", "n=1/ds=a b%2Fc"]


def test_each_partition_gets_its_own_statistics(done: Done) -> None:
    assert done.result["first"][4] == NAMES
    found = done.client.partition_statistics("d.p", NAMES, ["id", "v"])
    data = {name: each["id"].statsData for name, each in found.items()}
    assert {name: each.longStats[:2] for name, each in data.items() if each and each.longStats} == {
        NAMES[0]: (2, 398), NAMES[1]: (0, 396), NAMES[2]: (3, 399), NAMES[3]: (1, 499),
    }  # fmt: skip
    parameters = {each.values: each.parameters for each in done.client.partitions("d.p")}
    changed = parameters["1", "a b/c"]
    assert changed is not None
    assert (changed["numRows"], changed["spark.sql.statistics.numRows"]) == ("200", "200")
    assert changed["spark.sql.statistics.totalSize"] == changed["totalSize"]


def test_a_partition_whose_files_are_the_same_is_skipped(done: Done) -> None:
    assert done.result["again"][1:] == [0, 0, ["id", "v", "ts"], [], NAMES]
    assert done.result["other column"][5] == NAMES
    assert (done.result["changed"][1], done.result["changed"][4]) == (200, [NAMES[3]])
    assert done.result["changed"][5] == NAMES[:3]


def test_force_and_a_condition_choose_partitions(done: Done) -> None:
    assert (done.result["forced"][1], done.result["forced"][4]) == (200, NAMES[:2])
    assert done.result["named"][3:] == [[], [], [NAMES[3]]]


def test_spark_sees_all_partitions_after_one_of_them_changed(done: Done) -> None:
    assert "rowCount=500" in done.result["cost of partitions"]
    parameters = done.parameters("d.p")
    found = {key: parameters[f"{COLUMN_PREFIX}{key}"] for key in ("id.min", "id.max", "v.nullCount", "v.maxLen")}
    assert found == {"id.min": "0", "id.max": "499", "v.nullCount": "0", "v.maxLen": "4"}
    assert int(parameters[f"{COLUMN_PREFIX}id.distinctCount"]) == pytest.approx(500, rel=0.08)
    assert parameters[f"{COLUMN_PREFIX}ts.min"] <= "2024-01-01 00:00:00.250000"
    assert parameters[f"{COLUMN_PREFIX}ts.max"] >= "2024-01-01 00:08:19.250000"


def test_the_table_has_no_statistics_while_partitions_are_missing(done: Done) -> None:
    assert done.result["only one"][4] == ["ds=a"]
    assert "spark.sql.statistics.numRows" not in done.parameters("d.one")


def test_an_empty_table_has_no_rows_and_no_bounds(done: Done) -> None:
    assert done.result["empty"][1:3] == [0, 0]
    parameters = done.parameters("d.empty")
    assert parameters["numRows"] == parameters["spark.sql.statistics.numRows"] == "0"
    assert done.data("d.empty", "id").lowValue is None


@pytest.mark.parametrize("column", ["i", "d", "da", "ts", "de"])
def test_a_histogram_is_that_of_spark(done: Done, column: str) -> None:
    texts = [
        read_large_property(done.parameters(table), f"{COLUMN_PREFIX}{column}.histogram")
        for table in ("d.h_mine", "d.h_theirs")
    ]
    mine, theirs = (histogram_from_text(each or "") for each in texts)
    assert mine.height == theirs.height == 2000.0
    assert len(mine.bins) == len(theirs.bins) == 10
    for one, other in zip(mine.bins, theirs.bins, strict=True):
        assert (one.lo, one.hi) == pytest.approx((other.lo, other.hi), rel=0.01)
        assert one.ndv == pytest.approx(other.ndv, rel=0.25, abs=2)


def test_what_cannot_be_analyzed_is_refused_with_the_reason(done: Done) -> None:
    column, array, view, keys, partition, missing, word = done.result["errors"]
    assert "has no column 'nope'" in column
    assert "array<bigint>, which has no statistics" in array
    assert "d.view is a view" in view
    assert "d.mine has no partitions" in keys
    assert "has no partition n=7/ds=x" in partition
    assert missing.startswith("TableNotFound")
    assert "neither 'all' nor a list" in word
