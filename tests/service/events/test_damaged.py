"""Events whose bytes metastored has not written, as a backup of somebody else may have them: errors name the event."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metastored.errors import StoreError
from metastored.hive.generation import Generation
from metastored.service.core.changes import EVENT_FORMAT, MANY, SHARED, fields, pack
from metastored.service.events.messages import BY_TYPE, rendered
from metastored.store.objects import events
from metastored.store.objects.events import EventRow
from metastored.wire.codec.binary import pack_i
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.support.examples import examples
from tests.support.metastore import Metastore
from tests.support.objects import partition, table


@pytest.fixture
def written(metastore: Metastore) -> list[EventRow]:
    """Events of several types and of all formats."""
    metastore.call("create_database", Database(name="d"))
    metastore.call("create_table", table("d", "p", keys="ds string"))
    parts = tuple(partition("d", "p", (str(number),)) for number in range(MANY))
    metastore.call("add_partitions", parts)
    stored: tuple[Partition, ...] = metastore.call("get_partitions", "d", "p", -1)
    changed = tuple(replace(each, parameters={"k": "v"}) for each in stored)
    metastore.call("alter_partition", "d", "p", changed[0])
    metastore.call("alter_partitions", "d", "p", changed)
    metastore.call("drop_partition", "d", "p", ("1",), False)
    rows = list(events.since(metastore.database.reader(), 0))
    assert {row.fmt for row in rows} == {1, 2, 3}
    return rows


def read(row: EventRow) -> None:
    """As clients of all versions get it."""
    for generation in (Generation.HIVE_2_3, Generation.HIVE_4_0):
        rendered(row, generation)


@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_changed_bytes_are_read_or_the_event_is_named(written: list[EventRow], data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(written))
    body = bytearray(row.body)
    for at in data.draw(st.lists(st.integers(0, len(body) - 1), min_size=1, max_size=4)):
        body[at] = data.draw(st.integers(0, 255))
    del body[data.draw(st.integers(0, len(body))) :]
    type = data.draw(st.sampled_from([row.type, *BY_TYPE]))
    with suppress(StoreError):
        read(row._replace(body=bytes(body), type=type))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (pack_i(-4) * 2, "can't decode"),
        (pack_i(0) + pack_i(-4), "its parts are cut short"),
        (pack_i(1) + b"x", "its parts are cut short"),
        (pack_i(1) + b"x" + pack_i(9) + b"short", "its parts are cut short"),
        (b"\0", "its parts are cut short"),
        (pack([("fields", b"[]")]), "its fields are not an object of JSON"),
        (b"", "it keeps no table"),
        (pack([("table", b"\x0c")]), "Table ends too early"),
        (pack([fields(isTruncateOp=True), ("table", b"\x08\x00\x01")]), "Table ends too early"),
    ],
)
def test_the_error_says_what_is_wrong(written: list[EventRow], body: bytes, why: str) -> None:
    with pytest.raises(StoreError, match=rf"event \d+ \(CREATE_TABLE\) cannot be read: .*{why}"):
        read(written[0]._replace(type="CREATE_TABLE", fmt=EVENT_FORMAT, body=body))


def test_an_unknown_type_and_an_unknown_format_are_named(written: list[EventRow]) -> None:
    with pytest.raises(StoreError, match="has the type 'DANCE'"):
        read(written[0]._replace(type="DANCE"))
    with pytest.raises(StoreError, match="it has format 9"):
        read(written[0]._replace(fmt=9))
    with pytest.raises(StoreError, match="lacks the parts that events share"):
        read(written[0]._replace(fmt=SHARED, body=b""))
