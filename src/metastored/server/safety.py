"""Settings that lock out all users, or that protect less than they seem to: a table of rules over the settings.

`findings(settings)` is pure. A finding that refuses describes a server that could serve no client, or a setting for
protection that has no effect; the server does not start. A finding that warns describes missing protection; it is
logged at the start, or printed in the banner if the log has no warnings. Modes of files are checked by `open_files`,
which reads the disk.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from metastored.config import Settings
from metastored.errors import ConfigError
from metastored.store.engine.private import EVERYBODY, exposed

AUTHENTICATION: Final = "kerberos_principal, password_login with tls_certificate, tls_client_ca or jwt_keys"
"""The settings after which only authenticated clients are served."""


class Finding(NamedTuple):
    """One sentence about the settings, with what to add."""

    rule: str
    refuses: bool
    text: str


class Rule(NamedTuple):
    name: str
    refuses: bool
    applies: Callable[[Settings], bool]
    text: str
    """May mention settings, as {host}."""


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _thrift_has_login(settings: Settings) -> bool:
    """Whether any client can get in at the Thrift port."""
    if not settings.requires_authentication or settings.kerberos_principal is not None:
        return True
    # Passwords and certificates need TLS.
    by_tls = settings.password_login == "on" or settings.tls_client_ca is not None
    return by_tls and settings.tls_certificate is not None


def _ineffective_without_http(settings: Settings) -> list[str]:
    settings_of_http = {
        "metrics_token": settings.metrics_token,
        "metrics_addresses": settings.metrics_addresses,
        "kerberos_http_principal": settings.kerberos_http_principal,
        "trusted_proxies": settings.trusted_proxies,
        "iceberg": settings.iceberg == "on",
        "lance": settings.lance == "on",
    }
    return [name for name, value in settings_of_http.items() if value]


RULES: Final = (
    Rule(
        "web tokens without HTTP",
        True,
        lambda s: s.jwt_keys is not None and s.http_port is None,
        "jwt_keys is set without http_port: web tokens are accepted at /metastore only, and clients of the Thrift port "
        "would be refused; add --http-port",
    ),
    Rule(
        "passwords without TLS",
        True,
        lambda s: s.password_login == "on" and s.tls_certificate is None and s.http_port is None,
        "password_login is on without tls_certificate: passwords are accepted over TLS only, so no user could log in; "
        "add --tls-certificate and --tls-key",
    ),
    Rule(
        "no login at the Thrift port",
        False,
        lambda s: not _thrift_has_login(s) and s.http_port is not None,
        "no user can log in at the Thrift port: passwords and certificates are accepted over TLS only, and web tokens "
        "over HTTP only; use HTTP, or add --tls-certificate",
    ),
    Rule(
        "SQL authorization without administrators",
        True,
        lambda s: s.authorization == "sql" and not s.admin_users,
        "authorization is sql without admin_users: no user could create a database or grant a privilege; add "
        "--admin-users NAME",
    ),
    Rule(
        "SQL authorization without authentication",
        False,
        lambda s: s.authorization == "sql" and not s.requires_authentication,
        "authorization is sql without authentication: the user names of clients are trusted, {admin_users} "
        f"included, so nothing is protected; add one of {AUTHENTICATION}",
    ),
    Rule(
        "a network without authentication",
        False,
        lambda s: not is_loopback(s.host) and not s.requires_authentication,
        "listening on {host} without authentication: every client that reaches this port can read and change "
        f"everything; add one of {AUTHENTICATION}",
    ),
    Rule(
        "HTTP without authentication",
        False,
        lambda s: s.http_port is not None and not s.requires_authentication,
        "http_port without authentication: /metastore serves all methods to all clients, under any name and without a "
        "password; the passwords of `metastored user` are required at {http_path} only. Add one of "
        f"{AUTHENTICATION}",
    ),
    Rule(
        "HTTP without TLS on a network",
        False,
        lambda s: s.http_port is not None and s.http_tls == "off" and not is_loopback(s.host),
        "http_tls is off while listening on {host}: passwords and tokens are sent unencrypted; listen on "
        "127.0.0.1 behind a gateway, or leave TLS on",
    ),
    Rule(
        "web tokens for any service",
        False,
        lambda s: s.jwt_keys is not None and s.jwt_audience is None,
        "jwt_keys without jwt_audience: a token that was issued for another service is accepted too; add "
        "--jwt-audience, and --jwt-issuer where the keys are shared",
    ),
    Rule(
        "proxy users without authentication",
        False,
        lambda s: bool(s.proxy_users) and not s.requires_authentication,
        "proxy_users without authentication has no effect: every client may act for every user; add one of "
        f"{AUTHENTICATION}",
    ),
    Rule(
        "an audit that is not written",
        True,
        lambda s: s.audit == "on" and s.log_level in ("warning", "error"),
        "audit is on with log_level {log_level}: its lines have the level info and would not be written; set "
        "--log-level info",
    ),
    Rule(
        "settings of HTTP without HTTP",
        False,
        lambda s: s.http_port is None and bool(_ineffective_without_http(s)),
        "metrics_token, metrics_addresses, kerberos_http_principal, trusted_proxies, iceberg and lance have no effect "
        "without http_port",
    ),
)


def findings(settings: Settings) -> list[Finding]:
    """The rules that apply to the settings, in the order of RULES."""
    values = {
        "host": settings.host,
        "http_path": settings.http_path,
        "log_level": settings.log_level,
        "admin_users": ", ".join(settings.admin_users) or "administrators",
    }
    return [Finding(each.name, each.refuses, each.text.format(**values)) for each in RULES if each.applies(settings)]


def checked(settings: Settings) -> list[str]:
    """The sentences that warn. Raises ConfigError for the first finding that refuses."""
    all_findings = findings(settings)
    for each in all_findings:
        if each.refuses:
            raise ConfigError(each.text)
    return [each.text for each in all_findings]


def open_files(settings: Settings) -> Iterator[str]:
    """Sentences about secrets on the disk that other users of this machine may read."""
    if settings.database_url is None and (rights := exposed(settings.data)) is not None:
        yield (
            f"{rights} in the data folder {settings.data}; its database is for its owner alone, what else is in it is "
            f"not: chmod 700 {settings.data}, unless the warehouse in it is shared"
        )
    key = "tls_certificate" if settings.tls_key is None else "tls_key"
    files: dict[str, Path | None] = {
        key: settings.tls_key or settings.tls_certificate,
        "kerberos_keytab": settings.kerberos_keytab,
        "metrics_token": settings.metrics_token,
        "remotes_key_file": settings.remotes_key_file,
    }
    for name, file in files.items():
        # A group may well share a key, as ssl-cert does on Debian.
        if file is not None and EVERYBODY in (exposed(file) or ""):
            yield f"everybody on this machine may read {name} {file}, which is a secret: chmod o-rwx {file}"
