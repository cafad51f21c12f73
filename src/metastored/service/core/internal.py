"""Thrift's own error for a call that fails otherwise than its IDL declares, as Hive's clients expect it of a server.

Clients of Hive reconnect and try again after it. Where a call declares an exception that fits, that is raised instead.
"""

from metastored.errors import ApplicationError


def internal_error(method: str, reason: str | None = None) -> ApplicationError:
    """Hive's error where it throws an exception that the method does not declare. Hive's own text has no reason."""
    text = f"Internal error processing {method}"
    return ApplicationError(ApplicationError.INTERNAL_ERROR, text if reason is None else f"{text}: {reason}")
