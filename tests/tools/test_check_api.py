"""The check of the API files finds what it is there to find."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.wire.generated.methods import TABLE
from metastored.wire.methods import METHODS, Method
from metastored.wire.types import parse_field
from tools import check_api

COLUMNS = {"args": 1, "returns": 2, "throws": 3, "verb": 7, "object": 8, "cost": 9, "route": 10, "merge": 11,
           "retry": 12, "privileges": 13, "event": 14, "hook": 15, "changes_with": 16,
           "doc": 17}  # fmt: skip


def changed(name: str, **changes: Any) -> Method:
    """A method of the table with some of its attributes changed."""
    row = list(TABLE[name])
    for attribute, value in changes.items():
        row[COLUMNS[attribute]] = value
    return Method(name, tuple(row))


def test_the_api_files_have_no_problems() -> None:
    assert list(check_api.problems()) == []


@pytest.mark.parametrize(
    ("owner", "line"),
    [
        ("X", "1 string dbName"),
        ("X", "1 string db_name"),
        ("X", "1 string database"),
        ("X", "1 list<string> tblNames"),
        ("X", "1 set<string> tablesUsed"),
        ("X", "1 string source_table_name"),
        ("X", "1 string catalog"),
        ("X", "1 string funcName"),
        ("X", "1 list<string> partitionnames"),
        ("X", "1 list<string> part_vals"),
        ("X", "1 string tbl_patterns"),
        ("get_database", "1 string name"),
        ("GetPartitionNamesPsResponse", "1 list<string> names"),
        ("X", "1 string packageName"),
        ("X", "1 string name"),
        ("X", "1 string connector"),
    ],
)
def test_a_name_without_a_role_is_found(owner: str, line: str) -> None:
    (problem,) = check_api.field_problems(owner, parse_field(line))
    assert "is named like an object and has no role" in problem


@pytest.mark.parametrize(
    "line",
    [
        "1 string location",
        "1 string locationUri",
        "1 string relativePath",
        "1 list<string> subDirectoryList",
        "1 string dataDir",
        "1 string url",
        "1 list<string> filesAdded",
        "1 map<list<string>,string> skewedColValueLocationMaps",
    ],
)
def test_a_location_without_a_role_is_found(line: str) -> None:
    (problem,) = check_api.field_problems("X", parse_field(line))
    assert "is named like a location and has no role" in problem


def test_the_number_of_a_transaction_or_lock_needs_its_opener() -> None:
    (problem,) = check_api.claim_problems(changed("abort_txns", privileges=""))
    assert problem == "abort_txns takes the number of a transaction, so it needs 'own transaction'"
    (problem,) = check_api.claim_problems(changed("unlock", privileges=""))
    assert problem == "unlock takes the number of a lock, so it needs 'own lock'"
    (problem,) = check_api.claim_problems(changed("commit_txn", changes_with=("nothing",)))
    assert problem == "commit_txn names the field nothing, which its request does not have"


@pytest.mark.parametrize(
    ("owner", "line"),
    [
        ("X", "1 string dbName @db"),
        ("X", "1 Table table"),
        ("X", "1 string tableType"),
        ("X", "1 i16 max_parts"),
        ("X", "1 string includeParamKeyPattern"),
        ("FieldSchema", "1 string name"),
        ("Database", "13 string remote_dbname"),
    ],
)
def test_other_fields_need_no_role(owner: str, line: str) -> None:
    assert list(check_api.field_problems(owner, parse_field(line))) == []


@pytest.mark.parametrize(
    "line", ["1 Table table @table", "1 bool x @db", "1 i64 x @db", "1 string x @txn_id", "1 list<list<string>> x @db"]
)
def test_a_role_on_a_type_that_cannot_have_it_is_found(line: str) -> None:
    (problem,) = check_api.field_problems("X", parse_field(line))
    assert "which cannot have the role" in problem


def test_an_exemption_that_is_no_longer_needed_is_found() -> None:
    (problem,) = check_api.field_problems("Database", parse_field("13 string remote_dbname @db"))
    assert "remove the exemption" in problem


@pytest.mark.parametrize("attribute", ["verb", "object", "cost", "route", "merge", "retry"])
def test_a_missing_or_misspelt_attribute_is_found(attribute: str) -> None:
    (missing,) = check_api.word_problems(changed("get_table", **{attribute: ""}))
    assert missing.startswith(f"get_table has no {attribute}; it is one of ")
    (misspelt,) = check_api.word_problems(changed("get_table", **{attribute: "raed"}))
    assert misspelt.startswith(f"get_table has {attribute} 'raed'; it is one of ")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hook": "lokc"}, "has hook 'lokc'"),
        ({"event": "CREATE_TABEL"}, "has event 'CREATE_TABEL'"),
        ({"privileges": "select tables"}, "has privilege 'select tables'"),
        ({"privileges": "select table, own table"}, "has privilege 'own table'"),
        ({"throws": ("1 NoSuchException",)}, "throws NoSuchException"),
    ],
)
def test_a_word_outside_the_vocabulary_is_found(changes: dict[str, Any], words: str) -> None:
    (problem,) = check_api.word_problems(changed("get_table", **changes))
    assert words in problem


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("get_catalogs", {"route": "names"}, "has route names, but no argument"),
        ("get_table", {"route": "id"}, "has route id, but no argument"),
        ("get_catalogs", {"merge": "concat"}, "merges replies, but route local has one reply"),
        ("get_all_databases", {"merge": "none"}, "does not say how replies are merged"),
        ("get_table", {"retry": "never"}, "is a read"),
        ("create_table", {"cost": "point"}, "so its cost is write"),
        ("get_database", {"privileges": "select table"}, "no argument names a table"),
        ("drop_table", {"privileges": "use location"}, "no argument is a location"),
    ],
)
def test_a_claim_that_the_arguments_do_not_bear_out_is_found(name: str, changes: dict[str, Any], words: str) -> None:
    assert list(check_api.claim_problems(METHODS[name])) == []
    (problem,) = check_api.claim_problems(changed(name, **changes))
    assert words in problem


def test_a_listing_of_bare_names_without_a_role_is_found() -> None:
    (problem,) = check_api.result_problems(changed("get_tables", returns="list<string>"))
    assert problem == "get_tables.returns lists objects and has no role; write 'list<string> @role'"


def test_a_result_that_cannot_have_its_role_is_found() -> None:
    (problem,) = check_api.result_problems(changed("get_table", returns="Table @table"))
    assert "which cannot have the role @table" in problem


@pytest.mark.parametrize("doc", ["", "returns a table.", "Returns a table", f"Returns {'x' * 110}."])
def test_a_method_has_a_sentence_of_documentation(doc: str) -> None:
    (problem,) = check_api.word_problems(changed("get_table", doc=doc))
    assert "get_table has the doc" in problem
