"""Thrift over HTTP/1.1, without I/O: each call is a POST request, each reply the body of the response.

h11 parses the responses, so a malformed length, chunk or header is an error and never a wait. A response must have a
length or be chunked. Redirects are never followed: a write must not be sent to another address.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Final

import h11

from metastored.client.endpoints import Endpoint
from metastored.errors import AuthenticationError, LocalProtocolError, RemoteProtocolError, ReplyRefused
from metastored.wire.connection import NEED_DATA, ClientConnection, NeedData
from metastored.wire.message import Reply
from metastored.wire.methods import Method

MAX_HEAD: Final = 64 * 1024
"""Maximum bytes of a status line with headers, of the first line of a chunk, or of the trailers."""
FIRST: Final = b"HTTP/"
"""The first bytes of every response."""
CONTENT_TYPES: Final = {"json": "application/vnd.apache.thrift.json"}
DEFAULT_TYPE: Final = "application/x-thrift"


def basic(user: str, password: str) -> tuple[str, str]:
    """The header of HTTP Basic authentication."""
    return "Authorization", "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def bearer(token: str) -> tuple[str, str]:
    """The header of a bearer token."""
    return "Authorization", f"Bearer {token}"


class HttpWire:
    """One HTTP connection with one request at a time."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._inner = ClientConnection(endpoint.wire_protocol, False, endpoint.max_reply, endpoint.decode)
        self._max_reply = endpoint.max_reply
        self._path = endpoint.path or "/"
        host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
        extra = dict(endpoint.headers)
        headers = {
            "Host": f"{host}:{endpoint.port}",
            "Content-Type": CONTENT_TYPES.get(endpoint.wire_protocol, DEFAULT_TYPE),
            "Accept": "*/*",
            **extra,
        }
        for name, value in headers.items():
            if "\r" in name + value or "\n" in name + value:
                raise AuthenticationError(f"the header {name!r} contains a line break")
        self._headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        self._http = _connection()
        self._begun = b""
        """The first bytes that were received since the last call."""
        self._response: h11.Response | None = None
        self._body: list[bytes] = []
        self._size = 0
        self.closes = False

    def begin(self) -> bytes:
        return b""

    def send(self, method: Method, body: bytes, relays: bool = False) -> bytes:
        message = self._inner.send(method, body)
        if self._http.states == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}:
            self._http.start_next_cycle()
        elif self._http.our_state is not h11.IDLE:
            self._http = _connection()  # The response to the last call was not read to its end: it was oneway.
        self._begun, self._response, self._body, self._size = b"", None, [], 0
        headers = [*self._headers, (b"Content-Length", b"%d" % len(message))]
        try:
            head = self._http.send(h11.Request(method=b"POST", target=self._path.encode("utf-8"), headers=headers))
        except h11.LocalProtocolError as error:
            raise LocalProtocolError(f"the HTTP request is not valid: {error}") from None
        sent = (head, self._http.send(h11.Data(message)), self._http.send(h11.EndOfMessage()))
        return b"".join(part for part in sent if part)

    def receive_data(self, data: bytes) -> None:
        if len(self._begun) < len(FIRST):
            self._begun = (self._begun + data)[:16]
        self._http.receive_data(data)

    def next_part(self) -> Reply | NeedData:
        if self._begun[: len(FIRST)] != FIRST[: len(self._begun)]:
            raise RemoteProtocolError(f"not an HTTP response: {self._begun!r}")
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                raise RemoteProtocolError(f"not a valid HTTP response: {error}") from None
            if event is h11.NEED_DATA:
                return NEED_DATA
            if isinstance(event, h11.Response):
                self._check(event)
                self._response = event
            elif isinstance(event, h11.Data):
                self._add(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                return self._reply()
            elif not isinstance(event, h11.InformationalResponse):
                raise RemoteProtocolError(f"the server ended the HTTP connection: {event!r}")

    def hint(self) -> str:
        return "" if self._begun.startswith(FIRST) or not self._begun else "it is not an HTTP server"

    def _check(self, response: h11.Response) -> None:
        """Raises for a response that is too long, or whose end is not marked and would look like a lost connection."""
        headers = dict(response.headers)
        length = headers.get(b"content-length")
        if length is None and b"transfer-encoding" not in headers:
            self._refuse_status(response)
            raise RemoteProtocolError("an HTTP response without Content-Length")
        if length is not None and int(length) > self._max_reply:
            raise ReplyRefused(f"the reply has {int(length)} bytes; at most {self._max_reply} are accepted")

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._max_reply:
            raise ReplyRefused(f"the reply has more than {self._max_reply} bytes")
        self._body.append(part)

    def _reply(self) -> Reply:
        response, body = self._response, b"".join(self._body)
        assert response is not None
        self._body = []
        self.closes = self._http.our_state is h11.MUST_CLOSE or bool(self._http.trailing_data[0])
        self._refuse_status(response, body)
        self._inner.receive_data(body)
        event = self._inner.next_event()
        if not isinstance(event, Reply):
            raise RemoteProtocolError("the body of the HTTP response is not a complete Thrift message")
        return event

    def _refuse_status(self, response: h11.Response, body: bytes = b"") -> None:
        status, reason = response.status_code, bytes(response.reason).decode("latin-1")
        if status in (401, 403):
            raise AuthenticationError(
                f"the server returned {status} {reason}: user and password, or token, are refused"
            )
        if status != 200:
            text = body[:200].decode("utf-8", "replace").strip()
            kind = ReplyRefused if 300 <= status < 500 else RemoteProtocolError
            raise kind(f"the server returned {status} {reason}{': ' + text if text else ''}")


def _connection() -> h11.Connection:
    return h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
