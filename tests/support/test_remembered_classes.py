"""What py4j looks up once in a test run, and what it asks the JVM for each time."""

from __future__ import annotations

from typing import Any

from tests.support.remembered_classes import _remembering


def looked_up(found: object) -> int:
    """How often an attribute is looked up that is used twice."""
    asked = []

    def look_up(owner: Any, name: str) -> object:
        asked.append(name)
        return found

    owner: Any = type("Owner", (), {"__getattr__": _remembering(look_up, str)})()
    assert (owner.a, owner.a) == (found, found)
    return len(asked)


def test_a_class_is_looked_up_once() -> None:
    assert looked_up("a class") == 1


def test_a_value_is_looked_up_each_time() -> None:
    assert looked_up(7) == 2
