"""Every method of the API can be called, in both halves, and is spoken to the server as itself."""

from __future__ import annotations

import inspect

import pytest

import skep
from skep.client._async.methods import AsyncMethods
from skep.client._sync.methods import Methods
from skep.errors import ApplicationError
from skep.wire.message import Call, Reply, Session
from skep.wire.methods import METHODS
from tests.support.driven import connected


class Listening:
    """Answers everything with nothing."""

    def __init__(self) -> None:
        self.called: list[str] = []

    async def handle(self, call: Call, session: Session) -> Reply:
        self.called.append(call.method.name)
        return Reply.of(call.method, None)


def test_every_method_can_be_called(half: str) -> None:
    there = Listening()
    with connected(half, handler=there, cache=False) as client:
        for name, method in METHODS.items():
            call = getattr(client.api, name)
            if method.returns is None:
                assert call(*[None] * len(method.args)) is None
                continue
            with pytest.raises(ApplicationError, match=f"{name} failed: unknown result") as raised:
                call(*[None] * len(method.args))
            assert raised.value.type == ApplicationError.MISSING_RESULT
    assert there.called == list(METHODS)


@pytest.mark.parametrize("methods", [AsyncMethods, Methods])
def test_every_method_has_the_arguments_of_the_api_with_types(methods: type) -> None:
    for name, method in METHODS.items():
        signature = inspect.signature(getattr(methods, name))
        assert list(signature.parameters) == ["self", *(argument.name for argument in method.args)]
        assert all(each.annotation is not each.empty for each in list(signature.parameters.values())[1:])
        assert (signature.return_annotation == "None") == (method.returns is None)


def test_the_package_says_that_it_has_types() -> None:
    from importlib.resources import files

    assert files(skep).joinpath("py.typed").is_file()


def test_without_its_transport_a_method_cannot_be_called() -> None:
    with pytest.raises(NotImplementedError):
        Methods().call("getName")
