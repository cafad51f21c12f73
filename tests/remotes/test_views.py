"""The text of views under local names: of Hive, of Spark and of Trino."""

from __future__ import annotations

import base64
import json

import pytest

from metastored.remotes.renaming import Renaming
from metastored.remotes.views import rename_property, rename_query, rename_view
from tests.support.remotes import remote_database, remote_table

SALES = Renaming((remote_database("sales", "raw", "thrift://hms:9083"),))
SEEN = Renaming((remote_table("shop.seen", "raw.clicks", "thrift://hms:9083"),))


def renamed(text: str, renaming: Renaming = SALES) -> str:
    return rename_query(text, renaming.pair, renaming.database)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM raw.clicks", "SELECT * FROM sales.clicks"),
        ("select `c`.`id` from `raw`.`clicks` `c`", "select `c`.`id` from `sales`.`clicks` `c`"),
        ("SELECT * FROM RAW.Clicks c, other.t", "SELECT * FROM sales.Clicks c, other.t"),
        ("SELECT 1 FROM a JOIN raw.b ON a.x = b.x, raw.c", "SELECT 1 FROM a JOIN sales.b ON a.x = b.x, sales.c"),
        ("SELECT * FROM (SELECT * FROM raw.t) q", "SELECT * FROM (SELECT * FROM sales.t) q"),
        ("SELECT * FROM (raw.a JOIN raw.b)", "SELECT * FROM (sales.a JOIN sales.b)"),
        ("WITH q AS (SELECT * FROM raw.t) SELECT * FROM q", "WITH q AS (SELECT * FROM sales.t) SELECT * FROM q"),
        ("SELECT 1 FROM a WHERE x IN (SELECT y FROM raw.t)", "SELECT 1 FROM a WHERE x IN (SELECT y FROM sales.t)"),
        ("SELECT 1 FROM x UNION ALL SELECT 2 FROM raw.t", "SELECT 1 FROM x UNION ALL SELECT 2 FROM sales.t"),
        ("SELECT * FROM spark_catalog.raw.t", "SELECT * FROM spark_catalog.sales.t"),
        ("SELECT raw.t.id FROM raw.t", "SELECT sales.t.id FROM sales.t"),
        ("SELECT raw.f(id) FROM t", "SELECT sales.f(id) FROM t"),
    ],
)
def test_a_table_of_the_remote_database_has_its_local_name(text: str, expected: str) -> None:
    assert renamed(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "SELECT raw.id FROM other.t raw",
        "SELECT 'FROM raw.t', \"x\" FROM t -- FROM raw.t\n/* JOIN raw.t */",
        "SELECT extract(day FROM raw.ts) FROM t raw",
        "SELECT 1 FROM t raw WHERE raw.x IS DISTINCT FROM raw.y",
        "SELECT `it``s`.`raw` FROM raw",
        "it's not SQL at all `",
        "",
    ],
)
def test_what_is_no_table_of_the_remote_database_stays(text: str) -> None:
    assert renamed(text) == text


def test_of_a_remote_table_only_this_table_is_renamed() -> None:
    assert renamed("SELECT * FROM raw.clicks, raw.users", SEEN) == "SELECT * FROM shop.seen, raw.users"


def test_a_trino_view_is_renamed_inside_of_its_encoding() -> None:
    definition = {"originalSql": 'SELECT * FROM "raw"."clicks"', "catalog": "hive", "schema": "raw", "columns": []}
    text = f"/* Presto View: {base64.b64encode(json.dumps(definition).encode()).decode()} */"
    found = rename_view(text, SALES.pair, SALES.database)
    encoded = found.removeprefix("/* Presto View: ").removesuffix(" */")
    assert json.loads(base64.b64decode(encoded)) == {
        **definition,
        "originalSql": 'SELECT * FROM "sales"."clicks"',
        "schema": "sales",
    }


def trino(sql: str, catalog: str = "old") -> str:
    definition = {"originalSql": sql, "catalog": catalog, "schema": "raw", "columns": []}
    return f"/* Presto View: {base64.b64encode(json.dumps(definition).encode()).decode()} */"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM old.raw.clicks", "SELECT * FROM lake.sales.clicks"),
        ('SELECT * FROM "old"."raw"."clicks" c', 'SELECT * FROM "lake"."sales"."clicks" c'),
        ("SELECT old.raw.clicks.id FROM old.raw.clicks", "SELECT lake.sales.clicks.id FROM lake.sales.clicks"),
        ("SELECT * FROM iceberg.raw.clicks", "SELECT * FROM iceberg.raw.clicks"),
        ("SELECT * FROM raw.clicks, clicks", "SELECT * FROM sales.clicks, clicks"),
        ("SELECT old.raw.f(x) FROM raw.t", "SELECT lake.sales.f(x) FROM sales.t"),
    ],
)
def test_the_catalog_of_a_trino_view_becomes_the_one_of_this_metastore(sql: str, expected: str) -> None:
    found = rename_view(trino(sql), SALES.pair, SALES.database, "lake")
    definition = json.loads(base64.b64decode(found.split()[3]))
    assert definition == {"originalSql": expected, "catalog": "lake", "schema": "sales", "columns": []}


def test_without_a_name_in_trino_a_view_keeps_its_catalog() -> None:
    found = rename_view(trino("SELECT * FROM old.raw.clicks"), SALES.pair, SALES.database)
    definition = json.loads(base64.b64decode(found.split()[3]))
    assert (definition["originalSql"], definition["catalog"]) == ("SELECT * FROM old.sales.clicks", "old")


def test_a_table_of_another_catalog_of_spark_stays() -> None:
    assert renamed("SELECT * FROM iceberg.raw.t") == "SELECT * FROM iceberg.raw.t"
    assert renamed("SELECT * FROM spark_catalog.raw.t") == "SELECT * FROM spark_catalog.sales.t"


def test_a_trino_view_that_cannot_be_read_stays() -> None:
    assert rename_view("/* Presto View: AAAA */", SALES.pair, SALES.database) == "/* Presto View: AAAA */"


@pytest.mark.parametrize("definition", [[], "raw", 7, None, {}, {"originalSql": 7, "catalog": "old"}, {"catalog": []}])
def test_a_definition_of_another_form_from_a_remote_stays(definition: object) -> None:
    text = f"/* Presto View: {base64.b64encode(json.dumps(definition).encode()).decode()} */"
    assert rename_view(text, SALES.pair, SALES.database, "lake") == text


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("view.catalogAndNamespace.part.1", "raw", "sales"),
        ("view.catalogAndNamespace.part.0", "raw", "raw"),
        ("view.catalogAndNamespace.numParts", "2", "2"),
        ("view.default.database", "raw", "sales"),
        ("comment", "raw", "raw"),
    ],
)
def test_the_database_in_which_spark_resolves_a_view_is_local(key: str, value: str, expected: str) -> None:
    assert rename_property(key, value, SALES.database) == expected
