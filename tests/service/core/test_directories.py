"""Directories of objects that are being created: kept, removed after a failure, or left to a concurrent call."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from metastored.service.core.directories import NewDirectory
from metastored.store.warehouse.directories import Warehouse

Owned = Callable[[], Collection[str | None]]


class Refused(Exception):
    """Why an object was not created."""


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    (tmp_path / "one.db").mkdir()
    return Warehouse(f"file:{tmp_path}")


def _refused(warehouse: Warehouse, owned: Owned, *places: str) -> None:
    """Creates directories for objects that are then not created."""
    with pytest.raises(Refused), NewDirectory(warehouse, owned) as made:
        for place in places:
            made.make(f"{warehouse.root}/{place}")
        raise Refused


def _there(warehouse: Warehouse) -> set[str]:
    root = Path(warehouse.root.removeprefix("file:"))
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def test_a_directory_of_a_failed_call_is_removed_and_an_existing_one_stays(warehouse: Warehouse) -> None:
    _refused(warehouse, tuple, "one.db/t", "one.db/t/k=1")
    assert _there(warehouse) == {"one.db"}


def test_new_directories_above_it_are_removed_too(warehouse: Warehouse) -> None:
    _refused(warehouse, tuple, "two.db/t", "three.db/t/k=1/l=2", "three.db/t/k=1/l=3")
    assert _there(warehouse) == {"one.db"}


def test_directories_of_existing_objects_stay(warehouse: Warehouse) -> None:
    _refused(warehouse, lambda: {f"{warehouse.root}/two.db"}, "two.db/t")
    assert _there(warehouse) == {"one.db", "two.db"}


def test_directories_that_are_not_empty_stay(warehouse: Warehouse) -> None:
    with pytest.raises(Refused), NewDirectory(warehouse, tuple) as made:
        made.make(f"{warehouse.root}/two.db/t")
        Path(warehouse.root.removeprefix("file:"), "two.db", "other").mkdir()
        raise Refused
    assert _there(warehouse) == {"one.db", "two.db", "two.db/other"}


def test_a_directory_of_an_object_created_during_the_rollback_is_recreated(warehouse: Warehouse) -> None:
    replies = iter([set[str](), {f"{warehouse.root}/two.db"}])
    _refused(warehouse, lambda: next(replies), "two.db/t")
    assert _there(warehouse) == {"one.db", "two.db"}


@pytest.mark.parametrize("dropped", [False, True])
def test_a_kept_directory_is_recreated_unless_its_object_was_dropped(warehouse: Warehouse, dropped: bool) -> None:
    """A concurrent call that failed may remove the directory; one that drops the object removes it."""
    place = f"{warehouse.root}/two.db/t"
    with NewDirectory(warehouse, lambda: () if dropped else {place, f"{warehouse.root}/two.db"}) as made:
        made.make(place)
        shutil.rmtree(Path(warehouse.root.removeprefix("file:"), "two.db"))
        made.keep()
    assert _there(warehouse) == ({"one.db"} if dropped else {"one.db", "two.db", "two.db/t"})


def test_a_directory_without_possible_owners_is_kept(warehouse: Warehouse) -> None:
    with NewDirectory(warehouse) as made:
        made.make(f"{warehouse.root}/catalog")
        made.keep()
    assert _there(warehouse) == {"one.db", "catalog"}
