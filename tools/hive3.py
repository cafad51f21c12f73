"""Unpacks Hive 3.1.3's metastore server into a folder of jars: part of `make setup`.

The jars come inside a wheel that this project does not install, because its pinned dependencies clash with
ours; pip downloads it alone and checks it against the hash in the lock file. Two jars stay behind: a Derby
too old for Java 17 (pyspark has a newer one) and an HDFS client of another Hadoop.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

JARS = PurePosixPath("bodo_iceberg_connector/jars/libs")
LEFT_BEHIND = ("derby-", "hadoop-hdfs-2.2.0")


def download(lock: Path, into: Path) -> Path:
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
    ]
    subprocess.run([*command, "--no-deps", "--require-hashes", "-r", str(lock), "-d", str(into)], check=True)
    (wheel,) = into.glob("*.whl")
    return wheel


def unpack(wheel: Path, into: Path) -> int:
    """Copies the required jars into one folder, and returns their number."""
    count = 0
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            path = PurePosixPath(name)
            if path.parent == JARS and path.suffix == ".jar" and not path.name.startswith(LEFT_BEHIND):
                with archive.open(name) as source, (into / path.name).open("wb") as target:
                    shutil.copyfileobj(source, target)
                count += 1
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("lock", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
        wheel = download(arguments.lock, Path(scratch))
        unpacked = Path(scratch) / "jars"
        unpacked.mkdir()
        if unpack(wheel, unpacked) == 0:
            print(f"{wheel.name} has no jars in {JARS}", file=sys.stderr)
            return 1
        shutil.rmtree(folder, ignore_errors=True)
        unpacked.rename(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
