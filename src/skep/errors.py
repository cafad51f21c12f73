"""The one error tree of skep; split by who must act. It never imports another room.

SkepError
├── ConfigError                 the person who configured skep: a key, a value, a flag
├── ProtocolError               bytes that are not what the protocol says
│   ├── LocalProtocolError          we were about to send them
│   └── RemoteProtocolError         the peer sent them
├── TransportError              the network, or the process at its other end
│   ├── ConnectError
│   ├── ConnectionLost
│   └── TimeoutExceeded
├── AuthenticationError         the caller did not prove who it is
├── StoreError                  the database or the warehouse could not do it
├── MissingExtra                a pip extra is not installed
├── ApplicationError            Thrift's own TApplicationException, with its type number
└── MetastoreError              what Hive's IDL declares; one class for each exception of the API,
    ├── MetaException               with the same name and a message
    ├── NoSuchObjectException
    └── …
"""

from __future__ import annotations

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
    "IndexAlreadyExistsException",
    "InvalidInputException",
    "InvalidObjectException",
    "InvalidOperationException",
    "InvalidPartitionException",
    "LocalProtocolError",
    "MetaException",
    "MetastoreError",
    "MissingExtra",
    "NoSuchCompactionException",
    "NoSuchLockException",
    "NoSuchObjectException",
    "NoSuchTxnException",
    "ProtocolError",
    "RemoteProtocolError",
    "SkepError",
    "StoreError",
    "TimeoutExceeded",
    "TransportError",
    "TxnAbortedException",
    "TxnOpenException",
    "UnknownDBException",
    "UnknownPartitionException",
    "UnknownTableException",
]


class SkepError(Exception):
    """The root of everything skep raises on purpose."""


class ConfigError(SkepError):
    """A setting is unknown or has a value that cannot be used."""


class ProtocolError(SkepError):
    """Bytes that break the protocol. Never raised itself, only its two kinds."""


class LocalProtocolError(ProtocolError):
    """A message that skep itself was about to send is not valid."""


class RemoteProtocolError(ProtocolError):
    """The peer sent bytes that are not valid."""


class TransportError(SkepError):
    """The network failed, or the process at its other end."""


class ConnectError(TransportError):
    """No connection could be made."""


class ConnectionLost(TransportError):
    """The peer closed the connection in the middle of a call."""


class TimeoutExceeded(TransportError):
    """A deadline passed before the answer came."""


class AuthenticationError(SkepError):
    """The caller did not prove who it is."""


class StoreError(SkepError):
    """The database or the warehouse could not do what was asked."""


class MissingExtra(SkepError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'skep[{extra}]'")


class ApplicationError(SkepError):
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


class MetastoreError(SkepError):
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


class NoSuchCompactionException(MetastoreError): ...


class NoSuchLockException(MetastoreError): ...


class NoSuchObjectException(MetastoreError): ...


class NoSuchTxnException(MetastoreError): ...


class TxnAbortedException(MetastoreError): ...


class TxnOpenException(MetastoreError): ...


class UnknownDBException(MetastoreError): ...


class UnknownPartitionException(MetastoreError): ...


class UnknownTableException(MetastoreError): ...


THRIFT_EXCEPTIONS: dict[str, type[MetastoreError]] = {cls.__name__: cls for cls in MetastoreError.__subclasses__()}
