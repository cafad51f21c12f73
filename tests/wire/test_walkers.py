"""A walker finds the end of a message however it is cut into pieces, and the same end as reading does."""

from __future__ import annotations

import pytest

from metastored.wire.codec import binary
from metastored.wire.message import CALL
from metastored.wire.methods import METHODS
from tests.support.codecs import PROTOCOLS
from tests.support.objects import partition
from tests.wire.corpus import sound_calls, sound_reply

pytestmark = pytest.mark.parametrize("protocol", PROTOCOLS)


def messages(protocol: str) -> list[bytes]:
    return [*sound_calls(protocol).values(), sound_reply(protocol)[1]]


def test_reading_and_walking_find_the_same_end(protocol: str) -> None:
    wire = PROTOCOLS[protocol]
    for message in sound_calls(protocol).values():
        data = b"??" + message + message
        assert wire.walker(2).end(data) == wire.read_call(data, 2).end == 2 + len(message)


def test_any_two_pieces_give_the_same_end(protocol: str) -> None:
    wire = PROTOCOLS[protocol]
    for message in messages(protocol):
        for cut in range(len(message)):
            walker = wire.walker(0)
            assert walker.end(message[:cut]) is None
            assert walker.end(message) == len(message)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_any_number_of_pieces_gives_the_same_end(protocol: str, size: int) -> None:
    wire = PROTOCOLS[protocol]
    for message in messages(protocol):
        walker = wire.walker(0)
        data = bytearray()
        for start in range(0, len(message), size):
            assert start == 0 or walker.end(data) is None
            data += message[start : start + size]
        assert walker.end(data) == len(message)
        assert walker.end(data + b"more") == len(message)


@pytest.mark.parametrize("size", [11, 500, 1500, 4000, 20_000])
def test_long_elements_that_arrive_in_pieces_have_the_same_end(protocol: str, size: int) -> None:
    wire, method = PROTOCOLS[protocol], METHODS["add_partitions"]
    parts = [partition("d", "p", (f"{at}",), parameters={"k": "v" * (at % 5 * 700)}) for at in range(30)]
    message = wire.write(CALL, method.name_bytes, 1, binary.encode_args(method, (tuple(parts),)), method)
    walker, data = wire.walker(0), bytearray()
    for start in range(0, len(message), size):
        assert start == 0 or walker.end(data) is None
        data += message[start : start + size]
    assert walker.end(data) == len(message)


def test_an_end_inside_the_last_piece_is_found(protocol: str) -> None:
    wire = PROTOCOLS[protocol]
    for message in messages(protocol):
        walker = wire.walker(0)
        assert walker.end(message[:-1]) is None
        assert walker.end(message + message) == len(message)
