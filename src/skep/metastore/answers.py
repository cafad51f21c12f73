"""Answers that are remembered while the database stands still: planners ask the same again and again.

A version of the database is read before the answer is made, so an answer never outlives a change that it lacks. Any
thread may ask. It never holds more than so many bytes, and forgets all of them with each change.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

from skep.store.database import Database
from skep.wire import binary
from skep.wire.methods import METHODS

MOST_BYTES: Final = 8 * 1024 * 1024
MOST: Final = 64


class _Known:
    """What is known of one version."""

    __slots__ = ("answers", "size", "version")

    def __init__(self, version: int) -> None:
        self.version = version
        self.answers: dict[Hashable, bytes] = {}
        self.size = 0


class Answers:
    """The answers of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known = _Known(-1)

    def of(self, method: str, question: Hashable, length: int, ask: Callable[[], object]) -> bytes:
        """The encoded answer to a question that is about so long; asked only if nobody asked it of this version."""
        version = self._database.version()
        known = self._known
        if known.version != version:
            known = _Known(version)
        answer = known.answers.get((method, question))
        if answer is None:
            answer = binary.encode_result(METHODS[method], ask())
            size = length + len(answer)
            if known.size + size > MOST_BYTES or len(known.answers) >= MOST:
                known = _Known(version)
            if size <= MOST_BYTES:
                known.answers[method, question] = answer
                known.size += size
            # One reference, set at once: no thread ever sees the answers of one version under another's number.
            self._known = known
        return answer
