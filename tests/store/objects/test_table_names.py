"""Names of tables that begin with a prefix, on both databases: those that Python finds, in the order of their bytes."""

from __future__ import annotations

import pytest

from metastored.store.engine.database import Database
from metastored.store.objects import tables
from tests.store.conftest import make_table

NAMES = ("a", "a_b", "ab", "ab0", "ab~", "abz", "abß", "ab\U0001f600", "ac", "b", "ſab", "ab c", "}", "{a", "~a")
PREFIXES = ("a", "ab", "abz", "a_", "}", "{", "z", "-")


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_prefix_selects_the_names_that_begin_with_it(database: Database, prefix: str) -> None:
    for name in NAMES:
        database.run(lambda tx, name=name: make_table(tx, name))  # type: ignore[misc]
    expected = sorted((name for name in NAMES if name.startswith(prefix)), key=str.encode)
    reader = database.reader()
    assert tables.names(reader, "hive", "db", prefix=prefix) == expected
    assert tables.names(reader, "hive", "db", "MANAGED_TABLE", prefix) == expected
    assert tables.names(reader, "hive", "db", "VIRTUAL_VIEW", prefix) == []
    assert [meta.name for meta in tables.metas(reader, "hive", "db", prefix)] == expected
