"""Runs a command in the test process, as `metastored` runs it: the same parser, the same errors and exit codes."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

import pytest

from metastored.cli import main


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document that was printed."""
        assert self.code in (0, 1), self.err
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)

    @property
    def dicts(self) -> list[dict[str, Any]]:
        """The rows of a list, by column."""
        found = self.json
        return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]


def run(*words: str) -> Done:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(words)
    code = ended.value.code
    assert isinstance(code, int), code
    return Done(code, out.getvalue(), err.getvalue())


def refused(words: Sequence[str], said: str) -> None:
    """The command ends with exit code 2, prints nothing but one line on standard error, and no traceback."""
    done = run(*words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done
    assert done.err.startswith("metastored: ") and said in done.err, done.err
