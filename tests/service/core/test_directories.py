"""Directories of objects that are being created: kept, taken back, or left to those who were faster."""

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
    """Makes directories for what is then not created."""
    with pytest.raises(Refused), NewDirectory(warehouse, owned) as made:
        for place in places:
            made.make(f"{warehouse.root}/{place}")
        raise Refused


def _there(warehouse: Warehouse) -> set[str]:
    root = Path(warehouse.root.removeprefix("file:"))
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def test_what_was_made_for_nothing_goes_and_what_was_there_stays(warehouse: Warehouse) -> None:
    _refused(warehouse, tuple, "one.db/t", "one.db/t/k=1")
    assert _there(warehouse) == {"one.db"}


def test_so_do_directories_above_it_that_had_to_be_made(warehouse: Warehouse) -> None:
    _refused(warehouse, tuple, "two.db/t", "three.db/t/k=1/l=2", "three.db/t/k=1/l=3")
    assert _there(warehouse) == {"one.db"}


def test_those_stay_that_belong_to_somebody_by_now(warehouse: Warehouse) -> None:
    _refused(warehouse, lambda: {f"{warehouse.root}/two.db"}, "two.db/t")
    assert _there(warehouse) == {"one.db", "two.db"}


def test_those_stay_in_which_somebody_put_something(warehouse: Warehouse) -> None:
    with pytest.raises(Refused), NewDirectory(warehouse, tuple) as made:
        made.make(f"{warehouse.root}/two.db/t")
        Path(warehouse.root.removeprefix("file:"), "two.db", "other").mkdir()
        raise Refused
    assert _there(warehouse) == {"one.db", "two.db", "two.db/other"}


def test_what_somebody_comes_to_own_while_it_is_taken_back_is_made_again(warehouse: Warehouse) -> None:
    answers = iter([set[str](), {f"{warehouse.root}/two.db"}])
    _refused(warehouse, lambda: next(answers), "two.db/t")
    assert _there(warehouse) == {"one.db", "two.db"}


@pytest.mark.parametrize("dropped", [False, True])
def test_what_is_kept_is_made_again_unless_it_was_dropped_meanwhile(warehouse: Warehouse, dropped: bool) -> None:
    """Who wanted the same and failed may take the directory back; who drops the object removes it."""
    place = f"{warehouse.root}/two.db/t"
    with NewDirectory(warehouse, lambda: () if dropped else {place, f"{warehouse.root}/two.db"}) as made:
        made.make(place)
        shutil.rmtree(Path(warehouse.root.removeprefix("file:"), "two.db"))
        made.keep()
    assert _there(warehouse) == ({"one.db"} if dropped else {"one.db", "two.db", "two.db/t"})


def test_what_nobody_can_own_is_kept(warehouse: Warehouse) -> None:
    with NewDirectory(warehouse) as made:
        made.make(f"{warehouse.root}/catalog")
        made.keep()
    assert _there(warehouse) == {"one.db", "catalog"}
