"""Versions, tags and indices, of tables by either keeper of versions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import lance_namespace as ns
import pytest

from tests.support.lance import POINTS, Space, stream

pytestmark = pytest.mark.slow


@pytest.fixture
def points(space: Space) -> Space:
    """A namespace with the table `points`, which has five versions."""
    space.create("points")
    for _ in range(4):
        space.namespace.insert_into_table(ns.InsertIntoTableRequest(id=space.id("points")), stream(POINTS))
    return space


def versions(space: Space, **more: Any) -> tuple[list[int], str | None]:
    request = ns.ListTableVersionsRequest(id=space.id("points"), **more)
    page = space.namespace.list_table_versions(request)
    return [version.version for version in page.versions], page.page_token


def test_versions_are_listed_in_either_order_and_in_pages(points: Space) -> None:
    assert versions(points) == ([1, 2, 3, 4, 5], None)
    assert versions(points, descending=True, limit=1)[0] == [5]
    page, token = versions(points, descending=True, limit=2)
    assert page == [5, 4]
    assert versions(points, descending=True, limit=2, page_token=token) == ([3, 2], "2")
    assert versions(points, descending=True, limit=2, page_token="2") == ([1], None)
    with pytest.raises(ns.InvalidInputError, match="page_token"):
        versions(points, page_token="x")


def test_a_version_has_the_path_and_the_size_of_its_manifest(points: Space) -> None:
    request = ns.DescribeTableVersionRequest(id=points.id("points"), version=2)
    found = points.namespace.describe_table_version(request).version
    assert found.manifest_size == Path("/", found.manifest_path).stat().st_size
    newest = points.namespace.describe_table_version(ns.DescribeTableVersionRequest(id=points.id("points")))
    assert newest.version.version == 5


def test_a_declared_table_has_no_versions(space: Space) -> None:
    space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("points")))
    assert versions(space) == ([], None)
    with pytest.raises(ns.TableVersionNotFoundError):
        space.namespace.describe_table_version(ns.DescribeTableVersionRequest(id=space.id("points")))


def test_ranges_of_versions_are_deleted_except_the_newest_and_tagged_ones(points: Space) -> None:
    id = points.id("points")
    points.namespace.create_table_tag(ns.CreateTableTagRequest(id=id, tag="kept", version=2))
    deleted = points.namespace.batch_delete_table_versions(
        ns.BatchDeleteTableVersionsRequest.from_dict({"id": id, "ranges": [{"start_version": 1, "end_version": 4}]})
    )
    assert (deleted.deleted_count, versions(points)[0]) == (2, [2, 4, 5])
    everything = {"id": id, "ranges": [{"start_version": 0, "end_version": -1}]}
    deleted = points.namespace.batch_delete_table_versions(ns.BatchDeleteTableVersionsRequest.from_dict(everything))
    assert (deleted.deleted_count, versions(points)[0]) == (1, [2, 5])
    assert points.namespace.count_table_rows(ns.CountTableRowsRequest(id=id)).count == 15
    with pytest.raises(ns.InvalidInputError, match="range"):
        backwards = {"id": id, "ranges": [{"start_version": 3, "end_version": 1}]}
        points.namespace.batch_delete_table_versions(ns.BatchDeleteTableVersionsRequest.from_dict(backwards))


def test_opening_a_managed_table_asks_the_namespace_once(managed: Space) -> None:
    managed.create("points")
    calls: list[str] = []
    for name in ("list_table_versions", "describe_table_version", "create_table_version"):
        original = getattr(managed.namespace, name)

        def counted(request: object, name: str = name, original: object = original) -> object:
            calls.append(name)
            assert callable(original)
            return original(request)

        setattr(managed.namespace, name, counted)
    lance.dataset(namespace_client=managed.namespace, table_id=managed.id("points"))
    assert calls == ["list_table_versions"]
    calls.clear()
    lance.dataset(namespace_client=managed.namespace, table_id=managed.id("points"), version=1)
    assert calls == ["describe_table_version"]
    calls.clear()
    lance.write_dataset(POINTS, namespace_client=managed.namespace, table_id=managed.id("points"), mode="append")
    assert calls.count("create_table_version") == 1


def test_tags_are_created_moved_listed_and_deleted(points: Space) -> None:
    id, space = points.id("points"), points.namespace
    space.create_table_tag(ns.CreateTableTagRequest(id=id, tag="a", version=1))
    space.create_table_tag(ns.CreateTableTagRequest(id=id, tag="b", version=2))
    with pytest.raises(ns.TableTagAlreadyExistsError):
        space.create_table_tag(ns.CreateTableTagRequest(id=id, tag="a", version=2))
    space.update_table_tag(ns.UpdateTableTagRequest(id=id, tag="a", version=3))
    assert space.get_table_tag_version(ns.GetTableTagVersionRequest(id=id, tag="a")).version == 3
    tags = space.list_table_tags(ns.ListTableTagsRequest(id=id)).tags
    assert {name: tag.version for name, tag in tags.items()} == {"a": 3, "b": 2}
    assert list(space.list_table_tags(ns.ListTableTagsRequest(id=id, limit=1)).tags) == ["a"]
    space.delete_table_tag(ns.DeleteTableTagRequest(id=id, tag="a"))
    calls: list[Callable[[], Any]] = [
        lambda: space.get_table_tag_version(ns.GetTableTagVersionRequest(id=id, tag="a")),
        lambda: space.update_table_tag(ns.UpdateTableTagRequest(id=id, tag="a", version=1)),
        lambda: space.delete_table_tag(ns.DeleteTableTagRequest(id=id, tag="a")),
    ]
    for call in calls:
        with pytest.raises(ns.TableTagNotFoundError):
            call()


def test_scalar_indices_are_created_listed_described_and_dropped(points: Space) -> None:
    id, space = points.id("points"), points.namespace
    request = ns.CreateTableIndexRequest(id=id, column="id", index_type="BTREE", name="by_id")
    space.create_table_scalar_index(request)
    with pytest.raises(ns.TableIndexAlreadyExistsError):
        space.create_table_scalar_index(request)
    space.insert_into_table(ns.InsertIntoTableRequest(id=id), stream(POINTS))
    (index,) = space.list_table_indices(ns.ListTableIndicesRequest(id=id)).indexes
    assert (index.index_name, index.columns, index.num_indexed_rows) == ("by_id", ["id"], 15)
    stats = space.describe_table_index_stats(ns.DescribeTableIndexStatsRequest(id=id, index_name="by_id"))
    assert (stats.index_type, stats.num_indexed_rows, stats.num_unindexed_rows) == ("BTree", 15, 3)
    space.drop_table_index(ns.DropTableIndexRequest(id=id, index_name="by_id"))
    with pytest.raises(ns.TableIndexNotFoundError):
        space.drop_table_index(ns.DropTableIndexRequest(id=id, index_name="by_id"))
    with pytest.raises(ns.TableIndexNotFoundError):
        space.describe_table_index_stats(ns.DescribeTableIndexStatsRequest(id=id, index_name="by_id"))


def test_an_index_of_vectors_is_created(points: Space) -> None:
    id, space = points.id("points"), points.namespace
    request = ns.CreateTableIndexRequest(
        id=id, column="vector", index_type="IVF_FLAT", num_partitions=1, distance_type="l2"
    )
    space.create_table_index(request)
    (index,) = space.list_table_indices(ns.ListTableIndicesRequest(id=id)).indexes
    assert (index.index_name, index.columns) == ("vector_idx", ["vector"])
    stats = space.describe_table_index_stats(ns.DescribeTableIndexStatsRequest(id=id, index_name="vector_idx"))
    assert stats.distance_type == "l2"
    for kind in ("WHAT", ""):
        with pytest.raises(ns.InvalidInputError, match="index_type"):
            space.create_table_index(ns.CreateTableIndexRequest(id=id, column="id", index_type=kind))


def test_the_statistics_of_a_table_count_rows_and_fragments(points: Space) -> None:
    stats = points.namespace.get_table_stats(ns.GetTableStatsRequest(id=points.id("points")))
    assert (stats.num_rows, stats.num_indices) == (15, 0)
    assert stats.total_bytes > 0
    assert (stats.fragment_stats.num_fragments, stats.fragment_stats.lengths.max) == (5, 3)
