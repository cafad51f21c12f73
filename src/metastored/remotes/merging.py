"""Listings from several metastores made into one. Pure.

The method table says how (`merge`); nothing here knows a method by name. Lists are joined as bytes where nothing in
them must be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Final

from metastored.errors import ApplicationError, MetastoreError, RemoteProtocolError
from metastored.hive.names import normalize
from metastored.model.remotes.values import Names
from metastored.wire.codec.binary import pack_field, pack_list, unpack_u
from metastored.wire.message import Reply, Stream
from metastored.wire.methods import Method
from metastored.wire.methods.naming import argument_names, names_of
from metastored.wire.structs import new, replace
from metastored.wire.types import LIST, STRUCT

_RESULT_LIST: Final = pack_field(LIST, 0)


def concat(values: Sequence[Any]) -> Any:
    """Lists one after the other; of structs, each of their lists, and what is not a list from the first that has it."""
    kind: type[tuple[Any, ...]] = type(values[0])
    if kind is tuple:
        return tuple(chain.from_iterable(values))
    return new(kind, [_concat_field(column) for column in zip(*values, strict=True)])


def _concat_field(column: Iterable[Any]) -> Any:
    given = [value for value in column if value is not None]
    if not given or type(given[0]) is not tuple:
        return given[0] if given else None
    return tuple(chain.from_iterable(given))


def sorted_union(values: Sequence[Any]) -> tuple[str, ...]:
    """Names, each once, in order."""
    return tuple(sorted(set(chain.from_iterable(values))))


MERGES: Final[dict[str, Callable[[Sequence[Any]], Any]]] = {"concat": concat, "sorted_union": sorted_union}


def only_of_database(value: Any, database: str) -> Any:
    """The elements of a listing that belong to this database: those whose first database name it is."""
    if type(value) is tuple:
        return tuple(element for element in value if _is_of_database(element, database))
    return new(type(value), [only_of_database(part, database) if type(part) is tuple else part for part in value])


def _is_of_database(element: Any, database: str) -> bool:
    for role, name in names_of(element):
        if role == "db":
            return normalize(name) == database
    return False


def concat_lists(method: Method, replies: Sequence[Reply]) -> Reply | None:
    """Replies whose results are lists, as one: their elements are copied undecoded. None where that cannot be."""
    if method.merge != "concat" or method.returns is None or method.returns.name != "list":
        return None
    count, parts, kind = 0, [], STRUCT
    for reply in replies:
        body = reply.body.read() if isinstance(reply.body, Stream) else reply.body
        if body[:3] != _RESULT_LIST:
            raise RemoteProtocolError(f"the result of {method.name} is not a list")
        kind = body[3]
        count += unpack_u(body, 4)[0]
        parts.append(body[8:-1])
    return Reply(b"".join((_RESULT_LIST, pack_list(kind, count), *parts, b"\0")))


def only_tables(method: Method, reply: Reply, shown: Names) -> Reply:
    """A reply with only those tables that a remote database shows; what is not a listing of tables stays."""
    if method.route not in ("pattern", "all") or method.object != "table":
        return reply
    try:
        value = reply.value(method)
    except (MetastoreError, ApplicationError):
        return reply
    return Reply.of(method, _only(value, lambda element: _table_of(element) in shown))


def _only(value: Any, keep: Callable[[Any], bool]) -> Any:
    if type(value) is tuple:
        return tuple(filter(keep, value))
    return new(type(value), [_only(part, keep) if type(part) is tuple else part for part in value])


def _table_of(element: Any) -> str:
    if isinstance(element, str):
        return element
    return next((str(name) for role, name in names_of(element) if role == "table"), "")


def first_pattern(method: Method, args: tuple[Any, ...]) -> str | None:
    """The pattern of databases in a call; None when it has none, which means all."""
    value: Any = args
    for depth, name in enumerate(_pattern_path(method)):
        value = args[_position(method, name)] if depth == 0 else getattr(value, name)
        if value is None:
            return None
    return str(value)


def with_first_pattern(method: Method, args: tuple[Any, ...], pattern: str) -> tuple[Any, ...]:
    """The same arguments with another pattern of databases."""
    name, *deeper = _pattern_path(method)
    at = _position(method, name)
    return (*args[:at], _replaced(args[at], deeper, pattern), *args[at + 1 :])


def _replaced(value: Any, path: list[str], pattern: str) -> Any:
    if not path:
        return pattern
    return replace(value, **{path[0]: _replaced(getattr(value, path[0]), path[1:], pattern)})


def _pattern_path(method: Method) -> list[str]:
    place = next(place for place in argument_names(method) if place.role == "pattern")
    return [step.name for step in place.path]


def _position(method: Method, name: str) -> int:
    return next(at for at, argument in enumerate(method.args) if argument.name == name)
