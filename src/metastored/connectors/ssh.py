"""Metastores behind SSH servers. Needs the extra `ssh`.

A tunnel of one or more hops is opened at the first call, shared by all connections to the metastore, and opened again
when it was lost. No port is opened on this machine: a connection to the metastore is a channel of the tunnel. Keys of
hosts are always checked.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import TYPE_CHECKING, Final

from metastored.connectors.background import in_thread
from metastored.connectors.context import Context
from metastored.connectors.metastores import metastore_at
from metastored.connectors.network import open_socket
from metastored.connectors.ssh_route import KEYS, KNOWN_HOSTS, PASSPHRASE, Hop, Route, read_route
from metastored.errors import ConnectError, InvalidObjectException, MissingExtra
from metastored.model.remotes.endpoints import Endpoint
from metastored.wire.message import Call, Handler, Reply, Session

if TYPE_CHECKING:
    import asyncssh

log = logging.getLogger("metastored.connectors.ssh")

KEEPALIVE: Final = 15
"""Seconds of silence after which a hop is asked whether it is alive; a tunnel is lost after three unanswered questions.
"""
CHUNK: Final = 256 * 1024


def through_tunnel(endpoint: Endpoint, context: Context) -> Handler:
    """The metastore behind a tunnel. Raises ConfigError or MissingExtra."""
    try:
        import asyncssh  # noqa: F401
    except ImportError:
        raise MissingExtra("a remote through SSH", "ssh") from None
    tunnel = Tunnel(endpoint, context)
    return Tunneled(tunnel, metastore_at(endpoint, context, tunnel.dial, tunnel.route.timeout))


class Tunneled:
    """A metastore and the tunnel to it, which is closed with it."""

    def __init__(self, tunnel: Tunnel, inner: Handler) -> None:
        self._tunnel = tunnel
        self._inner = inner

    async def handle(self, call: Call, session: Session) -> Reply:
        return await self._inner.handle(call, session)

    async def close(self) -> None:
        await self._inner.close()  # type: ignore[attr-defined]
        await self._tunnel.close()


class Tunnel:
    """SSH connections, each through the one before. Used from one event loop."""

    def __init__(self, endpoint: Endpoint, context: Context) -> None:
        self.route: Final[Route] = read_route(endpoint)
        self._endpoint = endpoint
        self._context = context
        self._opening = asyncio.Lock()
        self._hops: list[asyncssh.SSHClientConnection] = []
        self._pumps: set[asyncio.Task[None]] = set()
        self._closed = False

    async def dial(self, host: str, port: int) -> socket.socket:
        """A socket whose bytes come out at the last hop, towards the metastore. Raises ConnectError."""
        import asyncssh

        last = await self._last_hop()
        _check_name(self._context, host, port)
        try:
            reader, writer = await last.open_connection(host, port, encoding=None)
        except asyncssh.ChannelOpenError as error:
            raise ConnectError(f"{self.route.hops[-1]} does not reach {host}:{port}: {error.reason}") from None
        except asyncssh.Error as error:
            await self._drop(last)
            raise ConnectError(f"the tunnel through {self.route} was lost: {error.reason}") from None
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        task = asyncio.get_running_loop().create_task(_pump(theirs, reader, writer))
        self._pumps.add(task)
        task.add_done_callback(self._pumps.discard)
        return ours

    async def close(self) -> None:
        """Closes the tunnel and every connection through it."""
        self._closed = True
        for task in self._pumps:
            task.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)
        async with self._opening:
            hops, self._hops = self._hops, []
        await _close(hops)

    async def _last_hop(self) -> asyncssh.SSHClientConnection:
        async with self._opening:
            if self._closed:
                raise ConnectError("metastored is stopping")
            if self._hops and not any(hop.is_closed() for hop in self._hops):
                return self._hops[-1]
            lost, self._hops = self._hops, []
            await _close(lost)
            if lost:
                log.info("the tunnel through %s was lost and is opened again", self.route)
            self._hops = await self._open()
            return self._hops[-1]

    async def _drop(self, last: asyncssh.SSHClientConnection) -> None:
        async with self._opening:
            if self._hops and self._hops[-1] is last:
                hops, self._hops = self._hops, []
                await _close(hops)

    async def _open(self) -> list[asyncssh.SSHClientConnection]:
        opened: list[asyncssh.SSHClientConnection] = []
        hop = self.route.hops[0]
        try:
            async with asyncio.timeout(self.route.timeout):
                for hop in self.route.hops:
                    opened.append(await self._connect(hop, opened[-1] if opened else None))
            return opened
        except TimeoutError:
            await _close(opened)
            raise ConnectError(
                f"{hop} did not open the tunnel within {self.route.timeout:g} s (ssh.tunnel.timeout)"
            ) from None
        except BaseException:
            await _close(opened)
            raise

    async def _connect(self, hop: Hop, before: asyncssh.SSHClientConnection | None) -> asyncssh.SSHClientConnection:
        import asyncssh

        secrets = await in_thread(self._context.resolved, self._endpoint)
        options = asyncssh.SSHClientConnectionOptions(
            # Neither the configuration nor the agent of whoever started the server.
            config=None,
            agent_path=None,
            username=hop.user or (),
            client_keys=await in_thread(_read_key, hop, secrets.get(PASSPHRASE) or None),
            known_hosts=self._known_hosts(),
            keepalive_interval=KEEPALIVE,
            password_auth=False,
            kbdint_auth=False,
            gss_auth=False,
            gss_kex=False,
        )
        try:
            if before is not None:
                _check_name(self._context, hop.host, hop.port)
                return await asyncssh.connect(hop.host, hop.port, tunnel=before, options=options)
            opened = await self._first_socket(hop)
            try:
                return await asyncssh.connect(hop.host, hop.port, sock=opened, options=options)
            except BaseException:
                opened.close()
                raise
        except asyncssh.HostKeyNotVerifiable as error:
            where = self.route.known_hosts or "the known_hosts file of the server's user"
            raise ConnectError(
                f"the key of {hop.host}:{hop.port} is not the one in {where} ({error.reason}): add it there if it is "
                f"right; '{KNOWN_HOSTS}' names the file"
            ) from None
        except asyncssh.PermissionDenied as error:
            raise ConnectError(f"{hop} does not accept {hop.key or 'the default keys'}: {error.reason}") from None
        except asyncssh.ChannelOpenError as error:
            raise ConnectError(f"{hop} cannot be reached from the hop before it: {error.reason}") from None
        except (asyncssh.Error, OSError) as error:
            raise ConnectError(f"{hop}: no SSH connection: {getattr(error, 'reason', None) or error}") from None

    async def _first_socket(self, hop: Hop) -> socket.socket:
        try:
            return await open_socket(hop.host, hop.port, self._context.hosts)
        except ConnectError as error:
            raise ConnectError(f"{hop}: {error}") from None

    def _known_hosts(self) -> str | tuple[()]:
        path = self.route.known_hosts
        if path is None:
            return ()  # The default file; an empty answer to None would be to check nothing.
        try:
            with open(path, "rb"):
                return path
        except OSError as error:
            raise ConnectError(f"'{KNOWN_HOSTS}' is {path}, which cannot be read: {error.strerror}") from None


def _read_key(hop: Hop, passphrase: str | None) -> list[asyncssh.SSHKey] | tuple[()]:
    import asyncssh

    if hop.key is None:
        return ()
    try:
        return [asyncssh.read_private_key(hop.key, passphrase)]
    except OSError as error:
        raise ConnectError(f"the key {hop.key} for {hop} cannot be read: {error.strerror}") from None
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        hint = f"is its passphrase right ('{PASSPHRASE}')?" if passphrase else f"if it has one, give '{PASSPHRASE}'"
        raise ConnectError(f"{hop.key} in '{KEYS}' is not a private key that can be read: {error}; {hint}") from None


def _check_name(context: Context, host: str, port: int) -> None:
    """Behind the first hop names are resolved there: only the name can be checked."""
    try:
        context.hosts.check_name(host, port)
    except InvalidObjectException as error:
        raise ConnectError(str(error)) from None


async def _close(hops: list[asyncssh.SSHClientConnection]) -> None:
    for hop in reversed(hops):
        hop.abort()
    for hop in reversed(hops):
        await hop.wait_closed()


async def _pump(theirs: socket.socket, reader: asyncssh.SSHReader[bytes], writer: asyncssh.SSHWriter[bytes]) -> None:
    """Copies bytes between a channel and a socket until one of them ends."""
    theirs.setblocking(False)
    loop = asyncio.get_running_loop()

    async def out() -> None:
        while data := await loop.sock_recv(theirs, CHUNK):
            writer.write(data)
            await writer.drain()

    async def back() -> None:
        while data := await reader.read(CHUNK):
            await loop.sock_sendall(theirs, data)

    both = [loop.create_task(out()), loop.create_task(back())]
    try:
        # Either end closes whole connections: Thrift has no half-closed ones.
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        writer.close()
        theirs.close()
