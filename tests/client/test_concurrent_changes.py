"""Changes of tables and partitions while others change them too: nothing that somebody else changed is undone."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any, TypeVar

import pytest

import metastored
from metastored.errors import MetaException
from metastored.model.conditions import CHANGES_ONLY
from metastored.wire.generated.common import EnvironmentContext, FieldSchema, Table
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.support.driven import connected
from tests.support.forks import running_server


@pytest.fixture(scope="module", params=["2.3", "3.1", "4.2"])
def uri(request: pytest.FixtureRequest) -> Iterator[str]:
    with running_server(compat=request.param) as running:
        yield running.uri


@pytest.fixture
def client(uri: str, half: str) -> Iterator[Any]:
    with connected(half, uri, user="ann", cache=False) as found:
        yield found


@pytest.fixture
def name(client: Any) -> str:
    db = f"changes_{uuid.uuid4().hex[:12]}"
    client.create_database(db)
    client.create_table(metastored.table(f"{db}.t", {"id": "bigint"}, partitioned_by={"ds": "string"}))
    client.add_partitions(f"{db}.t", [("1",), ("2",)])
    return f"{db}.t"


T = TypeVar("T", Table, Partition)


class Meanwhile:
    """Something that another client does at the first call."""

    def __init__(self, uri: str, work: Any) -> None:
        self._uri, self._work, self.calls = uri, work, 0

    def __call__(self) -> None:
        self.calls += 1
        if self.calls == 1:
            with metastored.connect(self._uri, user="bob") as other:
                self._work(other)


def with_parameters(each: T, **new: str) -> T:
    return replace(each, parameters={**(each.parameters or {}), **new})


def columns_of(table: Table) -> list[str | None]:
    return [each.name for each in (table.sd.cols if table.sd is not None else None) or ()]


@pytest.mark.parametrize("other", ["parameter", "column", "owner"])
def test_a_change_of_a_table_keeps_what_others_change_meanwhile(uri: str, client: Any, name: str, other: str) -> None:
    def work(another: metastored.Client) -> None:
        if other == "parameter":
            another.set_parameters(name, theirs="1")
        elif other == "column":
            another.add_columns(name, {"more": "string"})
        else:
            another.alter(name, replace(another.table(name), owner="bob"))

    meanwhile = Meanwhile(uri, work)

    def change(table: Table) -> Table:
        meanwhile()
        return with_parameters(table, ours="2")

    client.change_table(name, change)
    found = client.fresh_table(name)
    assert meanwhile.calls == 2, "it was refused, read again and repeated"
    assert (found.parameters or {}).get("ours") == "2"
    match other:
        case "parameter":
            assert (found.parameters or {}).get("theirs") == "1"
        case "column":
            assert columns_of(found) == ["id", "more"]
        case _:
            assert found.owner == "bob"


def test_new_columns_and_a_new_name_keep_what_others_change_meanwhile(uri: str, client: Any, name: str) -> None:
    meanwhile = Meanwhile(uri, lambda other: other.set_parameters(name, theirs="1"))

    def added(table: Table) -> Table:
        meanwhile()
        assert table.sd is not None
        return replace(table, sd=replace(table.sd, cols=(*(table.sd.cols or ()), FieldSchema("ours", "int"))))

    client.change_table(name, added)
    assert columns_of(client.fresh_table(name)) == ["id", "ours"]

    again = Meanwhile(uri, lambda other: other.set_parameters(name, theirs="2"))

    def renamed(table: Table) -> Table:
        again()
        return replace(table, tableName="u")

    client.change_table(name, renamed)
    found = client.fresh_table(name.replace(".t", ".u"))
    assert (found.parameters or {}).get("theirs") == "2" and meanwhile.calls == again.calls == 2


def test_a_change_of_partitions_keeps_what_others_change_meanwhile(uri: str, client: Any, name: str) -> None:
    def work(other: metastored.Client) -> None:
        database, _, table = name.partition(".")
        part = with_parameters(other.partition(name, ("2",)), theirs="1")
        assert part.sd is not None
        moved = replace(part, sd=replace(part.sd, location=f"{part.sd.location}_moved"))
        other.api.alter_partition(database, table, moved)

    meanwhile = Meanwhile(uri, work)

    def change(part: Partition) -> Partition:
        meanwhile()
        return with_parameters(part, ours="2")

    client.change_partitions(name, ["ds=1", "ds=2", "ds=3"], change)
    one, two = (client.partition(name, (each,)) for each in ("1", "2"))
    assert [(each.parameters or {}).get("ours") for each in (one, two)] == ["2", "2"]
    assert (two.parameters or {}).get("theirs") == "1" and two.sd.location.endswith("_moved")


def test_the_helpers_of_the_client_are_conditional(client: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the read and the alter of each of them, a parameter is set."""
    inner = getattr(client, "_inner", client)
    count = 0

    class Sneaking:
        def __init__(self, api: Any) -> None:
            self._api = api

        def __getattr__(self, method: str) -> Any:
            nonlocal count
            if method == "alter_table_with_environment_context" and count == 0:
                count += 1
                with metastored.connect(inner.uri, user="bob") as other:
                    other.alter(name, with_parameters(other.table(name), theirs="1"))
            return getattr(self._api, method)

    monkeypatch.setattr(inner, "api", Sneaking(inner.api))
    client.set_parameters(name, ours="2")
    found = client.fresh_table(name).parameters or {}
    assert (count, found.get("theirs"), found.get("ours")) == (1, "1", "2")


@pytest.mark.parametrize("by", ["alter", "set_parameters"])
def test_a_change_with_an_expected_value_is_refused_after_somebody_elses(
    uri: str, client: Any, name: str, by: str
) -> None:
    def commit(expected: str, new: str) -> None:
        if by == "alter":
            client.alter(name, with_parameters(client.table(name), version=new), expected=("version", expected))
        else:
            client.set_parameters(name, {"version": new}, expected=("version", expected))

    client.set_parameters(name, version="1")
    commit("1", "2")
    with metastored.connect(uri, user="bob") as other:
        other.set_parameters(name, version="7")
    with pytest.raises(MetaException, match="The table has been modified"):
        commit("2", "3")
    assert client.table(name).parameters["version"] == "7"


def test_without_a_cache_a_client_sees_the_changes_of_others_at_once(uri: str, half: str, name: str) -> None:
    with connected(half, uri) as client, metastored.connect(uri) as other:
        for number in ("1", "2"):
            other.set_parameters(name, number=number)
            assert client.table(name).parameters["number"] == number
        assert client.cache_stats() is None


def test_a_condition_that_never_holds_is_left_out_if_nobody_else_changes_the_table(client: Any, name: str) -> None:
    """The names of a condition are separated by commas, so it cannot name this parameter."""
    client.set_parameters(name, {"a,b": "1"})
    assert (client.fresh_table(name).parameters or {}).get("a,b") == "1"


def test_metastored_refuses_partitions_that_are_not_those_that_were_read(client: Any, name: str) -> None:
    database, _, table = name.partition(".")
    old = client.partition(name, ("1",))
    client.api.alter_partition(database, table, with_parameters(old, theirs="1"))
    context = EnvironmentContext(properties={CHANGES_ONLY: "ours"})
    changed = (with_parameters(old, ours="2"),)
    with pytest.raises(MetaException, match=r"The partition has been modified.*ours \(ds=1\)"):
        client.api.alter_partitions_with_environment_context(database, table, changed, context)
    assert "ours" not in (client.partition(name, ("1",)).parameters or {})
