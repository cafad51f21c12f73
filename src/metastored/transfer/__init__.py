"""Metadata on its way from one metastore into another: compared, copied, verified. Data is never touched."""

from __future__ import annotations

__all__: list[str] = []
