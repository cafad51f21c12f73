"""The trash: removed directories that are kept for some days, in Hadoop's layout. Callers decide what is moved there.

`.Trash/Current/<path>` holds the directories that were removed since the last checkpoint. Once a day `Current` is
renamed to a checkpoint, whose name is the time (`yyMMddHHmmss`, UTC); a checkpoint older than `trash_days` is removed.
`trash_roots.py` says which file systems have a trash.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Final

from metastored.errors import StoreError
from metastored.store.engine.database import Database
from metastored.store.warehouse.directories import Warehouse
from metastored.store.warehouse.trash_roots import CURRENT, trash_roots

log = logging.getLogger("metastored.store")

CHECKPOINT_EVERY: Final = timedelta(days=1)

_FORMAT = "%y%m%d%H%M%S"


def expire(database: Database, warehouse: Warehouse, now: float) -> None:
    """Makes checkpoints of removed directories, and deletes old checkpoints. Several servers may do this at once."""
    if not warehouse.trash_days:
        return
    moment = datetime.fromtimestamp(now, UTC)
    for root in trash_roots(database):
        with database.claim("trash"):
            try:
                _expire(warehouse, root, moment)
            except StoreError as error:
                log.warning("the trash was not emptied, and will be retried: %s", error)


def _expire(warehouse: Warehouse, root: str, now: datetime) -> None:
    names = warehouse.names(root)
    checkpoints = {name: time for name in names if (time := _time_of(name)) is not None}
    newest = max(checkpoints.values(), default=None)
    if CURRENT in names and (newest is None or newest + CHECKPOINT_EVERY <= now):
        warehouse.move(f"{root}/{CURRENT}", f"{root}/{now.strftime(_FORMAT)}")
    for name, time in checkpoints.items():
        if time + timedelta(days=warehouse.trash_days) <= now:
            warehouse.remove(f"{root}/{name}")


def _time_of(name: str) -> datetime | None:
    try:
        return datetime.strptime(name, _FORMAT).replace(tzinfo=UTC) if len(name) == 12 else None
    except ValueError:
        return None
