"""Texts that nobody would write: the parser returns statements or raises StatementError, and never anything else."""

from __future__ import annotations

import random
import re

import pytest

from metastored.errors import StatementError
from metastored.statements.examples import EXAMPLES
from metastored.statements.parsing import parse_script
from tests.statements.test_parsing import STATEMENTS
from tests.statements.test_rights import STATEMENTS as RIGHTS

TEXTS = [*EXAMPLES.values(), *STATEMENTS, *RIGHTS]
PIECE = re.compile(r"'[^']*'|`[^`]*`|\w+|\s+|[^\s\w]")
PIECES = sorted({piece for text in TEXTS for piece in PIECE.findall(text)})


def mutated(text: str, chance: random.Random) -> str:
    pieces = PIECE.findall(text)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(pieces) + 1)
        match chance.randrange(4):
            case 0:
                del pieces[at : at + 1]
            case 1:
                pieces.insert(at, f" {chance.choice(PIECES)} ")
            case 2:
                pieces[at : at + 1] = [chance.choice(PIECES)]
            case _:
                pieces[at:at] = pieces[at : at + chance.randint(1, 5)]
    return "".join(pieces)


@pytest.mark.parametrize("seed", range(4))
def test_a_changed_statement_is_a_statement_or_an_error_with_a_place(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(400):
        text = mutated(chance.choice(TEXTS), chance)
        try:
            parse_script(text)
        except StatementError as error:
            lines = text.split("\n")
            assert 1 <= error.line <= len(lines) + 1 and error.column >= 1, text
            assert str(error)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE VIEW v AS " + "'" * 60_001,
        "CREATE TABLE t (a INT, CHECK " + "(" * 60_000,
        "CREATE TABLE t (a INT, CHECK (" + "('a')" * 10_000,
        "CREATE TABLE t (a " + "ARRAY<" * 5_000 + "INT" + ">" * 5_000 + ")",
        "CREATE VIEW v AS SELECT " + "/*" * 30_000 + "'",
        "SHOW GRANT USER " + "`" * 60_001,
        "x " * 30_000,
        "SHOW TABLES LIKE '\x00\x1b[2J",
    ],
    ids=lambda text: text[:30],
)
def test_a_hostile_text_is_refused_in_one_short_line(text: str) -> None:
    with pytest.raises(StatementError) as caught:
        parse_script(text)
    assert len(str(caught.value)) < 1200
    assert "\x1b" not in str(caught.value)


def test_types_may_be_nested_as_deeply_as_people_nest_them() -> None:
    assert parse_script("CREATE TABLE t (a " + "ARRAY<" * 30 + "INT" + ">" * 30 + ")")
