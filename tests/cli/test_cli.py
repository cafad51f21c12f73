"""The command `metastored`, run as a person runs it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

import metastored
from metastored.cli.app import app
from metastored.cli.errors import explained
from metastored.cli.server.serving import plain_flags
from metastored.config import GROUPS, KEYS, OTHERS
from metastored.errors import StoreError
from tests.support.forks import run_command
from tests.support.processes import ENVIRONMENT

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent


# The commands do not inherit settings from the environment of the test run.


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return run_command(*words, timeout=60)


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert run("--version").stdout == f"metastored {metastored.__version__}\n"
    # It is in one place: the build reads it from the package.
    assert "version" not in project["project"] and project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/metastored/__init__.py"


def test_without_a_command_the_help_is_shown() -> None:
    assert "serve" in run().stdout + run().stderr


def test_every_setting_is_a_flag_of_serve() -> None:
    text = run("serve", "--help").stdout
    assert [key.flag for key in KEYS.values() if key.flag not in text] == []
    assert "--config" in text


def test_help_loads_neither_the_server_nor_the_database() -> None:
    program = (
        "import sys, metastored.cli.app; print(*({'asyncio', 'sqlalchemy', 'metastored.wire'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == []


PLAIN = ["--port", "0", "--log-level=debug", "--config", "a=b.yaml", "--port=1", "--http-path", ""]


def test_plain_flags_are_read_as_typer_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[dict[str, str]] = []

    def serve(flags: dict[str, str]) -> int:
        read.append(flags)
        return 0

    monkeypatch.setattr("metastored.cli.server.serve.serve_until_stopped", serve)
    get_command(app).main(["serve", *PLAIN], prog_name="metastored", standalone_mode=False)
    assert plain_flags(PLAIN) == read[0] == {"port": "1", "log_level": "debug", "config": "a=b.yaml", "http_path": ""}


@pytest.mark.parametrize("words", [["--help"], ["--prot", "1"], ["--port"], ["--port", "--host"], ["1"], ["-p", "1"]])
def test_other_arguments_than_plain_flags_are_left_to_typer(words: list[str]) -> None:
    assert plain_flags(words) is None


def test_a_start_on_sqlite_imports_neither_typer_nor_the_postgresql_driver(tmp_path: Path) -> None:
    program = (
        "import sys, metastored.cli, metastored.server.workers\n"
        "sys.argv = ['metastored', 'serve', '--port', '0', '--data', sys.argv[1]]\n"
        "metastored.server.workers.run = lambda settings, build: build(settings).close()\n"
        "try: metastored.cli.main()\n"
        "except SystemExit: pass\n"
        "print(*({'typer', 'pydantic', 'alembic', 'psycopg', 'sqlalchemy'}"
        " & sys.modules.keys()))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "data")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=ENVIRONMENT)
    assert (done.stdout.split(), done.stderr) == ([], "")
    assert (tmp_path / "data").exists()


def test_a_wrong_setting_is_one_line_and_exit_code_2() -> None:
    done = run("serve", "--port", "many")
    assert done.returncode == 2
    assert done.stderr == "metastored: the flags: port is 'many'; a whole number from 0 to 65535 was expected\n"


def test_an_unknown_flag_is_refused_with_the_nearest() -> None:
    done = run("serve", "--prot", "1")
    assert done.returncode == 2
    assert "--port" in done.stderr


def test_an_error_of_metastored_is_explained_and_ends_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    @explained
    def command() -> None:
        raise StoreError("the disk is full")

    with pytest.raises(SystemExit) as caught:
        command()
    assert caught.value.code == 2
    assert capsys.readouterr().err == "metastored: the disk is full\n"


def test_any_other_error_keeps_its_trace() -> None:
    @explained
    def command() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        command()


def test_the_flags_of_serve_are_shown_in_groups() -> None:
    text = run("serve", "--help").stdout
    heads = [f"{group}:" for group in GROUPS]
    lines = text.splitlines()
    assert [line for line in lines if line in heads] == heads
    for group, names in GROUPS.items():
        rest = lines[lines.index(f"{group}:") + 1 :]
        flags = [line.split()[0] for line in rest[: rest.index("") if "" in rest else None] if line.startswith("  --")]
        assert flags == [KEYS[name].flag for name in names]


def test_every_setting_is_in_a_group() -> None:
    assert [key.name for key in KEYS.values() if key.group == OTHERS] == []
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(KEYS)
