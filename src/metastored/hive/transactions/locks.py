"""Which locks conflict, and which request is granted first. Pure: no lock is stored here.

Locks are on a database, a table or a partition; locks on an object above or below count too. A request waits for every
older one that conflicts with it, whether that one holds its lock or waits itself: the queue is first in, first out.
Hive 2.3 grants a weaker request before a stronger one that only waits. A held lock counts however young it is: 2.3
itself has a bug here, and grants an exclusive lock while a younger reader still holds its lock.
"""

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, NamedTuple

from metastored.hive.generation import Generation


class LockType(IntEnum):
    """The numbers of Thrift's LockType."""

    SHARED_READ = 1
    SHARED_WRITE = 2
    EXCLUSIVE = 3
    EXCL_WRITE = 4


class LockState(IntEnum):
    """The numbers of Thrift's LockState."""

    ACQUIRED = 1
    WAITING = 2
    ABORT = 3
    NOT_ACQUIRED = 4


_READ, _WRITE = LockType.SHARED_READ, LockType.SHARED_WRITE
_EXCL_WRITE, _EXCLUSIVE = LockType.EXCL_WRITE, LockType.EXCLUSIVE

STRENGTH: Final = {_READ: 0, _WRITE: 1, _EXCL_WRITE: 2, _EXCLUSIVE: 3}
"""The order in which Hive lists locks, and which of them 2.3 grants first."""

_SINCE_4: Final = {
    _READ: {_EXCLUSIVE},
    _WRITE: {_EXCL_WRITE, _EXCLUSIVE},
    _EXCL_WRITE: {_WRITE, _EXCL_WRITE, _EXCLUSIVE},
    _EXCLUSIVE: {_READ, _WRITE, _EXCL_WRITE, _EXCLUSIVE},
}
_BEFORE_4: Final = {**_SINCE_4, _WRITE: {_WRITE, _EXCL_WRITE, _EXCLUSIVE}}


class Rules(NamedTuple):
    """The rules of one generation of Hive."""

    waits_for: dict[LockType, set[LockType]]
    """For each type that may be requested: the types that it conflicts with."""
    passes_stronger: bool
    """Whether a request may be granted before an older, stronger one that still waits."""


RULES: Final = {
    Generation.HIVE_2_3: Rules(_BEFORE_4, passes_stronger=True),
    Generation.HIVE_3_1: Rules(_BEFORE_4, passes_stronger=False),
    Generation.HIVE_4_0: Rules(_SINCE_4, passes_stronger=False),
    Generation.HIVE_4_2: Rules(_SINCE_4, passes_stronger=False),
}


class Lock(NamedTuple):
    """One component of a lock request. Components of one request have the same `ext_id`; no transaction is 0."""

    ext_id: int
    int_id: int
    txn_id: int
    catalog: str
    database: str
    table: str | None
    partition: str | None
    state: LockState
    type: LockType

    def __str__(self) -> str:
        """The text of a lock in Hive's messages."""
        return (
            f"lockid:{self.ext_id} intLockId:{self.int_id} txnid:{self.txn_id} db:{self.database}"
            f" table:{_java(self.table)} partition:{_java(self.partition)} state:{self.state.name}"
            f" type:{self.type.name}"
        )


def _java(text: str | None) -> str:
    return "null" if text is None else text


def rank(lock: Lock) -> tuple[bool, int, int, int]:
    """Hive's order of locks: held ones first, then by strength, then by age."""
    return lock.state is not LockState.ACQUIRED, STRENGTH[lock.type], lock.ext_id, lock.int_id


def blocks(held: Lock, requested: Lock, generation: Generation) -> bool:
    """Whether the lock `requested` has to wait for `held`."""
    rules = RULES[generation]
    waiting = held.state is not LockState.ACQUIRED
    if held.type not in rules.waits_for[requested.type] or held.ext_id == requested.ext_id:
        return False
    if waiting and held.ext_id > requested.ext_id:
        return False
    if requested.txn_id != 0 and held.txn_id == requested.txn_id:
        return False
    if not _overlap(held, requested) or _only_keeps_the_database(held, requested):
        return False
    return not (rules.passes_stronger and waiting and STRENGTH[held.type] > STRENGTH[requested.type])


def _overlap(one: Lock, other: Lock) -> bool:
    if (one.catalog, one.database) != (other.catalog, other.database):
        return False
    if one.table is None or other.table is None:
        return True
    if one.table != other.table:
        return False
    return one.partition is None or other.partition is None or one.partition == other.partition


def _only_keeps_the_database(one: Lock, other: Lock) -> bool:
    """A read lock on a database only prevents its drop: its tables may be dropped."""
    return any(
        reader.table is None and reader.type is _READ and writer.table is not None and writer.type is _EXCLUSIVE
        for reader, writer in ((one, other), (other, one))
    )


def first_blocked(
    requested: Iterable[Lock], held: Iterable[Lock], generation: Generation
) -> tuple[Lock, list[Lock]] | None:
    """The first component that has to wait, with all locks that it waits for, the last of Hive's order first."""
    ordered = sorted(held, key=rank, reverse=True)
    for component in requested:
        blockers = [lock for lock in ordered if blocks(lock, component, generation)]
        if blockers:
            return component, blockers
    return None
