"""A million partitions from a second metastored, in memory that does not grow with them."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

import metastored as client_of
from benchmarks.objects import batches, table
from tests.support.forks import running_server
from tests.transfer.support import command, environment, metastored

PARTITIONS = 1_000_000
MOST = 300 * 1024 * 1024
"""Bytes. It takes 200 MB, of which the names are half; the partitions themselves would take several times as much."""

LONGEST = 1800
"""Seconds for one walk over all of them, on a machine that has more to do."""

MEASURED = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.exit(status)
"""
"""Runs a command and prints its largest memory. Linux counts that of the process which starts a program as the
program's own: this one is small, the process of the tests may not be."""


@pytest.mark.soak
@pytest.mark.timeout(2 * LONGEST)
def test_a_million_partitions_are_imported_in_bounded_memory(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running_server(directories="off") as source:
        with client_of.connect(source.uri, timeout=600, cache=False) as client:
            client.create_database("soak")
            client.create_table(table("soak", "t", partitioned=True))
            for batch in batches("soak", "t", PARTITIONS, 5000):
                client.api.add_partitions(batch)
        words = ("import", "metastore", source.uri, "--into", str(data))
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *command(*words)], env=environment(), stdout=subprocess.PIPE, text=True
        )
        assert done.returncode == 0, done.stdout
        peak = int(done.stdout.split()[-1])
        print(f"imported in {time.monotonic() - began:.0f} s, at most {peak / 1024 / 1024:.0f} MB")
        assert peak < MOST
        began = time.monotonic()
        verified = metastored(*words, "--verify", timeout=LONGEST)
        print(f"verified in {time.monotonic() - began:.0f} s")
        assert (verified.returncode, "both are equal" in verified.stderr) == (0, True), verified.stderr
