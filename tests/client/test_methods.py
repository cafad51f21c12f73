"""Every method of the API can be called, by both clients, under its own name."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import metastored
from metastored.client._async.methods import AsyncMethods
from metastored.client._sync.methods import Methods
from metastored.errors import ApplicationError
from metastored.wire.generated import STRUCTS
from metastored.wire.message import Call, Reply, Session
from metastored.wire.methods import METHODS
from metastored.wire.methods.plan import is_struct
from metastored.wire.structs import names, new
from metastored.wire.types import Type
from tests.support.driven import connected
from tests.support.values import with_defaults


class Listening:
    """Replies to everything with the smallest value of the result type."""

    def __init__(self, missing: bool = False) -> None:
        self.called: list[str] = []
        self._missing = missing

    async def handle(self, call: Call, session: Session) -> Reply:
        self.called.append(call.method.name)
        returns = call.method.returns
        return Reply.of(call.method, None if self._missing or returns is None else least(returns))


def least(type: Type) -> Any:
    if is_struct(type):
        return new(STRUCTS[type.name], [None] * len(names(STRUCTS[type.name])))
    kinds: dict[str, Any] = {"list": (), "set": frozenset(), "map": {}, "string": "", "binary": b"", "bool": False}
    return kinds.get(type.name, 0)


def test_every_method_can_be_called(half: str) -> None:
    there = Listening()
    with connected(half, handler=there, cache=False) as client:
        for name, method in METHODS.items():
            expected = None if method.returns is None else with_defaults(least(method.returns))
            assert with_defaults(getattr(client.api, name)(*[None] * len(method.args))) == expected
    assert there.called == list(METHODS)


def test_a_reply_without_its_value_is_an_error(half: str) -> None:
    with connected(half, handler=Listening(missing=True), cache=False) as client:
        with pytest.raises(ApplicationError, match="get_table failed: unknown result") as raised:
            client.api.get_table("d", "t")
        assert raised.value.type == ApplicationError.MISSING_RESULT
        assert client.api.create_table(None) is None


@pytest.mark.parametrize("methods", [AsyncMethods, Methods])
def test_every_method_has_the_arguments_of_the_api_with_types(methods: type) -> None:
    for name, method in METHODS.items():
        signature = inspect.signature(getattr(methods, name))
        assert list(signature.parameters) == ["self", *(argument.name for argument in method.args)]
        assert all(each.annotation is not each.empty for each in list(signature.parameters.values())[1:])
        assert (signature.return_annotation == "None") == (method.returns is None)


def test_the_package_is_marked_as_typed() -> None:
    from importlib.resources import files

    assert files(metastored).joinpath("py.typed").is_file()


def test_without_its_transport_a_method_cannot_be_called() -> None:
    with pytest.raises(NotImplementedError):
        Methods().call("getName")
