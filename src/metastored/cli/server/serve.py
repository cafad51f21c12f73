"""`metastored serve`: its flags are generated from the settings in `config.py`."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand

from metastored.cli.server.serving import CONFIG_FLAG, FILE, serve_until_stopped
from metastored.config import Key, keys_by_group

GENERAL: Final = "General"
"""The heading of options that are not settings."""


def serve(config: Path | None, **flags: str | None) -> None:
    """Serve the Hive Metastore API until stopped.

    Every flag is also a key of the configuration file (--config) and an environment variable: --database-url is
    database_url and METASTORED_DATABASE_URL. Flags override the environment, and the environment overrides the file.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    raise typer.Exit(serve_until_stopped(given | ({} if config is None else {FILE: str(config)})))


class Grouped(TyperCommand):
    """A command whose help has its options under the headings of `config.GROUPS`."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                groups.setdefault(getattr(param, "rich_help_panel", None) or GENERAL, []).append(record)
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)


def _parameter(key: Key) -> inspect.Parameter:
    # Values stay text here: `config.load` parses all three sources in the same way and has better errors.
    metavar = key.kind if "|" in key.kind else key.kind.upper()
    default = f" [default: {key.default_text}]" if key.default_text else ""
    option: Any = typer.Option(
        key.flag, metavar=metavar, help=key.description + default, show_default=False, rich_help_panel=key.group
    )
    return inspect.Parameter(
        key.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, option]
    )


def _signature() -> inspect.Signature:
    """The signature for typer, which does not support **flags."""
    file: Any = typer.Option(
        CONFIG_FLAG, metavar="FILE", help="The configuration file (YAML); can also be set by METASTORED_CONFIG."
    )
    config = inspect.Parameter(
        FILE, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[Path | None, file]
    )
    keys = [key for members in keys_by_group().values() for key in members]
    return inspect.Signature([*map(_parameter, keys), config])


serve.__signature__ = _signature()  # type: ignore[attr-defined]
serve.__annotations__ = {name: each.annotation for name, each in serve.__signature__.parameters.items()}  # type: ignore[attr-defined]
