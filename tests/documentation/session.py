"""A Python session of a reader, in a process of its own: the blocks of a page are typed into it, one after the other.

    python session.py FD

Requests are lines of JSON on standard input; each gets one line on the file descriptor FD. Everything that a block
prints goes to standard output. A value of an expression is shown, as `python` does. This file imports nothing that
a page has to import itself.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import traceback
from typing import Any


def _typed(text: str, name: str) -> None:
    for statement in ast.parse(text, name).body:
        exec(compile(ast.Interactive([statement]), name, "single"), sys.modules["__main__"].__dict__)


def _statements_of_spark(text: str) -> None:
    from metastored.statements.words import split_statements

    for statement in split_statements(text):
        sys.modules["__main__"].__dict__["spark"].sql(statement)


def _left(names: set[str]) -> None:
    """Ends Spark's session, but not its JVM, and forgets all names: as a new `python` would have it."""
    if "pyspark" in sys.modules:
        from pyspark.sql import SparkSession

        if (spark := SparkSession.getActiveSession()) is not None:
            spark.stop()
    own = sys.modules["__main__"].__dict__
    for name in [*own]:
        if name not in names:
            del own[name]


def _main() -> None:
    replies = os.fdopen(int(sys.argv[1]), "w")
    names = {*sys.modules["__main__"].__dict__}
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        error = None
        try:
            if request["kind"] == "leave":
                _left(names)
            elif request["kind"] == "spark-sql":
                _statements_of_spark(request["text"])
            else:
                _typed(request["text"], request["name"])
        except BaseException:
            error = traceback.format_exc()
        sys.stdout.flush()
        replies.write(json.dumps({"error": error}) + "\n")
        replies.flush()


if __name__ == "__main__":
    _main()
