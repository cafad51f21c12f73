"""A class that a hostile catalog names, and that nobody may load: it records that it was made."""

from __future__ import annotations

from typing import Any

NAME = "tests.support.traps.Trap"
sprung: list[tuple[Any, ...]] = []


class Trap:
    """Stands for a class such as subprocess.Popen."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        sprung.append(args)
