"""The entries of `remotes_references`: which references they are about, and which hosts may get the secrets."""

from __future__ import annotations

import pytest

from metastored.hive.reference_rules import read_reference_rule


@pytest.mark.parametrize(
    ("entry", "reference"),
    [
        ("env:A_*", "env:A_B"),
        ("file:/run/secrets/*", "file:/run/secrets/x"),
        ("file:/run/secrets/*", "file:/run/other/../secrets/x"),
        ("server:*", "server:ssh"),
        ("env:A_* -> a.example", "env:A_B"),
    ],
)
def test_a_rule_is_about_the_references_that_match_its_pattern(entry: str, reference: str) -> None:
    assert read_reference_rule(entry).matches(reference)


@pytest.mark.parametrize("reference", ["env:AB", "env:", "file:run/secrets/x", "file:/run/secrets/../x", "server:ssh"])
def test_a_rule_is_about_no_others(reference: str) -> None:
    assert not read_reference_rule("env:A_*").matches(reference)
    assert not read_reference_rule("file:/run/secrets/*").matches(reference)


@pytest.mark.parametrize(
    ("hosts", "host", "port"),
    [
        ("*.partner.example", "a.partner.example", 9083),
        ("*.partner.example", "A.Partner.Example.", None),
        ("a.example b.example:443", "b.example", 443),
        ("10.0.0.0/8", "10.1.2.3", 80),
        ("[fd00::1]:9083", "fd00::1", 9083),
        ("*", "anything.example", 1),
    ],
)
def test_a_secret_may_be_sent_to_the_hosts_of_its_rule(hosts: str, host: str, port: int | None) -> None:
    assert read_reference_rule(f"env:A -> {hosts}").allows(host, port)


@pytest.mark.parametrize(
    ("hosts", "host", "port"),
    [
        ("*.partner.example", "partner.example.evil.net", 9083),
        ("*.partner.example", "evilpartner.example", 9083),
        ("b.example:443", "b.example", 80),
        ("b.example:443", "b.example", None),
        ("10.0.0.0/8", "11.1.2.3", 80),
    ],
)
def test_and_to_no_others(hosts: str, host: str, port: int | None) -> None:
    assert not read_reference_rule(f"env:A -> {hosts}").allows(host, port)


def test_a_network_does_not_allow_a_name_since_a_name_can_point_anywhere() -> None:
    assert not read_reference_rule("env:A -> 10.0.0.0/8").allows("ten.example", 80)


@pytest.mark.parametrize(
    "entry",
    ["", "A", "secret:A", "file:relative", "env:", "env:A ->", "env:A -> ->", "env:A -> 10.0.0.0/99", "env:A B"],
)
def test_anything_else_is_refused_with_an_example(entry: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        read_reference_rule(entry)
