"""Secrets in definitions: what is stored, what is shown, and what an ALTER may keep."""

from __future__ import annotations

import os
from typing import Any

import pytest

from metastored.errors import MetaException
from metastored.model.remotes.keys import INVALID, MASK
from metastored.store.security.remote_secrets import RemoteSecrets
from metastored.wire.generated.databases import Database
from metastored.wire.generated.notifications import NotificationEventRequest
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.service.remotes.test_remote_connectors import _ALL_BODIES
from tests.service.remotes.test_remote_databases import remotes_of
from tests.support.metastore import Metastore

PASSWORD = "metastored.remote.password"
GIVEN = {"hive.metastore.uris": "thrift://old:9083", PASSWORD: "s3cret", "metastored.remote.user": "ann"}


@pytest.fixture
def sealing(start: Starter) -> Metastore:
    metastore = start(remote_secrets=RemoteSecrets([os.urandom(32)]))
    metastore.call("create_database", Database(name="d", parameters=GIVEN))
    return metastore


def alter(metastore: Metastore, **changes: str) -> None:
    found = metastore.call("get_database", "d")
    names = {"password": PASSWORD, "uris": "hive.metastore.uris", "access": "metastored.remote.access"}
    parameters = {**found.parameters, **{names[key]: value for key, value in changes.items()}}
    metastore.call("alter_database", "d", replace(found, parameters=parameters))


def password(metastore: Metastore) -> Any:
    return remotes_of(metastore)[0].endpoint.get(PASSWORD)


def test_a_secret_is_stored_encrypted_and_shown_masked(sealing: Metastore) -> None:
    assert sealing.call("get_database", "d").parameters[PASSWORD] == MASK
    assert not any(b"s3cret" in body for (body,) in sealing.database.reader().all(_ALL_BODIES))
    events = sealing.call("get_next_notification", NotificationEventRequest(lastEvent=0)).events
    assert not any("s3cret" in event.message for event in events)
    assert password(sealing) == "s3cret"


def test_the_mask_of_an_alter_means_the_stored_secret(sealing: Metastore) -> None:
    alter(sealing, access="write")
    assert password(sealing) == "s3cret"
    alter(sealing, password="new")
    assert password(sealing) == "new"


def test_a_stored_secret_is_not_sent_to_another_address(sealing: Metastore) -> None:
    with pytest.raises(MetaException, match=r"'hive\.metastore\.uris' changes where the secret"):
        alter(sealing, uris="thrift://evil:9083")
    alter(sealing, uris="thrift://new:9083", password="other")
    assert password(sealing) == "other"


def test_a_secret_can_be_removed(sealing: Metastore) -> None:
    found = sealing.call("get_database", "d")
    without = {key: value for key, value in found.parameters.items() if key != PASSWORD}
    sealing.call("alter_database", "d", replace(found, parameters=without))
    assert password(sealing) == ""


def test_a_server_without_the_key_shows_the_remote_and_cannot_connect(sealing: Metastore, start: Starter) -> None:
    other = start()
    (remote,) = remotes_of(other)
    assert remote.endpoint.via == "thrift" and "s3cret" not in remote.endpoint.get(PASSWORD)


def test_a_definition_that_cannot_be_read_affects_no_other(sealing: Metastore) -> None:
    sealing.call("create_database", Database(name="e", parameters={"hive.metastore.uris": "thrift://old:9083"}))
    _spoil(sealing)
    found = {remote.name: remote.endpoint.via for remote in remotes_of(sealing)}
    assert found == {"d": INVALID, "e": "thrift"}


def _spoil(metastore: Metastore) -> None:
    from metastored.store.objects import remotes

    def write(tx: Any) -> None:
        remotes.update(tx, remotes.all(tx)[0].id, b'{"metastored.remote.from-the-future":"x"}')

    metastore.database.run(write)
