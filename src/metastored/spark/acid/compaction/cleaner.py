"""The cleaner: removes the directories that compactions have replaced, when no reader can need them any more.

A compaction is cleaned when all transactions that were open at its commit have ended: a reader that started before
keeps its files. The directory is then resolved with the ids that all readers see, and what is obsolete or aborted is
removed. A metastore whose clients read without transactions says for how long files are kept besides
(`hive.compactor.cleaner.retention.time.seconds`). No Spark job is run.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from math import inf
from typing import Final, NamedTuple

from metastored.client._sync.client import Client
from metastored.client._sync.locks import snapshot
from metastored.errors import Error, InvalidInputException, NoSuchObjectException
from metastored.hive.locations import join
from metastored.hive.transactions.compaction import (
    CompactorWriteIds,
    Removable,
    abandoned,
    cleaner_transactions,
    is_free,
    removable,
)
from metastored.hive.transactions.resolution import Listing
from metastored.hive.transactions.snapshots import NO_OPEN_ID, ValidTxnList
from metastored.spark.acid.compaction.places import location_of
from metastored.spark.acid.compaction.queue import READY, Entry, entries
from metastored.spark.files import Files, list_location
from metastored.wire.generated.transactions import TxnState

log = logging.getLogger("metastored.compaction")

DELAYED: Final = "hive.compactor.delayed.cleanup.enabled"
RETENTION: Final = "hive.compactor.cleaner.retention.time.seconds"
HIVES_RETENTION: Final = "300s"
_SECONDS: Final = re.compile(r"(\d{1,12})s?")


class Cleaned(NamedTuple):
    """What was done for one compaction."""

    entry: Entry
    removed: tuple[str, ...]
    """The directories and files that were removed, by their names in the table or partition."""
    error: str | None = None


def due(queue: Sequence[Entry], min_open_txn: int, before: float = inf) -> list[Entry]:
    """The compactions whose old files have no readers, the oldest of each table or partition. Pure.

    `before` is a time in milliseconds since 1970: those that were committed later are not due.
    """
    first: dict[tuple[object, str | None], Entry] = {}
    for each in queue:
        if each.state == READY and is_free(each.next_txn_id, min_open_txn):
            first.setdefault((each.table, each.partition), each)
    return [each for each in first.values() if (each.committed or each.enqueued or 0) <= before]


def retention(client: Client) -> float:
    """The seconds for which the metastore wants replaced files to be kept; 0 where it does not."""
    if (client.api.get_config_value(DELAYED, "false") or "").lower() != "true":
        return 0.0
    match = _SECONDS.fullmatch(client.api.get_config_value(RETENTION, HIVES_RETENTION) or "")
    if match is None:
        raise InvalidInputException(f"the metastore's {RETENTION} is not a number of seconds")
    return float(match[1])


def all_transactions(client: Client) -> ValidTxnList:
    """The transactions of all kinds: get_open_txns leaves out those that only read."""
    reply = client.api.get_open_txns_info()
    ids: dict[int, list[int]] = {TxnState.OPEN: [], TxnState.ABORTED: []}
    for each in reply.open_txns or ():
        ids.get(each.state or 0, []).append(each.id or 0)
    opened, aborted = (tuple(sorted(ids[state])) for state in (TxnState.OPEN, TxnState.ABORTED))
    return ValidTxnList(reply.txn_high_water_mark or 0, opened, aborted, min(opened, default=NO_OPEN_ID))


def until(transactions: ValidTxnList, last: int | None) -> ValidTxnList:
    """The transactions up to one of them."""
    if last is None or last >= transactions.high_watermark:
        return transactions
    opened = tuple(each for each in transactions.open if each <= last)
    aborted = tuple(each for each in transactions.aborted if each <= last)
    return ValidTxnList(last, opened, aborted, min(opened, default=NO_OPEN_ID))


def clean(client: Client, files_of: Callable[[str], Files]) -> list[Cleaned]:
    """Cleans all compactions that can be cleaned now. One that fails stays in the queue, and the others go on."""
    done = []
    # The queue is read before the transactions: one that is opened in between cannot need the old files.
    queue = entries(client)
    now = all_transactions(client)
    kept = retention(client)
    before = (time.time() - kept) * 1000 if kept else inf
    for entry in due(queue, now.min_open, before):
        # Files that a later compaction has replaced are kept for as long as those of this one.
        seen = until(now, entry.next_txn_id) if kept else now
        try:
            done.append(Cleaned(entry, _clean(client, files_of, entry, seen)))
        except (Error, OSError, ValueError) as error:
            log.warning("compaction %d of %s was not cleaned: %s", entry.id, entry.table, error)
            done.append(Cleaned(entry, (), str(error)))
    return done


def _clean(client: Client, files_of: Callable[[str], Files], entry: Entry, now: ValidTxnList) -> tuple[str, ...]:
    try:
        location = location_of(client, entry.table, entry.partition)
    except NoSuchObjectException:
        client.api.mark_cleaned(entry.info)  # It was dropped, with its files.
        return ()
    files = files_of(location)
    listing = list_location(files, location)
    removable = _removable(client, entry, listing, now)
    names = (*removable.directories, *removable.files, *abandoned(listing, now))
    for name in names:
        files.remove(join(location, name))
    remaining = {each.name for each in files.entries(location)}
    if remaining & set(names):
        raise OSError(f"{', '.join(sorted(remaining & set(names)))} could not be removed from {location}")
    client.api.mark_cleaned(entry.info)
    return names


def _removable(client: Client, entry: Entry, listing: Listing, now: ValidTxnList) -> Removable:
    seen = cleaner_transactions(now)
    _, lists = snapshot(client.api, [f"{entry.table.database}.{entry.table.table}"], None, seen)
    for ids in lists.values():
        write_ids = CompactorWriteIds.of(ids, entry.highest_write_id)
        return removable(listing, write_ids, seen)
    return Removable((), ())
