"""The command `skep`. Each command is a thin file; what it does lives in the rooms below."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """The entry point of the command."""
    from skep.cli.app import app

    app(prog_name="skep")
