"""Delegation tokens in Hadoop's encoding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.hive.delegation import (
    DelegationError,
    Identifier,
    MasterKey,
    StoredToken,
    Token,
    _Reader,
    short_name,
    vlong,
)

LONGS = st.integers(-(2**63), 2**63 - 1)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "00"),
        (127, "7f"),
        (-112, "90"),
        (128, "8f80"),
        (-113, "8770"),
        (256, "8e0100"),
        (2**63 - 1, "887f" + "f" * 14),
    ],
)
def test_numbers_are_written_as_hadoop_does(value: int, written: str) -> None:
    assert vlong(value).hex() == written


@given(LONGS)
def test_numbers_are_read_back(value: int) -> None:
    assert _Reader(vlong(value)).vlong() == value


@given(st.text(), st.text(), st.text(), LONGS, LONGS, LONGS, LONGS)
def test_identifiers_are_read_back(
    owner: str, renewer: str, real: str, issued: int, ends: int, number: int, key: int
) -> None:
    identifier = Identifier(owner, renewer, real, issued, ends, number, key)
    assert Identifier.decode(identifier.encode()) == identifier


@given(st.binary(), st.binary(), st.text())
def test_tokens_and_keys_are_read_back(identifier: bytes, password: bytes, service: str) -> None:
    token = Token(identifier, password, service=service)
    assert Token.decode(token.encode()) == token
    key = MasterKey(1, 2, password)
    assert MasterKey.decode(key.encode()) == key
    assert StoredToken.decode(StoredToken(password, 5).encode()) == StoredToken(password, 5)


def test_an_identifier_has_hadoops_bytes() -> None:
    identifier = Identifier("joe", "yarn", "", 1, 300, 5, 6)
    assert identifier.encode().hex() == "00" + "036a6f65" + "047961726e" + "00" + "01" + "8e012c" + "05" + "06"


def test_a_token_may_be_written_with_padding() -> None:
    assert Token.decode(Token(b"a", b"b").encode() + "==") == Token(b"a", b"b")


@pytest.mark.parametrize("text", ["", "A", "!!!!", "fw", "é"])
def test_an_invalid_token_is_refused(text: str) -> None:
    with pytest.raises(DelegationError):
        Token.decode(text)


def test_the_short_name_of_a_principal() -> None:
    assert [short_name(name) for name in ("hive/h@R", "hive@R", "hive")] == ["hive"] * 3
