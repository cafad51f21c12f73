"""Several servers and workers on one database behave as one.

Many clients change the same few objects at once. All their replies are true: the log has one event for each
acknowledged change, in an order that leads to what is there in the end, and directories agree with it.
"""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from metastored.hive.locations import local_path
from metastored.testing import RunningServer
from metastored.wire.generated.common import EnvironmentContext, FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.notifications import NotificationEventRequest
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.support.client import Client
from tests.support.forks import running_server
from tests.support.postgres import shared_postgres
from tests.support.soak import SEED, scaled

pytestmark = pytest.mark.slow

CLIENTS = 6
JOIN_TIMEOUT = 1500.0
DATABASES = ("one", "two")
TABLES = ("a", "b", "c")
VALUES = ("1", "2", "3")


def table(db: str, name: str, **parameters: str) -> Table:
    storage = StorageDescriptor(cols=(FieldSchema("x", "int"),), serdeInfo=SerDeInfo(None, "serde", {}))
    return Table(name, db, sd=storage, partitionKeys=(FieldSchema("k", "string"),), parameters=parameters)


def partition(db: str, name: str, value: str) -> Partition:
    return Partition((value,), db, name, sd=table(db, name).sd)


# --- servers ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cluster:
    """Servers on one database and one warehouse."""

    servers: tuple[RunningServer, ...]
    warehouse: Path

    def client(self, number: int) -> Client:
        """A connection to one of them in turn."""
        server = self.servers[number % len(self.servers)]
        return Client(server.host, server.port)


ON_POSTGRESQL = pytest.param("servers on PostgreSQL", marks=pytest.mark.postgres)


@pytest.fixture(scope="module", params=("workers on SQLite", "servers on SQLite", ON_POSTGRESQL))
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One for all tests, which use databases of their own."""
    folder = tmp_path_factory.mktemp("cluster")
    warehouse = folder / "warehouse"
    with ExitStack() as stack:
        settings: dict[str, Any] = {"warehouse": warehouse.as_uri()}
        if request.param == "servers on PostgreSQL":
            postgres = shared_postgres()
            settings["database_url"] = stack.enter_context(postgres.database())
        else:
            settings["data"] = folder / "data"
        if request.param == "workers on SQLite":
            settings["workers"] = 2
        number = 1 if request.param == "workers on SQLite" else 2
        servers = tuple(stack.enter_context(running_server(**settings)) for _ in range(number))
        yield Cluster(servers, warehouse)


def together(cluster: Cluster, work: Callable[[int, Client], None], clients: int = CLIENTS) -> None:
    """Each client works on a connection of its own, all at once; an error in one fails the test."""
    begin = threading.Barrier(clients)
    wrong: list[BaseException] = []

    def run(number: int) -> None:
        try:
            with cluster.client(number) as client:
                begin.wait(60)
                work(number, client)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(JOIN_TIMEOUT)
    assert not any(thread.is_alive() for thread in threads), "a client waits for ever"
    if wrong:
        raise wrong[0]


# --- races of one kind --------------------------------------------------------------------------------------------


def test_of_many_concurrent_creations_of_a_table_one_succeeds(cluster: Cluster) -> None:
    rounds = 12
    with cluster.client(0) as client:
        client.call("create_database", Database(name="race"))
    outcomes: list[tuple[int, str]] = []

    def create(number: int, client: Client) -> None:
        for turn in range(rounds):
            try:
                client.call("create_table", table("race", f"t{turn}"))
                outcomes.append((turn, "created"))
            except AlreadyExistsException:
                outcomes.append((turn, "taken"))

    together(cluster, create)
    assert Counter(outcomes) == {
        (turn, outcome): times for turn in range(rounds) for outcome, times in (("created", 1), ("taken", CLIENTS - 1))
    }
    assert {path.name for path in (cluster.warehouse / "race.db").iterdir()} == {f"t{turn}" for turn in range(rounds)}


def test_conditional_alters_lose_no_update(cluster: Cluster) -> None:
    times = 8
    with cluster.client(0) as client:
        client.call("create_database", Database(name="count"))
        client.call("create_table", table("count", "counter", n="0"))

    def increase(number: int, client: Client) -> None:
        done = 0
        while done < times:
            found = client.call("get_table", "count", "counter")
            value = found.parameters["n"]
            changed = replace(found, parameters={**found.parameters, "n": str(int(value) + 1)})
            condition = EnvironmentContext({"expected_parameter_key": "n", "expected_parameter_value": value})
            try:
                client.call("alter_table_with_environment_context", "count", "counter", changed, condition)
                done += 1
            except MetaException as error:
                assert "The table has been modified" in str(error)

    together(cluster, increase)
    with cluster.client(0) as client:
        assert client.call("get_table", "count", "counter").parameters["n"] == str(CLIENTS * times)


# --- everything at once -------------------------------------------------------------------------------------------

REFUSALS = (AlreadyExistsException, NoSuchObjectException, InvalidObjectException, InvalidOperationException)
EXPLAINED = ("does not exist", "not found", "Partition does not belong", "could not be found")
"""The allowed texts of a MetaException: that an object does not exist."""
EVENTS = {
    "create_database": "CREATE_DATABASE",
    "drop_database": "DROP_DATABASE",
    "create_table": "CREATE_TABLE",
    "alter_table": "ALTER_TABLE",
    "add_partitions": "ADD_PARTITION",
    "drop_partition": "DROP_PARTITION",
}
"""Calls that write one event each."""


@dataclass
class Storm:
    """Clients that create, rename, change, fill and drop the same few objects, and count what was acknowledged."""

    steps: int
    seed: int
    acknowledged: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, number: int, client: Client) -> None:
        chance = random.Random(f"{self.seed} {number}")
        for _ in range(self.steps):
            method = "none"
            try:
                for method, args in self.calls(chance, client):
                    client.call(method, *args)
                    self.count(self.acknowledged, method)
            except REFUSALS as error:
                self.count(self.refused, f"{method}: {type(error).__name__}")
            except MetaException as error:
                assert any(words in str(error) for words in EXPLAINED), f"{method}: {error}"
                self.count(self.refused, f"{method}: MetaException")

    def count(self, counter: Counter[str], what: str) -> None:
        with self.lock:
            counter[what] += 1

    def calls(self, chance: random.Random, client: Client) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """One change, most often of a table; sometimes a database is dropped with all its objects."""
        db, name, value = chance.choice(DATABASES), chance.choice(TABLES), chance.choice(VALUES)
        what = chance.choices(
            ("create", "drop", "rename", "alter", "add", "part", "database", "cascade"),
            weights=(16, 4, 8, 8, 24, 24, 12, 1),
        )[0]
        if what == "create":
            yield "create_table", (table(db, name),)
        elif what == "drop":
            yield "drop_table", (db, name, True)
        elif what == "rename":
            found = client.call("get_table", db, name)
            new = replace(found, tableName=chance.choice(TABLES), dbName=chance.choice(DATABASES))
            yield "alter_table", (db, name, new)
        elif what == "alter":
            found = client.call("get_table", db, name)
            changed = replace(found, parameters={**found.parameters, "p": value})
            yield "alter_table", (db, name, changed)
        elif what == "add":
            chosen = chance.sample(VALUES, 2)
            yield "add_partitions", (tuple(partition(db, name, each) for each in chosen),)
        elif what == "part":
            yield "drop_partition", (db, name, (value,), True)
        elif what == "database":
            yield "create_database", (Database(name=db),)
        else:
            yield "drop_database", (db, True, True)


State = dict[tuple[str, str], set[str]]
"""The partitions of each table, by database and table."""


def replayed(client: Client, since: int) -> tuple[set[str], State, Counter[str]]:
    """The objects that must exist according to the event log, and the number of events of each kind."""
    databases, state, kinds = set[str](), State(), Counter[str]()
    found = client.call("get_next_notification", NotificationEventRequest(lastEvent=since)).events
    assert [event.eventId for event in found] == list(range(since + 1, since + len(found) + 1))
    for event in found:
        kinds[event.eventType] += 1
        said, this = json.loads(event.message), (event.dbName, event.tableName)
        match event.eventType:
            case "CREATE_DATABASE":
                assert event.dbName not in databases
                databases.add(event.dbName)
            case "DROP_DATABASE":
                assert not [name for name in state if name[0] == event.dbName]
                databases.remove(event.dbName)
            case "CREATE_TABLE":
                assert event.dbName in databases and this not in state
                state[this] = set()
            case "DROP_TABLE":
                del state[this]
            case "ALTER_TABLE":
                before = json.loads(said["tableObjBeforeJson"])
                parts = state.pop((before["2"]["str"], before["1"]["str"]))
                assert this not in state and event.dbName in databases
                state[this] = parts
            case "ADD_PARTITION":
                new = {each["k"] for each in said["partitions"]}
                assert not new & state[this]
                state[this] |= new
            case "DROP_PARTITION":
                gone = {each["k"] for each in said["partitions"]}
                assert gone <= state[this]
                state[this] -= gone
    return databases, state, kinds


def as_told(client: Client) -> tuple[set[str], State]:
    """All objects, as clients see them."""
    databases = set(client.call("get_all_databases")) & set(DATABASES)
    state = State()
    for db in databases:
        for name in client.call("get_all_tables", db):
            state[db, name] = {part.values[0] for part in client.call("get_partitions", db, name, -1)}
    return databases, state


def check_directories(client: Client, warehouse: Path) -> None:
    """Every object has a directory of its own name, and there are no other directories."""
    databases, state = as_told(client)
    assert {db for db in DATABASES if (warehouse / f"{db}.db").exists()} == databases
    for db in databases:
        home = warehouse / f"{db}.db"
        assert {path.name for path in home.iterdir()} == {name for of, name in state if of == db}
    for (db, name), values in state.items():
        home = warehouse / f"{db}.db" / name
        assert Path(local_path(client.call("get_table", db, name).sd.location)) == home
        places = {Path(local_path(part.sd.location)) for part in client.call("get_partitions", db, name, -1)}
        assert places == {home / f"k={value}" for value in values}
        assert all(place.is_dir() for place in places)


def weather(cluster: Cluster, storm: Storm) -> None:
    with cluster.client(0) as client:
        for db in set(client.call("get_all_databases")) & set(DATABASES):
            client.call("drop_database", db, True, True)
        since = client.call("get_current_notificationEventId").eventId
    together(cluster, storm)
    with cluster.client(0) as client:
        databases, state, kinds = replayed(client, since)
        assert as_told(client) == (databases, state)
        for method, kind in EVENTS.items():
            assert kinds[kind] == storm.acknowledged[method], (kind, storm.acknowledged, storm.refused)
        assert kinds["DROP_TABLE"] >= storm.acknowledged["drop_table"]
        check_directories(client, cluster.warehouse)
    assert all(storm.acknowledged[method] for method in EVENTS), f"the load was too small: {storm}"
    for server in cluster.servers:
        assert "Traceback" not in server.log


def test_changes_of_the_same_objects_lose_nothing(cluster: Cluster) -> None:
    weather(cluster, Storm(steps=150, seed=1))


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_changes_of_the_same_objects_lose_nothing_for_long(cluster: Cluster) -> None:
    weather(cluster, Storm(steps=scaled(1000), seed=SEED))
