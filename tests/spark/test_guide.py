"""docs/guide/spark-catalog.md lists every method."""

from __future__ import annotations

import re
from pathlib import Path

from metastored.spark import ExternalCatalog

GUIDE = (Path(__file__).parents[2] / "docs/guide/spark-catalog.md").read_text("utf-8")


def test_the_guide_lists_every_method() -> None:
    listed = {
        name
        for row in re.findall(r"^\| [a-z ]+ \| (`.*`) \|$", GUIDE, re.MULTILINE)
        for name in re.findall("`(.*?)`", row)
    }
    own = {"close", "from_conf", "client", "current_database", "create_data_source_table", "save_table_into_hive"}
    assert listed == {name for name in dir(ExternalCatalog) if not name.startswith("_")} - own
