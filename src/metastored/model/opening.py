"""Whether a server may open the files of a table itself: the form of the question. `server/places.py` has the rule."""

from __future__ import annotations

from typing import Protocol

from metastored.model.names import TableName
from metastored.wire.message import Session


class MayOpen(Protocol):
    """Why the files of a table may not be opened, or removed, for a caller; None if they may."""

    async def __call__(self, name: TableName, location: str, session: Session, *, removes: bool) -> str | None: ...
