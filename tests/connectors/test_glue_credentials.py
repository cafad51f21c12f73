"""Credentials of Glue: keys that contradict each other, keys that are refused, and roles whose credentials expire."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from metastored.connectors.failures import CredentialsRefused
from metastored.connectors.registry import Connectors
from metastored.errors import ConfigError, MetaException
from metastored.model.remotes.endpoints import Endpoint
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from tests.support.aws import Aws, aws

KEYS = {"aws.access.key.id": "OWNKEY", "aws.secret.access.key": "own", "aws.region": "us-east-1"}
ROLE = {"aws.glue.role": "arn:aws:iam::123456789012:role/reader"}
LONG, SHORT = 3600.0, 60.0
"""Seconds; credentials are renewed when fewer than 15 minutes remain."""


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def at(there: Aws, **more: str) -> Any:
    keys = KEYS | {"aws.glue.endpoint": there.url} | more
    return Connectors().connect(Endpoint("glue", tuple(sorted(keys.items()))))


async def databases(handler: Any) -> Any:
    method = METHODS["get_all_databases"]
    return (await handler.handle(Call(method, ()), Session())).value(method)


def sales(operation: str, arguments: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    assert operation == "GetDatabases"
    return 200, {"DatabaseList": [{"Name": "sales"}]}


@pytest.mark.slow
def test_the_credentials_of_a_role_are_renewed_before_they_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(there: Aws) -> None:
        handler = at(there, **ROLE)
        for _ in range(3):
            assert await databases(handler) == ("sales",)
        await handler.close()

    with aws(sales, [SHORT, LONG]) as there:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", there.url)
        run(test(there))
        assert there.assumed == 2
        assert {key for key, _, _ in there.calls} == {"ROLEKEY2"}


def test_a_role_that_may_no_longer_be_assumed_is_an_error_of_the_call_and_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test(there: Aws) -> None:
        handler = at(there, **ROLE)
        with pytest.raises(MetaException, match="AccessDenied"):
            await databases(handler)
        there.lifetimes.append(LONG)
        assert await databases(handler) == ("sales",)
        await handler.close()

    with aws(sales, [SHORT]) as there:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", there.url)
        run(test(there))


def test_credentials_that_glue_refuses_are_read_again_for_the_next_call() -> None:
    answers = [(400, {"__type": "ExpiredTokenException", "message": "too old"})]

    def expired_once(operation: str, arguments: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return answers.pop() if answers else sales(operation, arguments)

    async def test(there: Aws) -> None:
        handler = at(there)
        reply = await handler.handle(Call(METHODS["get_all_databases"], ()), Session())
        assert isinstance(reply.error, CredentialsRefused)
        assert f"Glue at {there.url} does not accept the credentials: ExpiredTokenException" in str(reply.error)
        assert await databases(handler) == ("sales",)
        await handler.close()

    with aws(expired_once) as there:
        run(test(there))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"aws.access.key.id": "x"}, "are given together"),
        ({"aws.access.key.id": "x", "aws.secret.access.key": "y", "aws.glue.profile": "p"}, "are both given"),
    ],
)
def test_keys_of_which_one_would_be_ignored_are_refused(keys: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Connectors().connect(Endpoint("glue", tuple(sorted(keys.items()))))
