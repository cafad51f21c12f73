"""Counts the SQL statements that run while a test calls something.

Every statement takes its text from `sqlite`, `numbered` or `postgresql` of `Statement` each time it runs: they are
counted there. Those of `store/engine/pipeline.py` are not: it takes a text once for each connection. `many` with a
thousand rows is one statement: the drivers prepare it once and send it as one batch. BEGIN and COMMIT are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from metastored.store.engine.statements import Numbered, Statement


@contextmanager
def counted_statements() -> Iterator[list[str]]:
    """The texts of the statements that run inside the block, in their order."""
    texts: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("sqlite", "postgresql", "numbered"):
            patch.setattr(Statement, name, property(_counting(vars(Statement)[name].func, texts)))
        yield texts


def _counting(compile: Callable[[Statement], Any], texts: list[str]) -> Callable[[Statement], Any]:
    compiled: dict[Statement, Any] = {}

    def taken(statement: Statement) -> Any:
        if statement not in compiled:
            compiled[statement] = compile(statement)
        result = compiled[statement]
        text = result.text if isinstance(result, Numbered) else result
        texts.append(text.decode() if isinstance(text, bytes) else text)
        return result

    return taken
