"""Which objects of a metastore are selected, and their names in the target. Pure.

Names are names of the source. The default catalog has no name here (None, or the empty text in a DatabaseName): it is
`hive`, the only catalog of servers before Hive 3.
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
"""The kinds of objects that can be excluded; privileges are roles, their members and the grants."""


@dataclass(frozen=True)
class Selection:
    """Hive's patterns: `*` matches any text and `|` separates alternatives."""

    catalogs: str | None = None
    databases: str | None = None
    tables: str | None = None
    without: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for kind in sorted(self.without - set(KINDS)):
            raise ConfigError(f"{kind!r} cannot be left out; known are {', '.join(KINDS)}")

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
        """Whether no object is excluded by its name."""
        return self.catalogs is None and self.databases is None and self.tables is None

    def __str__(self) -> str:
        patterns = {"catalogs": self.catalogs, "databases": self.databases, "tables": self.tables}
        parts = [f"{name} {pattern}" for name, pattern in patterns.items() if pattern is not None]
        return ", ".join([*parts, *(f"without {kind}" for kind in sorted(self.without))])


def unmatched(pattern: str, names: Collection[str]) -> list[str]:
    """The alternatives of a pattern that match none of these names."""
    parts = dict.fromkeys(part.strip() for part in pattern.split("|"))
    return [part for part in parts if not any(map(compile_pattern(part), names))]


@dataclass(frozen=True)
class Catalogs:
    """The catalogs of a source under the names that they have in the target.

    With a `name`, the default catalog becomes the catalog of that name, and every other one gets it as a prefix, so
    that several sources fit in one target. Databases keep their names, since the SQL texts of views contain them.
    """

    name: str | None = None

    def target(self, catalog: str | None) -> str | None:
        if self.name is None:
            return catalog
        target = self.name if catalog is None else f"{self.name}_{catalog}"
        return None if target == DEFAULT_CATALOG else target

    def target_database(self, db: DatabaseName) -> DatabaseName:
        return DatabaseName(self.target(db.catalog_field) or "", db.database)

    def qualified(self, name: str) -> str:
        """`catalog.db.t`, as materialized views write it; a shorter name is in the same catalog, and stays."""
        catalog, _, rest = name.partition(".")
        if "." not in rest:
            return name
        renamed = self.target(None if catalog == DEFAULT_CATALOG else catalog)
        return f"{renamed or DEFAULT_CATALOG}.{rest}"
