"""The progress of a transfer survives every interruption."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from metastored.errors import ConfigError
from metastored.transfer.journal import Journal


def test_the_next_run_skips_finished_objects(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "j"
    with Journal(path, "a to b") as first:
        assert not first.goes_on
        first.done("table x.y")
        first.reach("table x.z", "ds=5")
        first.reach("table x.z", "ds=9")
    with Journal(path, "a to b") as second:
        assert second.goes_on
        assert second.is_done("table x.y") and not second.is_done("table x.z")
        assert second.reached("table x.z") == "ds=9"


@pytest.mark.parametrize("cut", range(1, 25))
def test_a_line_that_was_cut_off_is_as_good_as_none(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "j"
    with Journal(path, "a to b") as first:
        first.done("one")
        first.done("two")
    text = path.read_bytes()
    path.write_bytes(text[: -cut - 1])
    with Journal(path, "a to b") as second:
        assert second.is_done("one") or cut > len('{"done": "two"}')
        second.done("three")
    with Journal(path, "a to b") as third:
        assert third.is_done("three")


def test_the_journal_of_another_transfer_is_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path, "a to b") as first:
        first.done("one")
    with Journal(path, "a to c") as second:
        assert not second.is_done("one")


def test_names_that_are_not_utf_8_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path, "a to b") as first:
        first.reach("t", "ds=\udcff\n/h=1")
    with Journal(path, "a to b") as second:
        assert second.reached("t") == "ds=\udcff\n/h=1"


def test_a_finished_transfer_leaves_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path, "a to b") as journal:
        journal.done("one")
        journal.finish()
        journal.done("two")
    assert not path.exists()


def test_a_journal_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written"):
        with Journal(tmp_path, "a to b"):
            pass


def test_a_journal_is_for_its_owner_alone(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal", "a"):
        assert stat.S_IMODE((tmp_path / "journal").stat().st_mode) == 0o600
