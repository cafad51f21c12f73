"""`metastored completion`: the script by which a shell completes commands and flags with Tab."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer

VARIABLE: Final = "_METASTORED_COMPLETE"
"""The environment variable by which a script calls the command for completions."""

Shell = Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="The shell.")]


def completion(shell: Shell) -> None:
    """Print the completion script of a shell.

    bash: eval "$(metastored completion bash)" in ~/.bashrc. zsh: the same with zsh in ~/.zshrc, after compinit.
    fish: metastored completion fish > ~/.config/fish/completions/metastored.fish
    """
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    typer.echo(get_completion_script(prog_name="metastored", complete_var=VARIABLE, shell=shell))


def register_shells() -> None:
    """To be called before a command runs that a completion script started."""
    from typer.completion import completion_init  # type: ignore[attr-defined]

    completion_init()
