"""Identities never leak from one connection to another: many connections with calls in any order, on both ports.

Each call requests an object with a unique name, so the audit log shows the user that the server saw.
"""

from __future__ import annotations

import itertools
import re
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from metastored.errors import NoSuchObjectException
from metastored.testing import RunningServer
from tests.server.http.support import PASSWORD, USER, basic, connect, http_server, status, trusting, user
from tests.server.sasl import Sasl
from tests.server.support import PATIENCE, Peer, certificate

# Generated orders of many connections.
pytestmark = pytest.mark.slow

PROXY, PROXY_PASSWORD = "knox", "gate"
NAMES = ("flip", "willy", USER, PROXY)
SLOTS = 4
"""Connections of each kind that are open at the same time."""
ROUNDS = settings(
    max_examples=12,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
markers = map("m{}".format, itertools.count())


@pytest.fixture(scope="module", params=["open", "guarded"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """`open` trusts user names without authentication; `guarded` requires it. Both have a proxy user."""
    folder = tmp_path_factory.mktemp(request.param)
    chain, key = certificate(folder)
    credentials = {"password_login": "on"} if request.param == "guarded" else {}
    tls = {"tls_certificate": chain, "tls_key": key}
    with http_server(folder, proxy_users=PROXY, audit="on", **tls, **credentials) as running:
        user("add", PROXY, data=folder / "data", password=PROXY_PASSWORD)
        yield running


def is_guarded(server: RunningServer) -> bool:
    return "guarded" in str(server.data)


def users_by_marker(server: RunningServer) -> dict[str, str]:
    """For each requested object, the user that the server saw."""
    return {
        found[2]: found[1] for found in re.finditer(r"user=(\S+) \S+ method=get_database object=(\S+) ", server.log)
    }


# The actions of a client, and its user afterwards


@dataclass(frozen=True)
class LogIn:
    """A new Thrift connection in the place of an old one."""

    slot: int
    name: str | None
    actor: str = ""


@dataclass(frozen=True)
class SetUgi:
    slot: int
    name: str


@dataclass(frozen=True)
class Call:
    slot: int


@dataclass(frozen=True)
class Post:
    """Pipelined requests on one persistent HTTP connection: of each, the credentials and the claimed name."""

    slot: int
    callers: tuple[tuple[str | None, str | None], ...]


slots = st.integers(0, SLOTS - 1)
callers = st.tuples(st.sampled_from((None, USER, PROXY)), st.sampled_from((None, *NAMES)))
steps = st.one_of(
    st.builds(LogIn, slots, st.sampled_from((USER, PROXY)), st.sampled_from(("", "flip", "willy"))),
    st.builds(LogIn, slots, st.none()),
    st.builds(SetUgi, slots, st.sampled_from(NAMES)),
    st.builds(Call, slots),
    st.builds(Call, slots),
    st.builds(Post, slots, st.lists(callers, min_size=1, max_size=3).map(tuple)),
)


@dataclass
class Crowd:
    """The connections, and the expected user of each."""

    server: RunningServer
    stack: ExitStack
    tls: ssl.SSLContext = field(default_factory=trusting)
    thrift: dict[int, Peer] = field(default_factory=dict)
    authenticated: dict[int, str | None] = field(default_factory=dict)
    believed: dict[int, str | None] = field(default_factory=dict)
    http: dict[int, ssl.SSLSocket] = field(default_factory=dict)
    expected: dict[str, str] = field(default_factory=dict)

    def do(self, step: Any) -> None:
        match step:
            case LogIn(slot, name, actor):
                self._log_in(slot, name, actor)
            case SetUgi(slot, name) if slot in self.thrift:
                self.thrift[slot].call("set_ugi", name, ())
                if self.authenticated[slot] in (None, PROXY):
                    self.believed[slot] = name
            case Call(slot) if slot in self.thrift:
                marker = next(markers)
                with pytest.raises(NoSuchObjectException):
                    self.thrift[slot].call("get_database", marker)
                self.expected[marker] = self.believed[slot] or "-"
            case Post(slot, callers):
                self._post(slot, callers)

    def _log_in(self, slot: int, name: str | None, actor: str) -> None:
        guarded = is_guarded(self.server)
        if guarded == (name is None) or (actor and name != PROXY):
            return  # This kind of login is refused here, which other tests check.
        if slot in self.thrift:
            self.thrift.pop(slot).socket.close()
        peer: Peer
        if name is None:
            peer = Peer(self.server.port)
        else:
            peer = Sasl(self.server.port, tls=self.tls)
            peer.plain(name, PASSWORD if name == USER else PROXY_PASSWORD, actor)
        self.thrift[slot] = self.stack.enter_context(peer)
        self.believed[slot] = actor or name
        # A proxy user that logged in for another user is that user, and no longer a proxy.
        self.authenticated[slot] = actor or name

    def _post(self, slot: int, callers: tuple[tuple[str | None, str | None], ...]) -> None:
        assert self.server.http_port is not None
        if slot not in self.http:
            self.http[slot] = self.stack.enter_context(connect(self.server.http_port, self.tls))
        sent, statuses = b"", []
        for name, actor in callers:
            marker = next(markers)
            body = f'[1,"get_database",1,1,{{"1":{{"str":"{marker}"}}}}]'
            headers = {"Host": "x", "Content-Type": "application/x-thrift", "Content-Length": str(len(body))}
            if name is not None:
                headers |= basic(name, PASSWORD if name == USER else PROXY_PASSWORD)
            if actor is not None:
                headers["x-actor-username"] = actor
            lines = "".join(f"{header}: {value}\r\n" for header, value in headers.items())
            sent += f"POST /metastore HTTP/1.1\r\n{lines}\r\n{body}".encode()
            served = name is not None or not is_guarded(self.server)
            statuses.append(200 if served else 401)
            if served:
                believed = actor if name in (None, PROXY) else None
                self.expected[marker] = believed or name or "-"
        self.http[slot].sendall(sent)
        assert [status(self.http[slot]) for _ in callers] == statuses


def test_connections_in_any_order_keep_their_own_identities(server: RunningServer) -> None:
    @ROUNDS
    @given(st.lists(steps, min_size=10, max_size=40))
    def check(script: list[Any]) -> None:
        with ExitStack() as stack:
            crowd = Crowd(server, stack)
            for slot in range(SLOTS):
                crowd.do(LogIn(slot, USER if is_guarded(server) else None))
            for step in script:
                crowd.do(step)
        found = users_by_marker(server)
        assert {marker: found.get(marker) for marker in crowd.expected} == crowd.expected

    check()


def test_callers_at_the_same_time_are_kept_apart(server: RunningServer) -> None:
    """Twelve threads, each with its own user on a persistent connection of each kind."""
    assert server.http_port is not None
    port, tls, guarded = server.http_port, trusting(), is_guarded(server)

    def work(number: int) -> dict[str, str]:
        name, mine = f"user{number}", dict[str, str]()
        with ExitStack() as stack:
            http = stack.enter_context(connect(port, tls))
            peer: Peer = Sasl(server.port, tls=tls) if guarded else Peer(server.port)
            stack.enter_context(peer)
            if isinstance(peer, Sasl):
                peer.plain(PROXY, PROXY_PASSWORD, name)
            else:
                peer.call("set_ugi", name, ())
            credentials = basic(PROXY, PROXY_PASSWORD)["Authorization"]
            for turn in range(15):
                one, other = f"t{number}x{turn}", f"h{number}x{turn}"
                with pytest.raises(NoSuchObjectException):
                    peer.call("get_database", one)
                body = f'[1,"get_database",1,1,{{"1":{{"str":"{other}"}}}}]'
                http.sendall(
                    f"POST /metastore HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\n"
                    f"Authorization: {credentials}\r\nx-actor-username: {name}\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
                )
                assert status(http) == 200
                mine |= {one: name, other: name}
        return mine

    expected: dict[str, str] = {}
    with ThreadPoolExecutor(12) as threads:
        for mine in threads.map(work, range(12), timeout=PATIENCE * 6):
            expected |= mine
    found = users_by_marker(server)
    assert {marker: found.get(marker) for marker in expected} == expected
