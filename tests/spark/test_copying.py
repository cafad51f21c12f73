"""The parts of copies that need no Spark: marks, plans, directories of killed copies, texts of views."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

import metastored
from metastored.errors import InvalidInputException, InvalidOperationException, NotSupported
from metastored.hive.locations import local_path
from metastored.lance import Hive2Namespace
from metastored.model.names import DatabaseName, TableName, table_name
from metastored.spark.copying import copy
from metastored.spark.copying.checksums import Checksum
from metastored.spark.copying.databases import in_order, renamed
from metastored.spark.copying.iceberg import iceberg_catalog, new_iceberg_table, replace_rows
from metastored.spark.copying.marks import COPY_SOURCE, Mark, base_of, lease_of, mark_of, state_of, token
from metastored.spark.copying.planning import CopyPlan, plan_copy
from metastored.spark.copying.results import CopyResult
from metastored.structs import StorageDescriptor, Table
from metastored.testing import running_server
from metastored.wire.structs import replace


def test_a_mark_is_read_from_the_parameters_that_it_was_written_to() -> None:
    mark = Mark("far.t", "abc", 10, "00ff")
    assert mark_of({COPY_SOURCE: mark.text()}) == mark
    assert mark_of({COPY_SOURCE: "{}"}) is None
    assert mark_of({COPY_SOURCE: "no JSON"}) is None
    assert mark_of(None) is None


def test_the_state_of_files_does_not_depend_on_their_order() -> None:
    files = [("a", 1, "7"), ("b", 2, "8")]
    assert state_of(files, "5") == state_of(reversed(files), "5")
    assert len({state_of(files, "5"), state_of(files, "6"), state_of(files[:1], "5"), state_of([], None)}) == 4
    assert state_of(files, "5") != state_of([files[0], ("b", 2, "9")], "5")


def test_checksums_are_added_modulo_their_size() -> None:
    assert Checksum(1, 2**64 - 1) + Checksum(2, 3) == Checksum(3, 2)


def test_a_result_says_how_many_files_were_copied_byte_for_byte() -> None:
    source, target = TableName("", "far", "t"), TableName("", "near", "t")
    assert str(CopyResult(source, target, 5, 100)) == "copied"
    assert str(CopyResult(source, target, 5, 100, copied_files=1)) == "copied (1 file byte for byte)"
    partitions = CopyResult(source, target, 5, 100, ("ds=1",), ("ds=2", "ds=3"), copied_files=4)
    assert str(partitions) == "partitions: 1 copied (4 files byte for byte), 2 unchanged"


def test_a_directory_of_a_copy_has_the_name_of_its_lease() -> None:
    name = token(1000.0, "0123456789abcdef", leased=True)
    assert lease_of("copy-" + name) == lease_of(".copy-" + name) == "1000-0123456789abcdef"
    assert lease_of("copy-" + token(1000.0, "0123456789abcdef", leased=False)) is None
    for other in ("copy-of-mine", f"copy-{name}-old", f"my-copy-{name}", "copy-1000-worker-1-1-77-ab12cd34", "ds=1"):
        assert lease_of(other) is None


def test_the_directory_of_a_table_is_known_without_that_of_a_copy() -> None:
    for leased in (True, False):
        name = "copy-" + token(1000.0, "0123456789abcdef", leased)
        assert base_of(f"file:/w/t/{name}") == "file:/w/t"
    assert base_of("file:/w/t/copy-1000-host-77-ab12") == "file:/w/t", "of an earlier version"
    assert base_of("file:/w/t/") == "file:/w/t"


def test_names_in_the_text_of_a_view_are_replaced_by_their_positions() -> None:
    text = "SELECT t.a, 'far.t' FROM far.t JOIN `far`.`u` ON true WHERE EXISTS (SELECT 1 FROM other.t) -- far.t"
    assert renamed(text, "far", "near") == (
        "SELECT t.a, 'far.t' FROM `near`.`t` JOIN `near`.`u` ON true WHERE EXISTS (SELECT 1 FROM other.t) -- far.t"
    )


def test_views_come_after_the_views_that_they_read() -> None:
    def view(text: str) -> Table:
        return Table(viewExpandedText=text, tableType="VIRTUAL_VIEW")

    views = {
        "a": view("SELECT * FROM far.c"),
        "b": view("SELECT * FROM far.t"),
        "c": view("SELECT * FROM far.b JOIN far.d"),
        "d": view("SELECT * FROM other.a"),
    }
    assert in_order(views, DatabaseName("", "far")) == ["b", "d", "c", "a"]


@pytest.fixture(scope="module")
def client() -> Iterator[metastored.Client]:
    with running_server() as server, metastored.connect(server.uri, cache=False) as found:
        for name in ("far", "near"):
            found.create_database(name)
        found.create_table(metastored.table("far.t", {"id": "int"}, partitioned_by={"ds": "string"}))
        found.add_partitions("far.t", [["1"], ["2"]])
        found.create_table(metastored.table("far.text", {"id": "int"}, format="textfile"))
        found.create_table(metastored.table("near.other", {"id": "bigint"}, partitioned_by={"ds": "string"}))
        yield found


def planned(client: metastored.Client, source: str, target: str, **options: str) -> CopyPlan:
    given = {"partitions": None, "format": None, "mode": "incremental", **options}
    return plan_copy(None, client, table_name(source), table_name(target), **given)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_plan_needs_no_spark_for_local_directories(client: metastored.Client) -> None:
    plan = planned(client, "far.t", "near.t")
    assert [part.name for part in plan.changed] == ["ds=1", "ds=2"]
    assert plan.summary == "partitions: 2 added, 0 unchanged (parquet)"
    assert planned(client, "far.text", "near.text").summary == "creates near.text (parquet)"
    assert planned(client, "far.t", "near.t", format="iceberg").whole


@pytest.mark.slow
def test_a_plan_compares_files_with_the_marks_of_the_target(client: metastored.Client, tmp_path: Path) -> None:
    client.create_table(metastored.table("near.t", {"id": "int"}, partitioned_by={"ds": "string"}))
    first, second = planned(client, "far.t", "near.t").changed
    table = client.table("near.t")
    for part, state in ((first, first.state), (second, "older")):
        mark = Mark("far.t", state, 0, "0").text()
        client.add_partitions("near.t", [metastored.partition(table, part.values, properties={COPY_SOURCE: mark})])
    gone = Mark("far.t", "x", 0, "0").text()
    client.add_partitions("near.t", [metastored.partition(table, ["3"], properties={COPY_SOURCE: gone}), ["4"]])
    plan = planned(client, "far.t", "near.t")
    assert ([part.name for part in plan.changed], plan.skipped, plan.dropped) == (["ds=2"], ("ds=1",), ("ds=3",))
    assert plan.summary == "partitions: 1 replaced, 1 dropped, 1 unchanged (parquet)"
    assert planned(client, "far.t", "near.t", mode="overwrite").dropped == ("ds=3", "ds=4")


@pytest.mark.slow
def test_a_file_that_was_rewritten_in_place_with_the_same_size_is_copied_again(client: metastored.Client) -> None:
    client.create_table(metastored.table("far.rewritten", {"id": "int"}))
    location = client.table("far.rewritten").sd.location or ""  # type: ignore[union-attr]
    file = Path(local_path(location)) / "part-0.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"old bytes")
    (before,) = planned(client, "far.rewritten", "near.rewritten").changed
    mark = Mark("far.rewritten", before.state, 0, "0").text()
    client.create_table(metastored.table("near.rewritten", {"id": "int"}, properties={COPY_SOURCE: mark}))
    assert planned(client, "far.rewritten", "near.rewritten").changed == ()
    with file.open("r+b") as opened:
        opened.write(b"new bytes")
    (after,) = planned(client, "far.rewritten", "near.rewritten").changed
    assert after.files == before.files == (("part-0.parquet", 9),)
    assert after.state != before.state


@pytest.mark.slow
def test_columns_that_differ_are_refused(client: metastored.Client) -> None:
    with pytest.raises(InvalidInputException, match="different columns \\(id int and id bigint\\)"):
        planned(client, "far.t", "near.other")


@pytest.mark.slow
def test_a_target_with_buckets_is_refused(client: metastored.Client) -> None:
    buckets = metastored.table("near.buckets", {"id": "int"}, partitioned_by={"ds": "string"})
    client.create_table(
        replace(buckets, sd=replace(buckets.sd or StorageDescriptor(), numBuckets=4, bucketCols=("id",)))
    )
    with pytest.raises(NotSupported, match="exists with buckets"):
        planned(client, "far.t", "near.buckets")


@pytest.mark.slow
def test_parquet_files_replace_the_rows_of_an_iceberg_table_in_one_commit(
    client: metastored.Client, tmp_path: Path
) -> None:
    catalog = iceberg_catalog(client)
    schema = pyarrow.schema([("id", pyarrow.int64()), ("at", pyarrow.timestamp("us", "UTC")), ("ds", pyarrow.string())])
    table = new_iceberg_table(catalog, ("near", "ice"), schema, ["ds"])
    for number, ids in enumerate(([1, 2], [3])):
        rows = {"id": ids, "at": [datetime(2024, 1, 1, tzinfo=UTC)] * len(ids), "ds": [str(number)] * len(ids)}
        file = tmp_path / f"{number}.parquet"
        pyarrow.parquet.write_table(pyarrow.table(rows, schema), file)
        replace_rows(table, [file.as_uri()], {COPY_SOURCE: f"state {number}"})
        found = catalog.load_table(("near", "ice"))
        assert sorted(found.scan().to_arrow()["id"].to_pylist()) == ids
        assert [field.name for field in found.spec().fields] == ["ds"]
        assert (client.fresh_table("near.ice").parameters or {})[COPY_SOURCE] == f"state {number}"
    replace_rows(table, [], {COPY_SOURCE: "nothing"})
    assert catalog.load_table(("near", "ice")).scan().to_arrow().num_rows == 0
    assert planned(client, "far.t", "near.ice").whole


@pytest.mark.slow
def test_a_lance_table_keeps_the_mark_of_a_copy(client: metastored.Client) -> None:
    import lance

    namespace = Hive2Namespace(uri=client.uri)
    try:
        for ids, mode in (([1], "create"), ([2, 3], "overwrite")):
            rows = pyarrow.table({"id": ids})
            lance.write_dataset(rows, namespace_client=namespace, table_id=["near", "vectors"], mode=mode)
            client.set_parameters("near.vectors", {COPY_SOURCE: Mark("far.t", str(ids), 1, "0").text()})
        assert lance.dataset(namespace_client=namespace, table_id=["near", "vectors"]).count_rows() == 2
    finally:
        namespace.close()
    assert mark_of(client.fresh_table("near.vectors").parameters) == Mark("far.t", "[2, 3]", 1, "0")
    assert planned(client, "far.t", "near.vectors").format == "lance"


def test_a_name_is_quoted_for_spark() -> None:
    from metastored.spark.copying.reading import quoted

    assert quoted(TableName("", "db", "a`b")) == "`db`.`a``b`"


def test_a_copy_to_a_read_only_remote_is_refused_before_spark_is_used() -> None:
    with running_server() as far, running_server() as near, metastored.connect(near.uri) as client:
        with metastored.connect(far.uri) as there:
            there.create_database("raw")
        client.create_table(metastored.table("default.t", {"a": "int"}))
        client.sql(
            f"CREATE REMOTE DATABASE rem CONNECTED TO raw WITH DBPROPERTIES ('hive.metastore.uris' = '{far.uri}')"
        )
        spark: Any = None
        with pytest.raises(InvalidOperationException, match=r"rem\.t was not written: the remote database rem is read"):
            copy(spark, "default.t", "rem.t", client=client)
