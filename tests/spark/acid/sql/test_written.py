"""The tables that a statement writes, by the words before their names."""

from __future__ import annotations

import pytest

from metastored.spark.acid.sql.indirection import only_literals
from metastored.spark.acid.sql.written import written_by


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("insert into a.t select * from a.s", {("a", "t")}),
        ("INSERT OVERWRITE TABLE `a`.`t` PARTITION (ds) SELECT * FROM s", {("a", "t")}),
        ("insert overwrite t values (1)", {("t",)}),
        ("with c as (select 1) insert into spark_catalog.a.t select * from c", {("spark_catalog", "a", "t")}),
        ("from s insert overwrite table a.t select x insert into b.u select y", {("a", "t"), ("b", "u")}),
        ("truncate table a.t partition (ds = '1')", {("a", "t")}),
        ("merge into a.t using s on t.id = s.id when matched then update set x = 1", {("a", "t")}),
        ("update a.t set x = 1", {("a", "t")}),
        ("delete from a.t where x", {("a", "t")}),
        ("load data local inpath '/f' overwrite into table a.t", {("a", "t")}),
        ("create table if not exists a.t as select * from a.s", {("a", "t")}),
        ("create or replace table a.t using parquet as select 1", {("a", "t")}),
        ("begin insert into a.t select 1; truncate table a.u; end", {("a", "t"), ("a", "u")}),
        ("insert into identifier('a.' || 't') values (1)", {("a", "t")}),
        ("execute immediate 'insert into a.t values (1)'", {("a", "t")}),
        ("insert into `table` values ('insert into a.u')", {("table",)}),
        ("insert into a.t -- into b.u\nselect 1", {("a", "t")}),
    ],
)
def test_a_statement_writes_the_tables_behind_its_words(statement: str, expected: set[tuple[str, ...]]) -> None:
    assert written_by(statement, lambda text: "a.t" if "||" in text else only_literals(text)) == expected


@pytest.mark.parametrize(
    "statement",
    [
        "select * from a.t",
        "select replace(x, 'a', 'b') from t",
        "insert overwrite local directory '/x' using parquet select * from t",
        "create or replace temporary view v as select * from t",
        "create global temporary view v as select 1",
        "create database d",
        "describe a.t",
        "show create table a.t",
        "drop table a.t",
        "alter table a.t set tblproperties ('a' = 'b')",
        "cache table a.t",
        "execute immediate 'select max(x) from a.t' into v",
    ],
)
def test_other_statements_write_none(statement: str) -> None:
    assert written_by(statement, only_literals) == frozenset()
