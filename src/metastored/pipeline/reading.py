"""Reads a pipeline file: every rule about keys and types is checked here, with the line of each problem. Pure.

All problems of a file are reported together. Tables are not looked up here; `checks.py` does that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Final

from metastored.errors import InvalidInputException, PipelineError
from metastored.model.names import database_name, table_name
from metastored.pipeline.graph import circle
from metastored.pipeline.model import COMMON, TYPES, Key, Pipeline, Step, Value
from metastored.pipeline.nodes import List, Mapping, Node, Scalar, kind_of_node, parse
from metastored.pipeline.parameters import Reference, ReferenceFault, is_name, references

TOP: Final = ("metastore", "spark", "parameters", "steps")
_STEP_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_SHOWN: Final = {
    "text": "a text",
    "table": "a table (database.table)",
    "name": "a table (database.table) or a database",
    "list": "a list of texts",
    "boolean": "true or false",
}


def read(text: str, file: str) -> Pipeline:
    """The pipeline of a file. Raises PipelineError with all problems and their lines."""
    return _Reader(file).pipeline(parse(text, file))


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._problems: list[tuple[int, str]] = []

    def pipeline(self, root: Node) -> Pipeline:
        if not isinstance(root, Mapping):
            raise PipelineError(
                self._file, [(root.line, f"a pipeline is a mapping with the key steps, not {_a(root)}")]
            )
        self._unknown(root, TOP, "a pipeline")
        metastore = root.entries.get("metastore")
        pipeline = Pipeline(
            PurePath(self._file).stem,
            self._steps(root),
            None if metastore is None else self._text(metastore, "metastore"),
            {name: value or "" for name, value in self._texts(root, "spark").items()},
            self._texts(root, "parameters"),
        )
        for name in pipeline.parameters:
            if not is_name(name):
                line = self._line_of(root, "parameters", name)
                self._problem(line, f"the parameter {name!r} has to be a word of letters, digits and _")
        self._check_references(root, pipeline)
        self._check_graph(pipeline)
        if self._problems:
            raise PipelineError(self._file, sorted(set(self._problems)))
        return pipeline

    # --- parts of a file ---------------------------------------------------------------------------------

    def _steps(self, root: Mapping) -> tuple[Step, ...]:
        node = root.entries.get("steps")
        if node is None:
            self._problem(root.line, "there are no steps")
            return ()
        if not isinstance(node, List) or not node.items:
            self._problem(node.line, f"steps is a list of at least one step, not {_a(node)}")
            return ()
        steps: dict[str, Step] = {}
        for each in node.items:
            step = self._step(each)
            if step is None:
                continue
            if step.name in steps:
                self._problem(step.line, f"the step in line {steps[step.name].line} has the name {step.name!r} already")
            else:
                steps[step.name] = step
        return tuple(steps.values())

    def _step(self, node: Node) -> Step | None:
        if not isinstance(node, Mapping):
            self._problem(node.line, f"a step is a mapping with name and type, not {_a(node)}")
            return None
        name = self._required(node, "name")
        type = self._required(node, "type")
        if name is not None and not _STEP_NAME.fullmatch(name):
            self._problem(node.line, f"the name {name!r} of a step has other signs than letters, digits, - and _")
        if type is not None and type not in TYPES:
            self._problem(_line(node, "type"), f"there is no type {type!r}; known are {', '.join(TYPES)}")
            return None
        if name is None or type is None:
            return None
        self._unknown(node, (*COMMON, *TYPES[type]), f"the {type} step {name!r}")
        needs = node.entries.get("needs")
        return Step(
            name,
            type,
            node.line,
            () if needs is None else self._list(needs, "needs"),
            self._keys(node, name, type),
        )

    def _keys(self, node: Mapping, name: str, type: str) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for word, key in TYPES[type].items():
            value = node.entries.get(word)
            if value is None:
                if key.required:
                    self._problem(node.line, f"the {type} step {name!r} has no {word}: {_wanted(key)}")
                if key.default is not None:
                    values[word] = key.default
            else:
                read = self._value(value, word, key)
                if read is not None:
                    values[word] = read
        if type == "copy" and not self._problems:
            self._check_copy(node, values)
        return values

    def _check_copy(self, node: Mapping, keys: dict[str, Value]) -> None:
        depths = {str(keys[word]).count(".") == 0 for word in ("from", "to")}
        if len(depths) == 2:
            self._problem(node.line, "from and to are two tables or two databases, not one of each")
        elif depths == {True} and "partitions" in keys:
            self._problem(_line(node, "partitions"), "partitions belong to a table; from and to are databases")

    # --- values ------------------------------------------------------------------------------------------

    def _value(self, node: Node, word: str, key: Key) -> Value | None:
        if isinstance(node, Scalar) and node.kind == "boolean" and "boolean" in key.kinds:
            return node.is_true
        if isinstance(node, List) and "list" in key.kinds:
            return self._list(node, word)
        kinds = {"text", "table", "name"} & set(key.kinds)
        if not kinds or not isinstance(node, Scalar) or node.kind not in ("text", "date"):
            self._problem(node.line, f"{word} is {_a(node)}; it has to be {_wanted(key)}")
            return None
        if "text" not in kinds:
            self._check_name(node, word, "name" in kinds)
        if key.words and node.text not in key.words and not _safe_references(node.text):
            self._problem(node.line, f"{word} is {node.text!r}; it has to be {_wanted(key)}")
        if not node.text.strip():
            self._problem(node.line, f"{word} is empty")
        return node.text

    def _check_name(self, node: Scalar, word: str, databases: bool) -> None:
        if _safe_references(node.text):
            return
        try:
            if databases and "." not in node.text:
                database_name(node.text)
            else:
                table_name(node.text)
        except InvalidInputException as error:
            self._problem(node.line, f"{word}: {error}")

    def _text(self, node: Node, word: str) -> str | None:
        if not isinstance(node, Scalar) or node.kind != "text" or not node.text:
            self._problem(node.line, f"{word} is {_a(node)}; it has to be a text")
            return None
        return node.text

    def _list(self, node: Node, word: str) -> tuple[str, ...]:
        if not isinstance(node, List):
            self._problem(node.line, f"{word} is {_a(node)}; it has to be a list")
            return ()
        items = []
        for each in node.items:
            if isinstance(each, Scalar) and each.kind in ("text", "date"):
                items.append(each.text)
            else:
                self._problem(each.line, f"{word} has {_a(each)} in it; it has to be a list of texts")
        return tuple(items)

    def _texts(self, root: Mapping, word: str) -> dict[str, str | None]:
        """A mapping of words to values, each as it is written; None for one without a value."""
        node = root.entries.get(word)
        if node is None:
            return {}
        if not isinstance(node, Mapping):
            self._problem(node.line, f"{word} is {_a(node)}; it has to be a mapping")
            return {}
        texts: dict[str, str | None] = {}
        for key, value in node.entries.items():
            if not isinstance(value, Scalar) or (value.kind == "nothing" and word == "spark"):
                self._problem(node.key_lines[key], f"{word}.{key} is {_a(value)}; it has to be a single value")
                continue
            texts[key] = None if value.kind == "nothing" else value.text
        return texts

    def _required(self, node: Mapping, word: str) -> str | None:
        value = node.entries.get(word)
        if value is None:
            self._problem(node.line, f"a step has no {word}")
            return None
        return self._text(value, word)

    # --- rules over the whole file -----------------------------------------------------------------------

    def _check_references(self, root: Mapping, pipeline: Pipeline) -> None:
        """Every `{{ … }}` is a parameter of the file, or a secret."""
        for scalar in _scalars(root):
            try:
                for each in references(scalar.text):
                    if each.kind == "parameter" and each.name not in pipeline.parameters:
                        known = ", ".join(pipeline.parameters) or "none"
                        self._problem(scalar.line, f"there is no parameter {each.name!r}; the file has {known}")
            except ReferenceFault as fault:
                self._problem(scalar.line, str(fault))
        node = root.entries.get("parameters")
        if isinstance(node, Mapping):
            for scalar in _scalars(node):
                if any(each.kind == "parameter" for each in _safe_references(scalar.text)):
                    self._problem(scalar.line, "the value of a parameter cannot refer to another parameter")

    def _check_graph(self, pipeline: Pipeline) -> None:
        known = {step.name for step in pipeline.steps}
        missing = False
        for step in pipeline.steps:
            for name in step.needs:
                if name not in known:
                    missing = True
                    self._problem(step.line, f"the step {step.name!r} needs {name!r}, and there is no such step")
        if not missing and (steps_in_circle := circle(pipeline.steps)):
            first = pipeline.step(steps_in_circle[0])
            self._problem(
                first.line,
                f"the steps need each other in a circle: {' needs '.join((*steps_in_circle, steps_in_circle[0]))}",
            )

    def _unknown(self, node: Mapping, known: Iterable[str], what: str) -> None:
        words = tuple(known)
        for key in node.entries:
            if key not in words:
                self._problem(node.key_lines[key], f"{what} has no key {key!r}; known are {', '.join(words)}")

    def _line_of(self, root: Mapping, word: str, key: str) -> int:
        node = root.entries[word]
        return node.key_lines[key] if isinstance(node, Mapping) else node.line

    def _problem(self, line: int, text: str) -> None:
        self._problems.append((line, text))


def _scalars(node: Node) -> Iterable[Scalar]:
    match node:
        case Scalar():
            yield node
        case List():
            for each in node.items:
                yield from _scalars(each)
        case Mapping():
            for each in node.entries.values():
                yield from _scalars(each)


def _safe_references(text: str) -> list[Reference]:
    try:
        return list(references(text))
    except ReferenceFault:
        return []


def _line(node: Mapping, word: str) -> int:
    return node.key_lines.get(word, node.line)


def _a(node: Node) -> str:
    return kind_of_node(node)


def _wanted(key: Key) -> str:
    kinds = [_SHOWN[each] for each in key.kinds if each != "text" or not key.words]
    return " or ".join([*key.words, *kinds])
