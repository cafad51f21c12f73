"""Any bytes are a message, incomplete or refused; never another exception, no memory is allocated by claimed sizes."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metastored.errors import MetastoreError, RemoteProtocolError
from metastored.wire.codec import binary
from metastored.wire.codec.protocol import BadMessage, Incoming, Incomplete, WireProtocol
from metastored.wire.limits import MAX_MESSAGE
from metastored.wire.methods import METHODS
from tests.support.codecs import PROTOCOLS
from tests.wire.corpus import CORPUS, Broken, sound_calls, sound_reply

pytestmark = pytest.mark.slow

ALL = [pytest.param(name, broken, id=f"{name}: {broken.name}") for name, rows in CORPUS.items() for broken in rows]


def read(wire: WireProtocol, data: bytes) -> Incoming | Exception:
    """The call, or the one of the allowed errors that reading it raised."""
    try:
        found = wire.read_call(data, 0)
    except (Incomplete, RemoteProtocolError) as error:
        return error
    if found.method is not None:
        # A message that was read can be passed on.
        binary.encode_args(found.method, found.value)
    return found


def walk(wire: WireProtocol, data: bytes) -> int | Exception | None:
    try:
        return wire.walker(0).end(data)
    except RemoteProtocolError as error:
        return error


@pytest.mark.parametrize(("protocol", "broken"), ALL)
def test_a_broken_message_is_refused(protocol: str, broken: Broken) -> None:
    found = read(PROTOCOLS[protocol], broken.data)
    if broken.raises is None:
        assert isinstance(found, Incoming)
    else:
        assert type(found) is broken.raises, found
    if isinstance(found, BadMessage):
        assert found.name and found.seqid == 7
        assert str(found)


@pytest.mark.parametrize(("protocol", "broken"), ALL)
def test_a_broken_message_takes_no_memory(protocol: str, broken: Broken) -> None:
    wire = PROTOCOLS[protocol]
    read(wire, broken.data)  # the codecs of its method are compiled now
    tracemalloc.start()
    try:
        read(wire, broken.data)
        walk(wire, broken.data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 400_000 + 8 * len(broken.data)


@pytest.mark.parametrize(("protocol", "broken"), ALL)
def test_a_walker_never_waits_for_a_message_that_was_refused(protocol: str, broken: Broken) -> None:
    found = walk(PROTOCOLS[protocol], broken.data)
    if broken.raises is None:
        assert found == len(broken.data)
    elif broken.raises is Incomplete:
        assert found is None or isinstance(found, RemoteProtocolError)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("method", sound_calls("binary"))
def test_a_call_cut_off_at_any_byte_is_incomplete(protocol: str, method: str) -> None:
    wire, message = PROTOCOLS[protocol], sound_calls(protocol)[method]
    for size in range(len(message)):
        assert type(read(wire, message[:size])) is Incomplete, size
        assert walk(wire, message[:size]) is None, size


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_reply_cut_off_at_any_byte_is_incomplete(protocol: str) -> None:
    wire = PROTOCOLS[protocol]
    method, message = sound_reply(protocol)
    for size in range(len(message)):
        with pytest.raises(Incomplete):
            wire.read_reply(method, message[:size], 0)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("method", sound_calls("binary"))
def test_any_changed_byte_of_a_call_is_a_message_or_a_refusal(protocol: str, method: str) -> None:
    wire, message = PROTOCOLS[protocol], bytearray(sound_calls(protocol)[method])
    for at, byte in enumerate(message):
        for changed in {0x00, 0x7F, 0xFF, byte ^ 1, byte ^ 0x80, (byte + 1) & 0xFF} - {byte}:
            message[at] = changed
            read(wire, bytes(message))
            walk(wire, bytes(message))
        message[at] = byte


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_any_changed_byte_of_a_reply_is_a_value_or_a_refusal(protocol: str) -> None:
    wire = PROTOCOLS[protocol]
    method, sound = sound_reply(protocol)
    message = bytearray(sound)
    for at, byte in enumerate(message):
        for changed in {0x00, 0xFF, byte ^ 1, byte ^ 0x80} - {byte}:
            message[at] = changed
            try:
                body = wire.read_reply(method, bytes(message), 0).body
                assert body is not None
                binary.decode_result(method, body)
            except (Incomplete, RemoteProtocolError, MetastoreError):
                pass
        message[at] = byte


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=300, deadline=None, database=None)
@given(
    method=st.sampled_from(sorted(METHODS)),
    noise=st.binary(max_size=60) | st.text('[]{}":,0123456789istrelcmap\\', max_size=60).map(str.encode),
)
def test_noise_behind_a_header_is_a_message_or_a_refusal(protocol: str, method: str, noise: bytes) -> None:
    wire = PROTOCOLS[protocol]
    empty = wire.write(1, method.encode(), 7, b"\x00", METHODS[method])
    head = empty[:-3] if protocol == "json" else empty[:-1]
    read(wire, head + noise)
    walk(wire, head + noise)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_walker_refuses_a_message_above_the_limit(protocol: str) -> None:
    wire = PROTOCOLS[protocol]

    class Long(bytearray):
        """An object with the length of many bytes, without their memory."""

        def __len__(self) -> int:
            return MAX_MESSAGE + 1

    message: Any = Long(sound_calls(protocol)["get_table"][:-8])
    with pytest.raises(BadMessage, match="more than"):
        wire.walker(0).end(message)
