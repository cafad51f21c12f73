"""Finds the operation of a path: a look-up by the path's words, without patterns. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote

from metastored.lance.rest.operations import OPERATIONS, Operation

__all__ = ["Route", "route"]

_PARTS: Final = ("{id}", "{index_name}")


class Route(NamedTuple):
    """The operation of a path, and the parts of the path that belong to the request."""

    operation: Operation
    id: str | None
    index_name: str | None = None


def _words(operation: Operation) -> tuple[str, ...]:
    return tuple("" if word in _PARTS else word for word in operation.path.split("/")[1:])


_BY_WORDS: Final = {_words(operation): operation for operation in OPERATIONS.values()}
"""The operations by the words of their paths; a part of the request is an empty word."""


def route(raw_path: str) -> Route | None:
    """The operation of a path that is still percent-encoded, such as `/v1/table/db%24t/describe`; None if none has it.

    Words are decoded after the path was split, so that an encoded slash belongs to a name.
    """
    words = tuple(map(unquote, raw_path.split("/")[1:]))
    for id_at, name_at in _places(len(words)):
        key = tuple("" if at in (id_at, name_at) else word for at, word in enumerate(words))
        operation = _BY_WORDS.get(key)
        if operation is not None and all(words):
            return Route(
                operation,
                None if id_at is None else words[id_at],
                None if name_at is None else words[name_at],
            )
    return None


def _places(length: int) -> Iterator[tuple[int | None, int | None]]:
    """Where the parts of the request may be: nowhere, after /v1/table, and after …/index. Fixed words come first."""
    yield None, None
    if length > 2:
        yield 2, None
    if length > 4:
        yield 2, 4
