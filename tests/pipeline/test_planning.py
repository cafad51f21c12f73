"""Parameters, secrets, and the order of steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from metastored.errors import ConfigError, PipelineError
from metastored.pipeline import prepared
from metastored.pipeline.parameters import redacted, secrets_of, with_secrets
from metastored.pipeline.planning import texts_of
from metastored.pipeline.secrets import secret_lookup

FILE = """\
parameters: {date: 2024-01-01, table: }
steps:
  - {name: last, type: analyze, table: "{{ table }}", needs: [first]}
  - {name: first, type: sql, sql: "SELECT '{{ date }}', '{{date}}', '{{ env:PASSWORD }}'"}
"""


def find_secret(kind: str, name: str) -> str:
    return {"env": "s3cret"}[kind] + name


def test_parameters_are_replaced_and_steps_are_in_the_order_of_their_needs() -> None:
    pipeline, values = prepared(FILE, "f.yml", {"table": "shop.t"})
    assert [step.name for step in pipeline.steps] == ["first", "last"]
    assert pipeline.step("first").text("sql") == "SELECT '2024-01-01', '2024-01-01', '{{ env:PASSWORD }}'"
    assert pipeline.step("last").text("table") == "shop.t"
    assert values == {"date": "2024-01-01", "table": "shop.t"}


def test_a_flag_has_precedence_over_the_default_of_the_file() -> None:
    pipeline, _ = prepared(FILE, "f.yml", {"table": "shop.t", "date": "2025-05-05"})
    assert "2025-05-05" in pipeline.step("first").text("sql")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "the parameter 'table' has no value: give --param table=…"),
        ({"table": "s.t", "day": "1"}, "the pipeline has no parameter 'day'; it has date, table"),
        ({"table": "{{ date }}"}, "the value of the parameter 'table' refers to another parameter"),
        ({"table": "nowhere"}, "f.yml:3: table: 'nowhere' does not name a table"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(given: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem.replace("(", r"\(")):
        prepared(FILE, "f.yml", given)


def test_the_rules_for_words_hold_after_parameters_are_replaced() -> None:
    text = "parameters: {m: all}\nsteps: [{name: a, type: repair, table: s.t, mode: '{{ m }}'}]"
    with pytest.raises(PipelineError, match="mode is 'all'; it has to be add or drop or sync"):
        prepared(text, "f.yml", {})


def test_a_step_runs_as_early_as_the_file_has_it() -> None:
    text = "steps:\n" + "\n".join(
        f"  - {{name: {name}, type: sql, sql: SELECT 1, needs: [{needs}]}}"
        for name, needs in (("a", ""), ("b", "d"), ("c", ""), ("d", "a"))
    )
    assert [step.name for step in prepared(text, "f.yml", {})[0].steps] == ["a", "c", "d", "b"]


def test_secrets_are_replaced_only_for_the_step_that_runs() -> None:
    pipeline, values = prepared(FILE, "f.yml", {"table": "shop.t"})
    text = pipeline.step("first").text("sql")
    assert with_secrets(text, find_secret).endswith("'s3cretPASSWORD'")
    assert secrets_of(texts_of(pipeline, values), find_secret) == {"s3cretPASSWORD"}


def test_errors_lose_the_values_of_secrets() -> None:
    assert redacted("no login with abc or abcd", frozenset({"abc", "abcd"})) == "no login with *** or ***"


def test_secrets_come_from_the_environment_and_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_PASSWORD", "one")
    (tmp_path / "password").write_text("two\n")
    find = secret_lookup(tmp_path)
    assert (find("env", "SOME_PASSWORD"), find("file", "password")) == ("one", "two")


def test_a_secret_that_is_missing_is_refused_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_PASSWORD", raising=False)
    find = secret_lookup(tmp_path)
    with pytest.raises(ConfigError, match="SOME_PASSWORD"):
        find("env", "SOME_PASSWORD")
    with pytest.raises(ConfigError, match=r"nothing, which .* cannot be read: No such file"):
        find("file", "nothing")
