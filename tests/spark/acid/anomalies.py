"""A checker of histories of transactions, in the manner of Elle: which anomalies a set of reads and writes proves.

Each row of the table is a key and a list of numbers; a write appends numbers that are used once. So the newest list of
a key is its complete history: any list that somebody reads has to be a prefix of it, and says which writes were seen.
Pure: transactions are recorded by `history_worker.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

OK, FAILED, UNKNOWN = "ok", "failed", "unknown"

Lists = Mapping[int, Sequence[int]]


class Transaction(NamedTuple):
    """What a transaction has read, written and heard of its commit."""

    name: str
    outcome: str
    read: Lists | None = None
    """The lists of all keys at its snapshot; None if it read nothing before it wrote."""
    appended: Mapping[int, int] = {}
    """The number that it appended to each of these keys."""
    inserted: Mapping[int, int] = {}
    """New keys, with their first number."""

    @property
    def wrote(self) -> dict[int, int]:
        return {**self.appended, **self.inserted}

    @classmethod
    def of(cls, record: dict[str, Any]) -> Transaction:
        def numbered(name: str) -> dict[int, int]:
            return {int(key): number for key, number in (record.get(name) or {}).items()}

        read = record.get("read")
        lists = None if read is None else {int(key): tuple(each) for key, each in read.items()}
        return cls(record["name"], record["outcome"], lists, numbered("appended"), numbered("inserted"))


def anomalies(history: Sequence[Transaction], final: Sequence[tuple[int, Sequence[int]]]) -> list[str]:
    """What is wrong with a history, given the rows at its end; nothing if all is right."""
    return [
        *_doubled(final),
        *_lost(history, dict(final)),
        *_dirty(history, dict(final)),
        *_forked(history, dict(final)),
        *_fractured(history, dict(final)),
        *_lost_updates(history, dict(final)),
        *_write_skew(history),
    ]


def _doubled(final: Sequence[tuple[int, Sequence[int]]]) -> Iterator[str]:
    for key, count in Counter(key for key, _ in final).items():
        if count > 1:
            yield f"doubled row: key {key} has {count} rows"
    for key, numbers in final:
        for number, count in Counter(numbers).items():
            if count > 1:
                yield f"doubled write: key {key} has {number} {count} times"


def _lost(history: Sequence[Transaction], final: Lists) -> Iterator[str]:
    for each in history:
        for key, number in each.wrote.items():
            if each.outcome == OK and number not in final.get(key, ()):
                yield f"lost write: {each.name} was committed, and key {key} has no {number}"


def _dirty(history: Sequence[Transaction], final: Lists) -> Iterator[str]:
    failed = {
        (key, number): each.name for each in history if each.outcome == FAILED for key, number in each.wrote.items()
    }
    for who, lists in [("the end", final), *((each.name, each.read or {}) for each in history)]:
        for key, numbers in lists.items():
            for number in numbers:
                if (key, number) in failed:
                    yield f"dirty read: {who} sees {number} of key {key}, which {failed[key, number]} has rolled back"


def _forked(history: Sequence[Transaction], final: Lists) -> Iterator[str]:
    for each in history:
        for key, numbers in (each.read or {}).items():
            newest = list(final.get(key, ()))
            if newest[: len(numbers)] != list(numbers):
                yield f"fork: {each.name} read {list(numbers)} of key {key}, which is not a prefix of {newest}"


def _fractured(history: Sequence[Transaction], final: Lists) -> Iterator[str]:
    """A snapshot, or the end, that shows one write of a transaction and not another one."""
    several = [each for each in history if len(each.wrote) > 1]
    for who, lists in [("the end", final), *((each.name, each.read) for each in history if each.read is not None)]:
        for each in several:
            seen = [number in lists.get(key, ()) for key, number in each.wrote.items()]
            if any(seen) and not all(seen):
                yield f"fractured read: {who} sees a part of {each.name}"


def _lost_updates(history: Sequence[Transaction], final: Lists) -> Iterator[str]:
    """A transaction that read a key and then appended to it follows directly what it has read."""
    for each in history:
        if each.outcome == FAILED or each.read is None:
            continue
        for key, number in each.appended.items():
            numbers = tuple(final.get(key, ()))
            if number in numbers and numbers[: numbers.index(number)] != tuple(each.read.get(key, ())):
                yield f"lost update: {each.name} appended {number} to key {key} after others that it had not read"


def _write_skew(history: Sequence[Transaction]) -> Iterator[str]:
    """Two transactions that changed rows of one table and have not seen each other: Hive lets one of them fail."""
    changed = [each for each in history if each.outcome == OK and each.read is not None and each.appended]
    for one, other in combinations(changed, 2):
        if not _saw(one, other) and not _saw(other, one):
            yield f"write skew: neither of {one.name} and {other.name} has seen the other"


def _saw(one: Transaction, other: Transaction) -> bool:
    assert one.read is not None
    return all(number in one.read.get(key, ()) for key, number in other.appended.items())
