"""The named types of the first Hive, which no client creates any more.

They are documents: they are looked up by name only.
"""

from __future__ import annotations

from typing import Final

from metastored.errors import AlreadyExistsException, InvalidObjectException, MetaException, NoSuchObjectException
from metastored.hive.names import is_valid_function_name
from metastored.service.core.context import Context
from metastored.service.core.documents import Kind
from metastored.service.core.serving import method
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.wire.generated.types import Type
from metastored.wire.structs import replace

TYPES: Final = Kind("type", Type)


@method
def create_type(ctx: Context, type: Type | None) -> bool:
    if type is None or type.name is None:
        raise MetaException("create_type needs a type with a name")
    if not is_valid_function_name(type.name):
        raise InvalidObjectException("Invalid type name")
    name = type.name
    stored: Type = replace(type, fields=type.fields or ())
    taken = AlreadyExistsException(f"Type {name} already exists")

    def create(tx: Transaction) -> None:
        if TYPES.find(tx, name) is not None:
            raise taken
        TYPES.insert(tx, name, stored)

    try:
        ctx.database.run(create)
    except ConstraintViolated:
        raise taken from None
    return True


@method
def get_type(ctx: Context, name: str | None) -> Type:
    document = TYPES.find(ctx.reader(), (name or "").strip())
    if document is None:
        raise NoSuchObjectException(f'Type "{name}" not found.')
    return document.value


@method
def get_type_all(ctx: Context, name: str | None) -> dict[str, Type]:
    raise MetaException("Not yet implemented")  # Every Hive has this text.


@method
def drop_type(ctx: Context, type: str | None) -> bool:
    """Returns True even if there was none, as in Hive."""

    def drop(tx: Transaction) -> None:
        document = TYPES.find(tx, (type or "").strip())
        if document is not None:
            TYPES.delete(tx, document)

    ctx.database.run(drop)
    return True
