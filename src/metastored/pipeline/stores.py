"""Where runs are recorded: in metastored's property store, or in a directory. A write replaces a whole record."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from metastored.errors import ApplicationError, ConfigError, Error, MetastoreError, NotSupported
from metastored.pipeline.records import Run, from_json, to_json
from metastored.wire.generated.service import PropertyGetRequest, PropertySetRequest

if TYPE_CHECKING:
    from metastored.client._sync.client import Client

NAMESPACE: Final = "hms"
PREFIX: Final = "metastored_pipelines"
"""The first part of the paths of runs in the property store: `metastored_pipelines.PIPELINE.RUN`."""
_RECORD: Final = "record"
_ENDING: Final = ".run.json"
_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]")


class Runs(Protocol):
    """The recorded runs."""

    def all(self) -> list[Run]:
        """All runs, the oldest first."""

    def put(self, run: Run) -> None:
        """Stores a record, in the place of an earlier one of the same run."""


class MetastoreRuns:
    """Runs in the property store of metastored."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def all(self) -> list[Run]:
        request = PropertyGetRequest(nameSpace=NAMESPACE, mapPrefix=f"{PREFIX}.")
        try:
            maps: Mapping[str, Mapping[str, str]] = self._client.api.get_properties(request).properties or {}
        except (ApplicationError, MetastoreError, NotSupported) as error:
            raise self._refused(error) from error
        return _sorted([_read(each[_RECORD], path) for path, each in maps.items() if _RECORD in each])

    def put(self, run: Run) -> None:
        path = ".".join((PREFIX, _OTHER.sub("_", run.pipeline), _OTHER.sub("_", run.id), _RECORD))
        try:
            self._client.api.set_properties(PropertySetRequest(nameSpace=NAMESPACE, propertyMap={path: to_json(run)}))
        except (ApplicationError, MetastoreError, NotSupported) as error:
            raise self._refused(error) from error

    def _refused(self, error: Error) -> ConfigError:
        return ConfigError(
            f"the metastore at {self._client.uri} cannot record runs of pipelines ({error}): give --state DIRECTORY"
        )


class DirectoryRuns:
    """Runs as files of a directory, one for each run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> list[Run]:
        if not self._folder.exists():
            return []
        files = sorted(self._folder.glob(f"*{_ENDING}"))
        return _sorted([_read(file.read_text("utf-8"), str(file)) for file in files])

    def put(self, run: Run) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        name = f"{_OTHER.sub('_', run.pipeline)}.{_OTHER.sub('_', run.id)}"
        temporary = self._folder / f".{name}.{os.getpid()}"
        with temporary.open("w", encoding="utf-8") as file:
            file.write(to_json(run))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._folder / (name + _ENDING))


def _read(text: str, where: str) -> Run:
    try:
        return from_json(text)
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"{where} is not a record of a run: {error}") from None


def _sorted(runs: list[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: (run.started, run.id))
