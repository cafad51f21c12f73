"""Checks a pipeline against a metastore, before anything runs. Pure: the metastore is behind a function.

Every table that a step needs exists, or an earlier step makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from metastored.errors import PipelineError, StatementError
from metastored.pipeline.effects import effects_of
from metastored.pipeline.model import Step

Exists = Callable[[str], bool]
"""Whether a table (`db.t`) or a database (`db.*`) exists in the metastore."""


def check_tables(file: str, steps: Sequence[Step], exists: Exists) -> None:
    """Raises PipelineError for tables that do not exist when their step begins. `steps` are in their order.

    After a step that may make any table (Python, a dataflow) missing tables are not refused.
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
        for name in sorted(effects.requires):
            database = name.partition(".")[0]
            if name in made or f"{database}.*" in made or database in databases | effects.databases:
                continue
            if not exists(name):
                what = f"the database {database}" if name.endswith(".*") else f"the table {name}"
                problems.append(
                    (step.line, f"the step {step.name!r} needs {what}, which does not exist and no earlier step makes")
                )
        made |= effects.creates
        databases |= effects.databases
    if problems:
        raise PipelineError(file, problems)
