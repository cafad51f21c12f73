"""Brings the Apache Hive metastores that other suites compare skep with: `make peers`.

Each is the distribution that Apache publishes to Maven, fetched by Maven (which checks its checksum), and
laid out as `.peers/hive-VERSION/`: the jars but for Derby's (pyspark has a newer one, which all of them run
on), and `schema.sql`, Hive's own script for Derby. A version that is there is left alone. What cannot be
brought is printed with the reason and never fails the run, since no suite but its own depends on it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
MAVEN_TIMEOUT = 600.0


@dataclass(frozen=True)
class Peer:
    """A Hive version, the Maven artifact that is its distribution, and the version of its schema script."""

    version: str
    artifact: str
    schema: str

    @property
    def coordinates(self) -> str:
        return f"org.apache.hive:{self.artifact}:{self.version}:tar.gz:bin"


PEERS = (
    Peer("3.0.0", "hive-standalone-metastore", "3.0.0"),
    Peer("4.0.0", "hive-standalone-metastore-server", "4.0.0"),
    Peer("4.0.1", "hive-standalone-metastore-server", "4.0.0"),
    Peer("4.1.0", "hive-standalone-metastore-server", "4.1.0"),
)


class CannotBring(Exception):
    """Why a peer is not here, in one line."""


def bring(peer: Peer, folder: Path) -> None:
    """Fetches and unpacks one peer; the folder appears complete or not at all."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
        archive = fetch(peer.coordinates, Path(scratch) / "download")
        unpacked = Path(scratch) / "unpacked"
        unpacked.mkdir()
        unpack(archive, peer, unpacked)
        unpacked.rename(folder)


def fetch(coordinates: str, into: Path) -> Path:
    maven = shutil.which("mvn")
    if maven is None:
        raise CannotBring("mvn is not on this machine: apt-get install maven brings it")
    command = [
        maven,
        "-B",
        "-q",
        "-ntp",
        "-C",
        MAVEN_COPY,
        f"-Dartifact={coordinates}",
        f"-DoutputDirectory={into}",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAVEN_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise CannotBring(f"Maven took longer than {MAVEN_TIMEOUT:.0f} s over {coordinates}") from None
    archives = sorted(into.glob("*.tar.gz")) if into.is_dir() else []
    if done.returncode or not archives:
        raise CannotBring(f"Maven has no {coordinates} ({first_error(done.stdout)})")
    return archives[0]


def first_error(output: str) -> str:
    """What happened, out of Maven's first error line: without the goal's name and the addresses."""
    for line in output.splitlines():
        if "[ERROR]" in line:
            reason = line.rpartition("standalone-pom: ")[2].partition(" -> [Help")[0]
            return reason.partition(" in ")[0].partition(" from/to ")[0].strip()
    return "no reason given"


def unpack(archive: Path, peer: Peer, into: Path) -> None:
    """Takes the jars and the one schema script out of the distribution, all into one flat folder."""
    script = f"hive-schema-{peer.schema}.derby.sql"
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
    if not (into / "schema.sql").exists() or not any(into.glob("*.jar")):
        raise CannotBring(f"{archive.name} has no lib/*.jar or no {script}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="where the peers live, one folder a version")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    left_out = 0
    for peer in PEERS:
        target = folder / f"hive-{peer.version}"
        if target.is_dir():
            print(f"peers: Hive {peer.version} is here")
            continue
        try:
            bring(peer, target)
        except CannotBring as reason:
            left_out += 1
            print(f"peers: Hive {peer.version} could not be brought: {reason}")
        else:
            print(f"peers: Hive {peer.version} brought")
    print(f"peers: {len(PEERS) - left_out} of {len(PEERS)} here")
    return 0


if __name__ == "__main__":
    sys.exit(main())
