"""The runner of pages: it does what a reader does, and no more."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documentation.following import PageError, Reader

pytestmark = pytest.mark.slow


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    (tmp_path / "reader").mkdir()
    found = Reader(tmp_path / "reader")
    yield found
    found.close()


def page(folder: Path, *parts: str) -> Path:
    """A page of texts and blocks; a block begins with its language."""
    file = folder / "page.md"
    languages = ("bash", "python", "text", "yaml", "ruby")
    blocks = [f"```{part}\n```" if part.startswith(languages) else part for part in parts]
    file.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    return file


def test_files_are_stored_and_the_session_goes_on_from_block_to_block(reader: Reader, tmp_path: Path) -> None:
    text = page(
        tmp_path,
        "yaml\n# settings/one.yaml\na: 1",
        "bash\ncat settings/one.yaml\necho $HOME",
        "python\nvalue = 20",
        "python\nvalue + 1\nprint('done')",
        "It prints:",
        "text\na: 1\n21\ndone",
    )
    assert str(reader.home) in reader.follow(text)


def test_a_page_begins_with_an_empty_folder_and_no_names(reader: Reader, tmp_path: Path) -> None:
    reader.follow(page(tmp_path, "bash\ntouch left", "python\nvalue = 1"))
    assert reader.follow(page(tmp_path, "bash\nls -A", "python\nprint('value' in globals())")) == "False\n"


def test_a_block_with_a_reason_is_not_run(reader: Reader, tmp_path: Path) -> None:
    text = page(tmp_path, "A text.").read_text() + "\n<!-- not run: needs AWS -->\n```bash\nfalse\n```\n"
    (tmp_path / "page.md").write_text(text)
    assert reader.follow(tmp_path / "page.md") == ""


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        (("bash\nmetastored serve\nmetastored ls",), "page.md:1: a server runs until it is stopped"),
        (("bash\ntrue\nfalse\ntrue",), "page.md:1: exit code 1"),
        (("bash\nfalse | true",), "page.md:1: exit code 1"),
        (("python\nvalue = 1", "python\nprint(rows)"), "page.md:5: .*\n.*NameError: name 'rows' is not defined"),
        (("python\nprint(1)", "It prints:", "text\n2"), "page.md:7: not printed: \\['2'\\]"),
        (("ruby\nputs 1",), "page.md:1: nobody knows what to do with a block of ruby"),
    ],
)
def test_a_page_that_does_not_run_is_an_error_with_its_line(
    reader: Reader, tmp_path: Path, parts: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(PageError, match=f"(?s){problem}"):
        reader.follow(page(tmp_path, *parts))


def test_the_shell_has_no_activated_environment(reader: Reader, tmp_path: Path) -> None:
    text = page(
        tmp_path, "bash\necho $PATH", "bash\necho active: $VIRTUAL_ENV $PYSPARK_PYTHON", "bash\nmetastored --help"
    )
    path, active = reader.follow(text).splitlines()[:2]
    assert str(Path(sys.executable).parent) not in path.split(os.pathsep)
    assert active == "active:"


def test_the_server_runs_until_the_page_says_that_it_is_stopped(reader: Reader, tmp_path: Path) -> None:
    text = page(
        tmp_path,
        "bash\nmetastored serve --data ./metastore --port 9083",
        "In a second terminal:",
        "bash\nmetastored ls --uri thrift://localhost:9083",
        "Stop the server with Ctrl-C:",
        "bash\n! metastored ls --uri thrift://localhost:9083 2> /dev/null",
    )
    assert "default" in reader.follow(text)
