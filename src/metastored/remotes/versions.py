"""Reads for a metastore of another version: `get_table` for one that only has `get_table_req`, and the other way round.

Hive's newer methods take a request and return a response around what the older ones take and return. The method table
says which method stands for which: the same name with and without `_req`, the arguments by their names or roles, the
result by its type. Fields of a request that the older method does not have are hints, such as capabilities or a
projection: an older metastore ignores them too. A metastore that does not know a kind of constraint has none of that
kind. Writes are never translated.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from metastored.errors import ApplicationError, MetastoreError
from metastored.wire.generated import STRUCTS
from metastored.wire.message import EXCEPTION, Call, Handler, Reply, Session
from metastored.wire.methods import METHODS, Method
from metastored.wire.structs import fields, names, new
from metastored.wire.types import Field, Type

_SUFFIX: Final = "_req"


class Alternative(NamedTuple):
    """Another method for the same read."""

    method: Method
    arguments: tuple[tuple[int, int], ...]
    """Where an argument of the method without a request is, and where the same is in the request."""
    wraps: bool
    """Whether the other method takes the request."""
    inside: int | None
    """Which field of the response has the result; None where both return the same type."""


class AnyVersion:
    """A handler that tries the other method where a metastore does not know one, and remembers it."""

    def __init__(self, inner: Handler) -> None:
        self._inner = inner
        self.bounded: Final[bool] = getattr(inner, "bounded", False)
        """Whether each call ends within the timeout without help; of two calls for one read, each."""
        self._missing: set[str] = set()

    async def handle(self, call: Call, session: Session) -> Reply:
        method = call.method
        if method.name not in self._missing:
            reply = await self._inner.handle(call, session)
            if not _is_unknown(reply):
                return reply
        other = alternative(method)
        args = None if other is None else _arguments(other, call.args)
        if other is None or args is None:
            if method.name not in self._missing and _is_about_constraints(method):
                return _nothing(method)
            return reply if method.name not in self._missing else await self._inner.handle(call, session)
        other_reply = await self._inner.handle(Call(other.method, args, call.seqid), session)
        if _is_unknown(other_reply):
            self._missing.discard(method.name)
            return other_reply
        self._missing.add(method.name)
        return _translated(method, other, other_reply, session)

    async def close(self) -> None:
        close = getattr(self._inner, "close", None)
        if close is not None:
            await close()


def _is_unknown(reply: Reply) -> bool:
    """Whether the metastore does not have the method."""
    if reply.kind != EXCEPTION:
        return False
    try:
        reply.value(METHODS["getName"])
    except ApplicationError as error:
        return error.type == ApplicationError.UNKNOWN_METHOD
    return False


def _is_about_constraints(method: Method) -> bool:
    """Whether a method lists constraints of one kind; one that returns all kinds has no such short answer."""
    if method.verb != "read" or method.object != "constraint" or method.returns is None:
        return False
    return all(line.type.name == "list" for line in fields(STRUCTS[method.returns.name]))


def _nothing(method: Method) -> Reply:
    """A response whose lists are empty."""
    assert method.returns is not None
    struct = STRUCTS[method.returns.name]
    return Reply.of(method, new(struct, [()] * len(names(struct))))


def _arguments(other: Alternative, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The arguments of the other method; None where one of them is missing in the request."""
    if not other.wraps:
        request, given = args[0], dict(other.arguments)
        if request is None or _says_more(request, set(given.values())):
            return None
        arguments = tuple(request[given[at]] if at in given else None for at in range(len(other.method.args)))
        return (
            None
            if any(arguments[at] is None and not _may_be_null(other.method.args[at]) for at in given)
            else arguments
        )
    struct = STRUCTS[other.method.args[0].type.name]
    values: list[Any] = [None] * len(names(struct))
    for here, there in other.arguments:
        values[there] = args[here]
    return (new(struct, values),)


def _says_more(request: Any, matched: set[int]) -> bool:
    """Whether a request selects by something that the older method does not have, as by an expression."""
    struct: type = type(request)
    order = names(struct)
    selecting = {order.index(line.name) for line in fields(struct) if _selects(line)}
    return any(request[at] for at in selecting - matched)


def _selects(field: Field) -> bool:
    return field.type.name == "binary" or field.role in ("db", "table", "pattern", "part_name", "part_values")


def _may_be_null(field: Field) -> bool:
    return field.role is None or field.role == "limit"


def _translated(method: Method, other: Alternative, reply: Reply, session: Session) -> Reply:
    if other.inside is None:
        return reply
    try:
        value = reply.value(other.method)
    except MetastoreError as error:
        return Reply.raised(method, error, session.version)
    except ApplicationError:
        return reply
    if other.wraps:
        return Reply.of(method, value[other.inside])
    assert method.returns is not None
    struct = STRUCTS[method.returns.name]
    values: list[Any] = [None] * len(names(struct))
    values[other.inside] = value
    return Reply.of(method, new(struct, values))


@cache
def alternative(method: Method) -> Alternative | None:
    """The method that stands for another one; None where there is none."""
    wraps = not method.name.endswith(_SUFFIX)
    other = METHODS.get(method.name + _SUFFIX if wraps else method.name.removesuffix(_SUFFIX))
    if other is None or method.verb != "read" or other.verb != "read":
        return None
    plain, wrapped = (method, other) if wraps else (other, method)
    if len(wrapped.args) != 1 or plain.returns is None or wrapped.returns is None:
        return None
    arguments = _matched(plain, wrapped.args[0].type)
    inside = _inside(plain.returns, wrapped.returns)
    if arguments is None or inside is False:
        return None
    return Alternative(other, arguments, wraps, None if inside is True else inside)


def _matched(plain: Method, request: Type) -> tuple[tuple[int, int], ...] | None:
    """Each argument and the field of the request that is the same: of the same type, and alike in name or role."""
    struct = STRUCTS[request.name]
    order = names(struct)
    pairs: list[tuple[int, int]] = []
    for at, argument in enumerate(plain.args):
        same = [line for line in fields(struct) if line.type.name == argument.type.name or _numbers(line, argument)]
        match = next((line for line in same if _plain(line.name) == _plain(argument.name)), None)
        if match is None and argument.role is not None:
            match = next((line for line in same if line.role == argument.role), None)
        if match is None:
            return None
        pairs.append((at, order.index(match.name)))
    return tuple(pairs)


def _numbers(one: Field, other: Field) -> bool:
    return {one.type.name, other.type.name} <= {"i16", "i32"}


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _inside(plain: Type, response: Type) -> int | bool:
    """Which field of a response is the plain result; True where both are the same, False where none is."""
    if plain == response:
        return True
    if response.name not in STRUCTS:
        return False
    struct = STRUCTS[response.name]
    return next((names(struct).index(line.name) for line in fields(struct) if line.type == plain), False)
