"""The list of definitions that a server returns by `get_properties`: the namespace, the names, the values. Pure.

    get_properties(nameSpace="metastored.remotes", mapPrefix="table:hive.sales.")
    {"table:hive.sales.orders": {"metastored.remote": "raw.orders", "hive.metastore.uris": "thrift://old:9083", …}}

The values are the parameters by which the object is remote, secrets masked, and beside them its owner and its comment.
To read the list calls no remote.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from metastored.model.remotes.keys import remote_keys

NAMESPACE: Final = "metastored.remotes"
OWNER: Final = "owner"
OWNER_TYPE: Final = "owner.type"
COMMENT: Final = "comment"


def list_key(*name: str) -> str:
    """The name of a definition in the list: `catalog:c`, `database:hive.d` or `table:hive.d.t`."""
    return f"{('catalog', 'database', 'table')[len(name) - 1]}:{'.'.join(name)}"


def name_of(key: str) -> tuple[str, ...]:
    """The reverse of `list_key`: the catalog, database and table."""
    return tuple(key.partition(":")[2].split("."))


def list_values(
    parameters: Mapping[str, str] | None,
    owner: str | None = None,
    owner_type: str | None = None,
    comment: str | None = None,
) -> dict[str, str]:
    """The values of one definition."""
    beside = {OWNER: owner, OWNER_TYPE: owner_type, COMMENT: comment}
    return remote_keys(parameters) | {key: value for key, value in beside.items() if value}
