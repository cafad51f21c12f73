"""The command `metastored`. Each command is a thin module; the logic is in packages of lower layers."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """The entry point of the command."""
    from metastored.cli.serving import plain_flags, serve_until_stopped

    command, *words = sys.argv[1:] or [""]
    if command == "serve" and (flags := plain_flags(words)) is not None:
        sys.exit(serve_until_stopped(flags))

    from metastored.cli.app import app

    app(prog_name="metastored")
