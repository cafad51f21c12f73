"""Reads the values of settings, from text or YAML. Pure, except `read_yaml`, which opens a file.

The server's settings (`config.py`) and the catalogs' (`catalog/settings.py`) use the same readers, so that a word has
one meaning in both. A reader returns the value or raises ValueError with what was expected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from metastored.errors import ConfigError

__all__ = [
    "FALSE",
    "TRUE",
    "Reader",
    "choice",
    "flag",
    "names",
    "nearest",
    "optional",
    "optional_text",
    "read_yaml",
    "seconds",
    "several",
    "text",
    "whole",
]

Reader = Callable[[Any], Any]
"""Converts a value from text or YAML into the setting; raises ValueError."""

TRUE: Final = ("true", "on", "yes", "1")
FALSE: Final = ("false", "off", "no", "0")
_ON_OFF: Final = frozenset({"on", "off"})


def text(value: Any) -> str:
    """A text that is not empty, without blanks around it."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a text was expected")
    return value.strip()


def optional_text(value: Any) -> str | None:
    """A text, or None for null; a number is its text."""
    return None if value is None else text(str(value))


def flag(value: Any) -> bool:
    """True or false: YAML's own, or one of the words in TRUE and FALSE in any case."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word not in (*TRUE, *FALSE):
        raise ValueError(f"true or false was expected (or {', '.join((*TRUE[1:], *FALSE[1:]))})")
    return word in TRUE


def whole(low: int = 0, high: int | None = None) -> Reader:
    """A whole number in a range."""
    expected = "a whole number was expected" if high is None else f"a whole number from {low} to {high} was expected"

    def read(value: Any) -> int:
        if isinstance(value, bool) or not re.fullmatch(r"-?\d+", str(value).strip()):
            raise ValueError(expected)
        number = int(value)
        if number < low or (high is not None and number > high):
            raise ValueError(expected)
        return number

    return read


def optional(read: Reader) -> Reader:
    """The same reader, and None for null."""
    return lambda value: None if value is None else read(value)


def seconds(value: Any) -> float:
    """A number of seconds, perhaps with a fraction."""
    if isinstance(value, bool) or not re.fullmatch(r"\d+(\.\d+)?", str(value).strip()):
        raise ValueError("a number of seconds was expected, such as 60 or 0.5")
    return float(value)


def choice(*words: str) -> Reader:
    """One of these words, in any case. Where they are on and off, every word of `flag` is one of them."""

    def read(value: Any) -> str:
        # YAML 1.1 reads a bare `off` as false, `on` as true and 3.1 as a number; all are words here.
        word = {False: "off", True: "on"}[value] if isinstance(value, bool) else str(value).strip().lower()
        if set(words) == _ON_OFF and word in (*TRUE, *FALSE):
            word = "on" if word in TRUE else "off"
        if word not in words:
            raise ValueError(f"one of {', '.join(words)} was expected")
        return word

    return read


def several(*words: str) -> Reader:
    """Some of these words, as a list or with commas between them; in the order of `words`."""

    def read(value: Any) -> tuple[str, ...]:
        parts = value if isinstance(value, list | tuple) else str(value).split(",")
        given = {str(part).strip().lower() for part in parts}
        if not given or not given <= set(words):
            raise ValueError(f"some of {', '.join(words)} were expected, with commas between them")
        return tuple(word for word in words if word in given)

    return read


def names(value: Any) -> tuple[str, ...]:
    """Names, as a list or with commas between them."""
    parts = value if isinstance(value, list | tuple) else str(value).split(",")
    given = tuple(str(part).strip() for part in parts)
    if not all(given):
        raise ValueError("names were expected, with commas between them")
    return given


def nearest(name: str, known: Mapping[str, Any]) -> str:
    """The end of the error about an unknown key: the most similar known key, or all known keys."""
    near = get_close_matches(name.lower().replace("-", "_"), known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"


def read_yaml(file: Path) -> Any:
    """Returns the content of a YAML file; raises a ConfigError that names the file."""
    import yaml

    try:
        return yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: not valid YAML: {' '.join(str(error).split())}") from error
