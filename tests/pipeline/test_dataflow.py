"""Projects of Spark's declarative pipelines: how they are started, and what is said if they cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from metastored.errors import ConfigError
from metastored.pipeline.dataflow import command, completed_flows, missing_modules, properties, run_project, spec_of


def test_settings_are_given_by_a_file_and_the_master_as_the_remote() -> None:
    words = command(Path("spark-pipelines"), Path("p/spark-pipeline.yml"), Path("s.properties"), "local[2]", False)
    assert words == [
        *("spark-pipelines", "run", "--remote", "local[2]", "--properties-file", "s.properties"),
        *("--load-spark-defaults", "--spec", "p/spark-pipeline.yml"),
    ]


def test_tables_are_refreshed_in_full_if_the_step_says_so() -> None:
    path = Path("s")
    assert command(path, path, path, "local", True)[-1] == "--full-refresh-all"
    assert command(path, path, path, "local", ("a", "b"))[-2:] == ["--full-refresh", "a,b"]


def test_settings_are_written_as_java_properties() -> None:
    assert properties({"spark.a": "C:\\x = y", "k:e y": "two\nlines"}) == "spark.a=C:\\\\x = y\nk\\:e\\ y=two\\nlines\n"


def test_a_folder_without_a_specification_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"has no spark-pipeline\.yml or spark-pipeline\.yaml"):
        spec_of(tmp_path)


def test_a_module_that_is_not_installed_is_found_missing() -> None:
    assert missing_modules(("json", "no_such_module", "no_such.module")) == ["no_such_module", "no_such.module"]


@pytest.mark.skipif(not missing_modules(), reason="pyspark[pipelines] is installed")
def test_without_the_extra_of_pyspark_the_error_names_the_pip_line(tmp_path: Path) -> None:
    (tmp_path / "spark-pipeline.yml").write_text("name: x\n")
    with pytest.raises(ConfigError, match=r"pip install 'pyspark\[pipelines\]'"):
        run_project(tmp_path, {}, False)


def test_completed_flows_are_counted_once() -> None:
    lines = [
        "2026-01-01: Flow spark_catalog.s.a has COMPLETED.",
        "Flow spark_catalog.s.a has COMPLETED.",
        "Run is DONE",
    ]
    assert completed_flows(lines) == 1
