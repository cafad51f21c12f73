"""ReplyCache that are remembered while what they were made from is the same."""

from __future__ import annotations

from metastored.service.core import reply_cache as answers
from metastored.service.core.reply_cache import ReplyCache
from metastored.wire.generated.transactions import GetValidWriteIdsResponse, TableValidWriteIds

METHOD = "get_valid_write_ids"


class Source:
    """ReplyCache that tell the version that they saw, and how many there were."""

    def __init__(self) -> None:
        self.version = 1
        self.asked = 0
        self.answers = ReplyCache()

    def ask(self) -> GetValidWriteIdsResponse:
        self.asked += 1
        return GetValidWriteIdsResponse((TableValidWriteIds("db.t", self.version),))

    def of(self, question: str, length: int = 10) -> bytes:
        return self.answers.of(METHOD, question, self.version, length, self.ask)


def test_a_question_is_asked_once_while_nothing_changes() -> None:
    source = Source()
    assert source.of("a") == source.of("a")
    source.of("b")
    assert source.asked == 2


def test_another_version_has_another_answer() -> None:
    source = Source()
    before = source.of("a")
    source.version = 2
    assert source.of("a") != before
    assert source.asked == 2


def test_the_same_question_to_two_methods_has_two_answers() -> None:
    source = Source()
    source.of("a")
    other = source.answers.of("get_all_databases", "a", 1, 1, lambda: ("x",))
    assert other != source.of("a")


def test_an_answer_that_was_made_during_a_change_is_not_kept() -> None:
    source = Source()

    def changing() -> GetValidWriteIdsResponse:
        found = source.ask()
        source.version = 2
        return found

    stale = source.answers.of(METHOD, "a", 1, 1, changing)
    assert source.of("a") != stale


def test_a_thread_that_is_late_does_not_bring_old_answers_back() -> None:
    source = Source()

    def overtaken() -> GetValidWriteIdsResponse:
        found = source.ask()
        source.version = 2
        source.of("a")
        return found

    stale = source.answers.of(METHOD, "a", 1, 1, overtaken)
    assert source.of("a") != stale


def test_what_is_longer_than_all_that_may_be_kept_is_asked_each_time() -> None:
    source = Source()
    source.of("a", answers.MOST_BYTES)
    source.of("a", answers.MOST_BYTES)
    assert source.asked == 2


def test_the_number_of_answers_is_bounded() -> None:
    source = Source()
    for number in range(answers.MOST + 1):
        source.of(str(number))
    source.of(str(answers.MOST))
    assert source.asked == answers.MOST + 1
    source.of("0")
    assert source.asked == answers.MOST + 2
