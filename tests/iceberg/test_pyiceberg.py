"""pyiceberg's REST catalog as a client, and writers over two protocols at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType

from metastored.testing import RunningServer
from tests.iceberg.rest_server import ROWS, Rest, hive_catalog, metadata_files, rest_catalog, stored


def test_a_table_is_written_evolved_and_read(server: RunningServer, namespace: str) -> None:
    catalog = rest_catalog(server)
    table = catalog.create_table((namespace, "t"), ROWS.schema, properties={"a": "b"})
    table.append(ROWS)
    with table.update_spec() as spec:
        spec.add_field("name", IdentityTransform())
    with table.update_schema() as schema:
        schema.add_column("extra", IntegerType())
    table.append(ROWS.append_column("extra", pa.array([7, 8, 9], pa.int32())))
    table.delete("id = 1")
    again = catalog.load_table((namespace, "t"))
    assert sorted(again.scan().to_arrow().column("id").to_pylist()) == [2, 2, 3, 3]
    assert again.properties["a"] == "b" and len(again.metadata.snapshots) >= 3
    snapshot = again.metadata.snapshots[0].snapshot_id
    assert again.scan(snapshot_id=snapshot).to_arrow().num_rows == 3


def test_branches_and_tags_are_kept(server: RunningServer, namespace: str) -> None:
    table = rest_catalog(server).create_table((namespace, "t"), ROWS.schema)
    table.append(ROWS)
    first = table.metadata.current_snapshot_id
    assert first is not None
    table.manage_snapshots().create_tag(first, "kept").create_branch(first, "side").commit()
    table.append(ROWS)
    found = rest_catalog(server).load_table((namespace, "t"))
    assert found.scan().use_ref("kept").to_arrow().num_rows == 3 and found.scan().to_arrow().num_rows == 6


def test_a_table_is_made_in_a_transaction(server: RunningServer, namespace: str) -> None:
    catalog = rest_catalog(server)
    with catalog.create_table_transaction((namespace, "t"), ROWS.schema) as transaction:
        transaction.set_properties(made="together")
        assert not catalog.table_exists((namespace, "t"))
    assert catalog.load_table((namespace, "t")).properties["made"] == "together"


def test_errors_are_those_that_pyiceberg_knows(server: RunningServer, namespace: str) -> None:
    catalog = rest_catalog(server)
    catalog.create_table((namespace, "t"), ROWS.schema)
    with pytest.raises(NamespaceAlreadyExistsError):
        catalog.create_namespace(namespace)
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table((namespace, "t"), ROWS.schema)
    with pytest.raises(NamespaceNotEmptyError):
        catalog.drop_namespace(namespace)
    with pytest.raises(NoSuchTableError):
        catalog.load_table((namespace, "missing"))


def test_names_of_tables_are_in_lower_case_as_in_hive(server: RunningServer, namespace: str) -> None:
    catalog = rest_catalog(server)
    catalog.create_table((namespace, "Mixed"), ROWS.schema)
    assert catalog.list_tables(namespace) == [(namespace, "mixed")]
    assert catalog.load_table((namespace, "MIXED")).name() == (namespace, "MIXED")


WRITERS, COMMITS = 8, 3


@pytest.mark.slow
def test_no_commit_is_lost_by_eight_writers_over_two_protocols(server: RunningServer, namespace: str) -> None:
    """Half of them commit by REST and half by Thrift, with HiveCatalog's lock. A failed commit is made again."""
    rest_catalog(server).create_table((namespace, "t"), ROWS.schema)

    def write(writer: int) -> int:
        catalog: Any = rest_catalog(server) if writer % 2 else hive_catalog(server)
        failed = 0
        for _ in range(COMMITS):
            while True:
                table = catalog.load_table((namespace, "t"))
                try:
                    table.append(ROWS)
                    break
                except CommitFailedException:
                    failed += 1
        return failed

    with ThreadPoolExecutor(WRITERS) as pool:
        failures = list(pool.map(write, range(WRITERS)))
    table = rest_catalog(server).load_table((namespace, "t"))
    assert len(table.metadata.snapshots) == WRITERS * COMMITS, failures
    assert table.scan().to_arrow().num_rows == WRITERS * COMMITS * ROWS.num_rows
    # No file of a REST commit that came too late is left.
    log = [entry.metadata_file for entry in table.metadata.metadata_log]
    assert len(log) + 1 == len({*log, table.metadata_location})
    assert len(metadata_files(stored(server, namespace))) == len(log) + 1


def test_properties_of_many_rest_writers_are_all_kept(server: RunningServer, rest: Rest, namespace: str) -> None:
    """Their commits have no requirement that another one breaks: the server retries, and no client sees a conflict."""
    rest.table(namespace)

    def write(at: int) -> int:
        return rest.commit(namespace, "t", {"action": "set-properties", "updates": {f"by{at}": "x"}}).status

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(write, range(16))) == {200}
    assert {f"by{at}" for at in range(16)} <= rest.load(namespace)["metadata"]["properties"].keys()
    assert len(metadata_files(stored(server, namespace))) == 17
