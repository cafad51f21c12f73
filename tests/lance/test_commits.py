"""Versions that the metastore keeps: conflicts, lost replies, crashes, and versions that it did not know."""

from __future__ import annotations

import os
import pickle
import shutil
import uuid
from pathlib import Path
from typing import Any

import lance
import lance_namespace as ns
import pytest

import metastored
from metastored.catalog.handlers import in_memory
from metastored.catalog.settings import MemoryCatalog
from metastored.gate.hooked import Hooked
from metastored.lance import Hive2Namespace
from metastored.lance.files import final_name
from metastored.wire.structs import replace
from tests.support.lance import POINTS, Space, new_space, opened, stream
from tests.support.lossy_relay import lossy

pytestmark = pytest.mark.slow

ALTER = "alter_table_with_environment_context"


def staged(space: Space, table: str, version: int) -> ns.CreateTableVersionRequest:
    """A commit of the next version with the manifest of the newest one, staged as Lance does."""
    location = space.root / f"{space.name}.db" / table
    newest = location / "_versions" / final_name(version - 1)
    name = f"{final_name(version)}-{uuid.uuid4()}"
    # Manifests of different writers differ.
    content = newest.read_bytes()
    newest.with_name(name).write_bytes(content[:-16] + os.urandom(8) + content[-16:])
    return ns.CreateTableVersionRequest(
        id=space.id(table), version=version, manifest_path=f"{str(location).lstrip('/')}/_versions/{name}"
    )


def version_of(space: Space, table: str) -> str:
    found: dict[str, str] = space.namespace.client.table(tuple(space.id(table))).parameters
    return found["version"]


def versions_of(space: Space, table: str) -> list[int]:
    request = ns.ListTableVersionsRequest(id=space.id(table))
    return [version.version for version in space.namespace.list_table_versions(request).versions]


def pickled(space: Space) -> Any:
    """Another namespace for the same metastore."""
    return pickle.loads(pickle.dumps(space.namespace))


def appended(space: Space, table: str = "points") -> Any:
    return lance.write_dataset(POINTS, namespace_client=space.namespace, table_id=space.id(table), mode="append")


def test_a_declared_table_has_version_0_and_a_commit_raises_it(managed: Space) -> None:
    declared = managed.namespace.declare_table(ns.DeclareTableRequest(id=managed.id("points")))
    assert declared.managed_versioning is True
    assert (declared.properties or {})["version"] == "0"
    for number in (1, 2, 3):
        assert appended(managed).version == number
        assert version_of(managed, "points") == str(number)
    described = managed.namespace.describe_table(ns.DescribeTableRequest(id=managed.id("points")))
    assert (described.version, described.managed_versioning) == (3, True)


def test_updates_deletes_merges_and_indices_are_commits_by_the_metastore(managed: Space) -> None:
    managed.create("points")
    dataset = lance.dataset(namespace_client=managed.namespace, table_id=managed.id("points"))
    dataset.update({"name": "'z'"}, "id = 1")
    assert version_of(managed, "points") == "2"
    dataset.delete("id = 2")
    assert version_of(managed, "points") == "3"
    dataset.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(POINTS)
    assert version_of(managed, "points") == "4"
    dataset.create_scalar_index("id", "BTREE")
    assert version_of(managed, "points") == "5"
    dataset.checkout_version(1).restore()  # type: ignore[no-untyped-call]
    assert version_of(managed, "points") == "6"


def test_the_second_of_two_commits_of_one_version_is_a_concurrent_modification(managed: Space) -> None:
    managed.create("points")
    first, second = staged(managed, "points", 2), staged(managed, "points", 2)
    assert managed.namespace.create_table_version(first).version.version == 2
    with pytest.raises(ns.ConcurrentModificationError):
        managed.namespace.create_table_version(second)
    assert versions_of(managed, "points") == [1, 2]


def test_a_writer_with_an_old_version_rebases_and_loses_nothing(managed: Space) -> None:
    managed.create("points")
    old = lance.dataset(namespace_client=managed.namespace, table_id=managed.id("points"))
    appended(managed)
    old.insert(POINTS)
    assert appended(managed).count_rows() == 12
    assert versions_of(managed, "points") == [1, 2, 3, 4]


def test_a_version_that_is_not_the_next_is_refused(managed: Space) -> None:
    managed.create("points")
    request = staged(managed, "points", 2)
    request.version = 5
    with pytest.raises(ns.InvalidInputError, match="the next is 2"):
        managed.namespace.create_table_version(request)
    assert version_of(managed, "points") == "1"


@pytest.mark.parametrize("path", ["nowhere/_versions/1.manifest-x", "etc/passwd", "a/_versions/../../x.manifest", "x"])
def test_a_manifest_that_is_not_there_is_no_commit(managed: Space, path: str) -> None:
    managed.create("points")
    with pytest.raises(ns.InvalidInputError):
        managed.namespace.create_table_version(
            ns.CreateTableVersionRequest(id=managed.id("points"), version=2, manifest_path=path)
        )
    assert version_of(managed, "points") == "1"


class TestATableThatWasReadBefore:
    """A commit begins with the definition that was read for the newest version; metastored compares it."""

    def listed(self, space: Space) -> None:
        """The request by which Lance opens the newest version, after a first commit by this namespace."""
        space.create("points")
        request = ns.ListTableVersionsRequest(id=space.id("points"), limit=1, descending=True)
        assert [each.version for each in space.namespace.list_table_versions(request).versions] == [1]

    def altered(self, space: Space, **changes: Any) -> None:
        table = space.namespace.client.table(tuple(space.id("points")))
        space.namespace.client.alter(tuple(space.id("points")), replace(table, **changes))

    def test_is_not_read_again(self, managed: Space) -> None:
        self.listed(managed)
        before = managed.namespace.client.api.calls
        managed.namespace.create_table_version(staged(managed, "points", 2))
        assert managed.namespace.client.api.calls - before == 1
        assert version_of(managed, "points") == "2"

    def test_is_used_once(self, managed: Space) -> None:
        self.listed(managed)
        managed.namespace.create_table_version(staged(managed, "points", 2))
        before = managed.namespace.client.api.calls
        managed.namespace.create_table_version(staged(managed, "points", 3))
        assert managed.namespace.client.api.calls - before == 2

    def test_is_not_written_over_what_others_have_set_since(self, managed: Space) -> None:
        self.listed(managed)
        table = managed.namespace.client.table(tuple(managed.id("points")))
        self.altered(managed, parameters={**table.parameters, "note": "kept"})
        managed.namespace.create_table_version(staged(managed, "points", 2))
        found = managed.namespace.client.table(tuple(managed.id("points"))).parameters
        assert (found["version"], found["note"]) == ("2", "kept")

    def test_has_no_new_version_if_it_was_moved_since(self, managed: Space, tmp_path: Path) -> None:
        self.listed(managed)
        request = staged(managed, "points", 2)
        table = managed.namespace.client.table(tuple(managed.id("points")))
        versions = tmp_path / "elsewhere" / "_versions"
        versions.mkdir(parents=True)
        location = managed.root / f"{managed.name}.db" / "points"
        shutil.copy(location / "_versions" / final_name(1), versions)
        self.altered(managed, sd=replace(table.sd, location=f"file:{versions.parent}"))
        with pytest.raises(ns.InvalidInputError, match="there is no manifest"):
            managed.namespace.create_table_version(request)
        assert version_of(managed, "points") == "1"
        assert not (location / "_versions" / final_name(2)).exists()

    def test_is_not_found_if_it_was_dropped_since(self, managed: Space) -> None:
        self.listed(managed)
        request = staged(managed, "points", 2)
        managed.namespace.deregister_table(ns.DeregisterTableRequest(id=managed.id("points")))
        with pytest.raises(ns.TableNotFoundError):
            managed.namespace.create_table_version(request)

    def test_has_a_conflict_if_another_writer_was_faster(self, managed: Space) -> None:
        self.listed(managed)
        with pickled(managed) as other:
            other.create_table_version(staged(managed, "points", 2))
        with pytest.raises(ns.ConcurrentModificationError):
            managed.namespace.create_table_version(staged(managed, "points", 2))
        assert versions_of(managed, "points") == [1, 2]

    def test_has_a_conflict_also_if_the_other_writer_has_not_published_yet(self, managed: Space) -> None:
        self.listed(managed)
        mine, theirs = staged(managed, "points", 2), staged(managed, "points", 2)
        table = managed.namespace.client.table(tuple(managed.id("points")))
        committed = {"version": "2", "lance.manifest_path": theirs.manifest_path.rpartition("/")[2]}
        self.altered(managed, parameters={**table.parameters, **committed})
        with pytest.raises(ns.ConcurrentModificationError):
            managed.namespace.create_table_version(mine)
        assert versions_of(managed, "points") == [1, 2]


def test_a_server_that_returns_other_definitions_than_it_stores_gets_commits_too(tmp_path: Path) -> None:
    def shown(value: Any, _: str | None) -> Any:
        return replace(value, parameters={**value.parameters, "seen": str(uuid.uuid4())})

    memory = in_memory(MemoryCatalog(name="shown"))
    try:
        with metastored.connect(handler=Hooked(memory.handler, shown, None), cache=False) as client:
            space = Space(Hive2Namespace(client, managed_by="impl", root=str(tmp_path)), ["d"], tmp_path, "")
            space.namespace.create_namespace(ns.CreateNamespaceRequest(id=["d"]))
            space.create("points")
            assert appended(space).count_rows() == 6
            assert version_of(space, "points") == "2"
    finally:
        memory.close()


class TestALostReply:
    """The server committed, and the writer does not know."""

    def test_is_looked_up_and_the_commit_is_done_once(self, own_server: Any, tmp_path: Path) -> None:
        with lossy(own_server.port) as relay:
            with new_space(f"thrift://127.0.0.1:{relay.port}", "hive2", tmp_path, "impl") as space:
                space.create("points")
                relay.lose(ALTER)
                appended(space)
                assert relay.lost == 1
                assert appended(space).count_rows() == 9
                assert versions_of(space, "points") == [1, 2, 3]

    def test_is_looked_up_also_after_another_writer_has_committed(self, own_server: Any, tmp_path: Path) -> None:
        with lossy(own_server.port) as relay, opened(own_server.uri, "hive2", tmp_path, "impl") as other:
            with new_space(f"thrift://127.0.0.1:{relay.port}", "hive2", tmp_path, "impl") as space:
                space.create("points")

                def commit() -> None:
                    relay.after = None
                    lance.write_dataset(POINTS, namespace_client=other, table_id=space.id("points"), mode="append")

                relay.lose(ALTER)
                relay.after = commit
                appended(space)
                assert relay.lost == 1
                assert lance.dataset(namespace_client=other, table_id=space.id("points")).count_rows() == 9
                assert versions_of(space, "points") == [1, 2, 3]

    def test_of_every_attempt_is_a_service_that_is_not_available(self, own_server: Any, tmp_path: Path) -> None:
        with lossy(own_server.port) as relay:
            with new_space(f"thrift://127.0.0.1:{relay.port}", "hive2", tmp_path, "impl") as space:
                space.create("points")
                request = staged(space, "points", 2)
                relay.lose(ALTER, 100)
                relay.lose("get_table", 1000)
                with pytest.raises(ns.ServiceUnavailableError):
                    space.namespace.create_table_version(request)


def test_the_error_of_a_commit_is_that_of_the_operation(own_server: Any, tmp_path: Path) -> None:
    with lossy(own_server.port) as relay:
        with new_space(f"thrift://127.0.0.1:{relay.port}", "hive2", tmp_path, "impl") as space:
            space.create("points")
            table = space.namespace.client.table((space.name, "points"))
            broken = replace(table, parameters={**table.parameters, "version": "newest"})
            insert = ns.InsertIntoTableRequest(id=space.id("points"))
            with pytest.raises(ns.ServiceUnavailableError, match=ALTER):
                relay.lose(ALTER, 100)
                relay.after = lambda: relay.lose("get_table", 100)
                space.namespace.insert_into_table(insert, stream(POINTS))
    with opened(own_server.uri, "hive2", tmp_path, "impl") as direct:
        direct.client.alter((space.name, "points"), broken)
        with pytest.raises(ns.InvalidTableStateError, match="newest"):
            direct.insert_into_table(insert, stream(POINTS))


class TestACrash:
    """The writer died between the conditional update and the publication of its manifest."""

    def crashed(self, space: Space) -> Path:
        """Commits version 2 in the metastore and leaves its manifest staged; returns the final path."""
        space.create("points")
        appended(space)
        final = Path(space.root) / f"{space.name}.db" / "points" / "_versions" / final_name(2)
        table = space.namespace.client.table(tuple(space.id("points")))
        final.rename(final.with_name(table.parameters["lance.manifest_path"]))
        return final

    def test_is_repaired_by_the_next_reader(self, managed: Space) -> None:
        final = self.crashed(managed)
        dataset = lance.dataset(namespace_client=managed.namespace, table_id=managed.id("points"))
        assert (dataset.version, dataset.count_rows()) == (2, 6)
        assert final.exists()
        assert lance.dataset(final.parent.parent).version == 2

    def test_is_repaired_by_a_list_of_versions(self, managed: Space) -> None:
        self.crashed(managed)
        assert versions_of(managed, "points") == [1, 2]

    def test_is_repaired_by_the_next_writer(self, managed: Space) -> None:
        self.crashed(managed)
        assert appended(managed).count_rows() == 9
        assert versions_of(managed, "points") == [1, 2, 3]
        versions = managed.root / f"{managed.name}.db" / "points" / "_versions"
        assert len(list(versions.glob("*.manifest*"))) == 3

    def test_is_repaired_by_a_commit_itself(self, managed: Space) -> None:
        final = self.crashed(managed)
        table = managed.namespace.client.table(tuple(managed.id("points")))
        shutil.copy(final.with_name(table.parameters["lance.manifest_path"]), final)
        request = staged(managed, "points", 3)
        final.unlink()
        assert managed.namespace.create_table_version(request).version.version == 3
        assert final.exists()


def test_versions_that_were_cleaned_up_are_not_there(managed: Space) -> None:
    managed.create("points")
    appended(managed)
    appended(managed)
    location = managed.root / f"{managed.name}.db" / "points" / "_versions"
    (location / final_name(1)).unlink()
    assert versions_of(managed, "points") == [2, 3]
    with pytest.raises(ns.TableVersionNotFoundError):
        managed.namespace.describe_table_version(ns.DescribeTableVersionRequest(id=managed.id("points"), version=1))


def test_a_version_that_the_metastore_does_not_know_is_adopted_and_never_overwritten(managed: Space) -> None:
    managed.create("points")
    location = managed.root / f"{managed.name}.db" / "points"
    lance.write_dataset(POINTS, location, mode="append")
    assert version_of(managed, "points") == "1"
    assert appended(managed).count_rows() == 9
    assert version_of(managed, "points") == "3"


def test_a_version_that_somebody_set_back_is_found_again(managed: Space) -> None:
    managed.create("points")
    before = managed.namespace.client.table(tuple(managed.id("points")))
    appended(managed)
    managed.namespace.client.alter(tuple(managed.id("points")), before)
    assert version_of(managed, "points") == "1"
    dataset = lance.dataset(namespace_client=managed.namespace, table_id=managed.id("points"))
    assert dataset.count_rows() == 6
    assert version_of(managed, "points") == "2"


def test_the_metastore_gets_the_columns_of_a_changed_schema(managed: Space) -> None:
    managed.create("points")
    dataset = lance.dataset(namespace_client=managed.namespace, table_id=managed.id("points"))
    dataset.add_columns({"twice": "id * 2"})
    table = managed.namespace.client.table(tuple(managed.id("points")))
    assert [column.name for column in table.sd.cols] == ["id", "name", "vector", "twice"]
    dataset.drop_columns(["name"])
    table = managed.namespace.client.table(tuple(managed.id("points")))
    assert table.parameters["version"] == "3"


def test_a_table_that_was_dropped_during_a_commit_is_not_found(managed: Space) -> None:
    managed.create("points")
    request = staged(managed, "points", 2)
    managed.namespace.deregister_table(ns.DeregisterTableRequest(id=managed.id("points")))
    with pytest.raises(ns.TableNotFoundError):
        managed.namespace.create_table_version(request)


def test_a_copy_in_another_process_commits_to_the_same_table(managed: Space) -> None:
    managed.create("points")
    with pickled(managed) as copy:
        assert isinstance(copy, Hive2Namespace)
        lance.write_dataset(POINTS, namespace_client=copy, table_id=managed.id("points"), mode="append")
    assert version_of(managed, "points") == "2"


def test_a_commit_keeps_what_others_have_set(managed: Space) -> None:
    managed.create("points")
    table = managed.namespace.client.table(tuple(managed.id("points")))
    managed.namespace.client.alter(
        tuple(managed.id("points")), replace(table, parameters={**table.parameters, "note": "kept"})
    )
    appended(managed)
    assert managed.namespace.client.table(tuple(managed.id("points"))).parameters["note"] == "kept"


def test_a_server_is_probed_once_for_the_new_tables_of_a_database(managed: Space) -> None:
    calls = managed.namespace.client.api
    managed.namespace.declare_table(ns.DeclareTableRequest(id=managed.id("one")))
    before = calls.calls
    managed.namespace.declare_table(ns.DeclareTableRequest(id=managed.id("two")))
    declared = calls.calls - before
    with type(managed.namespace)(managed.namespace.client, managed.namespace.checked, managed_by="impl") as other:
        before = calls.calls
        other.declare_table(ns.DeclareTableRequest(id=managed.id("three")))
        assert calls.calls - before <= declared + 1  # Without a root, the location of the database is read.
    assert managed.namespace.client.tables(managed.name) == ("one", "three", "two")
