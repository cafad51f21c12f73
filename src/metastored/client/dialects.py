"""Selects the wire of an address: plain Thrift, HTTP or SASL. The last two are imported when they are used."""

from __future__ import annotations

from metastored.client.endpoints import Endpoint
from metastored.client.wires import ThriftWire, Wire


def wire_for(endpoint: Endpoint) -> Wire:
    """The wire for a new connection to this address."""
    if endpoint.path is not None:
        from metastored.client.http import HttpWire

        return HttpWire(endpoint)
    if endpoint.sasl is not None:
        from metastored.client.sasl import SaslWire

        return SaslWire(endpoint)
    return ThriftWire(endpoint)
