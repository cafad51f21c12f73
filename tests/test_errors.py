"""The pip command in the errors about missing extras."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metastored.errors import MissingExtra, _command_for, install_command


def origin(folder: Path, **directory: bool) -> str:
    return json.dumps({"url": folder.as_uri(), "dir_info": directory})


def test_a_clone_is_installed_again_from_its_folder(tmp_path: Path) -> None:
    assert _command_for("spark", origin(tmp_path, editable=True)) == f"pip install -e '{tmp_path}[spark]'"
    assert _command_for("spark", origin(tmp_path)) == f"pip install '{tmp_path}[spark]'"


def test_a_folder_with_a_space_and_a_quote_is_one_word_of_the_shell(tmp_path: Path) -> None:
    folder = tmp_path / "ann's clone"
    folder.mkdir()
    assert _command_for("s3", origin(folder, editable=True)) == (f"pip install -e '{tmp_path}/ann'\"'\"'s clone[s3]'")


@pytest.mark.parametrize(
    "text",
    [
        None,
        json.dumps({"url": "file:///tmp/metastored-1.0-py3-none-any.whl", "archive_info": {}}),
        json.dumps({"url": "https://example.com/metastored.git", "vcs_info": {"vcs": "git", "commit_id": "1"}}),
        origin(Path("/a/folder/that/was/removed"), editable=True),
    ],
)
def test_a_package_of_an_index_or_a_wheel_is_installed_by_its_name(text: str | None) -> None:
    assert _command_for("lance", text) == "pip install 'metastored[lance]'"


def test_the_error_about_a_missing_extra_has_the_command_of_this_installation() -> None:
    assert str(MissingExtra("SQL", "spark")) == f"SQL needs an optional dependency: {install_command('spark')}"
