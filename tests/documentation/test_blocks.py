"""Rules for the code blocks of README.md and docs/. `test_as_printed.py` follows the pages."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Final

import pytest

from metastored.config import load
from metastored.testing import running_server
from tests.documentation.blocks import FOLLOWED, PAGES, blocks, code, name_of, programs
from tests.documentation.following import SERVE
from tests.documentation.test_as_printed import POSTGRES, SPARK
from tests.support.apache import ROOT


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_comments_of_blocks_are_wrapped(page: Path) -> None:
    """They are beside code, which a reader's screen may cut or wrap."""
    for block in blocks(page):
        if block.language in ("bash", "python", "yaml", "sql", "properties"):
            for line in block.text.splitlines():
                commented = re.search(r"(?:^|\s)(?:#|--) ", line) is not None
                assert not commented or len(line) <= 98, f"{block.page}:{block.line}: {line}"


def test_every_block_that_is_not_run_says_why() -> None:
    reasons = {f"{block.page}:{block.line}": block.reason for page in PAGES for block in blocks(page) if block.reason}
    assert not [place for place, reason in reasons.items() if "spark" in reason.lower()]
    named = {path for reason in reasons.values() for path in re.findall(r"tests/[\w/.]*\w", reason)}
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
    assert len(reasons) < sum(len(code(page)) for page in FOLLOWED) / 5, reasons


@pytest.mark.parametrize("page", FOLLOWED, ids=name_of)
def test_a_page_with_a_server_names_the_second_terminal(page: Path) -> None:
    found = [block for block in code(page) if block.file is None]
    for block, following in itertools.pairwise(found):
        if block.language == "bash" and SERVE in block.text and SERVE not in following.text:
            assert re.search("(?:second|third|fourth) terminal", following.prose), f"{following.page}:{following.line}"


def test_only_pages_that_are_listed_start_spark() -> None:
    starts = re.compile(r"SparkSession|spark\.session\(|pipeline run|compact (?:worker|initiator)|sql --spark")
    assert {name_of(page) for page in FOLLOWED if any(starts.search(block.text) for block in code(page))} == SPARK


@pytest.mark.parametrize("page", FOLLOWED, ids=name_of)
def test_the_settings_of_a_page_are_accepted(page: Path, tmp_path: Path) -> None:
    for block in code(page):
        if block.file == "metastored.yaml":
            file = tmp_path / "metastored.yaml"
            file.write_text(block.text, encoding="utf-8")
            assert load(file, environment={})


FIRST_STEPS: Final = "docs/start/first-steps.md"
DATABASE: Final = re.compile(
    r"create (?:remote )?(?:database|schema) (?:if not exists )?(\w+)|create_database\(\"(\w+)\""
    r"|CreateNamespaceRequest\(id=\[\"(\w+)\"|CatalogDatabase\(\"(\w+)\"",
    re.IGNORECASE,
)


def test_each_guide_uses_databases_of_its_own() -> None:
    """A reader who follows several guides with one server has no conflict."""
    users: dict[str, set[str]] = {}
    for page in FOLLOWED:
        if "guide" in page.parts:
            for found in DATABASE.finditer("\n".join(block.text for block in code(page))):
                users.setdefault(next(filter(None, found.groups())), set()).add(page.name)
    assert {name: pages for name, pages in users.items() if len(pages) > 1} == {}


def test_only_pages_that_are_listed_use_postgresql() -> None:
    assert {name_of(page) for page in FOLLOWED if any("postgresql://user@" in b.text for b in code(page))} == POSTGRES


@pytest.mark.slow
def test_the_ready_file_has_the_keys_of_the_reference() -> None:
    (example,) = programs("docs/reference/server.md", "json")
    with running_server(http_port=0, http_tls="off", workers=2) as server:
        assert set(json.loads(server.ready_file.read_text("utf-8"))) == set(json.loads(example))


def test_first_steps_has_the_session_of_the_readme() -> None:
    readme, first_steps = ([*programs(page, "bash"), *programs(page, "python")] for page in ("README.md", FIRST_STEPS))
    assert readme == [text for text in first_steps if text in readme]
