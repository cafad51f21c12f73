"""Another metastore as a remote's definition describes it: its addresses, its read-only addresses, and who calls it."""

from __future__ import annotations

from functools import partial

from metastored.connectors.addresses import Dial, Identities, read_addresses
from metastored.connectors.context import Context
from metastored.connectors.thrift import ReadsElsewhere, ThriftMetastore
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.keys import READ_ONLY_URIS, URIS, shown
from metastored.model.remotes.logins import DELEGATION
from metastored.wire.message import Handler


def metastore_at(endpoint: Endpoint, context: Context, dial: Dial | None = None, slower: float = 0.0) -> Handler:
    """A metastore that speaks Thrift; reads go to its read-only addresses first, where it has any."""
    identities = Identities.read(endpoint)
    metastore = partial(
        ThriftMetastore,
        deadline=endpoint.timeout,
        identity=identities.of,
        replaces_tokens=identities.mode == DELEGATION,
    )
    addresses = read_addresses(endpoint, context, dial, URIS, slower)
    where = shown(URIS, endpoint.get(URIS))
    others = metastore(where, addresses=addresses)
    if not endpoint.get(READ_ONLY_URIS):
        return others
    replicas = (*read_addresses(endpoint, context, dial, READ_ONLY_URIS, slower), *addresses)
    text = f"{shown(URIS, endpoint.get(READ_ONLY_URIS))},{where}"
    return ReadsElsewhere(metastore(text, addresses=replicas), others)
