"""A pipeline that is ready to run: parameters replaced, steps in their order. Pure.

read (reading.py) → prepared (here) → check_tables (checks.py) → run (running.py)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from metastored.errors import InvalidInputException, PipelineError
from metastored.model.names import database_name, table_name
from metastored.pipeline.graph import ordered
from metastored.pipeline.model import TYPES, Pipeline, Step, Value
from metastored.pipeline.parameters import given_parameters, with_parameters
from metastored.pipeline.reading import read


def prepared(text: str, file: str, given: Mapping[str, str]) -> tuple[Pipeline, dict[str, str]]:
    """The pipeline of a file with its parameters replaced and its steps in order, and the values of all parameters.

    References to secrets stay. Raises PipelineError, and ConfigError for parameters that are unknown or missing.
    """
    pipeline = read(text, file)
    values = given_parameters(pipeline.parameters, given)
    steps = tuple(_with_values(step, values) for step in pipeline.steps)
    _check_again(steps, file)
    return (
        replace(
            pipeline,
            steps=ordered(steps),
            metastore=None if pipeline.metastore is None else with_parameters(pipeline.metastore, values),
            spark={name: with_parameters(value, values) for name, value in pipeline.spark.items()},
        ),
        values,
    )


def texts_of(pipeline: Pipeline, parameters: Mapping[str, str]) -> Iterator[str]:
    """All texts that may refer to secrets."""
    yield pipeline.metastore or ""
    yield from pipeline.spark.values()
    yield from parameters.values()
    for step in pipeline.steps:
        for value in step.keys.values():
            if isinstance(value, str):
                yield value
            elif isinstance(value, tuple):
                yield from value


def changed_value(value: Value, change: Mapping[str, str]) -> Value:
    if isinstance(value, str):
        return with_parameters(value, change)
    if isinstance(value, tuple):
        return tuple(with_parameters(each, change) for each in value)
    return value


def _with_values(step: Step, values: Mapping[str, str]) -> Step:
    return replace(step, keys={key: changed_value(value, values) for key, value in step.keys.items()})


def _check_again(steps: tuple[Step, ...], file: str) -> None:
    """Rules for words and names that had references in them when the file was read."""
    problems = []
    for step in steps:
        for word, value in step.keys.items():
            key = TYPES[step.type][word]
            if not isinstance(value, str):
                continue
            if key.words and value not in key.words:
                problems.append((step.line, f"{word} is {value!r}; it has to be {' or '.join(key.words)}"))
            try:
                if "name" in key.kinds and "." not in value:
                    database_name(value)
                elif {"name", "table"} & set(key.kinds):
                    table_name(value)
            except InvalidInputException as error:
                problems.append((step.line, f"{word}: {error}"))
    if problems:
        raise PipelineError(file, problems)
