"""The messages of Spark's errors, for people. Never imports pyspark."""

from __future__ import annotations


def message_of(error: BaseException) -> str:
    """The message of an error, without the trace of the JVM that Spark's errors have behind it."""
    text = str(error).strip() or type(error).__name__
    return text.split("\n\nJVM stacktrace")[0].split("\n\tat ")[0]


def first_line_of(error: BaseException) -> str:
    """The first line of it: behind it are the plan and the text of the statement."""
    return message_of(error).split("\n")[0].rstrip("; ")
