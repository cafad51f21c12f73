"""Where metastores listen and what they speak there: `thrift://a:9083,thrift://b:9083` as data. Pure.

    thrift://host:9083                      Thrift over TCP, 9083 when no port is given
    thrifts://host:9083                     the same inside TLS
    http://host:port/path, https://…        Thrift over HTTP

Several addresses are alternatives for one another, in the order in which they are tried.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from metastored.errors import InvalidAddress
from metastored.wire.limits import MAX_REPLY

if TYPE_CHECKING:
    from metastored.client.sasl import Mechanism

DEFAULT_PORT: Final = 9083
_HTTP_PORTS: Final = {"http": 80, "https": 443}
_EXAMPLE: Final = "write thrift://host:9083"


class Identity(NamedTuple):
    """For whom a connection speaks. Without a user the metastore is not told."""

    user: str | None
    groups: tuple[str, ...] = ()


class Endpoint(NamedTuple):
    """One address."""

    host: str
    port: int
    protocol: str | None = "binary"
    """None: binary is tried, then compact."""
    framed: bool | None = False
    """None: unframed is tried, then framed."""
    connect_timeout: float = 5.0
    """Seconds for the connection itself, TLS and SASL included."""
    max_reply: int = MAX_REPLY
    """Bytes of one answer, which is held in memory."""
    decode: bool = False
    """Answers are decoded as they are read: for who wants what is in them, and not only to pass them on."""
    tls: ssl.SSLContext | None = None
    path: str | None = None
    """What an HTTP request asks for; None where Thrift is spoken directly."""
    headers: tuple[tuple[str, str], ...] = ()
    sasl: Callable[[str], Mechanism] | None = None
    """Makes one connection's part in a SASL negotiation, for the server's host name."""

    @property
    def spoken(self) -> str:
        """The protocol of a connection, for which it is settled."""
        return self.protocol or "binary"

    def alternatives(self) -> tuple[Endpoint, ...]:
        """The same address with each way to speak there that is not settled, in the order in which they are tried."""
        protocols = ("binary", "compact") if self.protocol is None else (self.protocol,)
        framings = (False, True) if self.framed is None else (self.framed,)
        return tuple(self._replace(protocol=each, framed=framed) for each in protocols for framed in framings)

    @property
    def uri(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        scheme = "thrift" if self.path is None else "http"
        return f"{scheme}{'s' if self.tls else ''}://{host}:{self.port}{self.path or ''}"


def endpoints_of(uris: str | Iterable[str], tls: ssl.SSLContext | None = None) -> tuple[Endpoint, ...]:
    """The addresses in a list; each text may hold several, separated by commas."""
    texts = [uris] if isinstance(uris, str) else list(uris)
    found = tuple(endpoint_of(part.strip(), tls) for text in texts for part in text.split(",") if part.strip())
    if not found:
        raise InvalidAddress(f"no address of a metastore was given; {_EXAMPLE}")
    return found


def endpoint_of(uri: str, tls: ssl.SSLContext | None = None) -> Endpoint:
    """The address that one URI names. `tls` replaces Python's default settings where TLS is spoken."""
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidAddress(f"{uri!r} is not the address of a metastore: {error}; {_EXAMPLE}") from error
    if not host or "," in uri or parts.username or parts.fragment:
        raise InvalidAddress(f"{uri!r} is not the address of one metastore; {_EXAMPLE}")
    if parts.scheme in _HTTP_PORTS:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        secure = (tls or ssl.create_default_context()) if parts.scheme == "https" else None
        return Endpoint(host, port or _HTTP_PORTS[parts.scheme], "json", tls=secure, path=path)
    if parts.scheme not in ("thrift", "thrifts") or parts.path or parts.query:
        raise InvalidAddress(f"{uri!r} is not the address of one metastore; {_EXAMPLE}")
    if parts.scheme == "thrifts" and tls is None:
        tls = ssl.create_default_context()
    return Endpoint(host, DEFAULT_PORT if port is None else port, tls=tls)


class Addresses:
    """In which order addresses are tried: the one that answered last, then the others as they were given."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._endpoints = list(endpoints)
        self._current = 0

    def order(self) -> tuple[Endpoint, ...]:
        return (*self._endpoints[self._current :], *self._endpoints[: self._current])

    def answered(self, endpoint: Endpoint, learned: Endpoint) -> None:
        """It works; `learned` is the same address with what was found out about it."""
        if endpoint in self._endpoints:  # Otherwise somebody who asked at the same time has learned it already.
            at = self._endpoints.index(endpoint)
            self._endpoints[at] = learned
            self._current = at

    @property
    def current(self) -> str:
        """The address that answered last."""
        return self._endpoints[self._current].uri

    def __str__(self) -> str:
        return ",".join(endpoint.uri for endpoint in self._endpoints)
