"""Runs the program in docs/guide/catalog.md, and compares its configuration with the defaults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from metastored.catalog.settings import GlueCatalog, HiveCatalog, IcebergCatalog, MemoryCatalog, load
from metastored.testing import running_server

GUIDE = (Path(__file__).parents[2] / "docs/guide/catalog.md").read_text("utf-8")


def test_the_program_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (session,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    names: dict[str, Any] = {}
    with running_server() as server:
        exec(session.replace("thrift://localhost:9083", server.uri), names)
    said = capsys.readouterr().out
    assert "shop.db/orders [pyarrow.Field<id: int64>" in said
    assert said.endswith("ds=2024-01-01\n")


def test_the_configuration_of_the_guide_has_the_defaults(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    file = tmp_path / "catalogs.yaml"
    file.write_text(text)
    found = load(file, environment={})
    assert found.list == (
        HiveCatalog(name="hive", uri="thrift://a:9083,thrift://b:9083"),
        MemoryCatalog(name="scratch"),
        IcebergCatalog(name="lake", uri="https://lake.example.com"),
        GlueCatalog(name="aws", region="eu-west-1"),
    )
    assert (found.default_catalog, found.default_database) == ("hive", ("default",))
    assert found.global_temporary_database == ("global_temp",)
