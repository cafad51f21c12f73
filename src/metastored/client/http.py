"""Thrift over HTTP/1.1, without its socket: each call is a POST, each reply the body of its answer.

It reads answers with a length, in chunks, or up to the end of the connection, which is all that servers of Thrift
over HTTP send. It never follows a redirection: a call that writes must not go elsewhere.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from metastored.client.endpoints import Endpoint
from metastored.errors import AuthenticationError, RemoteProtocolError
from metastored.wire.connection import NEED_DATA, ClientConnection, NeedData
from metastored.wire.message import Reply
from metastored.wire.methods import Method

MAX_HEAD: Final = 64 * 1024
"""The status line and the headers of an answer."""
CONTENT_TYPES: Final = {"json": "application/vnd.apache.thrift.json"}
DEFAULT_TYPE: Final = "application/x-thrift"


def basic(user: str, password: str) -> tuple[str, str]:
    """The header that names a user by password."""
    return "Authorization", "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def bearer(token: str) -> tuple[str, str]:
    return "Authorization", f"Bearer {token}"


class HttpWire:
    """One kept connection; one request on its way at a time."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._inner = ClientConnection(endpoint.spoken, False, endpoint.max_reply, endpoint.decode)
        self._max_reply = endpoint.max_reply
        self._path = endpoint.path or "/"
        host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
        given = dict(endpoint.headers)
        headers = {
            "Host": f"{host}:{endpoint.port}",
            "Content-Type": CONTENT_TYPES.get(endpoint.spoken, DEFAULT_TYPE),
            "Accept": "*/*",
            **given,
        }
        for name, value in headers.items():
            if "\r" in name + value or "\n" in name + value:
                raise AuthenticationError(f"the header {name!r} holds a line break")
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._data = bytearray()
        self._length: int | None = None
        self._chunked = False
        self._status: tuple[int, str] | None = None
        self._body = bytearray()
        self.closes = False

    def begin(self) -> bytes:
        return b""

    def send(self, method: Method, body: bytes) -> bytes:
        message = self._inner.send(method, body)
        self._data.clear()
        self._body.clear()
        self._status = self._length = None
        self._chunked = False
        head = f"POST {self._path} HTTP/1.1\r\n{self._headers}Content-Length: {len(message)}\r\n\r\n"
        return head.encode("latin-1") + message

    def receive_data(self, data: bytes) -> None:
        self._data += data

    def next_event(self) -> Reply | NeedData:
        if self._status is None and not self._read_head():
            return NEED_DATA
        assert self._status is not None
        if not self._read_body():
            return NEED_DATA
        status, reason = self._status
        if status in (401, 403):
            raise AuthenticationError(f"the server answers {status} {reason}: user and password, or token, are refused")
        if status != 200:
            text = bytes(self._body[:200]).decode("utf-8", "replace").strip()
            raise RemoteProtocolError(f"the server answers {status} {reason}{': ' + text if text else ''}")
        self._inner.receive_data(bytes(self._body))
        self._body.clear()
        event = self._inner.next_event()
        if not isinstance(event, Reply):
            raise RemoteProtocolError("the body of the HTTP answer is no whole Thrift message")
        return event

    def hint(self) -> str:
        return "" if self._data[:5] == b"HTTP/" or not self._data else "it does not speak HTTP"

    def _read_head(self) -> bool:
        end = self._data.find(b"\r\n\r\n")
        if end < 0:
            head = bytes(self._data[:5])
            if len(self._data) > MAX_HEAD or not b"HTTP/".startswith(head):
                raise RemoteProtocolError(f"not an HTTP answer: {bytes(self._data[:16])!r}")
            return False
        lines = bytes(self._data[:end]).decode("latin-1").split("\r\n")
        del self._data[: end + 4]
        version, _, rest = lines[0].partition(" ")
        code, _, reason = rest.partition(" ")
        if not version.startswith("HTTP/1.") or not code.isdigit():
            raise RemoteProtocolError(f"not an HTTP answer: {lines[0][:80]!r}")
        pairs = (line.partition(":") for line in lines[1:])
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        if code.startswith("1"):
            return self._read_head()
        self._status = int(code), reason
        self._chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        length = headers.get("content-length", "")
        self._length = int(length) if length.isdigit() else None
        if not self._chunked and self._length is None:
            raise RemoteProtocolError("an HTTP answer without Content-Length")
        if (self._length or 0) > self._max_reply:
            raise RemoteProtocolError(f"an answer of {self._length} bytes; at most {self._max_reply} are accepted")
        kept = headers.get("connection", "").lower()
        self.closes = kept == "close" or (version == "HTTP/1.0" and kept != "keep-alive")
        return True

    def _read_body(self) -> bool:
        if not self._chunked:
            assert self._length is not None
            if len(self._data) < self._length:
                return False
            self._body += self._data[: self._length]
            del self._data[: self._length]
            return True
        while True:
            end = self._data.find(b"\r\n")
            if end < 0:
                return False
            try:
                size = int(bytes(self._data[:end]).split(b";")[0], 16)
            except ValueError:
                raise RemoteProtocolError("an HTTP chunk without its length") from None
            if len(self._body) + size > self._max_reply:
                raise RemoteProtocolError(f"an answer of more than {self._max_reply} bytes")
            if len(self._data) < end + 2 + size + 2:
                return False
            self._body += self._data[end + 2 : end + 2 + size]
            del self._data[: end + 2 + size + 2]
            if size == 0:
                return True
