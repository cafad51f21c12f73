"""The client's document, section 8: texts, nulls, times, partition values, locations, decimals and properties."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

import metastored
from metastored.catalog import (
    CatalogManager,
    ColumnStatistics,
    ColumnStatus,
    PartitionDefinition,
    TableDefinition,
    TableStatistics,
)
from metastored.errors import ConversionError, Error, InvalidInputException
from metastored.hive.names import make_part_name, partition_name_to_spec
from metastored.model import values
from metastored.model.origins import origin
from metastored.structs import FieldSchema
from metastored.wire.structs import replace
from tests.specs.conftest import Server

pytestmark = pytest.mark.slow

COLUMNS = [ColumnStatus("id", "bigint")]
LATIN = "Stra\udcdfe".encode("utf-8", "surrogateescape")
"""`Straße` in Latin-1, which is not UTF-8."""


def with_latin_comments(db: str) -> metastored.structs.Table:
    table = metastored.table(f"{db}.t", {"id": ("bigint", "x")})
    text = LATIN.decode("utf-8", "surrogateescape")
    assert table.sd is not None
    columns = (FieldSchema("id", "bigint", text),)
    return replace(table, sd=replace(table.sd, cols=columns), parameters={**(table.parameters or {}), "comment": text})


# 8.1


def test_8_1_a_a_text_that_is_not_utf_8_is_read_and_legible(own: Server, db: str) -> None:
    with own.client() as client, own.catalogs() as catalogs:
        client.create_database(db)
        client.create_table(with_latin_comments(db))
        found = catalogs.get_table(f"{db}.t")
        for text in (found.comment, found.column("id").comment):
            assert text is not None
            text.encode("utf-8")
            assert text in ("Straße", "Stra\ufffde"), text
        client.drop_database(db, cascade=True)


def test_8_1_b_a_text_that_is_not_utf_8_is_stored_and_returned_as_it_was_sent(own: Server, db: str) -> None:
    with own.client(cache=False) as client:
        client.create_database(db)
        client.create_table(with_latin_comments(db))
        found = client.table(f"{db}.t")
        assert found.sd is not None and found.sd.cols is not None and found.parameters is not None
        for text in (found.sd.cols[0].comment, found.parameters["comment"]):
            assert text is not None
            # Hive's Java replaces what is not UTF-8 when it reads it; what it stores is returned by both.
            assert text.encode("utf-8", "surrogateescape") in (LATIN, "Stra\ufffde".encode())
        client.drop_database(db, cascade=True)


# 8.2


def test_8_2_a_an_empty_text_or_blanks_are_the_same_as_no_text(catalogs: CatalogManager, db: str) -> None:
    columns = [ColumnStatus("a", "int", ""), ColumnStatus("b", "int", "  "), ColumnStatus("c", "int", "words")]
    catalogs.create_table(f"{db}.t", TableDefinition(columns=columns, comment=""))
    found = catalogs.get_table(f"{db}.t")
    assert found.comment is None
    assert [each.comment for each in found.columns] == [None, None, "words"]
    assert [values.text(each) for each in (None, "", " \t", "x")] == [None, None, None, "x"]


# 8.3


def test_8_3_a_times_are_utc_whatever_the_zone_of_the_machine_is(
    catalogs: CatalogManager, db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        made = catalogs.create_table(f"{db}.t", TableDefinition(columns=COLUMNS)).created
        assert values.moment(0 + 86400) == datetime(1970, 1, 2, tzinfo=UTC)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert made is not None and made.tzinfo is UTC
    assert abs(made - datetime.now(UTC)) < timedelta(hours=1)


def test_8_3_b_a_time_that_is_none_is_an_error_and_a_time_before_1970_is_one() -> None:
    for bad in ("soon", "1.5", 10**30):
        with pytest.raises(ConversionError, match="is not a time"):
            values.moment(bad)
    assert values.moment(-86400) == datetime(1969, 12, 31, tzinfo=UTC)
    assert [values.moment(unset) for unset in (None, "", 0, -1)] == [None] * 4


def test_8_3_c_a_time_without_a_zone_is_in_utc_and_a_time_in_milliseconds_is_read() -> None:
    assert values.seconds(datetime(2024, 1, 1)) == values.seconds(datetime(2024, 1, 1, tzinfo=UTC)) == 1_704_067_200
    assert values.seconds(datetime(2024, 1, 1, 9, tzinfo=timezone(timedelta(hours=9)))) == 1_704_067_200
    assert values.moment(1_704_067_200_000) == values.moment(1_704_067_200) == datetime(2024, 1, 1, tzinfo=UTC)


def test_8_3_d_timestamps_in_statistics_come_back_as_they_went_in(catalogs: CatalogManager, db: str) -> None:
    catalogs.create_table(f"{db}.t", TableDefinition(columns=[ColumnStatus("at", "timestamp")]))
    low, high = datetime(1969, 7, 20, 20, 17, 40, tzinfo=UTC), datetime(2024, 2, 29, 12, tzinfo=UTC)
    given = ColumnStatistics(null_count=1, distinct_count=2, min=low, max=high)
    catalogs.set_statistics(f"{db}.t", TableStatistics(row_count=3, columns={"at": given}))
    found = catalogs.get_statistics(f"{db}.t").columns["at"]
    assert (found.min, found.max) == (low, high)
    assert (found.null_count, found.distinct_count) == (1, 2)


# 8.4

ODD = ["a=b", "a/b", "50%", "x y", "2024-01-01 00:00:00", "ä", "[1]", "a#b", "c:d", 'q"', "\\"]


def test_8_4_a_special_characters_in_a_partition_value_are_escaped_and_unescaped(
    server: Server, client: metastored.Client, db: str
) -> None:
    client.create_table(metastored.table(f"{db}.t", {"id": "bigint"}, partitioned_by={"k": "string"}))
    client.add_partitions(f"{db}.t", [{"k": value} for value in ODD])
    names = client.partition_names(f"{db}.t")
    assert sorted(partition_name_to_spec(name)["k"] for name in names) == sorted(ODD)
    for value in ODD:
        assert client.partition(f"{db}.t", make_part_name(("k",), (value,))).values == (value,)
    assert make_part_name(("k",), ("a=b/c",)) == "k=a%3Db%2Fc"


def test_8_4_b_the_name_of_a_partition_is_parsed_into_keys_and_values(catalogs: CatalogManager, db: str) -> None:
    columns = [*COLUMNS, ColumnStatus("year", "int"), ColumnStatus("month", "int")]
    catalogs.create_table(f"{db}.t", TableDefinition(columns=columns, partition_by=["year", "month"]))
    catalogs.add_partitions(f"{db}.t", [PartitionDefinition(values="year=2023/month=01")])
    (found,) = catalogs.list_partitions(f"{db}.t")
    assert found.values == {"year": "2023", "month": "01"}
    assert catalogs.get_partition(f"{db}.t", "year=2023/month=01") == found


def test_8_4_c_a_name_without_a_value_or_with_two_signs_of_equality_is_an_error(
    catalogs: CatalogManager, db: str
) -> None:
    columns = [*COLUMNS, ColumnStatus("year", "string")]
    catalogs.create_table(f"{db}.t", TableDefinition(columns=columns, partition_by=["year"]))
    for bad in ("year", "", "=2023", "year=a=b", "year=2023/month", "month=1"):
        with pytest.raises(InvalidInputException):
            catalogs.get_partition(f"{db}.t", bad)
        with pytest.raises(InvalidInputException):
            catalogs.add_partitions(f"{db}.t", [PartitionDefinition(values=bad)])
    assert list(catalogs.list_partitions(f"{db}.t")) == []


# 8.5


def test_8_5_a_a_location_has_no_trailing_and_no_double_slashes() -> None:
    assert values.location("hdfs://nn:8020//a//b/") == "hdfs://nn:8020/a/b"
    assert values.location("s3a://bucket/a/") == "s3a://bucket/a"
    assert values.location("file:///a//b") == values.location("file:/a/b") == "file:/a/b"


def test_8_5_b_locations_are_normalised_when_they_are_read(
    client: metastored.Client, server: Server, db: str, tmp_path: Path
) -> None:
    table = metastored.table(f"{db}.t", {"id": "bigint"}, location=f"file:{tmp_path}/a")
    assert table.sd is not None
    written = replace(table, sd=replace(table.sd, location=f"file://{tmp_path}//a//b/"))
    client.create_table(written)
    with server.catalogs() as catalogs:
        assert catalogs.get_table(f"{db}.t").location == f"file:{tmp_path}/a/b"


def test_8_5_c_a_location_that_is_none_is_an_error() -> None:
    with pytest.raises(ConversionError, match="is not a location"):
        values.location("file:a/b")


# 8.6

DECIMALS = {"decimal(10,2)": (10, 2), "decimal(10, 2)": (10, 2), "DECIMAL(10,2)": (10, 2), "decimal(5)": (5, 0),
            "decimal ( 38 , 18 )": (38, 18), "decimal": (10, 0)}  # fmt: skip


def test_8_6_a_precision_and_scale_are_read_from_every_spelling() -> None:
    assert {text: values.decimal(text) for text in DECIMALS} == DECIMALS


def test_8_6_b_columns_with_such_types_are_read_as_arrows_and_sparks(
    server: Server, client: metastored.Client, db: str
) -> None:
    table = metastored.table(f"{db}.t", {f"c{at}": "int" for at in range(len(DECIMALS))}, format="orc")
    assert table.sd is not None
    columns = tuple(FieldSchema(f"c{at}", text, None) for at, text in enumerate(DECIMALS))
    sent = replace(table, sd=replace(table.sd, cols=columns))
    try:
        client.create_table(sent)
    except Error:
        # Hive refuses some spellings; those that it stores must be read.
        kept = tuple(each for each in columns if each.type in ("decimal(10,2)", "decimal(10, 2)", "decimal(5)"))
        client.create_table(replace(sent, sd=replace(table.sd, cols=kept)))
    with server.catalogs() as catalogs:
        found = catalogs.get_table(f"{db}.t").columns
    assert found
    for each in found:
        precision, scale = DECIMALS[each.data_type] if each.data_type in DECIMALS else values.decimal(each.data_type)
        assert str(each.arrow().type) == f"decimal128({precision}, {scale})"
        assert each.spark().lower().replace(" ", "") == f"decimal({precision},{scale})"


def test_8_6_c_a_decimal_that_is_none_is_an_error() -> None:
    for bad in ("decimal(a)", "decimal(10,", "decimal(99,2)", "decimal(2,10)", "int", ""):
        with pytest.raises(ConversionError):
            values.decimal(bad)


# 8.7


def test_8_7_a_the_versions_of_spark_trino_and_presto_are_read_from_a_table(catalogs: CatalogManager, db: str) -> None:
    for writer, key in (
        ("spark", "spark.sql.create.version"),
        ("trino", "trino_version"),
        ("trino", "trino.version"),
        ("presto", "presto_version"),
    ):
        name = f"{db}.by_{key.replace('.', '_dot_')}"
        table = catalogs.create_table(name, TableDefinition(columns=COLUMNS, properties={key: "4.7"}))
        found = origin(table)
        assert (found.writer, found.writer_version) == (writer, "4.7")


def test_8_7_b_icebergs_type_and_metadata_location_and_deltas_version_are_read_from_a_table(
    catalogs: CatalogManager, db: str
) -> None:
    iceberg = {"table_type": "ICEBERG", "metadata_location": "s3://b/m.json"}
    made = catalogs.create_table(f"{db}.i", TableDefinition(columns=COLUMNS, properties=iceberg))
    found = origin(made)
    assert (found.format.value, found.metadata_location) == ("iceberg", "s3://b/m.json")
    delta = {"spark.sql.sources.provider": "delta", "delta.minReaderVersion": "2"}
    made = catalogs.create_table(f"{db}.d", TableDefinition(columns=COLUMNS, properties=delta))
    found = origin(made)
    assert (found.format.value, found.provider) == ("delta", "delta")
    assert "2" in repr(found), "Delta's version is named"


def test_8_7_c_a_table_of_several_formats_names_all_of_them(catalogs: CatalogManager, db: str) -> None:
    both = {"table_type": "ICEBERG", "metadata_location": "s3://b/m.json", "delta.minReaderVersion": "2"}
    made = catalogs.create_table(f"{db}.b", TableDefinition(columns=COLUMNS, properties=both))
    assert {"iceberg", "delta"} <= {each.value for each in origin(made).formats}
