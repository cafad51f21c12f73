"""A user without privileges can neither read nor change objects of another user, by any method and spelling of a name.

Every method of the table is called as a user without rights, with arguments that `attack.py` makes from its types, on
the objects of `victim.py`. A reply must not contain what is secret of them, and no row of the database may differ
afterwards, but for what the lists of exceptions below allow with a reason each.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from metastored.hive.generation import Generation
from metastored.store.engine.opening import open_database
from metastored.wire.message import Reply
from metastored.wire.methods import METHODS
from tests.gate.attack import SPELLINGS, Attack, attacks
from tests.gate.victim import ADMIN, ATTACKER, MARK, Victim
from tests.store.conftest import Opener

pytestmark = pytest.mark.slow

_DESCRIBED = "as in Hive, DESCRIBE DATABASE is for everybody: clients need a database's location to use it"
_RUN_BY_ALL = "as in Hive, functions are for everybody to run, and their definition is what an engine runs"
_MADE_FOR_ALL = "made by admins for every engine to read; no user owns one"
MAY_RETURN = {
    "get_database": _DESCRIBED,
    "get_database_req": _DESCRIBED,
    "get_databases_req": _DESCRIBED,
    "get_all_functions": _RUN_BY_ALL,
    "get_function": _RUN_BY_ALL,
    "get_resource_plan": _MADE_FOR_ALL,
    "get_triggers_for_resourceplan": _MADE_FOR_ALL,
    "get_type": _MADE_FOR_ALL,
}
"""Methods that return more than names to everybody."""

MAY_CHANGE = {
    "get_delegation_token": "a user's own token, for jobs of that user",
    "get_metastore_db_uuid": "the database gets its identifier at the first request",
}
"""Methods by which everybody adds rows that are neither vera's nor in mallory's database."""

_EXISTS = "what it would make exists already"
_STATE = "needs something first that no other call of this test makes"
_NOTHING = "does nothing, or is refused to everybody, as in Hive"
_SECRET = "needs a name, a column or a token of vera's that is secret here"
WITHOUT_EFFECT = {
    **dict.fromkeys(
        (
            *("add_index", "add_token", "create_dataconnector", "create_dataconnector_req"),
            *("create_resource_plan", "create_type", "create_wm_trigger", "repl_tbl_writeid_state", "create_catalog"),
            "create_role",
        ),
        _EXISTS,
    ),
    **dict.fromkeys(
        (
            *("drop_catalog", "drop_ischema", "alter_resource_plan", "alter_wm_pool"),
            *("alter_wm_trigger", "create_or_drop_wm_trigger_to_pool_mapping"),
            *("create_or_update_wm_mapping", "drop_wm_mapping", "drop_wm_pool", "exchange_partition"),
            *("exchange_partitions", "heartbeat_lock_materialization_rebuild", "remove_compaction_metrics_data"),
            *("heartbeat_lock_materialization_rebuild_req", "scheduled_query_poll", "scheduled_query_progress"),
            *("seed_txn_id", "update_transaction_statistics", "revoke_role"),
        ),
        _STATE,
    ),
    **dict.fromkeys(
        (
            *("cache_file_metadata", "clear_file_metadata", "put_file_metadata", "cm_recycle", "getMetaConf"),
            *("setMetaConf", "get_properties", "set_properties", "get_type_all", "get_delegation_token"),
        ),
        _NOTHING,
    ),
    **dict.fromkeys(
        (
            *("add_foreign_key", "create_table_with_constraints", "cancel_delegation_token"),
            *("renew_delegation_token",),
        ),
        _SECRET,
    ),
}
"""Methods that do nothing even for an admin with these arguments, so that this test shows little about them."""


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    # That a request struct is missing is reported by the metastore, and is not what is tested here.
    logging.getLogger("metastored").setLevel(logging.CRITICAL)
    folder = tmp_path_factory.mktemp("victim") / "data"
    folder.mkdir()
    victim = Victim(lambda: open_database(None, folder, threads=4), folder)
    yield victim
    victim.close()
    logging.getLogger("metastored").setLevel(logging.NOTSET)


def body_of(reply: Reply) -> bytes:
    return reply.body if isinstance(reply.body, bytes) else reply.body.read()


def is_leaked(reply: Reply) -> bool:
    """Whether a reply has anything secret."""
    return MARK.encode() in body_of(reply)


def every_attack(victim: Victim, name: str) -> Iterator[Attack]:
    """With vera's numbers, and with mallory's own."""
    yield from attacks(METHODS[name], victim.ids)
    for attack in attacks(METHODS[name], victim.own_ids):
        yield attack._replace(how=f"own ids, {attack.how}")


@pytest.mark.parametrize("name", METHODS)
def test_a_user_without_rights_gets_and_changes_nothing_of_anothers(victim: Victim, name: str) -> None:
    leaked, changed = [], []
    for attack in every_attack(victim, name):
        if is_leaked(victim.reply(ATTACKER, name, attack.args)):
            leaked.append(attack.how)
        any_change, of_others = victim.changes()
        if of_others:
            changed.append(f"{attack.how}: {of_others}")
        if any_change:
            victim.restore()
    assert not leaked or name in MAY_RETURN, f"{name} returned what is secret: {leaked[0]}"
    assert not changed or name in MAY_CHANGE, f"{name} changed what is another's: {changed[0]}"
    # The lists of exceptions have no unused entries.
    assert leaked or name not in MAY_RETURN
    assert changed or name not in MAY_CHANGE


@pytest.mark.parametrize("spellings", [1, pytest.param(2, marks=pytest.mark.soak)])
@pytest.mark.parametrize("user", [ATTACKER, None])
def test_no_dialect_and_no_missing_name_opens_anything(victim: Victim, user: str | None, spellings: int) -> None:
    """`make test` has the plain spelling of each name; `make soak` one more. The test above has all of them."""
    for name in METHODS.keys() - MAY_RETURN.keys() - MAY_CHANGE.keys():
        for attack in attacks(METHODS[name], victim.ids, SPELLINGS[:spellings]):
            for generation in (Generation.HIVE_2_3, Generation.HIVE_3_1):
                assert not is_leaked(victim.reply(user, name, attack.args, generation)), (name, attack.how)
        any_change, of_others = victim.changes()
        assert not of_others, (name, of_others)
        if any_change:
            victim.restore()


def test_the_same_calls_have_an_effect_for_an_admin(victim: Victim) -> None:
    """Otherwise their failure as another user would show nothing."""
    idle = set()
    for name, method in METHODS.items():
        effect = False
        for attack in every_attack(victim, name):
            reply = victim.reply(ADMIN, name, attack.args)
            if reply.error is None and method.cost != "write":
                effect = True
            if victim.changes()[0]:
                victim.restore()
                effect = True
            if effect:
                break
        if not effect:
            idle.add(name)
    assert idle == WITHOUT_EFFECT.keys()


def test_a_sample_holds_on_both_databases(opener: Opener, caplog: pytest.LogCaptureFixture) -> None:
    """A sample: every method, the plain spelling and one with a Unicode space."""
    caplog.set_level(logging.CRITICAL, "metastored")
    victim = Victim(opener)
    for name in METHODS.keys() - MAY_RETURN.keys() - MAY_CHANGE.keys() - {"open_txns"}:
        for attack in sample(victim, name):
            assert not is_leaked(victim.reply(ATTACKER, name, attack.args)), (name, attack.how)
        assert victim.changes()[1] == "", name
    victim.close()


def sample(victim: Victim, name: str) -> Iterator[Attack]:
    for attack in attacks(METHODS[name], victim.ids, (SPELLINGS[1], SPELLINGS[5])):
        if "is" not in attack.how.split(" ", 3)[:3]:
            yield attack
