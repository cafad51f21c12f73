"""Lance tables in an object store: S3's protocol by moto's server, with the options of a namespace or the server's own
environment.

An object store has no rename, and no link that fails if the name exists. The version of an `impl` table is decided by
the metastore before its manifest is copied to its final name.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lance
import lance_namespace as ns
import pyarrow
import pytest

from metastored.lance.conditions import conditional
from metastored.lance.definition import MANIFEST, VERSION
from metastored.lance.files import final_name
from metastored.wire.structs import replace
from tests.lance.rest_server import lance_server, make_table, rest
from tests.lance.rest_support import POINTS as SHORT
from tests.lance.rest_support import ipc
from tests.support.forks import running_server
from tests.support.lance import POINTS, Space, new_space, rows_of, stream
from tests.support.s3 import BUCKET, S3, empty_bucket

pytestmark = pytest.mark.slow

WRITERS, APPENDS = 3, 3


@pytest.fixture(scope="module")
def s3(glue: str) -> Iterator[S3]:
    with empty_bucket(glue) as running:
        yield running


@pytest.fixture(scope="module")
def options(s3: S3) -> dict[str, str]:
    """Lance's options of the object store."""
    return {
        "aws_endpoint": s3.environment["AWS_ENDPOINT_URL"],
        "aws_region": s3.environment["AWS_REGION"],
        "aws_access_key_id": s3.environment["AWS_ACCESS_KEY_ID"],
        "aws_secret_access_key": s3.environment["AWS_SECRET_ACCESS_KEY"],
        "allow_http": "true",
    }


Opened = Callable[[str], Any]


@pytest.fixture(scope="module")
def opened(options: dict[str, str]) -> Iterator[Opened]:
    """Opens a namespace below the bucket, on a server that has no access to it. Hadoop's `s3a://` is Lance's `s3://`."""
    properties = {f"storage.{key}": value for key, value in options.items()}
    with running_server(directories="off") as server:
        yield lambda managed_by: new_space(
            server.uri, "hive2", f"s3a://{BUCKET}/{managed_by}", managed_by, **properties
        )


@pytest.fixture(params=["storage", "impl"])
def space(request: pytest.FixtureRequest, opened: Opened) -> Iterator[Space]:
    with opened(request.param) as made:
        yield made


@pytest.fixture
def managed(opened: Opened) -> Iterator[Space]:
    with opened("impl") as made:
        yield made


def prefix(space: Space, table: str) -> str:
    """The key of a table's directory in the bucket."""
    return f"{space.root}/{space.name}.db/{table}/".removeprefix(f"s3a://{BUCKET}/")


def count(space: Space, table: str) -> int:
    found: int = space.namespace.count_table_rows(ns.CountTableRowsRequest(id=space.id(table))).count
    return found


def append(space: Space, table: str, rows: pyarrow.Table = POINTS) -> int:
    dataset = lance.write_dataset(rows, namespace_client=space.namespace, table_id=space.id(table), mode="append")
    return int(dataset.version)


def test_a_table_is_declared_filled_read_and_dropped_with_its_objects(space: Space, s3: S3) -> None:
    id = space.id("points")
    declared = space.namespace.declare_table(ns.DeclareTableRequest(id=id))
    assert declared.location == f"s3://{BUCKET}/{prefix(space, 'points').rstrip('/')}"
    described = space.namespace.describe_table(ns.DescribeTableRequest(id=id, check_declared=True))
    assert described.is_only_declared is True
    inserted = space.namespace.insert_into_table(ns.InsertIntoTableRequest(id=id), stream(POINTS))
    assert (inserted.version, inserted.num_inserted_rows) == (1, 3)
    query = {"id": id, "k": 1, "vector": {"single_vector": [5.0, 5.0]}}
    (nearest,) = rows_of(space.namespace.query_table(ns.QueryTableRequest.from_dict(query)).data)
    assert nearest["id"] == 3
    assert s3.keys(prefix(space, "points"))
    space.namespace.drop_table(ns.DropTableRequest(id=id))
    assert s3.keys(prefix(space, "points")) == []


def test_pylance_gets_the_options_of_the_storage_from_the_namespace(space: Space, options: dict[str, str]) -> None:
    space.create("points")
    assert append(space, "points") == 2
    dataset = lance.dataset(namespace_client=space.namespace, table_id=space.id("points"))
    assert (dataset.version, dataset.count_rows()) == (2, 6)
    location = space.namespace.describe_table(ns.DescribeTableRequest(id=space.id("points"))).location
    plain = lance.dataset(location, storage_options=options)
    assert (plain.version, plain.count_rows()) == (2, 6)


def test_a_location_without_a_dataset_is_not_registered(space: Space) -> None:
    request = ns.RegisterTableRequest(id=space.id("t"), location=f"s3://{BUCKET}/nothing/here")
    with pytest.raises(ns.InvalidInputError, match="no Lance dataset"):
        space.namespace.register_table(request)


def test_a_bucket_that_is_missing_is_an_error_and_no_table(space: Space) -> None:
    request = ns.RegisterTableRequest(id=space.id("t"), location="s3://nowhere/t")
    with pytest.raises(ns.LanceNamespaceError):
        space.namespace.register_table(request)
    assert space.namespace.list_tables(ns.ListTablesRequest(id=space.database)).tables == []


def test_a_commit_whose_writer_died_is_published_by_the_next_reader(managed: Space, s3: S3) -> None:
    managed.create("points")
    append(managed, "points")
    # What is there after the conditional alter and before the copy: the manifest under its staged name only.
    above = f"{prefix(managed, 'points')}_versions/"
    staged = f"{final_name(2)}-dead"
    s3.put(above + staged, s3.get(above + final_name(2)))
    s3.client.delete_object(Bucket=BUCKET, Key=above + final_name(2))
    client = managed.namespace.client
    table = client.table((managed.name, "points"))
    for version, expected in (("1", "2"), ("2", "1")):
        table = replace(table, parameters={**table.parameters, VERSION: version, MANIFEST: staged})
        client.alter((managed.name, "points"), table, environment=conditional(expected))
    assert count(managed, "points") == 6
    assert s3.keys(above + final_name(2)) == [above + final_name(2)]
    assert append(managed, "points") == 3


def test_concurrent_writers_lose_nothing(managed: Space) -> None:
    managed.create("t", pyarrow.table({"n": pyarrow.array([], pyarrow.int64())}))
    failures: list[BaseException] = []

    def write(writer: int) -> None:
        try:
            for number in range(APPENDS):
                append(managed, "t", pyarrow.table({"n": [writer * APPENDS + number]}))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []
    dataset = lance.dataset(namespace_client=managed.namespace, table_id=managed.id("t"))
    assert sorted(dataset.to_table()["n"].to_pylist()) == list(range(WRITERS * APPENDS))
    version = managed.namespace.client.table((managed.name, "t")).parameters["version"]
    assert int(version) == dataset.version == WRITERS * APPENDS + 1


@pytest.mark.parametrize("managed_by", ["storage", "impl"])
def test_the_rest_namespace_uses_the_servers_own_credentials(
    s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, managed_by: str
) -> None:
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    with lance_server(tmp_path, warehouse=f"s3a://{BUCKET}/rest_{managed_by}", lance_managed_by=managed_by) as server:
        namespace = rest(server)
        id = make_table(namespace, "shop")
        described = namespace.describe_table(ns.DescribeTableRequest(id=id))
        assert described.location == f"s3://{BUCKET}/rest_{managed_by}/shop.db/t"
        assert described.storage_options is None
        assert namespace.insert_into_table(ns.InsertIntoTableRequest(id=id), ipc(SHORT)).version == 2
        assert namespace.count_table_rows(ns.CountTableRowsRequest(id=id)).count == 6
        namespace.drop_table(ns.DropTableRequest(id=id))
        assert [key for key in s3.keys(f"rest_{managed_by}/shop.db/t/") if not key.endswith("/")] == []
