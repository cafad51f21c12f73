"""The deliberate differences to Hive 4 without a topic of their own, mostly bugs of Hive 4; see `deliberate.py`."""

from __future__ import annotations

from typing import Final

from tests.differential.deliberate import Difference
from tests.differential.script import HIVE_4

DIFFERENCES_IN_THE_REST: Final = (
    Difference(
        "Hive 4 fails over the heartbeat of a rebuild that is not there, and says nothing; metastored"
        " answers as 3.1 does",
        (
            "rest/heartbeat_lock_materialization_rebuild: another's",
            "rest/heartbeat_lock_materialization_rebuild: of nothing",
        ),
        lambda hive, metastored: "Internal error" in hive and metastored == "False",
        HIVE_4,
    ),
    Difference(
        "This one fails over every heartbeat of a rebuild; metastored answers as 3.1 and 4.0.1 do",
        ("rest/heartbeat_lock_materialization_rebuild: its own",),
        lambda hive, metastored: "Internal error" in hive and metastored == "True",
        ("4.0.0",),
    ),
)
