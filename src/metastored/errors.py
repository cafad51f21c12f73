"""The errors of metastored: one tree, divided by who must act. It imports no other package.

Error
├── ConfigError                 the person who configured metastored: a key, a value, a flag
│   ├── InvalidAddress              the URI of a metastore
│   └── PipelineError               a pipeline file: each problem with its line
├── ProtocolError               bytes that violate the protocol
│   ├── LocalProtocolError          in a message that metastored was about to send
│   └── RemoteProtocolError         in a message of the peer
│       └── ReplyRefused                the same call would get the same: too long, or an HTTP status 4xx
├── TransportError              the network, or the process at its other end
│   ├── ConnectError
│   ├── ConnectionLost
│   ├── TimeoutExceeded
│   └── PoolExhausted               too many calls wait for a connection already
├── NotSupported                the server does not support it; the message names the versions that do
│   └── MethodMissing               it has no such method; an ApplicationError too
├── VersionUnknown              the replies of a server match no version of Hive
├── StatementError              a statement of metastored that cannot be parsed: line, column, what was expected
│   ├── SparkStatementError         a session of Spark executes it; the message says how
│   └── AcidStatementError          a statement on an ACID table that cannot be carried out
├── ConversionError             a value of the metastore that has no meaning here: a time, a type, a partition name
├── SparkCatalogError           Spark's catalog refuses it; `condition` is the name of Spark's error
├── LockFailed                  a lock was not acquired in time, or was lost
│   └── LeaseHeld                   another process is at work on the same thing
├── TransactionFailed           a transaction was aborted: it can be repeated
├── CommitUnknown               whether a transaction was committed is not known; `transaction` is its id
├── CopyMismatch                a copy of a table is not equal to its source
├── StepFailed                  a step of a pipeline failed; the results of the steps before it stay
├── AuthenticationError         the credentials are missing or wrong
├── StoreError                  the database or the warehouse could not do it
│   └── ServerBusy                  the server is stopping, or has too many calls waiting
├── MissingExtra                a pip extra is not installed
├── ApplicationError            Thrift's own TApplicationException, with its type number
└── MetastoreError              what Hive's IDL declares; one class for each exception of the API,
    ├── MetaException               with the same name and a message
    │   ├── PermissionDenied            as the client raises them, for any exception of the server: no privilege,
    │   ├── ReadOnlyServer              a write to a read-only server,
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

from collections.abc import Sequence
from enum import Enum

__all__ = [
    "THRIFT_EXCEPTIONS",
    "AcidStatementError",
    "AcidTableError",
    "AlreadyExistsException",
    "ApplicationError",
    "AuthenticationError",
    "CommitUnknown",
    "CompactionAbortedException",
    "ConfigError",
    "ConfigValSecurityException",
    "ConnectError",
    "ConnectionLost",
    "ConversionError",
    "CopyMismatch",
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
    "LeaseHeld",
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
    "PipelineError",
    "PoolExhausted",
    "ProtocolError",
    "RateLimited",
    "ReadOnlyServer",
    "RemoteProtocolError",
    "ReplyRefused",
    "ServerBusy",
    "SparkCatalogError",
    "SparkStatementError",
    "StatementError",
    "StepFailed",
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
    "install_command",
    "kind_of",
]


class Error(Exception):
    """The base class of all errors that metastored raises on purpose."""


class ConfigError(Error):
    """A setting is unknown or has a value that cannot be used."""


class InvalidAddress(ConfigError):
    """The argument is not the address of a metastore."""


class PipelineError(ConfigError):
    """A pipeline file cannot be run as it is. `problems` has all problems, each with its line."""

    def __init__(self, file: str, problems: Sequence[tuple[int, str]]) -> None:
        self.file = file
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{file}:{line}: {text}" for line, text in problems))


class ProtocolError(Error):
    """Bytes that break the protocol. Never raised itself, only its two kinds."""


class LocalProtocolError(ProtocolError):
    """A message that metastored itself was about to send is not valid."""


class RemoteProtocolError(ProtocolError):
    """The peer sent bytes that are not valid."""


class ReplyRefused(RemoteProtocolError):
    """A reply that a retry would not change: it is too long, or an HTTP status that refuses the request."""


class TransportError(Error):
    """The network failed, or the process at its other end."""


class ConnectError(TransportError):
    """No connection could be made."""


class ConnectionLost(TransportError):
    """The peer closed the connection in the middle of a call."""


class TimeoutExceeded(TransportError):
    """A deadline passed before the reply arrived."""


class PoolExhausted(TransportError):
    """Every connection is in use, and too many calls wait for one."""


class NotSupported(Error):
    """The server does not support the operation."""


class AcidTableError(NotSupported):
    """Spark alone cannot read or write an ACID table: it would use the files of its directory."""


class VersionUnknown(Error):
    """The replies of a server match no version of Hive."""


class StatementError(Error):
    """A text that is not a statement of metastored's. `line` and `column` begin at 1."""

    def __init__(self, problem: str, line: int, column: int, expected: tuple[str, ...] = ()) -> None:
        hint = f"; expected: {_listed(expected)}" if expected else ""
        super().__init__(f"line {line}, column {column}: {problem}{hint}")
        self.problem = problem
        self.line = line
        self.column = column
        self.expected = expected
        """What would be right at this place, sorted; empty where the error is about the whole statement."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.problem, self.line, self.column, self.expected)


class SparkStatementError(StatementError):
    """A statement that Spark executes, and not the metastore; the message says how."""


class AcidStatementError(StatementError):
    """A statement on an ACID table that cannot be carried out; the message has the reason."""


def _listed(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


class ConversionError(Error):
    """A value that came from the metastore cannot be understood."""


class SparkCatalogError(Error):
    """Spark's AnalysisException: `condition` is the name of Spark's error, such as TABLE_OR_VIEW_NOT_FOUND."""

    def __init__(self, condition: str, message: str) -> None:
        super().__init__(f"[{condition}] {message}")
        self.condition = condition
        self.message = message

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.condition, self.message)


class LockFailed(Error):
    """A lock was not acquired in time, or was lost while it was held."""


class LeaseHeld(LockFailed):
    """Another process has the lease. The message says who and since when."""


class TransactionFailed(Error):
    """A transaction was aborted. Nothing of it is visible, and it can be repeated."""


class CommitUnknown(Error):
    """The connection was lost during a commit, and whether it took effect could not be found out.

    A program that repeats the transaction may write its rows twice: `client.transaction_state(error.transaction)` says
    whether it was committed, once the server can be reached.
    """

    def __init__(self, message: str, transaction: int) -> None:
        super().__init__(message)
        self.transaction = transaction
        """The id of the transaction on the server."""


class AuthenticationError(Error):
    """The credentials are missing or wrong."""


class StoreError(Error):
    """An operation of the database or the warehouse failed."""


class ServerBusy(StoreError):
    """The server is stopping, or too many calls wait for a thread."""


class CopyMismatch(Error):
    """A copy is not equal to its source: the number of rows, or a checksum of rows or of a file, differs."""


class StepFailed(Error):
    """A step of a pipeline failed; the results of the steps before it stay."""


class MissingExtra(Error):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: {install_command(extra)}")


def install_command(extra: str) -> str:
    """The pip command that installs an extra, for the way in which metastored itself was installed."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = distribution("metastored").read_text("direct_url.json")
    except PackageNotFoundError:
        origin = None
    return _command_for(extra, origin)


def _command_for(extra: str, origin: str | None) -> str:
    """The pip command for an extra of a package with this `direct_url.json` (PEP 610); None: it came from an index.

    A package that was installed from a folder that still exists, such as a clone, is installed from there again.
    """
    import json
    import shlex
    from pathlib import Path
    from urllib.parse import unquote, urlsplit

    installation = json.loads(origin) if origin else {}
    url = urlsplit(installation.get("url", ""))
    if url.scheme != "file" or "dir_info" not in installation or not Path(unquote(url.path)).is_dir():
        return f"pip install 'metastored[{extra}]'"
    editable = "-e " if installation["dir_info"].get("editable") else ""
    return f"pip install {editable}{shlex.quote(f'{unquote(url.path)}[{extra}]')}"


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
    """The server has no such method; the message names the versions that have it."""

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


class AlreadyExistsException(MetastoreError):
    """An object of this name exists already."""


class CompactionAbortedException(MetastoreError):
    """A compaction was aborted before its transaction was committed."""


class ConfigValSecurityException(MetastoreError):
    """The value of a setting is not shown to clients."""


class IndexAlreadyExistsException(MetastoreError):
    """An index of this name exists already."""


class InvalidInputException(MetastoreError):
    """An argument of the call cannot be used."""


class InvalidObjectException(MetastoreError):
    """An object in the call is not valid, such as a name, a type or a location."""


class InvalidOperationException(MetastoreError):
    """The call is not possible in the present state, such as the drop of a database that has tables."""


class InvalidPartitionException(MetastoreError):
    """The values of a partition are not valid."""


class MetaException(MetastoreError):
    """Any other error of the server; the message has the reason."""


class PermissionDenied(MetaException):
    """The caller does not have the privilege for the call."""


class ReadOnlyServer(MetaException):
    """The server is read-only."""


class RateLimited(MetaException):
    """The caller has made too many calls, and must wait."""


class NoSuchCompactionException(MetastoreError):
    """There is no such compaction."""


class NoSuchLockException(MetastoreError):
    """There is no such lock: it was released, or it expired."""


class NoSuchObjectException(MetastoreError):
    """There is no object of this name."""


class NoSuchTxnException(MetastoreError):
    """There is no such transaction."""


class TxnAbortedException(MetastoreError):
    """The transaction was aborted, by a client or because its heartbeats stopped."""


class TxnOpenException(MetastoreError):
    """The transaction is still open."""


class UnknownDBException(MetastoreError):
    """There is no such database, for calls that declare this exception instead of NoSuchObjectException."""


class UnknownPartitionException(MetastoreError):
    """There is no such partition."""


class UnknownTableException(MetastoreError):
    """There is no such table, for calls that declare this exception instead of NoSuchObjectException."""


class ObjectNotFound(NoSuchObjectException):
    """An object does not exist: `object` is its kind as in the method table, `name` the requested name."""

    def __init__(self, object: str, name: str, message: str | None = None) -> None:
        super().__init__(f"{object} {name} not found" if not message or message == name else message)
        self.object = object
        self.name = name

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.name in text else f"{self.object} {self.name}: {text}"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.object, self.name, self.message)


class DatabaseNotFound(ObjectNotFound):
    """A database does not exist."""


class TableNotFound(ObjectNotFound):
    """A table or view does not exist."""


class ObjectAlreadyExists(AlreadyExistsException):
    """An object exists already; its attributes are as in ObjectNotFound."""

    def __init__(self, object: str, name: str, message: str | None = None) -> None:
        super().__init__(message or f"{object} {name} already exists")
        self.object = object
        self.name = name

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.name in text else f"{self.object} {self.name}: {text}"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.object, self.name, self.message)


class DatabaseAlreadyExists(ObjectAlreadyExists):
    """A database of this name exists already."""


class TableAlreadyExists(ObjectAlreadyExists):
    """A table or view of this name exists already."""


class ErrorKind(Enum):
    """The kinds of errors, by what a program can do about them."""

    NOT_FOUND = "not found"
    ALREADY_EXISTS = "already exists"
    NOT_SUPPORTED = "not supported"
    REFUSED = "refused"
    INVALID_ARGUMENT = "invalid argument"
    EXTERNAL = "external"


def kind_of(error: Error) -> ErrorKind:
    """The kind of an error."""
    if isinstance(error, SparkCatalogError):
        return _kind_of_condition(error.condition)
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


def _kind_of_condition(condition: str) -> ErrorKind:
    if condition.endswith("_NOT_FOUND"):
        return ErrorKind.NOT_FOUND
    return ErrorKind.ALREADY_EXISTS if "_ALREADY_EXIST" in condition else ErrorKind.INVALID_ARGUMENT


_NOT_FOUND = (
    NoSuchObjectException,
    UnknownDBException,
    UnknownTableException,
    UnknownPartitionException,
    NoSuchLockException,
    NoSuchTxnException,
    NoSuchCompactionException,
)
_INVALID = (
    *(ConfigError, ConversionError, StatementError),
    *(InvalidObjectException, InvalidInputException, InvalidPartitionException),
)

THRIFT_EXCEPTIONS: dict[str, type[MetastoreError]] = {cls.__name__: cls for cls in MetastoreError.__subclasses__()}
"""The exceptions that the IDL declares, by name."""
