"""Transactional, insert-only, full ACID: two rules of Hive's for each, and the properties that a reader gets."""

from __future__ import annotations

import pytest

from metastored.model import acid
from metastored.wire.generated.common import StorageDescriptor, Table

FULL = {"transactional": "true"}
INSERT_ONLY = {"transactional": "TRUE", "transactional_properties": "Insert_Only"}


@pytest.mark.parametrize(
    ("parameters", "transactional", "translated"),
    [
        (None, False, False),
        ({}, False, False),
        ({"transactional": "true"}, True, True),
        ({"transactional": "True"}, True, True),
        ({"transactional": "FALSE"}, False, False),
        ({"transactional": "yes"}, False, True),
        ({"transactional": ""}, False, True),
        ({"TRANSACTIONAL": "true"}, False, False),
    ],
)
def test_true_is_transactional_and_anything_but_false_stays_managed(
    parameters: dict[str, str] | None, transactional: bool, translated: bool
) -> None:
    assert acid.is_transactional(parameters) is transactional
    assert acid.translates_as_transactional(parameters) is translated


def test_insert_only_tables_are_transactional_and_the_property_alone_is_a_rule_of_its_own() -> None:
    alone = {"transactional_properties": "insert_only"}
    assert acid.is_insert_only(INSERT_ONLY) and acid.says_insert_only(INSERT_ONLY)
    assert acid.says_insert_only(alone) and not acid.is_insert_only(alone)
    assert not acid.says_insert_only(None)


def test_other_transactional_tables_are_fully_acid() -> None:
    assert acid.is_full_acid(FULL)
    assert not acid.is_full_acid(INSERT_ONLY)
    assert not acid.is_full_acid({})


def test_create_and_alter_read_names_of_parameters_in_any_case() -> None:
    assert acid.in_any_case({"Transactional": "true"}, acid.TRANSACTIONAL) == "true"
    assert acid.in_any_case({}, acid.TRANSACTIONAL) is None


def test_a_reader_gets_the_properties_it_needs_to_find_the_files() -> None:
    sd = StorageDescriptor(numBuckets=4)
    table = Table(sd=sd, parameters={**FULL, "bucketing_version": "2"}, writeId=7)
    assert acid.acid_of(table) == acid.Acid(False, 7, 4, 2)
    assert acid.acid_of(Table(parameters=INSERT_ONLY, writeId=-1)) == acid.Acid(True, None, None, None)
    assert acid.acid_of(Table(parameters={"transactional": "no"})) is None


def test_ids_among_the_parameters_are_read() -> None:
    given = {**FULL, "transactionId": "9", "writeId": "3", "validWriteIdList": "d.t:3:9223372036854775807::"}
    found = acid.acid_of(Table(parameters=given))
    assert found is not None
    assert (found.transaction_id, found.write_id, found.valid_write_ids) == (9, 3, "d.t:3:9223372036854775807::")
