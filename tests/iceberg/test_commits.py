"""Commits by REST: conditional alters of the metastore's table, and the metadata files around them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest

import metastored
from metastored.errors import MetaException
from metastored.hive.locations import local_path
from metastored.structs import Table
from metastored.testing import RunningServer
from metastored.wire.generated.locks import ShowLocksRequest
from metastored.wire.structs import replace
from tests.iceberg.rest_server import (
    ROWS,
    SCHEMA,
    Rest,
    hive_catalog,
    iceberg_server,
    metadata_files,
    rest_catalog,
    stored,
)

Json = dict[str, Any]


def properties(**updates: str) -> Json:
    return {"action": "set-properties", "updates": updates}


def parameters(table: Table) -> dict[str, str]:
    return dict(table.parameters or {})


def test_a_commit_moves_the_pointer_and_keeps_the_former_one(server: RunningServer, rest: Rest, namespace: str) -> None:
    made = rest.table(namespace)
    committed = rest.commit(namespace, "t", properties(a="b")).json
    found = parameters(stored(server, namespace))
    assert found["metadata_location"] == committed["metadata-location"]
    assert found["previous_metadata_location"] == made["metadata-location"]
    assert committed["metadata"]["metadata-log"][0]["metadata-file"] == made["metadata-location"]
    assert found["a"] == "b"


def test_columns_and_statistics_are_copied_for_engines_that_read_the_metastore(
    server: RunningServer, rest: Rest, namespace: str
) -> None:
    rest.table(namespace)
    catalog = rest_catalog(server)
    table = catalog.load_table((namespace, "t"))
    with table.update_schema() as update:
        update.make_column_optional("id")
    table.append(ROWS)
    with table.update_schema() as update:
        update.rename_column("name", "title")
    with table.update_schema() as update:
        update.move_first("title")
    row = stored(server, namespace)
    assert row.sd is not None
    assert [each.name for each in row.sd.cols or ()] == ["title", "id"]
    assert parameters(row)["numRows"] == "3" and parameters(row)["numFiles"] == "1"
    assert parameters(row)["snapshot-count"] == "1"
    assert parameters(row)["current-snapshot-id"] == str(table.metadata.current_snapshot_id)


def test_a_property_that_was_removed_is_removed_from_the_metastore_and_others_stay(
    server: RunningServer, rest: Rest, namespace: str
) -> None:
    rest.table(namespace, properties={"mine": "1"})
    with metastored.connect(server.uri) as client:
        client.set_parameters((namespace, "t"), set_by_hive="yes")
    rest.commit(namespace, "t", {"action": "remove-properties", "removals": ["mine"]})
    found = parameters(stored(server, namespace))
    assert "mine" not in found and found["set_by_hive"] == "yes"


def test_a_commit_that_changes_nothing_writes_nothing(server: RunningServer, rest: Rest, namespace: str) -> None:
    made = rest.table(namespace, properties={"a": "b"})
    same = rest.commit(namespace, "t", properties(a="b"))
    assert same.json["metadata-location"] == made["metadata-location"]
    assert len(metadata_files(stored(server, namespace))) == 1


def test_a_requirement_that_does_not_hold_fails_the_commit_and_leaves_no_file(
    server: RunningServer, rest: Rest, namespace: str
) -> None:
    rest.table(namespace)
    requirement = {"type": "assert-current-schema-id", "current-schema-id": 7}
    failed = rest.commit(namespace, "t", properties(a="b"), requirements=[requirement])
    assert (failed.status, failed.error) == (409, "CommitFailedException")
    assert len(metadata_files(stored(server, namespace))) == 1


@pytest.mark.parametrize("update", [{"action": "explode"}, {"action": "set-current-schema", "schema-id": 9}])
def test_a_commit_that_is_not_valid_leaves_no_file(
    server: RunningServer, rest: Rest, namespace: str, update: Json
) -> None:
    rest.table(namespace)
    assert rest.commit(namespace, "t", properties(a="b"), update).error == "BadRequestException"
    assert len(metadata_files(stored(server, namespace))) == 1
    assert "a" not in parameters(stored(server, namespace))


def test_a_commit_by_thrift_is_seen_at_once(server: RunningServer, rest: Rest, namespace: str) -> None:
    rest.table(namespace)
    with hive_catalog(server).load_table((namespace, "t")).transaction() as transaction:
        transaction.set_properties(by="thrift")
    assert rest.load(namespace)["metadata"]["properties"]["by"] == "thrift"


def test_a_commit_by_thrift_from_stale_metadata_fails(server: RunningServer, rest: Rest, namespace: str) -> None:
    made = rest.table(namespace)
    row = stored(server, namespace)
    rest.commit(namespace, "t", properties(a="b"))
    stale = {"expected_parameter_key": "metadata_location", "expected_parameter_value": made["metadata-location"]}
    with metastored.connect(server.uri) as client, pytest.raises(MetaException, match="has been modified"):
        client.alter((namespace, "t"), row, environment=stale)


def test_a_commit_waits_for_a_writer_by_thrift_that_holds_the_lock(
    server: RunningServer, rest: Rest, namespace: str
) -> None:
    """HiveCatalog reads and alters under its lock, without a condition: nobody may commit in between."""
    rest.table(namespace)
    replies: list[Any] = []
    writer = Thread(target=lambda: replies.append(rest.commit(namespace, "t", properties(by_rest="1"))))
    with metastored.connect(server.uri) as client:
        with client.lock((namespace, "t"), type="exclusive"):
            row = stored(server, namespace)
            writer.start()
            writer.join(0.7)
            assert writer.is_alive()
            client.alter((namespace, "t"), replace(row, parameters={**parameters(row), "under_lock": "1"}))
        writer.join(30)
    assert [each.status for each in replies] == [200]
    assert {"by_rest", "under_lock"} <= parameters(stored(server, namespace)).keys()


def test_a_commit_that_waits_for_its_turn_is_checked_against_the_table_as_it_is_then(
    server: RunningServer, rest: Rest, namespace: str
) -> None:
    wider = {**SCHEMA, "fields": [*SCHEMA["fields"], {"id": 3, "name": "at", "type": "date", "required": False}]}
    widening = ({"action": "add-schema", "schema": wider}, {"action": "set-current-schema", "schema-id": -1})
    widened = [{"type": "assert-current-schema-id", "current-schema-id": 1}]
    rest.table(namespace)
    replies: list[Any] = []
    first = Thread(target=lambda: replies.append(rest.commit(namespace, "t", *widening)))
    second = Thread(
        target=lambda: replies.append(rest.commit(namespace, "t", properties(after="1"), requirements=widened))
    )
    with metastored.connect(server.uri) as client:
        with client.lock((namespace, "t"), type="exclusive"):
            first.start()
            deadline = monotonic() + 30
            while len(client.api.show_locks(ShowLocksRequest(namespace, "t")).locks or ()) < 2:
                assert monotonic() < deadline, "the first commit did not ask for its lock"
                sleep(0.01)
            second.start()
            second.join(0.5)
            assert first.is_alive() and second.is_alive()
        first.join(30)
        second.join(30)
    assert [each.status for each in replies] == [200, 200]
    assert rest.load(namespace)["metadata"]["properties"]["after"] == "1"


def test_commits_of_many_clients_to_one_table_all_take_effect(rest: Rest, namespace: str) -> None:
    rest.table(namespace)
    with ThreadPoolExecutor(8) as pool:
        replies = pool.map(lambda at: rest.commit(namespace, "t", properties(**{f"p{at}": "1"})), range(24))
    assert {each.status for each in replies} == {200}
    assert {f"p{at}" for at in range(24)} <= rest.load(namespace)["metadata"]["properties"].keys()


def test_a_table_made_by_thrift_is_committed_to_by_rest(server: RunningServer, rest: Rest, namespace: str) -> None:
    hive = hive_catalog(server)
    hive.create_table((namespace, "t"), ROWS.schema).append(ROWS)
    assert rest.commit(namespace, "t", properties(by="rest")).status == 200
    rest_catalog(server).load_table((namespace, "t")).append(ROWS)
    table = hive.load_table((namespace, "t"))
    assert table.properties["by"] == "rest" and table.scan().to_arrow().num_rows == 6


def test_the_identifier_in_a_commit_is_that_of_its_path(rest: Rest, namespace: str) -> None:
    rest.table(namespace)
    body = {"requirements": [], "updates": [], "identifier": {"namespace": [namespace], "name": "other"}}
    assert rest.post(f"/namespaces/{namespace}/tables/t", body).error == "BadRequestException"


# --- several tables -------------------------------------------------------------------------------------------------


def change(namespace: str, name: str, *updates: Json, requirements: list[Json] | None = None) -> Json:
    found = {"namespace": [namespace], "name": name}
    return {"identifier": found, "requirements": requirements or [], "updates": list(updates)}


def locations(rest: Rest, namespace: str, *names: str) -> list[str]:
    return [rest.load(namespace, name)["metadata-location"] for name in names]


def test_several_tables_are_committed_together(server: RunningServer, rest: Rest, namespace: str) -> None:
    names = ["a", "b", "c"]
    for name in names:
        rest.table(namespace, name)
    wider = {**SCHEMA, "fields": [*SCHEMA["fields"], {"id": 3, "name": "new", "type": "int", "required": False}]}
    schema: list[Json] = [{"action": "add-schema", "schema": wider}, {"action": "set-current-schema", "schema-id": -1}]
    changes = [change(namespace, name, properties(by="all"), *schema) for name in names]
    assert rest.post("/transactions/commit", {"table-changes": changes}).status == 204
    for name in names:
        row = stored(server, namespace, name)
        assert parameters(row)["by"] == "all" and row.sd is not None
        assert [each.name for each in row.sd.cols or ()] == ["id", "name", "new"]
        assert rest.load(namespace, name)["metadata"]["properties"]["by"] == "all"


def test_one_requirement_that_does_not_hold_fails_all_tables(server: RunningServer, rest: Rest, namespace: str) -> None:
    for name in ("a", "b"):
        rest.table(namespace, name)
    before = locations(rest, namespace, "a", "b")
    wrong = [{"type": "assert-table-uuid", "uuid": "another"}]
    changes = [change(namespace, "a", properties(x="1")), change(namespace, "b", properties(x="1"), requirements=wrong)]
    failed = rest.post("/transactions/commit", {"table-changes": changes})
    assert (failed.status, failed.error) == (409, "CommitFailedException")
    assert locations(rest, namespace, "a", "b") == before
    assert [len(metadata_files(stored(server, namespace, name))) for name in ("a", "b")] == [1, 1]


def test_the_alters_of_a_transaction_are_one_transaction_of_the_database(
    server: RunningServer, rest: Rest, namespace: str
) -> None:
    """The last of them is refused in the database itself, after the first ones were checked."""
    from metastored.structs import TableParamsUpdate

    for name in ("a", "b"):
        rest.table(namespace, name)
    rows = {name: stored(server, namespace, name) for name in ("a", "b")}
    updates = tuple(
        TableParamsUpdate(
            db_name=namespace,
            table_name=name,
            params={},
            expected_param_key="metadata_location",
            expected_param_value=parameters(row)["metadata_location"] if name == "a" else "another",
            table=replace(row, parameters={**parameters(row), "metadata_location": "file:/new"}),
        )
        for name, row in rows.items()
    )
    with metastored.connect(server.uri) as client, pytest.raises(MetaException, match="has been modified"):
        client.api.update_table_params(updates)
    assert {name: stored(server, namespace, name) for name in ("a", "b")} == rows


WRONG_TRANSACTIONS: dict[str, Any] = {
    "no changes": lambda n: [],
    "a table twice": lambda n: [change(n, "a", properties(x="1")), change(n, "A", properties(x="2"))],
    "a table that would be made": lambda n: [change(n, "new", requirements=[{"type": "assert-create"}])],
    "no identifier": lambda n: [{"requirements": [], "updates": []}],
    "something else": lambda n: ["x"],
}


@pytest.mark.parametrize("case", WRONG_TRANSACTIONS)
def test_a_transaction_is_refused_with(rest: Rest, namespace: str, case: str) -> None:
    rest.table(namespace, "a")
    refused = rest.post("/transactions/commit", {"table-changes": WRONG_TRANSACTIONS[case](namespace)})
    assert (refused.status, refused.error) == (400, "BadRequestException")


def test_a_transaction_names_tables_that_exist(rest: Rest, namespace: str) -> None:
    rest.table(namespace, "a")
    before = locations(rest, namespace, "a")
    changes = [change(namespace, "a", properties(x="1")), change(namespace, "missing", properties(x="1"))]
    refused = rest.post("/transactions/commit", {"table-changes": changes})
    assert (refused.status, refused.error) == (404, "NoSuchTableException")
    assert locations(rest, namespace, "a") == before


@pytest.mark.parametrize("compat", ["2.3", "4.2"])
def test_a_server_for_one_version_of_hive_serves_the_same_catalog(tmp_path: Path, compat: str) -> None:
    """What REST clients see does not depend on the Hive that Thrift clients see."""
    with iceberg_server(tmp_path, compat=compat) as server:
        rest = Rest(server)
        rest.namespace("n")
        made = [rest.table("n", name) for name in ("a", "b")]
        changes = [change("n", name, properties(x="1")) for name in ("a", "b")]
        assert rest.post("/transactions/commit", {"table-changes": changes}).status == 204
        assert parameters(stored(server, "n", "b"))["x"] == "1"
        assert rest.delete("/namespaces/n/tables/a?purgeRequested=true").status == 204
        assert not Path(local_path(made[0]["metadata"]["location"])).exists()
