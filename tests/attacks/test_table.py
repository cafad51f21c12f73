"""The table of attacks is complete: it names every file here, and only files that exist."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def test_every_file_of_the_table_has_tests() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)`", (HERE / "README.md").read_text())
    assert len(named) > 20
    for name in named:
        assert "\ndef test_" in (ROOT / name).read_text(), name


def test_every_file_of_attacks_is_in_the_table() -> None:
    table = (HERE / "README.md").read_text()
    here = sorted(path.name for path in HERE.glob("test_*.py") if path != Path(__file__))
    assert [name for name in here if f"`tests/attacks/{name}`" not in table] == []
