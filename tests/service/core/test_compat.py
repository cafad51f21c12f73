"""The table of the differences between the generations of Hive."""

from dataclasses import fields

import pytest

from metastored.config import Settings
from metastored.hive.generation import ANY, Compat, Generation
from metastored.service.core.compat import RULES, Rules, show, shown_by, table
from metastored.wire.message import Session
from metastored.wire.methods import METHODS


def test_every_rule_is_printed_with_the_generation_that_brought_it() -> None:
    printed = {line.what: line.since for line in table()}
    for rule in fields(Rules):
        assert rule.metadata["what"] in printed
        since = printed[rule.metadata["what"]]
        for generation, rules in RULES.items():
            assert getattr(rules, rule.name) is (generation >= since), rule.name


def test_every_generation_has_its_rules() -> None:
    assert set(RULES) == set(Generation)
    assert RULES[Generation.HIVE_2_3] == Rules()


@pytest.mark.parametrize("compat", ["2.3", "3.1", "4.0", "4.2"])
def test_a_version_accepts_what_it_replies(compat: str) -> None:
    assert Compat.of(compat) == (Generation.of(compat), Generation.of(compat))


def test_the_default_accepts_the_newest_and_replies_as_3_1() -> None:
    assert Compat.of(Settings().compat) == ANY == (Generation.HIVE_3_1, Generation.HIVE_4_2)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("get_table", Generation.HIVE_2_3),
        ("get_catalogs", Generation.HIVE_3_1),
        ("create_table_req", Generation.HIVE_4_0),
        ("get_database_req", Generation.HIVE_4_0),
        ("get_databases_req", Generation.HIVE_4_2),
        ("alter_table_req", Generation.HIVE_3_1),
        ("find_next_compact2", Generation.HIVE_3_1),
    ],
)
def test_a_call_shows_the_version_of_the_client(name: str, shown: Generation) -> None:
    assert shown_by(METHODS[name]) == shown


@pytest.mark.parametrize(
    ("compat", "replies"),
    [
        (ANY, Generation.HIVE_4_0),
        (Generation.HIVE_2_3, Generation.HIVE_3_1),
        (Generation.HIVE_3_1, Generation.HIVE_3_1),
        (Generation.HIVE_4_2, Generation.HIVE_4_2),
    ],
)
def test_a_client_of_hive_4_gets_its_replies_where_its_requests_are_accepted(
    compat: Compat | Generation, replies: Generation
) -> None:
    session = Session("test", compat)
    show(session, Generation.HIVE_4_0)
    assert session.generation == replies


def test_an_older_call_does_not_take_replies_back() -> None:
    session = Session("test", ANY)
    show(session, Generation.HIVE_4_0)
    show(session, Generation.HIVE_2_3)
    assert session.generation == Generation.HIVE_4_0
