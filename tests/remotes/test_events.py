"""Events of tables of a remote: they are in the remote's own log, under its own names, and never in the local one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import metastored
from metastored.wire.generated.notifications import (
    FireEventRequest,
    FireEventRequestData,
    InsertEventRequestData,
    NotificationEvent,
    NotificationEventRequest,
)
from tests.support.waggle_dance import Federation, federation

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def servers() -> Iterator[Federation]:
    with federation() as found:
        yield found


@pytest.fixture
def both(servers: Federation) -> Iterator[Federation]:
    yield servers
    servers.clean()


def newest(client: metastored.Client) -> int:
    return client.api.get_current_notificationEventId().eventId or 0


def events(client: metastored.Client, after: int) -> list[NotificationEvent]:
    found = client.api.get_next_notification(NotificationEventRequest(lastEvent=after)).events
    return list(found or ())


def test_an_event_of_a_remote_table_is_fired_at_the_remote_under_its_own_name(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_", access="write")
    here, there = newest(both.here), newest(both.there)
    inserted = FireEventRequestData(insertData=InsertEventRequestData(filesAdded=("a",)))
    both.here.api.fire_listener_event(
        FireEventRequest(successful=True, data=inserted, dbName="waggle_remote_database", tableName="remote_table")
    )
    (fired,) = events(both.there, there)
    assert (fired.eventType, fired.dbName, fired.tableName) == ("INSERT", "remote_database", "remote_table")
    assert "waggle_" not in str(fired.message)
    assert events(both.here, here) == []


def test_a_write_through_a_remote_is_an_event_of_the_remote_only(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_", access="write")
    here, there = newest(both.here), newest(both.there)
    both.here.create_table(metastored.table("waggle_remote_database.fresh", {"id": "bigint"}))
    (created,) = events(both.there, there)
    assert (created.eventType, created.dbName, created.tableName) == ("CREATE_TABLE", "remote_database", "fresh")
    assert "waggle_" not in str(created.message)
    assert events(both.here, here) == []


def test_the_definition_of_a_remote_is_an_event_of_the_local_log(both: Federation) -> None:
    here, there = newest(both.here), newest(both.there)
    both.sql("CREATE REMOTE DATABASE far CONNECTED TO remote_database WITH DBPROPERTIES (URIS)")
    (created,) = events(both.here, here)
    assert (created.eventType, created.dbName) == ("CREATE_DATABASE", "far")
    assert events(both.there, there) == []
