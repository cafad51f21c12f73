"""A long reply of a remote on its way to the caller: passed on while it arrives, with local names in it.

At most a few pieces of it are in memory. If the remote breaks off, or sends what cannot be read, the reply ends with an
error: what was sent of it by then is never made to look complete.
"""

from __future__ import annotations

from collections.abc import Callable

from metastored.errors import Error
from metastored.wire.edit.passing import PassingResult
from metastored.wire.edit.splice import Renames
from metastored.wire.message import Relayed
from metastored.wire.methods import Method


class RenamedRelay(Relayed):
    """A relayed reply with other names."""

    __slots__ = ("_check", "_inner", "_passing")

    def __init__(
        self, method: Method, inner: Relayed, renames: Renames, check: Callable[[], None] = lambda: None
    ) -> None:
        """`check` is called after each piece, before it is sent, and may raise an Error."""
        super().__init__()
        self._inner = inner
        self._passing = PassingResult(method, renames)
        self._check = check

    async def next(self) -> bytes | None:
        while (piece := await self._inner.next()) is not None:
            renamed = self._passing.feed(piece)
            self._check()
            if renamed:
                return renamed
        return None

    def when_ended(self, callback: Callable[[Error | None], None]) -> None:
        self._inner.when_ended(callback)

    def close(self) -> None:
        self._inner.close()


def may_relay(method: Method) -> bool:
    """Whether a long result is passed on while it arrives: partitions, their names and statistics.

    Tables and databases are not, because the remote's configuration is added to them.
    """
    return method.verb == "read" and method.object not in ("table", "database")
