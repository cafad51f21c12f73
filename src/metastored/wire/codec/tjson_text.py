"""Finds the end of a TJSON message in a stream, and reads the text that JSON parsers refuse.

Apache's TJSONProtocol writes a list that is the key of a map in the key's place (`{["str",1,"a"]:"x"}`), and its
Python library writes control characters raw and `nan` and `inf` bare. `loads` reads all of these; such keys become
tuples, all other values are as orjson returns them. This module is independent of structs.
"""

from __future__ import annotations

import math
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, Final

import orjson

from metastored.wire.codec.compiler import Malformed
from metastored.wire.limits import MAX_DEPTH

MAX_NESTING: Final = 2 * MAX_DEPTH + 8
"""Brackets inside each other: a struct takes two for each of its fields."""

_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_FLAT = rb'[^"\[\]{}]++|' + _STRING
_LEAF = rb"\{(?:" + _FLAT + rb")*+\}"
_STRUCT = rb"\{(?:" + _FLAT + rb"|" + _LEAF + rb")*+\}"
# Text that does not change the depth: plain text, complete strings, and objects with at most one more level, such as
# the columns of a table. Each alternative starts with other characters, so the expression never backtracks.
_EVEN = re.compile(rb"(?:" + _FLAT + rb"|" + _STRUCT + rb")*+", re.DOTALL)
_BEFORE = re.compile(rb"[ \t\r\n]*+")
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)

_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|inf|nan)")
_SPACE = re.compile(r"[ \t\r\n]*")
_BARE = {"nan": math.nan, "-nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class BracketScanner:
    """Finds the bracket that closes the first one, in data that grows; looks at each byte once."""

    def __init__(self, at: int) -> None:
        self._at = at
        self._depth = 0
        self._in_string = False
        self._end: int | None = None

    def end(self, data: bytes | bytearray) -> int | None:
        """The position behind the closing bracket, or None while it has not arrived."""
        while self._end is None:
            if self._in_string:
                self._at = self._matched(_IN_STRING, data)
                if not data.startswith(b'"', self._at):
                    return None
                self._at += 1
                self._in_string = False
            self._at = self._matched(_EVEN if self._depth else _BEFORE, data)
            if self._at >= len(data):
                return None
            char = data[self._at]
            self._at += 1
            if char == 0x22 and self._depth:
                self._in_string = True
            elif char in (b"[{" if self._depth else b"["):
                self._depth += 1
                if self._depth > MAX_NESTING:
                    raise Malformed(f"more than {MAX_NESTING} brackets inside each other at byte {self._at - 1}")
            elif char in b"]}" and self._depth:
                self._depth -= 1
                if not self._depth:
                    self._end = self._at
            else:
                raise Malformed(f"a message begins with {char:02x}, not with a bracket")
        return self._end

    def _matched(self, pattern: re.Pattern[bytes], data: bytes | bytearray) -> int:
        match = pattern.match(data, self._at)
        return match.end() if match else self._at


def loads(data: bytes) -> Any:
    """The value of a whole text, by orjson where it can."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _parse(data)


def _parse(data: bytes) -> Any:
    try:
        text = data.decode()
        value, at = _value(text, _skip(text, 0), 0)
    except (IndexError, ValueError, StopIteration) as error:
        raise Malformed(f"not JSON: {error}") from None
    if _skip(text, at) != len(text):
        raise Malformed(f"more text after a value, at character {at}")
    return value


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    """The value that starts exactly here, and the position behind it."""
    if depth > MAX_NESTING:
        raise Malformed(f"more than {MAX_NESTING} brackets inside each other at character {at}")
    char = text[at]
    if char == '"':
        string, at = scanstring(text, at + 1, False)
        string.encode()  # half of a surrogate pair is not text: a ValueError
        return string, at
    if char == "[":
        return _array(text, at, depth)
    if char == "{":
        return _object(text, at, depth)
    number = _NUMBER.match(text, at)
    if number is None:
        raise Malformed(f"no JSON value at character {at}")
    word = number.group()
    if word in _BARE:
        return _BARE[word], number.end()
    return (int(word) if word.lstrip("-").isdigit() else float(word)), number.end()


def _array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = _skip(text, at + 1)
    if text[at] == "]":
        return items, at + 1
    while True:
        item, at = _value(text, at, depth + 1)
        items.append(item)
        at = _skip(text, at)
        if text[at] == "]":
            return items, at + 1
        at = _skip(text, _expect(text, at, ","))


def _object(text: str, at: int, depth: int) -> tuple[dict[Any, Any], int]:
    pairs: dict[Any, Any] = {}
    at = _skip(text, at + 1)
    if text[at] == "}":
        return pairs, at + 1
    while True:
        key, at = _value(text, at, depth + 1)
        at = _skip(text, _expect(text, _skip(text, at), ":"))
        value, at = _value(text, at, depth + 1)
        pairs[_hashable(key)] = value
        at = _skip(text, at)
        if text[at] == "}":
            return pairs, at + 1
        at = _skip(text, _expect(text, at, ","))


def _hashable(key: Any) -> Any:
    if isinstance(key, list):
        return tuple(_hashable(item) for item in key)
    if isinstance(key, dict):
        raise Malformed("an object is the key of a map")
    return key


def _expect(text: str, at: int, char: str) -> int:
    if text[at] != char:
        raise Malformed(f"{char!r} was expected at character {at}, not {text[at]!r}")
    return at + 1
