"""The expressions of Hive 4: the differences of its Kryo 5 to the Kryo 3 of Hive 2.3 and 3.1 (see `kryo`).

A stream begins with the name of the class of its root, so that it can be distinguished from the older kind. Fixed
numbers are little-endian, enums are not counted as objects that may be referred to, dates and times have a short form
of their own, and lists begin with a flag whether all their elements are of one class. The bounds are those of `kryo`,
and unknown classes are never guessed, as there.
"""

from functools import partial
from typing import Any, Final

from metastored.filters.hive.kryo import (
    LAYOUTS,
    MAX_NODES,
    NUMBERED,
    PRIMITIVES,
    STRING,
    Expression,
    Instance,
    Stream,
    tree_of,
)

CLASS_BY_NAME: Final = b"\x01"
"""The beginning of a stream whose root is of a class that is not registered."""
NAMED_ROOT: Final = CLASS_BY_NAME + b"\x00"
"""A class by its name, and it is the first name. Older streams begin with 1 and something that is not null."""

_RENAMED: Final = {"chidren": "children"}
_TIMES: Final = frozenset({"java.time.LocalDate", "java.time.LocalTime", "java.time.LocalDateTime"})

# Kryo itself has one class less, so the numbers of Hive's registered classes are lower by one.
_NUMBERED_5: Final = {number - (number > 9): name for number, name in NUMBERED.items()}
_LAYOUTS_5: Final = {
    name: tuple((_RENAMED.get(field, field), kind) for field, kind in layout) for name, layout in LAYOUTS.items()
}


def read_expression_5(data: bytes) -> Expression:
    """The tree of an expression that Hive 4 serialized, which must be all of the data."""
    return tree_of(_Stream5(data), lambda stream: stream.object())


class _Stream5(Stream):
    layouts = _LAYOUTS_5
    numbered = _NUMBERED_5
    byte_order = "<"

    def enum(self) -> Any:
        return self.number() if self.number() else None

    def fields(self, name: str) -> Instance:
        match name.removeprefix("java.time.") if name in _TIMES else None:
            case "LocalDate":
                return self._date()
            case "LocalTime":
                return self._time()
            case "LocalDateTime":
                return Instance(name, {"date": self._date(), "time": self._time()})
        return super().fields(name)

    def _date(self) -> Instance:
        return Instance("java.time.LocalDate", {"year": self.number(), "month": self.byte(), "day": self.byte()})

    def _time(self) -> Instance:
        """Hours, minutes, seconds and nanoseconds; the last that is not zero is written as its complement."""
        parts = [0, 0, 0, 0]
        for position in range(3):
            value: int = self.packed("b")
            parts[position] = value if value >= 0 else ~value
            if value < 0:
                break
        else:
            parts[3] = self.number()
        return Instance("java.time.LocalTime", dict(zip(("hour", "minute", "second", "nano"), parts, strict=True)))

    # lists

    def listed(self) -> tuple[Any, ...]:
        alike, count = self._flagged()
        if not alike or count == 0:
            return self.elements(count, self.object)
        kind = self.kind()
        if kind is None:
            return (None,) * count
        some_null = self.boolean()
        if kind not in PRIMITIVES:
            return self.elements(count, partial(self.of_class, kind))
        return self.elements(count, lambda: self.primitive(kind) if not some_null or self.boolean() else None)

    def listed_names(self) -> tuple[Any, ...]:
        """Elements of one class. Whether any is null is written twice: by the flag, and by the reference."""
        return self.elements(self._flagged()[1], lambda: self.of_class(STRING))

    def _flagged(self) -> tuple[bool, int]:
        """A flag, in the highest bit of the first byte, and the length of a list."""
        first = self.byte()
        length = first & 0x3F
        if first & 0x40:
            length |= self.number() << 6
        if not 0 < length <= MAX_NODES:
            self.malformed("Buffer underflow.")
        return first >= 0x80, length - 1
