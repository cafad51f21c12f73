"""Hive 4's data connectors as a part of a definition: what a remote that uses one may say itself."""

from __future__ import annotations

import pytest

from metastored.errors import InvalidObjectException
from metastored.model.remotes.connectors import with_connector

TOY = {"metastored.remote.via": "toy", "toy.token": "env:TOY"}
USED = {"metastored.remote.connector": "c"}


def test_a_remote_has_the_keys_of_its_connector() -> None:
    found = with_connector(USED | {"metastored.remote.cache": "5"}, "toy", "http://there", TOY, "d")
    assert found == {**TOY, "toy.url": "http://there", **USED, "metastored.remote.cache": "5"}


@pytest.mark.parametrize("key", ["toy.url", "toy.box", "hive.metastore.uris", "metastored.remote.via"])
def test_a_remote_does_not_change_where_its_connector_leads(key: str) -> None:
    """The secrets of the connector would be sent there."""
    with pytest.raises(InvalidObjectException, match=f"'{key}' is given beside connector c"):
        with_connector(USED | {key: "http://evil"}, "toy", "http://there", TOY, "d")
