"""Warehouses in object stores: a real S3 protocol against moto's server, and the errors when a driver is missing."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import metastored as client_of
from metastored.errors import StoreError, install_command
from metastored.store.warehouse import object_stores
from metastored.store.warehouse.directories import TreeStatistics, Warehouse
from metastored.store.warehouse.object_stores import EXTRAS, Directories, check_driver, needs_extra, open_directories
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.support.forks import running_server
from tests.support.s3 import BUCKET, S3, empty_bucket

# Starts an S3 server.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
URI = f"s3a://{BUCKET}/wh"


@pytest.fixture(scope="module")
def s3_server(glue: str) -> Iterator[S3]:
    with empty_bucket(glue) as s3:
        yield s3


@pytest.fixture
def s3(s3_server: S3, monkeypatch: pytest.MonkeyPatch) -> S3:
    """An S3 with an empty bucket; this process and those that it starts use it."""
    s3_server.clear()
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    object_stores._opened.cache_clear()
    return s3_server


@pytest.fixture
def warehouse() -> Warehouse:
    return Warehouse(URI)


def test_a_directory_is_made_and_removed(s3: S3, warehouse: Warehouse) -> None:
    assert not warehouse.exists(f"{URI}/t")
    assert warehouse.make(f"{URI}/t") == 1
    assert (warehouse.exists(f"{URI}/t"), warehouse.is_empty(f"{URI}/t")) == (True, True)
    assert warehouse.make(f"{URI}/t") == 0
    s3.put("wh/t/day=1/a")
    assert warehouse.remove(f"{URI}/t")
    assert s3.keys("wh/t") == []


def test_a_directory_exists_while_something_is_in_it(s3: S3, warehouse: Warehouse) -> None:
    s3.put("wh/t/day=1/a")
    assert warehouse.exists(f"{URI}/t")
    assert not warehouse.is_empty(f"{URI}/t")


def test_every_scheme_of_s3_is_the_same_store(s3: S3) -> None:
    s3.put("wh/t/a")
    schemes = ("s3", "s3a", "s3n")
    warehouse = Warehouse(URI, schemes=schemes)
    assert all(warehouse.exists(f"{scheme}://{BUCKET}/wh/t") for scheme in schemes)


def test_a_directory_is_moved_with_all_that_is_in_it(s3: S3, warehouse: Warehouse) -> None:
    names = [f"day=a%2Fb c/part-{number}" for number in range(20)]
    for name in names:
        s3.put(f"wh/t/{name}", name.encode())
    warehouse.make(f"{URI}/t/empty")
    s3.put("wh/t2/other")
    assert warehouse.move(f"{URI}/t", f"{URI}/u")
    assert sorted(key for key in s3.keys("wh/u/") if not key.endswith("/")) == sorted(f"wh/u/{name}" for name in names)
    assert all(s3.get(f"wh/u/{name}") == name.encode() for name in names)
    assert s3.keys("wh/t/") == []
    assert s3.keys("wh/t2/") == ["wh/t2/other"]
    assert warehouse.exists(f"{URI}/u/empty")


def test_an_object_that_the_server_does_not_copy_is_read_and_written(s3: S3) -> None:
    s3.put("wh/t/a", b"0123456789")
    directories, path = open_directories(f"{URI}/t")
    Directories(directories._system, copied_by_server=5).move(path, f"{BUCKET}/wh/u")
    assert s3.get("wh/u/a") == b"0123456789"
    assert s3.keys("wh/t/") == []


@pytest.mark.parametrize("left", [("a", "b"), ("b",), ()])
def test_a_move_that_a_crash_interrupted_is_finished(s3: S3, warehouse: Warehouse, left: tuple[str, ...]) -> None:
    """The server died while it copied (the source is complete), while it removed the source, or after that."""
    for key in left:
        s3.put(f"wh/t/{key}", key.encode())
    s3.put("wh/u/a", b"a")
    if "a" not in left:
        s3.put("wh/u/b", b"b")
    s3.put(f"wh/u/{object_stores.MARK}", f"{BUCKET}/wh/t".encode())
    assert warehouse.move(f"{URI}/t", f"{URI}/u")
    assert (s3.get("wh/u/a"), s3.get("wh/u/b")) == (b"a", b"b")
    assert [key for key in s3.keys("wh/u/") if not key.endswith("/")] == ["wh/u/a", "wh/u/b"]
    assert s3.keys("wh/t/") == []


class Refusing:
    """A file system that refuses some operations, as a store does without the permission for them."""

    def __init__(self, system: Any, *refused: str) -> None:
        self._system = system
        self._refused = refused

    def __getattr__(self, name: str) -> Any:
        if name in self._refused:
            raise PermissionError(f"{name}: access denied")
        return getattr(self._system, name)


def test_a_copy_that_fails_leaves_the_source_alone(s3: S3) -> None:
    s3.put("wh/t/a")
    directories, path = open_directories(f"{URI}/t")
    with pytest.raises(PermissionError):
        Directories(Refusing(directories._system, "copy_file")).move(path, f"{BUCKET}/wh/u")
    assert [key for key in s3.keys("wh/t/") + s3.keys("wh/u/") if not key.endswith("/")] == ["wh/t/a"]


def test_a_repeated_copy_that_fails_removes_nothing(s3: S3) -> None:
    """A part of the source may be gone already."""
    s3.put("wh/t/b", b"b")
    s3.put("wh/u/a", b"a")
    s3.put(f"wh/u/{object_stores.MARK}", f"{BUCKET}/wh/t".encode())
    directories, path = open_directories(f"{URI}/t")
    with pytest.raises(PermissionError):
        Directories(Refusing(directories._system, "copy_file")).move(path, f"{BUCKET}/wh/u")
    assert (s3.get("wh/t/b"), s3.get("wh/u/a")) == (b"b", b"a")
    assert directories.is_half_moved(path, f"{BUCKET}/wh/u")


def test_a_move_whose_source_cannot_be_removed_is_a_move(s3: S3, caplog: pytest.LogCaptureFixture) -> None:
    s3.put("wh/t/a", b"a")
    directories, path = open_directories(f"{URI}/t")
    Directories(Refusing(directories._system, "delete_dir")).move(path, f"{BUCKET}/wh/u")
    assert s3.get("wh/u/a") == b"a"
    assert (
        f"{BUCKET}/wh/t was copied to {BUCKET}/wh/u and could not be removed: delete_dir: access denied" in caplog.text
    )


def test_another_move_into_a_half_moved_directory_is_refused(s3: S3, warehouse: Warehouse) -> None:
    s3.put("wh/other/x")
    s3.put("wh/u/a")
    s3.put(f"wh/u/{object_stores.MARK}", f"{BUCKET}/wh/t".encode())
    with pytest.raises(StoreError, match="exists already"):
        warehouse.move(f"{URI}/other", f"{URI}/u")


def test_a_directory_is_not_moved_onto_another(s3: S3, warehouse: Warehouse) -> None:
    s3.put("wh/t/a")
    s3.put("wh/u/b")
    with pytest.raises(StoreError, match="exists already"):
        warehouse.move(f"{URI}/t", f"{URI}/u")
    assert sorted(s3.keys("wh/t/") + s3.keys("wh/u/")) == ["wh/t/a", "wh/u/b"]


def test_hidden_files_do_not_count(s3: S3, warehouse: Warehouse) -> None:
    for key, data in (("a", b"123"), ("day=1/b", b"45"), ("_SUCCESS", b"6"), ("_tmp/c", b"7"), (".d", b"8")):
        s3.put(f"wh/t/{key}", data)
    assert warehouse.statistics(f"{URI}/t") == TreeStatistics(2, 5)


def test_remove_empty_removes_only_an_empty_directory_of_a_store(s3: S3, warehouse: Warehouse) -> None:
    s3.put("wh/t/a")
    warehouse.make(f"{URI}/u")
    assert (warehouse.remove_empty(f"{URI}/t"), warehouse.remove_empty(f"{URI}/u")) == (False, True)
    assert s3.keys("wh/t/") == ["wh/t/a"]


def test_a_bucket_that_does_not_exist_is_named(s3: S3, warehouse: Warehouse) -> None:
    with pytest.raises(StoreError, match="could not make s3a://nolake/t: Bucket 'nolake' not found"):
        warehouse.make("s3a://nolake/t")


def test_a_server_keeps_its_warehouse_in_s3(s3: S3) -> None:
    sd = StorageDescriptor(cols=(FieldSchema("a", "int"),), serdeInfo=SerDeInfo(parameters={}))
    keys = (FieldSchema("day", "string"),)
    table = Table(tableName="t", dbName="shop", sd=sd, partitionKeys=keys, tableType="MANAGED_TABLE", parameters={})
    with running_server(warehouse=f"s3a://{BUCKET}/wh/") as server, client_of.connect(server.uri) as client:
        client.api.create_database(Database(name="shop"))
        client.api.create_table(table)
        client.api.add_partition(Partition(values=("1",), dbName="shop", tableName="t", sd=sd))
        assert client.api.get_database("shop").locationUri == f"{URI}/shop.db"
        s3.put("wh/shop.db/t/day=1/part-0", b"rows")
        client.api.alter_table("shop", "t", replace(client.api.get_table("shop", "t"), tableName="u"))
        assert s3.get("wh/shop.db/u/day=1/part-0") == b"rows"
        result = client.api.get_partition("shop", "u", ("1",)).sd
        assert result is not None and result.location == f"{URI}/shop.db/u/day=1"
        client.api.drop_table("shop", "u", True)
        assert s3.keys("wh/shop.db/u") == s3.keys("wh/shop.db/t") == []
        assert f"warehouse {URI}\n" in server.log


# --- what is missing ------------------------------------------------------------------------------------------


@pytest.fixture
def without_pyarrow(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in which pyarrow cannot be imported."""
    blocked = tmp_path / "blocked" / "pyarrow"
    blocked.mkdir(parents=True)
    (blocked / "__init__.py").write_text("raise ImportError('No module named pyarrow')\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("METASTORED_")}
    return {**environment, "PYTHONPATH": os.pathsep.join([str(blocked.parent), str(ROOT / "src")])}


@pytest.mark.parametrize(
    ("uri", "extra"),
    [
        ("s3a://bucket/wh", "s3"),
        ("gs://bucket/wh", "gcs"),
        ("abfss://files@account.dfs.core.windows.net/wh", "azure"),
        ("hdfs://namenode:8020/wh", "hdfs"),
    ],
)
def test_a_server_without_the_driver_of_its_warehouse_names_the_pip_line(
    tmp_path: Path, without_pyarrow: dict[str, str], uri: str, extra: str
) -> None:
    command = [sys.executable, "-m", "metastored", "serve", "--port", "0", "--data", str(tmp_path), "--warehouse", uri]
    done = subprocess.run(command, env=without_pyarrow, capture_output=True, text=True, timeout=60)
    expected = f"metastored: {uri} needs a driver that is not installed: {install_command(extra)}\n"
    assert (done.returncode, done.stderr) == (2, expected)


def test_a_server_that_touches_no_directories_needs_no_driver(
    tmp_path: Path, without_pyarrow: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", without_pyarrow["PYTHONPATH"])
    with running_server(warehouse="s3a://bucket/wh", directories="local") as server:
        assert server.warehouse == "s3a://bucket/wh"


def test_every_extra_of_a_scheme_is_declared_with_its_driver() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {extra: declared.get(extra) for extra in EXTRAS.values()} == {
        extra: ["pyarrow>=18"] for extra in EXTRAS.values()
    }


def test_the_guide_has_every_scheme_with_its_pip_line() -> None:
    guide = (ROOT / "docs" / "guide" / "object-stores.md").read_text("utf-8")
    rows = [line for line in guide.splitlines() if line.startswith("|")]
    for scheme, extra in EXTRAS.items():
        assert any(f"`{scheme}://`" in row and f"pip install '.[{extra}]'" in row for row in rows), scheme


def test_nothing_is_missing_for_an_installed_driver_or_another_scheme() -> None:
    for scheme in ("s3a", "file", "memory"):
        assert needs_extra(scheme) is None
        check_driver(f"{scheme}://bucket/x")


def test_an_azure_location_without_an_account_is_refused() -> None:
    with pytest.raises(StoreError, match=r"names no storage account; write abfss://container@account"):
        open_directories("abfss://files/x")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("", {"account_key": "other"}),
        ("AccountName=another;AccountKey=k;BlobEndpoint=http://elsewhere/another", {"account_key": "other"}),
        ("DefaultEndpointsProtocol=https;AccountName=files;AccountKey=a==", {"account_key": "a=="}),
        (
            "AccountName=files;AccountKey=k;BlobEndpoint=http://127.0.0.1:1/files;",
            {
                "account_key": "k", "blob_storage_authority": "127.0.0.1:1", "blob_storage_scheme": "http",
                "dfs_storage_authority": "127.0.0.1:1", "dfs_storage_scheme": "http",
            },
        ),
        (
            "AccountName=files;BlobEndpoint=https://files.blob.x.example;DfsEndpoint=https://files.dfs.x.example/",
            {
                "account_key": "other", "blob_storage_authority": ".blob.x.example", "blob_storage_scheme": "https",
                "dfs_storage_authority": ".dfs.x.example", "dfs_storage_scheme": "https",
            },
        ),
    ],
)  # fmt: skip
def test_a_connection_string_of_azure_is_for_its_own_account(
    text: str, options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", text)
    monkeypatch.setenv("AZURE_STORAGE_KEY", "other")
    assert object_stores._azure("files") == options


def test_a_connection_string_with_an_endpoint_that_is_no_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=files;AccountKey=s3cret;BlobEndpoint=ftp://x")
    with pytest.raises(StoreError, match="begin with https://") as refused:
        object_stores._azure("files")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("uri", ["hdfs://namenode:8020/wh", "viewfs://cluster/wh"])
def test_hdfs_without_hadoops_client_names_the_missing_parts(uri: str) -> None:
    program = (
        "import sys; from metastored.store.warehouse.object_stores import open_directories\n"
        "try: open_directories(sys.argv[1])\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    environment = {name: value for name, value in os.environ.items() if name not in ("HADOOP_HOME", "CLASSPATH")}
    environment |= {"JAVA_HOME": "/nonexistent", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", program, uri], env=environment, capture_output=True, text=True)
    assert done.stdout.startswith(f"StoreError {uri.removesuffix('/wh')} needs Hadoop's native client: set JAVA_HOME")
