"""Every script of `probes/` on both sides: equal line by line, except for the differences in `deliberate.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from tests.differential.conftest import Sides
from tests.differential.deliberate_hive_4 import EVERY_DIFFERENCE, differences
from tests.differential.probes import TOPICS
from tests.differential.script import Probe, lines

pytestmark = pytest.mark.apache

EVENTS = "events"
"""They need a Hive that keeps them."""
PLAIN_TOPICS = tuple(topic for topic in TOPICS if topic != EVENTS)
OWN_TOPICS = (
    *("acid", "requests", "translation", "resource_plans", "schema_registry"),
    *("hive_4_documents", "hive_4_objects", "hive_4_acid"),
)
"""Those in which the versions of Hive 4 differ from each other, or from all before."""
GENERAL_TOPICS = (
    *("spark", "service", "databases", "tables", "alter_table", "partitions", "changing_partitions"),
    *("partition_edges", "truncating"),
    *("functions", "views", "catalogs", "roles", "constraints", "filters", "column_statistics", "rest", "indexes"),
    "absent",
)
"""All that has a wording of Hive 4's own is compared with the latest each time, and with the others in the long run."""
HIVE_4_0_TOPICS = (*OWN_TOPICS, *(pytest.param(topic, marks=pytest.mark.soak) for topic in GENERAL_TOPICS))
LONGEST = 3000
"""Hive may reply with a complete stack trace."""


def compared(topic: str, script: Sequence[Probe], sides: Sides) -> list[str]:
    """The problems, one paragraph each."""
    hive, metastored = sides
    for side in sides:
        # User and settings of one script must not affect the next.
        side.client.close()
    meant = differences(hive.version)
    wrong: list[str] = []
    for (label, expected), (_, result) in zip(lines(script, hive), lines(script, metastored), strict=True):
        difference = meant.get(f"{topic}/{label}")
        if expected == result:
            if difference is not None and not difference.sometimes:
                wrong.append(f"{label}\n  is listed as different, and is not: {result}")
        elif difference is None:
            wrong.append(f"{label}\n  Hive: {expected[:LONGEST]}\n  metastored: {result[:LONGEST]}")
        elif not difference.agreement(expected, result):
            wrong.append(
                f"{label}\n  differs otherwise than listed\n  Hive: {expected[:LONGEST]}\n  metastored:"
                f" {result[:LONGEST]}"
            )
    return wrong


@pytest.mark.parametrize("topic", PLAIN_TOPICS)
def test_metastored_replies_as_hive_2_3(topic: str, sides_2_3: Sides) -> None:
    wrong = compared(topic, TOPICS[topic], sides_2_3)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("topic", PLAIN_TOPICS)
def test_metastored_replies_as_hive_3_1(topic: str, sides_3_1: Sides) -> None:
    wrong = compared(topic, TOPICS[topic], sides_3_1)
    assert not wrong, "\n".join(wrong)


def test_metastored_records_the_events_of_hive_2_3(sides_2_3_with_events: Sides) -> None:
    wrong = compared(EVENTS, TOPICS[EVENTS], sides_2_3_with_events)
    assert not wrong, "\n".join(wrong)


def test_metastored_records_the_events_of_hive_3_1(sides_3_1_with_events: Sides) -> None:
    wrong = compared(EVENTS, TOPICS[EVENTS], sides_3_1_with_events)
    assert not wrong, "\n".join(wrong)


@pytest.mark.peers
@pytest.mark.parametrize("topic", HIVE_4_0_TOPICS)
def test_metastored_replies_as_hive_4_0_0(topic: str, sides_4_0_0: Sides) -> None:
    wrong = compared(topic, TOPICS[topic], sides_4_0_0)
    assert not wrong, "\n".join(wrong)


@pytest.mark.peers
@pytest.mark.parametrize("topic", HIVE_4_0_TOPICS)
def test_metastored_replies_as_hive_4_0_1(topic: str, sides_4_0_1: Sides) -> None:
    wrong = compared(topic, TOPICS[topic], sides_4_0_1)
    assert not wrong, "\n".join(wrong)


@pytest.mark.peers
@pytest.mark.parametrize("topic", (*GENERAL_TOPICS, *OWN_TOPICS))
def test_metastored_replies_as_hive_4_1(topic: str, sides_4_1: Sides) -> None:
    wrong = compared(topic, TOPICS[topic], sides_4_1)
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
