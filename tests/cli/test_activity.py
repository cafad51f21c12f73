"""`events`, `locks`, `transactions` and `compact list|request`: their output in both forms, and their errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import metastored
from tests.cli.running import refused, run
from tests.spark.acid.compaction.places import place
from tests.support.in_process import serving_metastore

ACID = {"transactional": "true", "transactional_properties": "insert_only"}


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A metastore with a lock, an open transaction and a few events."""
    with serving_metastore(tmp_path_factory.mktemp("busy")) as uri:
        with metastored.connect(uri, user="ann", cache=False) as client:
            client.create_database("shop")
            client.create_table(metastored.table("shop.log", {"id": "int"}, format="textfile", properties=ACID))
            client.create_table(metastored.table("shop.t", {"id": "int"}))
            with client.lock("shop.log", type="shared_read"), client.transaction():
                yield uri


def test_locks_are_listed_with_their_objects_and_owners(busy: str) -> None:
    done = run("locks", "--uri", busy)
    assert done.code == 0 and "acquired | shared_read | shop.log" in done.out
    (row,) = run("locks", "--uri", busy, "--output", "json").dicts
    assert (row["object"], row["state"], row["user"]) == ("shop.log", "acquired", "ann")
    assert row["lock"] >= 1


def test_locks_of_another_table_are_left_out(busy: str) -> None:
    assert len(run("locks", "shop", "--uri", busy, "--output", "json").dicts) == 1
    assert len(run("locks", "shop.log", "--uri", busy, "--output", "json").dicts) == 1
    assert run("locks", "shop.t", "--uri", busy, "--output", "json").dicts == []


def test_locks_of_a_table_in_a_catalog_cannot_be_asked_for(busy: str) -> None:
    refused(("locks", "hive.shop.log", "--uri", busy), "write db or db.table")


def test_transactions_are_listed_with_their_users(busy: str) -> None:
    rows = run("transactions", "--open", "--uri", busy, "--output", "json").dicts
    assert ("open", "ann") in [(row["state"], row["user"]) for row in rows]
    assert "open" in run("transactions", "--uri", busy).out


def test_aborted_transactions_can_be_left_out(busy: str) -> None:
    with metastored.connect(busy, cache=False) as client, pytest.raises(ZeroDivisionError), client.transaction() as txn:
        id = txn.id
        raise ZeroDivisionError
    states = {row["transaction"]: row["state"] for row in run("transactions", "--uri", busy, "--output", "json").dicts}
    assert states.get(id, "aborted") == "aborted"
    assert id not in {
        row["transaction"] for row in run("transactions", "--open", "--uri", busy, "--output", "json").dicts
    }


def test_the_transaction_that_holds_the_cleaner_back_is_named_and_ended() -> None:
    with place() as orders, metastored.connect(orders.uri, user="trino", cache=False) as forgetful:
        orders.write(), orders.write()
        transaction = forgetful.transaction().__enter__()
        orders.compact()
        uri = ("--uri", orders.uri)
        sentence = f"the old files of 1 compaction are kept for transaction {transaction.id} of trino on "
        command = f"`metastored transactions --abort {transaction.id}` ends it"
        for words in (("locks",), ("transactions",), ("compact", "list"), ("compact", "cleaner", "--once")):
            done = run(*words, *uri)
            assert done.code == 0 and sentence in done.err and command in done.err, words
        assert len(orders.names()) == 3
        (row,) = run("compact", "list", *uri, "--output", "json").dicts
        assert (row["state"], row["waits_for"]) == ("ready for cleaning", transaction.id)
        assert run("transactions", "--abort", str(transaction.id), "--open", *uri, "--output", "json").dicts == []
        done = run("compact", "cleaner", "--once", *uri)
        assert (done.err, done.out) == ("", f"{row['id']} shop.orders removed 2 directories\n")
        assert len(orders.names()) == 1


def test_the_name_of_its_user_cannot_move_the_cursor() -> None:
    with place() as orders, metastored.connect(orders.uri, user="\x1b[2Jann", cache=False) as hostile:
        orders.write(), orders.write()
        with hostile.transaction():
            orders.compact()
            done = run("locks", "--uri", orders.uri)
    assert "of \\x1b[2Jann on" in done.err and "\x1b" not in done.err


def test_only_an_open_transaction_is_ended(busy: str) -> None:
    refused(("transactions", "--abort", "4711", "--uri", busy), "4711")
    refused(("transactions", "--abort", "0", "--uri", busy), "--abort")


def test_events_are_printed_one_on_each_line(busy: str) -> None:
    lines = run("events", "--uri", busy, "--after", "0").out.splitlines()
    assert [line.split(" UTC ")[1] for line in lines[:3]] == [
        "CREATE_DATABASE shop",
        "CREATE_TABLE shop.log",
        "CREATE_TABLE shop.t",
    ]
    events = [
        json.loads(line) for line in run("events", "--uri", busy, "--after", "0", "--output", "json").out.splitlines()
    ]
    assert (events[1]["eventId"], events[1]["eventType"], events[1]["tableName"]) == (2, "CREATE_TABLE", "log")
    assert "message" not in events[1]


def test_only_the_last_events_are_printed_and_messages_on_request(busy: str) -> None:
    (line,) = run("events", "--uri", busy, "--last", "1", "--messages", "--output", "json").out.splitlines()
    assert json.loads(line)["message"]
    assert len(run("events", "--uri", busy, "--last", "1", "--messages").out.splitlines()) == 2


@pytest.mark.slow
def test_new_events_are_followed_until_ctrl_c(tmp_path: Path) -> None:
    with serving_metastore(tmp_path) as uri, metastored.connect(uri, cache=False) as client:
        command = [sys.executable, "-m", "metastored", "events", "--follow", "--uri", uri, "--interval", "0.05"]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            assert process.stdout is not None and process.stderr is not None
            client.create_database("first")
            assert process.stdout.readline().endswith("CREATE_DATABASE first\n")
            client.create_database("second")
            assert process.stdout.readline().endswith("CREATE_DATABASE second\n")
            process.send_signal(signal.SIGINT)
            assert (process.wait(60), process.stderr.read()) == (0, "")
        finally:
            process.kill()
            process.communicate()


def test_compactions_are_requested_and_listed(tmp_path: Path) -> None:
    with serving_metastore(tmp_path) as uri, metastored.connect(uri, cache=False) as client:
        client.create_database("shop")
        for name in ("log", "log2"):
            client.create_table(metastored.table(f"shop.{name}", {"id": "int"}, format="textfile", properties=ACID))
        done = run("compact", "request", "shop.log", "--kind", "minor", "--uri", uri)
        assert (done.code, done.out) == (0, "1 shop.log minor requested\n")
        again = run("compact", "request", "shop.log2", "--uri", uri, "--output", "json").json
        assert again == {"id": 2, "table": "shop.log2", "partition": None, "outcome": "major requested", "reason": None}
        assert "shop.log  |           | minor | initiated" in run("compact", "list", "--uri", uri).out
        rows = run("compact", "list", "--uri", uri, "--output", "json").dicts
        assert sorted((row["id"], row["table"], row["kind"]) for row in rows) == [
            (1, "shop.log", "minor"),
            (2, "shop.log2", "major"),
        ]
        refused(("compact", "request", "shop.log", "--uri", uri), "waits or runs already")
        refused(("compact", "request", "shop.none", "--uri", uri), "none")


def test_a_setting_of_spark_without_a_value_is_one_sentence() -> None:
    refused(("compact", "worker", "--conf", "spark.x", "--uri", "thrift://h"), "--conf spark.x has no value")


@pytest.mark.parametrize("words", [("events",), ("locks",), ("transactions",), ("compact", "list"), ("bench",)])
def test_a_metastore_that_does_not_answer_is_one_sentence(words: tuple[str, ...]) -> None:
    refused((*words, "--uri", "thrift://127.0.0.1:1"), "127.0.0.1:1")


@pytest.mark.parametrize("output", ["text", "json"])
def test_the_initiator_prints_what_it_requests_and_the_cleaner_ends(tmp_path: Path, output: str) -> None:
    with serving_metastore(tmp_path) as uri, metastored.connect(uri, cache=False) as client:
        client.create_database("shop")
        client.create_table(metastored.table("shop.log", {"id": "int"}, format="textfile", properties=ACID))
        for number in range(2):
            with client.write("shop.log") as write:
                name = f"delta_{write.write_id:07d}_{write.write_id:07d}_0000"
                folder = tmp_path / "warehouse/shop.db/log" / name
                folder.mkdir(parents=True)
                (folder / "000000_0").write_text(f"{number}\n")
        words = ("--once", "--uri", uri, "--output", output)
        done = run("compact", "initiator", "--deltas", "1", *words)
        assert done.code == 0, done.err
        if output == "json":
            assert (done.json["table"], done.json["outcome"]) == ("shop.log", "major requested")
        else:
            assert done.out == "1 shop.log major requested\n"
        assert run("compact", "cleaner", *words) == (0, "", "")
        refused(("compact", "initiator", "--deltas", "none"), "--deltas")
        refused(("compact", "cleaner", "--once", "--uri", "thrift://127.0.0.1:1"), "127.0.0.1:1")
