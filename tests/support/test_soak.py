"""The sizes of large tests are multiplied by SOAK, and a run has one seed in all its processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os
from tests.support.soak import SEED, scaled
print(scaled(1), scaled(20), SEED, os.environ["SOAK_SEED"])
"""


def printed(**variables: str) -> list[int]:
    kept = {name: value for name, value in os.environ.items() if name not in ("SOAK", "SOAK_SEED")}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=kept | variables, cwd=ROOT, capture_output=True, text=True, check=True)
    return [int(each) for each in done.stdout.split()]


@pytest.mark.slow
def test_sizes_are_those_of_one_sitting_and_are_multiplied_by_soak() -> None:
    assert printed()[:2] == [1, 20]
    assert printed(SOAK="10")[:2] == [10, 200]
    assert printed(SOAK="0.1")[:2] == [1, 2]


@pytest.mark.slow
def test_a_seed_is_new_in_each_run_and_can_be_repeated_and_processes_inherit_it() -> None:
    first, second = printed(), printed()
    assert first[2] == first[3] and second[2] == second[3]
    assert first[2] != second[2]
    assert printed(SOAK_SEED="7")[2:] == [7, 7]
