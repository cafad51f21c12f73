"""Options that several commands share, as groups: a command names the group, and its flags are added to the command.

    @explained
    @options(server=Server.read)
    def every(server: Server, output: Output = "text") -> None: ...

The command above has the flag --output and all flags of `Server.read`. No group opens a connection or a database.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar, get_type_hints

import typer

from metastored.config import URI_VARIABLE, load

if TYPE_CHECKING:
    from metastored.client._sync.client import Client
    from metastored.config import Settings

F = TypeVar("F", bound=Callable[..., Any])

Output = Annotated[Literal["text", "json"], typer.Option(help="The format of the output.")]
Config = Annotated[Path | None, typer.Option(metavar="FILE", help="The configuration file of the server.")]
Table = Annotated[str, typer.Argument(metavar="DB.TABLE", help="The table, as db.table or catalog.db.table.")]

_Uri = Annotated[
    str | None,
    typer.Option(
        metavar="URI",
        help="The address of the metastore: thrift://host:9083, https://… [default: the variable METASTORED_URI, or "
        "the host and port of the configuration]",
    ),
]
_User = Annotated[str | None, typer.Option(metavar="NAME", help="The user name.")]
_Stdin = Annotated[bool, typer.Option("--password-stdin", help="Read that user's password from standard input.")]
_Principal = Annotated[
    str | None,
    typer.Option("--kerberos", metavar="PRINCIPAL", help="Use Kerberos; the server's principal, as hive/_HOST@REALM."),
]
_Data = Annotated[str | None, typer.Option(metavar="DIRECTORY", help="The directory of the embedded database.")]
_Url = Annotated[str | None, typer.Option(metavar="URL", help="The URL of a PostgreSQL database.")]


class Login(NamedTuple):
    """The credentials for a metastore."""

    user: str | None = None
    password: str | None = None
    kerberos_principal: str | None = None

    @staticmethod
    def read(user: _User = None, password_stdin: _Stdin = False, kerberos: _Principal = None) -> Login:
        """The password is the first line of standard input."""
        return Login(user, first_line() if password_stdin else None, kerberos)

    def connect(self, uri: str) -> Client:
        """A client without a cache. It connects at its first call."""
        from metastored.client._sync.client import connect
        from metastored.client.sasl import kerberos

        sasl = None if self.kerberos_principal is None else kerberos(self.kerberos_principal)
        return connect(uri, user=self.user, password=self.password, sasl=sasl, cache=False)


class Server(NamedTuple):
    """The metastore that a command calls."""

    uri: str
    login: Login

    @staticmethod
    def read(
        uri: _Uri = None,
        user: _User = None,
        password_stdin: _Stdin = False,
        kerberos: _Principal = None,
        config: Config = None,
    ) -> Server:
        return Server(address(uri, config), Login.read(user, password_stdin, kerberos))

    @contextmanager
    def connect(self) -> Iterator[Client]:
        """A client without a cache. It connects at its first call. A missing database is named in errors."""
        from metastored.cli.missing import missing_object
        from metastored.errors import TableNotFound

        with self.login.connect(self.uri) as client:
            try:
                yield client
            except TableNotFound as error:
                raise missing_object(client, error) from None


def address(uri: str | None, config: Path | None) -> str:
    """The address from the flag, else from METASTORED_URI, else that of the server that the configuration describes."""
    return uri or os.environ.get(URI_VARIABLE) or address_of(load(config))


def address_of(settings: Settings) -> str:
    """The address at which a server with these settings is called from this machine."""
    scheme = "thrift" if settings.tls_certificate is None else "thrifts"
    host = "localhost" if settings.host in ("0.0.0.0", "::") else settings.host
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{settings.port}"


class Store(NamedTuple):
    """The database that a command opens, as the settings of a server."""

    settings: Settings

    @staticmethod
    def read(data: _Data = None, database_url: _Url = None, config: Config = None) -> Store:
        flags = {name: value for name, value in (("data", data), ("database_url", database_url)) if value is not None}
        return Store(load(config, flags=flags))

    def __str__(self) -> str:
        return self.settings.shown_database


def first_line() -> str:
    """The first line of standard input: a password."""
    return sys.stdin.readline().rstrip("\r\n")


def options(**groups: Callable[..., Any]) -> Callable[[F], F]:
    """Replaces parameters of a command by the parameters of the functions that make them.

    A parameter that two groups share is one flag, and both get its value.
    """

    def expand(command: F) -> F:
        hints = get_type_hints(command, include_extras=True)
        own = inspect.signature(command).parameters
        members = {name: _parameters(make) for name, make in groups.items()}
        parameters = {name: own[name].replace(annotation=hints[name]) for name in own if name not in groups}
        for each in members.values():
            parameters |= each
        # All are passed by name: then a flag without a default may follow one that has a default.
        listed = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters.values()]

        @wraps(command)
        def run(**values: Any) -> Any:
            made = {name: make(**{member: values[member] for member in members[name]}) for name, make in groups.items()}
            return command(**{name: values[name] for name in own if name not in groups}, **made)

        run.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in listed}
        return run  # type: ignore[return-value]

    return expand


def _parameters(make: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    # The names in the annotations of `make` that only a type checker knows are not those of parameters.
    known = {"Settings": Any, "Client": Any}
    hints = get_type_hints(make, localns=known, include_extras=True)
    return {name: each.replace(annotation=hints[name]) for name, each in inspect.signature(make).parameters.items()}
