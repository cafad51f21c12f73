"""Hive's own tests of its client API, run on servers that are there already: metastored's, or Hive's.

`make peers` installs the tests. One JVM runs any number of the classes, one after the other, each on the server that
the caller names; the tests run in Hive's "cluster" mode, in which they start no server. The tests clean up the
directories of the warehouse, and the trash in the home directory that the caller names. It never starts a server.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from tests.support.apache import (
    COMPILER,
    HEAP,
    JAVA_SOURCES,
    OPENED_PACKAGES,
    PEERS,
    MissingPeer,
    StartFailure,
    jars_of_hive,
    java,
    write_site,
)

PACKAGE: Final = "org.apache.hadoop.hive.metastore.client"
TEST_TIMEOUT: Final = 120.0
"""The longest silence between the outcomes of two tests."""

PASS: Final = "pass"
FAIL: Final = "fail"
IGNORED: Final = "ignored"


@dataclass(frozen=True)
class Outcome:
    """The outcome of one test."""

    name: str
    outcome: str
    message: str = ""


def _folder(version: str) -> Path:
    return PEERS / f"client-tests-{version}"


def suite_classes(version: str) -> tuple[str, ...]:
    """The names of the test classes, in order; empty if `make peers` has not installed them."""
    found: set[str] = set()
    for jar in _folder(version).glob("*-tests.jar"):
        with zipfile.ZipFile(jar) as archive:
            for entry in archive.namelist():
                package, _, name = entry.removesuffix(".class").replace("/", ".").rpartition(".")
                if package == PACKAGE and name.startswith("Test") and "$" not in name:
                    found.add(name)
    return tuple(sorted(found))


class ClientSuite:
    """The JVM that runs the tests."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._folder = folder
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        assert process.stdout is not None
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, output: IO[str]) -> None:
        for line in output:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def run(self, name: str, uri: str, warehouse: str, home: Path) -> dict[str, Outcome]:
        """Runs a class on the server at this URI; returns what became of each test.

        `home` is the home directory of the server's user: its trash is emptied, and looked into.
        """
        site = self._folder / f"{name}.xml"
        write_site(site, {"metastore.thrift.uris": uri, "metastore.warehouse.dir": warehouse})
        assert self._process.stdin is not None
        self._process.stdin.write(f"{PACKAGE}.{name}\t{site}\t{home}\n")
        self._process.stdin.flush()
        outcomes: dict[str, Outcome] = {}
        while (line := self._next(name)) != "end":
            outcome = Outcome(*line.split("\t"))
            outcomes[outcome.name] = outcome
        return outcomes

    def _next(self, name: str) -> str:
        try:
            line = self._lines.get(timeout=TEST_TIMEOUT)
        except queue.Empty:
            raise StartFailure(f"{name}: no test ended in {TEST_TIMEOUT:.0f} s") from None
        if line is None:
            log = (self._folder / "log").read_text(errors="replace")
            raise StartFailure(f"{name}: the JVM ended with status {self._process.wait()}:\n{log}")
        return line


@contextlib.contextmanager
def client_suite(version: str) -> Iterator[ClientSuite]:
    """Starts the JVM, and ends it by its id. The version is one such as "3.1.3"."""
    tests = sorted(_folder(version).glob("*.jar"))
    if not tests:
        raise MissingPeer(f"the tests of Hive {version}'s client API are not on this machine: make peers installs them")
    with tempfile.TemporaryDirectory(prefix="hive-client-tests-") as name:
        folder = Path(name)
        command = [
            java(),
            HEAP,
            "-enableassertions:org.apache.hadoop.hive...",
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED_PACKAGES),
            *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            f"-Djava.io.tmpdir={folder}",
            f"-Dlog4j2.configurationFile={JAVA_SOURCES / 'only-errors.properties'}",
            f"-Dtest.tmp.dir={folder}",
            "-cp",
            os.pathsep.join(map(str, [*tests, *jars_of_hive(version)])),
            COMPILER,
            str(JAVA_SOURCES / "ClientTests.java"),
            "ClientTests",
        ]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        try:
            yield ClientSuite(process, folder)
        finally:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
