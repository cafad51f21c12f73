"""HTTP clients of other libraries (urllib3's) that connect only to hosts that `remotes_hosts` allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metastored.connectors.network import check_host
from metastored.errors import ConnectError, InvalidObjectException
from metastored.model.remotes.hosts import AllowedHosts


def checked_pools(pools: Mapping[str, Any], hosts: AllowedHosts) -> dict[str, Any]:
    """urllib3's classes of pools by scheme, with connections that are checked before and after they are opened."""
    return {scheme: _checked_pool(pool, hosts) for scheme, pool in pools.items()}


def _checked_pool(pool: Any, hosts: AllowedHosts) -> Any:
    inner = pool.ConnectionCls

    class Checked(inner):  # type: ignore[misc, valid-type]
        def _new_conn(self) -> Any:
            check_host(self.host, self.port, hosts)
            opened = super()._new_conn()
            try:
                # The name may have led to another address this time.
                hosts.check_address(self.host, self.port, opened.getpeername()[0].partition("%")[0])
            except InvalidObjectException as error:
                opened.close()
                raise ConnectError(str(error)) from None
            return opened

    return type(f"Checked{pool.__name__}", (pool,), {"ConnectionCls": Checked})
