"""Runs one step, by its type. The steps of all types call functions that programs can call, too.

Nothing is recorded here, and no step decides whether it runs.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from metastored.client._sync.client import Client
from metastored.errors import ConfigError, InvalidOperationException
from metastored.model.counting import counted
from metastored.model.names import table_name
from metastored.pipeline.model import Step
from metastored.pipeline.spark_metrics import measured
from metastored.statements.words import split_statements


class Outcome(NamedTuple):
    """The figures of a step."""

    rows: int | None = None
    bytes: int | None = None
    detail: str = ""


@dataclass(slots=True)
class Context:
    """What steps share. The session is started by the first step that needs it."""

    client: Client
    open_session: Callable[[], Any]
    folder: Path
    """The folder of the pipeline file: paths in the file begin here."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """With the values of secrets."""
    show: Callable[[str], None] = print
    """Shows a line while a step runs."""
    settings: Callable[[], Mapping[str, str]] = dict
    """The settings of the session, for a Spark in another process."""
    _session: Any = None

    @property
    def spark(self) -> Any:
        if self._session is None:
            self._session = self.open_session()
        return self._session

    def close(self) -> None:
        if self._session is not None:
            self._session.stop()


def run_step(step: Step, context: Context, first: int, statement_done: Callable[[int], None]) -> Outcome:
    """Runs a step. A sql step begins with its statement `first` and reports each one that is done."""
    if step.type == "sql":
        return _sql(step, context, first, statement_done)
    return RUNNERS[step.type](step, context)


def _sql(step: Step, context: Context, first: int, statement_done: Callable[[int], None]) -> Outcome:
    from metastored.spark.acid.sql.execution import AFFECTED
    from metastored.spark.statements import sql

    statements = split_statements(step.text("sql"))
    with measured(context.spark, step.name) as figures:
        for at, text in enumerate(statements):
            if at < first and not _belongs_to_session(text):
                continue
            frame = sql(context.spark, text, client=context.client)
            if frame.columns and frame.columns[0] != AFFECTED:
                # Spark executes a query only when rows are requested: all of them, since any may fail a check.
                frame.write.format("noop").mode("overwrite").save()
                context.show(f"{step.name}: a pipeline does not show the rows of {_first_word(text)}")
            if at >= first:
                statement_done(at + 1)
    return Outcome(figures.rows, figures.bytes, counted(len(statements), "statement"))


def _belongs_to_session(text: str) -> bool:
    """Whether a statement has to be repeated in a new session: USE, SET and temporary views."""
    words = text.upper().split()[:4]
    return words[0] in ("USE", "SET") or (words[0] == "CREATE" and not {"TEMPORARY", "TEMP"}.isdisjoint(words))


def _first_word(text: str) -> str:
    return text.split(maxsplit=1)[0].upper()


def _python(step: Step, context: Context) -> Outcome:
    path = context.folder / step.text("file")
    spec = importlib.util.spec_from_file_location(f"metastored_pipeline_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ConfigError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    with measured(context.spark, step.name) as figures:
        spec.loader.exec_module(module)
        function = getattr(module, step.text("function"), None)
        if not callable(function):
            raise ConfigError(f"{path} has no function {step.text('function')}")
        result = function(context.spark, context.client, dict(context.parameters))
    rows = result if isinstance(result, int) and not isinstance(result, bool) else figures.rows
    return Outcome(rows, figures.bytes, f"{path.name}:{step.text('function')}")


def _analyze(step: Step, context: Context) -> Outcome:
    from metastored.spark.statistics import analyze

    columns = step.keys["columns"]
    done = analyze(
        context.spark,
        step.text("table"),
        columns=list(columns) if isinstance(columns, tuple) else None,
        partitions=_partitions(step),
        histograms=bool(step.keys["histograms"]),
        client=context.client,
    )
    return Outcome(done.rows, done.bytes, counted(len(done.columns), "column"))


def _copy(step: Step, context: Context) -> Outcome:
    from metastored.spark.copying import CopyResult, DatabaseCopyResult, copy_database, copy_table

    source, target, format, mode = step.text("from"), step.text("to"), _optional(step, "format"), step.text("mode")
    done: CopyResult | DatabaseCopyResult
    if "." in source:
        done = copy_table(context.spark, source, target, _partitions(step), format, mode, context.client)
    else:
        done = copy_database(context.spark, source, target, format, mode, context.client)
    return Outcome(done.rows, done.bytes, str(done))


def _repair(step: Step, context: Context) -> Outcome:
    from metastored.spark.partition_repair import Mode, repair

    done = repair(context.spark, step.text("table"), mode=cast(Mode, step.text("mode")), client=context.client)
    return Outcome(detail=f"{counted(len(done.added), 'partition')} added, {len(done.dropped):,} dropped")


def _compact(step: Step, context: Context) -> Outcome:
    """Puts a compaction into the queue, and works until it has ended; other workers may take it."""
    from metastored.hive.transactions.compaction import CompactionKind
    from metastored.spark.acid.compaction.queue import request, worker_id
    from metastored.spark.acid.compaction.worker import work

    wanted = table_name(step.text("table"))
    partition = _optional(step, "partition")
    context.client.fresh_table(wanted)
    id = request(context.client, wanted, partition, CompactionKind[step.text("kind").upper()], worker_id())
    if id is None:
        return Outcome(detail="a compaction waits or runs already, or there is nothing to do")
    with measured(context.spark, step.name) as figures:
        done = work(context.spark, context.client, worker_id())
        while done is not None and done.id != id:
            done = work(context.spark, context.client, worker_id())
    if done is None:
        return Outcome(detail=f"another worker has taken the compaction {id}")
    if done.outcome == "failed":
        raise InvalidOperationException(f"the compaction {id} of {wanted} failed: {done.reason}")
    return Outcome(figures.rows, figures.bytes, done.reason or done.outcome)


def _lance(step: Step, context: Context) -> Outcome:
    from metastored.spark.copying.reading import frame_of
    from metastored.spark.lance import write

    frame = frame_of(context.spark, context.client, table_name(step.text("from")))
    with measured(context.spark, step.name) as figures:
        version = write(frame, step.text("to"), mode=step.text("mode"))
    return Outcome(figures.rows, figures.bytes, f"version {version}")


def _dataflow(step: Step, context: Context) -> Outcome:
    from metastored.pipeline.dataflow import run_project

    refresh = step.keys["full_refresh"]
    assert not isinstance(refresh, str)

    def show(text: str) -> None:
        context.show(f"{step.name}: {text}")

    flows = run_project(context.folder / step.text("project"), context.settings(), refresh, show)
    return Outcome(detail=f"{counted(flows, 'flow')} completed")


def _optional(step: Step, key: str) -> str | None:
    value = step.keys.get(key)
    return value if isinstance(value, str) else None


def _partitions(step: Step) -> str | list[str] | None:
    """A condition, or names of partitions."""
    value = step.keys.get("partitions")
    return list(value) if isinstance(value, tuple) else value if isinstance(value, str) else None


RUNNERS: Final[Mapping[str, Callable[[Step, Context], Outcome]]] = {
    "python": _python,
    "analyze": _analyze,
    "copy": _copy,
    "repair": _repair,
    "compact": _compact,
    "lance": _lance,
    "dataflow": _dataflow,
}
"""The functions of all types but sql, which can go on in its middle."""
