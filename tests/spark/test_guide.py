"""The session in docs/guide/spark-catalog.md is run as it is written there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from metastored.spark import ExternalCatalog
from metastored.testing import running_server

GUIDE = (Path(__file__).parents[2] / "docs/guide/spark-catalog.md").read_text("utf-8")


def test_the_guide_does_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    (session,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    names: dict[str, Any] = {}
    with running_server() as server:
        exec(session.replace("thrift://localhost:9083", server.uri), names)
        names["catalog"].close()
    first, second = capsys.readouterr().out.splitlines()
    assert f"`{first}`" in GUIDE
    assert f"`{second}`" in GUIDE


def test_the_guide_lists_every_method() -> None:
    listed = {
        name
        for row in re.findall(r"^\| [a-z ]+ \| (`.*`) \|$", GUIDE, re.MULTILINE)
        for name in re.findall("`(.*?)`", row)
    }
    own = {"close", "from_conf", "client", "current_database", "create_data_source_table", "save_table_into_hive"}
    assert listed == {name for name in dir(ExternalCatalog) if not name.startswith("_")} - own
