"""Short results of remotes as callers get them, kept: engines read the same table several times for one statement.

A result is found by the remote's own bytes, so an entry is never stale: a table that was changed has other bytes. The
remote is called for each read all the same. Nothing is edited here.
"""

from __future__ import annotations

from typing import Final

from metastored.bounded import BoundedDict
from metastored.remotes.renaming import Renaming
from metastored.wire.message import Reply
from metastored.wire.methods import Method

MOST: Final = 256
LONGEST: Final = 16 * 1024
"""Bytes of a result up to which it is kept."""


class EditedResults:
    """Results with local names and the remote's configuration. A renaming belongs to one state of the definitions."""

    def __init__(self) -> None:
        self._bodies: BoundedDict[tuple[Renaming, Method, bytes], bytes] = BoundedDict(MOST)

    def get(self, renaming: Renaming, method: Method, body: bytes) -> Reply | None:
        """The reply that was made from the same bytes."""
        entry = self._bodies.get((renaming, method, body)) if len(body) <= LONGEST else None
        return None if entry is None else Reply(entry)

    def put(self, renaming: Renaming, method: Method, body: bytes, reply: Reply) -> None:
        """Keeps a reply, if it is short and no error."""
        if len(body) > LONGEST or reply.error is not None or not isinstance(reply.body, bytes):
            return
        self._bodies[renaming, method, body] = reply.body
