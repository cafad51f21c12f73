"""The metastore API, views. Made by tools/generate.py from api/views.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['Materialization']


if TYPE_CHECKING:

    class Materialization(NamedTuple):
        sourceTablesUpdateDeleteModified: bool | None = None
        sourceTablesCompacted: bool | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class Materialization(Struct):
        __slots__ = ()
        SPEC = ('1 bool sourceTablesUpdateDeleteModified required in=3.1+', '2 bool sourceTablesCompacted required in=4.0.0+',)

        def __new__(cls, sourceTablesUpdateDeleteModified=None, sourceTablesCompacted=None):
            return new(cls, (sourceTablesUpdateDeleteModified, sourceTablesCompacted,))

        sourceTablesUpdateDeleteModified = at[0]
        sourceTablesCompacted = at[1]
