"""The table of engines that were tried: its versions are those that the tests run with."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/guide/engines.md"
PACKAGES = {
    "PySpark, with its own Hive client": [("pyspark", "requirements.lock"), ("pyspark", "requirements-spark35.lock")],
    "pyiceberg": [("pyiceberg", "requirements.lock")],
    "Sail (pysail)": [("pysail", "requirements-witness.lock")],
    "lance-namespace-impls": [("lance-namespace-impls", "requirements-witness.lock")],
    "hive-metastore-client": [("hive-metastore-client", "requirements-witness.lock")],
    "Beeline, with Spark's Thrift server": [("pyspark", "requirements.lock")],
}


def rows() -> dict[str, tuple[str, str, str]]:
    section = PAGE.read_text("utf-8").partition("## What was tried")[2].partition("\n## ")[0]
    found = re.findall(r"^\| (.+?) \| (.*?) ?\| (.+?) \| (.*?) ?\|$", section, re.MULTILINE)
    return {name: (version, what, where) for name, version, what, where in found}


def test_the_versions_are_those_of_the_lock_files() -> None:
    table = rows()
    for name, packages in PACKAGES.items():
        locked = []
        for package, file in packages:
            text = (ROOT / file).read_text("utf-8")
            locked += re.findall(rf"^{re.escape(package)}==(\S+) ", text, re.MULTILINE)
        assert table[name][0] == ", ".join(locked), name
    jar = (ROOT / "tests/clients/test_iceberg_java.py").read_text("utf-8")
    assert table["Iceberg for Java (`HiveCatalog`), in PySpark 3.5.6"][0] in jar


def test_every_engine_names_its_test_or_is_marked() -> None:
    table = rows()
    assert len(table) > 10
    for name, (_, what, where) in table.items():
        if name in ("engine or client", "---"):
            continue
        path = re.match(r"`(tests/[\w./]+)`", where)
        assert (path and (ROOT / path[1]).exists()) or "not tried" in what or "no test" in what, name
