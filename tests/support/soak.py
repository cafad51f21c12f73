"""The sizes and seeds of the large tests, which `make soak` runs.

`SOAK=10 make soak` makes the random ones ten times as long: more messages, rounds, seeds and rows. Their numbers
begin with a seed that the run prints; `SOAK_SEED` repeats a run. The names do not begin with METASTORED: metastored
refuses variables of that name that it does not know.
"""

from __future__ import annotations

import os
import random
from typing import Final

import pytest

SCALE: Final = float(os.environ.get("SOAK", "1"))
# The processes of a run inherit it, so that all of them have the same.
SEED: Final = int(os.environ.setdefault("SOAK_SEED", str(random.SystemRandom().randrange(10**9))))


def scaled(size: int) -> int:
    """This size, multiplied by SOAK; at least one."""
    return max(1, round(size * SCALE))


class SoakSeed:
    """A plugin of pytest: prints the seed before a run of large tests."""

    def pytest_report_header(self, config: pytest.Config) -> str | None:
        if config.option.markexpr != "soak":
            return None
        return f"large tests: SOAK={SCALE:g} SOAK_SEED={SEED}"
