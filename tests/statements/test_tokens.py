"""The examples of the page of statements with a token missing, twice, or at another place: statements, or our error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import metastored
from metastored.client._sync.statements import Statements
from metastored.errors import Error, StatementError
from metastored.statements.examples import EXAMPLES
from metastored.statements.parsing import parse_script
from metastored.statements.words import pieces_of, split_statements
from tests.support.in_process import serving_metastore

STATEMENTS = [statement for text in EXAMPLES.values() for statement in split_statements(text)]
OUTSIDE = re.compile(r"(?:file|thrift):/")
"""Statements with addresses are not executed here: a changed one would name another directory or host."""


def changed(statement: str) -> Iterator[str]:
    """The statement without each of its tokens, with each of them twice, and with each two of them exchanged."""
    tokens = [piece for _, piece in pieces_of(statement)]
    for at in range(len(tokens)):
        yield " ".join(tokens[:at] + tokens[at + 1 :])
        yield " ".join(tokens[: at + 1] + tokens[at:])
        if at:
            yield " ".join([*tokens[: at - 1], tokens[at], tokens[at - 1], *tokens[at + 1 :]])


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda text: text[:40])
def test_a_changed_statement_is_a_statement_or_an_error_with_a_sentence(statement: str) -> None:
    for text in changed(statement):
        try:
            parse_script(text)
        except StatementError as error:
            assert error.line == 1 and 1 <= error.column <= len(text) + 1, text
            assert error.problem and "\n" not in str(error), text


@pytest.mark.slow
def test_changed_statements_that_can_be_parsed_are_executed_or_refused_by_the_metastore(tmp_path: Path) -> None:
    executed = refused = 0
    with serving_metastore(tmp_path) as uri, metastored.connect(uri, user="root", timeout=20) as client:
        statements = Statements(client)
        for statement in STATEMENTS:
            if OUTSIDE.search(statement):
                continue
            with suppress(Error):  # A changed statement before it may have made or dropped what it needs.
                statements.run(statement)
            for text in changed(statement):
                try:
                    parse_script(text)
                except StatementError:
                    continue
                try:
                    statements.run(text)
                    executed += 1
                except Error as error:
                    assert str(error), text
                    refused += 1
                if "shop" not in client.databases():
                    client.create_database("shop")
                statements.run("USE shop")
    assert executed > 30 and refused > 30, (executed, refused)
