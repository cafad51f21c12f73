"""Hive's own tests of its client API, of 3.1.3 and 4.0.1, on metastored: those that pass on Hive's server pass here.

The classes of a version share one server, with the default settings, and one JVM; on Hive's servers too. The tests that
fail on Hive's server too, and those that are to fail here for a reason, are listed in `hive_client_suite.py`. A listed
test that passes fails this suite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from metastored.testing import RunningServer
from tests.clients.hive_client_suite import (
    DIFFERENCES,
    FAILS_ON_HIVE,
    FIRST,
    HIVE_SETTINGS,
    LAST,
    NOT_FOR_SERVERS,
    SETTINGS,
    VERSIONS,
)
from tests.support.apache import ApacheMetastore, MissingPeer, apache_3_1, apache_peer
from tests.support.forks import running_server
from tests.support.hive_client_suite import FAIL, PASS, ClientSuite, client_suite, suite_classes

pytestmark = pytest.mark.peers


def _classes(version: str) -> list[str]:
    """Without `make peers` this is one name, which is skipped for all tests."""
    found = [name for name in suite_classes(version) if name not in NOT_FOR_SERVERS]
    between = [name for name in found if name not in FIRST + LAST]
    return [*(name for name in FIRST if name in found), *between, *(name for name in LAST if name in found)] or ["Test"]


TESTS = [(version, name) for version in VERSIONS for name in _classes(version)]
NEWEST = VERSIONS[-1]
# The newest version has every class of the older one, and more of them; the older one with `make soak`.
SELECTED = [pytest.param(version, name, marks=() if version == NEWEST else pytest.mark.soak) for version, name in TESTS]


@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_the_newest_version_has_every_class_of_the_older_ones(version: str) -> None:
    assert set(_classes(version)) <= set(_classes(NEWEST))


@pytest.fixture(scope="module")
def suite_of() -> Iterator[Callable[[str], ClientSuite]]:
    """The JVM of a version."""
    with ExitStack() as running:

        @cache
        def started(version: str) -> ClientSuite:
            try:
                return running.enter_context(client_suite(version))
            except MissingPeer as reason:
                pytest.skip(str(reason))

        yield started


@pytest.fixture(scope="module")
def hive_of() -> Iterator[Callable[[str], ApacheMetastore]]:
    """Hive's own server for the tests of a version."""
    with ExitStack() as running:

        @cache
        def started(version: str) -> ApacheMetastore:
            peer = apache_3_1(HIVE_SETTINGS) if version == "3.1.3" else apache_peer(version, HIVE_SETTINGS)
            return running.enter_context(peer)

        yield started


@pytest.fixture(scope="module")
def server_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], tuple[RunningServer, Path]]]:
    """The server for the tests of a version, and its warehouse."""
    with ExitStack() as running:

        @cache
        def started(version: str) -> tuple[RunningServer, Path]:
            warehouse = tmp_path_factory.mktemp(f"hive-{version}") / "warehouse"
            return running.enter_context(running_server(**SETTINGS, warehouse=warehouse.as_uri())), warehouse

        yield started


@pytest.mark.parametrize(("version", "name"), SELECTED)
def test_tests_that_pass_on_hive_pass_on_metastored(
    version: str,
    name: str,
    suite_of: Callable[[str], ClientSuite],
    server_of: Callable[[str], tuple[RunningServer, Path]],
) -> None:
    suite = suite_of(version)
    server, warehouse = server_of(version)
    # The trash is in the warehouse.
    outcomes = suite.run(name, server.uri, f"file:{warehouse}", home=warehouse)
    assert outcomes
    failed = {test for test, found in outcomes.items() if found.outcome == FAIL}
    different = DIFFERENCES[version].get(name, {}).keys()
    wrong = [
        f"{test}: {outcomes[test].message}"
        for test in sorted(failed - FAILS_ON_HIVE[version].get(name, frozenset()) - different)
    ]
    assert not wrong, "\n".join(wrong)
    assert not different - failed, "they are listed as different, and pass"


@pytest.mark.soak
@pytest.mark.apache
@pytest.mark.parametrize(("version", "name"), TESTS)
def test_the_tests_that_fail_on_hive_are_the_listed_ones(
    version: str, name: str, suite_of: Callable[[str], ClientSuite], hive_of: Callable[[str], ApacheMetastore]
) -> None:
    suite = suite_of(version)
    hive = hive_of(version)
    outcomes = suite.run(name, hive.uri, f"file:{hive.warehouse}", home=hive.home)
    listed = FAILS_ON_HIVE[version].get(name, frozenset())
    assert {test for test, found in outcomes.items() if found.outcome == FAIL} == listed
    passed = {test for test, found in outcomes.items() if found.outcome == PASS}
    assert passed >= DIFFERENCES[version].get(name, {}).keys()
