"""Whether a printed CREATE statement makes the object that it was printed from. Pure.

Types, defaults, conditions and queries are printed as they are stored, and who stored them may have put another
clause or another statement into them: `1 = 1)) TBLPROPERTIES ('EXTERNAL' = 'TRUE') --`. Therefore the text is parsed,
and all that it would make is compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from metastored.errors import StatementError
from metastored.statements.definitions import Column, CreateTable, CreateView
from metastored.statements.materialized import CreateMaterializedView
from metastored.statements.parsing import parse


class Item(NamedTuple):
    """A column; `type` is None where only the name is printed."""

    name: str
    type: str | None = None
    comment: str | None = None
    not_null: bool = False
    default: str | None = None


class Expected(NamedTuple):
    """What a statement should make."""

    columns: tuple[Item, ...]
    partitioned_by: tuple[Item, ...]
    comment: str | None
    location: str | None
    properties: Mapping[str, str]
    conditions: tuple[str, ...] = ()
    """Of CHECK."""
    keys: int = 0
    """Primary keys, unique constraints and foreign keys."""
    is_bucketed: bool = False
    provider: str | None = None
    query: str | None = None


def makes(text: str, expected: Expected) -> bool:
    """Whether a text is one statement, and makes what is expected."""
    try:
        parsed = parse(text)
    except StatementError:
        return False
    if isinstance(parsed, CreateTable):
        conditions = [each.condition for each in parsed.constraints if each.condition is not None]
        same = (
            _items(parsed.partitioned_by) == _squeezed_all(expected.partitioned_by)
            and sorted(map(_squeezed, conditions)) == sorted(map(_squeezed, expected.conditions))
            and len(parsed.constraints) - len(conditions) == expected.keys
            and (parsed.buckets is not None) == expected.is_bucketed
            and (parsed.provider or "").lower() == (expected.provider or "").lower()
            and parsed.location == expected.location
        )
    elif isinstance(parsed, CreateView | CreateMaterializedView):
        location = parsed.location if isinstance(parsed, CreateMaterializedView) else None
        same = parsed.query == (expected.query or "").strip() and location == expected.location
    else:
        return False
    return (
        same
        and _items(parsed.columns) == _squeezed_all(expected.columns)
        and parsed.comment == expected.comment
        and dict(parsed.properties) == dict(expected.properties)
    )


def _items(columns: Iterable[Column]) -> list[Item]:
    return _squeezed_all(Item(each.name, each.type, each.comment, each.not_null, each.default) for each in columns)


def _squeezed_all(items: Iterable[Item]) -> list[Item]:
    return [
        each._replace(
            type=None if each.type is None else _squeezed(each.type).lower(),
            default=None if each.default is None else _squeezed(each.default),
        )
        for each in items
    ]


def _squeezed(text: str) -> str:
    """Without blanks, which the parser of types and functions does not keep."""
    return re.sub(r"\s+", "", text)
