"""How a run with several processes is divided."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sharing import TOGETHER, Sharing, scope_of


def test_a_file_is_one_scope() -> None:
    assert scope_of("tests/wire/test_sniff.py::test_a[1]") == "tests/wire/test_sniff.py"


def test_tests_that_share_a_session_of_spark_are_one_scope() -> None:
    assert scope_of("tests/spark/acid/test_files.py::test_a") == scope_of("tests/spark/acid/test_reading.py::test_b[x]")


def test_tests_that_start_spark_as_a_program_are_one_scope() -> None:
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
    assert starting <= {*TOGETHER["Spark session"], *TOGETHER["Spark programs"]}


class Process:
    """A process of the run: the tests that it was sent."""

    shutting_down = False

    def __init__(self) -> None:
        self.sent: list[int] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.sent += indices


def test_scopes_that_take_long_are_started_first(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytestconfig.option, "tx", ["popen"])
    tests = [
        *(f"tests/wire/test_sniff.py::test_{number}" for number in range(50)),
        *(f"tests/clients/test_spark.py::test_{number}" for number in range(10)),
        *(f"tests/spark/acid/test_files.py::test_{number}" for number in range(2)),
    ]
    sharing, process = Sharing(pytestconfig), Process()
    sharing.add_node(process)
    sharing.add_node_collection(process, tests)
    sharing.schedule()
    # A process that has few tests left gets the next scope.
    assert [scope_of(tests[index]) for index in process.sent] == [*["Spark session"] * 2, *["Spark programs"] * 10]
