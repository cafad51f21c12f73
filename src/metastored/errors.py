"""The one error tree of metastored; split by who must act. It never imports another room.

Error
├── ConfigError                 the person who configured metastored: a key, a value, a flag
│   └── InvalidAddress              the URI of a metastore
├── ProtocolError               bytes that are not what the protocol says
│   ├── LocalProtocolError          we were about to send them
│   └── RemoteProtocolError         the peer sent them
├── TransportError              the network, or the process at its other end
│   ├── ConnectError
│   ├── ConnectionLost
│   ├── TimeoutExceeded
│   └── PoolExhausted               too many calls wait for a connection already
├── NotSupported                this server cannot do it, whoever asks; says which version can
│   └── MethodMissing               it has no such method; an ApplicationError too
├── VersionUnknown              what a server answers fits no version of Hive
├── ConversionError             a value of the metastore that has no meaning here: a time, a type, a partition name
├── LockFailed                  a lock was not given in time, or was taken away
├── TransactionFailed           a transaction ended in another way than it was asked to
├── AuthenticationError         the caller did not prove who it is
├── StoreError                  the database or the warehouse could not do it
│   └── ServerBusy                  the server is stopping, or has too many calls waiting
├── MissingExtra                a pip extra is not installed
├── ApplicationError            Thrift's own TApplicationException, with its type number
└── MetastoreError              what Hive's IDL declares; one class for each exception of the API,
    ├── MetaException               with the same name and a message
    │   ├── PermissionDenied            as the client raises them, whatever exception carried them: no privilege,
    │   ├── ReadOnlyServer              a write to a server that takes none,
    │   └── RateLimited                 too many calls
    ├── NoSuchObjectException
    │   └── ObjectNotFound              as the client raises it: `object` and `name` say what is missing
    │       ├── DatabaseNotFound
    │       └── TableNotFound
    ├── AlreadyExistsException
    │   └── ObjectAlreadyExists         likewise
    │       ├── DatabaseAlreadyExists
    │       └── TableAlreadyExists
    └── …

`kind_of` returns one of six kinds for each error, for callers that only need to know what to do next.
"""

from __future__ import annotations

from enum import Enum

__all__ = [
    "THRIFT_EXCEPTIONS",
    "AlreadyExistsException",
    "ApplicationError",
    "AuthenticationError",
    "CompactionAbortedException",
    "ConfigError",
    "ConfigValSecurityException",
    "ConnectError",
    "ConnectionLost",
    "ConversionError",
    "DatabaseAlreadyExists",
    "DatabaseNotFound",
    "Error",
    "ErrorKind",
    "IndexAlreadyExistsException",
    "InvalidAddress",
    "InvalidInputException",
    "InvalidObjectException",
    "InvalidOperationException",
    "InvalidPartitionException",
    "LocalProtocolError",
    "LockFailed",
    "MetaException",
    "MetastoreError",
    "MethodMissing",
    "MissingExtra",
    "NoSuchCompactionException",
    "NoSuchLockException",
    "NoSuchObjectException",
    "NoSuchTxnException",
    "NotSupported",
    "ObjectAlreadyExists",
    "ObjectNotFound",
    "PermissionDenied",
    "PoolExhausted",
    "ProtocolError",
    "RateLimited",
    "ReadOnlyServer",
    "RemoteProtocolError",
    "ServerBusy",
    "StoreError",
    "TableAlreadyExists",
    "TableNotFound",
    "TimeoutExceeded",
    "TransactionFailed",
    "TransportError",
    "TxnAbortedException",
    "TxnOpenException",
    "UnknownDBException",
    "UnknownPartitionException",
    "UnknownTableException",
    "VersionUnknown",
    "kind_of",
]


class Error(Exception):
    """The root of everything metastored raises on purpose."""


class ConfigError(Error):
    """A setting is unknown or has a value that cannot be used."""


class InvalidAddress(ConfigError):
    """What was given is not the address of a metastore."""


class ProtocolError(Error):
    """Bytes that break the protocol. Never raised itself, only its two kinds."""


class LocalProtocolError(ProtocolError):
    """A message that metastored itself was about to send is not valid."""


class RemoteProtocolError(ProtocolError):
    """The peer sent bytes that are not valid."""


class TransportError(Error):
    """The network failed, or the process at its other end."""


class ConnectError(TransportError):
    """No connection could be made."""


class ConnectionLost(TransportError):
    """The peer closed the connection in the middle of a call."""


class TimeoutExceeded(TransportError):
    """A deadline passed before the answer came."""


class PoolExhausted(TransportError):
    """Every connection is in use and so many calls wait already that one more is refused."""


class NotSupported(Error):
    """The server has no method for what was asked."""


class VersionUnknown(Error):
    """What a server answers fits no version of Hive."""


class ConversionError(Error):
    """A value that came from the metastore cannot be understood."""


class LockFailed(Error):
    """A lock was not given in time, or was lost while it was held."""


class TransactionFailed(Error):
    """A transaction was aborted, or whether it was committed cannot be told."""


class AuthenticationError(Error):
    """The caller did not prove who it is."""


class StoreError(Error):
    """The database or the warehouse could not do what was asked."""


class ServerBusy(StoreError):
    """The server is stopping, or too many calls wait for a thread."""


class MissingExtra(Error):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'metastored[{extra}]'")


class ApplicationError(Error):
    """Thrift's TApplicationException: the call itself could not be served."""

    UNKNOWN = 0
    UNKNOWN_METHOD = 1
    INVALID_MESSAGE_TYPE = 2
    WRONG_METHOD_NAME = 3
    BAD_SEQUENCE_ID = 4
    MISSING_RESULT = 5
    INTERNAL_ERROR = 6
    PROTOCOL_ERROR = 7

    def __init__(self, type: int, message: str) -> None:
        super().__init__(message)
        self.type = type
        self.message = message


class MethodMissing(NotSupported, ApplicationError):
    """The server has no such method, in words that say which version has it."""

    def __init__(self, message: str) -> None:
        ApplicationError.__init__(self, ApplicationError.UNKNOWN_METHOD, message)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message,)


class MetastoreError(Error):
    """An exception that the metastore's IDL declares. All of them carry one message."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message or ""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.message == getattr(other, "message", None)

    def __hash__(self) -> int:
        return hash((type(self), self.message))


class AlreadyExistsException(MetastoreError): ...


class CompactionAbortedException(MetastoreError): ...


class ConfigValSecurityException(MetastoreError): ...


class IndexAlreadyExistsException(MetastoreError): ...


class InvalidInputException(MetastoreError): ...


class InvalidObjectException(MetastoreError): ...


class InvalidOperationException(MetastoreError): ...


class InvalidPartitionException(MetastoreError): ...


class MetaException(MetastoreError): ...


class PermissionDenied(MetaException):
    """The server knows the caller and does not let it do this."""


class ReadOnlyServer(MetaException):
    """The server takes no writes."""


class RateLimited(MetaException):
    """The caller has made too many calls: it has to wait."""


class NoSuchCompactionException(MetastoreError): ...


class NoSuchLockException(MetastoreError): ...


class NoSuchObjectException(MetastoreError): ...


class NoSuchTxnException(MetastoreError): ...


class TxnAbortedException(MetastoreError): ...


class TxnOpenException(MetastoreError): ...


class UnknownDBException(MetastoreError): ...


class UnknownPartitionException(MetastoreError): ...


class UnknownTableException(MetastoreError): ...


class ObjectNotFound(NoSuchObjectException):
    """What is missing: `object` is its kind as the method table names it, `name` the name that was asked for."""

    def __init__(self, object: str, name: str, message: str | None = None) -> None:
        super().__init__(f"{object} {name} not found" if not message or message == name else message)
        self.object = object
        self.name = name

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.name in text else f"{self.object} {self.name}: {text}"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.object, self.name, self.message)


class DatabaseNotFound(ObjectNotFound): ...


class TableNotFound(ObjectNotFound): ...


class ObjectAlreadyExists(AlreadyExistsException):
    """What is there already, named as by ObjectNotFound."""

    def __init__(self, object: str, name: str, message: str | None = None) -> None:
        super().__init__(message or f"{object} {name} already exists")
        self.object = object
        self.name = name

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.name in text else f"{self.object} {self.name}: {text}"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.object, self.name, self.message)


class DatabaseAlreadyExists(ObjectAlreadyExists): ...


class TableAlreadyExists(ObjectAlreadyExists): ...


class ErrorKind(Enum):
    """What an error asks of the program that got it."""

    NOT_FOUND = "not found"
    ALREADY_EXISTS = "already exists"
    NOT_SUPPORTED = "not supported"
    REFUSED = "refused"
    INVALID_ARGUMENT = "invalid argument"
    EXTERNAL = "external"


def kind_of(error: Error) -> ErrorKind:
    """The kind of an error."""
    if isinstance(error, _NOT_FOUND):
        return ErrorKind.NOT_FOUND
    if isinstance(error, (AlreadyExistsException, IndexAlreadyExistsException)):
        return ErrorKind.ALREADY_EXISTS
    if isinstance(error, NotSupported):
        return ErrorKind.NOT_SUPPORTED
    if isinstance(error, (PermissionDenied, ReadOnlyServer, RateLimited)):
        return ErrorKind.REFUSED
    if isinstance(error, _INVALID):
        return ErrorKind.INVALID_ARGUMENT
    if isinstance(error, ApplicationError) and error.type == ApplicationError.UNKNOWN_METHOD:
        return ErrorKind.NOT_SUPPORTED
    return ErrorKind.EXTERNAL


_NOT_FOUND = (
    NoSuchObjectException,
    UnknownDBException,
    UnknownTableException,
    UnknownPartitionException,
    NoSuchLockException,
    NoSuchTxnException,
    NoSuchCompactionException,
)
_INVALID = (ConfigError, InvalidObjectException, InvalidInputException, InvalidPartitionException, ConversionError)

THRIFT_EXCEPTIONS: dict[str, type[MetastoreError]] = {cls.__name__: cls for cls in MetastoreError.__subclasses__()}
