"""Errors of commands: one line on standard error that says what was wrong, and an exit code. See EXIT_CODES."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, NoReturn, TypeVar

from metastored.cli.colours import painted
from metastored.cli.results import harmless
from metastored.errors import Error

log = logging.getLogger("metastored.cli")

FOUND: Final = 1
"""The command worked, and what it looked for is not as it should be, such as problems that `doctor` found."""
EXIT_CODE: Final = 2
"""The command failed, or has wrong arguments."""
INTERRUPTED: Final = 130
"""Ctrl-C, as shells have it."""

EXIT_CODES: Final = {
    0: "The command did what it should.",
    FOUND: "The command worked, and found something: problems (`doctor`), a remote that does not answer (`remotes "
    "test`), differences or refused objects (`import`, `export`), nothing to rewrite (`relocate`), migrations to run "
    "(`migrate --dry-run`). Also if the reader of the output closed the pipe.",
    EXIT_CODE: "The command failed, or has wrong arguments. Standard error has one line with the reason.",
    INTERRUPTED: "Ctrl-C ended the command.",
}
"""All exit codes, for the reference."""

F = TypeVar("F", bound=Callable[..., Any])


def complain(sentence: object) -> None:
    """Prints one line on standard error."""
    print(f"{painted('metastored:', 'red', sys.stderr)} {harmless(str(sentence))}", file=sys.stderr)


def fail(error: Exception) -> NoReturn:
    complain(error)
    raise SystemExit(EXIT_CODE)


def interrupted() -> NoReturn:
    complain("interrupted")
    raise SystemExit(INTERRUPTED)


def explained(command: F) -> F:
    """Prints an Error or an OSError of a command as one line on standard error, and exits with EXIT_CODE.

    Ctrl-C ends the command with INTERRUPTED. Other exceptions are bugs and keep their traceback.
    """

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except Error as error:
            fail(error)
        except BrokenPipeError:
            raise  # The reader of the output has closed the pipe: the command ends without a message.
        except OSError as error:
            log.debug("the traceback of the following error", exc_info=True)
            where = f"{error.filename}: " if error.filename is not None else ""
            fail(Error(f"{where}{error.strerror or error}"))
        except KeyboardInterrupt:
            interrupted()

    return run  # type: ignore[return-value]
