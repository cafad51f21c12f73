"""Locations as Hadoop understands them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.hive import locations


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("file:///x", "file:/x"),
        ("file:/x/", "file:/x"),
        ("FILE:/x//y", "file:/x/y"),
        ("/a/./b/../c", "/a/c"),
        ("/../a", "/../a"),
        ("hdfs://nn:8020/a/", "hdfs://nn:8020/a"),
        ("s3a://bucket", "s3a://bucket"),
        ("s3a://bucket/", "s3a://bucket/"),
        ("file:/a%2Fb c", "file:/a%2Fb c"),
        ("relative/x", "relative/x"),
        ("/ds=a:b", "/ds=a:b"),
    ],
)
def test_a_location_has_one_way_to_be_written(text: str, written: str) -> None:
    assert locations.canonical(text) == written
    assert locations.canonical(written) == written


@pytest.mark.parametrize("text", ["", "file:x/y"])
def test_an_invalid_location_is_refused(text: str) -> None:
    with pytest.raises(locations.LocationError, match=r"location cannot be empty|relative path after its scheme"):
        locations.parse_location(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("file:/x", "file:///x"),
        ("file:/x", "/x/"),
        ("hdfs://NN/x", "hdfs://nn/x"),
        ("s3://bucket", "s3://bucket/"),
        ("odd:x", "odd:x"),
    ],
)
def test_one_location_may_be_written_in_two_ways(one: str, other: str) -> None:
    assert locations.same_location(one, other)


@pytest.mark.parametrize(("one", "other"), [("file:/x", "file:/X"), ("hdfs:/x", "file:/x"), ("s3://a", "s3://b")])
def test_other_locations_are_not_the_same(one: str, other: str) -> None:
    assert not locations.same_location(one, other)


@pytest.mark.parametrize(
    ("text", "ancestor", "under"),
    [
        ("file:/w/a", "file:///w", True),
        ("file:/w", "file:/w/", True),
        ("file:/wide", "file:/w", False),
        ("file:/w/../etc", "file:/w", False),
        ("s3://b/x", "s3://b", True),
        ("hdfs:/w/a", "file:/w", False),
    ],
)
def test_a_location_is_below_another_by_complete_segments(text: str, ancestor: str, under: bool) -> None:
    assert locations.is_under(text, ancestor) is under


@pytest.mark.parametrize(
    ("parent", "children", "joined"),
    [
        ("file:///w", ("db.db", "t"), "file:/w/db.db/t"),
        ("file:/", ("t",), "file:/t"),
        ("s3://bucket", ("t",), "s3://bucket/t"),
        ("hdfs://nn/w/", ("ds=a%2Fb/h=1",), "hdfs://nn/w/ds=a%2Fb/h=1"),
        ("/w", (), "/w"),
    ],
)
def test_children_are_joined_below_their_parent(parent: str, children: tuple[str, ...], joined: str) -> None:
    assert locations.join(parent, *children) == joined


def test_an_absolute_child_is_refused() -> None:
    with pytest.raises(locations.LocationError, match="'/etc' is absolute"):
        locations.join("file:/w", "/etc")


@pytest.mark.parametrize(
    ("text", "parent", "name"),
    [
        ("file:///w/t", "file:/w", "t"),
        ("file:/t", "file:/", "t"),
        ("file:/", None, ""),
        ("s3://b/t", "s3://b/", "t"),
        ("s3://b", None, ""),
        ("t", None, "t"),
    ],
)
def test_a_location_has_a_parent_and_a_name(text: str, parent: str | None, name: str) -> None:
    assert locations.parent(text) == parent
    assert locations.name(text) == name


@pytest.mark.parametrize(("text", "local"), [("file:/x", True), ("/x", True), ("hdfs://nn/x", False)])
def test_local_locations_have_the_scheme_file_or_none(text: str, local: bool) -> None:
    assert locations.is_local(text) is local


def test_a_local_location_has_a_path() -> None:
    assert locations.local_path("file:///a%20b/c") == "/a%20b/c"
    assert locations.local_path("file://localhost/a") == "/a"


@pytest.mark.parametrize("text", ["s3://b/x", "file://elsewhere/x"])
def test_a_remote_location_has_no_local_path(text: str) -> None:
    with pytest.raises(locations.LocationError, match="not on the local file system"):
        locations.local_path(text)


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("wh", "file:/home/me/wh"),
        ("../wh", "file:/home/wh"),
        ("/data/wh/", "file:/data/wh"),
        ("file:///data/wh", "file:/data/wh"),
        ("s3a://bucket/wh", "s3a://bucket/wh"),
    ],
)
def test_a_warehouse_typed_by_a_user_becomes_a_uri(text: str, uri: str) -> None:
    assert locations.warehouse_uri(text, "/home/me") == uri


@pytest.mark.parametrize(
    ("text", "root", "stored"),
    [
        ("/x//y/", "file:/w", "file:/x/y"),
        ("/x", "s3a://bucket/w", "s3a://bucket/x"),
        ("file:///x/", "s3a://bucket/w", "file:/x"),
        ("file://localhost/x", "file:/w", "file:/x"),
        ("hdfs://nn:8020/x/../y", "file:/w", "hdfs://nn:8020/y"),
    ],
)
def test_a_location_of_a_client_has_one_stored_form(text: str, root: str, stored: str) -> None:
    assert locations.qualified(text, root) == stored
    assert locations.qualified(stored, root) == stored


@pytest.mark.parametrize("text", ["", "x/y", "./x", "file:x", "//host/x", "file://host/x"])
def test_a_location_that_is_not_absolute_is_refused(text: str) -> None:
    with pytest.raises(locations.LocationError):
        locations.qualified(text, "file:/w")


@pytest.mark.parametrize(
    ("text", "old", "new", "result"),
    [
        ("file:/w/t", "file:/w", "file:/n", "file:/n/t"),
        ("file:///w/t/", "/w/", "s3a://b/n", "s3a://b/n/t/"),
        ("file:/w", "file:/w", "file:/n", "file:/n"),
        ("/w/t", "file:/w", "file:/n", "file:/n/t"),
        ("s3a://b/x/y", "s3a://b", "s3a://c/d", "s3a://c/d/x/y"),
        ("HDFS://NN:8020/w//t", "hdfs://nn:8020/w", "hdfs://mm:8020/w", "hdfs://mm:8020/w/t"),
        ("file:/w/a%2Fb c", "file:/w", "file:/n", "file:/n/a%2Fb c"),
    ],
)
def test_a_location_below_a_moved_directory_moves_with_it(text: str, old: str, new: str, result: str) -> None:
    assert locations.moved(text, old, new) == result


@pytest.mark.parametrize("text", ["file:/w2/t", "file:/", "hdfs:/w/t", "file:/w/../x", "w/t", "", "file:w", "no URI"])
def test_other_locations_do_not_move(text: str) -> None:
    assert locations.moved(text, "file:/w", "file:/n") is None


segments = st.text(st.characters(blacklist_characters="/", blacklist_categories=["Cs"]), min_size=1).filter(
    lambda segment: segment not in (".", "..")
)


@given(st.sampled_from(["file:/w", "hdfs://nn/w", "/w"]), segments)
def test_joining_can_be_undone(parent: str, child: str) -> None:
    joined = locations.join(parent, child)
    assert locations.parent(joined) == parent
    assert locations.name(joined) == child
    assert locations.is_under(joined, parent)
