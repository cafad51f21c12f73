"""`metastored compact worker`, run as a person runs it: a process with a Spark of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import metastored
from metastored.hive.locations import local_path
from metastored.hive.transactions.compaction import CompactionKind
from metastored.model.names import TableName
from metastored.spark.acid.compaction.queue import entries, request
from metastored.testing import running_server
from tests.support.path_python import without_python

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LOG = TableName("", "shop", "log")
PATIENCE = 240.0


def test_a_worker_compacts_what_is_in_the_queue_and_ends(tmp_path: Path) -> None:
    with running_server() as server, metastored.connect(server.uri, cache=False) as client:
        client.create_database(metastored.database("shop"))
        properties = {"transactional": "true", "transactional_properties": "insert_only"}
        client.create_table(metastored.table("shop.log", {"id": "int"}, format="textfile", properties=properties))
        folder = Path(local_path(client.table(LOG).sd.location or ""))  # type: ignore[union-attr]
        for text in ("1\n2\n", "3\n"):
            with client.write(LOG) as write:
                delta = folder / f"delta_{write.write_id:07d}_{write.write_id:07d}_0000"
                delta.mkdir(parents=True)
                (delta / "000000_0").write_text(text)
        request(client, LOG, None, CompactionKind.MAJOR, "test")
        done = subprocess.run(
            [
                *(sys.executable, "-m", "metastored", "compact", "worker", "--once", "--uri", server.uri),
                *("--master", "local[1]", "--conf", "spark.ui.enabled=false", "--conf", f"spark.local.dir={tmp_path}"),
            ],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            cwd=tmp_path,
            env={**without_python(tmp_path), "SPARK_LOCAL_IP": "127.0.0.1"},
        )
        assert (done.returncode, done.stdout) == (0, "1 shop.log compacted\n"), done.stderr
        assert [each.state for each in entries(client)] == ["ready for cleaning"]
        (base,) = folder.glob("base_0000002_v*")
        rows = [line for file in base.glob("[0-9]*") for line in file.read_text().splitlines()]
        assert sorted(rows) == ["1", "2", "3"]
