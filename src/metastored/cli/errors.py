"""What a person sees when a command fails: one line that says what was wrong, and exit code 2."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, NoReturn, TypeVar

from metastored.errors import Error

log = logging.getLogger("metastored.cli")

EXIT_CODE: Final = 2
"""The exit code of a command that could not do what it was asked; wrong flags have the same."""

F = TypeVar("F", bound=Callable[..., Any])


def fail(error: Exception) -> NoReturn:
    print(f"metastored: {error}", file=sys.stderr)
    raise SystemExit(EXIT_CODE)


def explained(command: F) -> F:
    """An Error becomes one line on standard error, and so does an OSError: a file or a network is in the way.

    Other errors are bugs and keep their trace.
    """

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except Error as error:
            fail(error)
        except BrokenPipeError:
            raise  # Whoever read our output has gone: the command line ends quietly.
        except OSError as error:
            log.debug("the trace of what follows", exc_info=True)
            where = f"{error.filename}: " if error.filename is not None else ""
            fail(Error(f"{where}{error.strerror or error}"))

    return run  # type: ignore[return-value]
