"""The HTTP port: Starlette's routes on uvicorn's protocol, accepted and timed by the server's own listener.

    POST http_path     the Hive Metastore HTTP protocol: nine methods in Thrift's JSON, for authenticated callers
    POST /metastore    all methods in binary, compact and JSON, as Hive 4's clients call them over HTTP
    POST /sql          metastored's own statements
    /iceberg/…         Iceberg's REST catalog, if the settings turn it on
    /lance/…           Lance's REST namespaces, if the settings turn them on
    GET  /health       the process runs
    GET  /ready        the database is available too
    GET  /metrics      for Prometheus

Imported only when there is an HTTP port.
"""

from __future__ import annotations

import hmac
import logging
import socket
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from ipaddress import ip_address, ip_network
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from metastored.config import ICEBERG_PATH, LANCE_PATH, RESERVED_PATHS, Settings
from metastored.errors import ConfigError, Error, MissingExtra
from metastored.server.auth.identity import Identities
from metastored.server.http.connection import Pages
from metastored.server.http.thrift import NINE, Bodies, HmsHttp, ThriftOverHttp, respond
from metastored.server.listener import Listener
from metastored.server.metrics import CONTENT_TYPE, Metrics
from metastored.server.thrift import Service
from metastored.server.tls import http_tls

if TYPE_CHECKING:
    from metastored.server.http.iceberg import IcebergOverHttp
    from metastored.server.http.lance import LanceOverHttp
    from metastored.server.http.sql import SqlOverHttp

log = logging.getLogger("metastored.server")

RELOAD_EVERY: Final = 5.0
"""Seconds between two looks at the certificate's file."""

NO_CERTIFICATE: Final = (
    b"this server requires a client certificate (tls_client_ca), and the connection has none: connect with a "
    b"certificate that one of its authorities signed, and its key\n"
)

METASTORE, HEALTH, READY, METRICS, SQL = RESERVED_PATHS


class HttpPort:
    """One worker's share of the HTTP port."""

    def __init__(
        self,
        listening: socket.socket,
        service: Service,
        identities: Identities,
        metrics: Metrics,
        check: Callable[[], None],
    ) -> None:
        settings = service.settings
        self._tls = http_tls(settings)
        bodies = Bodies()
        self._iceberg = _iceberg(service, identities, bodies)
        self._lance = _lance(service, identities, bodies)
        below = {ICEBERG_PATH: self._iceberg, LANCE_PATH: self._lance}
        routes = _routes(service, identities, bodies, metrics, check, below)
        self._pages = Pages(routes, settings, service.state)
        context = None if self._tls is None else self._tls.context
        self._listener = Listener(listening, self._pages.connection, settings, service.state, context)
        self._reload_at = monotonic() + RELOAD_EVERY

    def start(self) -> None:
        self._listener.start()

    def stop(self) -> None:
        """No new connections."""
        self._listener.stop()

    def close(self) -> None:
        """Ends what served requests, when none is in flight."""
        for each in (self._iceberg, self._lance):
            if each is not None:
                each.close()

    def sweep(self, now: float) -> None:
        """Called once a second: checks timeouts."""
        self._listener.sweep(now)
        self._pages.tick()
        if self._tls is not None and now >= self._reload_at:
            self._reload_at = now + RELOAD_EVERY
            self._tls.reload()


def _routes(
    service: Service,
    identities: Identities,
    bodies: Bodies,
    metrics: Metrics,
    check: Callable[[], None],
    below: Mapping[str, Any],
) -> Any:
    """The ASGI application of the port. `below` has applications for all paths below a path; None where it is off."""
    settings, state = service.settings, service.state

    async def health(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def ready(request: Request) -> Response:
        if state.draining:
            return PlainTextResponse("the server is stopping\n", 503)
        try:
            await service.pool.run(check)
        except Error as error:
            log.warning("not ready: %s", error)
            return PlainTextResponse("the database does not respond\n", 503)
        return PlainTextResponse("ready\n")

    may_read = _reader_of_metrics(settings)

    async def figures(request: Request) -> Response:
        refused = may_read(request)
        return refused or Response(metrics.text(), media_type=CONTENT_TYPE)

    async def nowhere(scope: Any, receive: Any, send: Any) -> None:
        line = f"there is nothing at this path: POST to {settings.http_path}, {METASTORE} or {SQL}, or GET {HEALTH}\n"
        await respond(send, 404, line.encode())

    nine = HmsHttp(service, identities, bodies, NINE if settings.http_methods == "nine" else None)
    # The paths of calls are looked up by name: matching patterns would slow down every call.
    busy: dict[str, Any] = {settings.http_path: nine, METASTORE: ThriftOverHttp(service, identities, bodies)}
    statements: SqlOverHttp | None = None

    async def sql(scope: Any, receive: Any, send: Any) -> None:
        # Most servers never get a statement, and need neither the client nor the grammar.
        nonlocal statements
        if statements is None:
            from metastored.server.http.sql import SqlOverHttp

            statements = SqlOverHttp(service, identities, bodies)
        await statements(scope, receive, send)

    busy[SQL] = sql
    others = Router(
        [Route(HEALTH, health), Route(READY, ready), Route(METRICS, figures)], redirect_slashes=False, default=nowhere
    )

    wants_certificate = settings.tls_client_ca is not None and settings.http_tls == "on"

    async def pages(scope: Any, receive: Any, send: Any) -> None:
        if wants_certificate and not scope["state"]["certificate"]:
            challenges = [(b"www-authenticate", each.encode()) for each in identities.challenges()]
            await respond(send, 401, NO_CERTIFICATE, challenges)
            return
        page = busy.get(scope["path"])
        if page is None:
            page = below.get("/" + scope["path"][1:].partition("/")[0])
        await (page or others)(scope, receive, send)

    return pages


def _iceberg(service: Service, identities: Identities, bodies: Bodies) -> IcebergOverHttp | None:
    """Iceberg's REST catalog; None where it is off."""
    if service.settings.iceberg == "off":
        return None
    from metastored.server.http.iceberg import IcebergOverHttp

    return IcebergOverHttp(service, identities, bodies)


def _lance(service: Service, identities: Identities, bodies: Bodies) -> LanceOverHttp | None:
    """Lance's REST namespaces; None where they are off. Raises MissingExtra."""
    if service.settings.lance == "off":
        return None
    if find_spec("lance") is None or find_spec("lance_namespace") is None:
        raise MissingExtra("the setting lance", "lance")
    from metastored.server.http.lance import LanceOverHttp

    return LanceOverHttp(service, identities, bodies)


def _reader_of_metrics(settings: Settings) -> Callable[[Request], Response | None]:
    """The access check of /metrics: the token is accepted from any address, an allowed address needs no token."""
    networks = [ip_network(each) for each in settings.metrics_addresses]
    token = None if settings.metrics_token is None else _token(settings.metrics_token)

    def refused(request: Request) -> Response | None:
        if not networks and token is None:
            return None
        if request.client is not None and any(ip_address(request.client.host) in each for each in networks):
            return None
        header = request.headers.get("authorization", "").encode()
        if token is not None and hmac.compare_digest(header, b"Bearer " + token):
            return None
        if token is None:
            return PlainTextResponse("this address may not read the metrics (metrics_addresses)\n", 403)
        challenge = {"www-authenticate": 'Bearer realm="metastored metrics"'}
        return PlainTextResponse("the metrics need a token (metrics_token)\n", 401, challenge)

    return refused


def _token(file: Path) -> bytes:
    try:
        token = file.read_bytes().strip()
    except OSError as error:
        raise ConfigError(f"metrics_token {file}: {error.strerror or error}") from error
    if not token:
        raise ConfigError(f"metrics_token {file} is empty")
    return token
