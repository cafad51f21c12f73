"""The public keys that web tokens are signed with: a set (JWKS) from a file or a URL, cached and refreshed.

A key server may be slow, down, or have changed its keys. So keys are fetched on a thread of their own, one fetch at a
time and never more often than `NOT_SOONER`. A token with a cached key never waits for a fetch, and cached keys are
used until a fetch succeeds. Only the host that the operator named is asked, by HTTP or HTTPS: a redirect to elsewhere
is refused, and nothing in a token names a source of keys. This module never parses a token.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import threading
import urllib.error
import urllib.request
from contextlib import suppress
from http.client import HTTPConnection, HTTPMessage, HTTPResponse, HTTPSConnection
from pathlib import Path
from time import monotonic
from typing import IO, Any, Final
from urllib.parse import urlsplit

import jwt

from metastored.errors import ConfigError
from metastored.server.safety import is_loopback
from metastored.threads import Pool

log = logging.getLogger("metastored.server")

KEPT_FOR: Final = 600.0
"""Seconds after which keys are fetched again."""
NOT_SOONER: Final = 5.0
"""Seconds between two fetches, however many tokens name unknown keys."""
TIMEOUT: Final = 10.0
"""The timeout of a fetch, and of a request that waits for it, in seconds."""
MAX_KEYS: Final = 1024 * 1024
"""Bytes of a set of keys."""
PIECE: Final = 64 * 1024

Named = dict[str | None, jwt.PyJWK]


class WebKeys:
    """One set of keys. Used by one event loop, and nothing of it blocks that."""

    def __init__(
        self, source: str, kept_for: float = KEPT_FOR, not_sooner: float = NOT_SOONER, timeout: float = TIMEOUT
    ) -> None:
        self._source = source
        self._kept_for = kept_for
        self._not_sooner = not_sooner
        self._timeout = timeout
        self._keys: Named = {}
        self._fetched = self._tried = float("-inf")
        self._fetching: asyncio.Task[None] | None = None
        self._failed = False
        self._thread = Pool(1, "metastored-keys")
        if not _is_url(source):
            # A wrong file is an error at the start; a URL may be temporarily down.
            self._take(_fetch(source, timeout))
        elif not _has_host(source):
            raise ConfigError(f"jwt_keys {source}: a URL with a host was expected, such as https://host/keys.json")
        elif source.startswith("http://") and not is_loopback(urlsplit(source).hostname or ""):
            log.warning("jwt_keys %s is fetched without TLS: an attacker on the network can replace the keys", source)

    @property
    def in_doubt(self) -> bool:
        """Whether keys may be missing here because fetching failed."""
        return self._failed or self._fetching is not None

    def find(self, name: str | None) -> jwt.PyJWK | None:
        """The key of this name, as far as is known now; keys that are old are fetched again meanwhile."""
        if monotonic() - self._fetched > self._kept_for:
            self._start()
        if name is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(name)

    async def renewed(self) -> None:
        """Returns after the next fetch, or after a timeout. Concurrent callers wait for the same fetch."""
        await asyncio.wait([self._start()], timeout=self._timeout)

    def _start(self) -> asyncio.Task[None]:
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._renew())
        return self._fetching

    async def _renew(self) -> None:
        try:
            await asyncio.sleep(self._tried + self._not_sooner - monotonic())
            self._take(await self._thread.run(lambda: _fetch(self._source, self._timeout)))
        except ConfigError as error:
            self._failed = True
            log.error("%s; %s", error, "the keys of before are used on" if self._keys else "there are no others")
        finally:
            self._tried = monotonic()
            self._fetching = None

    def _take(self, keys: Named) -> None:
        self._keys = keys
        self._fetched = monotonic()
        self._failed = False


def _is_url(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def _has_host(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False


def _fetch(source: str, timeout: float) -> Named:
    """Raises ConfigError that names the source. It may block."""
    try:
        key_set = jwt.PyJWKSet.from_dict(_read(source, timeout))
        # A shared secret in a public set of keys authenticates nobody, and neither does a key for encryption.
        keys = {key.key_id: key for key in key_set.keys if key.key_type != "oct" and key.public_key_use != "enc"}
    except Exception as error:
        # Whatever a key server answers, and the libraries raise for it: the keys of before are used on.
        raise ConfigError(f"jwt_keys {source}: {str(error) or type(error).__name__}") from None
    if not keys:
        raise ConfigError(f"jwt_keys {source}: there is no public key in it")
    return keys


def _read(source: str, timeout: float) -> dict[str, Any]:
    data = _download(source, timeout) if _is_url(source) else Path(source).expanduser().read_bytes()
    if len(data) > MAX_KEYS:
        raise ValueError(f"more than {MAX_KEYS} bytes")
    content = json.loads(data)
    if not isinstance(content, dict):
        raise ValueError("not a JSON object with keys")
    return content


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follows redirects within one host, and from HTTP to HTTPS."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        before, after = urlsplit(req.full_url), urlsplit(newurl)
        same = (after.scheme, after.netloc) == (before.scheme, before.netloc)
        if not (same or (after.scheme == "https" and after.hostname == before.hostname)):
            raise urllib.error.URLError(
                f"it redirects to another place, {newurl}: name that in jwt_keys if it is meant"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Http(HTTPConnection):
    def connect(self) -> None:
        super().connect()
        _end_later(self.sock, self.timeout)


class _Https(HTTPSConnection):
    def connect(self) -> None:
        super().connect()
        _end_later(self.sock, self.timeout)


def _end_later(connection: socket.socket, timeout: float | None) -> None:
    """Ends the connection after the timeout, whatever comes by then: each byte alone may be in time, without an end."""
    twin = socket.socket(fileno=os.dup(connection.fileno()))

    def end() -> None:
        with suppress(OSError):
            twin.shutdown(socket.SHUT_RDWR)
        twin.close()

    timer = threading.Timer(timeout or TIMEOUT, end)
    timer.daemon = True
    timer.start()


class _HttpHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(_Http, req)


class _HttpsHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(_Https, req)


def _opener() -> urllib.request.OpenerDirector:
    """Without the handlers of urllib for files, FTP and data."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        _HttpHandler(),
        _HttpsHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _SameHost(),
    ):
        opener.add_handler(handler)
    return opener


_OPENER: Final = _opener()


def _download(url: str, timeout: float) -> bytes:
    """Reads at most one byte more than is accepted. The timeout is for the complete response."""
    until = monotonic() + timeout
    data = b""
    with _OPENER.open(url, timeout=timeout) as response:
        while len(data) <= MAX_KEYS and (piece := response.read1(PIECE)):
            data += piece
            if monotonic() > until:
                raise TimeoutError(f"it was not there after {timeout:g} s")
    return data
