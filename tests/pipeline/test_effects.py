"""What steps read and write, the tables that have to exist, and the drawing of both."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from metastored.errors import PipelineError
from metastored.pipeline import Step, as_svg, as_text, prepared
from metastored.pipeline.checks import check_tables
from metastored.pipeline.effects import effects_of


def sql(text: str, name: str = "a", line: int = 1) -> Step:
    return Step(name, "sql", line, keys={"sql": text})


@pytest.mark.parametrize(
    ("text", "reads", "writes", "requires"),
    [
        ("SELECT * FROM s.a JOIN s.b USING (id)", {"s.a", "s.b"}, set(), {"s.a", "s.b"}),
        ("INSERT INTO s.t SELECT * FROM s.a", {"s.a"}, {"s.t"}, {"s.a", "s.t"}),
        ("INSERT OVERWRITE TABLE s.t PARTITION (ds='1') SELECT * FROM s.a", {"s.a"}, {"s.t"}, {"s.a", "s.t"}),
        ("CREATE TABLE s.t AS SELECT * FROM s.a", {"s.a"}, {"s.t"}, {"s.a"}),
        ("CREATE TABLE s.t (id INT); INSERT INTO s.t SELECT 1", set(), {"s.t"}, set()),
        ("CREATE VIEW s.v AS SELECT * FROM s.a", {"s.a"}, {"s.v"}, {"s.a"}),
        (
            "MERGE INTO s.t USING s.a ON t.id = a.id WHEN MATCHED THEN DELETE",
            {"s.a"},
            {"s.t"},
            {"s.a", "s.t"},
        ),
        ("DELETE FROM s.t WHERE id IN (SELECT id FROM s.a)", {"s.a"}, {"s.t"}, {"s.a", "s.t"}),
        ("DROP TABLE IF EXISTS s.t", set(), {"s.t"}, set()),
        ("WITH x AS (SELECT * FROM s.a) SELECT * FROM x", {"s.a"}, set(), {"s.a"}),
        ("USE s; SELECT * FROM a", {"s.a"}, set(), {"s.a"}),
        ("SELECT * FROM a", {"default.a"}, set(), {"default.a"}),
        ("CREATE TEMPORARY VIEW v AS SELECT * FROM s.a; SELECT * FROM v", {"s.a"}, set(), {"s.a"}),
        ("SELECT ';', * FROM s.a -- ; FROM s.b", {"s.a"}, set(), {"s.a"}),
    ],
)
def test_the_tables_of_statements(text: str, reads: set[str], writes: set[str], requires: set[str]) -> None:
    effects = effects_of(sql(text))
    assert (effects.reads, effects.writes, effects.requires) == (reads, writes, requires)


def test_the_tables_of_other_steps() -> None:
    copy = effects_of(Step("a", "copy", 1, keys={"from": "R.T", "to": "s.t"}))
    assert (copy.reads, copy.writes, copy.requires) == ({"r.t"}, {"s.t"}, {"r.t"})
    databases = effects_of(Step("a", "copy", 1, keys={"from": "r", "to": "s"}))
    assert (databases.reads, databases.writes) == ({"r.*"}, {"s.*"})
    assert effects_of(Step("a", "repair", 1, keys={"table": "s.t", "mode": "add"})).requires == {"s.t"}
    assert effects_of(Step("a", "python", 1, keys={"file": "a.py", "function": "f"})).anything


def missing(*steps: Step, existing: tuple[str, ...] = ()) -> list[tuple[int, str]]:
    try:
        check_tables("f.yml", steps, existing.__contains__)
    except PipelineError as error:
        return list(error.problems)
    return []


def test_a_table_that_nobody_makes_is_refused_before_anything_runs() -> None:
    found = missing(sql("SELECT * FROM s.a, s.b", line=7), existing=("s.*", "s.b"))
    assert found == [(7, "the step 'a' needs the table s.a, which does not exist and no earlier step makes")]


def test_a_table_that_an_earlier_step_makes_need_not_exist() -> None:
    there = ("s.*",)
    assert missing(sql("CREATE TABLE s.a (id INT)"), sql("SELECT * FROM s.a", "b"), existing=there) == []
    assert len(missing(sql("SELECT * FROM s.a", "b"), sql("CREATE TABLE s.a (id INT)"), existing=there)) == 1


COPY = Step("fetch", "copy", 4, keys={"from": "far.t", "to": "near.t"})
LANCE = Step("fetch", "lance", 4, keys={"from": "far.t", "to": "near.t"})
NO_DATABASE = (
    "the step 'fetch' needs the database near, which does not exist and no earlier step makes: "
    "a sql step with CREATE DATABASE near makes it"
)


@pytest.mark.parametrize(
    "step",
    [
        COPY,
        LANCE,
        sql("CREATE TABLE near.t AS SELECT * FROM far.t", "fetch", 4),
        sql("CREATE VIEW near.t AS SELECT * FROM far.t", "fetch", 4),
        sql("USE near; CREATE TABLE t (id INT)", "fetch", 4),
        sql("SELECT * FROM near.a, near.b, far.t", "fetch", 4),
        sql("CREATE REMOTE TABLE near.t WITH TBLPROPERTIES ('hive.metastore.uris' = 'thrift://h:1')", "fetch", 4),
    ],
)
def test_a_database_that_nobody_makes_is_refused_before_anything_runs(step: Step) -> None:
    assert missing(step, existing=("far.*", "far.t")) == [(4, NO_DATABASE)]
    made = sql("CREATE DATABASE IF NOT EXISTS near")
    assert missing(made, step, existing=("far.*", "far.t")) == []


def test_a_database_that_the_step_itself_or_a_copy_makes_need_not_exist() -> None:
    assert missing(sql("CREATE DATABASE near; CREATE TABLE near.t (id INT)")) == []
    whole = Step("all", "copy", 1, keys={"from": "far", "to": "near"})
    assert missing(whole, sql("CREATE TABLE near.v AS SELECT * FROM near.t", "b"), existing=("far.*",)) == []


def test_a_table_of_a_missing_database_can_be_dropped_if_it_exists() -> None:
    assert missing(sql("DROP TABLE IF EXISTS near.t")) == []


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE REMOTE DATABASE far WITH DBPROPERTIES ('hive.metastore.uris' = 'thrift://host:9083')",
        "CREATE DATABASE far WITH DBPROPERTIES ('hive.metastore.uris'='thrift://h:1')",
    ],
)
def test_tables_of_a_database_that_is_made_are_not_known_before(statement: str) -> None:
    assert missing(sql(statement), sql("SELECT * FROM far.t", "b")) == []
    assert len(missing(sql("SELECT * FROM far.t", "b"), sql(statement))) == 1


def test_after_a_python_step_every_table_may_exist() -> None:
    python = Step("p", "python", 1, keys={"file": "a.py", "function": "f"})
    assert missing(python, sql("SELECT * FROM s.a")) == []


def test_a_statement_of_metastored_that_cannot_be_parsed_is_refused() -> None:
    assert "'a'" in missing(sql("CREATE REMOTE TABEL x", line=3))[0][1]


STEPS = prepared(
    """\
steps:
  - {name: fetch, type: copy, from: far.orders, to: shop.orders}
  - {name: totals, type: sql, needs: [fetch], sql: "INSERT INTO shop.totals SELECT count(*) FROM shop.orders"}
  - {name: own, type: python, file: a.py, function: f, needs: [totals]}
""",
    "f.yml",
    {},
)[0].steps


def test_the_steps_are_drawn_as_text() -> None:
    assert as_text(STEPS).splitlines() == [
        "1. fetch (copy)",
        "     reads far.orders",
        "     writes shop.orders",
        "2. totals (sql)  after fetch",
        "     reads shop.orders",
        "     writes shop.totals",
        "3. own (python)  after totals",
        "     reads any",
        "     writes any",
    ]


def test_the_steps_are_drawn_as_svg() -> None:
    root = ElementTree.fromstring(as_svg(STEPS))
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}rect")) == 3
    assert len(root.findall(f"{space}path")) == 2
    texts = [each.text for each in root.findall(f"{space}text")]
    assert "fetch  (copy)" in texts and "writes shop.totals" in texts
