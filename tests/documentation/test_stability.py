"""The page "What is stable" has all names of our own that are stored, sent or registered."""

from __future__ import annotations

import re
import tomllib

from tests.support.apache import ROOT

PAGE = (ROOT / "docs/reference/stability.md").read_text("utf-8")
NAME = re.compile(r'^\w+(?:: Final)? = "(metastored\.[a-z_.]+)"$', re.MULTILINE)
ELSEWHERE = ("metastored.remote", "metastored.lance.rest.worker")
"""Keys of remotes have a page of their own, and a module that is started is not a name of others."""
OWN_FIELDS = 1000
"""Numbers of fields from here on are ours."""


def test_all_names_that_are_stored_or_sent_are_on_the_page() -> None:
    sources = (ROOT / "src/metastored").rglob("*.py")
    names = {name for path in sources for name in NAME.findall(path.read_text("utf-8"))}
    assert len(names) > 10
    missing = {name for name in names if not name.startswith(ELSEWHERE) and f"`{name}`" not in PAGE}
    assert missing == set()


def test_all_fields_of_our_own_are_on_the_page() -> None:
    fields = [
        f"{struct}.{line.split()[2]}"
        for path in (ROOT / "src/metastored/wire/api").glob("*.toml")
        for struct, spec in tomllib.loads(path.read_text("utf-8")).get("struct", {}).items()
        for line in spec["fields"]
        if int(line.split()[0]) >= OWN_FIELDS
    ]
    assert fields
    assert [field for field in fields if f"`{field}`, field 1000" not in PAGE] == []
