"""Downloads the Apache Hive metastores for the comparison tests, Hive's and Iceberg's tests, and more: `make peers`.

With `--trino` only Trino, its connectors for Hive and Iceberg and a Java for it, which `make soak` needs: `make trino`.

Maven fetches Apache's artifacts, and verifies their checksums. A peer is stored in `.peers/hive-VERSION/`:
the jars, without Derby's (pyspark has a newer one, which all of them run on), and `schema.sql`, Hive's own
script for Derby. `.peers/listener-VERSION/` is the one jar that fills the notification log of a Hive that
`make setup` installs. `.peers/client-tests-VERSION/` has Hive's own tests of its client API, and JUnit; the other jars
that the tests need are those of that Hive. `.peers/iceberg-rest-tests-VERSION/` has Iceberg's REST compatibility kit
with all jars that it needs, `.peers/flink-VERSION/` Flink with its connector for Hive, and
`.peers/pyiceberg-tests-VERSION/` pyiceberg's own tests, from its source package, with the plugin of pytest that they
need. `.peers/exec-VERSION/` is the one jar of Hive itself, whose readers and writers of files the tests use. A version
that exists is not changed. Two downloads run at the same time. One that fails is printed with the reason and tried once
more at the end; it never fails the run, since only the suites that name it depend on it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

MAVEN_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
MAVEN_TIMEOUT = 600.0
MAVEN_FLAGS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Flags for a short run of Java: Maven needs half of its processor time."""
TRINO = "476"
TRINO_JAVA = Path(__file__).parent.parent / "requirements-trino.lock"
TRINO_PLUGINS = ("hive", "iceberg")
PYICEBERG_TESTS = Path(__file__).parent.parent / "requirements-pyiceberg-tests.lock"
ICEBERG = "1.10.0"
FLINK = "1.20.0"
NODE_THRIFT = "thrift@0.24.0"
AZURITE = "3.37.0"
# Hive 4 expects an installed Hadoop; pyspark's jars lack one class of it, without which no directory is made.
HADOOP_HDFS = "org.apache.hadoop:hadoop-hdfs:3.3.6"
LISTENER = "org.apache.hive.hcatalog:hive-hcatalog-server-extensions"
# Jars beside those of a server, by folder: their description and coordinates. What they depend on is in the jars of
# the Hive of the same version.
JUNIT = ("junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3")
MORE_JARS = {
    "listener-2.3.10": ("the listener of Hive 2.3.10", (f"{LISTENER}:2.3.10",)),
    "listener-3.1.3": ("the listener of Hive 3.1.3", (f"{LISTENER}:3.1.3",)),
    "client-tests-3.1.3": (
        "the client tests of Hive 3.1.3",
        ("org.apache.hive:hive-standalone-metastore:3.1.3:jar:tests", *JUNIT),
    ),
    "client-tests-4.0.1": (
        "the client tests of Hive 4.0.1",
        ("org.apache.hive:hive-standalone-metastore-server:4.0.1:jar:tests", *JUNIT),
    ),
    "exec-3.1.3": ("hive-exec 3.1.3", ("org.apache.hive:hive-exec:3.1.3",)),
    "exec-4.0.1": ("hive-exec 4.0.1", ("org.apache.hive:hive-exec:4.0.1",)),
}
# Poms and schema changes for versions without a published distribution.
RECIPES = Path(__file__).with_name("peers")


class DownloadFailed(Exception):
    """The reason why a peer could not be installed, in one line."""


def from_distribution(artifact: str, version: str, schema: str, peers: Path, into: Path) -> None:
    """Extracts the jars and the schema script from the distribution, a Maven artifact."""
    with tempfile.TemporaryDirectory(dir=peers) as download:
        copy(f"org.apache.hive:{artifact}:{version}:tar.gz:bin", Path(download))
        for archive in Path(download).glob("*.tar.gz"):
            unpack(archive, f"hive-schema-{schema}.derby.sql", into)
    if version.startswith("4."):
        copy(HADOOP_HDFS, into)


def from_pom(version: str, schema_of: str, peers: Path, into: Path) -> None:
    """Copies the jars that a pom lists, and the schema of an earlier peer with the changes since."""
    earlier = peers / f"hive-{schema_of}" / "schema.sql"
    if not earlier.exists():
        raise DownloadFailed(f"its schema is based on that of Hive {schema_of}, which is not installed")
    copy_dependencies(RECIPES / f"hive-{version}.pom.xml", into)
    changes = RECIPES / f"hive-{version}.sql"
    (into / "schema.sql").write_text(earlier.read_text() + changes.read_text())


PEERS: dict[str, Callable[[Path, Path], None]] = {
    "3.0.0": partial(from_distribution, "hive-standalone-metastore", "3.0.0", "3.0.0"),
    "4.0.0": partial(from_distribution, "hive-standalone-metastore-server", "4.0.0", "4.0.0"),
    "4.0.1": partial(from_distribution, "hive-standalone-metastore-server", "4.0.1", "4.0.0"),
    "4.1.0": partial(from_pom, "4.1.0", "4.0.1"),
}


def copy(coordinates: str, into: Path) -> None:
    """Copies one artifact, without its dependencies."""
    maven(coordinates, [f"{MAVEN_PLUGIN}:copy", f"-Dartifact={coordinates}", f"-DoutputDirectory={into}"])


def copy_dependencies(pom: Path, into: Path) -> None:
    """Copies the jars that a pom lists, and those that they need."""
    goal = [f"{MAVEN_PLUGIN}:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={into}"]
    maven(pom.name, ["-f", str(pom), *goal])


def maven(what: str, arguments: Sequence[str]) -> None:
    program = shutil.which("mvn")
    if program is None:
        raise DownloadFailed("mvn is not on this machine: apt-get install maven installs it")
    command = [program, "-B", "-q", "-ntp", "--strict-checksums", *arguments]
    env = {"MAVEN_OPTS": MAVEN_FLAGS} | os.environ
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=MAVEN_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise DownloadFailed(f"Maven took longer than {MAVEN_TIMEOUT:.0f} s over {what}") from None
    if done.returncode:
        raise DownloadFailed(f"Maven failed over {what}: {first_error(done.stdout)}")


def first_error(output: str) -> str:
    """The message of Maven's first error line, without the goal's name and the addresses."""
    for line in output.splitlines():
        if "[ERROR]" in line:
            reason = line.rpartition("standalone-pom: ")[2].partition(" -> [Help")[0]
            return reason.partition(" in ")[0].partition(" from/to ")[0].strip()
    return "it gave no reason"


def unpack(archive: Path, script: str, into: Path) -> None:
    """Copies a distribution's jars and its one schema script, all into one flat folder."""
    with tarfile.open(archive) as distribution:
        for member in distribution:
            path = PurePosixPath(member.name)
            if path.parent.name == "lib" and path.suffix == ".jar" and not path.name.startswith("derby-"):
                name = path.name
            elif path.name == script:
                name = "schema.sql"
            else:
                continue
            source = distribution.extractfile(member)
            if source is not None:
                with source, (into / name).open("wb") as target:
                    shutil.copyfileobj(source, target)


def install(version: str, peers: Path) -> None:
    """Installs one peer; its folder is complete or does not exist."""
    with tempfile.TemporaryDirectory(dir=peers, prefix=f".hive-{version}-") as scratch:
        folder = Path(scratch) / "complete"
        folder.mkdir()
        PEERS[version](peers, folder)
        if not (folder / "schema.sql").exists() or not any(folder.glob("*.jar")):
            raise DownloadFailed("the artifact has no jars or no schema script")
        folder.rename(peers / f"hive-{version}")


def install_jars(folder: str, peers: Path) -> None:
    """Installs one of MORE_JARS."""
    with tempfile.TemporaryDirectory(dir=peers, prefix=f".{folder}-") as scratch:
        complete = Path(scratch) / "complete"
        complete.mkdir()
        for coordinates in MORE_JARS[folder][1]:
            copy(coordinates, complete)
        complete.rename(peers / folder)


def install_listed(folder: str, peers: Path) -> None:
    """Installs the jars that the pom of a folder lists."""
    with tempfile.TemporaryDirectory(dir=peers, prefix=f".{folder}-") as scratch:
        complete = Path(scratch) / "complete"
        copy_dependencies(RECIPES / f"{folder}.pom.xml", complete)
        complete.rename(peers / folder)


def npm(package: str, into: Path) -> None:
    """Installs a package of npm and what it needs into the folder `node_modules` of a folder."""
    program = shutil.which("npm")
    if program is None:
        raise DownloadFailed("npm is not on this machine: apt-get install npm installs it")
    command = [program, "install", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", str(into), package]
    done = subprocess.run(command, capture_output=True, text=True, timeout=MAVEN_TIMEOUT, check=False)
    if done.returncode:
        raise DownloadFailed(f"npm ended with exit code {done.returncode}")


def install_node(peers: Path) -> None:
    """Installs Thrift for Node, for whose client the Hive Metastore HTTP protocol was written."""
    with tempfile.TemporaryDirectory(dir=peers, prefix=".node-") as scratch:
        npm(NODE_THRIFT, Path(scratch))
        (Path(scratch) / "node_modules").rename(peers / "node_modules")


def install_azurite(peers: Path) -> None:
    """Installs Microsoft's emulator of Azure Storage."""
    with tempfile.TemporaryDirectory(dir=peers, prefix=".azurite-") as scratch:
        complete = Path(scratch) / "complete"
        complete.mkdir()
        npm(f"azurite@{AZURITE}", complete)
        complete.rename(peers / f"azurite-{AZURITE}")


def pip(what: str, *arguments: str) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        *arguments,
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--no-deps",
    ]
    if subprocess.run(command, capture_output=True, text=True, timeout=MAVEN_TIMEOUT, check=False).returncode:
        raise DownloadFailed(f"pip could not install {what}")


def pyiceberg_version() -> str:
    """The version of pyiceberg whose tests are installed: that of the lock file, which is also that of `.venv`."""
    (version,) = re.findall(r"^pyiceberg==(\S+)", PYICEBERG_TESTS.read_text("utf-8"), re.MULTILINE)
    return str(version)


def install_pyiceberg_tests(peers: Path) -> None:
    """Installs pyiceberg's own tests and the plugin of pytest that they need. Nothing else of the package is kept."""
    version = pyiceberg_version()
    with tempfile.TemporaryDirectory(dir=peers, prefix=".pyiceberg-") as scratch:
        download, complete = Path(scratch) / "download", Path(scratch) / "complete"
        locked = ("--require-hashes", "-r", str(PYICEBERG_TESTS))
        pip("pyiceberg's source package", "download", "--no-binary", "pyiceberg", "-d", str(download), *locked)
        top = f"pyiceberg-{version}"
        with tarfile.open(download / f"{top}.tar.gz") as source:
            wanted = (f"{top}/tests/", f"{top}/pyproject.toml")
            source.extractall(download, (each for each in source if each.name.startswith(wanted)), filter="data")
        (download / top).rename(complete)
        (wheel,) = download.glob("*.whl")
        pip("a plugin of pytest", "install", "--target", str(complete / "plugins"), str(wheel))
        complete.rename(peers / f"pyiceberg-tests-{version}")


def unpack_trino(download: Path, *folders: str) -> Path:
    """Downloads Trino's server and unpacks some of its folders; returns the folder that has them."""
    copy(f"io.trino:trino-server:{TRINO}:tar.gz", download)
    top = f"trino-server-{TRINO}"
    wanted = tuple(f"{top}/{folder}/" for folder in folders)
    with tarfile.open(download / f"{top}.tar.gz") as server:
        server.extractall(download, (each for each in server if each.name.startswith(wanted)), filter="data")
    return download / top


def install_trino(peers: Path) -> None:
    """Installs Trino's server with two connectors alone, and a Java: Debian's may be too old for it."""
    with tempfile.TemporaryDirectory(dir=peers, prefix=".trino-") as scratch:
        complete = Path(scratch) / "complete"
        unpack_trino(Path(scratch) / "download", "lib", *(f"plugin/{name}" for name in TRINO_PLUGINS)).rename(complete)
        locked = ("--require-hashes", "-r", str(TRINO_JAVA))
        pip("its Java", "install", "--target", str(complete / "java"), *locked)
        complete.rename(peers / f"trino-{TRINO}")


def install_trino_plugin(name: str, peers: Path) -> None:
    """Adds a connector to a Trino that was installed without it."""
    if not (peers / f"trino-{TRINO}").is_dir():
        raise DownloadFailed("Trino itself is not installed")
    with tempfile.TemporaryDirectory(dir=peers, prefix=".trino-") as scratch:
        found = unpack_trino(Path(scratch) / "download", f"plugin/{name}")
        (found / "plugin" / name).rename(peers / f"trino-{TRINO}" / "plugin" / name)


class Download(NamedTuple):
    """What is installed, its folder, and the function that does it."""

    name: str
    folder: Path
    install: Callable[[], None]


def trino(peers: Path) -> list[list[Download]]:
    plugins = [
        Download(
            f"the {name} connector of Trino {TRINO}",
            peers / f"trino-{TRINO}" / "plugin" / name,
            partial(install_trino_plugin, name, peers),
        )
        for name in TRINO_PLUGINS
    ]
    return [[Download(f"Trino {TRINO}", peers / f"trino-{TRINO}", partial(install_trino, peers)), *plugins]]


def all_but_trino(peers: Path) -> list[list[Download]]:
    """Two rows of downloads of about the same length.

    Maven is first used by the first one only: both would download its plugins, into the same files. The second begins
    with a minute of other programs.
    """
    hives = [
        Download(f"Hive {version}", peers / f"hive-{version}", partial(install, version, peers)) for version in PEERS
    ]
    tests = pyiceberg_version()
    others = [
        Download(f"Azurite {AZURITE}", peers / f"azurite-{AZURITE}", partial(install_azurite, peers)),
        Download("Thrift for Node", peers / "node_modules", partial(install_node, peers)),
        Download(
            f"the tests of pyiceberg {tests}",
            peers / f"pyiceberg-tests-{tests}",
            partial(install_pyiceberg_tests, peers),
        ),
    ]
    for folder, (name, _) in MORE_JARS.items():
        others.append(Download(name, peers / folder, partial(install_jars, folder, peers)))
    for name, folder in (
        (f"the REST tests of Iceberg {ICEBERG}", f"iceberg-rest-tests-{ICEBERG}"),
        (f"Flink {FLINK}", f"flink-{FLINK}"),
    ):
        others.append(Download(name, peers / folder, partial(install_listed, folder, peers)))
    return [hives, others]


def run(downloads: Sequence[Download]) -> list[Download]:
    """Runs downloads one after the other; returns those that failed."""
    failed = []
    for each in downloads:
        if each.folder.is_dir():
            print(f"peers: {each.name} is installed", flush=True)
            continue
        start = time.monotonic()
        try:
            each.install()
        except DownloadFailed as reason:
            print(f"peers: {each.name} could not be installed: {reason}", flush=True)
            failed.append(each)
        else:
            print(f"peers: {each.name} was installed in {time.monotonic() - start:.0f} s", flush=True)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="the folder of the peers, with one folder per version")
    parser.add_argument("--trino", action="store_true", help="only Trino")
    arguments = parser.parse_args()
    peers: Path = arguments.folder.resolve()
    peers.mkdir(parents=True, exist_ok=True)
    rows = trino(peers) if arguments.trino else all_but_trino(peers)
    with ThreadPoolExecutor(len(rows)) as threads:
        failed = [each for failures in threads.map(run, rows) for each in failures]
    if failed:
        # Maven 3.8 does not lock its repository: what two of them disturbed is there when it runs alone.
        run(failed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
