"""Metastores behind SSH servers: hops, keys, host keys, lost tunnels, and what is said when one cannot be opened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from metastored.connectors.context import Context
from metastored.connectors.registry import Connectors
from metastored.connectors.ssh import Tunneled
from metastored.connectors.ssh_route import Hop, read_route
from metastored.errors import ConfigError, InvalidObjectException, MetaException
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.hosts import AllowedHosts
from metastored.store.security.remote_secrets import RemoteSecrets
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from tests.server.support import certificate
from tests.support.forks import running_server
from tests.support.memory_metastore import MemoryMetastore
from tests.support.ssh import HOST, Bastion, bastion
from tests.support.thrift_server import ThriftServer, serving, until

LATE = 60.0


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def endpoint(timeout: float = LATE, /, **properties: str) -> Endpoint:
    names = {"uris": "hive.metastore.uris", "give_up": "ssh.tunnel.timeout"}
    found = {names.get(key, f"ssh.tunnel.{key.replace('_', '.')}"): value for key, value in properties.items()}
    return Endpoint("ssh", tuple(sorted(found.items())), timeout)


async def ask(handler: Any, user: str | None = None) -> Any:
    method = METHODS["get_table"]
    return (await handler.handle(Call(method, ("raw", "clicks")), Session(user=user))).value(method)


async def failure_of(handler: Any) -> str:
    with pytest.raises(MetaException) as raised:
        await ask(handler)
    return str(raised.value)


@dataclass
class World:
    """A metastore behind a node behind a bastion."""

    metastore: ThriftServer
    bastion: Bastion
    node: Bastion
    folder: Path
    stack: AsyncExitStack

    @property
    def known_hosts(self) -> str:
        file = self.folder / "known_hosts"
        file.write_text(f"{self.bastion.known_host()}\n{self.node.known_host()}\n")
        return str(file)

    def tunnel(self, context: Context | None = None, **changes: str) -> Tunneled:
        """A metastore through both hops, with a key for each."""
        given = {
            "uris": self.metastore.uri,
            "route": f"{self.bastion.hop} -> {self.node.hop}",
            "private_keys": f"{self.bastion.key_file},{self.node.key_file}",
        }
        if "known_hosts" not in changes:
            given["known_hosts"] = self.known_hosts
        found = Connectors(context).connect(endpoint(**(given | changes)))
        assert isinstance(found, Tunneled)
        self.stack.push_async_callback(found.close)
        return found


@asynccontextmanager
async def world(folder: Path, passphrase: str | None = None, key_format: str = "pkcs8-pem") -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        metastore = await stack.enter_async_context(serving(MemoryMetastore({"raw": ("clicks",)})))
        first = await stack.enter_async_context(bastion(folder, "bastion", passphrase, key_format))
        second = await stack.enter_async_context(bastion(folder, "node", passphrase, key_format))
        async with AsyncExitStack() as tunnels:
            yield World(metastore, first, second, folder, tunnels)


def test_a_metastore_is_reached_through_two_hops_with_a_key_for_each(tmp_path: Path) -> None:
    async def test() -> None:
        async with world(tmp_path) as there:
            handler = there.tunnel()
            assert (await ask(handler)).tableName == "clicks"
            assert there.bastion.reached == [(HOST, there.node.port)]
            assert there.node.reached == [(HOST, there.metastore.port)]

    run(test())


def test_one_hop_is_a_route_too(tmp_path: Path) -> None:
    async def test() -> None:
        async with world(tmp_path) as there:
            handler = there.tunnel(route=there.node.hop, private_keys=str(there.node.key_file))
            assert (await ask(handler)).tableName == "clicks"
            assert there.bastion.accepted == 0

    run(test())


def test_connections_of_several_users_share_one_tunnel(tmp_path: Path) -> None:
    async def test() -> None:
        async with world(tmp_path) as there:
            handler = there.tunnel()
            await asyncio.gather(*(ask(handler, f"user{number}") for number in range(8)))
            assert there.metastore.accepted == 8
            assert (there.bastion.accepted, there.node.accepted) == (1, 1)

    run(test())


@pytest.mark.parametrize("lost", ["bastion", "node"])
def test_a_lost_tunnel_is_opened_again_by_the_next_read(tmp_path: Path, lost: str) -> None:
    async def test() -> None:
        async with world(tmp_path) as there:
            handler = there.tunnel()
            await ask(handler)
            await getattr(there, lost).cut()
            assert (await ask(handler)).tableName == "clicks"
            assert there.node.accepted == 2

    run(test())


def test_a_hop_that_was_restarted_is_used_again(tmp_path: Path) -> None:
    async def test() -> None:
        async with world(tmp_path) as there:
            handler = there.tunnel()
            await ask(handler)
            await there.bastion.stop()
            assert f"{there.bastion.hop.partition('@')[2]}" in await failure_of(handler)
            await there.bastion.start()
            assert (await ask(handler)).tableName == "clicks"

    run(test())


@pytest.mark.parametrize("wrong", ["bastion", "node"])
def test_a_host_with_another_key_than_the_known_one_is_refused(tmp_path: Path, wrong: str) -> None:
    async def test() -> None:
        async with world(tmp_path) as there:
            other = asyncssh.generate_private_key("ssh-ed25519")
            lines = [each.known_host(other if name == wrong else None)
                     for name, each in (("bastion", there.bastion), ("node", there.node))]  # fmt: skip
            file = tmp_path / "wrong_hosts"
            file.write_text("\n".join(lines))
            text = await failure_of(there.tunnel(known_hosts=str(file)))
            port = there.bastion.port if wrong == "bastion" else there.node.port
            assert f"the key of {HOST}:{port} is not the one in {file}" in text
            assert there.metastore.accepted == 0

    run(test())


def test_a_host_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    async def test() -> None:
        async with world(tmp_path) as there:
            empty = tmp_path / "empty"
            empty.touch()
            assert "ssh.tunnel.known.hosts" in await failure_of(there.tunnel(known_hosts=str(empty)))
            missing = str(tmp_path / "none")
            assert f"{missing}, which cannot be read" in await failure_of(there.tunnel(known_hosts=missing))

    run(test())


def test_a_key_that_a_hop_does_not_accept_is_named(tmp_path: Path) -> None:
    async def test() -> None:
        async with world(tmp_path) as there:
            swapped = there.tunnel(private_keys=f"{there.node.key_file},{there.node.key_file}")
            assert f"{there.bastion.hop} does not accept {there.node.key_file}" in await failure_of(swapped)
            text = await failure_of(there.tunnel(private_keys=str(tmp_path / "none")))
            assert "cannot be read: No such file" in text

    run(test())


def test_the_passphrase_of_keys_is_a_reference_that_is_resolved_at_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        async with world(tmp_path, passphrase="open sesame") as there:
            monkeypatch.setenv("METASTORED_REMOTE__KEYS", "not this")
            handler = there.tunnel(Context(secrets=RemoteSecrets()), passphrase="env:METASTORED_REMOTE__KEYS")
            text = await failure_of(handler)
            assert "is not a private key that can be read" in text and "is its passphrase right" in text
            assert "not this" not in text
            monkeypatch.setenv("METASTORED_REMOTE__KEYS", "open sesame")
            assert (await ask(handler)).tableName == "clicks"

    run(test())


@pytest.mark.parametrize("key_format", [pytest.param("openssh", marks=pytest.mark.slow), "pkcs8-pem"])
def test_encrypted_keys_of_ssh_keygen_and_of_openssl_are_read(tmp_path: Path, key_format: str) -> None:
    async def test() -> None:
        async with world(tmp_path, "open sesame", key_format) as there:
            head = there.bastion.key_file.read_text().splitlines()[0]
            assert head == f"-----BEGIN {'OPENSSH' if key_format == 'openssh' else 'ENCRYPTED'} PRIVATE KEY-----"
            handler = there.tunnel(passphrase="open sesame")
            assert (await ask(handler)).tableName == "clicks"
            text = await failure_of(there.tunnel())
            assert "is not a private key that can be read" in text and "give 'ssh.tunnel.passphrase'" in text

    run(test())


def test_a_metastore_that_the_last_hop_does_not_reach_is_named(tmp_path: Path) -> None:
    async def test() -> None:
        async with world(tmp_path) as there:
            await there.metastore.stop()
            try:
                text = await failure_of(there.tunnel())
                assert f"{there.node.hop} does not reach {HOST}:{there.metastore.port}" in text
                assert there.metastore.uri in text
            finally:
                await there.metastore.start()

    run(test())


def test_a_hop_that_is_not_there_is_named(tmp_path: Path) -> None:
    async def test() -> None:
        async with world(tmp_path) as there:
            await there.node.stop()
            try:
                assert f"{there.node.hop} cannot be reached from the hop before it" in await failure_of(there.tunnel())
            finally:
                await there.node.start()

    run(test())


def test_a_hop_that_says_nothing_is_given_up_after_the_timeout(tmp_path: Path) -> None:
    async def test() -> None:
        async with world(tmp_path) as there, serving(None) as silent:
            hop = f"ann@{HOST}:{silent.port}"
            handler = there.tunnel(route=hop, private_keys=str(there.node.key_file), give_up="200ms")
            assert f"{hop} did not open the tunnel within 0.2 s" in await failure_of(handler)

    run(test())


def test_the_first_hop_is_checked_by_the_address_that_its_name_has(tmp_path: Path) -> None:
    async def test() -> None:
        async with world(tmp_path) as there:
            context = Context(AllowedHosts.read(["*.example.com", "localhost"]))
            text = await failure_of(there.tunnel(context))
            assert f"{HOST}:{there.bastion.port} is not among the hosts that remotes may use" in text
            assert there.bastion.accepted == 0

    run(test())


def test_hosts_behind_the_first_hop_are_checked_by_name(tmp_path: Path) -> None:
    async def test() -> None:
        async with world(tmp_path) as there:
            context = Context(AllowedHosts.read([f"{HOST}:{there.bastion.port}", f"{HOST}:{there.node.port}"]))
            text = await failure_of(there.tunnel(context))
            assert f"{HOST}:{there.metastore.port} is not among the hosts that remotes may use" in text
            assert there.node.reached == []

    run(test())


def test_closing_ends_the_tunnel_and_all_its_connections(tmp_path: Path) -> None:
    async def test() -> None:
        async with world(tmp_path) as there:
            handler = there.tunnel()
            await ask(handler)
            await handler.close()
            await until(lambda: there.metastore.connections == 0)
            assert "metastored is stopping" in await failure_of(handler)

    run(test())


@pytest.mark.slow
def test_tls_goes_through_the_tunnel_and_checks_the_metastores_own_name(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)

    async def test(port: int) -> None:
        async with world(tmp_path) as there:
            secure = endpoint(
                uris=f"thrift://localhost:{port}", route=there.node.hop, private_keys=str(there.node.key_file),
                known_hosts=there.known_hosts,
            )  # fmt: skip
            keys = (("hive.metastore.truststore.path", str(cert)), ("hive.metastore.use.SSL", "true"))
            handler = Connectors().connect(Endpoint("ssh", tuple(sorted((*secure.properties, *keys))), LATE))
            assert isinstance(handler, Tunneled)
            method = METHODS["get_all_databases"]
            try:
                reply = await handler.handle(Call(method, ()), Session())
                assert reply.value(method) == ("default",)
            finally:
                await handler.close()

    with running_server(tls_certificate=cert, tls_key=key) as server:
        run(test(server.port))


# Routes


def test_a_route_is_read_as_the_proposal_writes_it() -> None:
    found = read_route(
        endpoint(
            route="bastionuser@bastion-host.domain -> user@cluster-node.domain",
            private_keys="/home/user/.ssh/bastionuser-key-pair.pem,/home/user/.ssh/user-key-pair.pem",
            known_hosts="/home/user/.ssh/known_hosts",
        )
    )
    assert found.hops == (
        Hop("bastionuser", "bastion-host.domain", 22, "/home/user/.ssh/bastionuser-key-pair.pem"),
        Hop("user", "cluster-node.domain", 22, "/home/user/.ssh/user-key-pair.pem"),
    )
    assert (found.known_hosts, found.timeout) == ("/home/user/.ssh/known_hosts", 10.0)


def test_one_key_is_for_all_hops_and_ports_can_be_given_for_all_or_one() -> None:
    found = read_route(endpoint(route="a@one->b@[::1]:23", private_keys="/k", port="2222"))
    assert found.hops == (Hop("a", "one", 2222, "/k"), Hop("b", "::1", 23, "/k"))


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"route": "a@b -> "}, "has the hop ''"),
        ({"route": "a@b c"}, "has the hop 'a@b c'"),
        ({"route": "a@b:99999"}, "is not a port"),
        ({"route": "a@b", "port": "ssh"}, "'ssh' in 'ssh.tunnel.route' or 'ssh.tunnel.port' is not a port"),
        ({"route": "a@b", "private_keys": "/1,/2"}, "has 2 keys and 'ssh.tunnel.route' has 1 hops"),
    ],
)
def test_a_route_that_cannot_be_read_is_refused(properties: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_route(endpoint(**properties))


def test_a_timeout_that_is_no_time_is_refused() -> None:
    found = Endpoint("ssh", (("ssh.tunnel.route", "a@b"), ("ssh.tunnel.timeout", "soon")))
    with pytest.raises(InvalidObjectException, match="must be seconds"):
        read_route(found)
