"""The encoding of a remote's definition in the store: its own parameters as JSON, secrets sealed.

A definition is stored with its own keys alone. What its data connector says is read from the connector each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from metastored.model.remotes import keys
from metastored.service.core import rows
from metastored.store.objects.remotes import RemoteRow


def body_of(parameters: Mapping[str, str]) -> bytes:
    return orjson.dumps(dict(sorted(parameters.items())))


def parameters_of(row: RemoteRow) -> dict[str, str]:
    """The parameters as they are stored: secrets sealed."""
    rows.check_format(row.fmt, f"the remote {'.'.join(filter(None, (row.catalog, row.database, row.table)))}")
    parameters: Any = orjson.loads(row.body)
    return dict(parameters)


def uses_connector(row: RemoteRow, name: str) -> bool:
    return parameters_of(row).get(keys.CONNECTOR) == name
