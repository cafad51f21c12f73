"""Why a server refused a call: no permission, read-only, or too many calls; recognised by the message. Pure.

The wire has no exceptions for these: a refusal is whatever exception the method declares, mostly a MetaException, and
only its text has the reason. metastored's own servers begin their messages with the texts below. Hive's authorizers
(SQL standard, storage based, Ranger) and HDFS write "Permission denied", and Hive's rate limit writes the same status.
"""

from __future__ import annotations

import re
from typing import Final

from metastored.errors import (
    ApplicationError,
    Error,
    MetastoreError,
    PermissionDenied,
    RateLimited,
    ReadOnlyServer,
)

DENIED: Final = "Permission denied: "
"""How a refusal for lack of a privilege begins; the rest names the user and the privilege."""
READ_ONLY: Final = "this metastore is read-only"
"""How the refusal of a write begins."""
TOO_MANY: Final = "[STATUS=429] Too many requests."
"""The message of a rate limit, in Hive's words."""

_DENIED = re.compile(r"\bPermission denied\b|\bAccessControlException\b|\bHiveAuthzPluginException\b")


def refusal(error: Error) -> MetastoreError | None:
    """The error as a refusal of its own class; None where it is another error."""
    if not isinstance(error, (MetastoreError, ApplicationError)):
        return None
    text = error.message or ""
    if text.startswith(READ_ONLY):
        return ReadOnlyServer(text)
    if text.startswith("[STATUS=429]"):
        return RateLimited(text)
    return PermissionDenied(text) if _DENIED.search(text) else None
