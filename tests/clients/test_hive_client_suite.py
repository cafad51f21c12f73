"""Hive 3.1.3's own tests of its client API on metastored: each test that passes on Hive's server passes here.

Each class has a new server, and all of them share one JVM. The tests that fail on Hive's server too, and those that
are to fail here for a reason, are listed in `hive_client_suite.py`. A listed test that passes fails this suite.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from metastored.testing import running_server
from tests.clients.hive_client_suite import DIFFERENCES, FAILS_ON_HIVE, HIVE_SETTINGS, SETTINGS
from tests.support.apache import MissingPeer, apache_3_1
from tests.support.hive_client_suite import FAIL, PASS, ClientSuite, client_suite, suite_classes

pytestmark = pytest.mark.peers

CLASSES = suite_classes() or ("Test",)
"""Without `make peers` this is one name, which is skipped for all tests."""


@pytest.fixture(scope="module")
def suite() -> Iterator[ClientSuite]:
    running = client_suite()
    try:
        opened = running.__enter__()
    except MissingPeer as reason:
        pytest.skip(str(reason))
    try:
        yield opened
    finally:
        running.__exit__(None, None, None)


@pytest.mark.parametrize("name", CLASSES)
def test_tests_that_pass_on_hive_pass_on_metastored(name: str, suite: ClientSuite, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    with running_server(**SETTINGS, warehouse=warehouse.as_uri()) as server:
        # The trash is in the warehouse.
        outcomes = suite.run(name, server.uri, f"file:{warehouse}", home=warehouse)
    assert outcomes
    failed = {test for test, found in outcomes.items() if found.outcome == FAIL}
    excused = FAILS_ON_HIVE.get(name, frozenset()) | DIFFERENCES.get(name, {}).keys()
    wrong = [f"{test}: {outcomes[test].message}" for test in sorted(failed - excused)]
    assert not wrong, "\n".join(wrong)
    assert not DIFFERENCES.get(name, {}).keys() - failed, "they are listed as different, and pass"


@pytest.mark.soak
@pytest.mark.apache
@pytest.mark.parametrize("name", CLASSES)
def test_the_tests_that_fail_on_hive_are_the_listed_ones(name: str, suite: ClientSuite) -> None:
    with apache_3_1(HIVE_SETTINGS) as hive:
        outcomes = suite.run(name, hive.uri, f"file:{hive.warehouse}", home=hive.home)
    listed = FAILS_ON_HIVE.get(name, frozenset())
    assert {test for test, found in outcomes.items() if found.outcome == FAIL} == listed
    assert {test for test, found in outcomes.items() if found.outcome == PASS} >= DIFFERENCES.get(name, {}).keys()
