"""The notification log: a follower asks for the next thousand events, for the first time and again.

Apache's metastore keeps a log only with the listener that `make peers` brings; without it the rows are left out, and
that is said. skep renders a message when it is first asked for and then remembers it, so both times are measured.
"""

from __future__ import annotations

import time

from benchmarks.client import Client, median_time, request_for
from benchmarks.objects import partition, table
from benchmarks.peers import Peer, apache, skep_on_sqlite
from benchmarks.rows import Results
from skep.wire.generated.databases import Database
from skep.wire.generated.notifications import NotificationEventRequest
from tests.support.apache import MissingPeer

DB = "bench_events"
EVENTS = 1_000


def measure(peer: Peer, events: int) -> tuple[float, float]:
    client = Client(peer.host, peer.port)
    client.call("create_database", Database(name=DB))
    client.call("create_table", table(DB, "t", partitioned=True))
    first_event = client.call("get_current_notificationEventId").eventId
    for number in range(events):
        client.call("add_partition", partition(DB, "t", number))
    request = NotificationEventRequest(lastEvent=first_event, maxEvents=events)
    start = time.perf_counter()
    found = client.call("get_next_notification", request).events
    first = time.perf_counter() - start
    client.close()
    if len(found) != events:
        raise RuntimeError(f"{peer.name} told of {len(found)} events, not of {events}")
    return first, median_time(peer.host, peer.port, request_for("get_next_notification", request), 20)


def run(results: Results, quick: bool) -> None:
    events = 100 if quick else EVENTS
    what = f"get_next_notification, {events:,} events"
    try:
        with apache(events=True) as peer:
            their_first, theirs = measure(peer, events)
    except MissingPeer as reason:
        print(f"left out: {what}: {reason}")
        return
    with skep_on_sqlite() as peer:
        first, ours = measure(peer, events)
    results.faster(f"{what}, first", first, their_first, least=1, aim=10)
    results.faster(f"{what}, again", ours, theirs, least=10, aim=10)
