"""When files can be copied byte for byte, and the numbers of rows in their footers. No Spark, no server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from pyarrow import orc

from metastored.model.makers import partition as new_partition
from metastored.model.makers import table as new_table
from metastored.model.spark.columns import schema_parameters
from metastored.model.spark.type_strings import parse_ddl
from metastored.model.spark.types import EXISTS_DEFAULT, StructField, StructType
from metastored.spark.copying.byte_copies import digest_of_files
from metastored.spark.copying.conditions import data_files, of_part, of_tables
from metastored.spark.copying.footers import UnknownFooter, rows_of
from metastored.spark.copying.planning import Part
from metastored.spark.files import LocalFiles
from metastored.structs import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.structs import replace

COLUMNS = {"id": "bigint", "name": "varchar(5)", "point": "struct<x:int,y:array<string>>"}


def plain(**changes: Any) -> Table:
    given = {"partitioned_by": {"ds": "string"}, "format": "parquet", **changes}
    columns = given.pop("columns", COLUMNS)
    return replace(new_table("db.t", columns, **given), dbName="db", tableName="t")


def with_sd(table: Table, **changes: Any) -> Table:
    return replace(table, sd=replace(table.sd or StorageDescriptor(), **changes))


def with_option(table: Table, key: str, value: str) -> Table:
    serde = (table.sd or StorageDescriptor()).serdeInfo or SerDeInfo()
    return with_sd(table, serdeInfo=replace(serde, parameters={**(serde.parameters or {}), key: value}))


def with_spark_schema(table: Table, schema: StructType) -> Table:
    known = {"spark.sql.sources.provider": "parquet", **schema_parameters(schema, ["ds"])}
    return replace(table, parameters={**(table.parameters or {}), **known})


def part(table: Table, *files: str, **changes: Any) -> Part:
    sd = new_partition(table, ["1"], location="file:/t/ds=1").sd or StorageDescriptor()
    return Part("ds=1", ("1",), "", replace(sd, **changes), tuple((name, 1) for name in files))


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_files_of_equal_tables_are_copied(format: str) -> None:
    assert of_tables(plain(format=format), plain(format=format)) is None


def test_a_table_of_a_spark_data_source_is_a_plain_table() -> None:
    schema = parse_ddl("Id BIGINT COMMENT 'the id', name VARCHAR(5), Point STRUCT<X: INT, y: ARRAY<STRING>>, ds STRING")
    source = with_option(with_spark_schema(plain(), schema), "path", "file:/t")
    assert of_tables(source, plain()) is None


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        (plain(format="textfile"), plain(format="textfile"), "neither Parquet nor ORC"),
        (plain(), plain(format="orc"), "the formats differ"),
        (plain(properties={"table_type": "ICEBERG"}), plain(), "the formats differ"),
        (plain(properties={"transactional": "true"}), plain(), "ACID"),
        (plain(), plain(properties={"transactional": "true"}), "ACID"),
        (plain(properties={"storage_handler": "X"}), plain(), "storage handler"),
        (plain(properties={"orc.force.positional.evolution": "true"}), plain(), "orc.force.positional.evolution"),
        (plain(columns={"id": "int"}), plain(columns={"id": "bigint"}), "the columns differ"),
        (plain(columns={"a": "int", "b": "int"}), plain(columns={"b": "int", "a": "int"}), "the columns differ"),
        (with_option(plain(), "mergeSchema", "true"), plain(), "mergeSchema"),
        (plain(), with_option(plain(), "pathGlobFilter", "*.x"), "pathGlobFilter"),
        (with_sd(plain(), inputFormat="other"), plain(), "only Spark reads it"),
        (with_spark_schema(plain(), parse_ddl("id TIMESTAMP_NTZ, ds STRING")), plain(), "different columns"),
        (
            with_spark_schema(
                plain(columns={"id": "bigint"}),
                StructType((*parse_ddl("ds STRING"), StructField("id", parse_ddl("a BIGINT").fields[0].data_type, True,
                                                                 {EXISTS_DEFAULT: "7"}))),
            ),
            plain(columns={"id": "bigint"}),
            EXISTS_DEFAULT,
        ),
    ],
)  # fmt: skip
def test_rows_are_rewritten_if_tables_are_read_in_different_ways(source: Table, target: Table, reason: str) -> None:
    assert reason in (of_tables(source, target) or "")


@pytest.mark.parametrize("key", ["orc.compress", "orc.stripe.size", "parquet.compression", "comment"])
def test_settings_of_writers_do_not_matter(key: str) -> None:
    assert of_tables(plain(properties={key: "1"}), plain()) is None


def test_files_of_a_partition_like_its_table_are_copied() -> None:
    found = part(plain(), "part-0.parquet", "000000_0", "_SUCCESS", ".x.crc", "_temporary/0/part-1", ".stage/part-2")
    assert of_part(plain(), found) is None
    assert data_files(found) == (("part-0.parquet", 1), ("000000_0", 1))


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (part(plain(), cols=(FieldSchema("id", "bigint"),)), "other columns"),
        (part(plain(format="orc")), "another format"),
        (part(with_option(plain(), "mergeSchema", "true")), "mergeSchema"),
        (part(plain(), "deeper/part-0"), "is in a subdirectory"),
        (part(plain(), "_x=1"), "is hidden only for Hive"),
        (part(plain(), "_x=1/part-0"), "is hidden only for Hive"),
        (part(plain(), "part-0._COPYING_"), "is hidden only for Spark"),
    ],
)
def test_rows_are_rewritten_for_a_partition_that_is_read_in_another_way(found: Part, reason: str) -> None:
    assert reason in (of_part(plain(), found) or "")


def test_a_table_is_copied_from_where_spark_reads_it() -> None:
    table = with_sd(plain(partitioned_by=None), location="file:/t")
    for path, same in (("file:///t", True), ("/t", True), ("file:/other", False)):
        sd = with_option(table, "path", path).sd or StorageDescriptor()
        assert (of_part(table, Part("", (), "", sd)) is None) is same


def test_the_path_of_a_table_is_not_that_of_its_partitions() -> None:
    assert of_part(plain(), part(with_option(plain(), "path", "file:/t"))) is None


def rows(folder: Path, name: str, format: str) -> int:
    return rows_of(LocalFiles(), folder.as_uri(), name, (folder / name).stat().st_size, format)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 100_000])
def test_the_number_of_rows_is_read_from_a_footer(tmp_path: Path, count: int) -> None:
    table = pyarrow.table({"id": pyarrow.array(range(count), pyarrow.int64())})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=1000)
    orc.write_table(table, tmp_path / "a.orc", compression="zlib")
    assert rows(tmp_path, "a.parquet", "parquet") == rows(tmp_path, "a.orc", "orc") == count


def test_a_footer_may_be_longer_than_one_read(tmp_path: Path) -> None:
    names = [f"{'long_name_' * 20}{at}" for at in range(1000)]
    pyarrow.parquet.write_table(pyarrow.table({name: [1, 2] for name in names}), tmp_path / "wide.parquet")
    assert rows(tmp_path, "wide.parquet", "parquet") == 2


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "000000_0").touch()
    assert rows(tmp_path, "000000_0", "orc") == 0


@pytest.mark.parametrize("content", [b"x", b"x" * 100, b"PAR1" * 10, b"\0\0\0\0\4\0\0\0PAR1", b"\x15\4\1\0\0\0PARE"])
def test_a_file_whose_footer_cannot_be_read_is_recognized(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    for format in ("parquet", "orc"):
        with pytest.raises(UnknownFooter):
            rows(tmp_path, "file", format)


def test_orc_files_that_hive_3_cannot_read_are_rewritten(tmp_path: Path) -> None:
    orc.write_table(pyarrow.table({"id": [1]}), tmp_path / "a.orc", compression="zstd")
    with pytest.raises(UnknownFooter, match=r"Hive 3\.1"):
        rows(tmp_path, "a.orc", "orc")


def test_the_checksum_of_files_depends_on_names_and_contents_and_not_on_their_order() -> None:
    first = digest_of_files({"a": "1", "b": "2"})
    assert first == digest_of_files({"b": "2", "a": "1"})
    assert len({first, digest_of_files({"a": "2", "b": "1"}), digest_of_files({"a": "1"}), digest_of_files({})}) == 4
