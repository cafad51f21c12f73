"""`metastored events`: the notification log of a metastore, and new events as they come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from metastored.cli.errors import complain, explained
from metastored.cli.options import Output, Server, options
from metastored.cli.output import dumped, moment
from metastored.cli.stopping import stopping
from metastored.errors import TransportError

if TYPE_CHECKING:
    from metastored.client._sync.client import Client
    from metastored.wire.generated.notifications import NotificationEvent

BATCH: Final = 1000
"""Events in one call."""

Follow = Annotated[bool, typer.Option("--follow", "-f", help="Print new events as they come, until Ctrl-C.")]
After = Annotated[int | None, typer.Option(metavar="ID", min=0, help="Only events after this one.")]
Last = Annotated[int, typer.Option(metavar="N", min=0, help="Without --after: only the last events.")]
Interval = Annotated[float, typer.Option(metavar="SECONDS", min=0.05, help="With --follow: the time between calls.")]
Messages = Annotated[bool, typer.Option("--messages", help="Print the message of each event too.")]


@explained
@options(server=Server.read)
def events(
    server: Server,
    follow: Follow = False,
    after: After = None,
    last: Last = 20,
    interval: Interval = 1.0,
    messages: Messages = False,
    output: Output = "text",
) -> None:
    """Print the events of the notification log, one on each line.

    JSON has an object on each line. With --follow, a metastore that cannot be reached is reported and called again
    after the interval.
    """
    with server.connect() as client, stopping() as stopped:
        newest = client.api.get_current_notificationEventId().eventId or 0
        at = max(newest - last, 0) if after is None else after
        while not stopped.is_set():
            try:
                for each in _next(client, at):
                    if stopped.is_set():
                        return
                    at = each.eventId or at
                    typer.echo(_as_json(each, messages) if output == "json" else _as_text(each, messages))
            except TransportError as error:
                if not follow:
                    raise
                complain(error)
            if not follow:
                return
            stopped.wait(interval)


def _next(client: Client, after: int) -> Iterator[NotificationEvent]:
    """The events after an id that there are now."""
    from metastored.wire.generated.notifications import NotificationEventRequest

    while True:
        events = client.api.get_next_notification(NotificationEventRequest(after, BATCH)).events or ()
        yield from events
        if len(events) < BATCH:
            return
        after = events[-1].eventId or after


def _as_text(event: NotificationEvent, messages: bool) -> str:
    name = ".".join(part for part in (event.dbName, event.tableName) if part)
    line = f"{event.eventId} {moment(event.eventTime)} {event.eventType} {name}".rstrip()
    return f"{line}\n  {event.message}" if messages and event.message else line


def _as_json(event: NotificationEvent, messages: bool) -> str:
    from metastored.model.plain import to_dict

    return dumped({key: value for key, value in to_dict(event).items() if messages or key != "message"})
