"""One Thrift connection: bytes from the transport go into `wire`, calls to the handler, replies back.

One call is in flight at a time; further calls of the peer wait, so replies keep the order of the calls. A call that
does not wait, or only for rows of PostgreSQL, runs without a task (`stepping`). This module reads methods only from the
method table, and is independent of the objects of the catalog.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, cast

from metastored.config import Settings
from metastored.direct_future import DirectFuture
from metastored.errors import ApplicationError, AuthenticationError, Error, StoreError
from metastored.hive.generation import Compat
from metastored.model.opening import FileRules, MayOpen
from metastored.server.auth import negotiation as sasl
from metastored.server.auth.negotiation import Authenticator, Channel, Negotiation, NotYet
from metastored.server.calls import failure, log_when_slow
from metastored.server.places import no_places
from metastored.server.relays import RelaySender
from metastored.server.state import SLOWEST, SLOWEST_READER, STANDSTILL, ServerState
from metastored.server.stepping import Waiting, resume, step
from metastored.server.streams import StreamSender, TooSlow
from metastored.server.tls import common_name
from metastored.threads import Pool
from metastored.wire.connection import NEED_DATA, Refused, Request, SaslMessage, ServerConnection
from metastored.wire.message import Call, Handler, Relayed, Reply, Session, Stream
from metastored.wire.methods import METHODS

if TYPE_CHECKING:
    from metastored.store.warehouse.directories import Warehouse

log = logging.getLogger("metastored.server")

WRITE_BUFFER: Final = 256 * 1024
"""Bytes that may wait for a slow reader before nothing more is made for it."""
TURN: Final = 64
"""The most pipelined calls of one connection that are served before other connections get their turn."""
TRANSCODE_ON_LOOP: Final = 64 * 1024
"""Longer replies in compact or JSON are transcoded in the pool."""
TRANSCODED: Final = 16
"""Times the bytes of a reply that transcoding it takes, of which its values as Python's objects are nearly all."""
MAX_UNPROVEN: Final = 256 * 1024
"""The most bytes that are buffered for a peer that must authenticate and has not yet."""
PROBES: Final = (0.0, 0.05, 0.25, 1.0)
"""Seconds before each byte that is sent to detect whether a peer that closed its sending side has disconnected."""
LINGER: Final = 2.0
"""Seconds for which a refused peer may continue to send; closing at once could destroy the reply in transit."""

_SHUTDOWN = METHODS["shutdown"]


@dataclass(frozen=True, slots=True)
class Service:
    """The shared state of all connections of a worker."""

    handler: Handler
    pool: Pool
    """The application's threads; they may all be waiting for a stream to end."""
    stream_pool: Pool
    """The threads for streams only, so that streams always make progress."""
    authentication_pool: Pool
    """The threads for authentication: however many clients log in, calls continue."""
    settings: Settings
    state: ServerState
    compat: Compat
    authenticator: Authenticator | None = None
    spool: Path | None = None
    """The directory of temporary files for slow readers' streams; by default the system's temporary directory."""
    http_refusal: str = "This port serves Thrift, not HTTP."
    may_open: MayOpen = no_places
    """Whether the server itself may open the files of a table."""
    acid_views: bool = False
    """Whether clients get ACID tables as views."""
    files: Warehouse | None = None
    """The access to files of tables, and the rules for it; None where the server opens none."""
    file_rules: FileRules | None = None


class ThriftConnection(asyncio.Protocol):
    """The server's side of one connection."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._state = service.state
        self._handle = service.handler.handle
        self._slow = service.settings.slow_call
        self._wire = ServerConnection(service.http_refusal)
        self._session = Session(compat=service.compat)
        self._session.acid_views = service.acid_views
        self._negotiation: Negotiation | None = None
        self._admitted = service.authenticator is None and not service.settings.requires_authentication
        self._waits = False
        """Whether a call is in flight that waits."""
        self._task: asyncio.Task[None] | None = None
        """Its task, if it has one; kept, because the event loop does not keep tasks."""
        self._reading = True
        self._clogged = False
        """The peer does not read its replies; no further call is served for it (backpressure)."""
        self._ended = False
        """The peer has sent its last byte."""
        self._closing = False
        self._active_at = self._state.now
        """When the last call came in."""
        self._expecting_since: float | None = self._state.now
        """Since when the peer owes the rest of a message; at first, its very first bytes."""
        self._lingering_since: float | None = None
        self._unsent = 0
        self._unsent_since = 0.0
        self._taking_since: float | None = None
        """Since when the peer has not taken all that was written for it."""
        self._taken_from = 0
        """Bytes that it had been sent, and had taken, by then."""
        self._written = 0
        self._counted = 0
        """Bytes of unsent replies that the worker's budget has counted."""
        self._sender: StreamSender | RelaySender | None = None
        self._probing: asyncio.Task[None] | None = None
        self.lost = False
        self.gone = asyncio.Event()
        self.writable = asyncio.Event()
        self.writable.set()

    # Called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._loop = asyncio.get_running_loop()
        address = transport.get_extra_info("peername")
        self._session.peer = f"{address[0]}:{address[1]}" if isinstance(address, tuple) else str(address)
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER)
        name = common_name(transport.get_extra_info("peercert"))
        if name is not None:
            self._authenticated(name, f"CN={name}")
        self._state.add(self)
        if self._state.draining:
            self._close()

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        self._wire.receive_data(data)
        if self._waits or self._clogged:
            # A peer that pipelines waits in its own socket, not in our memory.
            self._reading = False
            self._transport.pause_reading()
            return
        self._serve()

    def pause_writing(self) -> None:
        self._clogged = True
        self.writable.clear()
        self._unsent = self._transport.get_write_buffer_size()
        self._unsent_since = self._state.now
        if self._taking_since is None:
            self._taking_since, self._taken_from = self._state.now, self._written - self._unsent
        self._count_unsent(self._unsent)

    def resume_writing(self) -> None:
        self._clogged = False
        self.writable.set()
        self._count_unsent(0)
        if not self._waits:
            self._serve()

    def eof_received(self) -> bool:
        if self._closing or self._transport.get_extra_info("sslcontext") is not None:
            return False
        # A peer that only closed its sending side still reads the replies to its calls.
        self._ended = self._session.ended = True
        if not self._waits:
            self._serve()
        elif self._sender is not None:
            self._probe(self._sender)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = self._session.ended = self._session.gone = True
        self._closing = True
        self._count_unsent(0)
        self.gone.set()
        self.writable.set()
        self._state.discard(self)

    # Called by the server

    def sweep(self, now: float) -> None:
        """Drops a peer that takes too long."""
        limit = self._service.settings.request_timeout
        if not self._waits and not self._clogged:
            self._caught_up()
        if self._lingering_since is not None:
            if now - self._lingering_since > LINGER:
                self._transport.abort()
        elif self._clogged or (self._closing and self._transport.get_write_buffer_size()):
            unsent = self._transport.get_write_buffer_size()
            if unsent < self._unsent or not self._unsent_since:
                self._unsent_since = now
            self._unsent = unsent
            self._count_unsent(unsent)
            if limit and now - self._unsent_since > limit:
                self._drop(f"it did not read its reply for {limit:g} s")
            elif self._state.replies.waiting and now - self._unsent_since > STANDSTILL:
                self._drop(f"it did not read its reply for {STANDSTILL:g} s while others waited for memory")
            elif limit and self._is_late(now, limit):
                self._drop(f"it read its reply at less than {SLOWEST_READER} bytes a second")
        elif self._waits:
            self._caught_up()
        elif self._expecting_since is not None:
            if limit and now - self._expecting_since > limit + self._wire.held / SLOWEST:
                what = "stopped in the middle of a message" if self._wire.held else "sent nothing"
                self._drop(f"it {what} for {limit:g} s")
        elif 0 < self._service.settings.idle_timeout < now - self._active_at:
            log.debug("%s: closed after being idle", self._session.peer)
            self._close()

    def _caught_up(self) -> None:
        """The peer has read everything: its read rate is measured from the start again."""
        if self._taking_since is not None and not self._transport.get_write_buffer_size():
            self._taking_since = None

    def _is_late(self, now: float, limit: float) -> bool:
        """Whether the peer reads its replies too slowly."""
        if self._taking_since is None:
            return False
        taken = self._written - self._unsent - self._taken_from
        return now - self._taking_since > limit + taken / SLOWEST_READER

    def _count_unsent(self, unsent: int) -> None:
        self._state.replies.change(unsent - self._counted)
        self._counted = unsent

    def drain(self) -> None:
        if not self._waits:
            self._close()
        else:
            self._closing = True

    def abort(self) -> None:
        self._transport.abort()

    def write(self, data: bytes) -> None:
        self._written += len(data)
        if not self.lost:
            self._transport.write(data)

    # Events of the wire

    def _serve(self) -> None:
        """Serves the calls that have arrived. An unexpected error closes this connection only."""
        try:
            self._take_turn()
        except Exception:
            self._fail()

    def _take_turn(self) -> None:
        """Serves calls until there are no more, one of them waits, or other connections should have their turn."""
        for _ in range(TURN):
            if self._waits or self._closing or self._clogged:
                return
            event = self._wire.next_event()
            if type(event) is Request:
                self._request(event)
            elif event is NEED_DATA:
                self._quiet()
                return
            elif isinstance(event, SaslMessage):
                self._start(self._negotiate(event))
            elif isinstance(event, Refused):
                self._refuse(event.reason, event.reply)
        self._loop.call_soon(self._serve)

    def _quiet(self) -> None:
        """All complete calls are served: the connection is idle, or in the middle of a message."""
        if self._ended:
            self._close()
            return
        if not self._reading:
            self._reading = True
            self._transport.resume_reading()
        if not self._admitted and self._wire.held > MAX_UNPROVEN:
            self._refuse("a long message without authentication", b"")
            return
        if self._wire.held or not self._admitted:
            if self._expecting_since is None:
                self._expecting_since = self._state.now
        else:
            self._expecting_since = None

    def _request(self, request: Request) -> None:
        self._expecting_since = None
        self._active_at = self._state.now
        call = request.call
        if call is None:
            assert request.error is not None
            reply = b"" if request.oneway else self._wire.send_error(request, request.error)
            if request.closes:
                self._refuse(str(request.error), reply)
            else:
                log.info("%s: %s", self._session.peer, request.error)
                self.write(reply)
        elif not self._admitted:
            error = ApplicationError(ApplicationError.INTERNAL_ERROR, sasl.REQUIRED)
            self._refuse("no authentication", b"" if request.oneway else self._wire.send_error(request, error))
        elif call.method is _SHUTDOWN:
            self._close()
        else:
            self._call(request, call)

    def _call(self, request: Request, call: Call) -> None:
        started = monotonic()
        call.relays = self._wire.can_relay()
        if call.method.cost != "point" and self._state.replies.is_full:
            self._start(self._call_later(request, call, started))
            return
        try:
            result = step(self._handle(call, self._session))
        except Exception as error:
            result = self._failure(call, error)
        self._proceed(request, call, result, started)

    def _proceed(self, request: Request, call: Call, result: Reply | Waiting[Reply], started: float) -> None:
        """Delivers a reply that is there, or waits for it."""
        if isinstance(result, Waiting):
            if type(result.future) is DirectFuture and result.future.then is None:
                self._waits = True
                result.future.then = partial(self._continue, request, call, result, started)
            else:
                self._start(self._wait(request, call, result, started))
        elif self._is_long(result):
            self._start(self._deliver(request, call, result, started))
        else:
            if not request.oneway:
                self.write(self._wire.send(request, result))
            self._finished(call, started)

    def _continue(self, request: Request, call: Call, waiting: Waiting[Reply], started: float) -> None:
        """The rest of a call that waited without a task."""
        self._waits = False
        try:
            try:
                result = step(waiting.coroutine)
            except Exception as error:
                result = self._failure(call, error)
            self._proceed(request, call, result, started)
        except Exception:
            self._fail()
        if not self._waits:
            self._go_on()

    def _is_long(self, reply: Reply) -> bool:
        body = reply.body
        return isinstance(body, Stream) or (len(body) > TRANSCODE_ON_LOOP and not self._wire.can_stream())

    def _failure(self, call: Call, error: Exception) -> Reply:
        return failure(call, error, self._session.peer)

    def _finished(self, call: Call, started: float) -> None:
        log_when_slow(call, self._session.peer, monotonic() - started, self._slow)

    # Calls that wait

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._waits = True
        self._task = self._loop.create_task(self._run(work))

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            self._fail()
        self._waits, self._task = False, None
        self._go_on()

    def _go_on(self) -> None:
        """After a call that has waited: serves the next one."""
        self._active_at = self._state.now
        if self.lost:
            return
        if self._closing:
            if self._lingering_since is None:
                self._transport.close()
        else:
            self._serve()

    async def _call_later(self, request: Request, call: Call, started: float) -> None:
        """A call whose reply may be long waits until there is memory for it."""
        await self._state.replies.room(0)
        try:
            reply = await self._handle(call, self._session)
        except Exception as error:
            reply = self._failure(call, error)
        await self._deliver(request, call, reply, started)

    async def _wait(self, request: Request, call: Call, waiting: Waiting[Reply], started: float) -> None:
        try:
            reply = await resume(waiting)
        except Exception as error:
            reply = self._failure(call, error)
        await self._deliver(request, call, reply, started)

    async def _deliver(self, request: Request, call: Call, reply: Reply, started: float) -> None:
        body = reply.body
        if self.lost or request.oneway:
            if isinstance(body, Relayed):
                body.close()
            elif isinstance(body, Stream):
                await self._service.stream_pool.run(body.close)
        elif isinstance(body, Relayed):
            await self._deliver_relayed(request, call, body)
        elif isinstance(body, Stream) and self._wire.can_stream():
            await self._deliver_stream(request, call, body)
        elif self._is_long(reply):
            await self._deliver_transcoded(request, call, reply)
        else:
            self.write(self._wire.send(request, reply))
        self._finished(call, started)

    async def _deliver_stream(self, request: Request, call: Call, stream: Stream) -> None:
        service, sender = self._service, None
        try:
            head = self._wire.send_stream(request, stream)
            sender = StreamSender(
                stream,
                head,
                self._wire.send_chunk,
                self,
                service.stream_pool,
                service.state,
                service.spool,
                wraps=self._wire.wraps,
            )
            self._sender = sender
            if self._ended:
                self._probe(sender)
            await sender.run()
        except TooSlow as error:
            self._drop(str(error))
        except Exception as error:
            if sender is None:
                await service.stream_pool.run(stream.close)
            elif sender.begun:
                raise
            self._send_failure(request, call, error)
        finally:
            self._sender = None

    async def _deliver_relayed(self, request: Request, call: Call, relayed: Relayed) -> None:
        """If the remote breaks off after the first byte, the connection is closed: the reply is not complete."""
        service = self._service
        head = self._wire.send_stream(request, relayed)
        sender = self._sender = RelaySender(
            relayed,
            head,
            self._wire.send_chunk,
            self,
            service.stream_pool,
            service.state,
            service.spool,
            wraps=self._wire.wraps,
        )
        if self._ended:
            self._probe(sender)
        try:
            await sender.run()
        except Error as error:
            if sender.begun:
                self._drop(f"a remote did not send the rest of its reply to {call.method.name}: {error}")
            else:
                text = f"a remote gave no usable reply to {call.method.name}: {error}"
                self.write(self._wire.send(request, Reply.failed(call.method, text, self._session.version)))
        finally:
            self._sender = None

    def _probe(self, sender: StreamSender | RelaySender) -> None:
        """The peer has closed its sending side, or disconnected: sending bytes shows which."""
        if self._wire.wraps:
            self._close()  # Nothing can be sent before the first chunk, and no client of SASL closes one side.
        else:
            self._probing = self._loop.create_task(self._probe_again(sender))

    async def _probe_again(self, sender: StreamSender | RelaySender) -> None:
        """A disconnected peer responds to the first byte with a reset, which makes the next write fail."""
        for pause in PROBES:
            await asyncio.sleep(pause)
            if sender is not self._sender or not sender.probe():
                return

    async def _deliver_transcoded(self, request: Request, call: Call, reply: Reply) -> None:
        body, replies = reply.body, self._state.replies
        pool = self._service.stream_pool if isinstance(body, Stream) else self._service.pool
        size = TRANSCODED * (body.length if isinstance(body, Stream) else len(body))
        await replies.room(size)
        try:
            data = await pool.run(partial(self._wire.send, request, reply))
            self.write(data)
        except Exception as error:
            self._send_failure(request, call, error)
        finally:
            replies.change(-size)

    def _send_failure(self, request: Request, call: Call, error: Exception) -> None:
        if not self.lost:
            self.write(self._wire.send(request, self._failure(call, error)))

    # Authentication

    async def _negotiate(self, message: SaslMessage) -> None:
        authenticator, run = self._service.authenticator, self._service.authentication_pool.run
        try:
            if authenticator is None:
                raise AuthenticationError(sasl.NOT_CONFIGURED)
            if message.status == sasl.START and self._negotiation is None:
                mechanism = message.payload.decode("ascii", "replace")
                encrypted = self._transport.get_extra_info("sslcontext") is not None
                channel = Channel(self._session.peer.rpartition(":")[0], encrypted)
                self._negotiation = await run(partial(authenticator.start, mechanism, channel))
                return
            if message.status in (sasl.BAD, sasl.ERROR):
                raise AuthenticationError(f"the client gave up: {message.payload.decode('utf-8', 'replace')}")
            if message.status not in (sasl.OK, sasl.COMPLETE) or self._negotiation is None:
                raise AuthenticationError(f"a SASL message with status {message.status} was not expected")
            step = partial(self._negotiation.step, message.payload)
            try:
                challenge, done = await run(step)
            except NotYet as later:
                # Waited for here: the pool's threads are for others meanwhile.
                await asyncio.sleep(later.seconds)
                challenge, done = await run(step)
            if message.status == sasl.COMPLETE and not done:
                raise AuthenticationError("the client ended the negotiation before it was complete")
        except AuthenticationError as error:
            reply = ServerConnection.sasl_message(sasl.ERROR, str(error).encode("utf-8", "replace"))
            self._refuse(f"not authenticated: {error}", reply)
            return
        except StoreError as error:
            reply = ServerConnection.sasl_message(sasl.ERROR, sasl.NOT_NOW.encode())
            self._refuse(f"the caller cannot be authenticated: {error}", reply)
            return
        if done:
            login = self._negotiation
            self._wire.secure(login.wrap, login.unwrap, login.frame_size)
            self._authenticated(login.user, login.principal, by_token=login.by_token)
        self.write(ServerConnection.sasl_message(sasl.COMPLETE if done else sasl.OK, challenge))

    def _authenticated(self, user: str, principal: str, *, by_token: bool = False) -> None:
        """From here on the connection is this user's."""
        session = self._session
        session.user, session.principal = user, principal
        session.authenticated = self._admitted = True
        session.by_token = by_token
        session.may_impersonate = user in self._service.settings.proxy_users and not by_token
        log.debug("%s: authenticated as %s", session.peer, principal)

    # Hanging up

    def _refuse(self, reason: str, reply: bytes) -> None:
        """Sends the reply, and closes the connection after the peer has had time to read it."""
        log.warning("%s: refused: %s", self._session.peer, reason)
        if self.lost:
            return
        self.write(reply)
        if reply and self._transport.can_write_eof():
            self._closing = True
            self._lingering_since = monotonic()
            self._transport.write_eof()
        else:
            self._close()

    def _close(self) -> None:
        self._closing = True
        self._transport.close()

    def _fail(self) -> None:
        """Closes the connection after an error that can no longer be sent as a reply."""
        log.exception("%s: the connection is closed", self._session.peer)
        self._closing = True
        self._transport.abort()

    def _drop(self, reason: str) -> None:
        log.warning("%s: dropped: %s", self._session.peer, reason)
        self._transport.abort()


def connections(service: Service) -> Callable[[], ThriftConnection]:
    """A factory of protocols for the sockets of the listener."""
    return partial(ThriftConnection, service)
