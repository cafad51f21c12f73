"""SSH servers for tests, asyncssh's own, in the test's event loop or in a thread: each lets one key in and forwards."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import asyncssh

HOST = "127.0.0.1"
ROUNDS = 16
"""Of the derivation of a key from a passphrase, as ssh-keygen has them. It is slow on purpose."""


class Bastion:
    """An SSH server that forwards. `reached` has every host and port that somebody asked it for."""

    def __init__(self, folder: Path, name: str, passphrase: str | None = None, key_format: str = "pkcs8-pem") -> None:
        self.user = f"{name}user"
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        key = asyncssh.generate_private_key("ssh-ed25519")
        self.key_file = folder / f"{name}.pem"
        key.write_private_key(self.key_file, key_format, passphrase, rounds=ROUNDS, ignore_few_rounds=True)
        self.key_file.chmod(0o600)
        self._authorized = asyncssh.import_authorized_keys(key.export_public_key().decode())
        self.reached: list[tuple[str, int]] = []
        self.connections: list[asyncssh.SSHServerConnection] = []
        self.accepted = 0
        self.refuses = False
        self.port = 0
        self._server: asyncssh.SSHAcceptor | None = None

    @property
    def hop(self) -> str:
        return f"{self.user}@{HOST}:{self.port}"

    def known_host(self, key: asyncssh.SSHKey | None = None) -> str:
        """Its line of a known_hosts file."""
        return f"[{HOST}]:{self.port} {(key or self.host_key).export_public_key().decode()}"

    async def start(self) -> None:
        """Listens, after a stop on the same port again."""
        self._server = await asyncssh.listen(
            HOST,
            self.port,
            server_factory=lambda: _Server(self),
            server_host_keys=[self.host_key],
            authorized_client_keys=self._authorized,
            reuse_address=True,
        )
        self.port = self._server.get_port()

    async def stop(self) -> None:
        """Closes the port and every connection, as the end of a process does."""
        assert self._server is not None
        self._server.close()
        await self.cut()
        await self._server.wait_closed()

    async def cut(self) -> None:
        """Ends every connection; new ones are accepted."""
        connections, self.connections = self.connections, []
        for each in connections:
            each.abort()
        for each in connections:
            await each.wait_closed()


class _Server(asyncssh.SSHServer):
    def __init__(self, bastion: Bastion) -> None:
        self._bastion = bastion

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._bastion.accepted += 1
        self._bastion.connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        self._bastion.reached.append((dest_host, dest_port))
        return not self._bastion.refuses


@asynccontextmanager
async def bastion(
    folder: Path, name: str, passphrase: str | None = None, key_format: str = "pkcs8-pem"
) -> AsyncIterator[Bastion]:
    """A running SSH server."""
    found = Bastion(folder, name, passphrase, key_format)
    await found.start()
    try:
        yield found
    finally:
        await found.stop()


class Bastions(NamedTuple):
    """Running SSH servers, and the properties of a tunnel through all of them in their order."""

    servers: tuple[Bastion, ...]
    properties: dict[str, str]


@contextmanager
def bastions(folder: Path, *names: str) -> Iterator[Bastions]:
    """SSH servers in the event loop of a thread, for tests that have no loop of their own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def wait_for(work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, loop).result(30)

    servers = tuple(Bastion(folder, name) for name in names)
    try:
        for server in servers:
            wait_for(server.start())
        hosts = folder / "known_hosts"
        hosts.write_text("".join(f"{server.known_host()}\n" for server in servers))
        properties = {
            "ssh.tunnel.route": " -> ".join(server.hop for server in servers),
            "ssh.tunnel.private.keys": ",".join(str(server.key_file) for server in servers),
            "ssh.tunnel.known.hosts": str(hosts),
        }
        yield Bastions(servers, properties)
    finally:
        for server in servers:
            if server.port:
                wait_for(server.stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
