"""ALTER TABLE … EXCHANGE PARTITION and ALTER TABLE … COMPACT, also beside others who do the same."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.errors import Error, InvalidOperationException, MetastoreError, ObjectNotFound
from tests.support.driven import connected
from tests.support.in_process import serving_metastore


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving_metastore(tmp_path_factory.mktemp("moves")) as uri:
        yield uri


@pytest.fixture
def client(uri: str, half: str) -> Iterator[Any]:
    with connected(half, uri, user="ann") as found:
        found.sql(
            """
            DROP DATABASE IF EXISTS shop CASCADE; CREATE DATABASE shop; USE shop;
            CREATE TABLE orders (id BIGINT) PARTITIONED BY (ds STRING, h INT) STORED AS ORC;
            CREATE TABLE staged LIKE orders;
            CREATE TABLE other (x STRING) PARTITIONED BY (ds STRING, h INT);
            CREATE TRANSACTIONAL TABLE ledger (id BIGINT) STORED AS ORC;
            CREATE TRANSACTIONAL TABLE parted (id BIGINT) PARTITIONED BY (ds STRING) STORED AS ORC;
            ALTER TABLE staged ADD PARTITION (ds = '1', h = 1) PARTITION (ds = '1', h = 2)
                PARTITION (ds = 'it''s', h = 3);
            ALTER TABLE parted ADD PARTITION (ds = 'a b')
            """
        )
        yield found


def queue(client: Any, table: str) -> list[dict[str, Any]]:
    """Compactions of a table that no drop has ended."""
    waiting = client.sql("SHOW COMPACTIONS").dicts()
    return [each for each in waiting if each["tabname"] == table and each["state"] == "initiated"]


# --- EXCHANGE PARTITION ---------------------------------------------------------------------------------------


def test_partitions_move_with_their_directories(client: Any) -> None:
    location = Path(client.partition("shop.staged", ("1", "1")).sd.location.removeprefix("file:"))
    (location / "data").write_text("rows")
    client.sql("USE shop; ALTER TABLE orders EXCHANGE PARTITION (ds = '1', h = 1) WITH TABLE staged")
    assert client.partition_names("shop.orders") == ("ds=1/h=1",)
    assert "ds=1/h=1" not in client.partition_names("shop.staged")
    moved = Path(client.partition("shop.orders", ("1", "1")).sd.location.removeprefix("file:"))
    assert (moved / "data").read_text() == "rows" and moved.parts[-3] == "orders" and not location.exists()


def test_all_partitions_with_the_first_keys_move_and_values_are_data(client: Any) -> None:
    client.sql("ALTER TABLE shop.orders EXCHANGE PARTITION (DS = 'it''s') WITH TABLE shop.staged")
    assert client.partition_names("shop.orders") == ("ds=it%27s/h=3",)
    client.sql("ALTER TABLE shop.orders EXCHANGE PARTITION (ds = '1') WITH TABLE shop.staged")
    assert len(client.partition_names("shop.orders")) == 3 and client.partition_names("shop.staged") == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("orders EXCHANGE PARTITION (nosuch = '1') WITH TABLE shop.staged", "has no partition key nosuch"),
        ("orders EXCHANGE PARTITION (ds = '9') WITH TABLE shop.staged", "No partition is found"),
        ("orders EXCHANGE PARTITION (h = 1) WITH TABLE shop.staged", "give the first keys"),
        ("other EXCHANGE PARTITION (ds = '1') WITH TABLE shop.staged", "different schemas"),
        ("orders EXCHANGE PARTITION (ds = '1') WITH TABLE shop.nosuch", "nosuch"),
        ("ledger EXCHANGE PARTITION (ds = '1') WITH TABLE shop.staged", "is not partitioned"),
        ("parted EXCHANGE PARTITION (ds = '1') WITH TABLE shop.staged", "is an ACID table"),
        ("orders EXCHANGE PARTITION (ds = 'a b') WITH TABLE shop.parted", "is an ACID table"),
    ],
)
def test_an_exchange_that_cannot_be_made_changes_nothing(client: Any, text: str, sentence: str) -> None:
    with pytest.raises(MetastoreError, match=sentence):
        client.sql(f"ALTER TABLE shop.{text}")
    assert client.partition_names("shop.orders") == () and len(client.partition_names("shop.staged")) == 3


def test_one_of_two_who_exchange_the_same_partition_gets_it(client: Any, uri: str) -> None:
    client.sql("CREATE TABLE shop.third LIKE shop.orders")

    def exchange(target: str) -> bool:
        with metastored.connect(uri, user="bob", cache=False) as bob:
            try:
                bob.sql(f"ALTER TABLE shop.{target} EXCHANGE PARTITION (ds = '1') WITH TABLE shop.staged")
            except Error:
                return False
            return True

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(exchange, ["orders", "third"])) == [False, True]
    moved = [client.partition_names(f"shop.{table}") for table in ("orders", "third")]
    assert sorted(map(len, moved)) == [0, 2] and len(client.partition_names("shop.staged")) == 1


# --- COMPACT --------------------------------------------------------------------------------------------------


def test_a_compaction_is_put_into_the_queue(client: Any) -> None:
    client.sql("ALTER TABLE shop.ledger COMPACT 'MAJOR'")
    client.sql(
        "ALTER TABLE shop.parted PARTITION (ds = 'a b') COMPACT 'minor' WITH OVERWRITE TBLPROPERTIES ('a' = 'b')"
    )
    (ledger,) = queue(client, "ledger")
    assert (ledger["dbname"], ledger["partname"], ledger["type"]) == ("shop", None, "MAJOR")
    (parted,) = queue(client, "parted")
    assert (parted["partname"], parted["type"]) == ("ds=a b", "MINOR")
    client.sql("ALTER TABLE shop.ledger RENAME TO gone")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("orders COMPACT 'major'", "is not an ACID table"),
        ("parted COMPACT 'major'", r"ALTER TABLE shop\.parted PARTITION \(…\) COMPACT"),
        ("parted PARTITION (ds = '9') COMPACT 'major'", "9"),
        ("nosuch COMPACT 'major'", "nosuch"),
        ("ledger COMPACT 'huge'", "is 'major' or 'minor'"),
        ("ledger COMPACT 'major' AND WAIT", "SHOW COMPACTIONS shows when it has ended"),
    ],
)
def test_a_compaction_that_cannot_be_made_is_refused(client: Any, text: str, sentence: str) -> None:
    before = len(client.sql("SHOW COMPACTIONS").rows)
    with pytest.raises(Error, match=sentence):
        client.sql(f"ALTER TABLE shop.{text}")
    assert len(client.sql("SHOW COMPACTIONS").rows) == before


def test_one_of_two_who_ask_for_the_same_compaction_is_told_that_it_waits(client: Any, uri: str) -> None:
    def compact(_: int) -> str:
        with metastored.connect(uri, user="bob", cache=False) as bob:
            try:
                bob.sql("ALTER TABLE shop.ledger COMPACT 'major'")
            except InvalidOperationException as error:
                return str(error)
            return ""

    with ThreadPoolExecutor(2) as threads:
        first, second = sorted(threads.map(compact, range(2)))
    assert first == "" and "waits or runs already" in second
    with pytest.raises(ObjectNotFound):
        client.sql("ALTER TABLE shop.parted PARTITION (ds = '9') COMPACT 'major'")
