"""Long lists of partitions: held in memory, and streamed while others change the table."""

from __future__ import annotations

import pytest

from metastored.service.core import partition_lists, rows
from metastored.service.core.context import Context
from metastored.service.core.partition_lists import HELD, SHORT, listed
from metastored.service.partitions.get import partitioned
from metastored.store.objects.partitions import Where
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.message import Reply, Session, Stream
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.support.metastore import Metastore
from tests.support.objects import partition, storage, table

# Each test fills a table with a thousand partitions.
pytestmark = pytest.mark.slow

COUNT = 2 * SHORT + 7
ALL = Where("v1 >= :lowest", {"lowest": ""})


@pytest.fixture
def filled(metastore: Metastore, monkeypatch: pytest.MonkeyPatch) -> Metastore:
    """A table with partitions of several shapes and locations, and some without one below the table's."""
    monkeypatch.setattr(rows, "CHUNK", 4096)
    metastore.call("create_database", Database(name="d"))
    metastore.call("create_table", table("d", "p", keys="ds string"))
    parts = [partition("d", "p", (f"{number:05d}é",), parameters={"k": "v" * (number % 50)}) for number in range(COUNT)]
    parts[3] = replace(parts[3], sd=storage("z int", location="file:/elsewhere/ü"))
    metastore.call("add_partitions", tuple(parts))
    return metastore


def _stream(metastore: Metastore, condition: Where | None, limit: int = -1) -> Stream:
    ctx = Context(metastore.service, Session("test", metastore.compat, user="tester"))
    parent = partitioned(ctx, ctx.reader(), ctx.name("d"), "p")
    body = listed(ctx, parent.where, parent.row, condition, limit).body
    assert isinstance(body, Stream)
    return body


def _decoded(data: bytes) -> tuple[Partition, ...]:
    found: tuple[Partition, ...] = Reply(data).value(METHODS["get_partitions"])
    return found


@pytest.mark.parametrize("held", [HELD, 300_000, 1])
@pytest.mark.parametrize("condition", [None, ALL])
def test_a_list_has_all_partitions_and_its_length_however_many_are_held_and_wanted(
    filled: Metastore, monkeypatch: pytest.MonkeyPatch, held: int, condition: Where | None
) -> None:
    monkeypatch.setattr(partition_lists, "HELD", held)
    for limit, most in ((-1, COUNT), (SHORT + 1, SHORT + 1), (COUNT - 1, COUNT - 1), (COUNT + 1, COUNT)):
        stream = _stream(filled, condition, limit)
        assert stream.at_hand == (held == HELD)
        chunks = list(stream.chunks)
        assert len(chunks) > 1
        data = b"".join(chunks)
        assert len(data) == stream.length
        found = _decoded(data)
        assert [part.values for part in found] == [(f"{number:05d}é",) for number in range(most)]
        # A single partition is spliced by itself.
        for at in (3, 4):
            assert found[at] == filled.call("get_partition", "d", "p", found[at].values)


@pytest.mark.parametrize("held", [HELD, 1])
@pytest.mark.parametrize("written", [range(400, 600), range(COUNT - 2)])
@pytest.mark.parametrize("limit", [-1, COUNT - 1])
def test_partitions_with_write_ids_are_in_their_places_of_a_list(
    filled: Metastore, monkeypatch: pytest.MonkeyPatch, held: int, written: range, limit: int
) -> None:
    monkeypatch.setattr(partition_lists, "HELD", held)
    parts = filled.call("get_partitions", "d", "p", -1)
    changed = tuple(replace(parts[number], writeId=1 + number % 3) for number in written)
    filled.call("alter_partitions", "d", "p", changed)
    stream = _stream(filled, None, limit)
    data = b"".join(stream.chunks)
    assert len(data) == stream.length
    found = _decoded(data)
    assert len(found) == (COUNT if limit < 0 else limit)
    by_condition = _decoded(b"".join(_stream(filled, ALL, limit).chunks))
    assert found == by_condition
    for at in (written[0], written[-1], written[-1] + 1):
        assert found[at] == filled.call("get_partition", "d", "p", found[at].values)


def test_a_list_has_partitions_of_several_shapes(filled: Metastore) -> None:
    later = [partition("d", "p", (f"later{number}",)) for number in range(SHORT)]
    filled.call("add_partitions", tuple(replace(part, sd=storage("z int")) for part in later))
    found = _decoded(b"".join(_stream(filled, None).chunks))
    assert len(found) == COUNT + SHORT
    assert found == _decoded(b"".join(_stream(filled, ALL).chunks))


@pytest.mark.parametrize("held", [HELD, 1])
@pytest.mark.parametrize("condition", [None, ALL])
def test_a_list_that_is_being_sent_does_not_see_later_changes(
    filled: Metastore, monkeypatch: pytest.MonkeyPatch, held: int, condition: Where | None
) -> None:
    monkeypatch.setattr(partition_lists, "HELD", held)
    before = _decoded(b"".join(_stream(filled, condition).chunks))
    stream = _stream(filled, condition)
    data = next(stream.chunks)
    filled.call("drop_partition_by_name", "d", "p", "ds=00900é", False)
    filled.call("add_partition", partition("d", "p", ("00900a",)))
    filled.call("alter_partition", "d", "p", replace(before[-1], parameters={"changed": "x" * 999}))
    data += b"".join(stream.chunks)
    assert (len(data), _decoded(data)) == (stream.length, before)
    now = _decoded(b"".join(_stream(filled, condition).chunks))
    assert ("00900a",) in {part.values for part in now}


def test_a_list_that_is_not_read_to_its_end_frees_its_snapshot(
    filled: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_lists, "HELD", 1)
    for read in range(3):
        stream = _stream(filled, None)
        for _ in range(read):
            next(stream.chunks)
        stream.close()
    filled.call("drop_partition_by_name", "d", "p", "ds=00000é", False)
    assert len(_decoded(b"".join(_stream(filled, None).chunks))) == COUNT - 1
