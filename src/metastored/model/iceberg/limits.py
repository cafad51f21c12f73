"""How large files of Iceberg tables may be, for all who read them."""

from __future__ import annotations

from typing import Final

MAX_FILE: Final = 64 * 1024 * 1024
"""Bytes of a metadata file, a manifest or a manifest list, without compression."""
