"""Where remotes may point: the rules of the setting `remotes_hosts`, checked by name and again by address. Pure.

A rule is a name with `*` for any text (`*.example.com`), an address, or a network (`10.0.0.0/8`), each with a port
behind it where only that one is meant (`metastore:9083`, `[fd00::1]:9083`). A definition is checked by the names in it
when it is made; a connection is checked again, by the address that the name was resolved to: whoever controls a name
could let it point anywhere later.

    allowed = AllowedHosts.read(settings.remotes_hosts)
    allowed.check(endpoint)                                     # when a remote is made or changed
    allowed.check_address("old.example.com", 9083, "10.1.2.3")  # at each connection, for each address tried
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from metastored.errors import InvalidObjectException
from metastored.hive.host_rules import Address, HostRule, literal_address, plain_host, read_address, read_host_rule
from metastored.model.remotes import keys
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.values import split

ANY_HOST: Final = "*"
"""The rule that allows every host; the setting's default."""

SSH_PORT: Final = 22
HTTPS: Final = 443
_PORTS: Final = {"https": 443, "http": 80, "thrift": 9083, "postgresql": 5432, "mysql": 3306}
_WEB: Final = re.compile(r"(?!(?:file|s3[an]?|gs|abfss?|wasbs?|hdfs|viewfs|memory):)[A-Za-z][A-Za-z0-9+.-]*://")
"""The address of a service, under whatever key; not a location of files, which has rules of its own."""
_HOP: Final = re.compile(r"(?:[^@\s]+@)?(?P<host>\[[^\]]+\]|[^:\s]+)(?::(?P<port>\d+))?")


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The rules of one server."""

    rules: tuple[HostRule, ...]

    @classmethod
    def read(cls, entries: Iterable[str]) -> AllowedHosts:
        """Parses the entries of the setting. Raises ValueError for one that is not a rule."""
        return cls(tuple(map(read_host_rule, entries)))

    def check(self, endpoint: Endpoint, what: str = "") -> None:
        """Raises InvalidObjectException where a definition points to a host that no rule allows."""
        for host, port in hosts_of(endpoint):
            self.check_name(host, port, what or f"the remote at {endpoint}")

    def check_name(self, host: str, port: int | None, what: str = "the remote") -> None:
        """Raises InvalidObjectException unless a rule allows the host, as far as its name says.

        A name that no name rule allows may still be in an allowed network: then its address decides, later.
        """
        literal = literal_address(host)
        if literal is not None:
            self._check(host, port, literal, what)
        elif not any(each.allows_port(port) and (each.network or each.allows_name(host)) for each in self.rules):
            raise self._refusal(host, port, what)

    def check_address(self, host: str, port: int | None, address: str, what: str = "the remote") -> None:
        """Raises InvalidObjectException unless a rule allows a connection to this address of the host.

        A name rule with a part that is not `*` does not allow loopback and link-local addresses: a name of the network
        that leads to this machine itself, or to a cloud's metadata service, is an attack. `*` alone does not allow
        link-local ones. An address or network rule allows what it names.
        """
        literal = literal_address(address)
        if literal is None:
            raise InvalidObjectException(f"{what}: {address!r} is not an address")
        self._check(host, port, literal, what)

    def _check(self, host: str, port: int | None, address: Address, what: str) -> None:
        for each in self.rules:
            if not each.allows_port(port):
                continue
            if each.allows_address(address):
                return
            if each.allows_name(host) and not _is_suspicious(address, each, plain_host(host)):
                return
        raise self._refusal(host, port, what, address)

    def _refusal(
        self, host: str, port: int | None, what: str, address: Address | None = None
    ) -> InvalidObjectException:
        where = host if port is None else f"{host}:{port}"
        resolved = f" ({address})" if address is not None and str(address) != host else ""
        rules = ", ".join(each.text for each in self.rules) or "no host at all"
        return InvalidObjectException(
            f"{what}: {where}{resolved} is not among the hosts that remotes may use; the setting remotes_hosts allows "
            f"{rules}"
        )


def _is_suspicious(address: Address, rule: HostRule, host: str) -> bool:
    if address.is_link_local or address.is_unspecified or address.is_multicast:
        return True
    return address.is_loopback and rule.name not in (ANY_HOST, host)


def hosts_of(endpoint: Endpoint) -> Iterator[tuple[str, int | None]]:
    """Every host that a definition names, with its port: of addresses, of the hops of a tunnel, of web services.

    Behind a tunnel, the metastore itself is reached from the last hop and its name is resolved there: it counts too.
    """
    for name, value in endpoint.properties:
        key = keys.find_key(name, endpoint.via)
        match key.values if key is not None and key.kind is keys.Kind.HOST else "":
            case "uris":
                for uri in split(value):
                    yield from _host(uri)
            case "route":
                yield from _hops(value, endpoint)
            case "address":
                yield _storage_host(name, value, endpoint)
            case _ if _WEB.match(value):
                yield from _host(value)
    if endpoint.via == keys.GLUE and not endpoint.get(keys.GLUE_ENDPOINT) and endpoint.get(keys.GLUE_REGION):
        yield f"glue.{endpoint.get(keys.GLUE_REGION)}.amazonaws.com", HTTPS


def recipients_of(endpoint: Endpoint) -> Iterator[tuple[str, int | None]]:
    """Every host that may get a secret of the definition: those that it names, and those that a library adds."""
    yield from hosts_of(endpoint)
    region = endpoint.get(keys.GLUE_REGION)
    if endpoint.via == keys.GLUE:
        if not endpoint.get(keys.GLUE_ENDPOINT) and not region:
            yield "glue.amazonaws.com", HTTPS
        if endpoint.get(keys.GLUE_ROLE):
            yield f"sts.{region}.amazonaws.com" if region else "sts.amazonaws.com", HTTPS
    if endpoint.via != keys.ICEBERG:
        return
    own = {name.removeprefix(keys.ICEBERG_PREFIX): value for name, value in endpoint.properties}
    if "s3.endpoint" not in own and any(name.startswith(("s3.", "client.", "aws.")) for name in own):
        region_name = own.get("s3.region") or own.get("client.region") or region
        yield f"s3.{region_name}.amazonaws.com" if region_name else "s3.amazonaws.com", HTTPS
    if "gcs.oauth2.token" in own and "gcs.service.host" not in own:
        yield "storage.googleapis.com", HTTPS
    account = own.get("adls.account-name")
    for service in ("blob", "dfs") if account else ():
        if f"adls.{service}-storage-authority" not in own:
            yield plain_host(f"{account}.{service}.core.windows.net"), HTTPS
    if "adls.client-secret" in own:
        yield "login.microsoftonline.com", HTTPS


def _hops(route: str, endpoint: Endpoint) -> Iterator[tuple[str, int | None]]:
    for hop in filter(None, re.split(r"\s*->\s*", route.strip())):
        match = _HOP.fullmatch(hop)
        if match is None:
            raise InvalidObjectException(
                f"'{keys.SSH_ROUTE}' has the hop {hop!r}; write user@bastion -> user@node, or user@bastion:2222"
            )
        yield plain_host(match["host"]), int(match["port"] or endpoint.get("ssh.tunnel.port") or SSH_PORT)


def _storage_host(name: str, value: str, endpoint: Endpoint) -> tuple[str, int | None]:
    # The authority of Azure begins with a dot where the name of the account comes before it.
    account = endpoint.get(f"{keys.ICEBERG_PREFIX}adls.account-name") if value.strip().startswith(".") else ""
    try:
        host, port = read_address(account + value.strip())
    except ValueError as error:
        raise InvalidObjectException(f"'{name}' is {value!r}, which is not an address: {error}") from None
    return host, port or HTTPS


def _host(uri: str) -> Iterator[tuple[str, int | None]]:
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError as error:
        raise InvalidObjectException(f"{uri!r} is not an address: {error}") from None
    if parts.hostname:
        yield plain_host(parts.hostname), port or _PORTS.get(parts.scheme.partition("+")[0])


ALL_HOSTS: Final = AllowedHosts.read([ANY_HOST])
