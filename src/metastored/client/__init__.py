"""A client for every Hive metastore, from 2.3 to 4.x: pooled, cached, with or without asyncio."""

from __future__ import annotations

__all__: list[str] = []
