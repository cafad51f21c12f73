"""The lifecycle of a worker: stopping."""

from __future__ import annotations

import pytest

from metastored.wire.methods import METHODS
from tests.server.support import serving
from tests.support.waiting import eventually


@pytest.mark.parametrize("what", ["wait", "direct"])
def test_a_draining_server_accepts_no_connections_and_finishes_its_calls(what: str) -> None:
    with serving() as server:
        with server.peer() as busy, server.peer() as idle:
            assert idle.do("echo", "x") == "x"
            busy.send("get_config_value", what, "0.5")
            eventually(lambda: len(server.handler.started) == 2)
            server.end()
            assert idle.rest() == b""
            assert busy.reply().value(METHODS["get_config_value"]) == "0.5"
            assert busy.rest() == b""


@pytest.mark.parametrize("what", ["wait", "direct"])
def test_calls_that_outlast_the_drain_time_out_are_cut_off(what: str) -> None:
    with serving(drain_timeout="0.2") as server, server.peer() as busy:
        busy.send("get_config_value", what, "60")
        eventually(lambda: bool(server.handler.started))
        server.end()
        assert busy.rest() == b""
