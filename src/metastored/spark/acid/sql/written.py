"""The tables that a statement writes, found by the words before their names. Pure.

    INSERT INTO t · INSERT OVERWRITE TABLE t · MERGE INTO t · LOAD DATA … INTO TABLE t · TRUNCATE TABLE t
    UPDATE t · DELETE FROM t · CREATE TABLE t · REPLACE TABLE t

The words are enough: a statement in a script, or one that cannot be parsed, is searched like any other. A name that is
no table, as that of a variable behind INTO, may be among them: the metastore does not have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Final

from metastored.model.names import TableName
from metastored.spark.acid.sql.indirection import Evaluate, immediate_text, immediates, with_names
from metastored.spark.acid.sql.tables import Found, Parts, name_at
from metastored.spark.source import Source, flat

_BETWEEN: Final = frozenset({"TABLE", "EXTERNAL", "IF", "NOT", "EXISTS", "INTO", "OR", "REPLACE"})
"""Words that may stand between the word of a change and the name of its table."""
_NO_NAMES: Final = frozenset({"DIRECTORY", "LOCAL", "SET"})
"""Words in the place of the name: `INSERT OVERWRITE DIRECTORY`, and `UPDATE SET` of a MERGE."""
_INTO_VARIABLES: Final = frozenset({"IMMEDIATE", "FETCH"})
"""Words of statements whose INTO names variables."""


def written_by(text: str, evaluate: Evaluate) -> frozenset[Parts]:
    """The names of the tables that a statement writes, with those in IDENTIFIER(…) and in EXECUTE IMMEDIATE.

    `evaluate` returns the values of their constants.
    """
    words = flat(with_names(text, _every, evaluate))
    tables = set(written_tables(words))
    for _, each in immediates(words) if "immediate" in text.lower() else ():
        tables |= written_by(immediate_text(words, each, _every, evaluate), evaluate)
    return frozenset(tables)


def _every(names: Set[Parts]) -> Mapping[Parts, Found]:
    """A lookup that knows every name, so that each IDENTIFIER(…) is replaced by its name."""
    return {parts: Found(TableName("", "", parts[-1]), lance=True) for parts in names}


def written_tables(words: Source) -> Iterator[Parts]:
    """The names of the tables that a statement writes. `words` has its tokens."""
    texts = [_word(words, index) for index in range(len(words.tokens))]
    variables = False
    for index, text in enumerate(texts):
        variables = text in _INTO_VARIABLES or (variables and text != ";")
        at = index + 1
        if text == "DELETE" and at < len(texts) and texts[at] == "FROM":
            at += 1
        elif text not in ("INTO", "OVERWRITE", "TRUNCATE", "UPDATE", "CREATE", "REPLACE"):
            continue
        start = at
        while at < len(texts) and texts[at] in _BETWEEN:
            at += 1
        if text in ("CREATE", "REPLACE") and ("TABLE" not in texts[start:at] or texts[:1] == ["SHOW"]):
            continue
        if (text == "INTO" and variables) or (at < len(texts) and texts[at] in _NO_NAMES):
            continue
        parts, _ = name_at(words, at)
        if parts:
            yield parts


def _word(words: Source, index: int) -> str:
    """A token in upper case; empty for one in quotes, which is not a word of the language."""
    text = words.tokens[index].text.upper()
    return text if words.is_word(index, text) else ""
