"""The client's document, appendix B: what it recommends for changes by others."""

from __future__ import annotations

import time

import pytest

import metastored
from metastored.client.cache import CacheSettings
from tests.specs.conftest import Server

pytestmark = pytest.mark.slow

SOON = 20.0


def test_B_a_changes_by_others_are_seen_at_once_where_the_server_has_events_else_after_the_time_to_live(
    server: Server, client: metastored.Client, db: str
) -> None:
    client.create_table(metastored.table(f"{db}.t", {"id": "bigint"}))
    # Apache's servers keep no events unless a listener is configured.
    settings = CacheSettings(events_every=0.1) if server.is_own else CacheSettings(ttl=0.3, events_every=0.1)
    with server.client(cache=settings) as reader:
        assert (reader.table(f"{db}.t").parameters or {}).get("a") is None
        client.set_parameters(f"{db}.t", a="b")
        deadline = time.monotonic() + SOON
        while (reader.table(f"{db}.t").parameters or {}).get("a") != "b":
            assert time.monotonic() < deadline, "the change was not seen"
            time.sleep(0.05)
