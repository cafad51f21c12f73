"""The lists of commands in `--help`: under headings, in the order in which a person needs them, and never cut."""

from __future__ import annotations

from typing import Any, Final

import typer
from typer.core import TyperGroup

RUN: Final = "Run a server"
USE: Final = "Use a metastore"
OTHERS: Final = "Other metastores"
SPARK: Final = "Rows, on Spark"
DATABASE: Final = "Look after the database of a server"
SHELL: Final = "For the shell"
HEADINGS: Final = (RUN, USE, OTHERS, SPARK, DATABASE, SHELL)
COMMANDS: Final = "Commands"
"""The heading of commands that have none."""
MOST: Final = 1000
"""Signs of the first sentence of a command; click cuts at the width of the terminal, here long lines are wrapped."""


class Commands(TyperGroup):
    """A group whose help has its commands under the headings of `rich_help_panel`."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        by_group: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            if command is None or command.hidden:
                continue
            panel = getattr(command, "rich_help_panel", None)
            heading = panel if isinstance(panel, str) else COMMANDS
            by_group.setdefault(heading, []).append((name, command.get_short_help_str(MOST)))
        width = max(len(name) for rows in by_group.values() for name, _ in rows)
        for heading in (*HEADINGS, COMMANDS):
            if rows := by_group.get(heading):
                with formatter.section(heading):
                    # As wide in all sections.
                    formatter.write_dl([(name.ljust(width), text) for name, text in rows])


def command_group(name: str, help: str) -> typer.Typer:
    """A command with commands of its own; without one it prints its help."""
    return typer.Typer(name=name, help=help, cls=Commands, no_args_is_help=True)
