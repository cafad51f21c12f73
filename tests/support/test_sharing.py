"""How a run with several processes is divided."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.durations import printed, updated
from tests.support.sharing import NOTHING, Order, Sharing, durations, scope_of

TESTS = Path(__file__).parent.parent
MEASURED = {
    "spark": {"spark_1": 50.0, "spark_2": 20.0, "spark_3": 10.0},
    "hive": {"hive_1": 40.0},
    NOTHING: {"long": 60.0},
}


def in_turn(processes: list[str]) -> list[str]:
    """The files that the processes get, in the order in which they ask for one."""
    order, left = Order(MEASURED), ["short", "long", "hive_1", "spark_3", "spark_2", "spark_1"]
    given = []
    for process in processes:
        file = order.next_file(process, left)
        left.remove(file)
        given.append(file)
    return given


def test_a_file_is_one_scope() -> None:
    assert scope_of("tests/wire/test_sniff.py::test_a[1]") == "tests/wire/test_sniff.py"


def test_a_process_takes_the_files_that_share_what_it_has_started() -> None:
    assert in_turn(["a", "b", "a", "b"]) == ["spark_1", "hive_1", "spark_2", "long"]


def test_a_process_without_work_helps_another_at_the_end() -> None:
    assert in_turn(["a", "b", "b", "b", "b", "b"]) == ["spark_1", "hive_1", "long", "short", "spark_2", "spark_3"]


@pytest.mark.parametrize("file", [file for files in durations().values() for file in files])
def test_files_that_are_listed_exist(file: str) -> None:
    assert (TESTS.parent / file).is_file()


def test_every_file_that_starts_spark_is_listed_with_it() -> None:
    starting = {
        f"tests/{file.relative_to(TESTS).as_posix()}"
        for file in TESTS.rglob("test_*.py")
        if "mark.spark" in file.read_text("utf-8") and file != Path(__file__)
    }
    listed = durations()
    assert starting <= {*listed["spark-session"], *listed["spark-programs"]}


def test_the_seconds_of_a_run_are_taken_over() -> None:
    run = {"spark_1": 7.4, "hive_1": 9.0, "new": 12.0, "short": 0.5}
    assert updated(MEASURED, run) == {
        "spark": {"spark_1": 7.4, "spark_2": 20.0, "spark_3": 10.0},
        "hive": {"hive_1": 9.0},
        NOTHING: {"new": 12.0},
    }
    assert '[spark]\n"spark_2" = 20\n"spark_3" = 10\n"spark_1" = 7\n' in printed(updated(MEASURED, run))


class Process:
    """A process of the run: the tests that it was sent."""

    shutting_down = False

    def __init__(self) -> None:
        self.sent: list[int] = []
        self.gateway = SimpleNamespace(id="gw")

    def send_runtest_some(self, indices: list[int]) -> None:
        self.sent += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def test_files_of_one_kind_follow_each_other(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytestconfig.option, "tx", ["popen"])
    tests = [
        *(f"tests/wire/test_sniff.py::test_{number}" for number in range(50)),
        *(f"tests/spark/acid/test_files.py::test_{number}" for number in range(1)),
        *(f"tests/spark/acid/test_reading.py::test_{number}" for number in range(2)),
    ]
    sharing, process = Sharing(pytestconfig), Process()
    sharing.add_node(process)
    sharing.add_node_collection(process, tests)
    sharing.schedule()
    # A process that has few tests left gets the next file.
    assert all("acid" in tests[index] for index in process.sent)


def test_every_test_is_sent_once_and_what_a_lost_process_had_left_goes_to_another(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytestconfig.option, "tx", ["popen", "popen"])
    tests = [f"tests/wire/test_{file}.py::test_{number}" for file in "abcdef" for number in range(7)]
    sharing, first, second = Sharing(pytestconfig), Process(), Process()
    for process in (first, second):
        sharing.add_node(process)
        sharing.add_node_collection(process, tests)
    sharing.schedule()
    done = [first.sent.pop(0) for _ in range(3)]
    for number in done:
        sharing.mark_test_complete(first, number)
    lost = sharing.remove_node(first)
    assert lost == tests[first.sent[0]]
    while second.sent:
        number = second.sent.pop(0)
        done.append(number)
        sharing.mark_test_complete(second, number)
    assert sorted(done) == list(range(len(tests)))
    assert sharing.tests_finished and not sharing.has_pending
