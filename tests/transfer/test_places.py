"""The ends of a transfer, as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from metastored.transfer.ends import Ends
from metastored.transfer.places import Access, open_end
from metastored.transfer.running import run
from tests.support.postgres import shared_postgres


@pytest.mark.postgres
def test_a_password_is_not_shown() -> None:
    with shared_postgres().database() as url:
        with open_end(url.replace("postgres@", "postgres:geheim@"), Access()) as opened:
            assert "postgres@" in opened.reader.name and "geheim" not in opened.reader.name


def test_a_journal_identifies_its_transfer_by_a_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[str] = []

    def begun(ends: Ends) -> None:
        with ends.journal as journal:
            assert journal.path is not None
            kept.append(journal.path.read_text("utf-8"))

    monkeypatch.setattr("metastored.transfer.running.transfer", begun)
    source = tmp_path / "source"
    with open_end(str(source), Access()):
        pass
    for target in (tmp_path / "a", tmp_path / "a" / ".." / "a", tmp_path / "b"):
        run(str(source), str(target), Access())
    assert kept[0] == kept[1] != kept[2]
    assert str(source) not in kept[0]
