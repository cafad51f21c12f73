"""Clients of Apache Thrift and thriftpy2 talk to the server in every protocol, framed and not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from metastored.errors import ApplicationError, ConfigValSecurityException, NoSuchObjectException
from tests.server.support import Running
from tests.support.thriftpy import Thriftpy2Client
from tests.support.witness import apache_client, thriftpy2_client

pytestmark = pytest.mark.slow

CLIENTS: dict[str, Callable[..., Any]] = {"apache": apache_client, "thriftpy2": thriftpy2_client}


@pytest.fixture(params=[False, True], ids=["unframed", "framed"])
def framed(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(params=["binary", "compact", "json"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, server: Running, protocol: str, framed: bool) -> Iterator[Any]:
    with CLIENTS[request.param]("127.0.0.1", server.port, protocol=protocol, framed=framed) as client:
        yield client


def test_calls_follow_each_other_on_one_connection(client: Any) -> None:
    assert client.call("get_all_databases") == ("default",)
    assert client.call("get_config_value", "echo", 'größe "\\\n') == 'größe "\\\n'
    assert client.call("get_all_databases") == ("default",)


def test_a_long_message_arrives_complete(client: Any, protocol: str) -> None:
    # thriftpy2 reads JSON byte by byte, in a time that grows with the square of a string's length.
    slow = isinstance(client, Thriftpy2Client) and protocol == "json"
    text = "äx]}" * (2_000 if slow else 100_000)
    assert client.call("get_config_value", "echo", text) == text


def test_a_declared_exception_is_raised(client: Any) -> None:
    with pytest.raises(ConfigValSecurityException, match="hidden"):
        client.call("get_config_value", "secret", "hidden")
    with pytest.raises(NoSuchObjectException, match="get_table"):
        client.call("get_table", "d", "t")


def test_an_undeclared_exception_is_an_application_error(client: Any) -> None:
    with pytest.raises(ApplicationError) as caught:
        client.call("get_config_value", "raise", "x")
    assert caught.value.type == ApplicationError.INTERNAL_ERROR
    assert client.call("get_all_databases") == ("default",)
