"""How a run with several processes is divided."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sharing import TOGETHER, scope_of


def test_a_file_is_one_scope() -> None:
    assert scope_of("tests/wire/test_sniff.py::test_a[1]") == "tests/wire/test_sniff.py"


def test_tests_that_start_spark_are_one_scope() -> None:
    assert scope_of("tests/clients/test_spark.py::test_a") == scope_of("tests/server/test_tls_spark.py::test_b[x]")


@pytest.mark.parametrize("file", [file for files in TOGETHER.values() for file in files])
def test_tests_that_are_kept_together_exist(file: str) -> None:
    assert (Path(__file__).parent.parent.parent / file).is_file()


def test_every_suite_that_starts_spark_is_kept_together() -> None:
    tests = Path(__file__).parent.parent
    starting = {
        f"tests/{file.relative_to(tests).as_posix()}"
        for file in tests.rglob("test_*.py")
        if "mark.spark" in file.read_text("utf-8") and file != Path(__file__)
    }
    assert starting <= set(TOGETHER["Spark"])
