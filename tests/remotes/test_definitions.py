"""Which names are remote."""

from __future__ import annotations

import pytest

from metastored.errors import AlreadyExistsException, InvalidObjectException
from metastored.remotes.definitions import Definitions, RemoteDatabase

SALES = RemoteDatabase("sales", "raw", "thrift://hms:9083")


@pytest.mark.parametrize(("catalog", "name"), [(None, "sales"), ("hive", "sales"), ("HIVE", " Sales ")])
def test_a_name_is_looked_up_as_hive_does(catalog: str | None, name: str) -> None:
    assert Definitions([SALES]).resolve(catalog, name) == SALES


@pytest.mark.parametrize(("catalog", "name"), [(None, "raw"), ("spark", "sales"), (None, "")])
def test_other_names_are_not_remote(catalog: str | None, name: str) -> None:
    assert Definitions([SALES]).resolve(catalog, name) is None


def test_the_same_name_in_another_catalog_is_another_database() -> None:
    other = RemoteDatabase("sales", "raw", "thrift://other:9083", catalog="spark")
    definitions = Definitions([SALES, other], local_databases=["default"])
    assert (definitions.resolve("hive", "sales"), definitions.resolve("spark", "sales")) == (SALES, other)


def test_a_name_that_is_taken_here_is_refused() -> None:
    with pytest.raises(AlreadyExistsException, match="'sales' exists here; give the remote database 'raw'"):
        Definitions([SALES], local_databases=["default", "SALES"])


def test_a_name_that_another_remote_has_is_refused() -> None:
    with pytest.raises(AlreadyExistsException, match="'raw' at thrift://hms:9083"):
        Definitions([SALES, RemoteDatabase("Sales", "other", "thrift://other:9083")])


def test_names_that_hive_would_not_accept_are_refused() -> None:
    with pytest.raises(InvalidObjectException, match="'a-b' cannot be the remote_name"):
        RemoteDatabase("sales", "a-b", "thrift://hms:9083")
