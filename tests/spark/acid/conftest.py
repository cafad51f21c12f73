"""One Spark and one metastored for all tests of transactional tables; each test has a database of its own."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

import metastored
import metastored.spark
from metastored.hive.locations import local_path
from metastored.model.makers import Columns
from metastored.spark import acid
from metastored.testing import RunningServer, running_server
from metastored.wire.generated.tables import CreateTableRequest
from tests.support import local_files, remembered_classes
from tests.support.apache import MissingPeer, apache_3_1, apache_peer, hive_exec_jars
from tests.support.hive_acid import VERSIONS
from tests.support.spark import CONF, JVM_FLAGS, interpreted

FULL = {"transactional": "true", "transactional_properties": "default"}
INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}
PLAIN: dict[str, str] = {}
ABLE = ("HIVEMANAGEDINSERTREAD", "HIVEMANAGEDINSERTWRITE", "HIVEFULLACIDREAD", "HIVEFULLACIDWRITE")

METASTORED = ("2.3", "3.1", "4.0", "4.2")
METASTORES = [
    pytest.param("metastored 2.3", marks=pytest.mark.soak),
    *(f"metastored {version}" for version in METASTORED[1:]),
    pytest.param("hive 3.1.3", marks=(pytest.mark.apache, pytest.mark.soak)),
    pytest.param("hive 4.0.1", marks=pytest.mark.peers),
    pytest.param("hive 4.1.0", marks=(pytest.mark.peers, pytest.mark.soak)),
]
"""metastored in each mode, and Apache's own metastores: the same rules hold on all of them.

`make test` has metastored from 3.1 on and Apache's 4.0.1, the server that checks least; `make soak` the others, with
the same tests.
"""

METASTORES_OF_STATEMENTS = [
    *(pytest.param(f"metastored {version}", marks=pytest.mark.soak) for version in METASTORED if version != "4.0"),
    "metastored 4.0",
    *METASTORES[len(METASTORED) :],
]
"""The same for tests of statements on Spark, which take seconds: `make test` has those that check least."""


YOUNG: Final = "-Xmn400m -XX:MetaspaceSize=256m"
"""Memory for new objects, and for classes without a collection of all: fewer collections in a session of minutes."""


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Spark session in this process, without a catalog: tables are found by the client."""
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    large = request.config.option.markexpr == "soak"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    remembered_classes.remember()
    builder = SparkSession.builder.appName("metastored-acid-tests")
    settings = {
        **CONF,
        "spark.master": "local[2]",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "UTC",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        **({} if large else {**interpreted(), JVM_FLAGS: YOUNG}),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    local_files.install(session._jvm, local_files.source())
    yield session
    gateway: Any = session.sparkContext._gateway
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()  # The JVM ends when nobody can write to it any more.
    gateway.proc.wait(60)
    from pyspark import SparkContext

    SparkContext._gateway = SparkContext._jvm = None


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="session")
def client(server: RunningServer) -> Iterator[metastored.Client]:
    with metastored.connect(server.uri, user="ann") as connected:
        yield connected


class Warehouse(NamedTuple):
    """A database for one test."""

    client: metastored.Client
    database: str
    server: str = "metastored"
    """The metastore's name in METASTORES."""

    def create(
        self,
        name: str,
        columns: Columns,
        *,
        keys: Columns | None = None,
        buckets: tuple[str | Sequence[str], int] | None = None,
        properties: dict[str, str] = FULL,
        format: str = "orc",
    ) -> str:
        """Creates a table, and returns its full name."""
        full = f"{self.database}.{name}"
        table = metastored.table(
            full, columns, partitioned_by=keys, format=format, properties=properties, bucketed_by=buckets
        )
        if self.client.capabilities.version() < (4, 0):
            self.client.create_table(table)
        else:
            # Hive 4 makes transactional tables only for those who say that they can read and write them.
            self.client.api.create_table_req(CreateTableRequest(table=table, processorCapabilities=ABLE))
        return full

    def path(self, table: str) -> Path:
        sd = self.client.table(table).sd
        assert sd is not None and sd.location is not None
        return Path(local_path(sd.location))

    def files(self, table: str, hidden: bool = False) -> list[str]:
        """The files of a table, relative to it."""
        root = self.path(table)
        paths = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
        return [path for path in paths if hidden or not path.rpartition("/")[2].startswith(("_", "."))]


@contextmanager
def new_warehouse(client: metastored.Client) -> Iterator[Warehouse]:
    name = f"acid_{uuid.uuid4().hex[:12]}"
    client.create_database(name)
    yield Warehouse(client, name)
    client.drop_database(name, cascade=True)


@pytest.fixture(params=VERSIONS)
def hive_version(request: pytest.FixtureRequest) -> str:
    """A version of Hive whose own readers and writers of files are on this machine."""
    version: str = request.param
    try:
        hive_exec_jars(version)
    except MissingPeer as reason:
        pytest.skip(str(reason))
    return version


@pytest.fixture
def warehouse(client: metastored.Client) -> Iterator[Warehouse]:
    with new_warehouse(client) as made:
        yield made


@pytest.fixture(scope="session")
def metastores() -> Iterator[Callable[[str], str]]:
    """The address of a metastore, by its name in METASTORES. Each is started at its first use, and shared."""
    started: dict[str, str] = {}
    with ExitStack() as stack:

        def uri(name: str) -> str:
            if name not in started:
                kind, version = name.split()
                try:
                    if kind == "metastored":
                        running: Any = stack.enter_context(running_server(compat=version))
                    elif version == "3.1.3":
                        running = stack.enter_context(apache_3_1(acid=True))
                    else:
                        running = stack.enter_context(apache_peer(version, acid=True))
                except MissingPeer as reason:
                    pytest.skip(str(reason))
                started[name] = running.uri
            return started[name]

        yield uri


@pytest.fixture(params=METASTORES)
def each_warehouse(request: pytest.FixtureRequest, metastores: Callable[[str], str]) -> Iterator[Warehouse]:
    """A database in each of the metastores, for tests that call the client only."""
    with warehouse_of(request.param, metastores) as made:
        yield made


@pytest.fixture(params=METASTORES_OF_STATEMENTS)
def each_spark_warehouse(request: pytest.FixtureRequest, metastores: Callable[[str], str]) -> Iterator[Warehouse]:
    """A database in each of the metastores, for statements on Spark."""
    with warehouse_of(request.param, metastores) as made:
        yield made


@contextmanager
def warehouse_of(name: str, metastores: Callable[[str], str]) -> Iterator[Warehouse]:
    with metastored.connect(metastores(name), user="ann") as client, new_warehouse(client) as made:
        yield made._replace(server=name)


@pytest.fixture(scope="session")
def postgres_client() -> Iterator[metastored.Client]:
    """A client of a metastored whose database is PostgreSQL."""
    from tests.support.postgres import running_postgres

    with (
        running_postgres() as postgres,
        postgres.database() as url,
        running_server(database_url=url) as running,
        metastored.connect(running.uri, user="ann") as connected,
    ):
        yield connected


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def either_warehouse(request: pytest.FixtureRequest) -> Iterator[Warehouse]:
    """The same, on SQLite and on PostgreSQL."""
    chosen = "client" if request.param == "sqlite" else "postgres_client"
    with new_warehouse(request.getfixturevalue(chosen)) as made:
        yield made


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    """The rows of a DataFrame, sorted; nulls first."""
    return sorted((tuple(row) for row in frame.collect()), key=lambda row: [(each is not None, each) for each in row])


def write_original(frame: Any, path: Path) -> None:
    """Writes a DataFrame as one ORC file, as a table has it that is not transactional."""
    staged = path.with_name(f"_staged_{path.name}")
    frame.coalesce(1).write.orc(str(staged))
    (part,) = staged.glob("part-*.orc")
    part.rename(path)
    shutil.rmtree(staged)


class WrittenOnce(NamedTuple):
    """Files that Spark writes for the first test of a fixture, and that are copied for the others."""

    folder: Path

    @contextmanager
    def statements(self, label: str) -> Iterator[None]:
        """Within it, the jobs of changes to ACID tables are run only for the first test that comes with this label.

        All else is done for each test: the transaction with its write id and locks, the names of the files, and the
        statistics. The files have the write id inside: the tables are new, and the statements always the same.
        """
        from metastored.spark.acid.files import staging

        numbers = itertools.count()

        def copied_later(stage: Callable[..., None]) -> Callable[..., None]:
            def staged(table: Any, frame: Any, write_id: int, statement: int, location: str) -> None:
                kept, place = self.folder / f"{label}-{next(numbers)}", Path(local_path(location))
                if not kept.exists():
                    stage(table, frame, write_id, statement, location)
                    shutil.copytree(place, kept / f"{write_id}-{statement}")
                else:
                    shutil.copytree(kept / f"{write_id}-{statement}", place)

            return staged

        with pytest.MonkeyPatch.context() as patch:
            for name in ("stage_inserts", "stage_changes"):
                patch.setattr(staging, name, copied_later(getattr(staging, name)))
            yield

    def spark_table(self, spark: Any, name: str, columns: str, query: str) -> None:
        """Makes a table of Spark's own, of parquet, in the current database."""
        kept, database = self.folder / name, spark.catalog.currentDatabase()
        place = Path(local_path(spark.conf.get("spark.sql.warehouse.dir"))) / f"{database}.db" / name
        if kept.exists():
            spark.sql(f"CREATE TABLE {name} ({columns}) USING parquet")
            shutil.copytree(kept, place, dirs_exist_ok=True)
        else:
            spark.sql(f"CREATE TABLE {name} USING parquet AS {query}")
            shutil.copytree(place, kept)


@pytest.fixture(scope="session")
def written_once(tmp_path_factory: pytest.TempPathFactory) -> WrittenOnce:
    return WrittenOnce(tmp_path_factory.mktemp("written-once"))


class Shop:
    """A database with ACID tables for statements: `orders` (1 to 3) and `items` (of the orders 1 and 2)."""

    def __init__(self, spark: Any, warehouse: Warehouse) -> None:
        self.spark = spark
        self.warehouse = warehouse
        self.client = warehouse.client
        self.database = warehouse.database

    def frame(self, statement: str, args: Any = None, **options: Any) -> Any:
        return metastored.spark.sql(self.spark, statement, args, client=self.client, **options)

    def sql(self, statement: str, args: Any = None, **options: Any) -> list[tuple[Any, ...]]:
        return rows_of(self.frame(statement, args, **options))

    @property
    def orders(self) -> list[tuple[Any, ...]]:
        return self.sql("SELECT * FROM orders")


@pytest.fixture
def shop(spark: Any, warehouse: Warehouse, written_once: WrittenOnce) -> Iterator[Shop]:
    """It is the current database, and has Spark's own table `customers`."""
    made = Shop(spark, warehouse)
    spark.sql(f"CREATE DATABASE {warehouse.database}")
    spark.sql(f"USE {warehouse.database}")
    orders = warehouse.create("orders", {"id": "int", "name": "string", "n": "bigint"})
    items = warehouse.create("items", {"id": "int", "x": "int"})
    order_rows = spark.sql("SELECT * FROM VALUES (1, 'a', 10L), (2, 'b', 20L), (3, 'c', 30L) AS o(id, name, n)")
    item_rows = spark.sql("SELECT * FROM VALUES (1, 100), (2, 200) AS i(id, x)")
    with written_once.statements("shop"):
        acid.insert(spark, orders, order_rows, client=warehouse.client)
        acid.insert(spark, items, item_rows, client=warehouse.client)
    customers = "SELECT 1 AS id, 'ann' AS who UNION ALL SELECT 3, 'bob'"
    written_once.spark_table(spark, "customers", "id int, who string", customers)
    yield made
    spark.sql("USE default")
    spark.sql(f"DROP DATABASE {warehouse.database} CASCADE")
