"""Clients of other libraries (reference implementations) for servers that tests start."""

from __future__ import annotations

from tests.support.apache_thrift import ApacheClient
from tests.support.thriftpy import Thriftpy2Client


def apache_client(
    host: str, port: int, protocol: str = "binary", framed: bool = False, version: str = "next", timeout: float = 30
) -> ApacheClient:
    """Apache Thrift's library. `version` is its version of the API: 2.3, 3.1, …"""
    return ApacheClient(host, port, protocol, framed, version, timeout)


def thriftpy2_client(
    host: str, port: int, protocol: str = "binary", framed: bool = False, version: str = "next", timeout: float = 30
) -> Thriftpy2Client:
    """thriftpy2. Its JSON is Apache's, but see `thriftpy.carried`."""
    return Thriftpy2Client(host, port, protocol, framed, version, timeout)
