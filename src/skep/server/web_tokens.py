"""Web tokens (JWT) as Hive 4's HTTP clients send them: signed by a key of a JWKS, with the user as their subject.

The keys come from a file or a URL, are kept for a while, and are fetched again when a token names one that is not
among them. Only public-key signatures are taken: a shared secret in a public set of keys proves nothing.
"""

from __future__ import annotations

import json
import logging
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any, Final

import jwt

from skep.errors import AuthenticationError, ConfigError

log = logging.getLogger("skep.server")

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
KEPT_FOR: Final = 600.0
"""Seconds after which keys are fetched again."""
NOT_SOONER: Final = 30.0
"""Seconds between two fetches, however many tokens name unknown keys."""
TIMEOUT: Final = 10.0
MAX_KEYS: Final = 1024 * 1024
"""Bytes of a set of keys."""
LEEWAY: Final = 30
"""Seconds by which clocks may differ."""


class JwtTokens:
    """Verifies tokens. Used by several threads."""

    def __init__(
        self,
        source: str,
        issuer: str | None = None,
        audience: str | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._source = source
        self._issuer = issuer
        self._audience = audience
        self._clock = clock
        self._lock = threading.Lock()
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._fetched = float("-inf")
        self._tried = float("-inf")
        if not _is_url(source):
            # A file that is wrong is told at the start; a URL may be down at the time.
            self._fetch()

    def user_of(self, token: str) -> str:
        try:
            key = self._key(jwt.get_unverified_header(token).get("kid"))
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                issuer=self._issuer,
                audience=self._audience,
                leeway=LEEWAY,
                options={"require": ["exp", "sub"], "verify_aud": self._audience is not None},
            )
        except jwt.PyJWTError as error:
            raise AuthenticationError(f"the web token is not accepted: {error}") from None
        user = claims["sub"]
        if not isinstance(user, str) or not user.strip():
            raise AuthenticationError("the web token has an empty subject")
        return user

    def _key(self, name: str | None) -> jwt.PyJWK:
        with self._lock:
            now = self._clock()
            if now - self._fetched > KEPT_FOR or self._find(name) is None:
                self._refresh(now)
            found = self._find(name)
        if found is None:
            raise AuthenticationError(f"the web token is signed with the key {name!r}, which is none of the known ones")
        return found

    def _find(self, name: str | None) -> jwt.PyJWK | None:
        if name is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(name)

    def _refresh(self, now: float) -> None:
        if now - self._tried < NOT_SOONER:
            return
        self._tried = now
        try:
            self._fetch()
        except ConfigError as error:
            # Keys that were good are good until there are others.
            log.error("%s", error)

    def _fetch(self) -> None:
        try:
            found = jwt.PyJWKSet.from_dict(_read(self._source))
        except (OSError, ValueError, jwt.PyJWTError) as error:
            raise ConfigError(f"jwt_keys {self._source}: {error}") from None
        self._keys = {key.key_id: key for key in found.keys if key.key_type != "oct"}
        if not self._keys:
            raise ConfigError(f"jwt_keys {self._source}: there is no public key in it")
        self._fetched = self._clock()


def _is_url(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def _read(source: str) -> dict[str, Any]:
    if _is_url(source):
        with urllib.request.urlopen(source, timeout=TIMEOUT) as answer:
            data = answer.read(MAX_KEYS + 1)
    else:
        data = Path(source).expanduser().read_bytes()
    if len(data) > MAX_KEYS:
        raise ValueError(f"more than {MAX_KEYS} bytes")
    found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError("not a JSON object with keys")
    return found
