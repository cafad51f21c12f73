"""Iceberg's own REST compatibility kit, 1.10.0, unmodified: all of its tests of tables and views pass.

`make peers` installs it. JUnit runs it in one JVM, on a server with the default settings. A test is left out only where
the kit's own settings say that a catalog does not have something; `ABORTED` has the reasons.
"""

from __future__ import annotations

import os
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Final

import pytest

from tests.iceberg.rest_server import iceberg_server
from tests.support.apache import HEAP, PEERS, java

pytestmark = [pytest.mark.peers, pytest.mark.slow]

VERSION: Final = "1.10.0"
CLASSES: Final = {"RESTCompatibilityKitCatalogTests": 93, "RESTCompatibilityKitViewCatalogTests": 44}
"""The test classes, and how many tests of each pass at least."""
EMPTY: Final = "the kit asks for it only where a namespace may have no name at all; a database has one"
DOTS: Final = "the kit has it off unless a catalog takes names with dots; Hive's names have none"
ABORTED: Final = {
    "createAndDropEmptyNamespace": EMPTY,
    "listNamespacesWithEmptyNamespace": EMPTY,
    "listTablesInEmptyNamespace": EMPTY,
    "listViewsInEmptyNamespace": EMPTY,
    "namespacePropertiesOnEmptyNamespace": EMPTY,
    "testListNestedNamespaces": "the kit asks for it only where namespaces nest; a database has one level",
    "testNamespaceWithDot": DOTS,
    "testTableNameWithDot": DOTS,
}
"""The tests that the kit itself leaves out, and why."""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The outcome of each test, by class: passed, aborted, or the first line of its failure."""
    jars = PEERS / f"iceberg-rest-tests-{VERSION}"
    if not jars.is_dir():
        pytest.skip(f"Iceberg's REST tests {VERSION} are not on this machine: make peers installs them")
    folder = tmp_path_factory.mktemp("kit")
    with iceberg_server(folder) as server:
        command = [
            java(), HEAP, "-cp", f"{jars}/*", "-Drck.local=false", "-Drck.requires-namespace-create=true",
            "org.junit.platform.console.ConsoleLauncher", "execute", "--details=none", f"--reports-dir={folder}",
            *(f"--select-class=org.apache.iceberg.rest.{name}" for name in CLASSES),
        ]  # fmt: skip
        environment = {
            **os.environ,
            "CATALOG_URI": f"http://127.0.0.1:{server.http_port}/iceberg",
            "CATALOG_WAREHOUSE": "hive",
        }
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280, check=False)
    reports = [*folder.glob("TEST-*jupiter.xml")]
    assert reports, done.stderr
    return _outcomes(reports)


def _outcomes(reports: list[Path]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {name: {} for name in CLASSES}
    for report in reports:
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            name = case.attrib["classname"].rpartition(".")[2]
            failure = next((each for each in case if each.tag in ("failure", "error")), None)
            outcome = "aborted" if case.find("skipped") is not None else "passed"
            if failure is not None:
                outcome = (failure.attrib.get("message") or "").partition("\n")[0] or "failed"
            found.setdefault(name, {})[case.attrib["name"]] = outcome
    return found


@pytest.mark.parametrize("name", CLASSES)
def test_every_test_of_the_kit_passes(results: dict[str, dict[str, str]], name: str) -> None:
    failed = {test: outcome for test, outcome in results[name].items() if outcome not in ("passed", "aborted")}
    assert failed == {}
    assert sum(outcome == "passed" for outcome in results[name].values()) >= CLASSES[name]


def test_a_test_that_is_left_out_has_a_reason(results: dict[str, dict[str, str]]) -> None:
    aborted = {
        test.partition("(")[0] for tests in results.values() for test, each in tests.items() if each == "aborted"
    }
    assert aborted == set(ABORTED)
