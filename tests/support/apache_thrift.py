"""Apache Thrift's Python library speaking the metastore's API, from classes made of metastored's own struct specs.

A witness: nothing of metastored's codecs is used here. `to_apache` and `from_apache` only move values between the two
kinds of objects.
"""

from __future__ import annotations

import ssl
from typing import Any, Self

from thrift.protocol.TBase import TBase
from thrift.protocol.TBinaryProtocol import TBinaryProtocol, TBinaryProtocolAccelerated
from thrift.protocol.TCompactProtocol import TCompactProtocol, TCompactProtocolAccelerated
from thrift.protocol.TJSONProtocol import TJSONProtocol
from thrift.Thrift import TApplicationException, TMessageType
from thrift.transport.THttpClient import THttpClient
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TFramedTransport, TMemoryBuffer

from metastored.errors import THRIFT_EXCEPTIONS, ApplicationError
from metastored.wire.generated import STRUCTS
from metastored.wire.methods import METHODS, Method
from metastored.wire.methods.plan import is_struct, wire_type
from metastored.wire.structs import names, new
from metastored.wire.types import Field, Type
from tests.support.idl import method_fields, struct_fields, thrown

PROTOCOLS: dict[str, Any] = {
    "binary": TBinaryProtocol,
    "binary-accelerated": TBinaryProtocolAccelerated,
    "compact": TCompactProtocol,
    "compact-accelerated": TCompactProtocolAccelerated,
    "json": TJSONProtocol,
}


class ApacheClasses:
    """TBase classes for the structs, arguments and results of one version of the API."""

    def __init__(self, version: str) -> None:
        self.version = version
        self._made: dict[str, Any] = {}

    def struct(self, name: str) -> Any:
        if name not in self._made:
            self._make(name, struct_fields(name, self.version))
        return self._made[name]

    def args(self, method: Method) -> Any:
        return self._once(f"{method.name}_args", method_fields(method, self.version))

    def result(self, method: Method) -> Any:
        success = () if method.returns is None else (Field(0, method.returns, "success"),)
        return self._once(f"{method.name}_result", success + thrown(method, self.version))

    def _once(self, name: str, found: tuple[Field, ...]) -> Any:
        if name not in self._made:
            self._make(name, found)
        return self._made[name]

    def _make(self, name: str, found: tuple[Field, ...]) -> None:
        slots = tuple(field.name for field in found)

        def init(this: Any, **values: Any) -> None:
            for slot in slots:
                setattr(this, slot, values.get(slot))

        # Identity as hash: sets of structs exist, and their order does not matter to a comparison of values.
        body = {"__slots__": slots, "__init__": init, "__hash__": object.__hash__, "__eq__": object.__eq__}
        cls: Any = type(name, (TBase,), body)
        self._made[name] = cls
        spec: list[Any] = [None] * (max((f.id for f in found), default=-1) + 1)
        for field in found:
            spec[field.id] = (field.id, wire_type(field.type), field.name, self._type_args(field.type), None)
        cls.thrift_spec = tuple(spec)
        for pair in self._waiting.pop(name, ()):
            pair[1] = cls.thrift_spec

    @property
    def _waiting(self) -> dict[str, list[list[Any]]]:
        """Structs inside themselves: the pairs whose spec is not known yet."""
        waiting: dict[str, list[list[Any]]] = self._made.setdefault(" waiting", {})
        return waiting

    def _type_args(self, type: Type) -> Any:
        if type.name == "string":
            return "UTF8"
        if type.name == "binary":
            return "BINARY"
        if type.name in ("list", "set"):
            return (wire_type(type.args[0]), self._type_args(type.args[0]), True)
        if type.name == "map":
            key, value = type.args
            return (wire_type(key), self._type_args(key), wire_type(value), self._type_args(value), True)
        if is_struct(type):
            cls = self.struct(type.name)
            pair = [cls, getattr(cls, "thrift_spec", None)]
            if pair[1] is None:
                self._waiting.setdefault(type.name, []).append(pair)
            return pair
        return None

    def to_apache(self, value: Any, type: Type) -> Any:
        """metastored's value as Apache's."""
        if value is None:
            return None
        if type.name == "list":
            return tuple(self.to_apache(x, type.args[0]) for x in value)
        if type.name == "set":
            return frozenset(self.to_apache(x, type.args[0]) for x in value)
        if type.name == "map":
            key, inner = type.args
            return {self.to_apache(k, key): self.to_apache(x, inner) for k, x in value.items()}
        if not is_struct(type):
            return value
        cls = self.struct(type.name)
        found = struct_fields(type.name, self.version)
        return cls(**{f.name: self.to_apache(getattr(value, f.name), f.type) for f in found})

    def from_apache(self, value: Any, type: Type) -> Any:
        """Apache's value as metastored's."""
        if value is None:
            return None
        if type.name == "list":
            return tuple(self.from_apache(x, type.args[0]) for x in value)
        if type.name == "set":
            return frozenset(self.from_apache(x, type.args[0]) for x in value)
        if type.name == "map":
            key, inner = type.args
            return {self.from_apache(k, key): self.from_apache(x, inner) for k, x in value.items()}
        if not is_struct(type):
            return value
        if type.name in THRIFT_EXCEPTIONS:
            return THRIFT_EXCEPTIONS[type.name](value.message)
        found = struct_fields(type.name, self.version)
        given = {f.name: self.from_apache(getattr(value, f.name), f.type) for f in found}
        cls = STRUCTS[type.name]
        return new(cls, [given.get(name) for name in names(cls)])

    def encode(self, value: Any, protocol: str) -> bytes:
        """One struct in one of `PROTOCOLS`."""
        buffer = TMemoryBuffer()
        self.to_apache(value, Type(type(value).__name__)).write(PROTOCOLS[protocol](buffer))
        return bytes(buffer.getvalue())

    def decode(self, name: str, data: bytes, protocol: str) -> Any:
        read = self.struct(name)()
        read.read(PROTOCOLS[protocol](TMemoryBuffer(data)))
        return self.from_apache(read, Type(name))


class ApacheClient:
    """Calls any method by its name: metastored's values in, metastored's values and errors out."""

    def __init__(self, host: str, port: int, protocol: str, framed: bool, version: str, timeout: float) -> None:
        socket = TSocket(host, port)
        socket.setTimeout(timeout * 1000)
        self._begin(TFramedTransport(socket) if framed else TBufferedTransport(socket), protocol, version)

    def _begin(self, transport: Any, protocol: str, version: str) -> None:
        self._transport = transport
        self._protocol = PROTOCOLS[protocol](self._transport)
        self._classes = ApacheClasses(version)
        self._seqid = 0
        self._transport.open()

    def call(self, name: str, *args: Any) -> Any:
        method = METHODS[name]
        classes, protocol = self._classes, self._protocol
        found = method_fields(method, classes.version)
        given = zip(found, args, strict=False)
        self._seqid += 1
        protocol.writeMessageBegin(name, TMessageType.ONEWAY if method.oneway else TMessageType.CALL, self._seqid)
        classes.args(method)(**{f.name: classes.to_apache(value, f.type) for f, value in given}).write(protocol)
        protocol.writeMessageEnd()
        self._transport.flush()
        return None if method.oneway else self._answer(method)

    def _answer(self, method: Method) -> Any:
        classes, protocol = self._classes, self._protocol
        name, kind, seqid = protocol.readMessageBegin()
        assert (name, seqid) == (method.name, self._seqid), (name, seqid)
        if kind == TMessageType.EXCEPTION:
            error = TApplicationException()
            error.read(protocol)
            protocol.readMessageEnd()
            raise ApplicationError(error.type, error.message or "")
        result = classes.result(method)()
        result.read(protocol)
        protocol.readMessageEnd()
        for field in thrown(method, classes.version):
            raised = getattr(result, field.name)
            if raised is not None:
                raise classes.from_apache(raised, field.type)
        if method.returns is None:
            return None
        if result.success is None:
            raise ApplicationError(ApplicationError.MISSING_RESULT, f"{method.name} failed: unknown result")
        return classes.from_apache(result.success, method.returns)

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ApacheHttpClient(ApacheClient):
    """The same over HTTPS, by Apache's THttpClient."""

    def __init__(
        self, uri: str, protocol: str, version: str, tls: ssl.SSLContext, headers: dict[str, str], timeout: float = 30
    ) -> None:
        transport = THttpClient(uri, ssl_context=tls)
        transport.setTimeout(timeout * 1000)
        transport.setCustomHeaders(headers)
        self._begin(transport, protocol, version)
