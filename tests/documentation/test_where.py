"""The page "Where do I find …": each question has one path, and the path exists."""

from __future__ import annotations

import re

from tests.support.apache import ROOT

PAGE = ROOT / "docs/development/where.md"
ANSWER = re.compile(r"^\| (?P<question>[^|]+[?.]) \| `(?P<path>[^`|]+)` \|$", re.MULTILINE)


def test_thirty_questions_are_answered_by_a_path_that_exists() -> None:
    text = PAGE.read_text("utf-8")
    answers = ANSWER.findall(text)
    assert len(answers) == text.count("\n| ") - 1 >= 30  # All rows but the heading.
    assert len({question for question, _ in answers}) == len(answers)
    for question, path in answers:
        assert (ROOT / "src/metastored" / path).exists() or (ROOT / path).exists(), question
