"""The parts that values of statements have in common: names, properties, principals."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

Parts: TypeAlias = tuple[str, ...]
"""A name as written: `("t",)`, `("db", "t")` or `("catalog", "db", "t")`."""
Pairs: TypeAlias = tuple[tuple[str, str], ...]
"""Properties in the order in which they were written; no key is there twice."""


class Kind(Enum):
    """What a remote is: one table, one database, or all databases of another metastore."""

    TABLE = "TABLE"
    DATABASE = "DATABASE"
    CATALOG = "CATALOG"


USER: Final = "USER"
ROLE: Final = "ROLE"
GROUP: Final = "GROUP"


@dataclass(frozen=True, slots=True)
class Principal:
    """A user, a role or a group."""

    name: str
    kind: str = USER

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
