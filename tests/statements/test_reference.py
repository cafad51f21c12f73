"""The page of statements is current and complete, and every statement in the guide can be parsed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from metastored.statements.explanations import SECTIONS
from metastored.statements.parsing import parse_script
from metastored.statements.syntax import rules
from metastored.statements.words import OWN
from tools import statement_reference

GUIDE = Path(__file__).parents[2] / "docs/guide/remotes.md"
BLOCKS = re.findall(r"```sql\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)


def statements_in_grammar() -> set[str]:
    """The rules that are statements."""
    known = rules()
    found = {each.strip() for each in known["statement"].split("|")}
    groups = {each for each in found if each.endswith("_statement")}
    return (found - groups).union(*({each.strip() for each in known[group].split("|")} for group in groups))


def test_the_page_is_what_the_tool_writes() -> None:
    page = statement_reference.OUT.read_text("utf-8")
    assert page == statement_reference.render(), "run python tools/statement_reference.py"


def test_the_page_has_every_statement_of_the_grammar() -> None:
    described = {rule for statements in SECTIONS.values() for rule, _ in statements}
    assert described == statements_in_grammar()


def test_the_first_words_of_metastoreds_own_statements_are_all_in_the_grammar() -> None:
    page = re.sub(r"[()|]", " ", statement_reference.render())
    for words in OWN:
        assert all(word in page for word in words)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_statements_of_the_guide_can_be_parsed(block: str) -> None:
    assert parse_script(block)


def test_there_are_such_statements() -> None:
    assert len(BLOCKS) >= 5
