"""Beeline on Spark's Thrift server, as docs/guide/engines.md prints the commands, on metastored."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pyspark
import pytest

import metastored
from tests.support.forks import running_server
from tests.support.ports import free_port

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.soak]

SPARK_HOME = Path(next(iter(pyspark.__path__)))
SECONDS = 240
STATEMENTS = """\
create database desk;
create table desk.pens (name string, day string) using parquet partitioned by (day);
insert into desk.pens values ('blue', '2024-01-01'), ('red', '2024-01-02');
select name from desk.pens where day = '2024-01-02';
"""


def test_beeline_creates_fills_and_reads_a_table(tmp_path: Path) -> None:
    port = free_port()
    environment = os.environ | {"SPARK_HOME": str(SPARK_HOME), "SPARK_LOCAL_IP": "127.0.0.1"}
    script = tmp_path / "statements.sql"
    script.write_text(STATEMENTS)
    with running_server() as server, (tmp_path / "log").open("wb") as log:
        settings = {
            "spark.hadoop.hive.metastore.uris": server.uri,
            "spark.sql.warehouse.dir": server.warehouse,
            "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
            "spark.master": "local[1]",
            "spark.ui.enabled": "false",
            "spark.driver.memory": "1g",
        }
        words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        process = subprocess.Popen(
            [
                str(SPARK_HOME / "bin/spark-submit"),
                "--class",
                "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2",
                *words,
                "spark-internal",
                "--hiveconf",
                f"hive.server2.thrift.port={port}",
                "--hiveconf",
                "hive.server2.thrift.bind.host=127.0.0.1",
            ],
            cwd=tmp_path,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            deadline = time.monotonic() + SECONDS
            while process.poll() is None and not listens(port) and time.monotonic() < deadline:
                time.sleep(0.1)
            assert process.poll() is None, (tmp_path / "log").read_text()[-4000:]
            address = f"jdbc:hive2://127.0.0.1:{port}"
            done = subprocess.run(
                [str(SPARK_HOME / "bin/beeline"), "-u", address, "--outputformat=csv2", "-f", str(script)],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        assert done.returncode == 0, done.stdout + done.stderr
        assert "red" in done.stdout.splitlines()
        assert "blue" not in done.stdout.splitlines()
        with metastored.connect(server.uri) as client:
            assert client.partition_names("desk.pens") == ("day=2024-01-01", "day=2024-01-02")


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
