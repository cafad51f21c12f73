"""Metadata from one metastored into another: copied, copied again, verified, taken away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.client._sync.client import Client
from metastored.errors import ConfigError, MetaException
from metastored.testing import RunningServer
from metastored.transfer.ends import Mode
from metastored.transfer.local import LocalWriter
from metastored.transfer.places import Access
from metastored.transfer.report import Action, Silent, Tally
from metastored.transfer.running import Source, run, sources_of
from metastored.transfer.selection import Selection
from metastored.transfer.writing import TableChange
from metastored.wire.generated.common import FieldSchema, Table
from metastored.wire.generated.constraints import DropConstraintRequest
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.transactions import AllocateTableWriteIdsRequest, CommitTxnRequest, OpenTxnRequest
from metastored.wire.structs import replace
from tests.support.forks import running_server
from tests.support.memory_metastore import MemoryMetastore
from tests.support.postgres import shared_postgres
from tests.support.scripted import scripted
from tests.transfer import content
from tests.transfer.support import everything, unequal

pytestmark = pytest.mark.slow

TABLES, PARTITIONS = 24, 60
STAMPED = frozenset({"Table.createTime", "Function.createTime", "CreationMetadata.materializationTime"})


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        with metastored.connect(running.uri, cache=False) as client:
            content.fill(client, "a", TABLES, PARTITIONS)
        yield running


@pytest.fixture
def source(server: RunningServer) -> Iterator[Client]:
    with metastored.connect(server.uri, cache=False) as client:
        yield client


@pytest.fixture
def changing() -> Iterator[tuple[RunningServer, Client]]:
    """A source that a test may change."""
    with running_server() as running, metastored.connect(running.uri, cache=False) as client:
        content.fill(client, "a", TABLES, PARTITIONS)
        yield running, client


def copy(source: str | Source, target: Path | str, **options: Any) -> Tally:
    tally = run(source, str(target), Access(), **options)
    assert tally.failures == []
    return tally


def found(source: str | Source, target: Path | str, **options: Any) -> dict[tuple[str, Action], int]:
    """The counts of a verification."""
    return dict(copy(source, target, mode=Mode.VERIFY, **options).changes)


def test_an_imported_metastore_is_equal_to_its_source(server: RunningServer, source: Client, tmp_path: Path) -> None:
    copy(server.uri, tmp_path)
    assert found(server.uri, tmp_path) == {}
    with running_server(data=tmp_path) as other, metastored.connect(other.uri, cache=False) as target:
        assert unequal(everything(source, ""), everything(target, "")) == {}
        assert target.api.get_role_names() == source.api.get_role_names()
        assert target.api.list_privileges(None, None, None) == source.api.list_privileges(None, None, None)
        assert target.table("a_main.a_view").creationMetadata is not None
        assert target.api.list_roles("carol", 1) == source.api.list_roles("carol", 1)


def test_every_kind_of_object_is_counted(server: RunningServer, tmp_path: Path) -> None:
    tally = copy(server.uri, tmp_path)
    assert tally.changes["table", Action.ADD] == TABLES
    assert tally.changes["partition", Action.ADD] == PARTITIONS + 4
    assert tally.changes["constraint", Action.ADD] == 6
    assert tally.changes["function", Action.ADD] == 1
    assert tally.changes["role", Action.ADD] == 2
    assert tally.changes["member", Action.ADD] == 2
    assert tally.changes["privilege", Action.ADD] == 4
    assert tally.summary(Action.ADD).startswith(f"2 databases, {TABLES} tables, ")


def test_a_foreign_key_whose_other_table_is_not_there_is_refused_and_not_counted(
    server: RunningServer, tmp_path: Path
) -> None:
    tally = run(server.uri, str(tmp_path), Access(), selection=Selection(databases="a_other"))
    assert tally.changes["constraint", Action.ADD] == 0
    (refusal,) = tally.failures
    assert refusal == "table a_other.t000: Parent table not found: buckets"


def test_a_second_run_writes_nothing(server: RunningServer, tmp_path: Path) -> None:
    copy(server.uri, tmp_path)
    written = (tmp_path / "metastored.db").read_bytes()
    assert copy(server.uri, tmp_path).changes == {}
    assert (tmp_path / "metastored.db").read_bytes() == written
    assert list(tmp_path.glob("*.journal")) == []


def test_a_dry_run_prints_and_writes_nothing(server: RunningServer, tmp_path: Path) -> None:
    copy(server.uri, tmp_path, selection=Selection(databases="default"))
    written = (tmp_path / "metastored.db").read_bytes()
    tally = copy(server.uri, tmp_path, mode=Mode.DRY_RUN)
    assert (tally.changes["table", Action.ADD], tally.changes["partition", Action.ADD]) == (TABLES, PARTITIONS + 4)
    assert (tmp_path / "metastored.db").read_bytes() == written


def test_no_directory_is_made_or_removed(changing: tuple[RunningServer, Client], tmp_path: Path) -> None:
    server, client = changing
    somewhere = tmp_path / "somewhere"
    storage = content.storage(somewhere.as_uri())
    client.create_table(content.table("a_main", "gone", sd=storage))
    somewhere.rmdir()
    copy(server.uri, tmp_path / "data", drop=True)
    assert not somewhere.exists()
    somewhere.mkdir()
    (somewhere / "file").touch()
    client.drop_table("a_main.gone", delete_data=False)
    assert copy(server.uri, tmp_path / "data", drop=True).changes == {("table", Action.DROP): 1}
    assert (somewhere / "file").exists()


def test_changed_objects_are_altered(changing: tuple[RunningServer, Client], tmp_path: Path) -> None:
    server, client = changing
    copy(server.uri, tmp_path)
    client.set_parameters("a_other.t001", new="one")
    wider = client.table("a_other.t002")
    assert wider.sd is not None and wider.sd.cols is not None
    more = (*wider.sd.cols, FieldSchema("late", "int"))
    client.alter("a_other.t002", replace(wider, sd=replace(wider.sd, cols=more)))
    content.set_statistics(client, "a_other", "t000", None, 5)
    client.api.delete_table_column_statistics("a_other", "t000", "name", "hive")
    content.set_statistics(client, "a_main", "p0", ["ds=2024-00000/h=0"], 50)
    part = client.partition("a_main.p1", ["2024-00001", "1"])
    client.api.alter_partition("a_main", "p1", replace(part, parameters={"changed": "yes", "totalSize": "3"}))
    client.add_partitions("a_main.p1", [Partition(values=("2025", "0"), sd=content.storage())])
    function = client.api.get_function("a_main", "twice")
    client.api.alter_function("a_main", "twice", replace(function, className="org.example.Thrice"))
    client.api.drop_constraint(DropConstraintRequest("a_main", "buckets", "a_main_nn"))
    client.api.alter_database("a_other", replace(client.database("a_other"), ownerName="zoe"))
    tally = copy(server.uri, tmp_path)
    assert tally.changes["partition", Action.ALTER] == 2 and tally.changes["partition", Action.ADD] == 1
    assert tally.changes["table", Action.ALTER] == 3
    assert tally.changes["constraint", Action.DROP] == 1
    assert found(server.uri, tmp_path) == {}
    with running_server(data=tmp_path) as other, metastored.connect(other.uri, cache=False) as target:
        assert unequal(everything(client, ""), everything(target, "")) == {}


def test_a_recreated_table_replaces_the_old_one(changing: tuple[RunningServer, Client], tmp_path: Path) -> None:
    server, client = changing
    copy(server.uri, tmp_path)
    client.drop_table("a_main.p1")
    client.create_table(content.table("a_main", "p1", partitionKeys=(FieldSchema("week", "int"),)))
    client.add_partitions("a_main.p1", [Partition(values=("7",), sd=content.storage())])
    copy(server.uri, tmp_path)
    assert found(server.uri, tmp_path) == {}


def test_objects_missing_in_the_source_are_kept_unless_drop_is_set(
    changing: tuple[RunningServer, Client], tmp_path: Path
) -> None:
    server, client = changing
    copy(server.uri, tmp_path)
    client.drop_table("a_other.t003")
    client.drop_partition("a_main.p2", ["2024-00000", "0"])
    client.drop_database("a_other", cascade=True)
    client.api.drop_function("a_main", "twice")
    client.api.drop_role("a_inner")
    vanished = {
        ("partition", Action.DROP): 1,
        ("function", Action.DROP): 1,
        ("database", Action.DROP): 1,
        ("role", Action.DROP): 1,
        ("member", Action.DROP): 1,
        ("privilege", Action.DROP): 2,
    }
    assert copy(server.uri, tmp_path).changes == {}
    assert found(server.uri, tmp_path) == vanished
    assert copy(server.uri, tmp_path, drop=True).changes == vanished
    assert found(server.uri, tmp_path) == {}


def test_a_verification_prints_the_fields_that_differ(server: RunningServer, tmp_path: Path) -> None:
    copy(server.uri, tmp_path)
    with running_server(data=tmp_path) as other, metastored.connect(other.uri, cache=False) as target:
        target.set_parameters("a_other.t001", stray="x")

    class Lines(Silent):
        def __init__(self) -> None:
            self.printed: list[str] = []

        def line(self, text: str) -> None:
            self.printed.append(text)

    lines = Lines()
    assert found(server.uri, tmp_path, display=lines) == {("table", Action.ALTER): 1}
    (line,) = lines.printed
    assert line.startswith("table a_other.t001: differs: ")
    assert "parameters['stray'] is not set in the source and 'x' in the target" in line


def test_patterns_choose_databases_and_tables(server: RunningServer, tmp_path: Path) -> None:
    only = Selection(databases="a_m*", tables="p1|v*")
    tally = copy(server.uri, tmp_path, selection=only)
    assert tally.compared["table"] == 1 and tally.compared["view"] == 1
    with running_server(data=tmp_path) as other, metastored.connect(other.uri) as target:
        assert target.databases() == ("a_main",) or set(target.databases()) == {"a_main", "default"}
        assert set(target.tables("a_main")) == {"p1", "view"}


@pytest.mark.parametrize("kind", ["statistics", "constraints", "functions", "privileges"])
def test_a_kind_can_be_left_out(server: RunningServer, tmp_path: Path, kind: str) -> None:
    copy(server.uri, tmp_path, selection=Selection(without=frozenset({kind})))
    assert found(server.uri, tmp_path, selection=Selection(without=frozenset({kind}))) == {}
    missing = {what for what, _ in found(server.uri, tmp_path)}
    expected = {
        "statistics": {"table", "partition"},
        "constraints": {"constraint"},
        "functions": {"function"},
        "privileges": {"role", "member", "privilege"},
    }
    assert missing == expected[kind]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="'tables' cannot be left out"):
        Selection(without=frozenset({"tables"}))


def test_several_sources_become_catalogs(server: RunningServer, tmp_path: Path) -> None:
    sources = sources_of([f"one={server.uri}", f"two={server.uri}"])
    selection = Selection(without=frozenset({"constraints"}))
    for source in sources:
        copy(source, tmp_path, selection=selection)
    for source in sources:
        assert found(source, tmp_path, selection=selection) == {}
    with running_server(data=tmp_path) as other, metastored.connect(other.uri) as target:
        assert set(target.api.get_catalogs().names or ()) == {"hive", "one", "two"}
        assert target.databases() == ("default",)
        assert target.table("two.a_other.t001").owner == "ann"
        assert len(target.partition_names("one.a_main.p1")) == PARTITIONS // 20


def test_a_refused_object_of_one_source_does_not_stop_the_others(server: RunningServer, tmp_path: Path) -> None:
    copy(Source(server.uri, "one"), tmp_path)
    tally = run(Source(server.uri, "two"), str(tmp_path), Access())
    assert any("Constraint name already exists: a_main_pk" in text for text in tally.failures)
    assert tally.changes["table", Action.ADD] == TABLES
    again = run(Source(server.uri, "two"), str(tmp_path), Access())
    assert again.failures == tally.failures


def test_a_database_with_a_dot_in_its_name_is_copied(tmp_path: Path) -> None:
    with running_server(compat="4.2") as server, metastored.connect(server.uri, cache=False) as client:
        client.api.create_database(Database(name="a.b"))
        client.api.create_table(content.table("a.b", "t"))
        copy(server.uri, tmp_path)
        assert found(server.uri, tmp_path) == {}


def test_several_sources_need_names() -> None:
    with pytest.raises(ConfigError, match="need a name each"):
        sources_of(["thrift://a", "thrift://b"])
    with pytest.raises(ConfigError, match="need a name each"):
        sources_of(["x=thrift://a", "x=thrift://b"])
    assert sources_of(["x=thrift://a", "Y=thrift://b"]) == [Source("thrift://a", "x"), Source("thrift://b", "y")]


@pytest.mark.parametrize("place", ["ftp://host/x", "nowhere at all"])
def test_an_invalid_source_or_target_is_refused(tmp_path: Path, place: str) -> None:
    with pytest.raises(ConfigError, match=place):
        run(place, str(tmp_path), Access())


def test_an_export_is_equal_except_for_fields_that_the_target_sets(
    server: RunningServer, source: Client, tmp_path: Path
) -> None:
    copy(server.uri, tmp_path / "data")
    with running_server() as other, metastored.connect(other.uri, cache=False) as target:
        journal = tmp_path / "journal"
        copy(str(tmp_path / "data"), other.uri, journal=journal)
        assert found(str(tmp_path / "data"), other.uri) == {}
        assert copy(str(tmp_path / "data"), other.uri, journal=journal).changes == {}
        assert unequal(everything(source, "", without=STAMPED), everything(target, "", without=STAMPED)) == {}


def test_an_interrupted_copy_resumes(
    server: RunningServer, source: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(Exception):
        pass

    class Cut(Silent):
        def __init__(self, after: int) -> None:
            self.left = after
            self.pages = 0

        def partitions(self, done: int) -> None:
            self.pages += done > 0
            self.left -= done > 0
            if self.left == 0:
                raise Interrupted

    monkeypatch.setattr("metastored.transfer.partitions.PAGE", 5)
    pages = 0
    for after in (2, 4, 5):
        cut = Cut(after)
        with pytest.raises(Interrupted):
            copy(server.uri, tmp_path, display=cut)
        pages += cut.pages
    last = Cut(-1)
    copy(server.uri, tmp_path, display=last)
    assert found(server.uri, tmp_path) == {}
    # Nothing but the pages at which it was cut is done, or skipped over, a second time.
    whole = Cut(-1)
    copy(server.uri, tmp_path, display=whole)
    assert pages + last.pages <= whole.pages + 2 * 3


def test_a_page_that_was_written_is_not_read_again(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metastored.transfer.partitions.PAGE", 5)
    only = Selection(databases="a_main", tables="a_p")
    calls: list[int] = []

    class Cut(Silent):
        def partitions(self, done: int) -> None:
            if done:
                calls.append(done)
            if len(calls) == 3:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy(server.uri, tmp_path, selection=only, display=Cut())
    tally = copy(server.uri, tmp_path, selection=only)
    assert tally.changes["partition", Action.ADD] == (PARTITIONS - 10 * (PARTITIONS // 20)) - 3 * 5
    assert found(server.uri, tmp_path, selection=only) == {}


def test_write_ids_of_transactional_tables_come_along(changing: tuple[RunningServer, Client], tmp_path: Path) -> None:
    server, client = changing
    acid = {"transactional": "true", "transactional_properties": "insert_only"}
    client.create_table(content.table("a_main", "acid", parameters=acid))
    for _ in range(3):
        (txn,) = client.api.open_txns(OpenTxnRequest(num_txns=1, user="ann", hostname="h")).txn_ids or ()
        client.api.allocate_table_write_ids(
            AllocateTableWriteIdsRequest(dbName="a_main", tableName="acid", txnIds=(txn,))
        )
        client.api.commit_txn(CommitTxnRequest(txnid=txn))
    tally = copy(server.uri, tmp_path)
    assert tally.changes["write id", Action.ALTER] == 1
    assert found(server.uri, tmp_path) == {}


def test_a_table_that_the_target_refuses_is_reported_and_the_others_are_copied(
    changing: tuple[RunningServer, Client], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = LocalWriter.put_table

    def refusing(self: LocalWriter, change: TableChange) -> None:
        if change.name.table == "t001":
            raise MetaException("not this one")
        put(self, change)

    server, _ = changing
    monkeypatch.setattr(LocalWriter, "put_table", refusing)
    tally = run(server.uri, str(tmp_path), Access())
    assert tally.failures == ["table a_other.t001: not this one"]
    monkeypatch.undo()
    assert copy(server.uri, tmp_path).changes == {("table", Action.ADD): 1}


@pytest.mark.postgres
def test_a_postgresql_database_is_filled_in_the_same_way(server: RunningServer, source: Client, tmp_path: Path) -> None:
    with shared_postgres().database() as url:
        copy(server.uri, url, journal=tmp_path / "journal")
        assert found(server.uri, url) == {}
        with running_server(database_url=url) as other, metastored.connect(other.uri, cache=False) as target:
            assert unequal(everything(source, ""), everything(target, "")) == {}


def test_methods_that_a_server_lacks_are_noted(tmp_path: Path) -> None:
    with scripted(MemoryMetastore({"shop": ()})) as server:
        tally = copy(server.uri, tmp_path)
    assert tally.changes["database", Action.ADD] == 1
    lacking = {"get_functions": "functions", "get_role_names": "roles", "list_privileges": "privileges"}
    assert tally.notes == [
        f"{server.uri} has no {method}: it has no {words} to be copied" for method, words in lacking.items()
    ]


def test_tables_without_times_and_owners_are_equal_too(changing: tuple[RunningServer, Client], tmp_path: Path) -> None:
    server, client = changing
    bare = Table(tableName="bare", dbName="a_main", sd=content.storage())
    client.create_table(bare)
    copy(server.uri, tmp_path)
    assert found(server.uri, tmp_path) == {}


def test_remotes_are_left_out_and_named(tmp_path: Path) -> None:
    link = Table(tableName="link", dbName="default", sd=content.storage())
    with running_server() as old, running_server() as server:
        with metastored.connect(old.uri, cache=False) as client:
            client.create_database(Database(name="far"))
            client.create_table(link)
        with metastored.connect(server.uri, cache=False) as client:
            parameters = {"hive.metastore.uris": old.uri}
            client.create_database(Database(name="far", parameters=parameters))
            client.create_table(replace(link, parameters=parameters))
            client.create_table(replace(link, tableName="here"))
        tally = copy(server.uri, tmp_path)
    assert sorted(note.split(" and was")[0] for note in tally.notes if "remote" in note) == [
        "database far is remote",
        "table default.link is remote",
    ]
    assert tally.changes["table", Action.ADD] == 1
