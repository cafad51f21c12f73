"""What `metastored serve` does once its flags are read, and the short way to it: plain flags need no typer.

Typer brings pydantic along, and both take a fifth of a start. So flags that are all written as `--flag value` or
`--flag=value` are read here; help, mistakes and everything else are typer's. It never explains a mistake.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path

from metastored.cli.errors import explained
from metastored.config import KEYS, load

CONFIG_FLAG = "--config"
FILE = "config"
_NAMES = {key.flag: key.name for key in KEYS.values()} | {CONFIG_FLAG: FILE}


def plain_flags(words: Sequence[str]) -> dict[str, str] | None:
    """The settings by name, and the file as `config`; None if some arguments are not plain flags."""
    flags: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        flag, equals, value = word.partition("=")
        if not equals:
            value = next(rest, "--")
        if flag not in _NAMES or (not equals and value.startswith("-")):
            return None
        flags[_NAMES[flag]] = value
    return flags


@explained
def serve_until_stopped(flags: dict[str, str]) -> int:
    """Serves until stopped; `flags` override the environment and the file. Returns the exit code."""
    file = flags.pop(FILE, None)
    settings = load(None if file is None else Path(file), flags=flags)
    # Nothing that is made while importing is garbage: to look for some takes a tenth of the time, and again later.
    gc.disable()
    from metastored.server.assemble import build
    from metastored.server.workers import run

    gc.freeze()
    gc.enable()
    return run(settings, build)
