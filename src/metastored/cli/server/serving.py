"""The body of `metastored serve`, and a fast parser for plain flags that does not import typer.

Importing typer (and pydantic with it) takes a fifth of the start-up time. So arguments that are all written as
`--flag value` or `--flag=value` are parsed here; help, errors and all other arguments are left to typer.
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
    # Importing creates no garbage: collections during the imports would take a tenth of the time.
    gc.disable()
    from metastored.server.assemble import build
    from metastored.server.workers import run

    gc.freeze()
    gc.enable()
    return run(settings, build)
