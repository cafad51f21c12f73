"""Checks a pipeline against a metastore, before anything runs. Pure: the metastore is behind a function.

Every table and every database that a step needs exists, or an earlier step makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from metastored.errors import PipelineError, StatementError
from metastored.pipeline.effects import Effects, database_of, effects_of
from metastored.pipeline.model import Step

Exists = Callable[[str], bool]
"""Whether a table (`db.t`) or a database (`db.*`) exists in the metastore."""


def check_tables(file: str, steps: Sequence[Step], exists: Exists) -> None:
    """Raises PipelineError for tables and databases that do not exist when their step begins.

    `steps` are in their order. After a step that may make any table (Python, a dataflow), missing ones are not refused.
    """
    made: set[str] = set()
    databases: set[str] = set()
    problems = []
    for step in steps:
        try:
            effects = effects_of(step)
        except StatementError as error:
            problems.append((step.line, f"the step {step.name!r}: {error}"))
            continue
        if effects.anything:
            break
        problems += [
            (step.line, f"the step {step.name!r} needs {missing}")
            for missing in _missing(effects, made, databases, exists)
        ]
        made |= effects.creates
        databases |= effects.databases
        databases |= {database_of(name) for name in effects.creates if name.endswith(".*")}
    if problems:
        raise PipelineError(file, problems)


def _missing(effects: Effects, made: set[str], databases: set[str], exists: Exists) -> Iterator[str]:
    """The objects that a step needs and that do not exist. A missing database is named instead of its tables."""
    for database in sorted(effects.new_in | {database_of(name) for name in effects.requires}):
        tables = sorted(name for name in effects.requires if database_of(name) == database)
        if database.rpartition(".")[2] in databases | effects.databases:
            continue
        if all(name in made for name in tables) and database not in effects.new_in:
            continue
        if not exists(f"{database}.*"):
            yield (
                f"the database {database}, which does not exist and no earlier step makes: "
                f"a sql step with CREATE DATABASE {database} makes it"
            )
            continue
        for name in tables:
            if name not in made and not name.endswith(".*") and not exists(name):
                yield f"the table {name}, which does not exist and no earlier step makes"
