"""The archive of Spark's classes is used only where there is one."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support import class_archive


def test_without_an_archive_a_jvm_gets_no_flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_archive, "ARCHIVE", tmp_path / "missing.jsa")
    assert class_archive.java_options() == ""


def test_with_an_archive_a_jvm_gets_its_path_and_prints_no_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "a folder with spaces" / "classes.jsa"
    archive.parent.mkdir()
    archive.touch()
    monkeypatch.setattr(class_archive, "ARCHIVE", archive)
    flags = shlex.split(class_archive.java_options())
    assert flags == [f"-XX:SharedArchiveFile={archive}", "-Xlog:disable", "-Xlog:all=error:stderr"]
