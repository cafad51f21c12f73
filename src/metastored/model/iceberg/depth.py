"""How deeply the JSON of metadata, requests and schemas is nested. Pure."""

from __future__ import annotations

from typing import Any


def is_deeper(value: Any, levels: int) -> bool:
    """Whether a value of JSON has objects and lists within each other on more levels. It does not call itself."""
    level = [value]
    for _ in range(levels):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True
