"""The page about connectors: it has every key that a connector takes, and its example of a connector works."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

from metastored.connectors.context import Context
from metastored.model.remote_keys import BUILT_IN, KEYS
from metastored.model.remotes import Endpoint
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS

PAGE = (Path(__file__).resolve().parents[2] / "docs/guide/connectors.md").read_text("utf-8")


def test_the_page_names_every_connector_and_every_key_of_one() -> None:
    keys = {key.name for key in KEYS if key.via}
    missing = [name for name in (*BUILT_IN, *keys) if f"`{name}`" not in PAGE and f"`{name}…`" not in PAGE]
    assert missing == []


def test_the_example_of_a_connector_works() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)
    handler = names["connect"](Endpoint("toy", (("toy.box", "blocks"),)), Context())
    method = METHODS["get_all_databases"]
    assert asyncio.run(handler.handle(Call(method, ()), Session())).value(method) == ("blocks",)
