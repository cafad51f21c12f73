"""Capabilities: detected on old servers and on servers in between, and cached."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from metastored.client.versions import FEATURES, HiveVersion, parse_version
from metastored.errors import ApplicationError, ErrorKind, MethodMissing, NotSupported, kind_of
from metastored.hive.generation import Generation
from metastored.wire.generated.locks import ShowLocksRequest, ShowLocksResponse
from metastored.wire.generated.transactions import GetValidWriteIdsRequest, GetValidWriteIdsResponse
from tests.client.handlers import WritableMetastore, table_of
from tests.support.driven import connected
from tests.support.scripted import scripted


class Hive20(WritableMetastore):
    """As Hive 2.0 to 2.2: no request structs, no bulk calls."""

    get_table_req = None  # type: ignore[assignment]
    get_table_objects_by_name_req = None  # type: ignore[assignment]

    def getVersion(self) -> str:
        return "3.0"

    def show_locks(self, request: ShowLocksRequest) -> ShowLocksResponse:
        return ShowLocksResponse(locks=())


class Hive401(WritableMetastore):
    """As Hive 4.0.1: `get_table` is gone."""

    get_table = None  # type: ignore[assignment]

    def getVersion(self) -> str:
        return "4.0.1"

    def get_table_req(self, request: Any) -> Any:
        from metastored.wire.generated.tables import GetTableResult

        return GetTableResult(table=self.made[request.dbName, request.tblName])


def tables(count: int = 3) -> tuple[Any, ...]:
    return tuple(table_of("sales", f"t{at}") for at in range(count))


def test_without_bulk_calls_tables_are_read_one_by_one(half: str) -> None:
    there = Hive20(tables())
    with connected(half, handler=there, cache=False) as client:
        assert client.capabilities.version() == HiveVersion(2, 0)
        assert client.capabilities.generation() is Generation.HIVE_2_3
        assert sorted(table.tableName for table in client.table_objects("sales")) == ["t0", "t1", "t2"]
        assert not client.capabilities.has_bulk_operations()


def test_a_method_that_a_server_does_not_have_is_not_called_twice(half: str) -> None:
    there = Hive20(tables())
    with connected(half, handler=there, cache=False) as client:
        for _ in range(3):
            client.table("sales.t0")
        assert there.called == ["get_table_req", "get_table", "get_table", "get_table"]


def test_without_get_table_the_request_form_is_used(half: str) -> None:
    with connected(half, handler=Hive401(tables()), cache=False) as client:
        assert client.table("sales.t0").tableName == "t0"
        assert client.capabilities.version() == HiveVersion(4, 0, 1)
        assert client.capabilities.generation() is Generation.HIVE_4_0


def test_a_server_with_neither_form_of_a_call_is_an_error_that_names_both(half: str) -> None:
    class Neither(WritableMetastore):
        get_table = None  # type: ignore[assignment]
        get_table_req = None  # type: ignore[assignment]

    with connected(half, handler=Neither(), cache=False) as client:
        for _ in range(2):
            with pytest.raises(NotSupported, match="neither get_table_req nor get_table"):
                client.table("sales.t0")


def test_a_method_that_fails_for_another_reason_exists(half: str) -> None:
    class Grumpy(WritableMetastore):
        def get_valid_write_ids(self, request: GetValidWriteIdsRequest) -> GetValidWriteIdsResponse:
            raise RuntimeError("not today")

        async def handle(self, call: Any, session: Any) -> Any:
            from metastored.wire.message import Reply

            try:
                return await super().handle(call, session)
            except RuntimeError as error:
                return Reply.raised(call.method, error)

    with connected(half, handler=Grumpy(), cache=False) as client:
        assert client.capabilities.has_acid_transactions()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4.0.0", HiveVersion(4, 0, 0)),
        ("4.1.0-SNAPSHOT", HiveVersion(4, 1, 0)),
        ("3.0", HiveVersion(3, 0)),
        ("Unknown", None),
        (None, None),
    ],
)
def test_versions_are_parsed(text: str | None, expected: HiveVersion | None) -> None:
    assert parse_version(text) == expected


def test_each_version_has_a_generation(half: str) -> None:
    class Newer(WritableMetastore):
        said = "4.2.0"

        def getVersion(self) -> str:
            return self.said

        def get_metastore_db_uuid(self) -> str:
            return "1"

    with connected(half, handler=Newer(), cache=False) as client:
        assert client.capabilities.generation() is Generation.HIVE_4_2
    older = Newer()
    older.said = "3.0"
    with connected(half, handler=older, cache=False) as client:
        assert client.capabilities.version() == HiveVersion(3, 0)
        assert client.capabilities.generation() is Generation.HIVE_3_1


def test_there_are_twelve_features(half: str) -> None:
    assert len(FEATURES) == 12
    with connected(half, handler=WritableMetastore(), cache=False) as client:
        for feature in FEATURES:
            assert getattr(client.capabilities, f"has_{feature}")() in (True, False)


def test_an_error_other_than_an_unknown_method_is_passed_on(half: str) -> None:
    class Broken(WritableMetastore):
        async def handle(self, call: Any, session: Any) -> Any:
            from metastored.wire.message import Reply

            return Reply.raised(call.method, ApplicationError(ApplicationError.INTERNAL_ERROR, "it broke"))

    with connected(half, handler=Broken(), cache=False) as client:
        for ask in (
            lambda: client.table("sales.t0"),
            lambda: list(client.partitions("sales.t0", where="ds = '1'")),
            lambda: list(client.partitions("sales.t0")),
        ):
            with pytest.raises(ApplicationError, match="it broke"):
                ask()


def test_capabilities_are_detected_for_each_address(half: str) -> None:
    """Servers are upgraded one after the other: each form is missing at one of them."""
    old, new = Hive20(tables()), Hive401(tables())
    with scripted(new) as second:
        with scripted(old) as first:
            with connected(half, [first.uri, second.uri], cache=False) as client:
                assert client.table("sales.t0").tableName == "t0"
                assert client.capabilities.version() == HiveVersion(2, 0)
                first.close()
                assert client.table("sales.t0").tableName == "t0"
                assert client.capabilities.version() == HiveVersion(4, 0, 1)
                assert client.table("sales.t0").tableName == "t0"
    assert old.called.count("get_table_req") == 1
    assert new.called.count("get_table") <= 1, "the call during which the first one died"


def test_a_server_that_is_replaced_at_its_address_is_detected(half: str) -> None:
    there: Any = Hive20(tables())

    class Either:
        async def handle(self, call: Any, session: Any) -> Any:
            return await there.handle(call, session)

    with connected(half, handler=Either(), cache=False) as client:
        assert client.table("sales.t0").tableName == "t0"
        there = Hive401(tables())
        for _ in range(2):
            assert client.table("sales.t0").tableName == "t0"


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("get_fields", "every version of Hive from 2.3 on has it"),
        ("get_catalogs", "Hive has it since 3.1"),
        ("get_table_objects_by_name", "Hive has it from 2.3 to 4.0.0"),
        ("add_index", "only Hive 2.3 has it"),
        ("update_table_params", "no release of Hive has it yet"),
    ],
)
def test_the_error_for_a_missing_method_names_the_versions_that_have_it(half: str, method: str, told: str) -> None:
    class Lacking(WritableMetastore):
        get_table_objects_by_name = None  # type: ignore[assignment]

    with connected(half, handler=Lacking(), cache=False) as client:
        with pytest.raises(MethodMissing) as raised:
            client.api.call(method)
    assert str(raised.value) == f"the metastore at this process has no {method}; {told}"
    assert isinstance(raised.value, NotSupported)
    assert isinstance(raised.value, ApplicationError)
    assert kind_of(raised.value) is ErrorKind.NOT_SUPPORTED
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
