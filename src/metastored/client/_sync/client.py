# Made by tools/unasync.py from _async/client.py: DO NOT EDIT.
"""The client that a program uses: convenient methods for common tasks; every other method is in `api`.

with metastored.connect("thrift://a:9083,thrift://b:9083") as client:
    for name in client.tables("sales", "orders*"):
        table = client.table(f"sales.{name}")
    for partition in client.partitions("sales.orders", where="ds >= '2024-01-01'"):
        …

Its methods for metadata are in `metadata.py`, and those that make several calls in `operations.py`.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from metastored.client._backend import threads as io
from metastored.client._sync.caller import Caller
from metastored.client._sync.metadata import BATCH
from metastored.client._sync.operations import Operations
from metastored.client._sync.pool import Pool
from metastored.client.cache import CacheSettings, MetadataCache
from metastored.client.endpoints import Identity, TransportSettings, endpoints_of
from metastored.client.mechanisms import Mechanism
from metastored.client.metrics import Metrics
from metastored.client.pooling import PoolSettings
from metastored.client.retry import Retry
from metastored.client.statements.values import Result
from metastored.errors import ConfigError
from metastored.wire.message import Handler

TIMEOUT: Final = 60.0


class Client(Operations):
    """A client of a metastore, created by `metastored.connect`. Close it, or use it in `with`."""

    # Statements

    def sql(self, text: str, database: str = "default") -> Result:
        """Executes metastored's statements, separated by `;`, such as CREATE REMOTE DATABASE and SHOW REMOTES.

        `database` is the current database at first. Returns the result of the last statement. Raises StatementError,
        with line, column and what was expected, before anything is executed.
        """
        # The grammar is not for everybody.
        from metastored.client._sync.statements import Statements

        return Statements(self, database).run(text)


def connect(
    uris: str | Iterable[str] | None = None,
    *,
    handler: Handler | None = None,
    user: str | None = None,
    groups: Sequence[str] = (),
    password: str | None = None,
    token: str | None = None,
    sasl: Callable[[str], Mechanism] | None = None,
    tls: ssl.SSLContext | None = None,
    timeout: float = TIMEOUT,
    transport: TransportSettings = TransportSettings(),  # noqa: B008
    pool: PoolSettings = PoolSettings(),  # noqa: B008
    retry: Retry = Retry(),  # noqa: B008
    cache: bool | CacheSettings = False,
    batch: int = BATCH,
    metrics: Metrics | None = None,
) -> Client:
    """A client of the metastore at these addresses, or of a handler in this process. Connects at the first call.

    `thrift://a:9083,thrift://b:9083`: the second is used when the first does not reply. `thrifts://` uses TLS;
    `https://host:port/path` is Thrift over HTTP. `user` is sent to the server (set_ugi); with `password` the client
    authenticates, by HTTP Basic or SASL PLAIN; with `sasl=kerberos("hive/_HOST@REALM")` by Kerberos. With `cache=True`
    or `cache=CacheSettings(…)` replies about objects are cached, and may be older than changes by others. `metrics`
    receives each call (`metastored.client.metrics`).
    """
    if (uris is None) == (handler is None):
        raise ConfigError("either the addresses of a metastore or a handler is required")
    if not 1 <= batch <= 32_766:
        raise ConfigError(f"batch is {batch}; it must be between 1 and 32766")
    if timeout <= 0:
        raise ConfigError(f"timeout is {timeout}; it must be more than 0")
    settings = cache if isinstance(cache, CacheSettings) else CacheSettings(enabled=cache)
    metadata = MetadataCache(settings, io.now) if settings.enabled else None
    if handler is not None:
        inside = io.InProcess(handler, user)
        caller = Caller(None, inside, Identity(user, tuple(groups)), timeout, retry, metadata, metrics)
        return _watched(Client(caller, inside, Identity(user, tuple(groups)), batch), metrics)
    assert uris is not None
    identity = Identity(user, tuple(groups))
    endpoints = []
    for endpoint in endpoints_of(uris, tls):
        over_http = endpoint.path is not None
        if over_http:
            from metastored.client.http import basic, bearer

            credentials = [basic(user or "", password)] if password is not None else [bearer(token)] if token else []
            endpoint = endpoint._replace(headers=(*credentials, *(transport.headers or {}).items()))
        elif token is not None or transport.headers:
            raise ConfigError("token and headers are for http:// and https:// addresses")
        elif sasl is None and password is not None:
            from metastored.client.sasl import plain

            sasl = plain(user or "", password)
        secured = over_http or sasl is not None
        endpoints.append(
            endpoint._replace(
                protocol=transport.protocol or (endpoint.protocol if over_http else None),
                framed=False if secured else transport.framed,
                connect_timeout=transport.connect_timeout,
                max_reply=transport.max_reply,
                decode=True,
                sasl=None if over_http else sasl,
            )
        )
        if secured:
            identity = Identity(None)
    caller = Caller(Pool(endpoints, pool), None, identity, timeout, retry, metadata, metrics)
    return _watched(Client(caller, None, identity, batch), metrics)


def _watched(client: Client, metrics: Metrics | None) -> Client:
    if metrics is not None:
        metrics.watch(client)
    return client
