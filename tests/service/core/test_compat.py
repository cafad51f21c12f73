"""The table of the differences between the generations of Hive."""

from dataclasses import fields

from metastored.hive.generation import Generation
from metastored.service.core.compat import RULES, Rules, table


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
