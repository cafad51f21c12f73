"""TCP connections of connectors: a name is resolved, each address is checked against `remotes_hosts`, then it is used.

The address that was checked is the one that is connected to: a name that changes in between leads nowhere else. A name
service that hangs occupies only threads of the connections that wait for it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from typing import Any

from metastored.client.hints import reason_of
from metastored.connectors.background import in_thread
from metastored.errors import ConnectError, InvalidObjectException
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.hosts import AllowedHosts, hosts_of
from metastored.model.remotes.keys import SSH


async def open_socket(host: str, port: int, hosts: AllowedHosts) -> socket.socket:
    """A connection to the first allowed address that accepts one. Raises ConnectError."""
    loop = asyncio.get_running_loop()
    addresses = _literal(host, port) or await in_thread(_resolve, host, port)
    failure = f"the name {host} has no address"
    for family, kind, protocol, _, address in allowed(addresses, host, port, hosts):
        opened = socket.socket(family, kind, protocol)
        opened.setblocking(False)
        try:
            await loop.sock_connect(opened, address)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return opened
        except OSError as error:
            opened.close()
            failure = reason_of(error)
        except BaseException:
            opened.close()
            raise
    raise ConnectError(failure)


AddressInfo = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[Any, ...]]
"""What getaddrinfo returns."""


def allowed(addresses: Sequence[AddressInfo], host: str, port: int, hosts: AllowedHosts) -> list[AddressInfo]:
    """The addresses of a name that may be used. Raises ConnectError where there are only others."""
    refusal: InvalidObjectException | None = None
    kept = []
    for info in addresses:
        try:
            # A link-local address of IPv6 carries the interface behind a percent sign.
            hosts.check_address(host, port, str(info[4][0]).partition("%")[0])
            kept.append(info)
        except InvalidObjectException as error:
            refusal = error
    if refusal is not None and not kept:
        raise ConnectError(str(refusal)) from None
    return kept


def check_host(host: str, port: int, hosts: AllowedHosts) -> None:
    """For libraries that connect by themselves: resolves a name, in this thread, and raises ConnectError."""
    allowed(_resolve(host, port), host, port, hosts)


async def missing_host(endpoint: Endpoint) -> str | None:
    """The first host of an endpoint if no host of it exists, as the name service says; None where that is not known.

    Behind a tunnel names are resolved elsewhere.
    """
    if endpoint.via == SSH:
        return None
    names = [host for host, _ in hosts_of(endpoint)]
    checks = [asyncio.ensure_future(in_thread(_is_missing, each)) for each in names]
    if not checks:
        return None
    done, _ = await asyncio.wait(checks, timeout=endpoint.timeout)
    return names[0] if len(done) == len(checks) and all(each.result() for each in done) else None


def _is_missing(host: str) -> bool:
    try:
        socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        return error.errno == socket.EAI_NONAME
    except (OSError, UnicodeError):
        return False
    return False


def _literal(host: str, port: int) -> Sequence[AddressInfo]:
    """What needs no name service; empty for a name."""
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except OSError:
        return ()


def _resolve(host: str, port: int) -> Sequence[AddressInfo]:
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConnectError(f"the name {host} cannot be resolved: {error.strerror or error}") from None
