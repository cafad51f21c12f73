"""Hive's HyperLogLog, filled from Arrow arrays by numpy: the hash of each value, and the registers that it sets.

Hive hashes integers, dates and seconds as eight bytes, floating point numbers and decimals as the bits of a double, and
strings as UTF-8, all with its own variant of Murmur3. The result is `hive.statistics.ndv.HyperLogLog`, which merges,
estimates and serializes. Nulls are removed by the caller.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from metastored.hive.statistics.ndv import PRECISION, HyperLogLog

Hashes = npt.NDArray[np.uint64]

_SEED: Final = np.uint64(104729)
_C1, _C2 = np.uint64(0x87C37B91114253D5), np.uint64(0x4CF5AD432745937F)
_FIVE, _ADDED = np.uint64(5), np.uint64(0x52DCE729)
_MIX1, _MIX2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_ONE: Final = np.uint64(1)
_SPARSE_MASK: Final = np.uint64((1 << 25) - 1)
_VALUE_BITS: Final = np.uint64(6)
_MOST_SPARSE: Final = ((1 << PRECISION) * 6 // 8) // 5
_HIGHEST: Final = 63


def _rotated(values: Hashes, bits: int) -> Hashes:
    return (values << np.uint64(bits)) | (values >> np.uint64(64 - bits))


def _mixed(values: Hashes) -> Hashes:
    values = (values ^ (values >> np.uint64(33))) * _MIX1
    values = (values ^ (values >> np.uint64(33))) * _MIX2
    return values ^ (values >> np.uint64(33))


def hash_longs(values: npt.NDArray[Any]) -> Hashes:
    """Hive's Murmur3.hash64 of 64-bit numbers; of doubles, pass their bits."""
    block = np.ascontiguousarray(values, np.int64).byteswap().view(np.uint64)
    block = _rotated(block * _C1, 31) * _C2
    return _mixed((_rotated(_SEED ^ block, 27) * _FIVE + _ADDED) ^ np.uint64(8))


def hash_doubles(values: npt.NDArray[np.float64]) -> Hashes:
    """The hashes of Java's doubleToLongBits, which has one NaN."""
    bits = np.ascontiguousarray(values, np.float64).view(np.int64)
    not_numbers = np.isnan(values)
    if not_numbers.any():
        bits = np.where(not_numbers, np.int64(0x7FF8000000000000), bits)
    return hash_longs(bits)


def hash_texts(data: npt.NDArray[np.uint8], offsets: npt.NDArray[Any]) -> Hashes:
    """The hashes of texts or binaries in Arrow's layout: all bytes, and where each value starts and ends."""
    starts, ends = offsets[:-1].astype(np.int64), offsets[1:].astype(np.int64)
    lengths = ends - starts
    padded = np.concatenate([data, np.zeros(16, np.uint8)])
    # Each position as the eight bytes from there on.
    words: Hashes = np.ndarray(shape=(len(padded) - 8,), dtype="<u8", buffer=padded.data, strides=(1,))
    hashes = np.full(len(lengths), _SEED, np.uint64)
    blocks = lengths >> 3
    active = np.flatnonzero(blocks)
    number = 0
    while len(active):
        block = _rotated(words[starts[active] + 8 * number] * _C1, 31) * _C2
        hashes[active] = _rotated(hashes[active] ^ block, 27) * _FIVE + _ADDED
        number += 1
        active = active[blocks[active] > number]
    rest = lengths & 7
    tails = np.flatnonzero(rest)
    if len(tails):
        mask = (_ONE << (rest[tails].astype(np.uint64) * np.uint64(8))) - _ONE
        block = words[starts[tails] + (blocks[tails] << 3)] & mask
        hashes[tails] ^= _rotated(block * _C1, 31) * _C2
    return _mixed(hashes ^ lengths.astype(np.uint64))


def ranks(hashes: Hashes) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.uint8]]:
    """The register of each hash, and the value that the hash sets it to if that is higher."""
    return (hashes & np.uint64((1 << PRECISION) - 1)).astype(np.intp), _values(hashes)


def _values(hashes: Hashes) -> npt.NDArray[np.uint8]:
    rest = hashes >> np.uint64(PRECISION)
    # The number of trailing zeros is that of the ones below the lowest one.
    return np.minimum(np.bitwise_count(~rest & (rest - _ONE)) + np.uint8(1), _HIGHEST).astype(np.uint8)


class SketchBuilder:
    """A HyperLogLog to which hashes are added in arrays. It is sparse, as Hive's is, while there are few values."""

    def __init__(self) -> None:
        self._sparse: dict[int, int] | None = {}
        self._registers: npt.NDArray[np.uint8] | None = None

    def add(self, hashes: Hashes) -> None:
        if not len(hashes):
            return
        if self._sparse is not None:
            entries = np.unique(((hashes & _SPARSE_MASK) << _VALUE_BITS) | _values(hashes))
            if len(entries) <= 2 * _MOST_SPARSE:
                self._add_sparse(self._sparse, entries)
                return
            self._become_dense()
        assert self._registers is not None
        index, values = ranks(hashes)
        np.maximum.at(self._registers, index, values)

    def _add_sparse(self, sparse: dict[int, int], entries: Hashes) -> None:
        for entry in entries.tolist():
            key, value = entry >> 6, entry & _HIGHEST
            if value > sparse.get(key, 0):
                sparse[key] = value
        if len(sparse) > _MOST_SPARSE:
            self._become_dense()

    def _become_dense(self) -> None:
        registers = np.zeros(1 << PRECISION, np.uint8)
        for key, value in (self._sparse or {}).items():
            at = key & (1 << PRECISION) - 1
            registers[at] = max(int(registers[at]), value)
        self._sparse, self._registers = None, registers

    def built(self) -> HyperLogLog:
        """The sketch of everything that was added."""
        if self._registers is not None:
            return HyperLogLog(PRECISION, registers=self._registers.tobytes())
        return HyperLogLog(PRECISION, dict(self._sparse or {}))
