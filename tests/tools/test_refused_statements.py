"""The guide lists exactly the statements that the tests know as refused."""

from __future__ import annotations

import pytest

from tests.spark.acid.sql.refused import REFUSED
from tools import refused_statements


def test_the_guide_has_the_list_of_the_tests() -> None:
    page = refused_statements.OUT.read_text("utf-8")
    assert refused_statements.render(page) == page, "run python tools/refused_statements.py"


def test_each_kind_of_statement_is_listed_once() -> None:
    forms = dict.fromkeys(each.form for each in REFUSED)
    text = refused_statements.listed()
    assert len(text.splitlines()) == len(forms) + 2
    assert all(text.count(f"| {form} |") == 1 for form in forms)
    assert not any("|" in each.form or "|" in each.instead for each in REFUSED)


def test_a_page_without_a_place_for_the_list_is_an_error() -> None:
    with pytest.raises(ValueError, match="substring"):
        refused_statements.render("no list")
