"""docs/guide/pipelines.md: its file is a pipeline, and its tables name every key."""

from __future__ import annotations

import re
from pathlib import Path

from metastored.pipeline import prepared
from metastored.pipeline.model import TYPES
from metastored.pipeline.reading import TOP

GUIDE = (Path(__file__).parents[2] / "docs/guide/pipelines.md").read_text("utf-8")


def test_the_file_of_the_guide_can_be_run() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    pipeline, parameters = prepared(text, "daily.yml", {})
    assert [step.name for step in pipeline.steps] == ["begin", "fetch", "totals", "statistics"]
    assert parameters == {"date": "2024-01-01"}


def test_the_guide_names_every_type_with_its_keys() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \| ", GUIDE, re.MULTILINE))
    for type, keys in TYPES.items():
        assert re.findall(r"`(\w+)`", rows[type]) == list(keys), type


def test_the_guide_names_every_key_of_a_file() -> None:
    assert all(f"| `{key}` |" in GUIDE for key in TOP)
