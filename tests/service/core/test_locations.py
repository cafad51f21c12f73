"""Which locations a client may use, and which directories a drop may remove. On SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metastored.errors import MetaException
from metastored.hive.generation import Generation
from metastored.store.engine.migrate import ensure_schema
from metastored.store.warehouse import jobs
from metastored.store.warehouse.directories import Warehouse
from metastored.wire.generated.catalogs import AlterCatalogRequest, Catalog, CreateCatalogRequest, DropCatalogRequest
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import (
    Partition,
    PartitionSpec,
    PartitionSpecWithSharedSD,
    PartitionWithoutSD,
)
from metastored.wire.structs import replace
from tests.store.conftest import Opener
from tests.support.metastore import Clock, Metastore
from tests.support.objects import DB, make_table
from tests.support.objects import bare_storage as storage
from tests.support.objects import sales_table as table

Start = Callable[..., Metastore]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "w"


@pytest.fixture
def start(opener: Opener, root: Path) -> Iterator[Start]:
    started: list[Metastore] = []

    def begin(generation: Generation = Generation.HIVE_3_1, **options: Any) -> Metastore:
        database = opener()
        ensure_schema(database)
        started.append(Metastore(database, Clock(), generation, Warehouse(root.as_uri(), **options)))
        return started[-1]

    yield begin
    for metastore in started:
        metastore.close()


@pytest.fixture
def metastore(start: Start) -> Metastore:
    """One with directories, and a database in the warehouse."""
    result = start()
    result.call("create_database", Database(name=DB))
    return result


def _at(location: str) -> Any:
    return replace(storage(), location=location)


def _partition(location: str | None, value: str = "1", name: str = "t") -> Partition:
    sd = storage() if location is None else _at(location)
    return Partition(values=(value,), dbName=DB, tableName=name, sd=sd, parameters={})


def _spec(location: str | None, path: str | None) -> tuple[PartitionSpec]:
    shared = PartitionSpecWithSharedSD((PartitionWithoutSD(values=("1",), relativePath=path),), _at(location or ""))
    return (PartitionSpec(dbName=DB, tableName="t", sharedSDPartitionSpec=shared),)


# --- what clients may name ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/../secret/x", "/a/../../secret", "/..", "-secret", "/k=1/../../t_2"])
def test_a_relative_path_that_leads_out_of_its_directory_is_refused(
    metastore: Metastore, root: Path, path: str
) -> None:
    make_table(metastore, keys=("k",))
    secret = root / f"{DB}.db" / "secret" / "x"
    secret.mkdir(parents=True)
    with pytest.raises(MetaException, match="leads out of"):
        metastore.call("add_partitions_pspec", _spec(f"file:{root}/{DB}.db/t", path))
    assert metastore.call("get_partition_names", DB, "t", -1) == ()
    assert secret.is_dir()


def test_a_relative_path_below_its_directory_is_used(metastore: Metastore, root: Path) -> None:
    make_table(metastore, keys=("k",))
    assert metastore.call("add_partitions_pspec", _spec(f"file:{root}/{DB}.db/t", "/a/../b")) == 1
    assert metastore.call("get_partition", DB, "t", ("1",)).sd.location == f"file:{root}/{DB}.db/t/b"


def test_a_relative_path_without_a_directory_is_refused(metastore: Metastore) -> None:
    make_table(metastore, keys=("k",))
    with pytest.raises(MetaException, match="needs a location"):
        metastore.call("add_partitions_pspec", _spec(None, "/elsewhere"))


USES: dict[str, Callable[[Metastore, str], object]] = {
    "create_database": lambda m, uri: m.call("create_database", Database("n", locationUri=uri)),
    "managed": lambda m, uri: m.call("create_database", Database("n", managedLocationUri=uri)),
    "alter_database": lambda m, uri: m.call("alter_database", DB, Database(DB, locationUri=uri)),
    "alter managed": lambda m, uri: m.call("alter_database", DB, Database(DB, managedLocationUri=uri)),
    "create_table": lambda m, uri: m.call("create_table", replace(table("n"), sd=_at(uri))),
    "alter_table": lambda m, uri: m.call("alter_table", DB, "t", replace(m.call("get_table", DB, "t"), sd=_at(uri))),
    "add_partition": lambda m, uri: m.call("add_partition", _partition(uri, "2")),
    "alter_partition": lambda m, uri: m.call("alter_partition", DB, "t", _partition(uri)),
    "alter_partitions": lambda m, uri: m.call("alter_partitions", DB, "t", (_partition(uri),)),
    "specs": lambda m, uri: m.call("add_partitions_pspec", _spec(uri, "/k=9")),
    "create_catalog": lambda m, uri: m.call("create_catalog", CreateCatalogRequest(Catalog("c", locationUri=uri))),
    "alter_catalog": lambda m, uri: m.call(
        "alter_catalog", AlterCatalogRequest("hive", Catalog("hive", locationUri=uri))
    ),
}


@pytest.mark.parametrize("uri", ["ftp://h/x", "webhdfs://h/x", "nosuch:/x", "file:/../x", "file://host/x"])
@pytest.mark.parametrize("use", USES)
def test_no_call_takes_a_location_that_leads_out_or_is_not_configured(metastore: Metastore, use: str, uri: str) -> None:
    make_table(metastore, keys=("k",))
    metastore.call("add_partition", _partition(None))
    with pytest.raises(MetaException, match=r"location_schemes|above the root|not on the local file system"):
        USES[use](metastore, uri)


def test_an_alias_of_the_local_file_system_is_stored_as_file(metastore: Metastore, root: Path) -> None:
    for number, scheme in enumerate(("local:", "LOCAL://", "pfile:", "file://localhost")):
        metastore.call("create_table", replace(table(f"t{number}"), sd=_at(f"{scheme}{root}/x{number}/../y{number}")))
        assert metastore.call("get_table", DB, f"t{number}").sd.location == f"file:{root}/y{number}"


@pytest.mark.parametrize("mode", ["off", "local"])
@pytest.mark.parametrize("uri", ["hdfs://nn:8020/x", "s3a://b/x", "viewfs://c/x", "o3fs://b.v/x", "webhdfs://h/x"])
def test_a_location_that_is_never_opened_may_have_any_scheme(start: Start, mode: str, uri: str) -> None:
    metastore = start(mode=mode)
    metastore.call("create_database", Database(name=DB, locationUri=f"{uri}/d"))
    make_table(metastore, keys=("k",))
    assert metastore.call("get_table", DB, "t").sd.location == f"{uri}/d/t"
    metastore.call("add_partition", _partition(f"{uri}/p/"))
    assert metastore.call("get_partition", DB, "t", ("1",)).sd.location == f"{uri}/p"
    metastore.call("drop_database", DB, True, True)
    assert jobs.all(metastore.database.reader()) == []


def test_an_archived_partition_may_be_in_an_archive(metastore: Metastore, root: Path) -> None:
    make_table(metastore, keys=("k",))
    metastore.call("add_partition", _partition(None))
    archive = f"har://file-localhost{root}/{DB}.db/t/k=1/data.har"
    metastore.call("alter_partition", DB, "t", _partition(archive))
    assert metastore.call("get_partition", DB, "t", ("1",)).sd.location == archive


# --- what may be removed --------------------------------------------------------------------------------------------


def _refused(metastore: Metastore, kept: Path, method: str, *args: Any) -> None:
    """The call is refused before anything is written, and adds no job."""
    with pytest.raises(MetaException, match="is not removed"):
        metastore.call(method, *args)
    assert kept.exists()
    assert jobs.all(metastore.database.reader()) == []


def test_the_warehouses_root_is_not_removed(metastore: Metastore, root: Path) -> None:
    metastore.call("create_database", Database("all", locationUri=f"file:{root}"))
    _refused(metastore, root, "drop_database", "all", True, False)
    assert metastore.call("get_database", "all").locationUri == f"file:{root}"
    metastore.call("drop_database", "all", False, False)
    assert root.exists()


def test_nothing_above_the_warehouse_is_removed(metastore: Metastore, root: Path) -> None:
    metastore.call("create_table", replace(table(), sd=_at(f"file:{root.parent}")))
    _refused(metastore, root, "drop_table", DB, "t", True)
    metastore.call("drop_table", DB, "t", False)


def test_a_databases_directory_is_not_removed_while_other_objects_are_in_it(metastore: Metastore, root: Path) -> None:
    home = f"file:{root}/{DB}.db"
    metastore.call("create_table", replace(table("thief"), sd=_at(home)))
    metastore.call("create_table", table("victim"))
    victim = root / f"{DB}.db" / "victim"
    _refused(metastore, victim, "drop_table", DB, "thief", True)
    with pytest.raises(MetaException, match="is not removed"):
        metastore.call("truncate_table", DB, "thief", None)
    assert victim.is_dir()
    metastore.call("drop_table", DB, "victim", True)
    metastore.call("drop_table", DB, "thief", True)
    assert not (root / f"{DB}.db").exists()


def test_a_partition_does_not_remove_a_databases_directory(metastore: Metastore, root: Path) -> None:
    make_table(metastore, keys=("k",))
    metastore.call("add_partition", _partition(f"file:{root}/{DB}.db"))
    _refused(metastore, root / f"{DB}.db", "drop_partition", DB, "t", ("1",), True)
    assert metastore.call("get_partition_names", DB, "t", -1) == ("k=1",)


@pytest.mark.parametrize("kind", ["table", "database", "catalog"])
def test_a_directory_that_contains_that_of_a_database_is_not_removed(
    metastore: Metastore, root: Path, kind: str
) -> None:
    metastore.call("create_database", Database("inner", locationUri=f"file:{root}/outer/inner.db"))
    inner, outer = root / "outer" / "inner.db", f"file:{root}/outer"
    if kind == "table":
        metastore.call("create_table", replace(table(), sd=_at(outer)))
        _refused(metastore, inner, "drop_table", DB, "t", True)
    elif kind == "database":
        metastore.call("create_database", Database("outer", locationUri=outer))
        _refused(metastore, inner, "drop_database", "outer", True, True)
        metastore.call("drop_database", "inner", True, True)
        metastore.call("drop_database", "outer", True, True)
        assert not inner.exists()
    else:
        metastore.call("create_catalog", CreateCatalogRequest(Catalog("c", locationUri=outer)))
        _refused(metastore, inner, "drop_catalog", DropCatalogRequest("c"))


def test_a_path_through_a_symbolic_link_is_not_removed(metastore: Metastore, root: Path) -> None:
    outside = root.parent / "outside"
    (outside / "data").mkdir(parents=True)
    (root / f"{DB}.db" / "link").symlink_to(outside)
    metastore.call("create_table", replace(table(keys=("k",)), sd=_at(f"file:{root}/{DB}.db/link/data")))
    _refused(metastore, outside / "data", "drop_table", DB, "t", True)
    _refused(metastore, outside / "data", "drop_database", DB, True, True)
    metastore.call("create_table", table("p", keys=("k",)))
    (root / f"{DB}.db" / "p" / "k=1").symlink_to(outside)
    metastore.call("add_partition", _partition(None, name="p"))
    _refused(metastore, outside / "data", "drop_partition", DB, "p", ("1",), True)
    with pytest.raises(MetaException, match="symbolic link"):
        metastore.call("truncate_table", DB, "p", None)
    assert (outside / "data").is_dir()


def test_drops_of_ordinary_objects_remove_their_directories(metastore: Metastore, root: Path) -> None:
    make_table(metastore, keys=("k",))
    metastore.call("add_partitions", (_partition(None), _partition(f"file:{root}/elsewhere", "2")))
    assert (root / "elsewhere").is_dir()
    metastore.call("drop_partition", DB, "t", ("1",), True)
    assert not (root / f"{DB}.db" / "t" / "k=1").exists()
    metastore.call("drop_database", DB, True, True)
    assert sorted(path.name for path in root.iterdir()) == []
