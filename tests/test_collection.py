"""The garbage collector pauses while long replies are read."""

from __future__ import annotations

import gc
import threading

import pytest

from metastored.collection import collection_paused


def test_the_collector_pauses_inside_and_runs_afterwards() -> None:
    with collection_paused():
        assert not gc.isenabled()
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_runs_again_after_an_error() -> None:
    with pytest.raises(ValueError, match="x"), collection_paused():
        raise ValueError("x")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collection_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_last_thread_starts_the_collector_again() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with collection_paused():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with collection_paused():
        thread.start()
        assert inside.wait(10)
    assert not gc.isenabled()
    leave.set()
    thread.join(10)
    assert gc.isenabled()
