"""The session in docs/guide/client.md is run as it stands there, against a real server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from metastored.testing import running_server

GUIDE = Path(__file__).parents[2] / "docs/guide/client.md"


def test_the_guide_does_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 3
    with running_server() as server:
        names: dict[str, Any] = {}
        for block in blocks:
            exec(block.replace("thrift://localhost:9083", server.uri), names)
    assert capsys.readouterr().out.splitlines() == [
        "('default', 'shop') ('orders',)",
        "('2024-01-08',)",
        "('2024-01-09',)",
        "('2024-01-10',)",
        "all orders",
        "True",
    ]
