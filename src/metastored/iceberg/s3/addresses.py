"""The S3 that a server uses, and the parts of a URI of it: path style and virtual host style. Pure.

A URI of another host, port or scheme is refused, and so is one with a user, a fragment or anything else that programs
read differently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from metastored.iceberg.errors import BadRequest, Forbidden
from metastored.iceberg.s3.vending import endpoint_of, region_of

__all__ = ["Address", "Store", "address_of"]

_URI: Final = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>/[!->@-~]*)?(?:\?(?P<query>[!-~]*))?"
)
_NOT_IN_A_URI: Final = re.compile(r"[#\\\"<>^`{|}]")
_REGION: Final = re.compile("[a-z0-9][a-z0-9-]{0,62}")
_PORTS: Final = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """Where a store is: the first part of its URIs."""

    scheme: str
    host: str
    port: int
    path: str = ""
    """What its paths begin with; empty, or with a slash before it and none after it."""


class Store(NamedTuple):
    """The S3 of a server."""

    region: str | None = None
    """None if the server has none configured: then it is the client's."""
    endpoint: str | None = None
    """Its address; None for that of AWS."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Store:
        """The store that the drivers of the server use."""
        return cls(region_of(environment), endpoint_of(environment))

    def origins(self, region: str) -> tuple[Origin, ...]:
        """All addresses of the store, without the bucket."""
        if self.endpoint is not None:
            parts = _split(self.endpoint)
            return () if parts is None else (parts[0]._replace(path=parts[1].rstrip("/")),)
        domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
        names = [f"s3.{region}", f"s3.dualstack.{region}", f"s3-fips.{region}", f"s3-fips.dualstack.{region}"]
        if domain == "amazonaws.com":
            names.append("s3")  # The address that all regions had in the beginning.
        return tuple(Origin("https", f"{name}.{domain}", 443) for name in names)


class Address(NamedTuple):
    """The parts of a URI, still percent-encoded."""

    host_header: str
    key: str
    """Of the object; empty for the bucket itself."""
    query: str | None


def address_of(uri: str, store: Store, region: str, bucket: str) -> Address:
    """The parts of a URI of a bucket. Raises BadRequest if it is not a URI, and Forbidden for one of something else."""
    if not _REGION.fullmatch(region):
        raise BadRequest(f"region of the request is {region!r}: the name of a region was expected"[:200])
    if store.region is not None and region != store.region:
        raise Forbidden(f"region of the request is {region}: the server signs for {store.region}"[:300])
    parts = _split(uri)
    if parts is None:
        raise BadRequest(
            f"uri of the request is {uri[:1000]!r}: http or https, a host, a path and a query of ASCII were expected, "
            "without a user and a fragment"
        )
    origin, path, query = parts
    for each in store.origins(region):
        if (each.scheme, each.port) != (origin.scheme, origin.port):
            continue
        if origin.host == each.host:
            above = f"{each.path}/{bucket}"
        elif origin.host == f"{bucket}.{each.host}":
            above = each.path
        else:
            continue
        if path == above or path.startswith(f"{above}/"):
            return Address(_host_header(origin), path[len(above) + 1 :], query)
    shown = store.endpoint or f"https://s3.{region}.amazonaws.com"
    raise Forbidden(f"uri of the request is {uri[:1000]!r}, which is not of the bucket {bucket} of {shown}")


def _split(uri: str) -> tuple[Origin, str, str | None] | None:
    matched = _URI.fullmatch(uri)
    if matched is None or _NOT_IN_A_URI.search(uri):
        return None
    scheme = matched["scheme"]
    port = _PORTS[scheme] if matched["port"] is None else int(matched["port"])
    path: str = matched["path"] or ""
    return Origin(scheme, matched["host"].lower(), port), path, matched["query"]


def _host_header(origin: Origin) -> str:
    """As clients send it: without the port that a scheme has by default."""
    return origin.host if origin.port == _PORTS[origin.scheme] else f"{origin.host}:{origin.port}"
