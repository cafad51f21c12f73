"""One behaviour suite over many servers: metastored on SQLite and PostgreSQL, the real metastores from 2.3 to 4.1, and
one that lacks what Hive 2.0 to 2.2 did."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

import metastored
from metastored.client.versions import FEATURES
from metastored.errors import (
    DatabaseAlreadyExists,
    DatabaseNotFound,
    ErrorKind,
    LockFailed,
    MetaException,
    NotSupported,
    ObjectNotFound,
    TableAlreadyExists,
    TableNotFound,
    kind_of,
)
from metastored.model.formats import FORMATS, format_of
from metastored.service.core.serving import served
from metastored.wire.generated.common import (
    ColumnStatistics,
    ColumnStatisticsData,
    ColumnStatisticsDesc,
    ColumnStatisticsObj,
    LongColumnStatsData,
    Table,
)
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.client.conftest import Server
from tests.support.driven import connected


def table_of(db: str, name: str, keys: tuple[str, ...] = (), **changes: Any) -> Table:
    table = metastored.table(
        (db, name),
        {"id": ("bigint", "the number"), "price": "decimal(10,2)"},
        partitioned_by=dict.fromkeys(keys, "string"),
        format="textfile",
        owner="ann",
        properties={"made": "here"},
    )
    return replace(table, **changes)


def partition_of(table: Table, *values: str) -> Partition:
    return metastored.partition(table, values)


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_every_server_accepts_a_table_of_metastored_table(client: Any, db: str, format: str) -> None:
    made = metastored.table(
        (db, format),
        {"id": "bigint", "tags": "map<string,array<int>>"},
        partitioned_by={"ds": "string", "h": "int"},
        format=format,
        bucketed_by=("id", 4),
        sorted_by=["id"],
    )
    client.create_table(made)
    stored = client.table((db, format))
    assert made.sd is not None
    assert stored.sd.cols == made.sd.cols
    assert (stored.partitionKeys, stored.sd.bucketCols, stored.sd.numBuckets) == (made.partitionKeys, ("id",), 4)
    assert format_of(stored) == format


def test_partitions_columns_and_names_are_changed_in_one_line_on_every_server(client: Any, db: str) -> None:
    client.create_table(table_of(db, "orders", ("ds", "h")))
    client.add_partitions((db, "orders"), ["ds=1/h=a", {"h": "b", "ds": 1}, ("2", "a b")])
    assert client.partition((db, "orders"), {"ds": "2", "h": "a b"}).values == ("2", "a b")
    client.drop_partition((db, "orders"), "h=a/ds=1")
    client.add_columns((db, "orders"), {"note": "string"}, cascade=True)
    client.rename_table((db, "orders"), "sales")
    assert sorted(client.partition_names((db, "sales"))) == ["ds=1/h=b", "ds=2/h=a b"]
    assert [column.name for column in client.table((db, "sales")).sd.cols] == ["id", "price", "note"]
    assert len(client.partition((db, "sales"), "ds=1/h=b").sd.cols) == 3


def test_a_database_is_created_read_and_dropped(client: Any) -> None:
    name = f"client_{uuid.uuid4().hex[:12]}"
    client.create_database(name)
    assert name in client.databases()
    assert client.databases(f"{name}|no_other") == (name,)
    assert client.database(name).name == name
    with pytest.raises(DatabaseAlreadyExists, match=name) as raised:
        client.create_database(name)
    assert kind_of(raised.value) is ErrorKind.ALREADY_EXISTS
    client.create_database(name, if_not_exists=True)
    client.drop_database(name, cascade=True)
    client.drop_database(name, if_exists=True)
    with pytest.raises(DatabaseNotFound, match=name) as missing:
        client.database(name)
    assert (missing.value.object, missing.value.name) == ("database", name)


def test_a_table_is_created_read_altered_renamed_and_dropped(client: Any, db: str) -> None:
    client.create_table(table_of(db, "t"))
    with pytest.raises(TableAlreadyExists, match=rf"{db}\.t"):
        client.create_table(table_of(db, "t"))
    client.create_table(table_of(db, "t"), if_not_exists=True)
    found = client.table(f"{db}.t")
    assert [(column.name, column.type) for column in found.sd.cols] == [("id", "bigint"), ("price", "decimal(10,2)")]
    assert client.table_exists(f"{db}.t")
    client.set_parameters(f"{db}.t", color="red")
    assert client.table((db, "t")).parameters["color"] == "red"
    assert client.table((db, "t")).parameters["made"] == "here"
    client.alter(f"{db}.t", replace(client.table(f"{db}.t"), tableName="u"))
    assert client.tables(db) == ("u",)
    with pytest.raises(TableNotFound, match=rf"{db}\.t") as missing:
        client.table(f"{db}.t")
    assert kind_of(missing.value) is ErrorKind.NOT_FOUND
    client.drop_table(f"{db}.u")
    client.drop_table(f"{db}.u", if_exists=True)
    with pytest.raises(TableNotFound, match=rf"{db}\.u"):
        client.drop_table(f"{db}.u")


def test_tables_are_listed_by_name_and_as_objects(client: Any, db: str) -> None:
    for number in range(5):
        client.create_table(table_of(db, f"t{number}"))
    assert sorted(client.tables(db)) == [f"t{number}" for number in range(5)]
    assert sorted(client.tables(db, "t1|t3")) == ["t1", "t3"]
    assert sorted(table.tableName for table in client.table_objects(db)) == [f"t{number}" for number in range(5)]
    assert list(client.table_objects(db, "none*")) == []


def test_partitions_are_added_paged_filtered_and_dropped(server: Server, client: Any, db: str) -> None:
    table = table_of(db, "p", ("ds", "h"))
    client.create_table(table)
    parts = [partition_of(table, f"2024-01-{day:02}", f"{hour}") for day in range(1, 6) for hour in range(2)]
    assert client.add_partitions(f"{db}.p", parts) == 10
    client.add_partitions(f"{db}.p", parts[:2], if_not_exists=True)
    assert len(client.partition_names(f"{db}.p")) == 10
    assert len(list(client.partitions(f"{db}.p"))) == 10
    found = list(client.partitions(f"{db}.p", where="ds >= '2024-01-03' and h = '1'"))
    assert sorted(part.values for part in found) == [(f"2024-01-0{day}", "1") for day in (3, 4, 5)]
    with connected("sync", server.uri, batch=2, user="ann") as small:
        again = list(small.partitions(f"{db}.p", where="ds >= '2024-01-03' and h = '1'"))
        assert sorted(part.values for part in again) == sorted(part.values for part in found)
    assert client.partition(f"{db}.p", ("2024-01-02", "0")).values == ("2024-01-02", "0")
    client.drop_partition(f"{db}.p", ("2024-01-02", "0"))
    client.drop_partition(f"{db}.p", ("2024-01-02", "0"), if_exists=True)
    with pytest.raises(ObjectNotFound, match=rf"partition {db}\.p \(2024-01-02, 0\)"):
        client.partition(f"{db}.p", ("2024-01-02", "0"))


def test_values_of_partitions_keep_their_special_characters(client: Any, db: str) -> None:
    """Slashes, equal signs, percent signs, quotes, spaces and letters of every alphabet."""
    table = table_of(db, "odd", ("k",))
    client.create_table(table)
    values = ["a=b", "a/b", "100%", "it's", "a b", "x:y", "#1"]
    client.add_partitions(f"{db}.odd", [partition_of(table, value) for value in values])
    assert sorted(part.values[0] for part in client.partitions(f"{db}.odd")) == sorted(values)
    for value in values:
        assert client.partition(f"{db}.odd", (value,)).values == (value,)
    assert "k=a%2Fb" in client.partition_names(f"{db}.odd")


def test_statistics_are_set_and_read_by_column(client: Any, db: str) -> None:
    client.create_table(table_of(db, "s"))
    numbers = ColumnStatisticsData(longStats=LongColumnStatsData(lowValue=1, highValue=9, numNulls=0, numDVs=5))
    client.api.update_table_column_statistics(
        ColumnStatistics(
            statsDesc=ColumnStatisticsDesc(isTblLevel=True, dbName=db, tableName="s"),
            statsObj=(ColumnStatisticsObj("id", "bigint", numbers),),
        )
    )
    found = client.statistics(f"{db}.s")
    assert set(found) == {"id"}
    assert found["id"].statsData.longStats.highValue == 9
    assert client.statistics(f"{db}.s", ["price"]) == {}


def test_statistics_of_partitions_are_set_and_read(client: Any, db: str) -> None:
    table = table_of(db, "ps", ("ds",))
    client.create_table(table)
    client.add_partitions(f"{db}.ps", [partition_of(table, "1"), partition_of(table, "2")])
    numbers = ColumnStatisticsData(longStats=LongColumnStatsData(lowValue=1, highValue=9, numNulls=0, numDVs=5))
    client.set_statistics(
        ColumnStatistics(
            statsDesc=ColumnStatisticsDesc(isTblLevel=False, dbName=db, tableName="ps", partName="ds=1"),
            statsObj=(ColumnStatisticsObj("id", "bigint", numbers),),
            engine="hive",
        )
    )
    found = client.partition_statistics(f"{db}.ps", ["ds=1", "ds=2"])
    assert {name: set(columns) for name, columns in found.items()} == {"ds=1": {"id"}}
    assert found["ds=1"]["id"].statsData.longStats.highValue == 9
    assert client.partition_statistics(f"{db}.ps", ["ds=2"], ["price"]) == {}


def test_table_exists_returns_whether_a_table_exists(client: Any, db: str) -> None:
    assert client.table_exists(f"{db}.none") is False


def test_a_filter_over_what_is_no_partition_key_is_refused(server: Server, client: Any, db: str) -> None:
    client.create_table(table_of(db, "f", ("ds",)))
    with pytest.raises(MetaException):
        list(client.partitions(f"{db}.f", where="price = '1'"))
    with pytest.raises(MetaException, match=rf"the filter \"price = '1'\" over the partitions of {db}\.f"):
        client.partition_names(f"{db}.f", where="price = '1'")


def test_a_lock_is_held_and_released(server: Server, client: Any, db: str) -> None:
    client.create_table(table_of(db, "l"))
    with client.lock(f"{db}.l") as held:
        assert held.id > 0
        with connected("sync", server.uri) as other:
            with pytest.raises(LockFailed, match=rf"no exclusive lock on {db}\.l within 0\.1 s"):
                with other.lock(f"{db}.l", timeout=0.1):
                    raise AssertionError("it was given twice")
    with client.lock(f"{db}.l", type="shared_read"), client.lock(f"{db}.l", type="shared_read"):
        pass


def test_a_transaction_commits_at_the_end_and_aborts_on_an_error(server: Server, client: Any, db: str) -> None:
    if server.version < (3, 0):
        with pytest.raises(NotSupported, match=rf"is Hive {server.version} and has no get_valid_write_ids.*since 3\.0"):
            with client.transaction():
                raise AssertionError("it was given")
        return
    client.create_table(table_of(db, "w"))
    with client.transaction() as transaction:
        assert transaction.id > 0
        assert transaction.write_id(f"{db}.w") == 1
    with pytest.raises(RuntimeError, match="on purpose"):
        with client.transaction() as second:
            raise RuntimeError("on purpose")
    assert second.id > transaction.id
    states = client.api.get_open_txns_info()
    assert {info.id for info in states.open_txns if info.state == 3}.isdisjoint({transaction.id, second.id})


def test_the_version_is_detected(server: Server, client: Any) -> None:
    assert client.capabilities.version() == server.version


def test_the_features_of_each_version_are_detected(server: Server, client: Any) -> None:
    since_2 = ("databases", "tables", "partitions", "lock_service", "table_statistics", "partition_batching",
               "compaction_history")  # fmt: skip
    since_3 = ("acid_transactions", "constraints", "materialized_views", "schema_registry")
    expected = dict.fromkeys(since_2, True) | dict.fromkeys(since_3, server.version >= (3, 0))
    expected["bulk_operations"] = server.version >= (2, 3)
    if server.is_metastored:
        expected = {feature: FEATURES[feature].method in served() for feature in FEATURES}
    assert set(expected) == set(FEATURES)
    for feature, there in expected.items():
        assert getattr(client.capabilities, f"has_{feature}")() is there, feature


def test_the_error_for_a_missing_feature_is_a_sentence(server: Server, client: Any) -> None:
    if server.version >= (3, 0):
        assert client.capabilities.has_constraints(check=True)
        return
    with pytest.raises(NotSupported) as raised:
        client.capabilities.has_constraints(check=True)
    text = str(raised.value)
    assert server.uri in text
    assert f"Hive {server.version}" in text
    assert "NOT NULL, UNIQUE, DEFAULT and CHECK constraints" in text
    assert "since 3.0" in text
    assert kind_of(raised.value) is ErrorKind.NOT_SUPPORTED


def test_any_method_can_be_called_with_types(client: Any) -> None:
    assert client.api.getName()
    assert "default" in client.api.get_all_databases()
    assert client.api.partition_name_to_vals("ds=1/h=a%2Fb") == ("1", "a/b")
