"""Tables of Lance's own clients, unmodified, beside ours on one metastore: each side sees the other's tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lance
import lance_namespace as ns
import pytest

from tests.support.foreign import run_foreign
from tests.support.lance import POINTS, Space

pytestmark = [pytest.mark.witness, pytest.mark.slow]

DECLARE = """
import lance, lance_namespace_impls, pyarrow
from lance_namespace import DeclareTableRequest, connect

space = connect("hive2", {"uri": uri, "root": root})
for name in ("theirs", "empty"):
    result = space.declare_table(DeclareTableRequest(id=[db, name], properties={"model": "m1"})).location
lance.write_dataset(pyarrow.table({"id": [1, 2]}), root + "/" + db + ".db/theirs", mode="overwrite")
"""
LOOK = """
import lance_namespace_impls
from lance_namespace import DescribeTableRequest, ListTablesRequest, connect

space = connect("hive2", {"uri": uri, "root": root})
described = space.describe_table(DescribeTableRequest(id=[db, "points"]))
result = [
    space.list_tables(ListTablesRequest(id=[db], include_declared=True)).tables,
    described.location,
    described.properties["table_type"],
]
"""


def foreign(script: str, space: Space) -> Any:
    return run_foreign(script, uri=space.uri, root=str(space.root), db=space.name)


def test_tables_of_lances_client_are_recognised_written_and_dropped(space: Space) -> None:
    foreign(DECLARE, space)
    tables = space.namespace.list_tables
    assert tables(ns.ListTablesRequest(id=space.database)).tables == ["empty", "theirs"]
    assert tables(ns.ListTablesRequest(id=space.database, include_declared=False)).tables == ["theirs"]
    described = space.namespace.describe_table(ns.DescribeTableRequest(id=space.id("theirs")))
    assert (described.managed_versioning, described.properties["model"]) == (None, "m1")
    assert space.namespace.client.table((space.name, "theirs")).tableType == "EXTERNAL_TABLE"
    rows = POINTS.select(["id"])
    lance.write_dataset(rows, namespace_client=space.namespace, table_id=space.id("theirs"), mode="append")
    assert space.namespace.count_table_rows(ns.CountTableRowsRequest(id=space.id("theirs"))).count == 5
    space.namespace.drop_table(ns.DropTableRequest(id=space.id("theirs")))
    assert not Path(described.location).exists()


def test_our_tables_are_recognised_by_lances_client(space: Space) -> None:
    created = space.create("points")
    tables, location, kind = foreign(LOOK, space)
    assert (tables, kind) == (["points"], "lance")
    assert location.removeprefix("file:") == created.location
