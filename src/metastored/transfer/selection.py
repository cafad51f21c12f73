"""What of a metastore is meant, and what it is called at the other end. Pure.

Names are those of the source. The default catalog has no name here (None, or the empty text in a DatabaseName): it is
`hive`, and servers before Hive 3 know no other.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from metastored.errors import ConfigError
from metastored.hive.names import DEFAULT_CATALOG
from metastored.hive.patterns import compile_pattern
from metastored.model.names import DatabaseName

KINDS: Final = ("statistics", "constraints", "functions", "privileges")
"""What can be left out; privileges are roles, who has them, and what was granted."""


@dataclass(frozen=True)
class Selection:
    """Patterns as Hive's: `*` stands for anything and `|` separates alternatives."""

    catalogs: str | None = None
    databases: str | None = None
    tables: str | None = None
    without: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for kind in sorted(self.without - set(KINDS)):
            raise ConfigError(f"{kind!r} is nothing that can be left out; known are {', '.join(KINDS)}")

    def has_catalog(self, name: str | None) -> bool:
        return compile_pattern(self.catalogs)(name or DEFAULT_CATALOG)

    def has_database(self, name: str) -> bool:
        return compile_pattern(self.databases)(name)

    def has_table(self, name: str) -> bool:
        return compile_pattern(self.tables)(name)

    def has(self, kind: str) -> bool:
        return kind not in self.without

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out by its name."""
        return self.catalogs is None and self.databases is None and self.tables is None

    def __str__(self) -> str:
        given = {"catalogs": self.catalogs, "databases": self.databases, "tables": self.tables}
        said = [f"{name} {pattern}" for name, pattern in given.items() if pattern is not None]
        return ", ".join([*said, *(f"without {kind}" for kind in sorted(self.without))])


def unmatched(pattern: str, names: Collection[str]) -> list[str]:
    """The alternatives of a pattern that match none of these names."""
    parts = dict.fromkeys(part.strip() for part in pattern.split("|"))
    return [part for part in parts if not any(map(compile_pattern(part), names))]


@dataclass(frozen=True)
class Catalogs:
    """The catalogs of a source under the names that they have in the target.

    With a `name`, the default catalog becomes the catalog of that name, and every other one gets it as a prefix, so
    that several sources have room in one target. Databases keep their names: texts of views mention them.
    """

    name: str | None = None

    def target(self, catalog: str | None) -> str | None:
        if self.name is None:
            return catalog
        found = self.name if catalog is None else f"{self.name}_{catalog}"
        return None if found == DEFAULT_CATALOG else found

    def home(self, home: DatabaseName) -> DatabaseName:
        return DatabaseName(self.target(home.catalog_field) or "", home.database)

    def qualified(self, name: str) -> str:
        """`catalog.db.t`, as materialized views write it; a shorter name is in the same catalog, and stays."""
        catalog, _, rest = name.partition(".")
        if "." not in rest:
            return name
        renamed = self.target(None if catalog == DEFAULT_CATALOG else catalog)
        return f"{renamed or DEFAULT_CATALOG}.{rest}"
