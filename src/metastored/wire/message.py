"""The interface between the layers: a Call goes in, a Reply comes out, a Session identifies the caller.

`Handler` is the one interface of metastored. The metastore, the router over remotes and every wrapper of the gate
implement it; the server depends on nothing else. This module never touches a socket.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import GEN_CREATED, getgeneratorstate
from types import GeneratorType
from typing import TYPE_CHECKING, Any, Final, Protocol

from metastored.errors import ApplicationError, Error, LocalProtocolError, MetaException, MetastoreError
from metastored.hive.generation import ANY, Compat, Generation
from metastored.wire.codec import binary
from metastored.wire.limits import MAX_MESSAGE
from metastored.wire.methods import Method
from metastored.wire.types import CALL as CALL
from metastored.wire.types import EXCEPTION as EXCEPTION
from metastored.wire.types import ONEWAY as ONEWAY
from metastored.wire.types import REPLY as REPLY

_VERSIONS: Final = {
    Generation.HIVE_2_3: "2.3",
    Generation.HIVE_3_1: "3.1",
    Generation.HIVE_4_0: "4.0.1",
    Generation.HIVE_4_2: "4.2",
}


_MOST_COUNTED: Final = 64 * 1024


class Session:
    """One connection's state: its user, and its version of the API. Never shared by two connections."""

    __slots__ = (
        *(
            "accepts",
            "acid_views",
            "authenticated",
            "by_token",
            "cascade",
            "conf",
            "created",
            "ended",
            "entrusted",
            "generation",
            "gone",
        ),
        *("groups", "may_impersonate", "one_call", "peer", "principal", "user"),
    )

    def __init__(self, peer: str = "", compat: Compat | Generation = ANY, user: str | None = None) -> None:
        self.peer = peer
        self.user = user
        self.groups: tuple[str, ...] = ()
        self.authenticated = False
        """True when `user` was authenticated, not merely claimed by set_ugi."""
        self.by_token = False
        """True when the credential was a delegation token: its holder gets no further tokens."""
        self.may_impersonate = False
        """True for a proxy user, which may act for any other user."""
        self.principal: str | None = None
        """The authenticated full name, such as alice@REALM; `user` is the short name."""
        self.generation, self.accepts = compat if isinstance(compat, Compat) else Compat.only(compat)
        """The Hive version of replies on this connection, raised when a call shows that the client is newer; and the
        newest version whose requests are accepted."""
        self.cascade: object = None
        """The DROP … CASCADE of a remote database that this connection may be in: see `remotes/cascades.py`."""
        self.acid_views = False
        """True for a client that cannot read ACID tables: see `acid_views/`."""
        self.created: set[tuple[str, str]] = set()
        """The databases and names of ACID tables that a client which gets views has created on this connection."""
        self.one_call = False
        """True for a session of one call, as over HTTP: what the client has called before it is not certain."""
        self.ended = False
        """The peer has sent its last byte: it has disconnected, or it still reads its reply."""
        self.gone = False
        """The peer has disconnected: nobody reads a reply."""
        self.conf: dict[str, str] = {}
        """The settings that setMetaConf set for this connection."""
        self.entrusted: frozenset[tuple[str, str, str]] = frozenset()
        """The catalog, database and name of tables that may be altered in this session although its user may not: the
        server itself alters them, after it has checked other privileges of the user. No client can set it."""

    @property
    def version(self) -> str:
        """The version of the API that belongs to the generation, as the method table names it."""
        return _VERSIONS[self.generation]


class Call:
    """One call as it came in. `args` are decoded; `body` is the same as Thrift binary, for passing on."""

    __slots__ = ("_body", "args", "method", "relays", "seqid", "size", "version")

    def __init__(
        self,
        method: Method,
        args: tuple[Any, ...] | None,
        seqid: int = 0,
        body: bytes | None = None,
        size: int | None = None,
    ) -> None:
        """Without `args`, the arguments in `body` are decoded at their first use."""
        self.method: Final = method
        self.seqid: Final = seqid
        self.size: int
        """Bytes of the arguments as they arrived, in any protocol; for a call of the server itself an upper bound."""
        if body is not None:
            self.size = len(body)
        elif size is not None:
            self.size = size
        self.relays = False
        """Whether the reply may be a `Relayed`: set by a caller that passes it on and does not look into it."""
        self.version: int | None = None
        """The version of the local database that a read was served in, where it is known."""
        self._body = body
        self.args: tuple[Any, ...]
        if args is not None:
            self.args = args

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Python calls this only for a slot without a value, so calls with decoded arguments have no overhead.
            if name == "args":
                self.args = binary.decode_args(self.method, self._body)
                return self.args
            if name == "size":
                self.size = _most_bytes(self.args)
                return self.size
            raise AttributeError(name)

    @property
    def encoded(self) -> bytes | None:
        """The `body`, if it is there without encoding it."""
        return self._body

    @property
    def body(self) -> bytes:
        """The arguments struct in Thrift binary, its STOP included."""
        if self._body is None:
            self._body = binary.encode_args(self.method, self.args)
        return self._body

    def __repr__(self) -> str:
        return f"Call({self.method.name}, {self.args!r})"


def _most_bytes(values: tuple[Any, ...]) -> int:
    """An upper bound of the bytes of these values and of structs among them; MAX_MESSAGE if it takes long to count."""
    total = 16  # More than the header of a field, or of a list, and a number.
    for value in values:
        total += 16
        if isinstance(value, str):
            total += 4 * len(value)
        elif isinstance(value, tuple):
            total += _most_bytes(value)
        elif value is not None and not isinstance(value, (int, float)):
            return MAX_MESSAGE
        if total > _MOST_COUNTED:
            return MAX_MESSAGE
    return total


class Stream:
    """A long body, pulled chunk by chunk: Thrift binary of a result struct whose length is known in advance.

    Its consumer must `close()` it: it may hold a database snapshot.
    """

    __slots__ = ("at_hand", "chunks", "length")

    def __init__(self, chunks: Iterator[bytes], length: int, at_hand: bool = False) -> None:
        self.chunks: Final = chunks
        self.length: Final = length
        self.at_hand: Final = at_hand
        """Its chunks are in memory: pulling one directly is faster than on another thread."""

    def close(self) -> None:
        # A generator that was never started would skip the `finally` in which it releases its snapshot.
        if isinstance(self.chunks, GeneratorType) and getgeneratorstate(self.chunks) == GEN_CREATED:
            next(self.chunks, None)
        close = getattr(self.chunks, "close", None)
        if close is not None:
            close()

    def read(self) -> bytes:
        """All of it at once; for peers whose protocol needs it decoded."""
        try:
            return b"".join(self.chunks)
        finally:
            self.close()


class Relayed(Stream):
    """A long body that is passed on while it arrives from another server; its length is not known before its end.

    Only calls that ask for it (`Call.relays`) get one. Its consumer must `close()` it: it holds a connection.
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(iter(()), 0)

    async def next(self) -> bytes | None:
        """The next piece, None at the end. Raises an Error if the other server does not send the rest."""
        raise NotImplementedError

    def when_ended(self, callback: Callable[[Error | None], None]) -> None:
        """The function is called once: after the last piece, after an error, or when the consumer has closed it."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def read(self) -> bytes:
        raise LocalProtocolError("a reply that is relayed cannot be read at once")


class Reply:
    """The reply to a call: the result struct in Thrift binary (its STOP included), or a TApplicationException."""

    __slots__ = ("_fields", "body", "error", "kind")

    def __init__(
        self,
        body: bytes | Stream,
        kind: int = REPLY,
        error: MetastoreError | ApplicationError | None = None,
        fields: tuple[Any, ...] | None = None,
    ) -> None:
        """`fields` are the fields of the result struct, if it was decoded already."""
        self.body: Final = body
        self.kind: Final = kind
        self.error: Final = error
        """The error, for audit and metrics; it is also encoded in the body."""
        self._fields = fields

    @classmethod
    def of(cls, method: Method, value: Any) -> Reply:
        """A result: None for void, and for a null that Thrift cannot encode (clients see MISSING_RESULT)."""
        return cls(binary.encode_result(method, value))

    @classmethod
    def raised(cls, method: Method, error: Exception, version: str = "4.2") -> Reply:
        """A declared exception in its slot; anything else as the TApplicationException Apache would send."""
        if isinstance(error, MetastoreError):
            slot = method.throws_in(version).get(type(error).__name__)
            if slot is not None:  # It may be below 0: where an IDL has no number, Thrift's compiler assigned one.
                return cls(binary.encode_exception_result(slot, error), REPLY, error)
            error = ApplicationError(ApplicationError.INTERNAL_ERROR, f"Internal error processing {method.name}")
        elif not isinstance(error, ApplicationError):
            error = ApplicationError(ApplicationError.INTERNAL_ERROR, f"Internal error processing {method.name}")
        return cls(binary.encode_application_error(error), EXCEPTION, error)

    @classmethod
    def failed(cls, method: Method, text: str, version: str, *kinds: type[MetastoreError]) -> Reply:
        """A failure that must reach the caller with its text.

        It is the first of these kinds that the method declares, else a MetaException, else Thrift's own exception.
        """
        declared = method.throws_in(version)
        for kind in (*kinds, MetaException):
            if kind.__name__ in declared:
                return cls.raised(method, kind(text), version)
        return cls.raised(method, ApplicationError(ApplicationError.INTERNAL_ERROR, text))

    def value(self, method: Method) -> Any:
        """The decoded success value; raises the error the reply carries."""
        if self._fields is not None:
            # Returned only once, because the caller may change it.
            fields, self._fields = self._fields, None
            return binary.result_value(method, fields)
        body = self.body.read() if isinstance(self.body, Stream) else self.body
        if self.kind == EXCEPTION:
            raise binary.decode_application_error(body)
        return binary.decode_result(method, body)


class Handler(Protocol):
    """The one interface: a call of a session in, a reply out. Errors of the API are replies, not exceptions."""

    async def handle(self, call: Call, session: Session) -> Reply: ...
