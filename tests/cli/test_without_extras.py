"""The server and the commands with none of the extras installed: only the dependencies of metastored itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from metastored.errors import install_command
from tests.support.forks import running_server
from tests.transfer.support import metastored

pytestmark = pytest.mark.slow

EXTRAS = (
    *("psycopg", "pyspark", "sqlglot", "uvloop", "pyarrow", "pyiceberg", "boto3", "botocore", "gssapi", "asyncssh"),
    *("lance", "lance_namespace", "numpy", "pandas", "thrift"),
)
# Python imports this module at its start, if it is on the path.
MISSING = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""

# Prints each public name of metastored.spark and whether it is there; fails where something else than an extra is said.
NAMES = """
from metastored import spark
from metastored.errors import MissingExtra

for package in (spark, spark.acid, spark.lance, spark.statistics):
    for name in package.__all__:
        try:
            print(name, getattr(package, name) is not None)
        except MissingExtra:
            print(name, False)
"""


@pytest.fixture(autouse=True)
def no_extras(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(MISSING)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'site'}{os.pathsep}{os.environ['PYTHONPATH']}")


def test_a_server_serves_and_the_commands_read_it(tmp_path: Path) -> None:
    with running_server() as server:
        shown = metastored("sql", "-e", "show databases", "--uri", server.uri)
        assert (shown.returncode, shown.stderr) == (0, "") and "default" in shown.stdout
        for words in (("ls",), ("show", "default"), ("locks",), ("transactions",), ("events",), ("remotes", "list")):
            done = metastored(*words, "--uri", server.uri)
            assert (done.returncode, done.stderr) == (0, ""), words
        found = metastored("doctor", "--data", str(server.data), "--uri", server.uri, "--output", "json")
        assert json.loads(found.stdout)["findings"] == [], found.stderr
        saved = metastored("backup", str(tmp_path / "saved.db"), "--data", str(server.data))
        assert saved.returncode == 0, saved.stderr
        restored = metastored("restore", str(tmp_path / "saved.db"), "--data", str(tmp_path / "restored"))
        assert restored.returncode == 0, restored.stderr


def test_a_command_that_needs_an_extra_names_it_in_one_sentence() -> None:
    with running_server() as server:
        for words, extra in (
            (("migrate", "--database-url", "postgresql://h/x"), install_command("postgres")),
            (("compact", "worker", "--once", "--uri", server.uri), install_command("spark")),
        ):
            done = metastored(*words)
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
            assert extra in done.stderr


def test_every_name_of_metastored_spark_is_there_or_says_which_extra_it_needs(tmp_path: Path) -> None:
    program = tmp_path / "names.py"
    program.write_text(NAMES)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert {"conf True", "session True", "sql False", "analyze False"} <= set(done.stdout.splitlines())
