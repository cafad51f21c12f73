"""One suite of behaviour for every kind of catalog, with the synchronous and the asynchronous manager."""

from __future__ import annotations

from typing import Any

import pytest

import metastored
from metastored.catalog import (
    Buckets,
    ColumnStatistics,
    ColumnStatus,
    Constraint,
    ConstraintKind,
    DatabaseChanges,
    DatabaseDefinition,
    PartitionDefinition,
    SortColumn,
    TableChanges,
    TableDefinition,
    TableKind,
    TableStatistics,
    ViewDefinition,
    columns_of_spark,
)
from metastored.errors import (
    AlreadyExistsException,
    Error,
    ErrorKind,
    InvalidInputException,
    InvalidOperationException,
    MetastoreError,
    NoSuchObjectException,
    NotSupported,
    kind_of,
)
from tests.catalog.conftest import Backend

COLUMNS = columns_of_spark("id BIGINT COMMENT 'the number', price DECIMAL(10,2), ds STRING")
QUERY = "select id from orders"


def orders(backend: Backend, **changes: Any) -> TableDefinition:
    """A table to be created, partitioned by its column `ds`."""
    given: dict[str, Any] = {"columns": COLUMNS, "partition_by": ("ds",), "comment": "all orders"}
    return TableDefinition(**(given | changes))


def names(found: Any) -> list[str]:
    return sorted(each.name for each in found)


# Databases


def test_a_database_is_created_read_listed_and_dropped(catalogs: Any, db: str) -> None:
    other = f"{db}_2"
    made = catalogs.create_database(other, DatabaseDefinition(comment="two", properties={"made": "here"}))
    assert (made.catalog, made.database, made.comment) == ("here", (other,), "two")
    assert made.properties["made"] == "here"
    assert catalogs.get_database(f"here.{other}") == made
    assert {db, other} <= set(names(catalogs.list_databases()))
    assert names(catalogs.list_databases(pattern=f"{db}*")) == [db, other]
    catalogs.drop_database(other)
    assert names(catalogs.list_databases("here", f"{db}*")) == [db]


def test_an_existing_database_is_an_error_unless_if_not_exists(catalogs: Any, db: str) -> None:
    with pytest.raises(AlreadyExistsException) as raised:
        catalogs.create_database(db)
    assert kind_of(raised.value) is ErrorKind.ALREADY_EXISTS
    assert catalogs.create_database(db, DatabaseDefinition(comment="x"), if_not_exists=True).comment == "a test's own"


def test_a_missing_database_is_an_error_unless_if_exists(catalogs: Any) -> None:
    for call in (catalogs.get_database, catalogs.drop_database, catalogs.list_tables):
        with pytest.raises(NoSuchObjectException, match="no_such_db") as raised:
            call("no_such_db")
        assert kind_of(raised.value) is ErrorKind.NOT_FOUND
    catalogs.drop_database("no_such_db", if_exists=True)


def test_a_database_with_tables_is_dropped_only_with_them(catalogs: Any, backend: Backend, db: str) -> None:
    catalogs.create_table(f"{db}.orders", orders(backend))
    with pytest.raises(InvalidOperationException, match="not empty"):
        catalogs.drop_database(db)
    catalogs.drop_database(db, cascade=True)
    with pytest.raises(NoSuchObjectException):
        catalogs.get_database(db)


def test_a_database_is_changed(catalogs: Any, backend: Backend, db: str) -> None:
    catalogs.alter_database(db, DatabaseChanges(set_properties={"a": "1", "b": "2"}))
    changed = catalogs.alter_database(
        db, DatabaseChanges(comment="another", set_properties={"c": "3"}, unset_properties=["a"])
    )
    assert {key: changed.properties.get(key) for key in "abc"} == {"a": None, "b": "2", "c": "3"}
    assert changed.comment == ("another" if backend.database_comments else "a test's own")


# Tables


def test_a_table_is_created_read_and_dropped(catalogs: Any, backend: Backend, db: str) -> None:
    made = catalogs.create_table(f"{db}.orders", orders(backend, properties={"made": "here"}))
    assert (made.catalog, made.database, made.name, made.kind) == ("here", (db,), "orders", TableKind.TABLE)
    assert [(each.name, each.data_type, each.comment) for each in made.columns] == [
        ("id", "bigint", "the number"),
        ("price", "decimal(10,2)", None),
        ("ds", "string", None),
    ]
    assert [each.name for each in made.columns if each.is_partition] == ["ds"]
    assert (made.partition_by, made.comment, made.properties["made"]) == (("ds",), "all orders", "here")
    assert made.format == ("iceberg" if backend.iceberg else "parquet")
    assert made.location is not None and made.location.endswith("orders")
    assert not made.is_view and made.definition is None and made.acid is None
    assert (made.metadata_location is not None) == backend.iceberg
    assert catalogs.get_table(f"here.{db}.orders") == made
    catalogs.drop_table(f"{db}.orders")
    with pytest.raises(NoSuchObjectException, match=rf"{db}\.orders"):
        catalogs.get_table(f"{db}.orders")


def test_an_existing_table_is_an_error_unless_if_not_exists(catalogs: Any, backend: Backend, db: str) -> None:
    catalogs.create_table(f"{db}.orders", orders(backend))
    with pytest.raises(AlreadyExistsException, match="orders"):
        catalogs.create_table(f"{db}.orders", orders(backend))
    found = catalogs.create_table(f"{db}.orders", orders(backend, comment="x"), if_not_exists=True)
    assert found.comment == "all orders"


def test_a_missing_table_is_an_error_unless_if_exists(catalogs: Any, db: str) -> None:
    for call in (catalogs.get_table, catalogs.get_view, catalogs.drop_table, catalogs.drop_view):
        with pytest.raises(NoSuchObjectException, match=rf"{db}\.nothing") as raised:
            call(f"{db}.nothing")
        assert kind_of(raised.value) is ErrorKind.NOT_FOUND
    catalogs.drop_table(f"{db}.nothing", if_exists=True)
    catalogs.drop_view(f"{db}.nothing", if_exists=True)


def test_a_table_in_a_missing_database_is_refused(catalogs: Any, backend: Backend) -> None:
    with pytest.raises(MetastoreError, match="no_such_db"):
        catalogs.create_table("no_such_db.orders", orders(backend))


def test_tables_are_listed_by_pattern(catalogs: Any, backend: Backend, db: str) -> None:
    for name in ("orders", "orders_2024", "people"):
        catalogs.create_table(f"{db}.{name}", orders(backend))
    catalogs.use(database=db)
    assert names(catalogs.list_tables()) == ["orders", "orders_2024", "people"]
    assert names(catalogs.list_tables(db, "orders*")) == ["orders", "orders_2024"]
    assert names(catalogs.list_tables(f"here.{db}", "people|nothing")) == ["people"]
    assert catalogs.list_views() == []
    assert catalogs.get_table("people").name == "people"


def test_a_table_is_changed_in_one_step(catalogs: Any, backend: Backend, db: str) -> None:
    catalogs.create_table(f"{db}.orders", orders(backend, properties={"a": "1", "b": "2"}))
    changed = catalogs.alter_table(
        f"{db}.orders",
        TableChanges(
            comment="some orders",
            set_properties={"c": "3"},
            unset_properties=["a"],
            add_columns=[ColumnStatus("note", "string", "why")],
            rename_columns={"id": "number"},
            column_comments={"PRICE": "in euros"},
        ),
    )
    columns = {each.name: each for each in changed.columns}
    assert set(columns) == {"number", "price", "note", "ds"}
    assert (columns["note"].comment, columns["price"].comment) == ("why", "in euros")
    assert columns["number"].comment == "the number"
    assert changed.comment == "some orders"
    assert {key: changed.properties.get(key) for key in "abc"} == {"a": None, "b": "2", "c": "3"}
    assert catalogs.get_table(f"{db}.orders") == changed


def test_a_type_is_widened_and_a_column_dropped(catalogs: Any, backend: Backend, db: str) -> None:
    catalogs.create_table(f"{db}.t", TableDefinition(columns=columns_of_spark("a INT, b STRING, c STRING")))
    changed = catalogs.alter_table(f"{db}.t", TableChanges(column_types={"a": "bigint"}))
    assert changed.column("a").data_type == "bigint"
    changed = catalogs.alter_table(f"{db}.t", TableChanges(drop_columns=["c"]))
    assert [each.name for each in changed.columns] == ["a", "b"]


def test_a_change_of_a_missing_column_or_table_changes_nothing(catalogs: Any, backend: Backend, db: str) -> None:
    before = catalogs.create_table(f"{db}.orders", orders(backend))
    with pytest.raises(InvalidInputException, match=r"has no column missing.*it has id"):
        catalogs.alter_table(f"{db}.orders", TableChanges(comment="x", drop_columns=["missing"]))
    with pytest.raises(NoSuchObjectException):
        catalogs.alter_table(f"{db}.nothing", TableChanges(comment="x"))
    assert catalogs.get_table(f"{db}.orders") == before


def test_a_table_is_renamed_where_the_catalog_supports_it(catalogs: Any, backend: Backend, db: str) -> None:
    catalogs.create_table(f"{db}.orders", orders(backend))
    if not backend.renames:
        with pytest.raises(InvalidOperationException, match="cannot be renamed"):
            catalogs.alter_table(f"{db}.orders", TableChanges(rename_to="sales"))
        return
    assert catalogs.alter_table(f"{db}.orders", TableChanges(rename_to="sales")).name == "sales"
    assert names(catalogs.list_tables(db)) == ["sales"]


def test_every_type_is_stored_and_read(catalogs: Any, backend: Backend, db: str) -> None:
    shared = ["boolean", "int", "bigint", "float", "double", "string", "binary", "date", "timestamp", "decimal(38,18)"]
    nested = ["array<map<string,struct<a:int,b:array<decimal(5,2)>>>>", "struct<x:struct<y:struct<z:date>>>"]
    hive = ["tinyint", "smallint", "char(3)", "varchar(10)", "uniontype<int,string>", "array<varchar(3)>"]
    if backend.name != "hive_2_3":
        nested.append("array<timestamp with local time zone>")
    types = [*shared, *nested, *([] if backend.iceberg else hive)]
    columns = [ColumnStatus(f"c{at}", type) for at, type in enumerate(types)]
    made = catalogs.create_table(f"{db}.wide", TableDefinition(columns=columns))
    assert [each.data_type for each in made.columns] == types
    assert [each.hive_type for each in made.columns] == [each.hive_type for each in columns]
    assert len(made.arrow_schema()) == len(types)


def test_files_are_sorted_and_in_buckets(catalogs: Any, backend: Backend, db: str) -> None:
    given = orders(
        backend,
        format="orc",
        bucket_by=Buckets(("id",), 8),
        sort_by=(SortColumn("id"), SortColumn("price", ascending=False)),
        options={"orc.compress": "ZSTD"},
        location=f"s3a://bucket/{db}/orders",
    )
    if backend.iceberg:
        with pytest.raises(InvalidInputException, match="Iceberg has no sorting, buckets or constraints"):
            catalogs.create_table(f"{db}.orders", given)
        return
    if backend.name.startswith("hive"):
        given = orders(backend, format="orc", bucket_by=given.bucket_by, sort_by=given.sort_by, options=given.options)
    made = catalogs.create_table(f"{db}.orders", given)
    assert (made.format, made.bucket_by, made.sort_by) == ("orc", given.bucket_by, tuple(given.sort_by))
    assert made.options["orc.compress"] == "ZSTD"
    assert made.external == (given.location is not None)
    assert (made.column("id").is_bucket, made.column("price").is_bucket) == (True, False)
    assert made.column("price").is_cluster


# Views


def test_a_view_is_created_read_replaced_and_dropped(catalogs: Any, backend: Backend, db: str) -> None:
    given = ViewDefinition(definition=QUERY, columns=COLUMNS[:1], comment="ids")
    if not backend.views:
        with pytest.raises(NotSupported, match="does not support creating views"):
            catalogs.create_view(f"{db}.ids", given)
        return
    catalogs.create_table(f"{db}.orders", orders(backend))
    made = catalogs.create_view(f"{db}.ids", given)
    assert (made.kind, made.definition, made.comment) == (TableKind.VIEW, QUERY, "ids")
    assert [(each.name, each.data_type) for each in made.columns] == [("id", "bigint")]
    assert catalogs.get_view(f"{db}.ids") == made
    assert names(catalogs.list_views(db)) == ["ids"]
    assert names(catalogs.list_tables(db)) == ["ids", "orders"]
    with pytest.raises(AlreadyExistsException):
        catalogs.create_view(f"{db}.ids", given)
    assert catalogs.create_view(f"{db}.ids", given, if_not_exists=True) == made
    other = ViewDefinition(definition="select 1 as id", columns=COLUMNS[:1])
    if backend.iceberg:
        with pytest.raises(NotSupported, match="is dropped and made anew"):
            catalogs.create_view(f"{db}.ids", other, replace=True)
    else:
        assert catalogs.create_view(f"{db}.ids", other, replace=True).definition == "select 1 as id"
    catalogs.drop_view(f"{db}.ids")
    assert catalogs.list_views(db) == []


def test_views_and_tables_are_not_confused(catalogs: Any, backend: Backend, db: str) -> None:
    catalogs.create_table(f"{db}.orders", orders(backend))
    with pytest.raises(NoSuchObjectException, match="is a table, not a view"):
        catalogs.get_view(f"{db}.orders")
    with pytest.raises(InvalidInputException, match="drop it with drop_table"):
        catalogs.drop_view(f"{db}.orders")
    if backend.views:
        view = ViewDefinition(definition=QUERY, columns=COLUMNS[:1])
        catalogs.create_view(f"{db}.ids", view)
        with pytest.raises(InvalidInputException, match="drop it with drop_view"):
            catalogs.drop_table(f"{db}.ids")
        with pytest.raises(Error, match=r"a view cannot replace it|already exists"):
            catalogs.create_view(f"{db}.orders", view, replace=True)


# Partitions


def test_a_table_of_metastored_table_is_created_in_every_catalog(catalogs: Any, backend: Backend, db: str) -> None:
    columns = {"id": ("bigint", "the number"), "price": "decimal(10,2)"}
    made = metastored.table("any.name", columns, partitioned_by={"ds": "string"}, comment="all orders")
    table = catalogs.create_table(f"{db}.orders", made)
    assert [(each.name, each.data_type) for each in table.columns] == [
        ("id", "bigint"),
        ("price", "decimal(10,2)"),
        ("ds", "string"),
    ]
    assert (table.name, table.partition_by, table.comment) == ("orders", ("ds",), "all orders")


def test_invalid_tables_and_names_are_refused(catalogs: Any, db: str) -> None:
    with pytest.raises(InvalidInputException, match=r"from a TableDefinition or metastored\.table"):
        catalogs.create_table(f"{db}.orders", {"id": "bigint"})
    with pytest.raises(InvalidInputException, match="7 is not a name"):
        catalogs.get_table(7)


def test_partitions_are_added_read_filtered_and_dropped(catalogs: Any, backend: Backend, db: str) -> None:
    table = catalogs.create_table(f"{db}.orders", orders(backend))
    days = [PartitionDefinition(values={"ds": f"2024-01-0{day}"}) for day in (1, 2, 3)]
    if not backend.partitions:
        with pytest.raises(NotSupported, match="has no partitions of its own"):
            catalogs.add_partitions(f"{db}.orders", days)
        return
    catalogs.add_partitions(f"{db}.orders", days)
    found = list(catalogs.list_partitions(f"{db}.orders"))
    assert [each.values for each in found] == [each.values for each in days]
    assert found[0].name == "ds=2024-01-01"
    assert found[0].location == f"{table.location}/ds=2024-01-01"
    late = catalogs.list_partitions(f"{db}.orders", "ds >= '2024-01-02'")
    assert [each.values["ds"] for each in late] == ["2024-01-02", "2024-01-03"]
    catalogs.drop_partition(f"{db}.orders", {"DS": "2024-01-01"})
    with pytest.raises(NoSuchObjectException):
        catalogs.get_partition(f"{db}.orders", {"ds": "2024-01-01"})
    with pytest.raises(NoSuchObjectException):
        catalogs.drop_partition(f"{db}.orders", {"ds": "2024-01-01"})
    catalogs.drop_partition(f"{db}.orders", {"ds": "2024-01-01"}, if_exists=True)


def test_an_existing_partition_is_an_error_unless_if_not_exists(catalogs: Any, backend: Backend, db: str) -> None:
    if not backend.partitions:
        return
    catalogs.create_table(f"{db}.orders", orders(backend))
    odd = [PartitionDefinition(values={"ds": "a/b=c d"}, properties={"made": "here"})]
    catalogs.add_partitions(f"{db}.orders", odd)
    with pytest.raises(AlreadyExistsException):
        catalogs.add_partitions(f"{db}.orders", odd)
    catalogs.add_partitions(f"{db}.orders", odd, if_not_exists=True)
    found = catalogs.get_partition(f"{db}.orders", {"ds": "a/b=c d"})
    assert (found.name, found.properties["made"]) == ("ds=a%2Fb%3Dc d", "here")
    with pytest.raises(InvalidInputException, match=r"is partitioned by \(ds\), and values of \(day\) were given"):
        catalogs.get_partition(f"{db}.orders", {"day": "1"})


def test_a_partition_is_named_by_a_dict_a_name_or_a_list(catalogs: Any, backend: Backend, db: str) -> None:
    if not backend.partitions:
        return
    catalogs.create_table(f"{db}.orders", orders(backend))
    given: list[Any] = ["ds=2024-01-01", ("2024-01-02",), {"ds": "2024-01-03"}]
    catalogs.add_partitions(f"{db}.orders", [PartitionDefinition(values=values) for values in given])
    for values, day in zip(given, ("2024-01-01", "2024-01-02", "2024-01-03"), strict=True):
        assert catalogs.get_partition(f"{db}.orders", values).values == {"ds": day}
        catalogs.drop_partition(f"{db}.orders", values)
    assert list(catalogs.list_partitions(f"{db}.orders")) == []


def test_a_partition_is_changed(catalogs: Any, backend: Backend, db: str) -> None:
    if not backend.partitions:
        return
    catalogs.create_table(f"{db}.orders", orders(backend))
    catalogs.add_partitions(f"{db}.orders", [PartitionDefinition(values={"ds": "1"}, properties={"a": "1"})])
    before = catalogs.get_partition(f"{db}.orders", {"ds": "1"})
    changed = catalogs.alter_partition(f"{db}.orders", PartitionDefinition(values={"ds": "1"}, properties={"b": "2"}))
    assert (changed.properties["a"], changed.properties["b"], changed.location) == ("1", "2", before.location)
    there = PartitionDefinition(values={"ds": "1"}, location=f"{before.location}-elsewhere")
    assert catalogs.alter_partition(f"{db}.orders", there).location == there.location


def test_a_table_without_partitions_has_none(catalogs: Any, db: str) -> None:
    catalogs.create_table(f"{db}.plain", TableDefinition(columns=COLUMNS))
    with pytest.raises(NotSupported, match=rf"here\.{db}\.plain has no partitions of its own") as raised:
        catalogs.get_partition(f"{db}.plain", {"ds": "1"})
    assert kind_of(raised.value) is ErrorKind.NOT_SUPPORTED


# Statistics and constraints


def test_statistics_are_stored_and_read(catalogs: Any, backend: Backend, db: str) -> None:
    catalogs.create_table(f"{db}.orders", orders(backend))
    assert catalogs.get_statistics(f"{db}.orders").columns == {}
    given = TableStatistics(
        row_count=7, columns={"ID": ColumnStatistics(null_count=1, distinct_count=6, min=-3, max=9)}
    )
    if not backend.statistics:
        with pytest.raises(NotSupported, match="does not support statistics"):
            catalogs.set_statistics(f"{db}.orders", given)
        return
    catalogs.set_statistics(f"{db}.orders", given)
    found = catalogs.get_statistics(f"{db}.orders")
    assert found.row_count == 7
    assert found.columns == {"id": given.columns["ID"]}
    with pytest.raises(InvalidInputException, match="has no column missing"):
        catalogs.set_statistics(f"{db}.orders", TableStatistics(columns={"missing": ColumnStatistics()}))


def test_partitions_have_statistics_of_their_own(catalogs: Any, backend: Backend, db: str) -> None:
    if not backend.statistics:
        return
    catalogs.create_table(f"{db}.orders", orders(backend))
    catalogs.add_partitions(f"{db}.orders", [PartitionDefinition(values={"ds": "1"})])
    given = TableStatistics(row_count=3, columns={"id": ColumnStatistics(null_count=0, distinct_count=3, min=1, max=3)})
    catalogs.set_statistics(f"{db}.orders", given, {"ds": "1"})
    found = catalogs.get_statistics(f"{db}.orders", {"ds": "1"})
    assert (found.row_count, found.columns) == (3, given.columns)
    assert catalogs.get_statistics(f"{db}.orders").columns == {}


def test_constraints_are_created_with_the_table_and_later(catalogs: Any, backend: Backend, db: str) -> None:
    key = Constraint(kind=ConstraintKind.PRIMARY_KEY, columns=("id",), name=f"pk_{db}", rely=True)
    if not backend.constraints:
        catalogs.create_table(f"{db}.orders", orders(backend))
        with pytest.raises(NotSupported, match="constraints"):
            catalogs.add_constraint(f"{db}.orders", key)
        with pytest.raises(NotSupported, match="constraints"):
            catalogs.list_constraints(f"{db}.orders")
        return
    catalogs.create_table(f"{db}.orders", orders(backend, constraints=[key]))
    catalogs.create_table(f"{db}.lines", orders(backend))
    foreign = Constraint(
        kind=ConstraintKind.FOREIGN_KEY, columns=("id",), name=f"fk_{db}", references=(f"{db}.orders", ("id",))
    )
    catalogs.add_constraint(f"{db}.lines", foreign)
    assert catalogs.list_constraints(f"{db}.orders") == (key,)
    assert catalogs.list_constraints(f"{db}.lines") == (foreign,)
    catalogs.drop_constraint(f"{db}.lines", f"fk_{db}")
    assert catalogs.list_constraints(f"{db}.lines") == ()
    with pytest.raises(NoSuchObjectException, match=f"fk_{db}"):
        catalogs.drop_constraint(f"{db}.lines", f"fk_{db}")
    catalogs.drop_constraint(f"{db}.lines", f"fk_{db}", if_exists=True)


def test_the_newer_constraints_are_stored_or_refused(catalogs: Any, backend: Backend, db: str) -> None:
    given = [
        Constraint(kind=ConstraintKind.UNIQUE, columns=("id", "price"), name=f"uk_{db}"),
        Constraint(kind=ConstraintKind.NOT_NULL, columns=("id",), name=f"nn_{db}", enabled=True),
        Constraint(kind=ConstraintKind.DEFAULT, columns=("price",), name=f"df_{db}", expression="1.5"),
        Constraint(kind=ConstraintKind.CHECK, columns=("price",), name=f"ck_{db}", expression="price > 0"),
    ]
    if not backend.constraints or backend.iceberg:
        return
    if "unique" not in backend.constraints:
        with pytest.raises(NotSupported, match=r"does not support NOT NULL, UNIQUE, DEFAULT and CHECK"):
            catalogs.create_table(f"{db}.orders", orders(backend, constraints=given))
        assert catalogs.list_tables(db) == []
        catalogs.create_table(f"{db}.orders", orders(backend))
        with pytest.raises(NotSupported):
            catalogs.add_constraint(f"{db}.orders", given[0])
        return
    catalogs.create_table(f"{db}.orders", orders(backend, constraints=given[:2]))
    for each in given[2:]:
        catalogs.add_constraint(f"{db}.orders", each)
    assert set(catalogs.list_constraints(f"{db}.orders")) == set(given)
