"""What a person sees when a command fails: one line that says what was wrong, and exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, NoReturn, TypeVar

from metastored.errors import Error

EXIT_CODE: Final = 2
"""The exit code of a command that could not do what it was asked; wrong flags have the same."""

F = TypeVar("F", bound=Callable[..., Any])


def fail(error: Error) -> NoReturn:
    print(f"metastored: {error}", file=sys.stderr)
    raise SystemExit(EXIT_CODE)


def explained(command: F) -> F:
    """A Error becomes one line on standard error; other errors are bugs and keep their trace."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except Error as error:
            fail(error)

    return run  # type: ignore[return-value]
