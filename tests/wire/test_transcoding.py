"""Long replies are transcoded in memory that is a small multiple of theirs."""

from __future__ import annotations

import tracemalloc

import pytest

from metastored.server.thrift import TRANSCODED
from metastored.wire.codec import binary
from metastored.wire.generated.transactions import GetOpenTxnsInfoResponse, TxnInfo
from metastored.wire.limits import GATHERED
from metastored.wire.methods import METHODS
from metastored.wire.types import REPLY
from tests.support.codecs import PROTOCOLS

METHOD = METHODS["get_open_txns_info"]


def reply(count: int) -> bytes:
    """A list of small structs, which take more than anything else as Python's objects."""
    listed = tuple(TxnInfo(number, 1, "u", "h") for number in range(count))
    return binary.encode_result(METHOD, GetOpenTxnsInfoResponse(count, listed))


@pytest.mark.parametrize("protocol", ["compact", "json"])
@pytest.mark.slow
def test_transcoding_takes_no_more_memory_than_is_reserved_for_it(protocol: str) -> None:
    wire, body = PROTOCOLS[protocol], reply(20_000)
    wire.write(REPLY, METHOD.name_bytes, 1, reply(1), METHOD)  # Its codecs are compiled now.
    tracemalloc.start()
    try:
        wire.write(REPLY, METHOD.name_bytes, 1, body, METHOD)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < TRANSCODED * len(body)


@pytest.mark.parametrize("protocol", ["compact", "json"])
def test_long_and_short_structs_are_written_alike(protocol: str) -> None:
    wire = PROTOCOLS[protocol]
    for count in (1, 20_000):
        body = reply(count)
        assert (len(body) > GATHERED) is (count > 1)
        written = wire.write(REPLY, METHOD.name_bytes, 1, body, METHOD)
        assert wire.read_reply(METHOD, written, 0).body == body
