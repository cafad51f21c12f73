"""What a mechanism of SASL is to a connection; `sasl.py` and `digest.py` have the mechanisms."""

from __future__ import annotations

from typing import Protocol


class Mechanism(Protocol):
    """The mechanism of one connection."""

    name: str
    frame_size: int

    def first(self) -> bytes:
        """The initial response, sent with the name of the mechanism."""
        ...

    def step(self, challenge: bytes) -> tuple[bytes, bool]:
        """The response to a challenge, and whether it is the last."""
        ...

    def finish(self, payload: bytes) -> None:
        """Checks what the server ends the negotiation with. Raises AuthenticationError."""
        ...

    def refused(self) -> None:
        """Is called when the server refuses the login."""
        ...

    def wrap(self, data: bytes) -> bytes: ...

    def unwrap(self, data: bytes) -> bytes: ...
