"""Bit vectors: those of Hive's own classes are read, written, merged and estimated with the same results."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from metastored.hive.statistics.ndv import BitVectorError, FMSketch, HyperLogLog, Sketch, _number, merged, parse, read
from tests.support.apache import run_with_hive_3_1


class Line(NamedTuple):
    """One line of the program: a sketch, or (`other` is a number) two merged; and Hive's results."""

    kind: str
    one: str
    other: str
    estimate: int
    data: bytes


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    result = []
    for text in run_with_hive_3_1("BitVectors").splitlines():
        kind, one, other, estimate, data = text.split()
        result.append(Line(kind, one, other, int(estimate), bytes.fromhex(data)))
    assert len(result) == 33 + 242 + 11
    return result


def _single(lines: list[Line]) -> dict[tuple[str, str], Sketch]:
    return {(line.kind, line.one): parse(line.data) for line in lines if line.other == "-"}


@pytest.mark.apache
def test_the_bytes_of_a_sketch_are_those_that_hive_writes(lines: list[Line]) -> None:
    for line in lines:
        if line.kind != "hll14" or line.other != "-":
            assert parse(line.data).serialize() == line.data, line[:4]


@pytest.mark.apache
def test_the_estimate_is_hives(lines: list[Line]) -> None:
    for line in lines:
        if line.kind != "hll14" or line.other != "-":
            assert parse(line.data).estimate() == line.estimate, line[:4]


@pytest.mark.apache
def test_two_sketches_merge_into_what_hive_makes_of_them(lines: list[Line]) -> None:
    single = _single(lines)
    for line in lines:
        if line.other != "-" and line.kind != "hll14":
            both = merged([single[line.kind, line.one], single[line.kind, line.other]])
            assert both is not None
            assert both.serialize() == line.data, line[:4]


@pytest.mark.apache
def test_a_finer_sketch_is_merged_with_the_registers_of_the_coarser(lines: list[Line]) -> None:
    single = _single(lines)
    for line in lines:
        if line.other != "-" and line.kind == "hll14":
            coarse = merged([single[line.kind, line.one]])
            assert isinstance(coarse, HyperLogLog)
            assert coarse.estimate() == line.estimate, line[:4]
            again = parse(line.data)
            assert isinstance(again, HyperLogLog) and again.registers == coarse.registers


@pytest.mark.apache
def test_sketches_of_different_kinds_do_not_merge(lines: list[Line]) -> None:
    single = _single(lines)
    assert merged([single["hll", "0"], single["fm", "0"]]) is None
    assert merged([single["fm", "0"], single["hll", "0"]]) is None
    assert merged([single["hll", "0"], None]) is None


def test_nothing_merged_is_nothing() -> None:
    assert merged([]) is None


def test_an_empty_sketch_counts_one_as_hive_avoids_zero() -> None:
    assert HyperLogLog().estimate() == 1
    assert parse(HyperLogLog().serialize()) == HyperLogLog()


@pytest.mark.parametrize("width", range(1, 9))
def test_registers_of_any_width_survive_writing_and_reading(width: int) -> None:
    highest = min((1 << width) - 1, 61)
    registers = bytes((at * 7) % (highest + 1) for at in range(1024))
    sketch = HyperLogLog(registers=registers, packed=width < 7)
    result = parse(sketch.serialize())
    assert isinstance(result, HyperLogLog)
    assert (result.registers, result.packed) == (registers, sketch.packed)


def test_merging_many_takes_the_highest_value_of_each_register() -> None:
    parts = [HyperLogLog(registers=bytes((at * step) % 20 for at in range(1024))) for step in (1, 3, 7)]
    everything = merged(parts)
    assert isinstance(everything, HyperLogLog)
    assert everything.registers == bytes(max(at % 20, at * 3 % 20, at * 7 % 20) for at in range(1024))


def test_entries_of_a_sparse_sketch_may_be_in_any_order() -> None:
    entries = [10 << 6 | 3, 5 << 6 | 2, 700 << 6 | 1]
    numbers, last = [1, len(entries)], 0
    for entry in entries:
        numbers.append((entry - last) % 2**64)
        last = entry
    data = b"".join(map(_number, numbers))
    assert parse(b"HLL\xa0" + data) == HyperLogLog(sparse={10: 3, 5: 2, 700: 1})


def test_a_coarser_sketch_cannot_be_merged_into_a_finer_one() -> None:
    assert merged([HyperLogLog(precision=9)]) is None
    assert not HyperLogLog().can_merge(HyperLogLog(precision=9))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "begins with HLL or FM"),
        (b"{0, 1}{2}", "begins with HLL or FM"),
        (b"HLL", "too short"),
        (b"HLL\x30\x01", "precision 3"),
        (b"HLL\xa5\x01\x00", "1 bytes of registers instead of 640"),
        (b"HLL\xa0\x01\x02\x80", "inside of a number"),
        (b"FM\x10\x00\x01", "16 vectors has 5 bytes"),
        (b"FM\x00\x00", "0 vectors"),
    ],
)
def test_bytes_that_are_no_bit_vector_are_refused_with_the_reason(data: bytes, why: str) -> None:
    with pytest.raises(BitVectorError, match=why):
        parse(data)
    assert read(data) is None


def test_fm_sketches_of_different_sizes_do_not_merge() -> None:
    assert merged([FMSketch((1, 3)), FMSketch((1,))]) is None
    assert merged([FMSketch((1, 3)), FMSketch((2, 4))]) == FMSketch((3, 7))
