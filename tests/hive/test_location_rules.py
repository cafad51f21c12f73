"""Which locations are accepted, and how locations contain each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.hive.location_rules import (
    LocationIndex,
    accepted,
    archive_directory,
    is_above,
    location_key,
    plain_path,
    relative,
    unaliased,
)
from metastored.hive.locations import LocationError, canonical, is_local, local_path, parse_location

SCHEMES = ("file", "s3a")


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("/x//y/", "file:/x/y"),
        ("file:///x/./y/../z", "file:/x/z"),
        ("local:/x", "file:/x"),
        ("LOCAL:///x", "file:/x"),
        ("file://localhost/x", "file:/x"),
        ("s3a://b/x/../y", "s3a://b/y"),
        ("har://file-localhost/x/data.har", "har://file-localhost/x/data.har"),
        ("/x/..y", "file:/x/..y"),
    ],
)
def test_a_location_is_stored_in_one_form(text: str, stored: str) -> None:
    assert accepted(text, "file:/w", SCHEMES) == stored


@pytest.mark.parametrize(
    "text",
    ["ftp://h/x", "hdfs://h/x", "file:/..", "/../x", "/x/../../y", "s3a://b/../c", "file://h/x", "/x\0", "s3a:x"],
)
def test_other_locations_are_refused(text: str) -> None:
    with pytest.raises(LocationError):
        accepted(text, "file:/w", SCHEMES)


def test_a_location_that_is_never_opened_may_have_any_scheme_but_stays_below_its_root() -> None:
    assert accepted("ftp://h/x/", "file:/w", None) == "ftp://h/x"
    assert accepted("local:/x", "hdfs://n/w", None) == "file:/x"
    assert accepted("/x", "hdfs://n/w", None) == "hdfs://n/x"
    with pytest.raises(LocationError):
        accepted("hdfs://n/../x", "file:/w", None)


def test_a_relative_path_stays_below_its_root() -> None:
    assert relative("file:/w/t", "/k=1") == "file:/w/t/k=1"
    assert relative("file:/w/t/", "/k=1") == "file:/w/t/k=1"
    assert relative("file:/w/t/", "k=1") == "file:/w/t/k=1"
    assert relative("file:/w/t", "") == "file:/w/t"
    for path in ("/..", "/../t2", "2", "k=1", "/a/../../b"):
        with pytest.raises(LocationError):
            relative("file:/w/t", path)


def test_a_location_has_one_key_in_every_spelling() -> None:
    assert len({location_key(text) for text in ("/x", "file:/x/", "file:///x", "local:/x", "file://localhost/x")}) == 1
    assert unaliased("pfile:///x/") == "file:/x"


def test_a_directory_contains_paths_below_it_and_not_paths_with_the_same_prefix() -> None:
    assert is_above("file:/w", "file:///w/t") and is_above("file:/", "/w") and is_above("s3a://b", "s3a://B/t")
    assert not is_above("file:/w", "file:/w2") and not is_above("file:/w", "file:/w") and not is_above("s3a:/w", "/w/t")


def test_items_are_found_at_above_and_below_a_location() -> None:
    items = LocationIndex([("file:/a/b", "b"), ("file:/a/b/c", "c"), ("file:/a2", "a2"), ("file:relative", "lost")])
    assert items.at(location_key("/a/b")) == ["b"]
    assert sorted(items.around(location_key("/a/b"))) == ["c"]
    assert sorted(items.around(location_key("/a/b/c/d"))) == ["b", "c"]
    assert sorted(items.around(location_key("/"))) == ["a2", "b", "c"]
    assert list(items.around(location_key("/a2/x"))) == ["a2"]


def test_the_directory_of_an_archive_is_below_the_table() -> None:
    archive = "har://file-localhost/w/t/k=1/data.har/"
    assert archive_directory(archive, "file:/w/t/k=1", "file:/w/t") == "file:/w/t/k=1"
    assert archive_directory(archive, "file:/elsewhere", "file:/w/t") == "file:/w/t/k=1"
    assert archive_directory(archive, None, "file:/other") is None
    assert archive_directory("file:/w/t", "file:/w/t", "file:/w/t") is None


pieces = st.lists(
    st.sampled_from(["/", "//", ".", "..", ":", "a", "file", "FILE", "%2F", " ", "k=v", "\0", "\udcff", "é"])
)


@given(st.sampled_from(["file:/", "file:", "FILE:/", "local:/", "/", "s3a://b/", ""]), pieces)
def test_a_location_that_is_not_parsed_is_what_parsing_would_make_of_it(start: str, rest: list[str]) -> None:
    text = start + "".join(rest)
    path = plain_path(text)
    if path is None:
        return
    assert (canonical(text), unaliased(text), is_local(text), local_path(text)) == (text, text, True, path)
    assert location_key(text) == (*parse_location(text)[:2], path)


@pytest.mark.parametrize(
    "text", ["file:/", "file:/x/", "file://h/x", "file:///x", "/x", "file:/x/../y", "file:/.x", ""]
)
def test_other_forms_are_parsed(text: str) -> None:
    assert plain_path(text) is None
