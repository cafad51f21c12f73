"""SSH servers for tests, asyncssh's own, in the test's event loop: each lets one key in and forwards connections."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncssh

HOST = "127.0.0.1"


class Bastion:
    """An SSH server that forwards. `reached` has every host and port that somebody asked it for."""

    def __init__(self, folder: Path, name: str, passphrase: str | None = None) -> None:
        self.user = f"{name}user"
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        key = asyncssh.generate_private_key("ssh-ed25519")
        self.key_file = folder / f"{name}.pem"
        key.write_private_key(self.key_file, "pkcs8-pem", passphrase)
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
async def bastion(folder: Path, name: str, passphrase: str | None = None) -> AsyncIterator[Bastion]:
    """A running SSH server."""
    found = Bastion(folder, name, passphrase)
    await found.start()
    try:
        yield found
    finally:
        await found.stop()
