"""Every method of the API is served or named here as refused, and every served one is called by some test."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from metastored.service.core.serving import served
from metastored.wire.methods import METHODS

TESTS: Final = Path(__file__).resolve().parents[1]
THROUGH_THE_WIRE: Final = ("service", "differential", "server", "clients", "gate")
"""The folders whose tests send encoded calls; tests of other packages name methods without calling them."""
REFUSED: Final[dict[str, str]] = {}
"""Methods that metastored does not serve, each with its reason. At most ten."""


def _called() -> Iterator[str]:
    """The first text arguments of a function, or those after a label:

    `call("get_table", …)`, `ask("one", "get_table", …)`.
    """
    for room in THROUGH_THE_WIRE:
        for path in (TESTS / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    yield from (
                        each.value
                        for each in node.args[:2]
                        if isinstance(each, ast.Constant) and isinstance(each.value, str)
                    )


def test_every_method_is_served_or_refused_for_a_reason() -> None:
    known = served()
    assert set(METHODS) - set(known) == set(REFUSED)
    assert len(REFUSED) <= 10


def test_every_served_method_is_called_by_a_test() -> None:
    assert sorted(set(served()) - set(_called())) == []
