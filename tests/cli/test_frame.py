"""What all commands share: the default address, errors, Ctrl-C, colours, completion."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from metastored.cli.app import app
from metastored.cli.colours import painted
from metastored.cli.completion import VARIABLE
from metastored.cli.errors import explained
from metastored.cli.help import HEADINGS
from metastored.cli.options import Store, address, address_of
from metastored.cli.progress import Lines, Meter
from metastored.cli.results import Rows, as_text
from metastored.config import load
from tests.cli.running import refused, run


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


# --- the address ---


def test_the_address_is_that_of_the_flag_the_variable_or_the_configuration(
    shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "metastored.yaml"
    file.write_text(f"port: {shop.rpartition(':')[2]}\n")
    assert run("ls", "--config", str(file)).code == 0
    monkeypatch.setenv("METASTORED_URI", "thrift://127.0.0.1:1")
    refused(("ls", "--config", str(file)), "127.0.0.1:1")
    assert run("ls", "--uri", shop).code == 0
    monkeypatch.setenv("METASTORED_URI", shop)
    assert run("ls").code == 0


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "thrift://127.0.0.1:9083"),
        ({"host": "0.0.0.0", "port": 1}, "thrift://localhost:1"),
        ({"host": "::1"}, "thrift://[::1]:9083"),
        ({"tls_certificate": "/c.pem", "tls_key": "/k.pem", "host": "h"}, "thrifts://h:9083"),
    ],
)
def test_a_configured_server_has_an_address(settings: dict[str, object], expected: str) -> None:
    assert address_of(load(environment={}, flags=settings)) == expected


def test_a_server_ignores_the_variable_of_the_address() -> None:
    assert load(environment={"METASTORED_URI": "thrift://h"}).port == 9083


def test_the_address_of_a_broken_configuration_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text("prot: 1")
    refused(("ls", "--config", str(tmp_path / "m.yaml")), "unknown key 'prot'")
    assert address("thrift://h", tmp_path / "m.yaml") == "thrift://h"


def test_a_password_in_the_url_of_a_database_is_never_printed() -> None:
    assert str(Store.read(database_url="postgresql://me:secret@db/x")) == "postgresql://me:…@db/x"


# --- errors ---


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("lss",), "No such command 'lss'"),
        (("ls", "--outptu", "json"), "--output"),
        (("ls", "a", "b"), "(see metastored ls --help)"),
        (("ls", "--output", "xml"), "'xml' is not one of 'text', 'json'"),
        (("partitions",), "DB.TABLE"),
        (("partitions", "a.b", "--limit", "many"), "--limit"),
        (("ls", "--uri", "ftp://host"), "ftp://host"),
        (("completion", "tcsh"), "tcsh"),
    ],
)
def test_wrong_arguments_are_one_sentence_and_exit_code_2(words: tuple[str, ...], said: str) -> None:
    refused(words, said)


def test_without_arguments_a_group_of_commands_prints_its_help() -> None:
    done = run("compact")
    assert (done.code, done.out) == (2, "") and "worker" in done.err


def test_the_list_of_commands_has_headings_and_no_text_is_cut() -> None:
    text = run("--help").out
    headings = [line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert headings == ["Options", *HEADINGS]
    for command in ("serve", "ls", "remotes", "pipeline", "backup", "completion"):
        assert re.search(f"^  {command} .*[a-z].*\\.$", text, re.MULTILINE), "one line, to the end of the sentence"
    assert "..." not in text.partition("\n")[2] and max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("group", ["compact", "pipeline", "remotes", "import", "export", "user"])
def test_the_commands_of_a_group_are_listed_with_whole_sentences(group: str) -> None:
    listed = run(group, "--help").out.partition("\nCommands:\n")[2].splitlines()
    assert listed and all(line.endswith(".") and len(line) <= 80 for line in listed)


def test_every_command_that_prints_has_both_forms_of_output() -> None:
    silent = {"serve", "completion", "user add", "user passwd", "user remove"}
    commands = dict(_commands(get_command(app), ()))
    without = {name for name, command in commands.items() if "output" not in {each.name for each in command.params}}
    assert without == silent


def _commands(command: Any, path: tuple[str, ...]) -> list[tuple[str, Any]]:
    members = getattr(command, "commands", None)
    if members is None:
        return [(" ".join(path), command)]
    return [found for name, each in members.items() for found in _commands(each, (*path, name))]


# --- Ctrl-C ---


def test_ctrl_c_ends_a_command_with_one_line_and_exit_code_130(capsys: pytest.CaptureFixture[str]) -> None:
    @explained
    def command() -> None:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as caught:
        command()
    assert caught.value.code == 130
    assert capsys.readouterr().err == "metastored: interrupted\n"


@pytest.mark.slow
def test_ctrl_c_in_a_running_command_leaves_no_traceback(shop: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "metastored", "bench", "--seconds", "60", "--clients", "1", "--uri", shop],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _wait_for_bench(shop)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out, err) == (130, "", "metastored: interrupted\n")
    assert not [row for row in run("ls", "--uri", shop, "--output", "json").dicts if "bench" in row["database"]]


def _wait_for_bench(uri: str) -> None:
    for _ in range(600):
        if any("bench" in row["database"] for row in run("ls", "--uri", uri, "--output", "json").dicts):
            return
    raise AssertionError("the command has not begun")


# --- colours ---


def test_colours_are_for_terminals_only_and_no_color_turns_them_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert painted("x", "red", Terminal()) == "\x1b[31mx\x1b[0m"
    assert painted("x", "red", io.StringIO()) == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert painted("x", "red", Terminal()) == "x"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert painted("x", "red", Terminal()) == "x"


def test_control_characters_of_names_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in as_text(Rows(("name",), (("a\x1b[31mb\tc",),)))


def test_the_lines_of_progress_count_what_there_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("metastored.cli.progress.EVERY", 0.0)
    with Lines("step", "part") as steps:
        steps.tables(1)
        steps.table_done()
    with Lines() as tables:
        tables.tables(2)
        tables.partitions(1)
    assert capsys.readouterr().err == "1 of 1 step\n0 of 2 tables, 1 partition\n"


def test_a_progress_bar_is_for_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, shown in ((io.StringIO(), False), (Terminal(), True)):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        with Meter("backup") as meter:
            meter(1, 2)
            meter.remaining(0, 0, 2)
        assert ("backup" in stream.getvalue()) is shown


# --- completion ---


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_of_a_shell_calls_the_command(shell: str) -> None:
    done = run("completion", shell)
    assert done.code == 0
    assert f"{VARIABLE}=complete_{shell}" in done.out and "metastored" in done.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shell", "variables"),
    [
        ("bash", {"COMP_WORDS": "metastored compact l", "COMP_CWORD": "2"}),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "metastored compact l"}),
        ("fish", {"_TYPER_COMPLETE_ARGS": "metastored compact l", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}),
    ],
)
def test_a_shell_gets_the_commands_that_begin_so(shell: str, variables: dict[str, str]) -> None:
    environment = {**os.environ, **variables, VARIABLE: f"complete_{shell}"}
    done = subprocess.run(
        [sys.executable, "-m", "metastored"], capture_output=True, text=True, timeout=60, env=environment
    )
    assert "list" in done.stdout and "worker" not in done.stdout, done.stderr


@pytest.mark.slow
def test_bash_completes_with_the_script() -> None:
    script = (
        f'metastored() {{ "{sys.executable}" -m metastored "$@"; }}; export -f metastored\n'
        'eval "$(metastored completion bash)"\n'
        "complete -p metastored\n"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "complete -o default -F _metastored_completion metastored", done.stderr
