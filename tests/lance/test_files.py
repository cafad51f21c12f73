"""Manifests, as local files and by Lance's drivers: they are published once, completely, and never over another."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import lance
import lance_namespace as ns
import pytest

from metastored.lance.files import (
    Manifests,
    final_name,
    has_data,
    remove_dataset,
    staged_name,
    version_of_name,
)
from tests.support.lance import POINTS

SCHEMES = ["", "file-object-store://"]
"""Paths, and the same files behind Lance's driver of object stores."""


@pytest.fixture(params=SCHEMES, ids=["local", "object store"])
def manifests(request: pytest.FixtureRequest, tmp_path: Path) -> Manifests:
    (tmp_path / "_versions").mkdir()
    return Manifests(f"{request.param}{tmp_path}", {})


def stage(tmp_path: Path, name: str, content: bytes) -> str:
    (tmp_path / "_versions" / name).write_bytes(content)
    return name


def test_a_staged_manifest_is_published_under_its_final_name(manifests: Manifests, tmp_path: Path) -> None:
    staged = stage(tmp_path, "18446744073709551614.manifest-a", b"one")
    assert manifests.find(1) is None
    assert manifests.publish(staged, 1)
    assert (tmp_path / "_versions" / final_name(1)).read_bytes() == b"one"
    assert not (tmp_path / "_versions" / staged).exists()
    found = manifests.find(1)
    assert found is not None and found.name == "18446744073709551614.manifest"
    assert manifests.path(found.name) == f"{str(tmp_path)[1:]}/_versions/18446744073709551614.manifest"


def test_a_publication_can_be_repeated_but_never_replaces_another_manifest(
    manifests: Manifests, tmp_path: Path
) -> None:
    one, two = stage(tmp_path, f"{final_name(1)}-a", b"one"), stage(tmp_path, f"{final_name(1)}-b", b"two")
    assert manifests.publish(one, 1)
    assert manifests.publish(one, 1)
    assert manifests.is_published(one, 1)
    assert not manifests.publish(two, 1)
    assert not manifests.is_published(two, 1)
    assert (tmp_path / "_versions" / final_name(1)).read_bytes() == b"one"
    stage(tmp_path, f"{final_name(1)}-c", b"one")
    assert manifests.publish(f"{final_name(1)}-c", 1)


def test_a_table_of_the_first_naming_scheme_keeps_it(manifests: Manifests, tmp_path: Path) -> None:
    assert manifests.publish(stage(tmp_path, "1.manifest-a", b"one"), 1)
    found = manifests.find(1)
    assert found is not None and found.name == "1.manifest"


def test_a_manifest_that_is_neither_staged_nor_published_is_not_published(manifests: Manifests) -> None:
    assert not manifests.publish(f"{final_name(1)}-a", 1)
    assert not manifests.is_published(f"{final_name(1)}-a", 1)


def test_versions_of_both_naming_schemes_are_found_and_deleted(manifests: Manifests, tmp_path: Path) -> None:
    stage(tmp_path, final_name(3, "V1"), b"three")
    stage(tmp_path, final_name(4), b"four")
    stage(tmp_path, "5.manifest-a", b"staged")
    assert manifests.versions() == [3, 4]
    assert manifests.delete(3)
    assert not manifests.delete(3)
    assert manifests.versions() == [4]


def test_parts_of_a_manifest_are_read_from_either_end(manifests: Manifests, tmp_path: Path) -> None:
    stage(tmp_path, final_name(1), b"0123456789")
    assert manifests.directory.read(final_name(1), 2, 3) == b"234"
    assert manifests.directory.read(final_name(1), -4, 2) == b"67"
    assert manifests.directory.read("nope", 0, 1) is None


def test_a_file_system_without_links_publishes_by_a_rename(
    manifests: Manifests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    one, two = stage(tmp_path, f"{final_name(1)}-a", b"one"), stage(tmp_path, f"{final_name(1)}-b", b"two")
    assert manifests.publish(one, 1)
    assert not manifests.publish(two, 1)
    assert (tmp_path / "_versions" / final_name(1)).read_bytes() == b"one"


@pytest.mark.parametrize("scheme", SCHEMES, ids=["local", "object store"])
def test_a_dataset_is_found_and_removed(scheme: str, tmp_path: Path) -> None:
    location = f"{scheme}{tmp_path}/points"
    assert not has_data(location, {})
    lance.write_dataset(POINTS, location)
    assert has_data(location, {})
    remove_dataset(location, {})
    assert not has_data(location, {})
    remove_dataset(location, {})


def test_names_of_manifests_are_read() -> None:
    assert version_of_name(final_name(7)) == version_of_name(final_name(7, "V1")) == 7
    assert version_of_name("7.manifest-a") is version_of_name("latest_version_hint.json") is None
    assert staged_name("a/t/_versions/7.manifest-a") == "7.manifest-a"


@pytest.mark.parametrize("path", ["", "7.manifest", "t/7.manifest", "t/_versions/", "t/_versions/..", "t/_versions/x"])
def test_a_path_that_is_no_manifest_of_a_table_is_refused(path: str) -> None:
    with pytest.raises(ns.InvalidInputError, match="manifest_path"):
        staged_name(path)
