"""The property store of Hive 4: maps of texts by a path such as `db.table`, in a namespace. They are documents.

Hive selects maps by an expression in the language JEXL, which metastored does not speak: a call with one that is not
simply `true` is refused rather than answered with too much.
"""

from __future__ import annotations

from typing import Final

from metastored.errors import MetaException, NoSuchObjectException
from metastored.service.core.context import Context
from metastored.service.core.documents import Kind
from metastored.service.core.serving import method
from metastored.store.engine.transaction import Transaction
from metastored.wire.generated.service import PropertyGetRequest, PropertyGetResponse, PropertySetRequest

NAMESPACES: Final = ("hms",)
"""The one namespace that a Hive metastore declares."""
LEVELS: Final = 3
"""A name begins with a cluster, a database and a table; what follows is the name of a property."""
MAPS: Final = Kind("properties", PropertySetRequest)
"""The parent is the namespace, the key the path of the map; the values are in a PropertySetRequest."""


def _check(namespace: str | None) -> str:
    if namespace not in NAMESPACES:
        raise NoSuchObjectException(f"no PropertyManager namespace is declared, namespace {namespace}")
    return namespace or ""


def _split(name: str) -> tuple[str, str]:
    """(the map's path, the property) of a full name such as `db.table.property`."""
    parts = name.split(".")
    if len(parts) > LEVELS:
        return ".".join(parts[:LEVELS]), ".".join(parts[LEVELS:])
    return ".".join(parts[:-1]), parts[-1]


@method
def set_properties(ctx: Context, req: PropertySetRequest) -> bool:
    """Sets those that are given; an empty text removes one."""
    namespace = _check(req.nameSpace)
    given: dict[str, dict[str, str]] = {}
    for name, value in (req.propertyMap or {}).items():
        path, own = _split(name)
        if not own:
            raise MetaException(f"the property {name!r} has no name behind its last dot")
        given.setdefault(path, {})[own] = value

    def put(tx: Transaction) -> None:
        MAPS.lock(tx, namespace)
        for path, values in sorted(given.items()):
            known = MAPS.find(tx, path, namespace)
            merged = dict(known.value.propertyMap or {}) if known is not None else {}
            for own, value in values.items():
                if value:
                    merged[own] = value
                else:
                    merged.pop(own, None)
            stored = PropertySetRequest(nameSpace=namespace, propertyMap=merged)
            if known is None:
                MAPS.insert(tx, path, stored, parent=namespace)
            elif merged:
                MAPS.update(tx, known, stored)
            else:
                MAPS.delete(tx, known)

    ctx.database.run(put)
    return True


@method
def get_properties(ctx: Context, req: PropertyGetRequest) -> PropertyGetResponse:
    """The maps whose path begins with a prefix, each with the chosen properties, or all of them."""
    namespace = _check(req.nameSpace)
    predicate = (req.mapPredicate or "").strip()
    if predicate not in ("", "true"):
        raise MetaException(
            f"the predicate {predicate!r} is an expression, which metastored does not evaluate; leave it out"
        )
    found: dict[str, dict[str, str]] = {}
    for each in MAPS.below(ctx.reader(), namespace):
        if not each.key.startswith(req.mapPrefix or ""):
            continue
        values = each.value.propertyMap or {}
        if req.mapSelection:
            values = {name: value for name, value in values.items() if name in req.mapSelection}
        if values:
            found[each.key] = values
    return PropertyGetResponse(properties=found)
