"""thriftpy2 speaking the metastore's API, from the IDL that `idl.py` writes.

A witness: nothing of metastored's codecs is used here. It cannot read maps whose keys are lists in any protocol, and in
JSON neither binary inside containers without padding, nor containers inside containers, nor maps of structs; `carried`
cuts a value down to what it can be asked about.
"""

from __future__ import annotations

import io
from functools import cache
from types import ModuleType
from typing import Any

import thriftpy2
import thriftpy2.transport
from thriftpy2.protocol import TApacheJSONProtocol, TBinaryProtocol, TCompactProtocol
from thriftpy2.thrift import TApplicationException, TClient

from metastored.errors import THRIFT_EXCEPTIONS, ApplicationError
from metastored.wire.generated import STRUCTS
from metastored.wire.methods import METHODS
from metastored.wire.methods.plan import is_struct
from metastored.wire.structs import fields, names, new
from metastored.wire.types import Type
from tests.support.idl import SERVICE, idl, method_fields, struct_fields

TRANSPORT: Any = thriftpy2.transport
"""Its classes have no types."""
PROTOCOLS: dict[str, Any] = {
    "binary": TBinaryProtocol,
    "compact": TCompactProtocol,
    "json": TApacheJSONProtocol,
}


@cache
def module(version: str) -> ModuleType:
    """The structs of a version and all methods as a thriftpy2 module."""
    name = f"hive_metastore_{version.replace('.', '_')}_thrift"
    return thriftpy2.load_fp(io.StringIO(idl(version, every_method=True)), name)


def can_carry(type: Type, protocol: str) -> bool:
    """Whether thriftpy2 reads and writes a field of this type as Apache does."""
    if type.name == "map" and type.args[0].name == "list":
        return False
    if protocol == "json" and type.args:
        inner = type.args[-1]
        if inner.args or inner.name == "binary" or (type.name == "map" and is_struct(inner)):
            return False
        if type.name == "map" and type.args[0].name != "string":
            return False
    return all(can_carry(arg, protocol) for arg in type.args)


def carried(value: Any, protocol: str) -> Any:
    """The value without the fields that thriftpy2 cannot carry."""
    cls: Any = type(value)
    if cls is tuple:
        return tuple(carried(x, protocol) for x in value)
    if cls is frozenset:
        return frozenset(carried(x, protocol) for x in value)
    if cls is dict:
        return {k: carried(x, protocol) for k, x in value.items()}
    if cls not in STRUCTS.values():
        return value
    lost = {field.name for field in fields(cls) if not can_carry(field.type, protocol)}
    return new(cls, [None if n in lost else carried(v, protocol) for n, v in zip(names(cls), value, strict=True)])


def to_thriftpy2(value: Any, type: Type, version: str) -> Any:
    """metastored's value as thriftpy2's."""
    if value is None:
        return None
    if type.name == "list":
        return [to_thriftpy2(x, type.args[0], version) for x in value]
    if type.name == "set":
        return {to_thriftpy2(x, type.args[0], version) for x in value}
    if type.name == "map":
        key, inner = type.args
        return {to_thriftpy2(k, key, version): to_thriftpy2(x, inner, version) for k, x in value.items()}
    if not is_struct(type):
        return value
    found = struct_fields(type.name, version)
    given = {f.name: to_thriftpy2(getattr(value, f.name), f.type, version) for f in found}
    return getattr(module(version), type.name)(**given)


def from_thriftpy2(value: Any, type: Type, version: str) -> Any:
    """thriftpy2's value as metastored's."""
    if value is None:
        return None
    if type.name == "list":
        return tuple(from_thriftpy2(x, type.args[0], version) for x in value)
    if type.name == "set":
        return frozenset(from_thriftpy2(x, type.args[0], version) for x in value)
    if type.name == "map":
        key, inner = type.args
        return {from_thriftpy2(k, key, version): from_thriftpy2(x, inner, version) for k, x in value.items()}
    if not is_struct(type):
        return value
    if type.name in THRIFT_EXCEPTIONS:
        return THRIFT_EXCEPTIONS[type.name](value.message)
    given = {f.name: from_thriftpy2(getattr(value, f.name), f.type, version) for f in struct_fields(type.name, version)}
    cls = STRUCTS[type.name]
    return new(cls, [given.get(name) for name in names(cls)])


def encode(value: Any, protocol: str, version: str) -> bytes:
    """One struct in one of `PROTOCOLS`; JSON is wrapped in a message."""
    buffer = TRANSPORT.TMemoryBuffer()
    out = PROTOCOLS[protocol](buffer)
    if protocol == "json":
        out.write_message_begin("x", 1, 1)
    out.write_struct(to_thriftpy2(value, Type(type(value).__name__), version))
    return bytes(buffer.getvalue())


def decode(name: str, data: bytes, protocol: str, version: str) -> Any:
    source = PROTOCOLS[protocol](TRANSPORT.TMemoryBuffer(data))
    read = getattr(module(version), name)()
    if protocol == "json":
        source.read_message_begin()
    source.read_struct(read)
    return from_thriftpy2(read, Type(name), version)


class Thriftpy2Client:
    """Calls any method by its name: metastored's values in, metastored's values and errors out."""

    def __init__(self, host: str, port: int, protocol: str, framed: bool, version: str, timeout: float) -> None:
        socket = TRANSPORT.TSocket(host, port, socket_timeout=timeout * 1000, connect_timeout=timeout * 1000)
        self._transport = TRANSPORT.TFramedTransport(socket) if framed else TRANSPORT.TBufferedTransport(socket)
        self._protocol = PROTOCOLS[protocol]
        self._version = version
        self._transport.open()

    def call(self, name: str, *args: Any) -> Any:
        method, version = METHODS[name], self._version
        given = zip(method_fields(method, version), args, strict=False)
        values = {field.name: to_thriftpy2(value, field.type, version) for field, value in given}
        # A new protocol for each call: the JSON protocol returns its first message again and again.
        client = TClient(getattr(module(version), SERVICE), self._protocol(self._transport))
        try:
            result = getattr(client, name)(**values)
        except TApplicationException as error:
            raise ApplicationError(error.type, error.message or "") from None
        except tuple(getattr(module(version), known) for known in THRIFT_EXCEPTIONS) as error:
            raise THRIFT_EXCEPTIONS[type(error).__name__](error.message) from None
        return None if method.returns is None else from_thriftpy2(result, method.returns, version)

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Thriftpy2Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
