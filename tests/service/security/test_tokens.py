"""Delegation tokens: issued to authenticated users, renewed, cancelled; and the keys that sign them."""

from collections.abc import Callable
from typing import Any

import pytest

from metastored.errors import AuthenticationError, MetaException
from metastored.hive.delegation import Identifier, MasterKey, Token
from metastored.hive.generation import Generation
from metastored.service.core.context import Context
from metastored.service.core.serving import served
from metastored.service.security.tokens import DAY, MAX_LIFETIME, password_of
from metastored.wire.message import Session
from tests.service.conftest import Starter
from tests.support.metastore import Metastore

SECONDS_A_DAY = DAY // 1000


def proven(user: str) -> Session:
    session = Session("test", Generation.HIVE_3_1, user)
    session.authenticated, session.principal = True, f"{user}@REALM"
    return session


def as_user(metastore: Metastore, user: str) -> Callable[..., Any]:
    """Calls of a user who has authenticated."""

    def call(method: str, *args: Any) -> Any:
        return served()[method](Context(metastore.service, proven(user)), *args)

    return call


def issued(metastore: Metastore, user: str = "alice", renewer: str = "yarn/host@REALM") -> str:
    text = as_user(metastore, user)("get_delegation_token", user, renewer)
    assert isinstance(text, str)
    return text


def test_a_token_names_its_owner_and_is_signed_with_a_master_key(metastore: Metastore) -> None:
    token = Token.decode(issued(metastore))
    reported = Identifier.decode(token.identifier)
    now = int(metastore.clock.now * 1000)
    assert (reported.owner, reported.renewer, reported.real_user) == ("alice", "yarn", "alice@REALM")
    assert (reported.issue_date, reported.max_date) == (now, now + MAX_LIFETIME)
    assert (token.kind, token.service) == ("HIVE_DELEGATION_TOKEN", "")
    (key,) = map(MasterKey.decode, metastore.call("get_master_keys"))
    assert key.id == reported.key_id
    assert key.password(token.identifier) == token.password


def test_a_token_logs_in_its_owner(metastore: Metastore) -> None:
    token = Token.decode(issued(metastore))
    assert password_of(metastore.service, token.identifier) == ("alice", token.password)


def test_two_tokens_are_never_the_same(metastore: Metastore) -> None:
    assert issued(metastore) != issued(metastore)


def test_a_token_of_one_server_is_valid_at_another(start: Starter) -> None:
    one, other = start(), start()
    token = Token.decode(issued(one))
    assert password_of(other.service, token.identifier) == ("alice", token.password)


def test_a_caller_without_authentication_gets_no_token(metastore: Metastore) -> None:
    with pytest.raises(MetaException, match="issued only to authenticated users"):
        metastore.call("get_delegation_token", "tester", "yarn")


def test_a_token_for_another_user_is_refused(metastore: Metastore) -> None:
    with pytest.raises(MetaException, match="User: alice@REALM is not allowed to impersonate bob"):
        as_user(metastore, "alice")("get_delegation_token", "bob", "yarn")


def test_a_token_is_renewed_by_its_renewer(metastore: Metastore) -> None:
    text = issued(metastore)
    metastore.clock.forward(SECONDS_A_DAY / 2)
    until = as_user(metastore, "yarn")("renew_delegation_token", text)
    assert until == int(metastore.clock.now * 1000) + DAY


def test_a_token_is_never_renewed_beyond_its_end(metastore: Metastore) -> None:
    text = issued(metastore)
    end = Identifier.decode(Token.decode(text).identifier).max_date
    metastore.clock.forward(6.5 * SECONDS_A_DAY)
    assert as_user(metastore, "yarn")("renew_delegation_token", text) == end


def test_only_the_renewer_renews_a_token(metastore: Metastore) -> None:
    text = issued(metastore)
    with pytest.raises(MetaException, match=r"alice tries to renew a token .* with non-matching renewer yarn"):
        as_user(metastore, "alice")("renew_delegation_token", text)


def test_a_token_without_a_renewer_is_not_renewed(metastore: Metastore) -> None:
    text = issued(metastore, renewer="")
    with pytest.raises(MetaException, match="without a renewer"):
        as_user(metastore, "yarn")("renew_delegation_token", text)


def test_an_expired_token_is_not_renewed(metastore: Metastore) -> None:
    text = issued(metastore)
    metastore.clock.forward(8 * SECONDS_A_DAY)
    with pytest.raises(MetaException, match="yarn tried to renew an expired token of alice"):
        as_user(metastore, "yarn")("renew_delegation_token", text)


def test_a_forged_token_is_neither_renewed_nor_cancelled(metastore: Metastore) -> None:
    token = Token.decode(issued(metastore))
    forged = token._replace(password=b"x" * 20).encode()
    with pytest.raises(MetaException, match=r"is trying to renew a token .* with wrong password"):
        as_user(metastore, "yarn")("renew_delegation_token", forged)
    with pytest.raises(MetaException, match=r"is trying to cancel a token .* with wrong password"):
        as_user(metastore, "alice")("cancel_delegation_token", forged)
    assert password_of(metastore.service, token.identifier) == ("alice", token.password)


def test_a_cancelled_token_is_gone(metastore: Metastore) -> None:
    text = issued(metastore)
    as_user(metastore, "alice")("cancel_delegation_token", text)
    with pytest.raises(AuthenticationError, match="token expired or does not exist: of alice for yarn"):
        password_of(metastore.service, Token.decode(text).identifier)
    with pytest.raises(MetaException, match="token does not exist"):
        as_user(metastore, "yarn")("renew_delegation_token", text)
    as_user(metastore, "alice")("cancel_delegation_token", text)


def test_a_token_that_was_not_renewed_cannot_authenticate(metastore: Metastore) -> None:
    token = Token.decode(issued(metastore))
    metastore.clock.forward(SECONDS_A_DAY + 1)
    with pytest.raises(AuthenticationError, match="token has expired"):
        password_of(metastore.service, token.identifier)


def test_rubbish_is_no_token(metastore: Metastore) -> None:
    for text in ("", "rubbish!", "AAAA"):
        with pytest.raises(MetaException, match="this is not a delegation token"):
            as_user(metastore, "alice")("renew_delegation_token", text)


def test_keys_are_replaced_daily_and_kept_while_a_token_needs_them(metastore: Metastore) -> None:
    ids = []
    for _ in range(10):
        ids.append(Identifier.decode(Token.decode(issued(metastore)).identifier).key_id)
        metastore.clock.forward(SECONDS_A_DAY)
    assert len(set(ids)) == 10
    kept = [MasterKey.decode(text).id for text in metastore.call("get_master_keys")]
    assert kept == ids[-len(kept) :]
    assert len(kept) == 9


def test_one_key_signs_the_tokens_of_a_day(metastore: Metastore) -> None:
    for _ in range(3):
        issued(metastore)
    assert len(metastore.call("get_master_keys")) == 1


def test_tokens_that_ended_are_removed_when_one_is_issued(metastore: Metastore) -> None:
    issued(metastore)
    metastore.clock.forward(8 * SECONDS_A_DAY)
    issued(metastore)
    assert len(metastore.call("get_all_token_identifiers")) == 1


# --- the store --------------------------------------------------------------------------------------------------


def test_a_token_is_stored_once_and_removed_once(metastore: Metastore) -> None:
    assert metastore.call("add_token", "i", "t") is True
    assert metastore.call("add_token", "i", "other") is False
    assert metastore.call("get_token", "i") == "t"
    assert metastore.call("get_all_token_identifiers") == ("i",)
    assert metastore.call("remove_token", "i") is True
    assert metastore.call("remove_token", "i") is False


def test_a_missing_token_is_empty_since_3_1_and_null_before(start: Starter) -> None:
    assert start().call("get_token", "nope") == ""
    assert start(Generation.HIVE_2_3).call("get_token", "nope") is None


def test_master_keys_have_numbers_that_are_not_used_twice(metastore: Metastore) -> None:
    first = metastore.call("add_master_key", "k1")
    assert metastore.call("remove_master_key", first) is True
    assert metastore.call("remove_master_key", first) is False
    second = metastore.call("add_master_key", "k2")
    assert second > first
    metastore.call("update_master_key", second, "k3")
    assert metastore.call("get_master_keys") == ("k3",)


def test_a_missing_master_key_is_not_updated(metastore: Metastore) -> None:
    with pytest.raises(MetaException, match=r"NoSuchObjectException\(message:No key found with keyId: 99\)"):
        metastore.call("update_master_key", 99, "k")


def test_a_foreign_key_signs_nothing(metastore: Metastore) -> None:
    metastore.call("add_master_key", "not a key of ours")
    issued(metastore)
    assert len(metastore.call("get_master_keys")) == 2
