"""Snapshots that were read before are remembered, up to a limit."""

from __future__ import annotations

import pytest

from skep.errors import MetaException
from skep.metastore.seen import SeenMemo


def test_the_same_text_is_read_once() -> None:
    memo = SeenMemo()
    seen = memo.read("9:3:3,5:4")
    assert memo.read("9:3:3,5:4") is seen
    assert (seen.high_watermark, sorted(seen.open), sorted(seen.aborted)) == (9, [3, 5], [4])


def test_a_run_counts_as_all_of_its_ids() -> None:
    memo = SeenMemo(limit=100)
    long = memo.read("999:1:1-500:")
    assert len(long) == 500
    assert memo.read("999:1:1-500:") is not long
    short = memo.read("9:1:1-60:")
    memo.read("99:1:1-61:")
    assert memo.read("9:1:1-60:") is not short


def test_what_cannot_be_read_is_refused_every_time() -> None:
    memo = SeenMemo()
    for _ in range(2):
        with pytest.raises(MetaException, match="a list of valid transactions cannot be read"):
            memo.read("nine:3::")
