"""Thrift's types, and the lines of the API files that use them: parsing, nothing else.

A type is written as Thrift writes it (`list<FieldSchema>`, `map<string,string>`); a field is one line:

    "16 string catName required default=hive @cat in=2.3-3.1"

id, type, name, and then in any order `required`, `optional`, `default=…`, `@role`, `in=…`. This module never looks
up a struct: a name that is not a base type is a struct or an enum, which the codecs resolve.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

VERSIONS: Final[tuple[str, ...]] = ("2.3", "3.1", "4.0.0", "4.0.1", "4.1", "4.2", "next")

STOP, BOOL, BYTE, DOUBLE, I16, I32, I64, STRING, STRUCT, MAP, SET, LIST = 0, 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15
CALL, REPLY, EXCEPTION, ONEWAY = 1, 2, 3, 4
"""The kinds of a message."""

BASE_TYPES: Final = {
    "bool": BOOL,
    "byte": BYTE,
    "double": DOUBLE,
    "i16": I16,
    "i32": I32,
    "i64": I64,
    "string": STRING,
    "binary": STRING,
}

ROLES: Final = frozenset(
    (
        *("cat", "db", "table", "part_name", "part_values", "function", "full_name", "pattern"),
        *("view_text", "table_type", "location", "relative_location", "connector", "name"),
        *("txn_id", "lock_id", "table_id", "limit", "user", "secret"),
    )
)


class Type(NamedTuple):
    """A type expression. `name` is a base type, `list`, `set`, `map`, or the name of a struct or enum."""

    name: str
    args: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}<{','.join(map(str, self.args))}>" if self.args else self.name


class Field(NamedTuple):
    """One field of a struct, or one argument of a method."""

    id: int
    type: Type
    name: str
    required: bool = False
    default: str | None = None
    role: str | None = None
    versions: tuple[str, ...] = VERSIONS
    optional: bool = False
    """Of an argument: the method itself defines what its absence means."""


@lru_cache(maxsize=2048)
def parse_type(text: str) -> Type:
    """`map<string,list<i64>>` as a Type."""
    text = text.strip()
    if not text.endswith(">"):
        return Type(text)
    head, _, inner = text[:-1].partition("<")
    if head not in ("list", "set", "map"):
        raise ValueError(f"not a Thrift container: {text!r}")
    parts, depth, start = [], 0, 0
    for at, char in enumerate(inner):
        if char == "<":
            depth += 1
        elif char == ">":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(inner[start:at])
            start = at + 1
    parts.append(inner[start:])
    return Type(head, tuple(parse_type(part) for part in parts))


def parse_versions(text: str) -> tuple[str, ...]:
    """`2.3`, `2.3-4.0.0` or `3.1+` as the versions it names."""
    if text.endswith("+"):
        return VERSIONS[VERSIONS.index(text[:-1]) :]
    first, _, last = text.partition("-")
    return VERSIONS[VERSIONS.index(first) : VERSIONS.index(last or first) + 1]


@lru_cache(maxsize=4096)
def parse_field(line: str) -> Field:
    """A line of an API file as a Field."""
    number, type_text, name, *rest = line.split()
    required = False
    default: str | None = None
    role: str | None = None
    versions = VERSIONS
    optional = False
    for word in rest:
        if word == "required":
            required = True
        elif word == "optional":
            optional = True
        elif word.startswith("default="):
            default = word[8:]
        elif word.startswith("@"):
            role = word[1:]
            if role not in ROLES:
                raise ValueError(f"unknown role @{role} in {line!r}; known are {', '.join(sorted(ROLES))}")
        elif word.startswith("in="):
            versions = parse_versions(word[3:])
        else:
            raise ValueError(f"unknown word {word!r} in {line!r}")
    return Field(int(number), parse_type(type_text), name, required, default, role, versions, optional)


def parse_returns(text: str) -> tuple[Type | None, str | None]:
    """The `returns` of a method, `list<string> @table`, as a type (None for void) and a role."""
    type_text, _, role = text.partition(" @")
    if role and role not in ROLES:
        raise ValueError(f"unknown role @{role} in {text!r}; known are {', '.join(sorted(ROLES))}")
    return (None if type_text == "void" else parse_type(type_text)), role or None
