"""A handler for the server's tests, and an application around it.

The arguments of `get_config_value(what, value)` choose what it does. Run as a program it is a complete server with that
handler, for tests of processes and signals.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections.abc import Iterator
from struct import pack

from metastored.config import Settings, load
from metastored.direct_future import DirectFuture
from metastored.errors import ConfigValSecurityException, MetaException, NoSuchObjectException
from metastored.server.server import Application
from metastored.server.workers import run
from metastored.threads import Pool
from metastored.wire.message import Call, Handler, Reply, Session, Stream

log = logging.getLogger(__name__)

CHUNK = 512 * 1024


class Scripted:
    """Its behaviour is chosen by the arguments of each call. It counts its calls."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.started: list[str] = []
        self.sessions: list[Session] = []
        self.opened = 0
        self.closed = 0
        self.produced = 0

    async def handle(self, call: Call, session: Session) -> Reply:
        name = call.method.name
        self.started.append(name)
        self.sessions.append(session)
        if name == "getName":
            return Reply.of(call.method, f"{os.getpid()}")
        if name == "get_all_databases":
            await asyncio.sleep(0)
            return Reply.of(call.method, ("default",))
        if name == "get_config_value":
            what, value = call.args
            return await self._do(call, what, value)
        raise NoSuchObjectException(name)

    async def _do(self, call: Call, what: str, value: str) -> Reply:
        if what == "wait":
            log.info("waiting for %s s", value)
            await asyncio.sleep(float(value))
            return Reply.of(call.method, value)
        if what == "pool":
            return Reply.of(call.method, await self.pool.run(lambda: value))
        if what == "direct":
            return Reply.of(call.method, await self._directly(value, twice=True))
        if what == "direct, then pool":
            await self._directly(value)
            return Reply.of(call.method, await self.pool.run(lambda: value))
        if what == "direct, then stream":
            return Reply(self._stream(int(await self._directly(value))))
        if what == "direct, then fail":
            raise ZeroDivisionError(await self._directly(value))
        if what == "direct failure":
            try:
                return Reply.of(call.method, await self._directly("0.05", MetaException(value)))
            except MetaException as error:
                return Reply.of(call.method, str(error))
        if what == "block":
            await self.pool.run(lambda: time.sleep(float(value)))
            return Reply.of(call.method, value)
        if what == "echo":
            return Reply.of(call.method, value)
        if what == "stream":
            return Reply(self._stream(int(value)))
        if what == "broken stream":
            return Reply(self._stream(int(value), error_after=int(value) // 2))
        if what == "no stream":
            return Reply(self._stream(int(value), error_after=0))
        if what == "short stream":
            return Reply(self._stream(int(value), missing=1))
        if what == "secret":
            raise ConfigValSecurityException(value)
        if what == "raise":
            raise MetaException(value)
        raise ZeroDivisionError(value)

    async def _directly(self, value: str, error: Exception | None = None, twice: bool = False) -> str:
        """What a future has that is followed without a task; it is set later, as rows of PostgreSQL are."""
        loop = asyncio.get_running_loop()
        for _ in range(1 + twice):
            future = DirectFuture[str](loop=loop)
            delay = min(float(value), 60.0) if float(value) < 1000 else 0.01
            if error is None:
                loop.call_later(delay, future.succeed, value)
            else:
                loop.call_later(delay, future.fail, error)
            await future
            assert asyncio.current_task() is None
        return value

    def _stream(self, size: int, error_after: int | None = None, missing: int = 0) -> Stream:
        """A string of this many bytes, as the result of get_config_value."""
        head = b"\x0b\0\0" + pack(">i", size)
        self.opened += 1

        def chunks() -> Iterator[bytes]:
            try:
                if error_after == 0:
                    raise MetaException("no first chunk")
                yield head
                sent = 0
                while sent < size:
                    part = min(CHUNK, size - sent)
                    yield b"x" * part
                    sent += part
                    self.produced += part
                    if error_after is not None and sent > error_after:
                        raise RuntimeError("the database has gone")
                yield b"\0"[missing:]
            finally:
                self.closed += 1

        return Stream(chunks(), len(head) + size + 1)


def build(settings: Settings) -> Application:
    pool = Pool(settings.threads)
    handler: Handler = Scripted(pool)
    return Application(handler, pool)


def main() -> int:
    """`--key value` for any key of the settings."""
    words = sys.argv[1:]
    flags = {flag[2:].replace("-", "_"): value for flag, value in zip(words[::2], words[1::2], strict=True)}
    return run(load(environment={}, flags=flags), build)


if __name__ == "__main__":
    raise SystemExit(main())
