"""Glue as a handler: what Hive's clients send and ask, partitions in batches, and errors."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from metastored.connectors.adapted.handler import Adapted
from metastored.connectors.glue.catalog import GlueSource
from metastored.errors import (
    AlreadyExistsException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
    ObjectNotFound,
)
from metastored.wire.generated.common import FieldSchema, Order, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.support.driven import connected

pytestmark = pytest.mark.slow

OPTIONS = {"region_name": "us-east-1", "aws_access_key_id": "testing", "aws_secret_access_key": "testing"}


@pytest.fixture
def client(glue: str) -> Iterator[Any]:
    adapted = Adapted(GlueSource({**OPTIONS, "endpoint_url": glue}, catalog_id="123456789012"))
    try:
        with connected("sync", handler=adapted, cache=False) as found:
            yield found
    finally:
        adapted.close()


@pytest.fixture
def db(client: Any) -> Iterator[str]:
    name = f"glue_{uuid.uuid4().hex[:12]}"
    client.create_database(Database(name, "all", "s3://bucket/glue", {"a": "1"}))
    yield name
    client.drop_database(name, if_exists=True, cascade=True)


def table_of(db: str, name: str = "t", **changes: Any) -> Table:
    sd = StorageDescriptor(
        cols=(FieldSchema("id", "bigint", "number"),),
        inputFormat="org.apache.hadoop.mapred.TextInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        compressed=False,
        numBuckets=4,
        serdeInfo=SerDeInfo("s", "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", {"field.delim": ","}),
        bucketCols=("id",),
        sortCols=(Order("id", 0),),
        parameters={"p": "1"},
    )
    keys = (FieldSchema("ds", "string"), FieldSchema("h", "int"))
    table = Table(name, db, "ann", 0, 0, 3, sd, keys, {"comment": "x", "b": "2"}, tableType="MANAGED_TABLE")
    return replace(table, **changes)


def test_a_table_comes_back_as_it_was_sent(client: Any, db: str) -> None:
    sent = table_of(db)
    client.create_table(sent)
    found = client.table(f"{db}.t")
    assert found.sd == replace(sent.sd, location="s3://bucket/glue/t")  # type: ignore[type-var]
    for field in ("owner", "retention", "partitionKeys", "parameters", "tableType"):
        assert getattr(found, field) == getattr(sent, field)
    assert found.createTime > 0


def test_a_view_and_a_table_with_its_place_are_left_where_they_are(client: Any, db: str) -> None:
    client.create_table(
        table_of(db, "v", tableType="VIRTUAL_VIEW", viewOriginalText="select 1", sd=StorageDescriptor())
    )
    client.create_table(table_of(db, "w", sd=StorageDescriptor(location="s3://other/w")))
    assert client.table(f"{db}.v").viewOriginalText == "select 1"
    assert client.table(f"{db}.w").sd.location == "s3://other/w"
    assert [each.tableName for each in client.table_objects(db)] == ["v", "w"]


def test_partitions_are_found_by_names_values_and_filters(client: Any, db: str) -> None:
    client.create_table(table_of(db))
    sd = replace(client.table(f"{db}.t").sd, location=None)
    parts = [Partition(values=(f"d{at}", str(hour)), sd=sd) for at in range(3) for hour in (1, 2)]
    assert client.add_partitions(f"{db}.t", parts) == 6
    api = client.api
    assert client.partition_names(f"{db}.t")[:2] == ("ds=d0/h=1", "ds=d0/h=2")
    assert api.get_partition_names(db, "t", 1) == ("ds=d0/h=1",)
    assert len(api.get_partitions(db, "t", 2)) == 2
    assert api.get_partition_by_name(db, "t", "ds=d1/h=2").values == ("d1", "2")
    found = api.get_partitions_by_names(db, "t", ("ds=d1/h=2", "ds=none/h=1"))
    assert [each.sd.location for each in found] == ["s3://bucket/glue/t/ds=d1/h=2"]
    assert [each.values for each in client.partitions(f"{db}.t", "ds > 'd1' and h = 1")] == [("d2", "1")]
    with pytest.raises(MetaException, match="the filter 'nokey = 1' over the partitions"):
        list(client.partitions(f"{db}.t", "nokey = 1"))


def test_more_partitions_than_a_batch_are_added(client: Any, db: str) -> None:
    client.create_table(table_of(db, partitionKeys=(FieldSchema("ds", "string"),)))
    parts = [Partition(values=(f"{at:03}",)) for at in range(230)]
    client.add_partitions(f"{db}.t", parts)
    assert len(client.partition_names(f"{db}.t")) == 230
    with pytest.raises(AlreadyExistsException, match=r"Partition already exists: .*\(000\)"):
        client.add_partitions(f"{db}.t", parts[:1])
    client.add_partitions(f"{db}.t", [*parts[:1], Partition(values=("new",))], if_not_exists=True)
    assert len(client.partition_names(f"{db}.t")) == 231


def test_errors_are_the_metastores(client: Any, db: str) -> None:
    with pytest.raises(AlreadyExistsException):
        client.create_database(db)
    client.create_table(table_of(db))
    with pytest.raises(AlreadyExistsException):
        client.create_table(table_of(db))
    with pytest.raises(InvalidOperationException, match="cannot be renamed: Glue has no such call"):
        client.alter(f"{db}.t", table_of(db, "u"))
    with pytest.raises(NoSuchObjectException):
        client.drop_partition(f"{db}.t", ["a", "1"])
    with pytest.raises(ObjectNotFound):
        client.table(f"{db}.none")
    with pytest.raises(NoSuchObjectException):
        client.create_table(table_of("no_such_db", sd=StorageDescriptor()))


def test_a_glue_that_is_not_there_is_said() -> None:
    from botocore.config import Config

    options: dict[str, Any] = {"endpoint_url": "http://127.0.0.1:1", "config": Config(retries={"max_attempts": 0})}
    source = GlueSource({**OPTIONS, **options})
    with pytest.raises(MetaException, match=r"Glue at http://127\.0\.0\.1:1: Could not connect"):
        source.databases()
    source.close()
    with pytest.raises(MetaException, match="its default region"):
        GlueSource({"profile_name": "no-such-profile"})
