"""Values in every catalog: spellings of types, comments, locations, NOT NULL and defaults, timestamps, transactions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from metastored.catalog import (
    Buckets,
    ColumnStatistics,
    ColumnStatus,
    DatabaseDefinition,
    TableChanges,
    TableDefinition,
    TableStatistics,
    ViewDefinition,
)
from metastored.errors import DatabaseNotFound, Error, InvalidInputException, NotSupported
from metastored.model.origins import TableFormat, origin
from metastored.wire.structs import replace
from tests.catalog.conftest import Backend

pytestmark = pytest.mark.slow

NOT_UTF_8 = b"caf\xe9".decode("utf-8", "surrogateescape")
BEYOND_HIVE = (
    ColumnStatus("id", "bigint", "the number", nullable=False),
    ColumnStatus("price", "decimal(10,2)", default="1.5"),
    ColumnStatus("year", "int", generated_always_as="year(at)"),
    ColumnStatus("at", "timestamp"),
)


def speaks_hive(backend: Backend) -> bool:
    """Whether the catalog stores Hive's structs as they are."""
    return not backend.iceberg and backend.name != "glue"


@pytest.mark.parametrize("type", ["decimal(10, 2)", "array< int >", "struct<a: int, b : string>", "double precision"])
def test_a_type_is_read_in_the_spelling_that_the_catalog_stores(
    catalogs: Any, backend: Backend, db: str, type: str
) -> None:
    made = catalogs.create_table(f"{db}.t", TableDefinition(columns=[ColumnStatus("c", type)]))
    plain = {"decimal(10, 2)": pa.decimal128(10, 2), "double precision": pa.float64()}
    found = made.arrow_schema().field("c").type
    assert found.equals(plain[type]) if type in plain else pa.types.is_nested(found)
    assert made.column("c").spark() == ColumnStatus("c", type).spark()


def test_texts_that_are_not_utf_8_are_legible(catalogs: Any, backend: Backend, db: str) -> None:
    if not speaks_hive(backend):
        return
    column = ColumnStatus("id", "int", NOT_UTF_8)
    table = TableDefinition(columns=[column], comment=NOT_UTF_8, properties={"k": NOT_UTF_8})
    made = catalogs.create_table(f"{db}.t", table)
    database = catalogs.create_database(f"{db}_2", DatabaseDefinition(comment=NOT_UTF_8))
    expected = "caf\ufffd"  # Servers store U+FFFD, as Hive does.
    shown = (made.comment, made.column("id").comment, made.properties["k"], database.comment)
    assert shown == (expected,) * 4
    comment = (made.arrow_schema().field("id").metadata or {})[b"comment"]
    assert comment.decode() == expected


def test_not_null_defaults_and_generated_columns_are_stored_or_refused(
    catalogs: Any, backend: Backend, db: str
) -> None:
    given = TableDefinition(columns=BEYOND_HIVE)
    if backend.iceberg:
        with pytest.raises(InvalidInputException, match="price, year has a default or is generated"):
            catalogs.create_table(f"{db}.t", given)
        required = catalogs.create_table(f"{db}.t", TableDefinition(columns=BEYOND_HIVE[:1]))
        assert required.columns[0].nullable is False
        with pytest.raises(InvalidInputException, match="can be null and have no default"):
            catalogs.alter_table(f"{db}.t", TableChanges(add_columns=[ColumnStatus("n", "int", nullable=False)]))
        return
    made = catalogs.create_table(f"{db}.t", given)
    assert made.columns == BEYOND_HIVE
    assert not [key for key in made.properties if key.startswith("spark.")]
    assert catalogs.list_tables(db)[0].columns == BEYOND_HIVE


def test_a_change_keeps_what_other_columns_are(catalogs: Any, backend: Backend, db: str) -> None:
    if backend.iceberg:
        return
    catalogs.create_table(
        f"{db}.t", TableDefinition(columns=[*BEYOND_HIVE, ColumnStatus("ds", "string")], partition_by=["ds"])
    )
    changes = TableChanges(
        add_columns=[ColumnStatus("new", "int", "a note", nullable=False)],
        rename_columns={"price": "cost"},
        column_types={"ID": "bigint"},
        column_comments={"at": "when"},
    )
    changed = catalogs.alter_table(f"{db}.t", changes)
    assert [(each.name, each.nullable, each.default, each.comment) for each in changed.columns] == [
        ("id", False, None, "the number"),
        ("cost", True, "1.5", None),
        ("year", True, None, None),
        ("at", True, None, "when"),
        ("new", False, None, "a note"),
        ("ds", True, None, None),
    ]
    assert changed.column("year").generated_always_as == "year(at)"
    dropped = catalogs.alter_table(f"{db}.t", TableChanges(drop_columns=["new"]))
    assert [each.name for each in dropped.columns if not each.nullable] == ["id"]
    plain = catalogs.create_table(f"{db}.plain", TableDefinition(columns=[ColumnStatus("a", "int")]))
    assert plain.columns[0].nullable
    added = TableChanges(add_columns=[ColumnStatus("b", "int", default="7")])
    assert [each.default for each in catalogs.alter_table(f"{db}.plain", added).columns] == [None, "7"]


def test_two_columns_of_one_name_in_any_case_are_refused(catalogs: Any, backend: Backend, db: str) -> None:
    columns = [ColumnStatus("a", "int"), ColumnStatus("A", "string")]
    with pytest.raises(InvalidInputException, match=rf"table {db}\.t has the column a twice"):
        catalogs.create_table(f"{db}.t", TableDefinition(columns=columns))
    with pytest.raises(InvalidInputException, match="has the column a twice"):
        catalogs.create_table(f"{db}.t", TableDefinition(columns=columns, partition_by=["A"]))
    catalogs.create_table(f"{db}.t", TableDefinition(columns=columns[:1]))
    with pytest.raises(InvalidInputException, match="has the column a twice"):
        catalogs.alter_table(f"{db}.t", TableChanges(add_columns=columns[1:]))


def test_locations_are_normalised_when_they_are_read(catalogs: Any, backend: Backend, db: str) -> None:
    if not speaks_hive(backend):
        return
    made = catalogs.create_table(f"{db}.t", TableDefinition(columns=[ColumnStatus("a", "int")]))
    client = catalogs.provider().client
    stored = client.table(f"{db}.t")
    odd = f"{stored.sd.location}//x///y/"
    client.alter(f"{db}.t", replace(stored, sd=replace(stored.sd, location=odd)))
    assert catalogs.get_table(f"{db}.t").location == f"{made.location}/x/y"


def test_timestamps_in_statistics_come_back_as_they_went_in(catalogs: Any, backend: Backend, db: str) -> None:
    if not backend.statistics:
        return
    columns = [ColumnStatus("at", "timestamp"), ColumnStatus("n", "int")]
    catalogs.create_table(f"{db}.t", TableDefinition(columns=columns))
    given = ColumnStatistics(
        null_count=1,
        distinct_count=2,
        min=datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
        max=datetime(2024, 2, 29, 12, 30, 5, tzinfo=UTC),
    )
    catalogs.set_statistics(f"{db}.t", TableStatistics(columns={"at": given}))
    assert catalogs.get_statistics(f"{db}.t").columns == {"at": given}


def test_an_option_makes_a_transactional_table_and_reads_back(catalogs: Any, backend: Backend, db: str) -> None:
    columns = [ColumnStatus("id", "int")]
    options: dict[str, Any] = {"transactional": True}
    given = TableDefinition(columns=columns, format="orc", options=options, bucket_by=Buckets(("id",), 2))
    if backend.iceberg:
        with pytest.raises(InvalidInputException, match="every Iceberg table has transactions of its own"):
            catalogs.create_table(f"{db}.t", TableDefinition(columns=columns, options=options))
        return
    if backend.name == "glue":
        with pytest.raises(NotSupported, match=r"has no transactions: create .* without the option transactional"):
            catalogs.create_table(f"{db}.t", given)
        return
    if backend.name == "hive_3_1":
        # Its jars have no ORC, which it asks for the classes of.
        with pytest.raises(Error, match="ACID compliant format"):
            catalogs.create_table(f"{db}.t", given)
        options = {"transactional": "true", "transactional_properties": "insert_only"}
        given = TableDefinition(columns=columns, options=options)
    made = catalogs.create_table(f"{db}.t", given)
    assert made.options["transactional"] == "true"
    assert made.acid is not None
    assert catalogs.get_table(f"{db}.t") == made
    # Other options are not among the parameters.
    assert "serialization.format" not in made.properties
    if backend.name == "hive_2_3":
        return
    client = catalogs.provider().client
    assert (made.acid.write_id, made.acid.valid_write_ids) == (0, f"{db}.t:0:9223372036854775807::")
    with client.write(f"{db}.t"):
        pass
    after = catalogs.get_table(f"{db}.t").acid
    assert after is not None
    assert (after.write_id, after.valid_write_ids) == (1, f"{db}.t:1:9223372036854775807::")
    assert after.transaction_id is not None and made.acid.transaction_id is not None
    assert after.transaction_id > made.acid.transaction_id
    assert client.acid(f"{db}.t") == after
    assert catalogs.list_tables(db)[0].acid == after


def test_a_table_that_is_not_transactional_has_no_acid(catalogs: Any, backend: Backend, db: str) -> None:
    made = catalogs.create_table(f"{db}.t", TableDefinition(columns=[ColumnStatus("id", "int")]))
    assert made.acid is None and "transactional" not in made.options
    assert catalogs.provider().client.acid(f"{db}.t") is None


def test_a_missing_database_is_not_found_by_its_name(catalogs: Any, backend: Backend) -> None:
    columns = [ColumnStatus("id", "int")]
    calls: list[Any] = [
        lambda: catalogs.get_database("no_such_db"),
        lambda: catalogs.list_tables("no_such_db"),
        lambda: catalogs.drop_database("no_such_db"),
        lambda: catalogs.create_table("no_such_db.t", TableDefinition(columns=columns)),
    ]
    if backend.views:
        view = ViewDefinition(definition="select 1", columns=columns)
        calls.append(lambda: catalogs.create_view("no_such_db.v", view))
    for call in calls:
        with pytest.raises(DatabaseNotFound, match="database no_such_db not found") as raised:
            call()
        assert raised.value.name == "no_such_db"


def test_the_origin_of_a_table_of_the_catalog_is_found(catalogs: Any, backend: Backend, db: str) -> None:
    properties = {"spark.sql.create.version": "4.0.0"}
    made = catalogs.create_table(f"{db}.t", TableDefinition(columns=[ColumnStatus("a", "int")], properties=properties))
    found = origin(made)
    assert found.format is (TableFormat.ICEBERG if backend.iceberg else TableFormat.HIVE)
    assert (found.writer, found.writer_version) == ("spark", "4.0.0")


def test_who_creates_owns_unless_another_owner_is_given(catalogs: Any, backend: Backend, db: str) -> None:
    columns = [ColumnStatus("a", "int")]
    theirs = catalogs.create_table(f"{db}.theirs", TableDefinition(columns=columns, owner="ann"))
    assert theirs.owner == "ann"
    if backend.name.startswith("hive"):
        ours = catalogs.create_table(f"{db}.ours", TableDefinition(columns=columns))
        view = catalogs.create_view(f"{db}.v", ViewDefinition(definition="select 1", columns=columns))
        assert (ours.owner, view.owner, catalogs.get_database(db).owner) == ("hive", "hive", "hive")
