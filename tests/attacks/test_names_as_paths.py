"""Names with slashes and dots, which Hive 4 takes, never make or move a directory outside of the warehouse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import metastored
from metastored.errors import Error
from metastored.hive.locations import local_path
from metastored.wire.generated.databases import CreateDatabaseRequest
from metastored.wire.structs import replace
from tests.support.in_process import serving_metastore
from tests.support.postgres import shared_postgres

NAMES = ["x/../../../out", "/../../../out", "../../out", "/out", "..", "a/b", "out/.", "%2e%2e/out", "a\\..\\out"]


class House:
    def __init__(self, uri: str, folder: Path, stack: ExitStack) -> None:
        self.client = stack.enter_context(metastored.connect(uri, cache=False))
        self.folder = folder
        self.warehouse = folder / "warehouse"

    def outside(self) -> list[Path]:
        """The directories that appeared beside the warehouse, and below the root of the machine."""
        beside = {path for path in self.folder.iterdir() if path.name not in ("warehouse", "data")}
        above = {self.folder.parent / "out", self.folder.parent.parent / "out", Path("/out")}
        return sorted(beside | {path for path in above if path.exists()})

    def is_inside(self, location: str | None) -> bool:
        assert location is not None
        return Path(local_path(location)).is_relative_to(self.warehouse) and ".." not in location.split("/")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    folder = tmp_path / "deep" / "house"
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        settings = {}
        if request.param == "postgresql":
            settings["database_url"] = stack.enter_context(shared_postgres().database())
        yield House(stack.enter_context(serving_metastore(folder, **settings)), folder, stack)


def test_no_name_of_a_database_is_a_path(house: House) -> None:
    for name in NAMES:
        try:
            house.client.api.create_database_req(CreateDatabaseRequest(databaseName=name))
        except Error:
            continue
        assert house.is_inside(house.client.api.get_database(name).locationUri), name
        house.client.api.create_table(replace(metastored.table("a.t", {"id": "int"}), dbName=name))
        sd = house.client.api.get_table(name, "t").sd
        assert sd is not None and house.is_inside(sd.location), name
    assert house.outside() == []


def test_no_name_of_a_table_is_a_path(house: House) -> None:
    for name in NAMES:
        try:
            house.client.api.create_table(replace(metastored.table("default.t", {"id": "int"}), tableName=name))
        except Error:
            continue
        sd = house.client.api.get_table("default", name).sd
        assert sd is not None and house.is_inside(sd.location), name
    assert house.outside() == []


def test_no_new_name_of_a_table_moves_it_out(house: House) -> None:
    for number, name in enumerate(NAMES):
        old = f"t{number}"
        house.client.create_table(metastored.table(f"default.{old}", {"id": "int"}))
        table = house.client.api.get_table("default", old)
        try:
            house.client.api.alter_table("default", old, replace(table, tableName=name))
        except Error:
            continue
        renamed = house.client.api.get_table("default", name)
        assert renamed.sd is not None and house.is_inside(renamed.sd.location), name
        assert Path(local_path(renamed.sd.location or "")).is_dir()
        # And back: the directory follows the name.
        house.client.api.alter_table("default", name, replace(renamed, tableName=f"back{number}"))
        sd = house.client.api.get_table("default", f"back{number}").sd
        assert sd is not None and (sd.location or "").endswith(f"/back{number}")
    assert house.outside() == []
