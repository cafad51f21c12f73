"""What may be the name of a user, whoever vouches for it: a ticket, a certificate, a web token or a proxy user.

The name is compared with owners and grants, stored in the database and written to logs. So it is one line of printable
characters, without spaces around it, and not longer than other names. This module knows no kind of login.
"""

from __future__ import annotations

from metastored.errors import AuthenticationError
from metastored.hive.limits import MAX_NAME


def is_user_name(name: str) -> bool:
    return 0 < len(name) <= MAX_NAME and name.isprintable() and name == name.strip()


def checked_user(name: str, source: str) -> str:
    """The name; raises AuthenticationError, with the source in its message, for what cannot be one."""
    if is_user_name(name):
        return name
    if len(name) > MAX_NAME:
        raise AuthenticationError(f"{source} has {len(name)} characters; a name of a user has at most {MAX_NAME}")
    raise AuthenticationError(
        f"{source} is {name!r}, which is not a name of a user: printable characters without spaces around them were "
        "expected"
    )
