"""Files of pipelines: what is read, and every rule with the line that its error names."""

from __future__ import annotations

import pytest

from metastored.errors import PipelineError
from metastored.pipeline import read

GOOD = """\
metastore: thrift://localhost:9083
spark:
  spark.sql.shuffle.partitions: 4
parameters:
  date: 2024-01-01
  region:
steps:
  - name: fetch
    type: copy
    from: remote.orders
    to: shop.orders
    partitions: ds = '{{ date }}'
  - name: totals
    type: sql
    needs: [fetch]
    sql: |
      INSERT INTO shop.totals SELECT count(*) FROM shop.orders
"""


def problems(text: str) -> list[tuple[int, str]]:
    with pytest.raises(PipelineError) as raised:
        read(text, "daily.yml")
    return list(raised.value.problems)


def steps(*lines: str) -> str:
    return "steps:\n" + "\n".join(f"  - {line}" for line in lines)


def test_a_file_is_read() -> None:
    found = read(GOOD, "some/daily.yml")
    assert (found.name, found.metastore) == ("daily", "thrift://localhost:9083")
    assert found.spark == {"spark.sql.shuffle.partitions": "4"}
    assert found.parameters == {"date": "2024-01-01", "region": None}
    fetch, totals = found.steps
    assert (fetch.type, fetch.line, fetch.needs) == ("copy", 8, ())
    assert fetch.keys["partitions"] == "ds = '{{ date }}'"
    assert totals.needs == ("fetch",)


def test_keys_that_are_not_written_have_their_defaults() -> None:
    (copy,) = read(steps("{name: a, type: copy, from: r.t, to: s.t}"), "f.yml").steps
    assert copy.keys == {"from": "r.t", "to": "s.t", "mode": "incremental"}
    (analyze,) = read(steps("{name: a, type: analyze, table: s.t}"), "f.yml").steps
    assert analyze.keys == {"table": "s.t", "columns": "all", "histograms": False}


def test_an_error_names_the_file_and_the_line() -> None:
    with pytest.raises(PipelineError, match=r"^daily\.yml:1: "):
        read("stps: []", "daily.yml")


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ("{name: a, type: sql}", "the sql step 'a' has no sql: a text"),
        ("{name: a, type: sql, sql: SELECT 1, table: s.t}", "the sql step 'a' has no key 'table'; known are name"),
        ("{name: a, type: sqll, sql: SELECT 1}", "there is no type 'sqll'; known are sql, python"),
        ("{type: sql, sql: SELECT 1}", "a step has no name"),
        ("{name: a, sql: SELECT 1}", "a step has no type"),
        ("{name: a b, type: sql, sql: SELECT 1}", "the name 'a b' of a step has other signs"),
        ("{name: a, type: sql, sql: 5}", "sql is the number '5'; it has to be a text"),
        ("{name: a, type: sql, sql: [SELECT 1]}", "sql is a list; it has to be a text"),
        ("{name: a, type: sql, sql: ''}", "sql is empty"),
        ("{name: a, type: analyze, table: t}", "table: 't' does not name a table"),
        ("{name: a, type: analyze, table: s.t, columns: some}", "columns is 'some'; it has to be all or a list"),
        ("{name: a, type: analyze, table: s.t, columns: [1]}", "columns has the number '1' in it"),
        ("{name: a, type: analyze, table: s.t, histograms: 'yes'}", "histograms is the text 'yes'; it has to be true"),
        ("{name: a, type: copy, from: r.t, to: s.t, mode: append}", "mode is 'append'; it has to be incremental or ov"),
        ("{name: a, type: copy, from: r.t, to: s.t, format: avro}", "format is 'avro'; it has to be parquet or orc"),
        ("{name: a, type: copy, from: r, to: s.t}", "from and to are two tables or two databases"),
        ("{name: a, type: copy, from: r, to: s, partitions: a = 1}", "partitions belong to a table"),
        ("{name: a, type: repair, table: s.t, mode: all}", "mode is 'all'; it has to be add or drop or sync"),
        ("{name: a, type: compact, table: s.t, kind: full}", "kind is 'full'; it has to be minor or major"),
        ("{name: a, type: lance, from: s.t}", "the lance step 'a' has no to: a table (database.table)"),
        ("{name: a, type: python, file: a.py}", "the python step 'a' has no function"),
        ("{name: a, type: dataflow}", "the dataflow step 'a' has no project"),
        ("{name: a, type: dataflow, project: p, full_refresh: all}", "full_refresh is the text 'all'; it has to be tr"),
        ("{name: a, type: sql, sql: SELECT 1, needs: b}", "needs is the text 'b'; it has to be a list"),
        ("{name: a, type: sql, sql: SELECT 1, needs: [b]}", "the step 'a' needs 'b', and there is no such step"),
        ("{name: a, type: sql, sql: 'SELECT {{ day }}'}", "there is no parameter 'day'; the file has none"),
        ("{name: a, type: sql, sql: 'SELECT {{ 1 + 1 }}'}", "{{ 1 + 1 }} is not a reference"),
        ("just words", "a step is a mapping with name and type, not the text 'just words'"),
    ],
)
def test_a_step_that_breaks_a_rule_is_refused_with_its_line(step: str, problem: str) -> None:
    found = problems("parameters: {}\n" + steps(step))
    assert [line for line, _ in found] == [3]
    assert problem in found[0][1]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "the file is empty"),
        ("- a", 1, "a pipeline is a mapping with the key steps"),
        ("spark: {}", 1, "there are no steps"),
        ("steps: []", 1, "steps is a list of at least one step"),
        ("steps:\n  a: b\n", 2, "steps is a list of at least one step, not a mapping"),
        ("\nsetps: []\nsteps: [{name: a, type: sql, sql: SELECT 1}]", 2, "a pipeline has no key 'setps'; known are"),
        (
            "steps: [{name: a, type: sql, sql: SELECT 1}]\nspark: 1",
            2,
            "spark is the number '1'; it has to be",
        ),
        ("steps: [{name: a, type: sql, sql: SELECT 1}]\nspark: {a: [1]}", 2, "spark.a is a list"),
        ("steps: [{name: a, type: sql, sql: SELECT 1}]\nmetastore: 7", 2, "metastore is the number '7'"),
        ("steps: [{name: a, type: sql, sql: SELECT 1}]\nparameters: {a-b: 1}", 2, "the parameter 'a-b' has to be"),
        ("parameters: {a: '{{ b }}', b: 1}\nsteps: [{name: a, type: sql, sql: S}]", 1, "cannot refer to another"),
        ("steps:\n  - name: a\n    name: b\n", 3, "the key 'name' is in line 2 already"),
        ("steps:\n  - name: a\n    sql: {{ date }}\n", 3, "a text that begins with {{ has to be in quotes"),
        ("steps: [\n", 2, "this is not YAML"),
        ("steps: !!python/object:os.system {}\n", 1, "steps is a list"),
        ("steps: [{name: a, type: sql, sql: !secret x}]\n", 1, "the tag !secret is not allowed here"),
        ("steps: &a [*a]\n", 1, "this value contains itself"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused_with_its_line(text: str, line: int, problem: str) -> None:
    found = problems(text)
    assert any(each[0] == line and problem in each[1] for each in found), found


def test_two_steps_of_one_name_are_refused() -> None:
    found = problems(steps("{name: a, type: sql, sql: SELECT 1}", "{name: a, type: sql, sql: SELECT 2}"))
    assert found == [(3, "the step in line 2 has the name 'a' already")]


def test_a_circle_is_refused_with_its_steps() -> None:
    found = problems(
        steps(
            "{name: a, type: sql, sql: SELECT 1, needs: [c]}",
            "{name: b, type: sql, sql: SELECT 1, needs: [a]}",
            "{name: c, type: sql, sql: SELECT 1, needs: [b]}",
        )
    )
    assert found == [(2, "the steps need each other in a circle: a needs c needs b needs a")]


def test_all_problems_of_a_file_are_reported_together() -> None:
    found = problems(steps("{name: a, type: sql}", "{name: b, type: analyze, table: t}") + "\nmore: 1\n")
    assert [line for line, _ in found] == [2, 3, 4]
