"""The events of each change: every step of this script is followed by a read of the notification log.

It needs servers that keep one. Texts inside of messages are parsed, since the order of their fields is a run's own, and
ids are counted from where the log began.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from metastored.wire.generated.common import FieldSchema, SQLPrimaryKey
from metastored.wire.generated.constraints import AddPrimaryKeyRequest, DropConstraintRequest
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function
from metastored.wire.generated.notifications import (
    FireEventRequest,
    FireEventRequestData,
    InsertEventRequestData,
    NotificationEventRequest,
    NotificationEventsCountRequest,
)
from metastored.wire.generated.partitions import AddPartitionsRequest, DropPartitionsRequest, RequestPartsSpec
from metastored.wire.structs import replace
from tests.differential.peer import Peer
from tests.differential.probes.objects import with_fields, with_parameters, with_storage
from tests.differential.script import ALL, SINCE_3_1, EditPartition, EditTable, Probe, ask
from tests.support.objects import columns, partition, table

DB = "evt"
BEFORE = 1_000_000
"""Stands for the id at which the log began, in arguments."""

_last: dict[int, int] = {}
_first: dict[int, int] = {}


@dataclass(frozen=True)
class Begin:
    """From here on events count."""

    label: str = "where the log begins"
    versions: Sequence[str] = ALL
    kind: ClassVar[str] = ""

    def run(self, peer: Peer) -> str:
        # Hive's log begins with its first event.
        peer.ask("create_database", Database(name="evt_first"))
        result = peer.ask("get_current_notificationEventId").eventId
        _first[id(peer)] = _last[id(peer)] = result
        return "counted"


def parsed(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("{"):
        return parsed(json.loads(value))
    if isinstance(value, dict):
        return {key: parsed(inner) for key, inner in value.items()}
    return tuple(map(parsed, value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class Leaves:
    """A probe, and its events in the log."""

    step: Probe
    kind: ClassVar[str] = "leaves: "

    @property
    def label(self) -> str:
        return f"{self.step.kind}{self.step.label}"

    @property
    def versions(self) -> Sequence[str]:
        return self.step.versions

    def run(self, peer: Peer) -> str:
        reply = self.step.run(peer)
        result = peer.ask("get_next_notification", NotificationEventRequest(lastEvent=_last[id(peer)])).events
        before = _last[id(peer)]
        if result:
            _last[id(peer)] = result[-1].eventId
        shown = [
            (
                event.eventId - before,
                event.eventType,
                None if peer.version == "2.3" else event.catName,
                event.dbName,
                event.tableName,
                event.messageFormat,
                parsed(event.message),
            )
            for event in result
        ]
        return peer.shown((reply[:1] == "!", shown))


@dataclass(frozen=True)
class Since:
    """A call that names an event, counted from where the log began."""

    name: str
    method: str
    request: Any
    versions: Sequence[str] = ALL
    kind: ClassVar[str] = "since: "

    @property
    def label(self) -> str:
        return f"{self.method}: {self.name}"

    def run(self, peer: Peer) -> str:
        first = _first[id(peer)]
        moved = {
            name: getattr(self.request, name) + first
            for name in ("lastEvent", "fromEventId", "toEventId")
            if getattr(self.request, name, None) is not None
        }
        line = peer.answer(self.method, replace(self.request, **moved))
        if self.method != "get_next_notification" or line.startswith("!"):
            return line
        result = peer.ask(self.method, replace(self.request, **moved)).events
        return peer.shown([(event.eventId - first, event.eventType, event.tableName) for event in result])


def leaves(label: str, method: str, *args: Any, versions: Sequence[str] = ALL) -> Leaves:
    return Leaves(ask(label, method, *args, versions=versions))


def fire(label: str, name: str, *values: str) -> Leaves:
    data = FireEventRequestData(insertData=InsertEventRequestData(filesAdded=("{X}/one",), filesAddedChecksum=("",)))
    request = FireEventRequest(True, data, DB, name, values or None)
    # 2.3 breaks off the connection.
    return leaves(label, "fire_listener_event", request, versions=SINCE_3_1)


def next_(label: str, last: int, **other: Any) -> Since:
    return Since(label, "get_next_notification", NotificationEventRequest(lastEvent=last, **other))


def count(label: str, **other: Any) -> Since:
    request = replace(NotificationEventsCountRequest(fromEventId=0, dbName=DB), **other)
    return Since(label, "get_notification_events_count", request, SINCE_3_1)


WIDER = (*columns("a int, b string"), FieldSchema("c", "map<string,int>", "new"))

SCRIPT: list[Probe] = [
    Begin(),
    leaves("new", "create_database", Database(name=DB, description='quotes " and \\ and é')),
    leaves("taken", "create_database", Database(name=DB)),
    leaves("plain", "create_table", table(DB, "t")),
    leaves("taken", "create_table", table(DB, "t")),
    leaves("partitioned", "create_table", table(DB, "p", keys="ds string, h int")),
    Leaves(EditTable("a property", DB, "t", with_parameters(k="v"))),
    Leaves(EditTable("a column", DB, "t", with_storage(cols=WIDER))),
    Leaves(EditTable("another name", DB, "t", with_fields(tableName="t2"))),
    leaves("one", "add_partition", partition(DB, "p", ("1", "1"))),
    leaves("taken", "add_partition", partition(DB, "p", ("1", "1"))),
    leaves("two", "add_partitions", (partition(DB, "p", ("2", "1")), partition(DB, "p", ("2", "2")))),
    leaves(
        "two by request",
        "add_partitions_req",
        AddPartitionsRequest(DB, "p", (partition(DB, "p", ("1", "1")), partition(DB, "p", ("3", "1"))), True, False),
    ),
    leaves("by name", "append_partition_by_name", DB, "p", "ds=4/h=1"),
    Leaves(EditPartition("a property", DB, "p", ("1", "1"), with_parameters(k="v"))),
    Leaves(EditPartition("other values", DB, "p", ("1", "1"), with_fields(values=("9", "9")))),
    fire("a table", "t2"),
    fire("a partition", "p", "2", "1"),
    fire("a missing table", "nope"),
    leaves("one", "drop_partition", DB, "p", ("9", "9"), True),
    leaves("plain", "create_function", Function("f", DB, "x.Y", "o", 1, 1, 1, ())),
    leaves("plain", "drop_function", DB, "f"),
    leaves(
        "plain",
        "add_primary_key",
        AddPrimaryKeyRequest((SQLPrimaryKey(DB, "t2", "a", 1, "pke", True, False, True, catName="hive"),)),
        versions=SINCE_3_1,
    ),
    leaves("plain", "drop_constraint", DropConstraintRequest(DB, "t2", "pke"), versions=SINCE_3_1),
    leaves("plain", "drop_table", DB, "t2", True),
    leaves("missing", "drop_table", DB, "t2", True),
    next_("all of them", 0),
    next_("at most two", 0, maxEvents=2),
    next_("since the third", 3, maxEvents=2),
    next_("from the future", BEFORE),
    count("all"),
    count("of another database", dbName="nodb"),
    count("since the third", fromEventId=3),
    count("from the future", fromEventId=BEFORE),
    # After the steps that count events: 2.3 has none of the first, and Hive one for each partition of the second.
    leaves("changed", "alter_database", DB, Database(name=DB, parameters={"a": "b"})),
    leaves(
        "two by request",
        "drop_partitions_req",
        DropPartitionsRequest(DB, "p", RequestPartsSpec(names=("ds=2/h=1", "ds=2/h=2")), True, True),
    ),
    leaves("with all", "drop_database", DB, True, True),
    leaves("the first", "drop_database", "evt_first", True, True),
]
