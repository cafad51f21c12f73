"""The statements about materialized views, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from metastored.statements.basics import Pairs, Parts
from metastored.statements.definitions import Column, Storage


@dataclass(frozen=True, slots=True)
class CreateMaterializedView:
    """CREATE MATERIALIZED VIEW; `disabled` is DISABLE REWRITE."""

    name: Parts
    query: str
    columns: tuple[Column, ...] = ()
    if_not_exists: bool = False
    disabled: bool = False
    comment: str | None = None
    storage: Storage | None = None
    location: str | None = None
    properties: Pairs = ()


@dataclass(frozen=True, slots=True)
class AlterMaterializedView:
    """ALTER MATERIALIZED VIEW … ENABLE REWRITE or DISABLE REWRITE."""

    name: Parts
    rewrite: bool


@dataclass(frozen=True, slots=True)
class DropMaterializedView:
    """DROP MATERIALIZED VIEW."""

    name: Parts
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class ShowMaterializedViews:
    """SHOW MATERIALIZED VIEWS."""

    database: Parts | None = None
    like: str | None = None


MaterializedStatement: TypeAlias = (
    CreateMaterializedView | AlterMaterializedView | DropMaterializedView | ShowMaterializedViews
)
