"""Temporary files of tests are in memory where there is enough of it, in a folder that only this user can write to."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.support import memory_folder


@pytest.fixture(autouse=True)
def unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run itself keeps its folder."""
    monkeypatch.setattr(tempfile, "tempdir", tempfile.gettempdir())
    monkeypatch.setenv("TMPDIR", tempfile.gettempdir())
    monkeypatch.setattr(memory_folder, "LEAST", 1)


def test_processes_and_python_use_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR")
    monkeypatch.delenv(memory_folder.WANTED, raising=False)
    memory_folder.use(tmp_path)
    assert "TMPDIR" not in os.environ
    monkeypatch.setenv(memory_folder.WANTED, "1")
    memory_folder.use(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert os.environ["TMPDIR"] == tempfile.gettempdir() == str(folder)
    assert folder.stat().st_mode & 0o777 == 0o711


def test_a_folder_that_the_user_has_chosen_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(memory_folder.WANTED, "1")
    before = os.environ["TMPDIR"]
    memory_folder.use(tmp_path)
    assert os.environ["TMPDIR"] == before
    assert list(tmp_path.iterdir()) == []


def test_little_space_or_none_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory_folder.own_folder(tmp_path / "missing") is None
    monkeypatch.setattr(memory_folder, "LEAST", 1 << 60)
    assert memory_folder.own_folder(tmp_path) is None


@pytest.mark.parametrize("what", ["link", "open to others", "file"])
def test_what_somebody_else_has_put_there_is_not_used(tmp_path: Path, what: str) -> None:
    folder = tmp_path / f"metastored-tests-{os.getuid()}"
    if what == "link":
        (tmp_path / "other").mkdir()
        folder.symlink_to(tmp_path / "other")
    elif what == "file":
        folder.touch()
    else:
        folder.mkdir()
        folder.chmod(0o777)
    assert memory_folder.own_folder(tmp_path) is None
