"""The prompt of `metastored sql`: lines until a `;`, a history in the home directory, completion with Tab.

A statement with a secret in it is not written to the history. It is built on readline, which Python has: prompt_toolkit
would add colours and menus, and with them a dependency of two packages and 0.1 s at each start.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from metastored.cli.missing import missing_object
from metastored.cli.results import as_csv, as_json, as_text
from metastored.cli.sql.prompt_completion import DELIMITERS, Completion
from metastored.cli.sql.shortcuts import QUIT, TIMING, help_of, statement_of
from metastored.errors import Error, StatementError, TableNotFound
from metastored.statements.words import is_complete

if TYPE_CHECKING:
    from metastored.cli.sql.executor import Executor
    from metastored.client._sync.client import Client
    from metastored.client._sync.statements import Statements

HISTORY: Final = Path("~/.metastored_history")
HISTORY_LINES: Final = 1000
ENDS: Final = frozenset({"exit", "quit", QUIT})
_FORMS: Final = {"text": as_text, "json": as_json, "csv": as_csv}
_SECRET: Final = re.compile(r"password|secret|token|passphrase|credential", re.IGNORECASE)


def interactive(client: Client, executor: Executor, output: str) -> None:
    """Reads and executes statements until the end of the input, `exit` or `quit`. Errors are printed."""
    print(f"connected to {client.uri}; a statement ends with ; and exit ends the session; help lists the statements")
    timing, statements = False, executor.statements
    completion = Completion(client, statements)
    with _lines(completion) as read:
        while (text := _statement(statements, completion, read)) is not None:
            if text == TIMING:
                timing = not timing
                print(f"times are {'printed' if timing else 'not printed'}")
                continue
            began = time.monotonic()
            try:
                for statement in executor.parsed(text):
                    result, done = executor.execute(statement)
                    if result.columns or output == "text":
                        print(_FORMS[output](result) or done)
                if timing:
                    print(f"time: {(time.monotonic() - began) * 1000:.0f} ms")
            except StatementError as error:
                print(pointed(text, error))
            except TableNotFound as error:
                print(f"error: {missing_object(client, error)}")
            except Error as error:
                print(f"error: {error}")
            except KeyboardInterrupt:
                print("interrupted: whether the statement took effect is not known")


def pointed(text: str, error: StatementError) -> str:
    """The line of the error, a mark below the place, and the error."""
    lines = text.split("\n")
    line = lines[error.line - 1] if error.line <= len(lines) else ""
    return f"{line}\n{' ' * (error.column - 1)}^\nerror: {error}"


def _statement(statements: Statements, completion: Completion, read: Callable[[str], str]) -> str | None:
    """The next text that ends with `;`; None at the end. Ctrl-C drops what was typed."""
    text = ""
    while True:
        prompt = f"{statements.current}> " if not text else f"{'-> ':>{len(str(statements.current)) + 2}}"
        completion.before = text
        try:
            line = read(prompt)
        except EOFError:
            print()
            return None
        except KeyboardInterrupt:
            print()
            text = ""
            continue
        if not text:
            command = line.strip().rstrip(";").lower()
            if command in ENDS:
                return None
            if command == TIMING:
                return TIMING
            if (shown := help_of(line)) is not None:
                print(shown)
                continue
            if (shortcut := statement_of(line)) is not None:
                return shortcut
        text = f"{text}\n{line}" if text else line
        if text.strip() and is_complete(text):
            return text


@contextmanager
def _lines(completion: Completion) -> Iterator[Callable[[str], str]]:
    """Reads lines; with the history and completion where Python has readline."""
    try:
        import readline
    except ImportError:
        yield input
        return
    file = HISTORY.expanduser()
    with suppress(OSError):
        readline.read_history_file(file)
    readline.set_auto_history(False)
    readline.set_completer_delims(DELIMITERS)
    readline.set_completer(completion.completer(lambda: readline.get_line_buffer()[: readline.get_endidx()]))
    readline.parse_and_bind("tab: complete")

    def read(prompt: str) -> str:
        line = input(prompt)
        if line.strip() and _SECRET.search(line) is None:
            readline.add_history(line)
        return line

    try:
        yield read
    finally:
        readline.set_history_length(HISTORY_LINES)
        with suppress(OSError):
            # The names in it are nobody else's business.
            os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))
            readline.write_history_file(file)
        readline.set_auto_history(True)
