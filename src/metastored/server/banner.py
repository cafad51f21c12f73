"""The output of a server that is ready: the banner on standard output, and the ready file for programs."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shlex
import socket
from collections.abc import Sequence
from errno import EISDIR
from pathlib import Path
from typing import Any, NamedTuple

from metastored import __version__
from metastored.config import ICEBERG_PATH, Settings
from metastored.errors import ConfigError
from metastored.hive.locations import same_location
from metastored.model.counting import counted
from metastored.server.listener import Ports
from metastored.server.tls import MADE_CERTIFICATE, fingerprint

log = logging.getLogger("metastored.server")


def uri(host: str, port: int, scheme: str = "thrift") -> str:
    """The host name for clients; a server that listens on all addresses has its machine's name."""
    if host in ("0.0.0.0", "::", ""):
        host = socket.gethostname()
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


class Warehouses(NamedTuple):
    """The warehouse of a server, and the warehouse that its database was created with."""

    current: str
    first: str

    @property
    def differ(self) -> bool:
        return not same_location(self.current, self.first)


def warn_of_two_warehouses(settings: Settings, warehouses: Warehouses) -> None:
    if warehouses.differ:
        log.warning(
            "new databases are created in %s; databases that were created with the warehouse %s stay there: "
            "once the directories are moved, `metastored relocate %s %s %s` rewrites their locations",
            warehouses.current,
            warehouses.first,
            shlex.quote(warehouses.first),
            shlex.quote(warehouses.current),
            "--database-url URL" if settings.database_url else f"--data {shlex.quote(str(settings.data))}",
        )


def text(
    settings: Settings,
    port: int,
    warehouses: Warehouses,
    http_port: int | None = None,
    warnings: Sequence[str] = (),
    acid_views_port: int | None = None,
) -> str:
    """The start-up banner, with those `warnings` of `safety.py` that the log does not have."""
    address = uri(settings.host, port)
    database = f"{'data' if settings.database_url is None else 'database'} {settings.shown_database}"
    workers = counted(settings.workers, "worker")
    return (
        f"metastored {__version__} serves the Hive Metastore API at {address}\n"
        f"  {workers}, {database}, warehouse {warehouses.current}\n"
        + (f"  new databases are created there; earlier ones stay in {warehouses.first}\n" if warehouses.differ else "")
        + f"  Spark: --conf spark.sql.catalogImplementation=hive --conf spark.hadoop.hive.metastore.uris={address}\n"
        f"    --conf {shlex.quote(f'spark.sql.warehouse.dir={warehouses.current}')}\n"
        + _kerberos(settings)
        + _acid_views(settings, acid_views_port)
        + _http(settings, http_port)
        + "".join(f"  Warning: {each}\n" for each in warnings)
    )


def _kerberos(settings: Settings) -> str:
    if settings.kerberos_principal is None:
        return ""
    return (
        "    --conf spark.hadoop.hive.metastore.sasl.enabled=true"
        f" --conf spark.hadoop.hive.metastore.kerberos.principal={settings.kerberos_principal}\n"
    )


def _acid_views(settings: Settings, port: int | None) -> str:
    return "" if port is None else f"  ACID tables as views, for every Spark: {uri(settings.host, port)}\n"


def _http(settings: Settings, port: int | None) -> str:
    if port is None:
        return ""
    address = uri(settings.host, port, "https" if settings.http_tls == "on" else "http")
    lines = f"  HTTP: {address}{settings.http_path}, {address}/metastore, {address}/health\n"
    if settings.iceberg == "on":
        lines += f"  Iceberg REST: {address}{ICEBERG_PATH}\n"
    if settings.lance == "on":
        lines += f"  Lance: {address}/lance/hive2, with catalogs {address}/lance/hive3\n"
    if settings.http_tls == "on":
        certificate: Path = settings.tls_certificate or settings.data / MADE_CERTIFICATE
        lines += f"    certificate {certificate}, SHA-256 {fingerprint(certificate)}\n"
    return lines


def check_ready_file(settings: Settings) -> None:
    """Raises ConfigError when the ready file could not be written: without it no program finds the server."""
    if settings.ready_file is None:
        return
    try:
        if settings.ready_file.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        unfinished = _unfinished(settings.ready_file)
        unfinished.touch()
        unfinished.unlink()
    except OSError as error:
        raise _cannot_write(settings.ready_file, error) from error


def _unfinished(file: Path) -> Path:
    return file.with_name(file.name + ".new")


def _cannot_write(file: Path, error: OSError) -> ConfigError:
    return ConfigError(f"ready_file {file} cannot be written: {error.strerror or error}")


def announce(
    settings: Settings,
    ports: Ports,
    warehouses: Warehouses,
    workers: list[int],
    again: bool = False,
    warnings: Sequence[str] = (),
) -> None:
    """Announces that calls are served. `again`: after workers were replaced, only the ready file is written."""
    port, http_port = ports.thrift.getsockname()[1], ports.http_number
    if settings.ready_file is not None:
        state: dict[str, Any] = {"host": settings.host, "port": port, "pid": os.getpid(), "workers": workers}
        state["warehouse"] = warehouses.current
        if http_port is not None:
            state["http_port"] = http_port
        if ports.acid_views_number is not None:
            state["acid_views_port"] = ports.acid_views_number
        # Readers of the file never see a partial file.
        unfinished = _unfinished(settings.ready_file)
        try:
            unfinished.write_text(json.dumps(state) + "\n", encoding="utf-8")
            unfinished.replace(settings.ready_file)
        except OSError as error:
            if not again:
                raise _cannot_write(settings.ready_file, error) from error
            log.error("%s; it names processes that have ended", _cannot_write(settings.ready_file, error))
    if not again:
        warn_of_two_warehouses(settings, warehouses)
        # A terminal shows the log beside the banner: what the log has is not printed again.
        unlogged = () if log.isEnabledFor(logging.WARNING) else warnings
        banner = text(settings, port, warehouses, http_port, unlogged, ports.acid_views_number)
        print(banner, end="", flush=True)


def forget(settings: Settings) -> None:
    """Removes the ready file: the server no longer serves calls."""
    if settings.ready_file is not None:
        with contextlib.suppress(OSError):
            settings.ready_file.unlink()
