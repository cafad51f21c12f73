"""A YAML text as values that know their lines. Pure.

Only what a pipeline file needs: mappings with text keys, lists and scalars. A key that occurs twice, a value
that contains itself, and a tag such as `!!python/object` are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import yaml

from metastored.errors import PipelineError

_TAGS: Final[dict[str, ScalarKind]] = {
    "tag:yaml.org,2002:str": "text",
    "tag:yaml.org,2002:int": "number",
    "tag:yaml.org,2002:float": "number",
    "tag:yaml.org,2002:bool": "boolean",
    "tag:yaml.org,2002:null": "nothing",
    "tag:yaml.org,2002:timestamp": "date",
}
_TRUE: Final = frozenset({"true", "yes", "on"})

ScalarKind = Literal["text", "number", "boolean", "nothing", "date"]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value, as it is written."""

    line: int
    kind: ScalarKind
    text: str

    @property
    def is_true(self) -> bool:
        return self.text.lower() in _TRUE


@dataclass(frozen=True, slots=True)
class List:
    line: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    line: int
    entries: dict[str, Node]
    key_lines: dict[str, int]
    """The line of each key."""


Node = Scalar | List | Mapping


def kind_of_node(node: Node) -> str:
    """What a value is, for messages."""
    match node:
        case Scalar():
            return "nothing" if node.kind == "nothing" else f"the {node.kind} {node.text!r}"
        case List():
            return "a list"
        case Mapping():
            return "a mapping"


def parse(text: str, file: str) -> Node:
    """The value of a file. Raises PipelineError with the line for a text that is not YAML."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is None:
            raise PipelineError(file, [(1, "the file is empty")])
        return _node(root, file, frozenset())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = f"this is not YAML: {error.problem or error.context}"
        raise PipelineError(file, [(mark.line + 1 if mark else 1, problem)]) from None
    except yaml.YAMLError as error:
        raise PipelineError(file, [(1, f"this is not YAML: {error}")]) from None


def _node(node: yaml.Node, file: str, above: frozenset[int]) -> Node:
    line = node.start_mark.line + 1
    if id(node) in above:
        raise PipelineError(file, [(line, "this value contains itself")])
    above |= {id(node)}
    match node:
        case yaml.ScalarNode():
            kind = _TAGS.get(node.tag)
            if kind is None:
                raise PipelineError(file, [(line, f"the tag {node.tag} is not allowed here")])
            return Scalar(line, kind, node.value)
        case yaml.SequenceNode():
            return List(line, tuple(_node(each, file, above) for each in node.value))
        case yaml.MappingNode():
            return _mapping(node, file, above)
    raise AssertionError(f"YAML has no node {node!r}")


def _mapping(node: yaml.MappingNode, file: str, above: frozenset[int]) -> Mapping:
    entries: dict[str, Node] = {}
    lines: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise PipelineError(file, [(line, "a key is a word; a text that begins with {{ has to be in quotes")])
        if key.value in entries:
            raise PipelineError(file, [(line, f"the key {key.value!r} is in line {lines[key.value]} already")])
        entries[key.value] = _node(value, file, above)
        lines[key.value] = line
    return Mapping(node.start_mark.line + 1, entries, lines)
