"""pyiceberg's own tests of catalogs, unmodified, with metastored as the REST catalog.

`make peers` installs them from pyiceberg's source package. They run in a process of their own, in a copy beside which
`pyiceberg_suite_conftest.py` is placed. `EXCEPTIONS` has the tests that fail and why: a test that passes again, or
that fails for the first time, is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Final

import pyiceberg
import pytest

from tests.iceberg.rest_server import iceberg_server
from tests.support.apache import PEERS

pytestmark = [pytest.mark.peers, pytest.mark.slow]

FIXTURES: Final = Path(__file__).with_name("pyiceberg_suite_conftest.py")
FILES: Final = {
    "integration/test_catalog.py": 43,
    "integration/test_partition_evolution.py": 42,
    "integration/test_rest_catalog.py": 6,
    "integration/test_rest_schema.py": 348,
    "integration/test_snapshot_operations.py": 16,
    "integration/test_sort_order_update.py": 10,
    "integration/test_statistics_operations.py": 1,
    "catalog/test_catalog_behaviors.py": 66,
}
"""The files, and how many tests of each pass at least. `test_catalog_behaviors.py` was written for catalogs in one
process. The other integration tests of pyiceberg need a Spark, tables that Spark made, or buckets of S3."""

CHOSEN: Final = "not test_disallowed_updates or boolean"
"""Every pair of fifteen types is a test of its own. Here are those with one of the types; `make soak` runs all."""
ALL: Final = ""
LEFT_OUT: Final = {CHOSEN: {"integration/test_rest_schema.py": 14 * 14}, ALL: {}}

LEVELS: Final = "it makes a namespace of several levels; a database has one"
SPELLING: Final = "it compares the text of a local location, which begins with file:/ in Hive"
FIELDS: Final = "it expects no other properties; a database always has a location and an owner"
WORDS: Final = "the error is the expected one; its message is that of Iceberg's Java catalogs, not pyiceberg's"
INSIDE: Final = "it calls a function of catalogs in one process that a REST client does not have"
IDS: Final = "it expects two schemas with the id 0; the new one gets the next id, as in Iceberg's Java catalogs"
EXCEPTIONS: Final = {
    "test_rest_custom_namespace_separator": "it is for a server with another separator of levels, which is a setting",
    "test_create_table_without_namespace": "a REST client raises NoSuchIdentifierError itself",
    "test_create_table_with_default_warehouse_location": "it looks below a directory of its own for the warehouse",
    "test_create_table_removes_trailing_slash_from_location": SPELLING,
    "test_table_writes_metadata_to_custom_location": SPELLING,
    "test_delete_metadata_multiple": SPELLING,
    "test_create_namespace_with_comment_and_location": SPELLING,
    "test_load_namespace_properties": SPELLING,
    "test_update_namespace_properties": SPELLING,
    "test_create_namespace": FIELDS,
    "test_load_empty_namespace_properties": FIELDS,
    "test_create_tables_idempotency": INSIDE,
    "test_commit_table": INSIDE,
    "test_create_namespace_with_null_properties": "it expects an error of a database that is in the same process",
    "test_create_namespace_with_empty_identifier": "the name is refused, with the error for a bad request",
    "test_register_table": "its metadata names a bucket of S3 as the location, which the server finds missing",
    "test_register_existing_table": "its metadata names a bucket of S3 as the location, which the server finds missing",
    "test_catalog_commit_table_applies_schema_updates": IDS,
    "test_concurrent_commit_table": WORDS,
    "test_get_namespace_metadata_raises_error_when_namespace_does_not_exist": WORDS,
    "test_update_namespace_metadata_raises_error_when_namespace_does_not_exist": WORDS,
    "test_list_tables_under_a_namespace": LEVELS,
    "test_create_namespaces_sharing_same_prefix": LEVELS,
    "test_namespace_exists": LEVELS,
    "test_list_namespaces": LEVELS,
    "test_list_namespaces_fuzzy_match": LEVELS,
}


@pytest.fixture(scope="module", params=[CHOSEN, pytest.param(ALL, marks=pytest.mark.soak)], ids=["chosen", "all"])
def outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What became of each test, by file: passed, skipped, or the first line of its failure."""
    suite = PEERS / f"pyiceberg-tests-{pyiceberg.__version__}"
    if not suite.is_dir():
        pytest.skip(f"the tests of pyiceberg {pyiceberg.__version__} are not on this machine: make peers installs them")
    folder = tmp_path_factory.mktemp("pyiceberg")
    shutil.copytree(suite / "tests", folder / "tests")
    shutil.copy(suite / "pyproject.toml", folder)
    for below in ("catalog", "integration"):
        shutil.copy(FIXTURES, folder / "tests" / below / "conftest.py")
    report = folder / "report.xml"
    with iceberg_server(folder / "server") as server:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, (folder, suite / "plugins"))),
            "REST_CATALOG_URI": f"http://127.0.0.1:{server.http_port}/iceberg",
        }
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", 
            "-p", "no:metastored.pytest_plugin", "-k", request.param, f"--junitxml={report}",
            *(f"tests/{name}" for name in FILES),
        ]  # fmt: skip
        done = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, timeout=280, check=False
        )
    assert report.exists(), done.stdout[-4000:] + done.stderr[-4000:]
    return _outcomes(report)


def _outcomes(report: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {name: {} for name in FILES}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        file = case.attrib["classname"].removeprefix("tests.").replace(".", "/") + ".py"
        failure = next((each for each in case if each.tag in ("failure", "error")), None)
        outcome = "passed" if case.find("skipped") is None else "skipped"
        if failure is not None:
            outcome = (failure.attrib.get("message") or "").partition("\n")[0] or "failed"
        found[file][case.attrib["name"]] = outcome
    return found


@pytest.mark.parametrize("file", FILES)
def test_every_test_of_a_file_passes_or_has_a_reason(
    request: pytest.FixtureRequest, outcomes: dict[str, dict[str, str]], file: str
) -> None:
    failed = {
        test: outcome
        for test, outcome in outcomes[file].items()
        if outcome != "passed" and test.partition("[")[0] not in EXCEPTIONS
    }
    assert failed == {}
    expected = FILES[file] - LEFT_OUT[request.node.callspec.params["outcomes"]].get(file, 0)
    assert sum(outcome == "passed" for outcome in outcomes[file].values()) >= expected


def test_an_exception_is_a_test_that_fails(outcomes: dict[str, dict[str, str]]) -> None:
    failed = {
        test.partition("[")[0] for tests in outcomes.values() for test, outcome in tests.items() if outcome != "passed"
    }
    assert set(EXCEPTIONS) == failed
