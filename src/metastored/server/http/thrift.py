"""Thrift over HTTP: one call per POST, to the same handler as the Thrift port.

Each request is a session of its own. The next request on the same connection gets one thing from it: whether its
caller is in a DROP DATABASE … CASCADE of a remote database. Authentication comes before the
body is read. The bytes of request bodies that a worker holds at a time are bounded. This module reads methods only
from the method table.
"""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Collection, Iterable
from functools import partial
from http import HTTPStatus
from time import monotonic
from typing import Any, Final

from metastored.errors import ApplicationError, RemoteProtocolError, StoreError
from metastored.hive.generation import Compat, Generation
from metastored.server.auth.identity import Identities, Unauthorized
from metastored.server.auth.negotiation import NOT_NOW
from metastored.server.calls import failure, log_when_slow
from metastored.server.http.forwarded import client_address, networks
from metastored.server.relays import RelaySender
from metastored.server.streams import StreamSender, TooSlow
from metastored.server.thrift import TRANSCODE_ON_LOOP, TRANSCODED, Service
from metastored.wire.codec.tjson_protocol import TJSON_2_3_0
from metastored.wire.exchange import Exchange, read
from metastored.wire.limits import MAX_MESSAGE
from metastored.wire.message import REPLY, Call, Relayed, Reply, Session, Stream
from metastored.wire.methods import Method

log = logging.getLogger("metastored.server")

Headers = Iterable[tuple[bytes, bytes]]

JSON_TYPE: Final = "application/vnd.apache.thrift.json"
THRIFT_TYPE: Final = "application/x-thrift"
TYPES: Final = frozenset(
    (
        *(JSON_TYPE, "application/vnd.apache.thrift.binary", "application/vnd.apache.thrift.compact", THRIFT_TYPE),
        *("application/json", "application/octet-stream"),
    )
)
"""The accepted content types. The protocol is detected from the message itself.

Other or missing content types are refused: a page of another site could send them with a visitor's credentials.
"""
NINE: Final = frozenset(
    (
        *("get_database", "get_databases", "get_all_databases", "get_tables_by_type", "get_all_tables"),
        *("get_table", "get_tables", "get_partitions", "get_partition_names"),
    )
)
"""The methods of the Hive Metastore HTTP protocol ([MS-HMSHTTP], section 6.1)."""
MAX_READING: Final = 1024 * 1024
"""The limit of a request body of the nine methods, in bytes."""
SHORT: Final = 64 * 1024
"""A body of up to this many bytes is always accepted, however much other requests hold."""
MAX_HELD: Final = 256 * 1024 * 1024
"""Bytes that long bodies may hold at a time, in a worker."""
GZIP_FROM: Final = 1400
"""Bytes: what fits in one packet is not worth compressing."""
MAX_CASCADES: Final = 64
"""Callers of one connection, which a proxy may share between many, that may be in a DROP DATABASE … CASCADE."""
_GZIP_LEVEL = 1
_SOON = ((b"retry-after", b"5"),)


class Refusal(Exception):
    """A response that is not Thrift: a status, and one line with the reason."""

    def __init__(self, status: int, line: str, headers: Headers = ()) -> None:
        super().__init__(line)
        self.status = status
        self.line = line
        self.headers = tuple(headers)


class Bodies:
    """How much of requests is in memory. One for all paths of a worker."""

    def __init__(self, most: int = MAX_HELD) -> None:
        self._most = most
        self.held = 0

    def grow(self, before: int, now: int) -> None:
        """Counts the growth of a body. Raises Refusal above the limit."""
        if now > SHORT and self.held + now - before > self._most:
            text = "too many long requests are being read at the same time: try again in a moment"
            raise Refusal(503, text, _SOON)
        self.held += now - before


class ThriftOverHttp:
    """An ASGI application for one path."""

    compat: Compat
    max_body: int = MAX_MESSAGE

    def __init__(self, service: Service, identities: Identities, bodies: Bodies) -> None:
        self._service = service
        self._identities = identities
        self._bodies = bodies
        self._trusted = networks(service.settings.trusted_proxies)
        self.compat = service.compat

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await self._serve(scope, receive, send)
        except Refusal as refusal:
            await respond(send, refusal.status, f"{refusal.line}\n".encode("utf-8", "replace"), refusal.headers)
        except Unauthorized as error:
            headers = [(b"www-authenticate", each.encode()) for each in error.challenges]
            if error.retry_after is not None:
                headers.append((b"retry-after", b"%d" % error.retry_after))
            await respond(send, error.status, f"{error}\n".encode("utf-8", "replace"), headers)

    def _peer(self, scope: Any) -> str:
        """Address and port of the client. The port of a client behind a proxy is not known and is 0."""
        host, port = scope["client"] or ("", 0)
        client = client_address(host, scope["headers"], self._trusted)
        return f"{host}:{port}" if client is None else f"{client}:0"

    # Overridden for each path

    async def _identify(self, scope: Any, headers: dict[bytes, bytes], session: Session) -> Headers:
        """Authenticates the caller into the session; returns the response headers that authenticate the server."""
        return await self._identities.caller(scope, headers, session)

    def _check(self, exchange: Exchange) -> Exchange:
        """Refuses requests that this path does not accept."""
        return exchange

    def _serves(self, method: Method) -> bool:
        return True

    # One request

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":
            raise Refusal(405, f"{scope['method']} is not for this path: POST a Thrift message", [(b"allow", b"POST")])
        headers: dict[bytes, bytes] = dict(scope["headers"])
        session, authentication = await self._identified(scope, headers)
        label = _media_type(headers)
        body = RequestBody(self._bodies, self.max_body)
        try:
            await body.receive(receive, headers)
            await self._reply(body, session, scope, [(b"content-type", label), *authentication], receive, send)
        finally:
            body.forget()

    async def _identified(self, scope: Any, headers: dict[bytes, bytes]) -> tuple[Session, Headers]:
        """A session of the caller, and the response headers that authenticate the server.

        Raises Refusal and Unauthorized.
        """
        session = Session(self._peer(scope), self.compat)
        session.one_call = True
        scope["state"]["sessions"]["last"] = session  # The connection tells it when the peer disconnects.
        try:
            return session, await self._identify(scope, headers, session)
        except StoreError as error:
            log.error("%s: the caller cannot be authenticated: %s", session.peer, error)
            raise Refusal(503, NOT_NOW, _SOON) from None

    async def _reply(
        self,
        body: RequestBody,
        session: Session,
        scope: Any,
        response_headers: Any,
        receive: Any,
        send: Any,
    ) -> None:
        exchange = await self._parsed(body.data)
        headers: dict[bytes, bytes] = dict(scope["headers"])
        _continue_cascade(scope, session)
        reply = await self._call(exchange, session)
        _keep_cascade(scope, session)  # Before the response: the next request may follow it at once.
        if exchange.request.oneway:
            await respond(send, 200, b"", response_headers)
        elif isinstance(reply, Reply):
            await self._send(exchange, reply, headers, response_headers, receive, send)
        else:
            await respond(send, 200, reply, response_headers)

    async def _parsed(self, body: bytes) -> Exchange:
        if len(body) <= SHORT:
            return self._read(body)
        # On the loop a long message would keep all others waiting.
        try:
            return await self._service.pool.run(partial(self._read, body))
        except StoreError as error:
            raise Refusal(503, str(error), _SOON) from None

    def _read(self, body: bytes) -> Exchange:
        try:
            return self._check(read(body))
        except RemoteProtocolError as error:
            raise Refusal(400, " ".join(str(error).split())) from None

    async def _call(self, exchange: Exchange, session: Session) -> Reply | bytes:
        """The handler's reply, or the encoded error if the request is not a valid call."""
        request = exchange.request
        call = request.call
        if call is None:
            assert request.error is not None
            return exchange.encode_error(request.error)
        if not self._serves(call.method):
            text = f"Invalid method name: '{call.method.name}' (this path serves {', '.join(sorted(NINE))})"
            return exchange.encode_error(ApplicationError(ApplicationError.UNKNOWN_METHOD, text))
        started = monotonic()
        call.relays = exchange.protocol.name == "binary"
        if call.method.cost != "point" and self._service.state.replies.is_full:
            # The reply may be long: the call waits until there is memory for it.
            await self._service.state.replies.room(0)
        try:
            return await self._service.handler.handle(call, session)
        except Exception as error:
            return failure(call, error, session.peer)
        finally:
            log_when_slow(call, session.peer, monotonic() - started, self._service.settings.slow_call)

    async def _send(
        self,
        exchange: Exchange,
        reply: Reply,
        request_headers: dict[bytes, bytes],
        headers: Any,
        receive: Any,
        send: Any,
    ) -> None:
        service, body, call = self._service, reply.body, exchange.request.call
        assert call is not None
        if isinstance(body, Stream) and exchange.protocol.name == "binary":
            await self._stream(exchange, call, body, headers, receive, send)
            return
        long = isinstance(body, Stream) or len(body) > TRANSCODE_ON_LOOP
        pool = service.stream_pool if isinstance(body, Stream) else service.pool
        zipped = _wants_gzip(request_headers)
        encode = partial(_encoded, exchange, reply, zipped)
        size = TRANSCODED * (body.length if isinstance(body, Stream) else len(body)) if long else 0
        if long:
            await service.state.replies.room(size)
        try:
            data, is_zipped = await pool.run(encode) if long else encode()
        except Exception as error:
            data, is_zipped = _encoded(exchange, failure(call, error, "HTTP"), False)
        finally:
            service.state.replies.change(-size)
        if is_zipped:
            headers = [*headers, (b"content-encoding", b"gzip")]
        await respond(send, 200, data, [*headers, (b"vary", b"accept-encoding")])

    async def _stream(
        self, exchange: Exchange, call: Call, stream: Stream, headers: Headers, receive: Any, send: Any
    ) -> None:
        """A long reply, no faster than the peer takes it. One that is relayed has no length, and is sent in chunks."""
        service, request = self._service, exchange.request
        head = exchange.protocol.write(REPLY, request.name, request.seqid, b"", None)
        shared = (service.stream_pool, service.state, service.spool)
        sender: StreamSender | RelaySender
        if isinstance(stream, Relayed):
            outlet = _Outlet(send, headers)
            sender = RelaySender(stream, head, bytes, outlet, *shared)
        else:
            outlet = _Outlet(send, [(b"content-length", b"%d" % (len(head) + stream.length)), *headers])
            sender = StreamSender(stream, head, bytes, outlet, *shared)
        watching = asyncio.create_task(outlet.watch(receive))
        pumping = asyncio.create_task(outlet.pump())
        try:
            await sender.run()
        except Exception as error:
            if sender.begun and (isinstance(error, TooSlow) or isinstance(stream, Relayed)):
                # The response has no end then: the peer sees that it is not complete.
                log.warning("HTTP: dropped: %s", error)
                outlet.leave()
                return
            if sender.begun:
                raise
            outlet.leave()
            await respond(send, 200, exchange.encode_reply(failure(call, error, "HTTP")), headers)
        finally:
            outlet.end()
            watching.cancel()
            await pumping


def refuse_browsers(headers: dict[bytes, bytes]) -> None:
    """Raises Refusal for a page of another site: it could send requests without a body with a visitor's credentials."""
    if b"origin" in headers or headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
        raise Refusal(403, "requests of web pages are not served here")


def _continue_cascade(scope: Any, session: Session) -> None:
    """Takes over what the caller's last request on the same connection left: see `remotes/cascades.py`."""
    session.cascade = scope.get("state", {}).get("cascades", {}).pop((session.peer, session.user), None)


def _keep_cascade(scope: Any, session: Session) -> None:
    cascades = scope.get("state", {}).get("cascades")
    if cascades is not None and session.cascade is not None and len(cascades) < MAX_CASCADES:
        cascades[session.peer, session.user] = session.cascade


class _Outlet:
    """The output of a stream: one chunk at a time is in flight to the peer."""

    def __init__(self, send: Any, headers: Headers) -> None:
        self._send = send
        self._headers = list(headers)
        self._begun = False
        self._chunk: bytes | None = None
        self._ended = False
        self._work = asyncio.Event()
        self.lost = False
        self.gone = asyncio.Event()
        self.writable = asyncio.Event()
        self.writable.set()

    def write(self, data: bytes) -> None:
        self._chunk = data
        self.writable.clear()
        self._work.set()

    def end(self) -> None:
        self._ended = True
        self._work.set()

    async def watch(self, receive: Any) -> None:
        """Waits until the peer disconnects."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self.leave()

    def leave(self) -> None:
        """Stops sending: the peer has disconnected, or was dropped."""
        self.lost = True
        self.gone.set()
        self.writable.set()

    async def pump(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            chunk, self._chunk = self._chunk, None
            if chunk is not None:
                if not self._begun:
                    self._begun = True
                    await self._send({"type": "http.response.start", "status": 200, "headers": self._headers})
                await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
                self.writable.set()
            elif self._ended:
                break
        if self._begun and not self.lost:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


class HmsHttp(ThriftOverHttp):
    """The path of the Hive Metastore HTTP protocol: TJSON only, authenticated callers only, structs as in Hive 2.3."""

    def __init__(
        self, service: Service, identities: Identities, bodies: Bodies, methods: Collection[str] | None
    ) -> None:
        super().__init__(service, identities, bodies)
        self.compat = Compat.only(Generation.HIVE_2_3)
        self._methods = methods
        if methods is not None:
            self.max_body = MAX_READING

    async def _identify(self, scope: Any, headers: dict[bytes, bytes], session: Session) -> Headers:
        return await self._identities.authenticated_caller(scope, headers, session)

    def _check(self, exchange: Exchange) -> Exchange:
        if exchange.protocol.name != "json":
            raise Refusal(415, f"this path takes Thrift's JSON only, not {exchange.protocol.name}: use /metastore")
        call = exchange.request.call
        # A method that was added after 2.3 has structs that do not exist in 2.3.
        is_old = call is None or "2.3" in call.method.versions
        return exchange._replace(protocol=TJSON_2_3_0) if is_old else exchange

    def _serves(self, method: Method) -> bool:
        return self._methods is None or method.name in self._methods


async def respond(send: Any, status: int, body: bytes, headers: Headers = ()) -> None:
    """Sends a complete response: plain text unless the headers say otherwise."""
    complete = [*headers, (b"content-length", b"%d" % len(body))]
    if status != HTTPStatus.OK and all(name != b"content-type" for name, _ in complete):
        complete.append((b"content-type", b"text/plain; charset=utf-8"))
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        complete.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": complete})
    await send({"type": "http.response.body", "body": body})


def _media_type(headers: dict[bytes, bytes]) -> bytes:
    raw = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    label = raw.decode("latin-1")
    if label not in TYPES:
        problem = f"the content type {label!r} is not Thrift" if label else "the request has no content type"
        raise Refusal(415, f"{problem}: use {JSON_TYPE} or {THRIFT_TYPE}")
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise Refusal(415, "compressed requests are not taken: send the body as it is")
    return raw


class RequestBody:
    """The body of one request, as far as it has come."""

    def __init__(self, bodies: Bodies, most: int) -> None:
        self._bodies = bodies
        self._most = most
        self._length = 0
        self.data = b""

    async def receive(self, receive: Any, headers: dict[bytes, bytes]) -> None:
        """Receives the complete body. Raises Refusal if it is too long, or ends too early."""
        announced = headers.get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > self._most:
            raise self._too_long()
        parts: list[bytes] = []
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refusal(400, "the request ended in the middle of its body")
            part, more = message["body"], message["more_body"]
            if self._length + len(part) > self._most:
                raise self._too_long()
            self._bodies.grow(self._length, self._length + len(part))
            self._length += len(part)
            parts.append(part)
        self.data = b"".join(parts) if len(parts) > 1 else parts[0]

    def forget(self) -> None:
        """Lets its memory go."""
        self.data = b""
        self._bodies.held -= self._length
        self._length = 0

    def _too_long(self) -> Refusal:
        return Refusal(413, f"the body has more than {self._most} bytes, which is the most that is taken")


def _wants_gzip(headers: dict[bytes, bytes]) -> bool:
    for each in headers.get(b"accept-encoding", b"").lower().split(b","):
        name, _, weight = each.strip().partition(b";")
        if name.strip() in (b"gzip", b"x-gzip"):
            return weight.replace(b" ", b"") not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000")
    return False


def _encoded(exchange: Exchange, reply: Reply, zipped: bool) -> tuple[bytes, bool]:
    data = exchange.encode_reply(reply)
    if not zipped or len(data) < GZIP_FROM:
        return data, False
    return zlib.compress(data, _GZIP_LEVEL, 31), True
