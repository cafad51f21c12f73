"""Stamps: numbers that are stored with data, and replaced by a new one at each change of the data.

A cache stores the stamp with what it computed from the data, and compares it at the next lookup. Nothing here reads or
writes a database.
"""

import secrets


def new_stamp() -> int:
    """A positive number that was never a stamp before. Ids of rows may be reused; stamps never are."""
    return secrets.randbits(63) or 1
