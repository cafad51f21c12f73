"""The addresses of metastores and how to connect to them: `thrift://a:9083,thrift://b:9083` as data. Pure.

    thrift://host:9083                      Thrift over TCP; the default port is 9083
    thrifts://host:9083                     the same with TLS
    http://host:port/path, https://…        Thrift over HTTP

Several addresses are alternatives (failover); they are tried in their order.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from metastored.client.mechanisms import Mechanism
from metastored.errors import InvalidAddress
from metastored.wire.limits import MAX_REPLY

DEFAULT_PORT: Final = 9083
_HTTP_PORTS: Final = {"http": 80, "https": 443}
_EXAMPLE: Final = "write thrift://host:9083"


class Identity(NamedTuple):
    """The user of a connection. Without a user, no set_ugi is sent."""

    user: str | None
    groups: tuple[str, ...] = ()


class TransportSettings(NamedTuple):
    """How calls travel to every address."""

    protocol: str | None = None
    """binary, compact or json; None: binary is tried, then compact. Over HTTP None is binary."""
    framed: bool | None = None
    """None: unframed is tried, then framed. Over HTTP and with SASL there are no frames."""
    headers: Mapping[str, str] | None = None
    """Of each request over HTTP."""
    connect_timeout: float = 5.0
    """Seconds until a connection is ready: TCP, TLS and SASL."""
    max_reply: int = MAX_REPLY
    """Maximum bytes of one reply, which is held in memory."""


class Endpoint(NamedTuple):
    """One address."""

    host: str
    port: int
    protocol: str | None = "binary"
    """None: binary is tried, then compact."""
    framed: bool | None = False
    """None: unframed is tried, then framed."""
    connect_timeout: float = 5.0
    """Seconds until a connection is ready: TCP, TLS and SASL. While other addresses can still be tried, the reply to
    the first call is included."""
    max_reply: int = MAX_REPLY
    """Maximum bytes of one reply, which is held in memory."""
    decode: bool = False
    """Whether replies are decoded while they are read. False for a proxy, which passes the bytes on."""
    tls: ssl.SSLContext | None = None
    path: str | None = None
    """The path of the HTTP requests; None for Thrift over TCP."""
    headers: tuple[tuple[str, str], ...] = ()
    sasl: Callable[[str], Mechanism] | None = None
    """Creates the SASL mechanism of one connection, for the host name of the server."""
    open_socket: Callable[[], Awaitable[socket.socket]] | None = None
    """Opens a socket that leads to the address, in place of a TCP connection to it; raises OSError or ConnectError.

    Only the asynchronous client has it: for tunnels, and for addresses that have to be checked after their resolution.
    """
    prepare: Callable[[Identity], Awaitable[Endpoint]] | None = None
    """Called for each connection: the same address with present credentials and headers for a caller.

    Only the asynchronous client has it.
    """
    introduces: bool = True
    """Whether the caller is sent by `set_ugi`; False where credentials or headers carry the caller."""

    def __repr__(self) -> str:
        return f"Endpoint({self.uri})"  # Headers have passwords in them.

    @property
    def wire_protocol(self) -> str:
        """The protocol of a connection."""
        return self.protocol or "binary"

    def alternatives(self) -> tuple[Endpoint, ...]:
        """The same address with each protocol and framing that is possible, in the order in which they are tried."""
        protocols = ("binary", "compact") if self.protocol is None else (self.protocol,)
        framings = (False, True) if self.framed is None else (self.framed,)
        return tuple(self._replace(protocol=each, framed=framed) for each in protocols for framed in framings)

    @property
    def uri(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        scheme = "thrift" if self.path is None else "http"
        return f"{scheme}{'s' if self.tls else ''}://{host}:{self.port}{self.path or ''}"


def endpoints_of(uris: str | Iterable[str], tls: ssl.SSLContext | None = None) -> tuple[Endpoint, ...]:
    """Parses addresses; each string may contain several, separated by commas. Raises InvalidAddress."""
    texts = [uris] if isinstance(uris, str) else list(uris)
    endpoints = tuple(endpoint_of(part.strip(), tls) for text in texts for part in text.split(",") if part.strip())
    if not endpoints:
        raise InvalidAddress(f"the address of a metastore is missing; {_EXAMPLE}")
    return endpoints


def endpoint_of(uri: str, tls: ssl.SSLContext | None = None) -> Endpoint:
    """Parses one URI. `tls` replaces Python's default TLS settings. Raises InvalidAddress."""
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidAddress(f"{_masked(uri)!r} is not the address of a metastore: {error}; {_EXAMPLE}") from error
    if parts.username or parts.password:
        raise InvalidAddress(
            f"{_masked(uri)!r} has a user in it; {_EXAMPLE}, and give the user and the password apart from it"
        )
    if not host or "," in uri or parts.fragment:
        raise InvalidAddress(f"{_masked(uri)!r} is not the address of one metastore; {_EXAMPLE}")
    if parts.scheme in _HTTP_PORTS:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        secure = (tls or ssl.create_default_context()) if parts.scheme == "https" else None
        return Endpoint(host, port or _HTTP_PORTS[parts.scheme], "json", tls=secure, path=path)
    if parts.scheme not in ("thrift", "thrifts") or parts.path or parts.query:
        raise InvalidAddress(f"{uri!r} is not the address of one metastore; {_EXAMPLE}")
    if parts.scheme == "thrifts" and tls is None:
        tls = ssl.create_default_context()
    return Endpoint(host, DEFAULT_PORT if port is None else port, tls=tls)


def _masked(uri: str) -> str:
    """An address without the password that may be in it."""
    return re.sub(r"(://[^/@]*?):[^/@]*@", r"\1:***@", uri)


class Addresses:
    """The order in which addresses are tried: the one that replied last, then the others in the order of the list."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._endpoints = list(endpoints)
        self._current = 0

    def order(self) -> tuple[Endpoint, ...]:
        return (*self._endpoints[self._current :], *self._endpoints[: self._current])

    def replied(self, endpoint: Endpoint, detected: Endpoint) -> None:
        """The address works; `detected` is the same address with the detected protocol and framing."""
        for at, each in enumerate(self._endpoints):
            if each == endpoint:  # Otherwise a concurrent call has stored what it detected.
                self._endpoints[at] = detected
                self._current = at

    def failed(self, endpoint: Endpoint) -> None:
        """A call on a new connection to this address failed: the next address is tried first from now on."""
        if self._endpoints[self._current] == endpoint:
            self._current = (self._current + 1) % len(self._endpoints)

    @property
    def current(self) -> str:
        """The address that is tried first."""
        return self._endpoints[self._current].uri

    def __len__(self) -> int:
        return len(self._endpoints)

    def __str__(self) -> str:
        return ",".join(endpoint.uri for endpoint in self._endpoints)
