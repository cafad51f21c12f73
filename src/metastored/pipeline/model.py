"""What a pipeline file says: steps with their types, keys and values. Pure.

`TYPES` is the only list of the types of steps and their keys. The reader, the error messages and the documentation use
it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

Value = str | bool | tuple[str, ...]
"""The value of a key of a step."""


class Key(NamedTuple):
    """One key of a type of steps."""

    kinds: tuple[str, ...]
    """`text`, `table` (db.t), `name` (db.t or db), `list`, `boolean`."""
    required: bool = False
    words: tuple[str, ...] = ()
    """The only texts that are allowed; all if there are none."""
    default: Value | None = None


_TABLE: Final = Key(("table",), required=True)
_PARTITIONS: Final = Key(("text", "list"))

TYPES: Final[Mapping[str, Mapping[str, Key]]] = {
    "sql": {"sql": Key(("text",), required=True)},
    "python": {"file": Key(("text",), required=True), "function": Key(("text",), required=True)},
    "analyze": {
        "table": _TABLE,
        "columns": Key(("text", "list"), words=("all",), default="all"),
        "partitions": _PARTITIONS,
        "histograms": Key(("boolean",), default=False),
    },
    "copy": {
        "from": Key(("name",), required=True),
        "to": Key(("name",), required=True),
        "partitions": _PARTITIONS,
        "format": Key(("text",), words=("parquet", "orc", "lance", "iceberg", "delta")),
        "mode": Key(("text",), words=("incremental", "overwrite"), default="incremental"),
    },
    "repair": {"table": _TABLE, "mode": Key(("text",), words=("add", "drop", "sync"), default="add")},
    "compact": {
        "table": _TABLE,
        "partition": Key(("text",)),
        "kind": Key(("text",), words=("minor", "major"), default="major"),
    },
    "lance": {
        "from": _TABLE,
        "to": _TABLE,
        "mode": Key(("text",), words=("error", "ignore", "append", "overwrite"), default="overwrite"),
    },
    "dataflow": {
        "project": Key(("text",), required=True),
        "full_refresh": Key(("boolean", "list"), default=False),
    },
}
"""The keys of each type of steps."""

COMMON: Final = ("name", "type", "needs")
"""The keys that every step has."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step. Texts contain references to secrets, never their values."""

    name: str
    type: str
    line: int
    needs: tuple[str, ...] = ()
    keys: Mapping[str, Value] = field(default_factory=dict)

    def text(self, key: str) -> str:
        """The value of a key that is a text and is required or has a default."""
        value = self.keys[key]
        assert isinstance(value, str)
        return value

    @property
    def digest(self) -> str:
        """Changes when the step does something else."""
        content = json.dumps([self.type, sorted(self.keys.items())], default=list)
        return hashlib.sha256(content.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A file. Steps are in the order of the file."""

    name: str
    """The file's name without its folder and its ending."""
    steps: tuple[Step, ...]
    metastore: str | None = None
    spark: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str | None] = field(default_factory=dict)
    """The defaults; None for a parameter that has to be given."""

    def step(self, name: str) -> Step:
        return next(each for each in self.steps if each.name == name)

    def with_steps(self, steps: tuple[Step, ...]) -> Pipeline:
        return replace(self, steps=steps)
