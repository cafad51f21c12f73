"""Clients that authenticate: Thrift's SASL messages and frames written out by hand, for passwords and for Kerberos.

They are the witnesses for `metastored.server` and share nothing with it. gssapi is imported at its first use: without
the extra the tests of Kerberos are skipped, not broken.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, Self

from metastored.wire.connection import NEED_DATA
from metastored.wire.message import Reply
from tests.server.support import Peer

START, OK, BAD, ERROR, COMPLETE = 1, 2, 3, 4, 5
AUTH, INTEGRITY, CONFIDENTIALITY = 1, 2, 4
LAYERS = {"auth": AUTH, "auth-int": INTEGRITY, "auth-conf": CONFIDENTIALITY}


class Refusal(Exception):
    """The server replied with a SASL error, which is the text of this exception."""


class Sasl(Peer):
    """A client with Thrift's SASL messages, and calls in unprotected frames."""

    def say(self, status: int, payload: bytes) -> None:
        self.socket.sendall(struct.pack(">BI", status, len(payload)) + payload)

    def hear(self, expected: int) -> bytes:
        status, length = struct.unpack(">BI", self._exactly(5))
        payload = self._exactly(length)
        if status in (BAD, ERROR):
            raise Refusal(payload.decode())
        assert status == expected
        return payload

    def plain(self, name: str, password: str, actor: str = "") -> Self:
        """Logs in by PLAIN, as `actor` if it is set."""
        self.say(START, b"PLAIN")
        self.say(COMPLETE, f"{actor}\0{name}\0{password}".encode())
        assert self.hear(COMPLETE) == b""
        return self

    def send(self, name: str, *args: Any) -> None:
        self.send_frame(self.message(name, *args))

    def send_frame(self, frame: bytes) -> None:
        self.socket.sendall(struct.pack(">I", len(frame)) + frame)

    def reply(self) -> Reply:
        while True:
            event = self.wire.next_event()
            if event is not NEED_DATA:
                assert isinstance(event, Reply)
                return event
            self.wire.receive_data(self._frame())

    def _frame(self) -> bytes:
        (length,) = struct.unpack(">I", self._exactly(4))
        return self._exactly(length)

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise ConnectionError(f"the server hung up after {len(data)} of {size} bytes")
            data += part
        return bytes(data)


class SaslPeer(Sasl):
    """A connection with the ticket in `cache` to the service `service` (service/host@REALM)."""

    def __init__(self, port: int, cache: Path, service: str, protocol: str = "binary") -> None:
        super().__init__(port, protocol)
        import gssapi

        flag = gssapi.RequirementFlag
        wanted = flag.mutual_authentication | flag.integrity | flag.confidentiality | flag.out_of_sequence_detection
        self.context = gssapi.SecurityContext(
            name=gssapi.Name(service, gssapi.NameType.kerberos_principal),
            creds=gssapi.Credentials(usage="initiate", store={"ccache": f"FILE:{cache}"}),
            flags=wanted,
            mech=gssapi.MechType.kerberos,
            usage="initiate",
        )
        self.offered = 0
        self.offered_size = 0
        self.layer = AUTH
        self.frames: list[int] = []
        """The lengths of the frames that came."""

    # The negotiation

    def token(self) -> bytes:
        """The first token: the ticket."""
        token: bytes | None = self.context.step()
        assert token is not None
        return token

    def negotiate(self, qop: str = "auth", *, user: str = "", longest: int = 65536, first: bytes = b"") -> SaslPeer:
        """All of it, up to the server's COMPLETE; raises Refusal."""
        self.begin(first or self.token())
        self.layer = LAYERS[qop]
        size = longest if self.layer != AUTH else 0
        self.choose(bytes((self.layer,)) + size.to_bytes(3, "big") + user.encode())
        return self

    def begin(self, first: bytes) -> None:
        """Up to the server's offer."""
        self.say(START, b"GSSAPI")
        self.say(OK, first)
        assert self.context.step(self.hear(OK)) is None
        self.say(OK, b"")
        offer = self.context.unwrap(self.hear(OK)).message
        assert len(offer) == 4
        self.offered, self.offered_size = offer[0], int.from_bytes(offer[1:], "big")

    def choose(self, choice: bytes) -> None:
        self.say(COMPLETE, self.context.wrap(choice, False).message)
        assert self.hear(COMPLETE) == b""

    # The calls

    def send(self, name: str, *args: Any) -> None:
        self.send_frame(self.wrap(self.message(name, *args)))

    def wrap(self, data: bytes, encrypt: bool = True) -> bytes:
        if self.layer == AUTH:
            return data
        wrapped: bytes = self.context.wrap(data, encrypt and self.layer == CONFIDENTIALITY).message
        return wrapped

    def _frame(self) -> bytes:
        frame = super()._frame()
        self.frames.append(len(frame))
        return self._unwrap(frame)

    def _unwrap(self, frame: bytes) -> bytes:
        if self.layer == AUTH:
            return frame
        # It raises for a frame that was changed, and for a missing frame.
        unwrapped = self.context.unwrap(frame)
        assert unwrapped.encrypted == (self.layer == CONFIDENTIALITY)
        message: bytes = unwrapped.message
        return message
