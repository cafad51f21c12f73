"""The tables in docs/guide/lance.md and lance-rest.md name everything that is served."""

from __future__ import annotations

import re
from pathlib import Path

from lance_namespace import LanceNamespace

from metastored.lance import Hive2Namespace
from metastored.lance.rest.operations import OPERATIONS
from metastored.lance.rest.serving import is_served

GUIDES = Path(__file__).parents[2] / "docs/guide"
GUIDE = (GUIDES / "lance.md").read_text("utf-8")
REST = (GUIDES / "lance-rest.md").read_text("utf-8")


def test_the_guide_names_every_operation_that_is_served_and_no_other() -> None:
    section = GUIDE.partition("## Operations")[2].partition("## Errors")[0]
    named = set(re.findall(r"`([a-z_]+)`", section)) - {"vector_column", "vector"}
    served = {
        name
        for name, inherited in vars(LanceNamespace).items()
        if not name.startswith("_") and getattr(Hive2Namespace, name) is not inherited
    }
    assert named == served - {"namespace_id"}


def test_the_guide_of_rest_says_of_every_operation_whether_it_is_served() -> None:
    said: dict[str, bool] = {}
    for line in REST.partition("## Operations")[2].partition("A request is refused")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 2 and cells[1].startswith(("yes", "no: ")):
            said |= dict.fromkeys(re.findall(r"`([a-z_]+)`", cells[0]), cells[1].startswith("yes"))
    said.pop("branch")
    assert said == {name: is_served(Hive2Namespace, operation) for name, operation in OPERATIONS.items()}
