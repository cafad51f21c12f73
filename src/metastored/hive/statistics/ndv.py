"""Numbers of distinct values: the bit vectors that Hive keeps with column statistics, read, merged and estimated.

The first bytes distinguish two kinds: HyperLogLog (`HLL`), which every Hive since 3 writes, and the Flajolet-Martin
sketch (`FM`) before it. Merging two of a kind gives the sketch of the values of both, so the number for a table is
computed from those of its partitions. No value is added to a sketch here.
"""

import math
import struct
from base64 import b32decode, b32encode
from binascii import a2b_base64, b2a_base64, hexlify, unhexlify
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from metastored.hive.statistics.hll_bias import BIAS, RAW

PRECISION: Final = 10
"""Hive's statistics use 2 to the power of this many registers."""

_LOWEST, _HIGHEST = 4, 16
_SPARSE_BITS = 25
_VALUE_BITS = 6
_INT = (1 << 32) - 1
_NEIGHBOURS = 6
_THRESHOLDS = (10, 20, 40, 80, 220, 400, 900, 1800, 3100, 6500, 15500, 20000, 50000)
"""Below this many, linear counting of empty registers is better; for each precision from the lowest on."""

_HLL, _FM = b"HLL", b"FM"
_FM_BITS = 31
_FM_PHI = 0.77351


class BitVectorError(ValueError):
    """Bytes that are not a bit vector of Hive; the message has the reason."""


class Estimation(NamedTuple):
    """How the number of distinct values of several partitions is estimated. The defaults are Hive's."""

    density: bool = False
    """From the density of the values between the lowest and the highest (hive.metastore.stats.ndv.densityfunction)."""
    bit_vectors: bool = False
    """From the partitions' bit vectors, where all have one (hive.stats.fetch.bitvector)."""
    tuner: float = 0.0
    """Between the lowest possible number (0) and the highest (1) (hive.metastore.stats.ndv.tuner)."""


HIVES_ESTIMATION: Final = Estimation()
ESTIMATIONS: Final = {
    "highest": HIVES_ESTIMATION,
    "density": Estimation(density=True),
    "bit-vectors": Estimation(bit_vectors=True),
}
"""By the values of the setting `distinct_values`."""


# --- bytes ---------------------------------------------------------------------------------------------------


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, the lowest first, and the position after it."""
    number = shift = 0
    while True:
        if at >= len(data):
            raise BitVectorError(f"the bit vector ends at byte {at}, inside of a number")
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return number, at
        shift += 7


def _number(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(0x80 | value & 0x7F)
        value >>= 7
    out.append(value)
    return bytes(out)


class _Text(NamedTuple):
    """An encoding whose letters are numbers of a few bits, highest first: it unpacks and packs registers in C."""

    encode: Callable[[bytes], bytes]
    decode: Callable[[bytes], bytes]
    alphabet: bytes

    def unpack(self, data: bytes) -> bytes:
        return self.encode(data).translate(bytes.maketrans(self.alphabet, bytes(range(len(self.alphabet)))))

    def pack(self, registers: bytes) -> bytes:
        return self.decode(registers.translate(bytes.maketrans(bytes(range(len(self.alphabet))), self.alphabet)))


_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TEXTS: Mapping[int, _Text] = {
    4: _Text(hexlify, unhexlify, b"0123456789abcdef"),
    5: _Text(b32encode, b32decode, _LETTERS + b"234567"),
    6: _Text(partial(b2a_base64, newline=False), a2b_base64, _LETTERS + _LETTERS.lower() + b"0123456789+/"),
}


def _unpack(data: bytes, width: int) -> bytes:
    """Registers of `width` bits each, packed one after the other."""
    if width == 8:
        return data
    if width in _TEXTS:
        return _TEXTS[width].unpack(data)
    bits = f"{int.from_bytes(data):0{len(data) * 8}b}"
    return bytes(int(bits[at : at + width], 2) for at in range(0, len(bits), width))


def _pack(registers: bytes, width: int) -> bytes:
    if width == 8:
        return registers
    if width in _TEXTS:
        return _TEXTS[width].pack(registers)
    bits = "".join(f"{value:0{width}b}" for value in registers)
    return int(bits, 2).to_bytes(len(bits) // 8)


def _float32(value: float) -> float:
    """Rounded as Java's float: Hive computes one constant in single precision."""
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded


# --- HyperLogLog ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HyperLogLog:
    """`sparse` (25 bits of the hash, and a register's value) while there are few values, then `registers`."""

    precision: int = PRECISION
    sparse: Mapping[int, int] = field(default_factory=dict)
    registers: bytes = b""
    """Empty while it is sparse."""
    packed: bool = True
    """Whether registers are written in as few bits as their highest value needs."""

    @classmethod
    def parse(cls, data: bytes) -> "HyperLogLog":
        if len(data) < 5:
            raise BitVectorError(f"a HyperLogLog of {len(data)} bytes is too short")
        precision, encoding = data[3] >> 4, data[3] & 7
        if precision < _LOWEST:
            raise BitVectorError(f"a HyperLogLog has precision {precision}; {_LOWEST} to {_HIGHEST} can be read")
        _, at = _read_number(data, 4)
        if encoding == 0:
            return cls(precision, _parse_sparse(data, at))
        width = 8 if encoding == 7 else encoding
        size = (width << precision) // 8
        if len(data) - at < size:
            raise BitVectorError(f"a HyperLogLog has {len(data) - at} bytes of registers instead of {size}")
        return cls(precision, registers=_unpack(data[at : at + size], width), packed=encoding != 7)

    def serialize(self) -> bytes:
        width = 8 if not self.packed else max(self.registers, default=0).bit_length()
        head = _HLL + bytes([self.precision << 4 | (7 if width > _VALUE_BITS else width)]) + _number(self.estimate())
        if width:
            return head + _pack(self.registers, width if width <= _VALUE_BITS else 8)
        out, last = [head, _number(len(self.sparse))], 0
        for key in sorted(self.sparse):
            entry = key << _VALUE_BITS | self.sparse[key]
            out.append(_number(entry - last))
            last = entry
        return b"".join(out)

    def can_merge(self, other: "Sketch") -> bool:
        return isinstance(other, HyperLogLog) and self.precision <= other.precision

    def merge(self, others: Iterable["HyperLogLog"]) -> "HyperLogLog":
        """Merges all of them, at this one's precision, which must be the lowest."""
        everyone = [self, *(one._squashed(self.precision) for one in others)]
        sparse: dict[int, int] = {}
        for one in everyone:
            for key, value in one.sparse.items():
                if value > sparse.get(key, 0):
                    sparse[key] = value
        dense = [one.registers for one in everyone if one.registers]
        if not dense and len(sparse) <= self._most_sparse:
            return HyperLogLog(self.precision, sparse)
        if sparse:
            dense.append(self._spread(sparse))
        registers = dense[0] if len(dense) == 1 else bytes(map(max, *dense))
        return HyperLogLog(self.precision, registers=registers, packed=all(one.packed for one in everyone))

    def estimate(self) -> int:
        """The number of distinct values, at least 1."""
        return max(1, self._count())

    def _count(self) -> int:
        if not self.registers:
            size = 1 << _SPARSE_BITS
            return _linear(size, size - len(self.sparse))
        size = 1 << self.precision
        alpha = _float32(_float32(0.7213) / _float32(1 + _float32(_float32(1.079) / size)))
        alpha = _float32(_float32(alpha * size) * size)
        counts = [self.registers.count(value) for value in range(max(self.registers) + 1)]
        count = int(alpha * (1.0 / sum(number * 2.0**-value for value, number in enumerate(counts))))
        if count <= 5 * size:
            count -= _bias(count, self.precision)
        by_zeros = _linear(size, counts[0]) if counts[0] else count
        return by_zeros if by_zeros < _THRESHOLDS[self.precision - _LOWEST] else count

    @property
    def _most_sparse(self) -> int:
        return ((1 << self.precision) * _VALUE_BITS // 8) // 5

    def _spread(self, sparse: Mapping[int, int]) -> bytes:
        """The registers of sparse entries."""
        registers = bytearray(1 << self.precision)
        mask = len(registers) - 1
        for key, value in sparse.items():
            if value > registers[key & mask]:
                registers[key & mask] = value
        return bytes(registers)

    def _squashed(self, precision: int) -> "HyperLogLog":
        """With fewer registers: some bits of a register's number become bits of its value."""
        if precision == self.precision:
            return self
        if precision > self.precision:
            raise BitVectorError(f"a HyperLogLog of precision {self.precision} cannot be merged into {precision}")
        entries = enumerate(self.registers) if self.registers else self.sparse.items()
        registers = bytearray(1 << precision)
        mask = len(registers) - 1
        for at, value in entries:
            if value:
                rest = (1 << (self.precision + value - 1) | at) >> precision
                zeros = (rest & -rest).bit_length()
                if zeros > registers[at & mask]:
                    registers[at & mask] = zeros
        return HyperLogLog(precision, registers=bytes(registers))


def _parse_sparse(data: bytes, at: int) -> dict[int, int]:
    number, at = _read_number(data, at)
    sparse: dict[int, int] = {}
    entry = 0
    for _ in range(number):
        delta, at = _read_number(data, at)
        # Hive 4 writes entries in the order of a hash map: a lower one after a higher one has a negative delta.
        entry = (entry + delta) & _INT
        sparse[entry >> _VALUE_BITS] = entry & (1 << _VALUE_BITS) - 1
    return sparse


def _linear(size: int, empty: int) -> int:
    """How many values leave so many of the registers empty."""
    return math.floor(size * math.log(size / empty) + 0.5)


def _bias(count: int, precision: int) -> int:
    """The bias of the raw estimate, from the nearest measurements; they were made at one precision."""
    if precision != PRECISION:
        return 0
    # A later measurement at the same distance replaces an earlier one, as in Hive's sorted map.
    by_distance = {(count - raw) ** 2: bias for raw, bias in zip(RAW, BIAS, strict=True)}
    nearest = sorted(by_distance)[:_NEIGHBOURS]
    return int(sum(by_distance[distance] for distance in nearest) / _NEIGHBOURS + 0.5)


# --- Flajolet-Martin -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FMSketch:
    """Bit sets of 31 bits, as numbers."""

    vectors: tuple[int, ...]

    @classmethod
    def parse(cls, data: bytes) -> "FMSketch":
        number = int.from_bytes(data[2:4], "little")
        if len(data) < 4 + 4 * number or number == 0:
            raise BitVectorError(f"an FM sketch of {number} vectors has {len(data)} bytes")
        return cls(struct.unpack_from(f"<{number}I", data, 4))

    def serialize(self) -> bytes:
        return _FM + struct.pack(f"<H{len(self.vectors)}I", len(self.vectors), *self.vectors)

    def can_merge(self, other: "Sketch") -> bool:
        return isinstance(other, FMSketch) and len(self.vectors) == len(other.vectors)

    def merge(self, others: Iterable["FMSketch"]) -> "FMSketch":
        merged = list(self.vectors)
        for other in others:
            merged = [mine | theirs for mine, theirs in zip(merged, other.vectors, strict=True)]
        return FMSketch(tuple(merged))

    def estimate(self) -> int:
        ones = sum((~vector & vector + 1).bit_length() - 1 for vector in self.vectors)
        return int(2.0 ** (ones / len(self.vectors) - math.log(_FM_PHI) / math.log(2.0)))


# --- both ----------------------------------------------------------------------------------------------------

Sketch = HyperLogLog | FMSketch


def parse(data: bytes) -> Sketch:
    """A bit vector of either kind."""
    if data.startswith(_HLL):
        return HyperLogLog.parse(data)
    if data.startswith(_FM):
        return FMSketch.parse(data)
    raise BitVectorError(f"a bit vector begins with HLL or FM, not with {data[:3]!r}")


def read(data: bytes | None) -> Sketch | None:
    """As `parse`, for bytes that may be absent or in a form of an old Hive: None then."""
    if not data:
        return None
    try:
        return parse(data)
    except BitVectorError:
        return None


def merged(sketches: Sequence[Sketch | None]) -> Sketch | None:
    """Merges all, as Hive aggregates partitions; None unless all exist and are of one kind."""
    first = sketches[0] if sketches else None
    if isinstance(first, FMSketch):
        alike = [one for one in sketches if one is not None and isinstance(one, FMSketch) and first.can_merge(one)]
        return first.merge(alike[1:]) if len(alike) == len(sketches) else None
    empty = HyperLogLog()
    known = [one for one in sketches if isinstance(one, HyperLogLog) and empty.can_merge(one)]
    return empty.merge(known) if known and len(known) == len(sketches) else None


def pair(one: Sketch, other: Sketch) -> Sketch | None:
    """Merges two, with the registers of the first; None if they are of different kinds."""
    if isinstance(one, HyperLogLog) and isinstance(other, HyperLogLog) and one.can_merge(other):
        return one.merge([other])
    if isinstance(one, FMSketch) and isinstance(other, FMSketch) and one.can_merge(other):
        return one.merge([other])
    return None
