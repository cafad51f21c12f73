"""Attacks on Lance's REST namespaces: what must not happen to other users' rows, and to the server."""

from __future__ import annotations

import io
import os
import struct
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lance_namespace as models
import pyarrow as pa
import pytest
from lance_namespace.errors import (
    InternalError,
    InvalidInputError,
    LanceNamespaceError,
    PermissionDeniedError,
    TableNotFoundError,
)
from lance_namespace_urllib3_client.models.query_table_request_vector import QueryTableRequestVector

import metastored
from metastored.testing import RunningServer
from metastored.wire.structs import replace
from tests.lance.rest_server import lance_server, make_table, rest
from tests.lance.rest_support import NEAR, POINTS, ipc
from tests.server.http.support import DATABASES, USER
from tests.support.forks import running_server
from tests.support.grants import granted

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=DATABASES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that enforces privileges: maja is an administrator; ann has secrets, and eve wants them."""
    folder = tmp_path_factory.mktemp("server")
    settings: dict[str, Any] = {"authorization": "sql", "admin_users": USER, "lance_timeout": 30}
    with lance_server(folder, request.param, {"ann": "a", "eve": "e"}, **settings) as running:
        granted(running, "ann", "CREATE")
        granted(running, "eve", "CREATE", "CREATE_REMOTE")
        yield running


@pytest.fixture(scope="module")
def hers() -> Iterator[RunningServer]:
    """Eve's own metastore, in which she may write what she likes."""
    with running_server() as running:
        yield running


def ann(server: RunningServer) -> Any:
    return rest(server, who="ann", password="a")


def eve(server: RunningServer) -> Any:
    return rest(server, who="eve", password="e")


def count(namespace: Any, table: list[str]) -> int:
    return int(namespace.count_table_rows(models.CountTableRowsRequest(id=table)).count)


@pytest.fixture(scope="module")
def secret(server: RunningServer) -> list[str]:
    """Ann's table."""
    return make_table(ann(server), "vault", "secret")


@pytest.fixture
def decoy(server: RunningServer, hers: RunningServer, secret: list[str], request: pytest.FixtureRequest) -> list[str]:
    """A remote table of eve's: her metastore answers that it is where ann's dataset is."""
    name = f"decoy{abs(hash(request.node.name)) % 10**9}"
    with metastored.connect(server.uri, user=USER, cache=False) as client:
        table = client.table((secret[0], secret[1]))
    with metastored.connect(hers.uri, user="eve", cache=False) as client:
        client.create_table(replace(table, dbName="default", tableName=name, catName=None, tableType="EXTERNAL_TABLE"))
    with metastored.connect(server.uri, user="eve", cache=False) as client:
        if "eves" not in client.databases():
            client.create_database("eves")
        client.sql(
            f"CREATE REMOTE TABLE eves.{name} CONNECTED TO default.{name} WITH TBLPROPERTIES "
            f"('hive.metastore.uris' = '{hers.uri}', 'metastored.remote.access' = 'write')"
        )
    return ["eves", name]


OPENED: dict[str, Any] = {
    "query": lambda n, t: n.query_table(models.QueryTableRequest(id=t, k=3, vector=NEAR)),
    "count": lambda n, t: n.count_table_rows(models.CountTableRowsRequest(id=t)),
    "details": lambda n, t: n.describe_table(models.DescribeTableRequest(id=t, load_detailed_metadata=True)),
    "versions": lambda n, t: n.list_table_versions(models.ListTableVersionsRequest(id=t)),
    "tags": lambda n, t: n.list_table_tags(models.ListTableTagsRequest(id=t)),
    "statistics": lambda n, t: n.get_table_stats(models.GetTableStatsRequest(id=t)),
    "explain": lambda n, t: n.explain_table_query_plan(
        models.ExplainTableQueryPlanRequest(id=t, query=models.QueryTableRequest(k=2, vector=NEAR))
    ),
    "insert": lambda n, t: n.insert_into_table(models.InsertIntoTableRequest(id=t), ipc(POINTS)),
    "delete": lambda n, t: n.delete_from_table(models.DeleteFromTableRequest(id=t, predicate="true")),
    "drop": lambda n, t: n.drop_table(models.DropTableRequest(id=t)),
}


@pytest.mark.parametrize("attack", OPENED)
def test_a_remote_that_names_anothers_dataset_gets_none_of_its_rows(
    server: RunningServer, secret: list[str], decoy: list[str], attack: str
) -> None:
    with pytest.raises(PermissionDeniedError):
        OPENED[attack](eve(server), decoy)
    assert count(ann(server), secret) == 3


def test_dropping_a_database_with_such_a_remote_leaves_the_dataset(
    server: RunningServer, secret: list[str], decoy: list[str]
) -> None:
    eve(server).drop_namespace(models.DropNamespaceRequest(id=["eves"], behavior="Cascade"))
    assert count(ann(server), secret) == 3


def test_tables_of_a_remote_that_may_not_be_opened_are_listed(
    server: RunningServer, hers: RunningServer, decoy: list[str]
) -> None:
    """One of them must not make the list of all tables fail."""
    with metastored.connect(server.uri, user="eve", cache=False) as client:
        client.sql(
            f"CREATE REMOTE DATABASE far CONNECTED TO default WITH DBPROPERTIES ('hive.metastore.uris' = '{hers.uri}')"
        )
        try:
            request = models.ListTablesRequest(id=["far"], include_declared=False)
            assert decoy[1] in eve(server).list_tables(request).tables
        finally:
            client.sql("DROP REMOTE DATABASE far")


def test_not_even_an_administrator_removes_files_for_a_remote(
    server: RunningServer, secret: list[str], decoy: list[str]
) -> None:
    """He may use every location, so he reads it; but the data belongs to the remote."""
    admin = rest(server)
    assert count(admin, decoy) == 3
    with pytest.raises(PermissionDeniedError, match="is a table of a remote metastore: its data is not removed"):
        admin.drop_table(models.DropTableRequest(id=decoy))
    assert count(ann(server), secret) == 3


@pytest.fixture(scope="module")
def own(server: RunningServer) -> list[str]:
    """A table of eve's own, with rows."""
    return make_table(eve(server), "lab", "points")


def damaged(*changes: tuple[int, int]) -> bytes:
    """A stream with one column of texts, whose offsets are changed: pairs of their position and value."""
    texts = pa.table({"t": ["a" * 8] * 64})
    stream = bytearray(ipc(texts))
    offsets = struct.pack("<65i", *range(0, 65 * 8, 8))
    at = stream.find(offsets)
    assert at > 0
    for position, value in changes:
        struct.pack_into("<i", stream, at + 4 * position, value)
    return bytes(stream)


@pytest.mark.parametrize(
    "changes",
    [((64, 100_000),), ((64, 2**31 - 1),), ((0, -1),), ((3, 500),), ((1, 2**30), (2, 2**30))],
    ids=["beyond the buffer", "far beyond", "before it", "descending", "in the middle"],
)
def test_offsets_that_lead_out_of_the_data_are_refused(
    server: RunningServer, changes: tuple[tuple[int, int], ...]
) -> None:
    with pytest.raises(InvalidInputError, match="not a valid Arrow IPC stream"):
        make = models.CreateTableRequest(id=["lab", "leak"])
        eve(server).create_namespace(models.CreateNamespaceRequest(id=["lab"], mode="ExistOk"))
        eve(server).create_table(make, damaged(*changes))
    with pytest.raises(TableNotFoundError):
        eve(server).describe_table(models.DescribeTableRequest(id=["lab", "leak"]))


def compressed(table: pa.Table, kind: str) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=kind)) as writer:
        writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("kind", ["zstd", "lz4"])
def test_a_short_stream_that_stands_for_much_memory_is_refused(
    server: RunningServer, own: list[str], kind: str
) -> None:
    stream = compressed(pa.table({"b": pa.array([bytes(1 << 20)] * 600)}), kind)
    assert len(stream) < 5_000_000
    with pytest.raises(InvalidInputError, match="more than 536870912 bytes without compression"):
        eve(server).insert_into_table(models.InsertIntoTableRequest(id=own), stream)


def test_a_stream_of_few_bytes_has_not_any_number_of_rows(server: RunningServer, own: list[str]) -> None:
    stream = bytearray(ipc(pa.table({"n": pa.nulls(1234567)})))
    number = struct.pack("<q", 1234567)
    for at in (at for at in range(len(stream) - 8) if stream[at : at + 8] == number):
        struct.pack_into("<q", stream, at, 2**50)
    with pytest.raises(InvalidInputError, match="more than 134217728 rows"):
        eve(server).insert_into_table(models.InsertIntoTableRequest(id=own), bytes(stream))


def test_compressed_rows_of_an_honest_client_are_inserted(server: RunningServer) -> None:
    table = make_table(eve(server), "lab", "honest")
    eve(server).insert_into_table(models.InsertIntoTableRequest(id=table), compressed(POINTS, "lz4"))
    assert count(eve(server), table) == 6


ENDLESS = "id" + " + 1" * 20_000 + " > 0"
"""pylance's parser of it runs out of stack."""


def test_a_crash_of_native_code_fails_one_request_and_the_server_answers(
    server: RunningServer, secret: list[str], own: list[str]
) -> None:
    with pytest.raises(InternalError, match=r"the process that opened the data ended \((SIGSEGV|SIGABRT|SIGBUS)\)"):
        eve(server).count_table_rows(models.CountTableRowsRequest(id=own, predicate=ENDLESS))
    assert count(eve(server), own) == 3
    assert count(ann(server), secret) == 3
    with metastored.connect(server.uri, user=USER, cache=False) as client:
        assert "lab" in client.databases()


def test_requests_of_others_at_the_same_time_do_not_notice_a_crash(
    server: RunningServer, secret: list[str], own: list[str]
) -> None:
    def crash(_: int) -> None:
        with pytest.raises(InternalError):
            eve(server).delete_from_table(models.DeleteFromTableRequest(id=own, predicate=ENDLESS))

    with ThreadPoolExecutor(4) as pool:
        crashes = [pool.submit(crash, each) for each in range(3)]
        counts = [pool.submit(count, ann(server), secret) for _ in range(10)]
        assert [each.result() for each in counts] == [3] * 10
        for each in crashes:
            each.result()
    assert count(eve(server), own) == 3


def test_names_that_climb_out_of_a_directory_tell_nothing(server: RunningServer, secret: list[str]) -> None:
    """The table would be in eve's directory; whether something is at the other end of the path has no influence."""
    eve(server).create_namespace(models.CreateNamespaceRequest(id=["climb"], mode="ExistOk"))
    outcomes = set()
    for target in ("secret", "nothing"):
        try:
            table = ["climb", f"../vault.db/{target}"]
            outcomes.add(eve(server).create_table(models.CreateTableRequest(id=table), ipc(POINTS)).version)
        except LanceNamespaceError as error:
            outcomes.add(int(error.code))
    assert len(outcomes) == 1
    assert count(ann(server), secret) == 3


def test_a_worker_gets_no_settings_of_the_server_and_serves_one_user(
    server: RunningServer, secret: list[str], own: list[str]
) -> None:
    count(ann(server), secret)
    count(eve(server), own)
    children = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(server.pid)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    workers = [line.split()[0] for line in children if "metastored.lance.rest.worker" in line]
    assert len(workers) >= 2
    for pid in workers:
        names = [each.partition(b"=")[0] for each in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")]
        assert not [name for name in names if name.startswith(b"METASTORED_")]
        assert os.readlink(f"/proc/{pid}/fd/0").startswith("pipe:")


def test_a_result_that_needs_more_memory_than_a_worker_has_fails_alone(tmp_path: Path) -> None:
    with lance_server(tmp_path, lance_megabytes=3000) as small:
        namespace = rest(small)
        wide = pa.table({"id": range(800), "b": pa.array([os.urandom(1 << 16)] * 800)})
        namespace.create_namespace(models.CreateNamespaceRequest(id=["d"]))
        namespace.create_table(models.CreateTableRequest(id=["d", "t"]), ipc(wide))
        for _ in range(11):
            namespace.insert_into_table(models.InsertIntoTableRequest(id=["d", "t"]), ipc(wide))
        everything = models.QueryTableRequest(id=["d", "t"], k=100_000, vector=QueryTableRequestVector())
        with pytest.raises(LanceNamespaceError):
            namespace.query_table(everything)
        assert count(namespace, ["d", "t"]) == 9600


def test_a_request_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with lance_server(tmp_path, lance_timeout=0.05) as hurried:
        with pytest.raises(InternalError, match=r"took longer than 0\.05 s \(lance_timeout\)"):
            rest(hurried).list_namespaces(models.ListNamespacesRequest(id=[]))
        with metastored.connect(hurried.uri, cache=False) as client:
            assert client.databases() == ("default",)
