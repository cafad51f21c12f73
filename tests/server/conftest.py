from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.server.support import Running, serving
from tests.support.kdc import Kdc


@pytest.fixture
def server() -> Iterator[Running]:
    with serving() as running:
        yield running


@dataclass(frozen=True)
class Realm:
    """A realm with a metastore's principal and keytab, and alice, who is logged in."""

    kdc: Kdc
    service: str
    keytab: Path
    alice: str
    cache: Path


@pytest.fixture(scope="session")
def _realm(kdc: Kdc) -> Realm:
    service, alice = kdc.principal("hive/localhost"), kdc.principal("alice")
    return Realm(kdc, service, kdc.keytab(service), alice, kdc.kinit(alice))


@pytest.fixture
def realm(_realm: Realm, monkeypatch: pytest.MonkeyPatch) -> Realm:
    """The realm in the Kerberos configuration of this process and its children."""
    monkeypatch.setenv("KRB5_CONFIG", str(_realm.kdc.config))
    return _realm
