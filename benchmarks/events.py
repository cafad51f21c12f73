"""The notification log: a follower requests the next thousand events, for the first time and again.

Apache's metastore keeps a log only with the listener that `make peers` installs; without it the rows are skipped with
a message. metastored renders a message at its first request and then caches it, so both times are measured.
"""

from __future__ import annotations

import statistics
import time

from benchmarks.client import Client, median_time, request_for
from benchmarks.objects import partition, table
from benchmarks.peers import Peer, apache, metastored_on_sqlite
from benchmarks.rows import Results
from metastored.wire.generated.databases import Database
from metastored.wire.generated.notifications import NotificationEventRequest
from metastored.wire.methods import METHODS
from tests.support.apache import MissingPeer

DB = "bench_events"
EVENTS = 1_000
BATCHES = 7


def measure(peer: Peer, events: int) -> tuple[float, float]:
    client = Client(peer.host, peer.port)
    client.call("create_database", Database(name=DB))
    client.call("create_table", table(DB, "t", partitioned=True))
    first_times: list[float] = []
    for batch in range(BATCHES):
        before = client.call("get_current_notificationEventId").eventId
        for number in range(batch * events, (batch + 1) * events):
            client.call("add_partition", partition(DB, "t", number))
        request = NotificationEventRequest(lastEvent=before, maxEvents=events)
        start = time.perf_counter()
        reply = client.request("get_next_notification", request)
        first_times.append(client.replied_at - start)
        returned = len(reply.value(METHODS["get_next_notification"]).events)
        if returned != events:
            raise RuntimeError(f"{peer.name} returned {returned} events, not {events}")
    client.close()
    again = median_time(peer.host, peer.port, request_for("get_next_notification", request), 20)
    return statistics.median(first_times), again


def run(results: Results, quick: bool) -> None:
    events = 100 if quick else EVENTS
    what = f"get_next_notification, {events:,} events"
    try:
        with apache(events=True) as peer:
            their_first, theirs = measure(peer, events)
    except MissingPeer as reason:
        print(f"left out: {what}: {reason}")
        return
    with metastored_on_sqlite() as peer:
        first, ours = measure(peer, events)
    # A follower reads each event once: the first time has the same limit.
    results.faster(f"{what}, first", first, their_first, least=10, aim=20)
    results.faster(f"{what}, again", ours, theirs, least=10, aim=20)
