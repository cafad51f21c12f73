"""Apache Thrift and thriftpy2 read what metastored writes, and metastored reads what they write."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from metastored.wire.generated import STRUCTS
from tests.support import apache_thrift, thriftpy
from tests.support.apache_thrift import ApacheClasses
from tests.support.codecs import decode, encode
from tests.support.idl import struct_fields
from tests.support.values import structs, with_defaults

# Encodes every struct with two other Thrift libraries.
pytestmark = pytest.mark.slow

ROUND = settings(
    max_examples=8,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
OLD = "2.3"
"""metastored writes what readers of 3.1 and later understand; what 2.3 wrote otherwise it only reads."""

CASES = [
    pytest.param(name, version, id=f"{name}-{version}")
    for name in STRUCTS
    for version in (OLD, "4.0.0", "next")
    if version == "next" or struct_fields(name, version) != struct_fields(name, "next")
]


@cache
def classes(version: str) -> ApacheClasses:
    return ApacheClasses(version)


def ours(protocol: str) -> str:
    return protocol.partition("-")[0]


@pytest.mark.parametrize(("name", "version"), CASES)
def test_apache_and_metastored_understand_each_other(name: str, version: str) -> None:
    cls = STRUCTS[name]

    @ROUND
    @given(structs(cls, 2, version))
    def check(value: Any) -> None:
        for protocol in apache_thrift.PROTOCOLS:
            theirs = classes(version).encode(value, protocol)
            assert decode(cls, theirs, ours(protocol)) == with_defaults(value), protocol
            if version != OLD:
                found = classes(version).decode(name, encode(value, ours(protocol)), protocol)
                assert found == value, protocol

    check()


@pytest.mark.parametrize(("name", "version"), CASES)
def test_thriftpy2_and_metastored_understand_each_other(name: str, version: str) -> None:
    cls = STRUCTS[name]

    @ROUND
    @given(structs(cls, 2, version))
    def check(value: Any) -> None:
        for protocol in thriftpy.PROTOCOLS:
            small = thriftpy.carried(value, protocol)
            theirs = thriftpy.encode(small, protocol, version)
            head = b'[1,"x",1,1,' if protocol == "json" else b""
            tail = b"]" if protocol == "json" else b""
            assert theirs.startswith(head) and theirs.endswith(tail)
            struct = theirs[len(head) : len(theirs) - len(tail)]
            assert decode(cls, struct, protocol) == with_defaults(small), protocol
            if version != OLD:
                written = head + encode(small, protocol) + tail
                assert thriftpy.decode(name, written, protocol, version) == small, protocol

    check()
