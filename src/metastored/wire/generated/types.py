"""The metastore API, types. Made by tools/generate.py from api/types.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['Type']


if TYPE_CHECKING:
    from metastored.wire.generated.common import FieldSchema

    class Type(NamedTuple):
        name: str | None = None
        type1: str | None = None
        type2: str | None = None
        fields: tuple[FieldSchema, ...] | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class Type(Struct):
        __slots__ = ()
        SPEC = ('1 string name @name', '2 string type1', '3 string type2', '4 list<FieldSchema> fields',)

        def __new__(cls, name=None, type1=None, type2=None, fields=None):
            return new(cls, (name, type1, type2, fields,))

        name = at[0]
        type1 = at[1]
        type2 = at[2]
        fields = at[3]
