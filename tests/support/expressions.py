"""Expressions on partition keys as Hive's own classes serialized them, with Hive's result for some partitions.

The files were printed by `java/Expressions.java`, with the argument `all`, on the published hive-exec of each version
(Kryo 3.0.3 and, from 4.0 on, 5.5.0). That of 3.1.3 runs on Java 8 alone, so the test run makes none of them anew: it
makes those that pyspark's jars and the peers' can, and compares.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from metastored.hive.generation import Generation

DATA = Path(__file__).parent.parent / "hive" / "data"


class Serialized(NamedTuple):
    """An expression: its name here, Hive's text for it, its bytes, and Hive's verdicts (y, n, u; ! is an error)."""

    name: str
    text: str
    data: bytes
    verdicts: str = ""


class Expressions(NamedTuple):
    """All that one version of Hive serialized."""

    generation: Generation
    keys: tuple[tuple[str, str], ...]
    partitions: tuple[tuple[str, ...], ...]
    all: dict[str, Serialized]


def parsed(text: str, generation: Generation) -> Expressions:
    keys, partitions, found = [], [], {}
    for line in text.splitlines():
        kind, *cells = line.split("\t")
        if kind == "key":
            keys.append((cells[0], cells[1]))
        elif kind == "partition":
            partitions.append(tuple(cells))
        elif kind == "expression":
            name, shown, data, *verdicts = cells
            found[name] = Serialized(name, shown, bytes.fromhex(data), *verdicts)
    return Expressions(generation, tuple(keys), tuple(partitions), found)


_GENERATIONS = {"2.3.10": Generation.HIVE_2_3, "3.1.3": Generation.HIVE_3_1, "4.1.0": Generation.HIVE_4_0}


def stored(version: str) -> Expressions:
    generation = _GENERATIONS[version]
    return parsed((DATA / f"expressions_{version}.tsv").read_text(encoding="utf-8"), generation)


OF_2_3 = stored("2.3.10")
OF_3_1 = stored("3.1.3")
OF_4_1 = stored("4.1.0")
WITHOUT_ALIAS = parsed((DATA / "expressions_without_alias.tsv").read_text(encoding="utf-8"), Generation.HIVE_2_3)
"""As ALTER TABLE … DROP PARTITION writes them: its columns belong to no alias of a table."""
