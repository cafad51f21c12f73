"""`make demo`, as a newcomer runs it: two metastores, Spark, and every step with its result."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.support.apache import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def output() -> str:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-m", "tools.demo"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_old_database_is_a_remote(output: str) -> None:
    assert "CREATE REMOTE DATABASE old_shop CONNECTED TO shop" in output
    assert "old_shop" in output.partition("SHOW REMOTES")[2]


def test_a_query_joins_tables_of_both_metastores(output: str) -> None:
    assert "country | orders" in output
    assert "(6 rows)" in output


def test_a_merge_changes_adds_and_deletes_rows_of_an_acid_table(output: str) -> None:
    assert "gold  |" in output


def test_a_compaction_keeps_the_rows(output: str) -> None:
    before, _, after = output.partition("alter table web.accounts compact 'major'")
    counts = [line for line in before.splitlines() if line.strip().startswith(("gold  |", "new   |"))]
    assert counts
    assert all(line in after for line in counts)


def test_a_vector_search_finds_the_neighbours(output: str) -> None:
    found = output.partition("distance to a lemon")[2].split("(3 rows)")[0]
    assert {"kiwi", "lemon", "mango"} <= set(found.split())


def test_the_time_of_each_step_is_printed(output: str) -> None:
    assert "together" in output


def test_readme_has_a_part_of_the_real_output(output: str) -> None:
    (shown,) = re.findall(r"```text\n(sql> CREATE REMOTE.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    for line in shown.splitlines():
        assert line in output
