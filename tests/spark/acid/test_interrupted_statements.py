"""A statement at the prompt of `metastored sql --spark` that is interrupted leaves nothing that runs on."""

from __future__ import annotations

from typing import Any

import pytest

import metastored
from metastored.cli.options import Login, Server
from metastored.cli.spark_options import Spark
from metastored.cli.sql.spark_rows import SparkRows
from metastored.model.names import DatabaseName
from metastored.testing import RunningServer

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CURRENT = DatabaseName("", "default")


def test_a_job_that_begins_after_the_interrupt_is_cancelled_too(
    spark: Any, server: RunningServer, client: metastored.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while Spark plans a statement: it has no job to be cancelled yet."""
    rows = SparkRows(Server(server.uri, Login()), Spark({}), client, limit=10)
    monkeypatch.setattr(rows, "_session", spark)

    def interrupted(frame: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(rows, "_collected", interrupted)
        with pytest.raises(KeyboardInterrupt):
            rows.run("SELECT 1", CURRENT)
    # What the JVM had planned is submitted now, with the group of the statement.
    with pytest.raises(Exception, match="cancelled"):
        spark.range(7).count()
    shown, _ = rows.run("SELECT 6 * 7 AS answer", CURRENT)
    assert shown.rows == ((42,),)
    assert spark.range(7).count() == 7
