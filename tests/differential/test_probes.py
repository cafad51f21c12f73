"""Every script of `probes/`: metastored replies as Hive did, line by line, but for the differences in `deliberate.py`.

Hive's replies are those of `recordings/`, so these tests need no Hive; `make peers-check` compares the recordings with
the real servers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.differential.deliberate_hive_4 import EVERY_DIFFERENCE, differences
from tests.differential.peer import Peer
from tests.differential.probes import TOPICS
from tests.differential.record import SERVERS, Played
from tests.differential.recordings import recorded
from tests.differential.script import lines

LONGEST = 3000
"""Hive may reply with a complete stack trace."""
DEFAULT = "3.1"
"""The version that metastored is compatible with unless told otherwise: `make quick` compares this one."""
COMPARISONS = [
    pytest.param(
        played, topic, id=f"{played.version}-{topic}", marks=() if played.version == DEFAULT else pytest.mark.slow
    )
    for played in SERVERS
    for topic in played.topics
]


@pytest.mark.parametrize(("played", "topic"), COMPARISONS)
def test_metastored_replies_as_hive_did(played: Played, topic: str, metastored_for: Callable[[Played], Peer]) -> None:
    metastored = metastored_for(played)
    hive = recorded(played.version, topic, TOPICS[topic])
    # User and settings of one script must not affect the next.
    metastored.client.close()
    meant = differences(played.version)
    wrong: list[str] = []
    for label, reply in lines(TOPICS[topic], metastored):
        expected = hive[label]
        difference = meant.get(f"{topic}/{label}")
        if expected == reply:
            if difference is not None and not difference.sometimes:
                wrong.append(f"{label}\n  is listed as different, and is not: {reply}")
        elif difference is None:
            wrong.append(f"{label}\n  Hive: {expected[:LONGEST]}\n  metastored: {reply[:LONGEST]}")
        elif not difference.agreement(expected, reply):
            wrong.append(
                f"{label}\n  differs otherwise than listed\n  Hive: {expected[:LONGEST]}\n  metastored:"
                f" {reply[:LONGEST]}"
            )
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("topic", TOPICS)
def test_every_line_has_a_label_of_its_own(topic: str) -> None:
    twice = [label for label, number in Counter(f"{p.kind}{p.label}" for p in TOPICS[topic]).items() if number > 1]
    assert not twice


def test_every_deliberate_difference_names_a_line_that_exists() -> None:
    known = {
        (version, f"{topic}/{probe.kind}{probe.label}")
        for topic, script in TOPICS.items()
        for probe in script
        for version in probe.versions
    }
    listed = {(version, line) for each in EVERY_DIFFERENCE for line in each.lines for version in each.versions}
    assert not listed - known
