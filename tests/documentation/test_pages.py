"""The documentation: its links lead somewhere, and the page of caches names every module that has one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/metastored"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
HOMEPAGE = "https://github.com/metastored/metastored/blob/main/"


def links(page: Path) -> Iterator[tuple[str, str]]:
    """Links to pages of this repository: the path from its root, and the anchor."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        path, _, anchor = target.removeprefix(HOMEPAGE).partition("#")
        if target.startswith(HOMEPAGE):
            yield path, anchor
        elif "://" not in target:
            found = (page.parent / path).resolve() if path else page
            yield str(found.relative_to(ROOT)), anchor


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(page: Path) -> None:
    for path, anchor in links(page):
        target = ROOT / path
        assert target.exists(), f"{path} does not exist"
        assert not anchor or anchor in anchors(target), f"{path} has no heading #{anchor}"


def test_every_page_is_listed_in_the_table_of_contents() -> None:
    contents = ROOT / "docs/README.md"
    listed = {path for path, _ in links(contents)}
    assert {str(page.relative_to(ROOT)) for page in PAGES if page.is_relative_to(ROOT / "docs")} <= {
        *listed,
        "docs/README.md",
    }


def test_the_page_of_caches_names_every_module_with_a_cache() -> None:
    text = (ROOT / "docs/concepts/caches.md").read_text("utf-8")
    named = set(re.findall(r"[a-z_]+(?:/[a-z_]+)*(?:\.py|/)", text))
    own = re.compile(r"@(?:lru_)?cache\b|lru_cache\(|^class \w*Cache\b", re.MULTILINE)
    found = {path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if own.search(path.read_text("utf-8"))}
    assert len(found) > 15
    missing = {
        str(path)
        for path in found
        if str(path) not in named and not any(f"{parent}/" in named for parent in path.parents)
    }
    assert not missing


def test_the_diagram_of_the_layers_is_that_of_the_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0]
    (diagram,) = re.findall(
        r"```mermaid\n(.*?)```", (ROOT / "docs/development/design.md").read_text("utf-8"), re.DOTALL
    )
    labels = re.findall(r'\["(.+?)"\]|--> (\w+)$', diagram, re.MULTILINE)
    assert [label.replace(" · ", " | ") or name for label, name in labels] == contract["layers"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_pip_command_works_in_a_clone(page: Path) -> None:
    """metastored is in no index yet: its extras are installed from the folder of the clone."""
    if page.name == "CHANGELOG.md":
        return
    text = page.read_text("utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert not re.search(r"pip install (?:-e )?'?metastored|metastored\[\w", text)
    for named in re.findall(r"pip install (?:-e )?'\.\[([^\]]*)\]'", text):
        assert set(named.split(",")) <= set(extras), named


@pytest.mark.parametrize("page", ["concepts/calls.md", "concepts/storage.md", "development/design.md"])
def test_the_path_of_a_call_the_storage_and_the_layers_have_diagrams(page: str) -> None:
    assert "```mermaid\nflowchart" in (ROOT / "docs" / page).read_text("utf-8")


def test_the_versions_of_python_spark_hive_and_postgresql_are_listed_with_their_tests() -> None:
    text = (ROOT / "docs/reference/versions.md").read_text("utf-8")
    section = text.partition("## What is supported, and where it is tested")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (Python|PostgreSQL|Spark|Hive)\b.* \| .*`make \w+", section, re.MULTILINE)
    assert {"Python", "PostgreSQL", "Spark", "Hive"} <= set(rows)
