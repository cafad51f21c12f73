"""Which proofs of identity a server takes: the SASL mechanisms that its settings turn on, by name.

A mechanism is a function that begins an exchange; the exchange itself is in the mechanism's own module, which is
imported only when it is turned on. Nothing here decides what a user may do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from skep.config import Settings
from skep.errors import AuthenticationError
from skep.server.negotiation import Authenticator, Negotiation


class Mechanisms:
    """An authenticator of several mechanisms; the client names the one it wants."""

    def __init__(self, starts: Mapping[str, Callable[[], Negotiation]]) -> None:
        self._starts = dict(starts)

    def start(self, mechanism: str) -> Negotiation:
        begin = self._starts.get(mechanism)
        if begin is None:
            raise AuthenticationError(
                f"the SASL mechanism {mechanism!r} is not offered here; offered are {', '.join(self._starts)}"
            )
        return begin()


def authenticator(settings: Settings) -> Authenticator | None:
    """What the settings ask for; None when everybody is believed. Raises ConfigError or MissingExtra."""
    starts: dict[str, Callable[[], Negotiation]] = {}
    if settings.kerberos_principal is not None and settings.kerberos_keytab is not None:
        from skep.server import kerberos

        acceptor = kerberos.Kerberos(settings.kerberos_principal, settings.kerberos_keytab, settings.sasl_qop)
        starts[kerberos.MECHANISM] = acceptor.start
    return Mechanisms(starts) if starts else None
