"""What a definition uses that belongs to others: secrets, files and credentials of the server, and storage. Pure.

A user who may make remotes chooses where the server connects to. So everything of the server that would be sent or used
there is a *reference*, and `remotes_references` decides about it: a reference that is bound to hosts is used for these
hosts only, whoever makes the definition; any other one only in definitions of administrators.

    env:NAME, file:PATH      the value of a secret key
    file:PATH                the value of a key that names a file: a private key, a list of certificates
    server:ssh               the keys of the server's user, where a route names none
    server:kerberos          the ticket or keytab of the server's process
    server:aws, gcp, azure   the credentials of its environment and its profiles, where an address is given and no key

Nothing here reads a secret; `store/security/remote_secrets.py` does, after it has called `check` here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from metastored.errors import InvalidObjectException
from metastored.hive.database_uris import file_of, is_database, is_file
from metastored.hive.reference_rules import OWN, read_reference_rule
from metastored.model.remotes import keys
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.hosts import recipients_of
from metastored.model.remotes.keys import Kind, find_key, is_reference, is_secret
from metastored.model.remotes.logins import SERVER_PRINCIPAL
from metastored.model.remotes.values import split

_CLOUDS: Final = (
    ("aws", ("s3.endpoint",), ("s3.access-key-id", "client.access-key-id", keys.AWS_KEY_ID, "s3.anonymous")),
    ("aws", ("rest.sigv4-enabled",), ("client.access-key-id", keys.AWS_KEY_ID)),
    ("gcp", ("gcs.service.host",), ("gcs.oauth2.token",)),
    (
        "azure",
        ("adls.account-host", "adls.blob-storage-authority", "adls.dfs-storage-authority"),
        ("adls.account-key", "adls.sas-token", "adls.client-secret", "adls.anon"),
    ),
)
"""A cloud, properties by which its library sends credentials to an address, and those that say which ones, or none."""


def references_of(endpoint: Endpoint) -> Iterator[tuple[str, str]]:
    """(key, reference) of everything of the server that an endpoint uses."""
    for name, value in endpoint.properties:
        key = find_key(name, endpoint.via)
        if key is not None and key.kind is Kind.FILE:
            yield from ((name, f"file:{path}") for path in split(value))
        elif is_secret(name, endpoint.via) and is_reference(value):
            yield name, value
    match endpoint.via:
        case keys.SSH if not endpoint.get(keys.SSH_KEYS):
            yield keys.SSH_ROUTE, f"{OWN}ssh"
        case keys.GLUE if not endpoint.get(keys.AWS_KEY_ID):
            yield keys.GLUE_PROFILE if endpoint.get(keys.GLUE_PROFILE) else keys.AWS_KEY_ID, f"{OWN}aws"
        case keys.ICEBERG:
            yield from _of_storage(
                {name.removeprefix(keys.ICEBERG_PREFIX): value for name, value in endpoint.properties}
            )
    if endpoint.get(SERVER_PRINCIPAL):
        yield SERVER_PRINCIPAL, f"{OWN}kerberos"


def _of_storage(own: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The credentials of the server's environment that a library would send to an address of the definition."""
    for cloud, addresses, credentials in _CLOUDS:
        used = [name for name in addresses if own.get(name, "false") != "false"]
        if used and not any(own.get(name) for name in credentials):
            yield f"{keys.ICEBERG_PREFIX}{used[0]}", f"{OWN}{cloud}"


class References:
    """The rules of one server."""

    def __init__(self, entries: Iterable[str]) -> None:
        """Raises ValueError for an entry that is not a rule."""
        self._rules = tuple(map(read_reference_rule, entries))

    def __str__(self) -> str:
        return ", ".join(rule.text for rule in self._rules) or "no references"

    def check(self, endpoint: Endpoint, what: str = "", *, by_admin: bool) -> None:
        """Raises InvalidObjectException for a reference that may not be used, or not for the hosts of the endpoint.

        At a connection `by_admin` is true: who made the definition was checked when it was stored, and it cannot be
        changed without that check.
        """
        for key, reference in references_of(endpoint):
            self._check(endpoint, f"{what}: '{key}'" if what else f"'{key}'", reference, by_admin)

    def check_named(self, reference: str, what: str) -> None:
        """Raises InvalidObjectException for the value of a secret that no rule is about."""
        if not any(rule.matches(reference) for rule in self._rules):
            raise InvalidObjectException(
                f"{what} is {reference}, and the setting remotes_references allows only {self}"
            )

    def _check(self, endpoint: Endpoint, what: str, reference: str, by_admin: bool) -> None:
        matching = [rule for rule in self._rules if rule.matches(reference)]
        bound = [rule for rule in matching if rule.hosts]
        if bound:
            recipients = [*recipients_of(endpoint)] or [("no host", None)]
            for host, port in recipients:
                if not any(rule.allows(host, port) for rule in bound):
                    raise InvalidObjectException(
                        f"{what} is {reference}, and the setting remotes_references allows it for other hosts than "
                        f"{host if port is None else f'{host}:{port}'}: {', '.join(rule.text for rule in bound)}"
                    )
        elif not matching and not _is_implied(endpoint, reference):
            self.check_named(reference, what)
        elif not by_admin:
            raise InvalidObjectException(
                f"{what} is {reference}, which belongs to the server: only administrators (admin_users, the role "
                "admin) make remotes that use it, unless the setting remotes_references names the hosts that it may be "
                f"used for, as in {reference} -> host.example.com"
            )


def _is_implied(endpoint: Endpoint, reference: str) -> bool:
    """Whether this is not the value of a secret: an administrator needs no rule for a file or for the server's own."""
    secret = ((name, value) for name, value in endpoint.properties if is_secret(name, endpoint.via))
    return all(value != reference for _, value in secret)


# --- storage ------------------------------------------------------------------------------------------------------


def locations_of(parameters: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(key, location) of the storage that a definition lets the server open and show.

    A SQL catalog is in a file, or names the metadata files of its tables; the server opens whatever it names.
    """
    for name, value in parameters.items():
        key = find_key(name)
        if key is not None and key.kind is Kind.LOCATION:
            yield name, value
    uri = parameters.get(keys.ICEBERG_URI, "")
    if is_database(uri):
        yield keys.ICEBERG_URI, f"file:{file_of(uri)}" if is_file(uri) else keys.shown(keys.ICEBERG_URI, uri)
