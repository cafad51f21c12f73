"""Where a remote is and how it is reached, as a value. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from metastored.model.remotes import keys
from metastored.model.remotes.keys import URIS, shown

DEFAULT_TIMEOUT: Final = 60.0
"""Seconds that one call to a remote may take, where its definition says nothing."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a remote is and how it is reached. Equal endpoints share connections."""

    via: str
    """thrift, ssh, http, glue, iceberg, or the name of an entry point."""
    properties: tuple[tuple[str, str], ...] = field(repr=False)
    """The connector's keys, sorted: ("hive.metastore.uris", "thrift://h:9083"), … Secrets are plain or references."""
    timeout: float = DEFAULT_TIMEOUT
    """Seconds for one call."""

    def get(self, key: str, default: str = "") -> str:
        """The value of one of the connector's keys."""
        return next((value for name, value in self.properties if name == key), default)

    def enabled(self, key: str) -> bool:
        """Whether a key is `true`."""
        return self.get(key).lower() == "true"

    def __str__(self) -> str:
        """For messages and logs: without secrets."""
        for key in (URIS, keys.ICEBERG_PATH, keys.ICEBERG_URI, keys.GLUE_ENDPOINT, keys.GLUE_REGION):
            if value := self.get(key):
                where = shown(key, value)
                return where if self.via == keys.THRIFT else f"{where} via {self.via}"
        return self.via
