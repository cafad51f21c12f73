"""The clauses of a merge as values. pyspark is not imported here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

TARGET, SOURCE = "target", "source"
"""The names of the two sides in the expressions of a merge; the first one also in subqueries of a condition."""
ALL: Final = "*"
"""The action that takes all columns from the source, by their names."""
DELETE: Final = "delete"
"""The action that deletes the row of the target."""
Action = Mapping[str, Any] | Literal["delete", "*"]
"""What is done: `{"column": "expression"}`, DELETE or ALL."""


class When(NamedTuple):
    """A clause of a merge: the action for rows for which the condition holds. The first one that holds is used."""

    condition: str | None
    action: Action


Clauses = Action | When | Sequence[When | Action] | None


def clauses(given: Clauses) -> list[When]:
    """The clauses in their order; an action without a condition is one that always holds."""
    if given is None:
        return []
    if isinstance(given, When):
        return [given]
    if isinstance(given, (str, Mapping)):
        return [When(None, given)]
    return [each if isinstance(each, When) else When(None, each) for each in given]
