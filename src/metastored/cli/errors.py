"""Errors of commands: one line on standard error that says what was wrong, and exit code 2."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, NoReturn, TypeVar

from metastored.errors import Error

log = logging.getLogger("metastored.cli")

EXIT_CODE: Final = 2
"""The exit code of a command that failed, or that has wrong flags."""

F = TypeVar("F", bound=Callable[..., Any])


def fail(error: Exception) -> NoReturn:
    print(f"metastored: {error}", file=sys.stderr)
    raise SystemExit(EXIT_CODE)


def explained(command: F) -> F:
    """Prints an Error or an OSError of a command as one line on standard error, and exits with EXIT_CODE.

    Other exceptions are bugs and keep their traceback.
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

    return run  # type: ignore[return-value]
