"""Compares, copies and verifies metadata from one metastore into another. Data is never touched."""

from __future__ import annotations

__all__: list[str] = []
