"""Results that were edited are found by the remote's own bytes, and always have the current local names."""

from __future__ import annotations

import asyncio

import pytest

from metastored.errors import MetaException
from metastored.remotes import edited
from metastored.remotes.edited import EditedResults
from metastored.remotes.renaming import Renaming
from metastored.wire.message import Reply
from metastored.wire.methods import METHODS
from tests.support.remotes import house, remote_database

METHOD = METHODS["get_table"]


def renaming() -> Renaming:
    return Renaming((remote_database("here", "there", "thrift://h:1"),))


def test_the_same_bytes_give_the_same_reply_and_others_none() -> None:
    results, names = EditedResults(), renaming()
    results.put(names, METHOD, b"remote", Reply(b"local"))
    found = results.get(names, METHOD, b"remote")
    assert found is not None and found.body == b"local"
    assert results.get(names, METHOD, b"other") is None
    assert results.get(renaming(), METHOD, b"remote") is None, "other definitions have other names"
    assert results.get(names, METHODS["get_database"], b"remote") is None


def test_long_results_and_errors_are_not_kept() -> None:
    results, names = EditedResults(), renaming()
    long = b"x" * (edited.LONGEST + 1)
    results.put(names, METHOD, long, Reply(b"local"))
    results.put(names, METHOD, b"failed", Reply(b"local", error=MetaException("no")))
    assert results.get(names, METHOD, long) is results.get(names, METHOD, b"failed") is None


def test_no_more_than_a_number_of_results_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edited, "MOST", 2)
    results, names = EditedResults(), renaming()
    for body in (b"a", b"b", b"c"):
        results.put(names, METHOD, body, Reply(body))
    assert [results.get(names, METHOD, body) is not None for body in (b"a", b"b", b"c")] == [False, False, True]


def test_a_table_read_again_is_read_from_the_remote_and_shown_by_the_definitions_of_that_moment() -> None:
    async def test() -> None:
        async with house() as here:
            first = await here.ask("get_table", "sales", "clicks")
            assert await here.ask("get_table", "sales", "clicks") == first
            assert here.remote.called.count("get_table") == 2
            here.define([remote_database("other", "raw", here.living.uri)])
            assert (await here.ask("get_table", "other", "clicks")).dbName == "other"
            again = await here.ask("get_table", "sales", "clicks")
            assert again == first

    asyncio.run(test())
