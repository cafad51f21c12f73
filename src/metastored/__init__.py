"""metastored: a Hive Metastore that you pip install.

metastored.connect("thrift://host:9083")      a client of any metastore
metastored.aconnect("thrift://host:9083")     the same for asyncio
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metastored.client._async.client import aconnect
    from metastored.client._sync.client import connect

__all__ = ["aconnect", "connect"]
__version__ = "0.1.0.dev0"


def __getattr__(name: str) -> Any:
    # The client is imported when it is used: a server does not need it.
    if name == "connect":
        from metastored.client._sync.client import connect

        return connect
    if name == "aconnect":
        from metastored.client._async.client import aconnect

        return aconnect
    raise AttributeError(f"module 'metastored' has no attribute {name!r}")
