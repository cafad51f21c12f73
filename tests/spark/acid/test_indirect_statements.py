"""What used to slip through: names that are values, and writers of DataFrames, in a guarded session and outside."""

from __future__ import annotations

import copy
import gc
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import metastored
import metastored.spark
from metastored.errors import AcidStatementError, AcidTableError
from metastored.spark.acid.sql.guard import guarded
from metastored.testing import RunningServer
from tests.spark.acid.conftest import Shop, rows_of

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def session(shop: Shop, server: RunningServer) -> Iterator[Any]:
    """A guarded session."""
    yield guarded(copy.copy(shop.spark), lambda: metastored.connect(server.uri, cache=False))


# EXECUTE IMMEDIATE, IDENTIFIER and ${variables}

HIDDEN = [
    "SELECT id FROM IDENTIFIER('or' || 'ders')",
    "SELECT id FROM IDENTIFIER('or\\u0064ers')",
    "SELECT id FROM IDENTIFIER(' `orders` -- x')",
    "SELECT id FROM IDENTIFIER(concat('or', lower('DERS'))) WHERE true",
    "EXECUTE IMMEDIATE 'SELECT id FROM orders'",
    "EXECUTE IMMEDIATE 'SELECT id FROM or' || 'ders'",
    "EXECUTE IMMEDIATE 'SELECT id FROM IDENTIFIER(''or'' || ''ders'')'",
    "EXECUTE IMMEDIATE hidden",
    "SELECT id FROM IDENTIFIER(hidden_name)",
    "SELECT id FROM ${hidden.name}",
    "SELECT id FROM ${hiddens}${rest}",
]


@pytest.fixture
def hidden(shop: Shop) -> Iterator[None]:
    """Variables of the session that have the name of the table."""
    shop.spark.sql("DECLARE OR REPLACE VARIABLE hidden STRING DEFAULT 'SELECT id FROM orders'")
    shop.spark.sql("DECLARE OR REPLACE VARIABLE hidden_name STRING DEFAULT 'orders'")
    settings = {"hidden.name": "orders", "hiddens": "ord", "rest": "ers"}
    for name, value in settings.items():
        shop.spark.conf.set(name, value)
    yield
    for name in settings:
        shop.spark.conf.unset(name)
    shop.spark.sql("DROP TEMPORARY VARIABLE hidden")
    shop.spark.sql("DROP TEMPORARY VARIABLE hidden_name")


@pytest.mark.usefixtures("hidden")
def test_a_name_that_is_a_value_is_resolved(shop: Shop, session: Any) -> None:
    for statement in HIDDEN:
        assert shop.sql(statement) == [(1,), (2,), (3,)], statement
        with pytest.raises(AcidTableError, match=r"metastored\.spark\.sql"):
            session.sql(statement)


def test_a_name_in_args_is_resolved(shop: Shop, session: Any) -> None:
    for args in ({"t": "orders", "n": 2}, {"t": f"{shop.database}.`orders`", "n": 2}):
        statement = "SELECT id FROM IDENTIFIER(:t) WHERE id = :n"
        assert shop.sql(statement, args) == [(2,)]
        with pytest.raises(AcidTableError):
            session.sql(statement, args)
    with pytest.raises(AcidTableError):
        session.sql("SELECT id FROM IDENTIFIER(?)", ["orders"])
    assert rows_of(session.sql("SELECT id FROM IDENTIFIER(:t)", {"t": "customers"})) == [(1,), (3,)]


def test_statements_on_other_tables_are_those_of_spark(shop: Shop, session: Any) -> None:
    for run in (shop.frame, session.sql):
        assert rows_of(run("SELECT id FROM IDENTIFIER('customers') WHERE IDENTIFIER('id') = 1")) == [(1,)]
        assert rows_of(run("EXECUTE IMMEDIATE 'SELECT id FROM customers WHERE id = ?' USING 3")) == [(3,)]
        assert rows_of(run("BEGIN SELECT max(id) FROM customers; END")) == [(3,)]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("BEGIN DECLARE v STRING; SET v = 'SELECT * FROM ' || 'orders'; EXECUTE IMMEDIATE v; END", "could be an ACID"),
        ("BEGIN DECLARE v STRING DEFAULT 'or' || 'ders'; SELECT * FROM IDENTIFIER(v); END", "could be an ACID"),
        ("EXECUTE IMMEDIATE 'DELETE FROM orders WHERE id = ?' USING 1", "give the values as args="),
        ("SELECT * FROM IDENTIFIER(no_such_variable)", "cannot be evaluated here"),
    ],
)
def test_what_cannot_be_resolved_is_refused(shop: Shop, session: Any, statement: str, reason: str) -> None:
    with pytest.raises(AcidStatementError, match=reason):
        shop.sql(statement)
    with pytest.raises(AcidTableError, match=reason):
        session.sql(statement)
    assert len(shop.orders) == 3


# Writers of DataFrames


def test_writers_of_a_guarded_session_refuse_acid_tables(shop: Shop, session: Any, tmp_path: Path) -> None:
    made = [session.range(1).toDF("id"), session.sql("SELECT 1 AS id"), session.createDataFrame([(1,)], "id int")]
    made += [metastored.spark.sql(session, "SELECT id FROM orders", client=shop.client).where("id = 1")]
    stream = session.readStream.format("rate").load()
    name = f"{shop.database}.orders"
    uses: list[Callable[[Any], Any]] = [
        lambda df: df.write.insertInto("orders", overwrite=True),
        lambda df: df.write.insertInto(tableName="orders"),
        lambda df: df.write.mode("append").saveAsTable(name),
        lambda df: df.write.format("orc").mode("overwrite").saveAsTable("`orders`"),
        lambda df: df.writeTo(name).append(),
        lambda df: df.writeTo("ORDERS").overwritePartitions(),
        lambda df: df.writeTo("spark_catalog." + name).createOrReplace(),
        lambda df: df.mergeInto(name, df["id"] == 1).whenMatched().delete().merge(),
    ]
    for frame in made:
        for use in uses:
            with pytest.raises(AcidTableError, match=r"metastored\.spark\.acid\.insert"):
                use(frame)
    with pytest.raises(AcidTableError, match=r"metastored\.spark\.acid\.insert"):
        stream.writeStream.option("checkpointLocation", str(tmp_path)).toTable(name)
    assert shop.orders == [(1, "a", 10), (2, "b", 20), (3, "c", 30)]
    assert not [path for path in shop.warehouse.files(name) if path.startswith("part-")]


def test_writers_write_to_other_tables(shop: Shop, session: Any) -> None:
    frame = session.sql("SELECT 7 AS id, 'eve' AS who")
    frame.write.insertInto("customers")
    frame.write.mode("append").saveAsTable("customers")
    frame.write.saveAsTable("made")
    assert rows_of(session.table("customers")) == [(1, "ann"), (3, "bob"), (7, "eve"), (7, "eve")]
    assert rows_of(session.table("made")) == [(7, "eve")]


def test_reads_of_a_guarded_session_end_with_their_data_frames(shop: Shop, session: Any) -> None:
    def opened() -> int:
        gc.collect()
        return len([each for each in shop.client.api.get_open_txns_info().open_txns or () if each.state == 3])

    before = opened()
    frame = metastored.spark.sql(session, "SELECT id FROM orders", client=shop.client)
    assert session.catalog.currentDatabase() == shop.database and opened() > before
    del frame
    until = time.monotonic() + 10
    while opened() > before and time.monotonic() < until:
        time.sleep(0.1)
    assert opened() <= before


def test_writers_of_other_sessions_do_what_they_did(shop: Shop, session: Any) -> None:
    shop.spark.sql("SELECT 1 AS id").write.saveAsTable("orders_2")
    shop.spark.sql("SELECT 2 AS id").writeTo("orders_3").using("parquet").create()
    assert rows_of(shop.spark.table("orders_2")) == [(1,)] and rows_of(shop.spark.table("orders_3")) == [(2,)]
