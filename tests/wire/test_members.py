"""Many partitions of a spec that are read at once: as by their usual reader, or not at all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metastored.wire.codec import binary
from metastored.wire.generated.common import PrincipalPrivilegeSet
from metastored.wire.generated.partitions import PartitionWithoutSD
from metastored.wire.replies.members import MAX_VALUES, read_members
from metastored.wire.structs import replace
from tests.support.examples import examples

BEHIND = b"\x0c\x00\x02\x00\x00\x00"
_texts = st.text(max_size=12) | st.sampled_from(
    ["", "\x00", "\x08\x00\x02", "ä" * 130, "x" * 255, "x" * 256, "\x0b\x00\x04"]
)
_numbers = st.integers(-(2**31), 2**31 - 1)
_members = st.builds(
    PartitionWithoutSD,
    st.lists(_texts, min_size=2, max_size=2).map(tuple),
    _numbers | st.none(),
    _numbers,
    _texts | st.none(),
    st.dictionaries(_texts, _texts, max_size=3) | st.none(),
)


def members(count: int, **other: Any) -> list[PartitionWithoutSD]:
    usual = [
        PartitionWithoutSD((f"{at}", "größe"), at * 10**7, -at, f"/k={at}", {"at": f"{at % 3}", "": ""})
        for at in range(count)
    ]
    return [replace(each, **other) for each in usual]


def encoded(found: list[PartitionWithoutSD]) -> bytes:
    return b"".join(map(binary.encode, found))


def check(given: list[PartitionWithoutSD], data: bytes, most: int) -> int:
    """What was read is the beginning of what was encoded; returns the number."""
    found, end = read_members(b"xyz" + data, 3, most)
    assert found == given[: len(found)]
    assert end == 3 + len(encoded(given[: len(found)]))
    return len(found)


@pytest.mark.parametrize("keys", [1, 2, 3, MAX_VALUES])
def test_almost_all_are_read_at_once(keys: int) -> None:
    given = members(100, values=tuple(f"v{at}" for at in range(keys)))
    assert check(given, encoded(given) + BEHIND, 100) == 100
    assert check(given, encoded(given) + BEHIND, 60) == 60
    assert check(given, encoded(given), 10**6) >= 98


@pytest.mark.parametrize("cut", range(1, 200))
def test_a_piece_may_end_anywhere(cut: int) -> None:
    given = members(30)
    data = encoded(given)
    assert check(given, data[:-cut], 30) <= 30 - 1


@pytest.mark.parametrize(
    "unusual",
    [
        {"values": ()},
        {"values": None},
        {"values": tuple(map(str, range(MAX_VALUES + 1)))},
        {"createTime": None},
        {"relativePath": None},
        {"relativePath": "x" * 256},
        {"parameters": None},
        {"parameters": {"a": "\x00"}},
        {"privileges": PrincipalPrivilegeSet()},
    ],
)
def test_what_is_unusual_is_left_to_the_usual_reader(unusual: dict[str, Any]) -> None:
    given = members(40, **unusual)
    assert check(given, encoded(given) + BEHIND, 40) == 0
    mixed = [*members(40), *given]
    assert check(mixed, encoded(mixed) + BEHIND, 80) <= 40


def test_a_wrong_length_is_left_to_the_usual_reader() -> None:
    data = encoded(members(40))
    for old, new in ((b"\x00\x02at", b"\x00\x03at"), (b"\x05/k=20", b"\x04/k=20"), (b"\x02" + b"20", b"\x01" + b"20")):
        assert old in data
        found, _ = read_members(data.replace(old, new, 1), 0, 40)
        assert found == []


@settings(max_examples=examples(300), deadline=None)
@given(given=st.lists(_members, max_size=6), behind=st.sampled_from([b"", BEHIND, b"\x00\x00\x00\x0b\x00\x01"]))
def test_whatever_is_in_partitions_they_are_read_as_usual(given: list[PartitionWithoutSD], behind: bytes) -> None:
    many = [*members(20), *given, *members(20)]
    check(many, encoded(many) + behind, len(many))


def test_maps_are_not_shared() -> None:
    found, _ = read_members(encoded(members(40, parameters={"a": "b"})), 0, 40)
    assert found[0].parameters == found[1].parameters
    assert found[0].parameters is not found[1].parameters
