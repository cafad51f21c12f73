"""Clients that get ACID tables as views: what they are shown, and that they can change nothing.

No file is opened by the server, so these tables have files of a few bytes. Rows are read in
`tests/spark/acid/test_plain_spark.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import metastored
from metastored.acid_views.handler import AcidViews
from metastored.acid_views.partitions import asks_for_partitions, no_partitions
from metastored.errors import Error, InvalidOperationException, MetaException, NoSuchObjectException, TableNotFound
from metastored.hive.locations import local_path
from metastored.hive.transactions.resolution import Listing, listing_of
from metastored.model.names import TableName
from metastored.threads import Pool
from metastored.wire.generated.common import EnvironmentContext, FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition, PartitionsByExprRequest, PartitionsByExprResult
from metastored.wire.generated.tables import GetTableRequest, GetTableResult, GetTablesRequest
from metastored.wire.generated.transactions import GetOpenTxnsResponse, GetValidWriteIdsResponse, TableValidWriteIds
from metastored.wire.message import Call, Reply, Session
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.support.forks import running_server
from tests.support.in_process import serving_metastore

FULL = {"transactional": "true", "transactional_properties": "default"}
INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}
SPARK = "spark"
"""The user who gets views."""


class House:
    """A metastore with the ACID tables `plain`, `parted` and `only`, and the ordinary table `other`."""

    def __init__(self, uri: str, stack: ExitStack) -> None:
        self.uri = uri
        self.ann = stack.enter_context(metastored.connect(uri, user="ann", cache=False))
        self.spark = stack.enter_context(metastored.connect(uri, user=SPARK, cache=False))
        self.ann.create_database("shop")
        columns = {"id": "int", "name": "char(5)"}
        for name, properties, keys in (
            ("plain", FULL, None),
            ("parted", FULL, {"day": "string", "n": "int"}),
            ("only", INSERT_ONLY, None),
            ("other", {}, None),
        ):
            self.ann.create_table(
                metastored.table(f"shop.{name}", columns, partitioned_by=keys, format="orc", properties=properties)
            )

    def write(self, name: str, *paths: str) -> None:
        """One committed transaction that wrote these files; `{}` in a path is its write id."""
        with self.ann.write(f"shop.{name}") as write:
            self.put(name, *(path.replace("{}", f"{write.write_id:07d}_{write.write_id:07d}") for path in paths))

    def put(self, name: str, *paths: str) -> None:
        home = self.home(name)
        for path in paths:
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_bytes(b"ORC")

    def home(self, name: str) -> Path:
        sd = self.ann.table(f"shop.{name}").sd
        assert sd is not None and sd.location is not None
        return Path(local_path(sd.location))

    def seen(self, name: str) -> Table:
        """The table as the client sees it that cannot read ACID."""
        return self.spark.api.get_table("shop", name)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    with ExitStack() as stack:
        settings: dict[str, object] = {"acid_views_users": SPARK}
        if request.param == "postgresql":
            settings["database_url"] = stack.enter_context(request.getfixturevalue("postgres").database())
        yield House(stack.enter_context(serving_metastore(tmp_path, **settings)), stack)


def text_of(table: Table) -> str:
    assert table.tableType == "VIRTUAL_VIEW" and table.viewOriginalText == table.viewExpandedText
    return table.viewExpandedText or ""


# What is shown


def test_an_acid_table_is_a_view_with_its_columns_owner_and_comment(house: House) -> None:
    table = house.ann.table("shop.plain")
    house.ann.api.alter_table(
        "shop", "plain", replace(table, parameters={**(table.parameters or {}), "comment": "all orders"})
    )
    seen = house.seen("plain")
    assert seen.tableType == "VIRTUAL_VIEW" and seen.owner == table.owner
    assert seen.sd is not None and [each.name for each in seen.sd.cols or ()] == ["id", "name"]
    parameters = seen.parameters or {}
    assert parameters["comment"] == "all orders" and "transactional" not in parameters
    assert "metastored.spark.sql" in parameters["metastored.acid"]
    assert parameters["view.catalogAndNamespace.part.1"] == "shop"


def test_partition_keys_are_columns_of_the_view(house: House) -> None:
    seen = house.seen("parted")
    assert seen.sd is not None and [each.name for each in seen.sd.cols or ()] == ["id", "name", "day", "n"]
    assert seen.partitionKeys == ()


def test_the_text_names_tables_of_the_files_of_one_snapshot(house: House) -> None:
    house.write("plain", "delta_{}_0000/bucket_00000")
    assert "`shop`.`plain$rows$w1t0`" in text_of(house.seen("plain"))
    assert "plain$deletes" not in text_of(house.seen("plain"))
    house.write("plain", "delete_delta_{}_0000/bucket_00000")
    assert "`shop`.`plain$deletes$w2t0`" in text_of(house.seen("plain"))


def test_lists_by_type_have_acid_tables_among_the_views(house: House) -> None:
    def by_type(client: metastored.Client, type: str, pattern: str = "*") -> list[str]:
        return sorted(client.api.get_tables_by_type("shop", pattern, type))

    everything = by_type(house.ann, "MANAGED_TABLE")
    assert by_type(house.spark, "MANAGED_TABLE") == ["other"] and "plain" in everything
    assert by_type(house.spark, "VIRTUAL_VIEW") == sorted({*everything} - {"other"})
    assert by_type(house.spark, "VIRTUAL_VIEW", "pl*") == ["plain"]
    assert by_type(house.ann, "VIRTUAL_VIEW") == []
    with pytest.raises(MetaException, match="No enum constant"):
        by_type(house.spark, "VIEWS")


@pytest.mark.parametrize("types", [None, ("VIRTUAL_VIEW",), ("MANAGED_TABLE",), ("VIRTUAL_VIEW", "MANAGED_TABLE")])
def test_short_descriptions_have_the_types_that_are_shown(house: House, types: tuple[str, ...] | None) -> None:
    found = {each.tableName: each.tableType for each in house.spark.api.get_table_meta("sh*", "*", types)}
    shown = {"plain": "VIRTUAL_VIEW", "parted": "VIRTUAL_VIEW", "other": "MANAGED_TABLE"}
    expected = {name: type for name, type in shown.items() if types is None or type in types}
    assert {name: type for name, type in found.items() if name in shown} == expected


def test_a_view_has_no_partitions(house: House) -> None:
    house.write("parted", "day=a/n=1/delta_{}_0000/bucket_00000")
    full = house.ann.table("shop.parted")
    house.ann.add_partitions("shop.parted", [metastored.partition(full, ["a", "1"])])
    assert house.ann.api.get_partition_names("shop", "parted", -1) == ("day=a/n=1",)
    api = house.spark.api
    assert api.get_partition_names("shop", "parted", -1) == ()
    assert api.get_partitions("shop", "parted", -1) == ()
    assert api.get_num_partitions_by_filter("shop", "parted", "") == 0
    expression = PartitionsByExprRequest(dbName="shop", tblName="parted", expr=b"x")
    assert api.get_partitions_by_expr(expression) == PartitionsByExprResult((), False)
    with pytest.raises(NoSuchObjectException, match="sees as a view: it has no partitions"):
        api.get_partition("shop", "parted", ("a", "1"))
    plain = metastored.table("shop.by_day", {"id": "int"}, partitioned_by={"day": "string"})
    house.ann.create_table(plain)
    house.ann.add_partitions("shop.by_day", [metastored.partition(house.ann.table("shop.by_day"), ["mon"])])
    assert api.get_partition_names("shop", "by_day", -1) == ("day=mon",)


@pytest.mark.parametrize("name", sorted(name for name, each in METHODS.items() if asks_for_partitions(each)))
def test_every_method_has_an_answer_for_a_view(name: str) -> None:
    """As bytes, too: no field of a result is missing."""
    found = no_partitions(METHODS[name])
    if found is not None:
        assert Reply.of(METHODS[name], found).value(METHODS[name]) == found


def test_a_table_of_files_has_the_paths_of_its_snapshot_and_hives_six_columns(house: House) -> None:
    house.write("plain", "delta_{}_0000/bucket_00000")
    house.write("plain", "delta_{}_0000/bucket_00000")
    for name, paths in (
        ("plain$rows$w1t0", "/delta_0000001_0000001_0000"),
        ("PLAIN$rows$W2T0", "/{delta_0000001_0000001_0000,delta_0000002_0000002_0000}"),
    ):
        seen = house.seen(name)
        assert seen.sd is not None and seen.sd.serdeInfo is not None
        assert seen.sd.serdeInfo.parameters == {
            "path": f"file:{house.home('plain')}{paths}", "serialization.format": "1",
        }  # fmt: skip
        assert (seen.parameters or {})["spark.sql.sources.provider"] == "orc"
        assert [each.name for each in seen.sd.cols or ()] == [
            "operation", "originaltransaction", "bucket", "rowid", "currenttransaction", "row",
        ]  # fmt: skip


def test_both_forms_of_a_look_up_get_the_view(house: House) -> None:
    found = house.spark.api.get_table_req(GetTableRequest(dbName="shop", tblName="plain")).table
    assert found is not None and found.viewExpandedText == house.seen("plain").viewExpandedText


def test_lists_of_tables_have_views_that_are_not_read(house: House) -> None:
    names = ("plain", "other")
    for tables in (
        house.spark.api.get_table_objects_by_name("shop", names),
        house.spark.api.get_table_objects_by_name_req(GetTablesRequest(dbName="shop", tblNames=names)).tables or (),
    ):
        assert {each.tableName: each.tableType for each in tables} == {
            "plain": "VIRTUAL_VIEW",
            "other": "MANAGED_TABLE",
        }
        assert "raise_error" in "".join(each.viewExpandedText or "" for each in tables)


def test_others_get_the_table_itself(house: House) -> None:
    house.seen("plain")
    assert house.ann.table("shop.plain").tableType == "MANAGED_TABLE"
    with pytest.raises(TableNotFound):
        house.ann.table("shop.plain$rows$w0t0")


def test_a_client_that_says_what_it_can_read_gets_the_table_and_others_the_view(tmp_path: Path) -> None:
    """`acid_views` is on, and no port or user is named."""
    with serving_metastore(tmp_path, acid_views="on") as uri, ExitStack() as stack:
        house = House(uri, stack)
        request = GetTableRequest(dbName="shop", tblName="plain")
        found = house.spark.api.get_table_req(request).table
        assert found is not None and found.tableType == "MANAGED_TABLE"
        assert house.ann.acid("shop.plain") is not None
        with metastored.connect(uri, cache=False) as old:
            assert old.api.get_table("shop", "plain").tableType == "VIRTUAL_VIEW"
            with pytest.raises((MetaException, InvalidOperationException), match="is an ACID table"):
                old.api.drop_table("shop", "plain", True)
        house.spark.api.drop_table("shop", "plain", True)
        assert "plain" not in house.ann.api.get_all_tables("shop")


def test_insert_only_tables_are_shown_to_clients_without_the_capability_for_them(house: House) -> None:
    house.write("only", "delta_{}_0000/000000_0")
    assert "`shop`.`only$rows$w1t0`" in text_of(house.seen("only"))


def test_nothing_of_a_view_is_stored_or_logged_as_an_event(house: House) -> None:
    before = house.ann.api.get_current_notificationEventId().eventId
    house.seen("plain")
    assert house.ann.api.get_current_notificationEventId().eventId == before
    assert house.ann.api.get_all_tables("shop") == ("only", "other", "parted", "plain")


def test_ordinary_tables_stay_as_they_are(house: House) -> None:
    assert house.seen("other") == house.ann.api.get_table("shop", "other")


def test_acid_tables_of_a_remote_are_views_with_their_local_names(house: House, tmp_path: Path) -> None:
    house.write("plain", "delta_{}_0000/bucket_00000")
    with serving_metastore(tmp_path / "near", acid_views_users="bi") as uri, ExitStack() as stack:
        ann = stack.enter_context(metastored.connect(uri, user="ann", cache=False))
        spark = stack.enter_context(metastored.connect(uri, user="bi", cache=False))
        address = f"'hive.metastore.uris' = '{house.uri}', 'metastored.remote.access' = 'write'"
        ann.sql(f"CREATE REMOTE DATABASE far CONNECTED TO shop WITH DBPROPERTIES ({address})")
        with ann.transaction():  # Transactions have other numbers here.
            assert "`far`.`plain$rows$w1t0`" in text_of(spark.api.get_table("far", "plain"))
            seen = spark.api.get_table("far", "plain$rows$w1t0")
        assert seen.dbName == "far" and seen.sd is not None and seen.sd.serdeInfo is not None
        path = f"file:{house.home('plain')}/delta_0000001_0000001_0000"
        assert (seen.sd.serdeInfo.parameters or {})["path"] == path
        with pytest.raises((MetaException, InvalidOperationException), match="is an ACID table"):
            spark.api.drop_table("far", "plain", True)


# Beside writers


def test_rows_that_are_written_are_in_the_next_view_at_once(house: House) -> None:
    for number in range(1, 4):
        house.write("plain", "delta_{}_0000/bucket_00000")
        assert f"$w{number}t0`" in text_of(house.seen("plain"))


def test_a_writer_that_has_not_committed_is_not_seen(house: House) -> None:
    house.write("plain", "delta_{}_0000/bucket_00000")
    with house.ann.write("shop.plain") as write:
        house.put("plain", f"delta_{write.write_id:07d}_{write.write_id:07d}_0000/bucket_00000")
        text = text_of(house.seen("plain"))
        (name,) = {part for part in text.split("`") if part.startswith("plain$rows$")}
        seen = house.seen(name)
    assert seen.sd is not None and seen.sd.serdeInfo is not None
    assert (seen.sd.serdeInfo.parameters or {})["path"].endswith("/delta_0000001_0000001_0000")
    # The snapshot stays what it was when the writer has committed.
    assert house.seen(name) == seen


def test_a_table_that_was_altered_is_listed_again(house: House) -> None:
    """A change of files without a write id, such as the TRUNCATE of an old client, also alters the table."""
    house.write("plain", "delta_{}_0000/bucket_00000")
    assert "$rows$" in text_of(house.seen("plain"))
    (house.home("plain") / "delta_0000001_0000001_0000/bucket_00000").unlink()
    table = house.ann.table("shop.plain")
    house.ann.api.alter_table("shop", "plain", replace(table, parameters={**(table.parameters or {}), "emptied": "1"}))
    assert "$rows$" not in text_of(house.seen("plain"))


def test_another_partition_is_in_the_next_view(house: House) -> None:
    assert "$rows$" not in text_of(house.seen("parted"))
    house.ann.add_partitions("shop.parted", [{"day": "a/b", "n": "1"}])
    house.write("parted", "day=a%2Fb/n=1/delta_{}_0000/bucket_00000")
    assert "$rows$" in text_of(house.seen("parted"))


def test_a_worker_that_has_never_seen_the_view_answers_for_its_files() -> None:
    with running_server(acid_views_port=0, workers=2) as server:
        with ExitStack() as stack:
            other = House(server.uri, stack)
            other.write("plain", "delta_{}_0000/bucket_00000")
            paths = set()
            for _ in range(8):
                uri = f"thrift://127.0.0.1:{server.acid_views_port}"
                with metastored.connect(uri, user="eve", cache=False) as client:
                    table = client.api.get_table("shop", "plain$rows$w1t0")
                    assert table.sd is not None and table.sd.serdeInfo is not None
                    paths.add((table.sd.serdeInfo.parameters or {})["path"])
            assert len(paths) == 1
            assert server.log.count("ACID tables as views, for every Spark: thrift://127.0.0.1:") == 1


# Changes


def changes(client: metastored.Client) -> dict[str, Callable[[], object]]:
    api = client.api
    table = api.get_table("shop", "plain")
    context = EnvironmentContext({})
    return {
        "drop": lambda: api.drop_table("shop", "plain", True),
        "drop, as Spark does": lambda: api.drop_table_with_environment_context("shop", "plain", True, context),
        "alter": lambda: api.alter_table("shop", "plain", replace(table, viewExpandedText="SELECT 1")),
        "alter, as Spark does": lambda: api.alter_table_with_environment_context("shop", "plain", table, context),
        "rename": lambda: api.alter_table("shop", "plain", replace(table, tableName="mine")),
        "truncate": lambda: api.truncate_table("shop", "plain", ()),
        "add a partition": lambda: api.add_partition(Partition(values=("x", "1"), dbName="shop", tableName="parted")),
        "drop a partition": lambda: api.drop_partition_by_name("shop", "parted", "day=x/n=1", True),
        "drop the files": lambda: api.drop_table("shop", "plain$rows$w0t0", True),
    }


@pytest.mark.parametrize(
    "change",
    ["drop", "drop, as Spark does", "alter", "alter, as Spark does", "rename", "truncate", "add a partition",
     "drop a partition", "drop the files"],
)  # fmt: skip
def test_a_change_is_refused_and_nothing_is_changed(house: House, change: str) -> None:
    house.write("plain", "delta_{}_0000/bucket_00000")
    before = (house.ann.api.get_table("shop", "plain"), house.ann.api.get_table("shop", "parted"))
    with pytest.raises((MetaException, InvalidOperationException), match=r"is an ACID table.*metastored\.spark\.sql"):
        changes(house.spark)[change]()
    assert (house.ann.api.get_table("shop", "plain"), house.ann.api.get_table("shop", "parted")) == before
    assert (house.home("plain") / "delta_0000001_0000001_0000/bucket_00000").exists()


def test_such_a_client_changes_ordinary_tables_and_creates_acid_tables(house: House) -> None:
    house.spark.create_table(metastored.table("shop.fresh", {"id": "int"}, format="orc", properties=FULL))
    assert house.ann.table("shop.fresh").tableType == "MANAGED_TABLE"
    house.spark.api.drop_table("shop", "other", True)
    assert "other" not in house.ann.api.get_all_tables("shop")


def test_such_a_client_drops_the_table_that_it_has_created_while_it_has_no_rows(house: House) -> None:
    """Spark does that when CREATE TABLE … AS SELECT fails, because it cannot write to the table."""
    for name in ("mine", "ours"):
        house.spark.create_table(metastored.table(f"shop.{name}", {"id": "int"}, format="orc", properties=FULL))
    house.write("ours", "delta_{}_0000/bucket_00000")
    with metastored.connect(house.uri, user=SPARK, cache=False) as another:
        with pytest.raises((MetaException, InvalidOperationException), match="is an ACID table"):
            another.api.drop_table("shop", "mine", True)
    house.spark.api.drop_table("shop", "mine", True)
    with pytest.raises((MetaException, InvalidOperationException), match="is an ACID table"):
        house.spark.api.drop_table("shop", "ours", True)
    assert "mine" not in house.ann.api.get_all_tables("shop") and "ours" in house.ann.api.get_all_tables("shop")


# What is hostile


@pytest.mark.parametrize("name", ["plain$rows$w9999t0", "plain$rows$w1o1-99999t0", "plain$deletes$w1t0", "plain$rows$"])
def test_a_name_that_the_server_did_not_make_shows_nothing_that_is_not_committed_files(house: House, name: str) -> None:
    with pytest.raises(Error, match=r"cannot be read any more|not found|does not exist"):
        house.seen(name)


def test_a_location_with_signs_of_patterns_and_of_sql_is_only_a_location(house: House) -> None:
    place = house.home("parted") / "o'd,d}"
    odd = metastored.partition(house.ann.table("shop.parted"), ["'x${env:HOME}\\", "1"], location=str(place))
    house.ann.add_partitions("shop.parted", [odd])
    house.write("parted", "o'd,d}/delta_{}_0000/bucket_00000")
    text = text_of(house.seen("parted"))
    assert "${" not in text and "\\u0027x\\u0024{env:HOME}\\u005C" in text
    (name,) = {part for part in text.split("`") if part.startswith("parted$rows$")}
    seen = house.seen(name)
    assert seen.sd is not None and seen.sd.serdeInfo is not None
    assert (seen.sd.serdeInfo.parameters or {})["path"].endswith(r"/o'd\,d\}/delta_0000001_0000001_0000")


def test_a_directory_that_cannot_be_listed_gives_a_view_that_says_so(house: House) -> None:
    house.write("plain", "delta_{}_0000/bucket_00000")
    (house.home("plain") / "delta_0000002_0000002").symlink_to("/")
    text = text_of(house.seen("plain"))
    assert "raise_error" in text and "symbolic link" in text


async def anything(name: TableName, location: str, session: Session, *, removes: bool) -> str | None:
    """All files may be opened."""
    return None


class Broken:
    """A metastore that cannot look tables up, and notes what else it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def handle(self, call: Call, session: Session) -> Reply:
        self.asked.append(call.method.name)
        return Reply.failed(call.method, "the database is locked", session.version)

    def listing(self, uri: str) -> Listing:
        raise AssertionError(uri)


def test_a_change_of_a_table_that_cannot_be_looked_up_is_not_made() -> None:
    broken, pool = Broken(), Pool(1)
    views = AcidViews(broken, broken, pool, anything, lambda session: True)
    call = Call(METHODS["drop_table"], ("shop", "t", True))
    reply = asyncio.run(views.handle(call, Session()))
    pool.close()
    assert broken.asked == ["get_table_req"]
    with pytest.raises(MetaException, match=r"drop_table was not called, because shop\.t could not be looked up"):
        reply.value(call.method)


class Wrong:
    """A metastore whose partition has a value too few, and a location that is none."""

    def __init__(self, location: str, *values: str) -> None:
        keys = (FieldSchema("day", "string"), FieldSchema("n", "int"))
        orc = metastored.table("shop.t", {"id": "int"}, format="orc", location="file:/w/t", properties=FULL)
        self.table = replace(orc, partitionKeys=keys)
        self.partition = Partition(values=values, sd=StorageDescriptor(location=location))

    async def handle(self, call: Call, session: Session) -> Reply:
        values = {
            "get_table": self.table,
            "get_table_req": GetTableResult(table=self.table),
            "get_open_txns": GetOpenTxnsResponse(txn_high_water_mark=1, open_txns=frozenset(), abortedBits=b""),
            "get_valid_write_ids": GetValidWriteIdsResponse(
                tblValidWriteIds=(TableValidWriteIds("shop.t", 1, (), None, b""),)
            ),
            "get_partitions": (self.partition,),
        }
        return Reply.of(call.method, values[call.method.name])

    def listing(self, uri: str) -> Listing:
        return listing_of([("delta_1_1_0", None), ("delta_1_1_0/bucket_00000", 10)])


@pytest.mark.parametrize("wrong", [Wrong("file:/w/t/x", "a"), Wrong("", "a", "1"), Wrong("s3a:relative", "a", "1")])
def test_what_a_metastore_says_of_a_table_and_cannot_be_read_is_a_view_that_fails(wrong: Wrong) -> None:
    pool = Pool(1)
    views = AcidViews(wrong, wrong, pool, anything, lambda session: True)
    call = Call(METHODS["get_table"], ("shop", "t"))
    try:
        reply = asyncio.run(views.handle(call, Session()))
    finally:
        pool.close()
    assert "raise_error" in text_of(reply.value(call.method))


def test_a_user_needs_the_rights_that_the_table_needs(tmp_path: Path) -> None:
    settings = {"authorization": "sql", "admin_users": "ann", "acid_views_users": SPARK}
    with serving_metastore(tmp_path, **settings) as uri, ExitStack() as stack:
        house = House(uri, stack)
        for name in ("plain", "plain$rows$w0t0"):
            with pytest.raises(MetaException, match="SELECT"):
                house.seen(name)


def test_a_table_whose_files_the_server_may_not_open_is_shown_as_a_view_that_fails(tmp_path: Path) -> None:
    with serving_metastore(tmp_path, directories="off", acid_views_users=SPARK) as uri, ExitStack() as stack:
        house = House(uri, stack)
        assert "this server does not access" in text_of(house.seen("plain"))
