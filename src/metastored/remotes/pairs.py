"""Renames a database and a table together, in decoded structs: for results that name several tables. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from metastored.wire.structs import Struct, fields, names, new

PairRename = Callable[[str, str], tuple[str, str]]


def rename_pairs(value: Any, role: str | None, pair: PairRename, renames: Mapping[str, Callable[[str], str]]) -> Any:
    """The value with other names.

    In a struct the first database belongs to the first table, the second to the second, as in a foreign key. Names of
    other roles are renamed by `renames`.
    """
    if isinstance(value, str):
        return renames[role](value) if role and role in renames and role not in ("db", "table") else value
    if isinstance(value, Struct):
        return _struct(value, pair, renames)
    if isinstance(value, tuple):
        return tuple(rename_pairs(item, role, pair, renames) for item in value)
    if isinstance(value, frozenset):
        return frozenset(rename_pairs(item, role, pair, renames) for item in value)
    if isinstance(value, dict):
        return {
            rename_pairs(key, role, pair, renames): rename_pairs(item, None, pair, renames)
            for key, item in value.items()
        }
    return value


def _struct(value: Struct, pair: PairRename, renames: Mapping[str, Callable[[str], str]]) -> Any:
    places = {name: at for at, name in enumerate(names(type(value)))}
    roles = {places[field.name]: field.role for field in reversed(fields(type(value)))}
    values = [rename_pairs(item, roles.get(at), pair, renames) for at, item in enumerate(value)]
    databases = [at for at, role in sorted(roles.items()) if role == "db" and isinstance(value[at], str)]
    tables = [at for at, role in sorted(roles.items()) if role == "table" and isinstance(value[at], str)]
    if len(databases) == len(tables):
        for left, right in zip(databases, tables, strict=True):
            values[left], values[right] = pair(value[left], value[right])
    return new(type(value), values)
