"""Thrift over HTTP: one call a POST, to the handler that the Thrift port has as well.

A request is a session of its own: nothing of one caller is there for the next. Who is asking is decided before the
body is read. What all requests of a worker hold of their bodies at a time is bounded. This module knows methods only
as the table has them.
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
from metastored.hive.generation import Generation
from metastored.server.auth.identity import Identities, Unauthorized
from metastored.server.auth.negotiation import NOT_NOW
from metastored.server.calls import failure, log_when_slow
from metastored.server.streams import StreamSender, TooSlow
from metastored.server.thrift import TRANSCODE_ON_LOOP, TRANSCODED, Service
from metastored.wire.exchange import Exchange, read
from metastored.wire.limits import MAX_MESSAGE
from metastored.wire.message import REPLY, Call, Reply, Session, Stream
from metastored.wire.methods import Method
from metastored.wire.tjson_protocol import TJSON_2_3_0

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
"""Labels that a Thrift message may carry. What it is in is told from the message.

Others are refused, and so is none: a page of another site could send those with a visitor's credentials.
"""
NINE: Final = frozenset(
    (
        *("get_database", "get_databases", "get_all_databases", "get_tables_by_type", "get_all_tables"),
        *("get_table", "get_tables", "get_partitions", "get_partition_names"),
    )
)
"""The methods of the Hive Metastore HTTP protocol ([MS-HMSHTTP], section 6.1)."""
MAX_READING: Final = 1024 * 1024
"""Bytes of a body that can only ask for one of the nine."""
SHORT: Final = 64 * 1024
"""Bytes of a body that is always taken, whatever the others hold."""
MAX_HELD: Final = 256 * 1024 * 1024
"""Bytes that long bodies may hold at a time, in a worker."""
GZIP_FROM: Final = 1400
"""Bytes: what fits in one packet is not worth compressing."""
_GZIP_LEVEL = 1
_SOON = ((b"retry-after", b"5"),)


class Refusal(Exception):
    """An answer that is no Thrift: a status, and one line that says why."""

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
        """A body has become longer. Raises Refusal when there is no room for it."""
        if now > SHORT and self.held + now - before > self._most:
            text = "too many long requests are being read at the same time: try again in a moment"
            raise Refusal(503, text, _SOON)
        self.held += now - before


class ThriftOverHttp:
    """An ASGI application for one path."""

    generation: Generation
    max_body: int = MAX_MESSAGE

    def __init__(self, service: Service, identities: Identities, bodies: Bodies) -> None:
        self._service = service
        self._identities = identities
        self._bodies = bodies
        self.generation = service.generation

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await self._serve(scope, receive, send)
        except Refusal as refusal:
            await respond(send, refusal.status, f"{refusal.line}\n".encode(), refusal.headers)
        except Unauthorized as error:
            headers = [(b"www-authenticate", each.encode()) for each in error.challenges]
            if error.retry_after is not None:
                headers.append((b"retry-after", b"%d" % error.retry_after))
            await respond(send, error.status, f"{error}\n".encode(), headers)

    # What the paths differ in

    async def _identify(self, scope: Any, headers: dict[bytes, bytes], session: Session) -> Headers:
        """Puts into the session who is asking; the headers that prove to them who answers."""
        return await self._identities.caller(scope, headers, session)

    def _check(self, exchange: Exchange) -> Exchange:
        """Refuses what this path does not take."""
        return exchange

    def _serves(self, method: Method) -> bool:
        return True

    # One request

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":
            raise Refusal(405, f"{scope['method']} is not for this path: POST a Thrift message", [(b"allow", b"POST")])
        headers: dict[bytes, bytes] = dict(scope["headers"])
        client = scope["client"] or ("", 0)
        session = Session(f"{client[0]}:{client[1]}", self.generation)
        try:
            proof = await self._identify(scope, headers, session)
        except StoreError as error:
            log.error("%s: who is asking cannot be found out: %s", session.peer, error)
            raise Refusal(503, NOT_NOW, _SOON) from None
        label = _media_type(headers)
        body = _Body(self._bodies, self.max_body)
        try:
            await body.receive(receive, headers)
            await self._reply(body, session, headers, [(b"content-type", label), *proof], receive, send)
        finally:
            body.forget()

    async def _reply(
        self, body: _Body, session: Session, headers: dict[bytes, bytes], answers: Any, receive: Any, send: Any
    ) -> None:
        exchange = await self._parsed(body.data)
        reply = await self._answer(exchange, session)
        if exchange.request.oneway:
            await respond(send, 200, b"", answers)
        elif isinstance(reply, Reply):
            await self._send(exchange, reply, headers, answers, receive, send)
        else:
            await respond(send, 200, reply, answers)

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

    async def _answer(self, exchange: Exchange, session: Session) -> Reply | bytes:
        """The handler's reply, or the whole answer to what is no call that can be made."""
        request = exchange.request
        call = request.call
        if call is None:
            assert request.error is not None
            return exchange.answer_error(request.error)
        if not self._serves(call.method):
            text = f"Invalid method name: '{call.method.name}' (this path serves {', '.join(sorted(NINE))})"
            return exchange.answer_error(ApplicationError(ApplicationError.UNKNOWN_METHOD, text))
        started = monotonic()
        if call.method.cost != "point" and self._service.state.replies.is_full:
            # Its answer may be long: it waits until there is memory for it.
            await self._service.state.replies.room(0)
        try:
            return await self._service.handler.handle(call, session)
        except Exception as error:
            return failure(call, error, session.peer)
        finally:
            log_when_slow(call, session.peer, monotonic() - started, self._service.settings.slow_call)

    async def _send(
        self, exchange: Exchange, reply: Reply, asked: dict[bytes, bytes], headers: Any, receive: Any, send: Any
    ) -> None:
        service, body, call = self._service, reply.body, exchange.request.call
        assert call is not None
        if isinstance(body, Stream) and exchange.protocol.name == "binary":
            await self._stream(exchange, call, body, headers, receive, send)
            return
        long = isinstance(body, Stream) or len(body) > TRANSCODE_ON_LOOP
        pool = service.stream_pool if isinstance(body, Stream) else service.pool
        zipped = _wants_gzip(asked)
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
        """A long reply, no faster than the peer takes it."""
        service, request = self._service, exchange.request
        head = exchange.protocol.write(REPLY, request.name, request.seqid, b"", None)
        outlet = _Outlet(send, [(b"content-length", b"%d" % (len(head) + stream.length)), *headers])
        sender = StreamSender(stream, head, bytes, outlet, service.stream_pool, service.state, service.spool)
        watching = asyncio.create_task(outlet.watch(receive))
        pumping = asyncio.create_task(outlet.pump())
        try:
            await sender.run()
        except Exception as error:
            if sender.begun and isinstance(error, TooSlow):
                log.warning("HTTP: dropped: %s", error)
                outlet.leave()
                return
            if sender.begun:
                raise
            outlet.leave()
            await respond(send, 200, exchange.answer(failure(call, error, "HTTP")), headers)
        finally:
            outlet.end()
            watching.cancel()
            await pumping


class _Outlet:
    """What a stream writes to: one chunk at a time is on its way to the peer."""

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
        """Notices that the peer has gone."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self.leave()

    def leave(self) -> None:
        """Nothing more is sent: the peer has gone, or is given up."""
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
    """The path of the Hive Metastore HTTP protocol: TJSON only, proven callers only, structs as in Hive 2.3."""

    def __init__(
        self, service: Service, identities: Identities, bodies: Bodies, methods: Collection[str] | None
    ) -> None:
        super().__init__(service, identities, bodies)
        self.generation = Generation.HIVE_2_3
        self._methods = methods
        if methods is not None:
            self.max_body = MAX_READING

    async def _identify(self, scope: Any, headers: dict[bytes, bytes], session: Session) -> Headers:
        return await self._identities.proven_caller(scope, headers, session)

    def _check(self, exchange: Exchange) -> Exchange:
        if exchange.protocol.name != "json":
            raise Refusal(415, f"this path takes Thrift's JSON only, not {exchange.protocol.name}: use /metastore")
        call = exchange.request.call
        # A method that came after 2.3 has structs that 2.3 knows nothing of.
        is_old = call is None or "2.3" in call.method.versions
        return exchange._replace(protocol=TJSON_2_3_0) if is_old else exchange

    def _serves(self, method: Method) -> bool:
        return self._methods is None or method.name in self._methods


async def respond(send: Any, status: int, body: bytes, headers: Headers = ()) -> None:
    """A whole answer. A line of text unless the headers say otherwise."""
    found = [*headers, (b"content-length", b"%d" % len(body))]
    if status != HTTPStatus.OK:
        found.append((b"content-type", b"text/plain; charset=utf-8"))
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        found.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": found})
    await send({"type": "http.response.body", "body": body})


def _media_type(headers: dict[bytes, bytes]) -> bytes:
    raw = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    label = raw.decode("latin-1")
    if label not in TYPES:
        found = f"the content type {label!r} is no Thrift" if label else "the request has no content type"
        raise Refusal(415, f"{found}: use {JSON_TYPE} or {THRIFT_TYPE}")
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise Refusal(415, "compressed requests are not taken: send the body as it is")
    return raw


class _Body:
    """The body of one request, as far as it has come."""

    def __init__(self, bodies: Bodies, most: int) -> None:
        self._bodies = bodies
        self._most = most
        self._length = 0
        self.data = b""

    async def receive(self, receive: Any, headers: dict[bytes, bytes]) -> None:
        """All of it. Raises Refusal for one that is too long, or ends too soon."""
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
    data = exchange.answer(reply)
    if not zipped or len(data) < GZIP_FROM:
        return data, False
    return zlib.compress(data, _GZIP_LEVEL, 31), True
