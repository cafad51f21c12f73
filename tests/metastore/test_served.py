"""Every method of the API is served or named here as refused, and every served one is called by some test."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from skep.metastore.local import served
from skep.wire.methods import METHODS

TESTS = Path(__file__).resolve().parents[1]
REFUSED: Final[dict[str, str]] = {}
"""Methods that skep does not serve, each with its reason. At most ten."""


def test_every_method_is_served_or_refused_for_a_reason() -> None:
    known = served()
    assert set(METHODS) - set(known) == set(REFUSED)
    assert len(REFUSED) <= 10


def test_every_served_method_is_called_by_a_test() -> None:
    # The tests of whole topics call a method by its name, through the codec: "get_table" or 'get_table'.
    text = "\n".join(path.read_text("utf-8") for path in TESTS.rglob("*.py") if path != Path(__file__))
    called = set(re.findall(r"[\"'](\w+)[\"']", text))
    assert sorted(set(served()) - called) == []
