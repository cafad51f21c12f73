"""The command `metastored`. Each command is a thin module; the logic is in packages of lower layers."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(words: Sequence[str] | None = None) -> None:
    """The entry point of the command. Without `words`, the arguments of the process."""
    arguments = list(sys.argv[1:] if words is None else words)
    try:
        from metastored.cli.server.serving import plain_flags, serve_until_stopped

        command, *rest = arguments or [""]
        if command == "serve" and (flags := plain_flags(rest)) is not None:
            sys.exit(serve_until_stopped(flags))

        from metastored.cli.app import run

        sys.exit(run(arguments))
    except KeyboardInterrupt:
        # While modules are imported, or between two commands.
        from metastored.cli.errors import interrupted

        interrupted()
