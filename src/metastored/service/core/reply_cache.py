"""A cache of encoded replies. Each entry carries the version of the data it was made from.

The version is read before the reply is made, so an entry is never newer than it claims. A lookup with another version
is a miss. Any thread may use the cache. It is bounded in bytes and in entries.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final

from metastored.wire import binary
from metastored.wire.methods import METHODS

MOST_BYTES: Final = 8 * 1024 * 1024
MOST: Final = 64


class ReplyCache:
    """The last reply to each request."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Hashable], tuple[Any, int, bytes]] = {}
        self._size = 0
        self._lock = threading.Lock()

    def of(self, method: str, question: Hashable, version: Any, length: int, ask: Callable[[], object]) -> bytes:
        """The encoded answer to a question that is, with the version, about so long; asked unless it is known."""
        known = self._known.get((method, question))
        if known is not None and known[0] == version:
            return known[2]
        answer = binary.encode_result(METHODS[method], ask())
        self._keep((method, question), (version, length + len(answer), answer))
        return answer

    def _keep(self, key: tuple[str, Hashable], known: tuple[Any, int, bytes]) -> None:
        with self._lock:
            before = self._known.pop(key, None)
            if before is not None:
                self._size -= before[1]
            if self._size + known[1] > MOST_BYTES or len(self._known) >= MOST:
                self._known, self._size = {}, 0
            if known[1] <= MOST_BYTES:
                self._known[key] = known
                self._size += known[1]
