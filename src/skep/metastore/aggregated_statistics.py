"""Column statistics over many partitions in one answer: what a query planner asks of a partitioned table.

The database aggregates; partitions are read one by one only where there is something to extrapolate, for decimals,
and for bit vectors. Answers are remembered while the database stands still: a planner asks the same again and again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

from skep.hive.ndv import Estimation
from skep.metastore import rows, stats_validity
from skep.metastore.aggregate_stats import Placed, of_partitions, of_totals
from skep.metastore.column_statistics import (
    ENGINE,
    find_table,
    given_name,
    lower,
    lower_part_name,
)
from skep.metastore.context import Context, Encoded
from skep.metastore.statistics_data import Column, column_of_row, shown
from skep.store import column_statistics as store
from skep.store.column_statistics import Totals
from skep.store.database import Database
from skep.store.transaction import Transaction
from skep.wire import binary
from skep.wire.generated.statistics import AggrStats, PartitionsStatsRequest
from skep.wire.methods import METHODS

REMEMBERED: Final = 64
"""Answers kept for each database. One is a few kilobytes, its question as many as the names of its partitions."""


class _Answers:
    """Answers that hold for one version of the database, the oldest forgotten first."""

    def __init__(self) -> None:
        self._version = -1
        self._known: OrderedDict[Any, bytes] = OrderedDict()

    def find(self, version: int, question: Any) -> bytes | None:
        return self._known.get(question) if version == self._version else None

    def keep(self, version: int, question: Any, answer: bytes) -> None:
        if version != self._version:
            # A new map, not an emptied one: another thread may be looking into the old.
            self._known, self._version = OrderedDict(), version
        self._known[question] = answer
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)


_ANSWERS: WeakKeyDictionary[Database, _Answers] = WeakKeyDictionary()


def get_aggr_stats_for(ctx: Context, request: PartitionsStatsRequest) -> Encoded:
    version = ctx.database.version()
    answers = _ANSWERS.setdefault(ctx.database, _Answers())
    question = (request, ctx.generation, ctx.service.estimation)
    answer = answers.find(version, question)
    if answer is None:
        found = _aggregated(ctx, request)
        answer = binary.encode_result(METHODS["get_aggr_stats_for"], found)
        answers.keep(version, question, answer)
    return Encoded(answer)


def _aggregated(ctx: Context, request: PartitionsStatsRequest) -> AggrStats:
    where, name = ctx.name(request.dbName, request.catName), given_name(request.tblName, "table")
    columns = lower(request.colNames)
    names = list(dict.fromkeys(lower_part_name(part) for part in request.partNames or ()))
    engine = request.engine or ENGINE
    with ctx.reading() as tx:
        row = find_table(ctx, tx, where, name)
        if not columns or not names:
            return AggrStats(colStats=(), partsFound=0)
        table = rows.table_of(row, *where)
        valid = stats_validity.of_partitions(tx, table, row.id, names, request.validWriteIdList)
        if valid is False:
            # Statistics that the reader's snapshot does not cover are as good as none.
            return AggrStats(colStats=(), partsFound=0, isStatsCompliant=False)
        found, complete = _columns(tx, row.id, names, columns, engine, ctx.service.estimation)
    objects = tuple(shown(column, timestamps=ctx.rules.stamps_statistics) for column in found)
    return AggrStats(colStats=objects, partsFound=complete, isStatsCompliant=valid)


def _columns(
    tx: Transaction, table_id: int, names: Sequence[str], columns: Sequence[str], engine: str, how: Estimation
) -> tuple[list[Column], int]:
    """The columns' statistics in the order asked for, and how many partitions have all of them."""
    totals: dict[str, Totals] = {}
    for one in store.totals(tx, table_id, names, columns, engine):
        # Where a column's type changed, the statistics of the type that most partitions have.
        if one.column_name not in totals or totals[one.column_name].partitions < one.partitions:
            totals[one.column_name] = one
    singly = [name for name, one in totals.items() if how.bit_vectors or _needs_partitions(one, len(names))]
    placed = _placed(tx, table_id, names, singly, engine, totals, sketches=how.bit_vectors) if singly else {}
    found = [
        of_partitions(placed[name], len(names), how) if name in placed else of_totals(totals[name], how)
        for name in columns
        if name in totals
    ]
    if len(totals) == len(columns) and all(one.partitions == len(names) for one in totals.values()):
        return found, len(names)
    return found, store.complete(tx, table_id, names, columns, engine)


def _needs_partitions(totals: Totals, wanted: int) -> bool:
    return totals.kind == "decimal" or 2 <= totals.partitions < wanted


def _placed(
    tx: Transaction,
    table_id: int,
    names: Sequence[str],
    columns: Sequence[str],
    engine: str,
    totals: dict[str, Totals],
    *,
    sketches: bool,
) -> dict[str, list[Placed]]:
    places = {name: place for place, name in enumerate(names)}
    placed: dict[str, list[Placed]] = {}
    for row in store.of_partitions(tx, table_id, names, columns, engine, sketches=sketches):
        of = totals[row.column_name]
        if (row.type, row.kind) == (of.type, of.kind):
            placed.setdefault(row.column_name, []).append(Placed(places[row.owner], column_of_row(row)))
    return placed
