"""Passwords of the users in the database: hashed by argon2, checked at a cost, remembered for a minute.

A wrong user costs as much as a wrong password, so that nobody learns who exists. What is remembered is a keyed hash
that only this process can make, next to the hash in the database: whoever changes or removes the password changes
that one, and every server forgets at once. No password is ever kept, logged or put into an error.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import Final, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from metastored.errors import AuthenticationError, ConfigError
from metastored.store.engine.database import Database
from metastored.store.security import users

REMEMBERED_FOR: Final = 60.0
"""Seconds for which a password that was right is not hashed again."""
MAX_REMEMBERED: Final = 10_000
MAX_PASSWORD: Final = 1024
"""Bytes; longer ones are refused before any work is done."""
MAX_NAME: Final = 256
MAX_FAILURES: Final = 10
FAILURE_WINDOW: Final = 60.0
"""So many failures of one address within so many seconds, and it has to wait."""
MAX_ADDRESSES: Final = 10_000
WRONG: Final = "the user or the password is wrong"

T = TypeVar("T")

_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def hashed(password: str) -> str:
    """What the database keeps of a password."""
    return _HASHER.hash(password)


def checked_name(name: str) -> str:
    """A user's name, or ConfigError: a colon would end it in HTTP, a NUL in SASL."""
    if not name or len(name) > MAX_NAME or any(sign in name for sign in ":/@\0\r\n\t ") or not name.isprintable():
        raise ConfigError(f"{name!r} is no name for a user: letters, digits, - _ . and the like were expected")
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
        """What a user who does not exist is compared with."""
        self._remembered: OrderedDict[bytes, tuple[str, float]] = OrderedDict()
        """By the keyed hash of user and password: the hash in the database that was right, and until when."""
        self._lock = threading.Lock()

    @property
    def is_quick(self) -> bool:
        """Whether `is_remembered` may be asked on the event loop."""
        return self._database.dialect == "sqlite"

    def is_remembered(self, user: str, password: str) -> bool:
        """Whether this password was right a moment ago and still is; reads one row."""
        if len(password) > MAX_PASSWORD:
            return False
        sign = self._sign(user, password)
        with self._lock:
            found = self._remembered.get(sign)
            if found is not None and found[1] < self._clock():
                del self._remembered[sign]
                found = None
        if found is None:
            return False
        row = users.find(self._database.reader(), user)
        if row is not None and hmac.compare_digest(row.password, found[0]):
            return True
        with self._lock:
            self._remembered.pop(sign, None)
        return False

    def check(self, user: str, password: str) -> None:
        """Raises AuthenticationError. It may take a tenth of a second: never on the event loop."""
        if self.is_remembered(user, password):
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
            self._remembered[self._sign(user, password)] = (stored, self._clock() + REMEMBERED_FOR)
            while len(self._remembered) > MAX_REMEMBERED:
                self._remembered.popitem(last=False)

    def _sign(self, user: str, password: str) -> bytes:
        told = f"{user}\0{password}".encode("utf-8", "surrogateescape")
        return hmac.digest(self._key, told, hashlib.sha256)


class TooManyAttempts(AuthenticationError):
    """The address has to wait. Nothing was verified."""

    def __init__(self, address: str, wait: int) -> None:
        super().__init__(f"too many failed attempts from {address}: try again in {wait} s")
        self.wait: Final = wait


class Attempts:
    """Failures by address. One worker's: an address that tries all of them has as many more."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()
        """How many, and when the first of them is forgotten."""
        self._lock = threading.Lock()

    def admit(self, address: str) -> None:
        """Raises TooManyAttempts while this address may not try."""
        with self._lock:
            count, until = self._failures.get(address, (0, 0.0))
        left = until - self._clock()
        if count >= MAX_FAILURES and left > 0:
            raise TooManyAttempts(address, int(left) + 1)

    def counted(self, address: str, verify: Callable[[], T]) -> T:
        """What `verify` gives; when it raises AuthenticationError, that is a failure of this address.

        Called where it is verified, not where somebody waits for it: of a thousand guesses that wait in a queue, those
        behind the last one that is allowed cost nothing.
        """
        self.admit(address)
        try:
            return verify()
        except AuthenticationError:
            self.failed(address)
            raise

    def failed(self, address: str) -> None:
        now = self._clock()
        with self._lock:
            count, until = self._failures.pop(address, (0, 0.0))
            self._failures[address] = (count + 1, until) if until > now else (1, now + FAILURE_WINDOW)
            while len(self._failures) > MAX_ADDRESSES:
                self._failures.popitem(last=False)
