"""The page about connectors has every key that a connector takes."""

from __future__ import annotations

from pathlib import Path

from metastored.model.remotes.keys import BUILT_IN, KEYS

PAGE = (Path(__file__).resolve().parents[2] / "docs/guide/connectors.md").read_text("utf-8")


def test_the_page_names_every_connector_and_every_key_of_one() -> None:
    keys = {key.name for key in KEYS if key.via}
    missing = [name for name in (*BUILT_IN, *keys) if f"`{name}`" not in PAGE and f"`{name}…`" not in PAGE]
    assert missing == []
