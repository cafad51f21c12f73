"""What a server says when it is ready: to people on standard output, to programs in the ready file."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import logging
import os
import re
import socket

from skep import __version__
from skep.config import Settings

log = logging.getLogger("skep.server")

_PASSWORD = re.compile(r"(?<=://)([^/:@]*:).*(?=@)|(?<=[?&])(password=)[^&]*")
"""In a database URL: between the user and the host, or among the parameters."""


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def uri(host: str, port: int) -> str:
    """What clients are given; a server that listens on all addresses is reached by its machine's name."""
    if host in ("0.0.0.0", "::", ""):
        host = socket.gethostname()
    return f"thrift://[{host}]:{port}" if ":" in host else f"thrift://{host}:{port}"


def warn_when_open(settings: Settings) -> None:
    if not is_loopback(settings.host) and settings.kerberos_principal is None:
        log.warning(
            "listening on %s without authentication: whoever reaches this port can read and change everything",
            settings.host,
        )


def text(settings: Settings, port: int) -> str:
    """The start-up banner."""
    address = uri(settings.host, port)
    if settings.database_url is None:
        database = f"data {settings.data}"
    else:
        database = "database " + _PASSWORD.sub(lambda found: f"{found[1] or found[2]}…", settings.database_url)
    workers = f"{settings.workers} worker{'s' if settings.workers > 1 else ''}"
    return (
        f"skep {__version__} serves the Hive Metastore API at {address}\n"
        f"  {workers}, {database}, warehouse {settings.warehouse_root}\n"
        f"  Spark: --conf spark.sql.catalogImplementation=hive --conf spark.hadoop.hive.metastore.uris={address}\n"
        + _kerberos(settings)
    )


def _kerberos(settings: Settings) -> str:
    if settings.kerberos_principal is None:
        return ""
    return (
        "    --conf spark.hadoop.hive.metastore.sasl.enabled=true"
        f" --conf spark.hadoop.hive.metastore.kerberos.principal={settings.kerberos_principal}\n"
    )


def announce(settings: Settings, listening: socket.socket, workers: list[int], again: bool = False) -> None:
    """Says that calls are answered. `again`: other processes than before serve; only the ready file tells."""
    port = listening.getsockname()[1]
    if settings.ready_file is not None:
        state = {"host": settings.host, "port": port, "pid": os.getpid(), "workers": workers}
        # Whoever waits for the file never sees half of it.
        unfinished = settings.ready_file.with_name(settings.ready_file.name + ".new")
        unfinished.write_text(json.dumps(state) + "\n", encoding="utf-8")
        unfinished.replace(settings.ready_file)
    if not again:
        print(text(settings, port), end="", flush=True)


def forget(settings: Settings) -> None:
    """Takes the ready file away: nobody answers any more."""
    if settings.ready_file is not None:
        with contextlib.suppress(FileNotFoundError):
            settings.ready_file.unlink()
