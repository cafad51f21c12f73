"""The reference of the Python API: every public name, with its signature and docstring."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.python_reference import MODULES, OUT, SAME_METHODS, entries, main, render
from tools.reference_page import ROOT, write_or_check

pytestmark = pytest.mark.slow
"""They import Lance and its dependencies."""


def test_the_page_is_current() -> None:
    assert main(check=True) == 0, "run python tools/python_reference.py"


def test_every_public_name_has_a_docstring() -> None:
    names = list(entries())
    assert len(names) > 500
    assert [entry.path for entry in names if not entry.docstring.strip()] == []


def test_every_module_has_a_section_and_the_client_has_topics() -> None:
    text = render()
    assert all(f"\n## {name}\n" in text for name in MODULES)
    client = text.split("\n### Client\n")[1].split("\n### ")[0]
    assert client.index("**Databases**") < client.index("`tables(db: str") < client.index("**Partitions**")
    assert "[the metastore API](api.md)" in client
    assert str(ROOT) not in text


def test_classes_that_are_said_to_have_the_methods_of_another_one_have_them() -> None:
    names = {entry.path.partition("metastored.lance.")[2] for entry in entries()}
    for name, other in SAME_METHODS.items():
        own = {path.partition(".")[2] for path in names if path.startswith(f"{name}.")}
        assert own and own == {path.partition(".")[2] for path in names if path.startswith(f"{other}.")}


def test_a_page_that_differs_is_reported_and_rewritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = OUT.with_name("nothing-of-this-name.md")
    assert write_or_check(page, "text", check=True, tool="tools/some_reference.py") == 1
    assert capsys.readouterr().out == (
        "not current: docs/reference/nothing-of-this-name.md; run python tools/some_reference.py\n"
    )
    assert not page.exists()
    written = tmp_path / "page.md"
    assert write_or_check(written, "text", check=False, tool="") == 0
    assert written.read_text("utf-8") == "text"
