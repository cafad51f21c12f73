"""Passwords of the users in the database: hashed by argon2, which is slow, and cached for a minute.

A wrong user takes as long as a wrong password, so that the time does not reveal which users exist. The cache maps a
keyed hash that only this process can compute to the hash in the database: changing or removing a password changes the
latter, which invalidates the entry on every server at once. No password is ever stored, logged or put into an error.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from metastored.errors import AuthenticationError, ConfigError
from metastored.store.engine.database import Database
from metastored.store.security import users

CACHED_FOR: Final = 60.0
"""Seconds for which a password that was right is not hashed again."""
MAX_CACHED: Final = 10_000
MAX_PASSWORD: Final = 1024
"""Bytes; longer ones are refused before any work is done."""
MAX_NAME: Final = 256
WRONG: Final = "the user or the password is wrong"

_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def hashed(password: str) -> str:
    """The hash of a password for the database."""
    return _HASHER.hash(password)


def checked_name(name: str) -> str:
    """A user's name, or ConfigError: a colon would end it in HTTP, a NUL in SASL."""
    if not name or len(name) > MAX_NAME or any(sign in name for sign in ":/@\0\r\n\t ") or not name.isprintable():
        raise ConfigError(f"{name!r} is not a name for a user: letters, digits, - _ . and the like were expected")
    return name


def checked_password(password: str) -> str:
    if not password:
        raise ConfigError("the password is empty")
    if len(password.encode()) > MAX_PASSWORD or "\0" in password:
        raise ConfigError(f"the password has more than {MAX_PASSWORD} bytes, or a NUL in it")
    return password


class Passwords:
    """Checks passwords against the database. Used by several threads."""

    def __init__(self, database: Database, clock: Callable[[], float] = monotonic) -> None:
        self._database = database
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._nobody = hashed(secrets.token_urlsafe(16))
        """The hash that the password of an unknown user is compared with."""
        self._cache: OrderedDict[bytes, tuple[str, float]] = OrderedDict()
        """By the keyed hash of user and password: the hash in the database that was right, and until when.

        Expired entries stay: they let a user pass others who guess (`was_right`), and authenticate nobody.
        """
        self._lock = threading.Lock()

    @property
    def is_quick(self) -> bool:
        """Whether `is_cached` may be called on the event loop."""
        return self._database.dialect == "sqlite"

    def is_cached(self, user: str, password: str) -> bool:
        """Whether this password was right a moment ago and still is; reads one row."""
        if len(password) > MAX_PASSWORD:
            return False
        sign = self._sign(user, password)
        with self._lock:
            entry = self._cache.get(sign)
        if entry is None or entry[1] < self._clock():
            return False
        row = users.find(self._database.reader(), user)
        if row is not None and hmac.compare_digest(row.password, entry[0]):
            return True
        with self._lock:
            self._cache.pop(sign, None)
        return False

    def was_right(self, user: str, password: str) -> bool:
        """Whether this password was right before in this process, however long ago. It must be checked again."""
        if len(password) > MAX_PASSWORD:
            return False
        with self._lock:
            return self._sign(user, password) in self._cache

    def check(self, user: str, password: str) -> None:
        """Raises AuthenticationError. It may take a tenth of a second: never on the event loop."""
        if self.is_cached(user, password):
            return
        if len(password.encode("utf-8", "surrogateescape")) > MAX_PASSWORD or len(user) > MAX_NAME:
            raise AuthenticationError(WRONG)
        row = users.find(self._database.reader(), user)
        stored = self._nobody if row is None else row.password
        try:
            _HASHER.verify(stored, password)
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            raise AuthenticationError(WRONG) from None
        if row is None:
            raise AuthenticationError(WRONG)
        with self._lock:
            self._cache[self._sign(user, password)] = (stored, self._clock() + CACHED_FOR)
            while len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)

    def _sign(self, user: str, password: str) -> bytes:
        text = f"{user}\0{password}".encode("utf-8", "surrogateescape")
        return hmac.digest(self._key, text, hashlib.sha256)
