"""The configuration in docs/guide/catalog.md has the defaults."""

from __future__ import annotations

import re
from pathlib import Path

from metastored.catalog.settings import GlueCatalog, HiveCatalog, IcebergCatalog, MemoryCatalog, load

GUIDE = (Path(__file__).parents[2] / "docs/guide/catalog.md").read_text("utf-8")


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
