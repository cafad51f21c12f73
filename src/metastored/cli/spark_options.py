"""The options of commands that start Spark: its master and its settings. Spark is imported when it is started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from metastored.errors import ConfigError

if TYPE_CHECKING:
    from metastored.spark.files import Files

Master = Annotated[str | None, typer.Option(metavar="URL", help="Spark's master: local[*], spark://host:7077, yarn …")]
Conf = Annotated[list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark.")]


class Spark(NamedTuple):
    """How Spark is started."""

    settings: dict[str, str]

    @staticmethod
    def read(master: Master = None, conf: Conf = None) -> Spark:
        settings = {}
        for each in conf or ():
            key, equals, value = each.partition("=")
            if not equals:
                raise ConfigError(f"--conf {each} has no value: write KEY=VALUE")
            settings[key] = value
        if master is not None:
            settings["spark.master"] = master
        return Spark(settings)

    def session(self, uri: str, defaults: Mapping[str, str] | None = None, **login: Any) -> Any:
        """The session of this process. `defaults` are for settings that the person has not given."""
        from metastored.spark.sessions import session

        return session(uri, options={**(defaults or {}), **self.settings}, **login)

    def files(self, uri: str) -> Callable[[str], Files]:
        """The file system of a location. Spark is started for the first one that is not local."""
        from metastored.hive.locations import is_local
        from metastored.spark.files import files_of

        sessions: list[Any] = []

        def opened(location: str) -> Files:
            if not is_local(location) and not sessions:
                sessions.append(self.session(uri))
            return files_of(sessions[0] if sessions else None, location)

        return opened
