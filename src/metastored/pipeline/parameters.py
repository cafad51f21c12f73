"""References in the texts of a pipeline: `{{ date }}` is a parameter, `{{ env:NAME }}`, `{{ file:PATH }}` are secrets.

Parameters are replaced when a file is read. Secrets are replaced only for the step that is about to run, so that plans,
records and reports never contain them; `redacted` removes them from the texts of errors. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

from metastored.errors import ConfigError, Error

_REFERENCE: Final = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
HIDDEN: Final = "***"

Kind = Literal["parameter", "env", "file"]
Lookup = Callable[[str, str], str]
"""The value of a secret, by its kind (`env` or `file`) and its name. Raises ConfigError."""


class ReferenceFault(Error):
    """A `{{ … }}` that cannot be read."""


class Reference(NamedTuple):
    kind: Kind
    name: str
    start: int
    end: int


def is_name(text: str) -> bool:
    """Whether a text can be the name of a parameter."""
    return _NAME.fullmatch(text) is not None


def references(text: str) -> Iterator[Reference]:
    """The references in a text. Raises ReferenceFault."""
    for match in _REFERENCE.finditer(text):
        inside = match[1].strip()
        kind, colon, name = inside.partition(":")
        kind, name = kind.strip(), name.strip()
        if colon and kind == "env" and name:
            yield Reference("env", name, *match.span())
        elif colon and kind == "file" and name:
            yield Reference("file", name, *match.span())
        elif is_name(inside):
            yield Reference("parameter", inside, *match.span())
        else:
            raise ReferenceFault(
                f"{match[0]} is not a reference: write {{{{ name }}}}, {{{{ env:NAME }}}} or {{{{ file:PATH }}}}"
            )


def given_parameters(defaults: Mapping[str, str | None], given: Mapping[str, str]) -> dict[str, str]:
    """The values of all parameters. Raises ConfigError for an unknown one and for one without a value."""
    unknown = [name for name in given if name not in defaults]
    if unknown:
        known = ", ".join(defaults) or "none"
        raise ConfigError(f"the pipeline has no parameter {unknown[0]!r}; it has {known}")
    values = {**defaults, **given}
    missing = [name for name, value in values.items() if value is None]
    if missing:
        raise ConfigError(f"the parameter {missing[0]!r} has no value: give --param {missing[0]}=…")
    for name, value in values.items():
        if any(each.kind == "parameter" for each in references(value or "")):
            raise ConfigError(f"the value of the parameter {name!r} refers to another parameter")
    return {name: value for name, value in values.items() if value is not None}


def with_parameters(text: str, values: Mapping[str, str]) -> str:
    """The text with the values of parameters. References to secrets stay."""
    return _replaced(text, lambda each: values[each.name] if each.kind == "parameter" else None)


def with_secrets(text: str, lookup: Lookup) -> str:
    """The text with the values of secrets. It must not be printed."""
    return _replaced(text, lambda each: None if each.kind == "parameter" else lookup(each.kind, each.name))


def secrets_of(texts: Iterator[str], lookup: Lookup) -> frozenset[str]:
    """The values of all secrets that texts refer to."""
    secrets = {lookup(each.kind, each.name) for text in texts for each in references(text) if each.kind != "parameter"}
    return frozenset(value for value in secrets if value)


def redacted(text: str, secrets: frozenset[str]) -> str:
    """The text without the values of secrets."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def _replaced(text: str, value: Callable[[Reference], str | None]) -> str:
    parts, at = [], 0
    for each in references(text):
        replacement = value(each)
        if replacement is not None:
            parts += [text[at : each.start], replacement]
            at = each.end
    return "".join([*parts, text[at:]])
