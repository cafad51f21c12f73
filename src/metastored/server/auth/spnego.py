"""Kerberos over HTTP (RFC 4559): one token of the client, one reply, no state between requests."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from metastored.errors import AuthenticationError, ConfigError, MissingExtra
from metastored.server.auth.kerberos import explain, server_principal, short_name
from metastored.wire.connection import MAX_SASL


def http_principal(principal: str) -> str:
    """HTTP's own principal on the host of the metastore's."""
    return "HTTP/" + principal.partition("/")[2]


class Spnego:
    """The server's identity for HTTP. Used by several threads."""

    def __init__(self, principal: str, keytab: Path) -> None:
        try:
            import gssapi
        except ImportError as error:
            raise MissingExtra("Kerberos (kerberos_principal)", "kerberos") from error
        self.principal: Final = server_principal(principal)
        self._realm = self.principal.rpartition("@")[2]
        spnego = gssapi.OID.from_int_seq("1.3.6.1.5.5.2")
        try:
            self._credentials = gssapi.Credentials(
                name=gssapi.Name(self.principal, gssapi.NameType.kerberos_principal),
                usage="accept",
                mechs=[gssapi.MechType.kerberos, spnego],
                store={"keytab": str(keytab)},
            )
        except gssapi.raw.GSSError as error:
            raise ConfigError(
                f"kerberos_keytab {keytab} cannot be used for {self.principal}: {explain(error, self.principal)}"
            ) from error

    def accept(self, token: bytes) -> tuple[str, str, bytes]:
        import gssapi

        if not token or len(token) > MAX_SASL:
            raise AuthenticationError(f"a Kerberos token of {len(token)} bytes; 1 to {MAX_SASL} are accepted")
        try:
            context = gssapi.SecurityContext(creds=self._credentials, usage="accept")
            reply: bytes = context.step(token) or b""
            if not context.complete:
                raise AuthenticationError(
                    "the client did not begin with a Kerberos ticket; Negotiate is taken with Kerberos only"
                )
            principal = str(context.initiator_name)
        except gssapi.raw.GSSError as error:
            raise AuthenticationError(f"Kerberos: {explain(error, self.principal)}") from None
        return short_name(principal, self._realm), principal, reply
