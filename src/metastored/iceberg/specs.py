"""Partition specs and sort orders as JSON: checked, with ids, compared. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from metastored.iceberg.errors import BadRequest
from metastored.iceberg.requests import Json, optional, records, required
from metastored.iceberg.schemas import fields_by_id, ids_by_name, names_by_id

__all__ = [
    "FIRST_FIELD",
    "bound_order",
    "bound_spec",
    "check_order",
    "check_spec",
    "is_same_order",
    "is_same_spec",
    "next_id",
    "renumbered_order",
    "renumbered_spec",
]

FIRST_FIELD: Final = 1000
"""The id of the first partition field of a table."""
_TRANSFORMS: Final = re.compile(r"identity|void|year|month|day|hour|(?:bucket|truncate)\[\d{1,10}\]")


def check_spec(spec: Json, what: str = "the partition spec") -> None:
    """Raises BadRequest unless it has the form of a partition spec."""
    names = set[str]()
    for field in records(spec, "fields", what):
        name = required(field, "name", str, f"a field of {what}")
        if not name or name in names:
            raise BadRequest(f"{what} has the field {name!r} twice, or a field without a name")
        names.add(name)
        _check_source(field, f"the field {name!r} of {what}")
        optional(field, "field-id", int, f"the field {name!r} of {what}")


def check_order(order: Json, what: str = "the sort order") -> None:
    """Raises BadRequest unless it has the form of a sort order."""
    fields = records(order, "fields", what)
    for at, field in enumerate(fields):
        _check_source(field, f"field {at} of {what}")
        if field.get("direction") not in ("asc", "desc") or field.get("null-order") not in (
            "nulls-first",
            "nulls-last",
        ):
            raise BadRequest(
                f"field {at} of {what} has the direction {field.get('direction')!r} and the null-order "
                f"{field.get('null-order')!r}: asc or desc, and nulls-first or nulls-last, were expected"
            )
    if order.get("order-id") == 0 and fields:
        raise BadRequest(f"{what} has the id 0, which is that of unsorted tables, and has fields")


def _check_source(field: Json, what: str) -> None:
    transform = required(field, "transform", str, what)
    if not _TRANSFORMS.fullmatch(transform):
        raise BadRequest(f"{what} has the transform {transform!r}, which Iceberg does not have"[:300])
    if field.get("source-id") is None and field.get("source-ids"):
        for id in required(field, "source-ids", list, what):
            if not isinstance(id, int):
                raise BadRequest(f"{what} has the source id {id!r}: a whole number was expected"[:300])
        return
    required(field, "source-id", int, what)


def _sources(field: Json) -> list[int]:
    return [field["source-id"]] if field.get("source-id") is not None else list(field["source-ids"])


def _check_sources(fields: Sequence[Json], schema: Json, what: str) -> None:
    types = fields_by_id(schema)
    for field in fields:
        for source in _sources(field):
            if field["transform"] != "void" and source not in types:
                raise BadRequest(f"{what} refers to the field id {source}, which the schema does not have")
            if isinstance(types.get(source), dict):
                raise BadRequest(f"{what} refers to the field id {source}, which is a struct, a list or a map")


def bound_spec(spec: Json, schema: Json, last_field: int, known: Sequence[Json], id: int) -> tuple[Json, int]:
    """A new partition spec with the ids of its fields, and the highest field id of all specs then.

    A field that another spec has keeps the id that it has there.
    """
    _check_sources(spec["fields"], schema, "the partition spec")
    columns = names_by_id(schema)
    assigned = {
        (tuple(_sources(field)), field["transform"]): field["field-id"] for each in known for field in each["fields"]
    }
    fields: list[Json] = []
    for field in spec["fields"]:
        source, name = _sources(field)[0], field["name"]
        other = ids_by_name(schema).get(name)
        if other is not None and not (field["transform"] in ("identity", "void") and other == source):
            raise BadRequest(
                f"the partition field {name!r} has the name of a column that it is not an identity of: rename it"
                if field["transform"] != "identity"
                else f"the partition field {name!r} is the identity of {columns.get(source)!r}, not of {name!r}"
            )
        number = field.get("field-id")
        if number is None:
            number = assigned.get((tuple(_sources(field)), field["transform"]))
            if number is None:
                last_field += 1
                number = last_field
        last_field = max(last_field, number)
        fields.append({**field, "field-id": number})
    if len({field["field-id"] for field in fields}) < len(fields):
        raise BadRequest("the partition spec has a field id twice")
    return {**spec, "spec-id": id, "fields": fields}, last_field


def bound_order(order: Json, schema: Json, id: int) -> Json:
    """A new sort order with its id."""
    _check_sources(order["fields"], schema, "the sort order")
    return {**order, "order-id": id if order["fields"] else 0}


def renumbered_spec(spec: Json, old: Json, new: Json) -> Json:
    """A partition spec of a new table, whose columns got other ids; its fields are numbered anew."""
    fields = [{**each, "field-id": FIRST_FIELD + at} for at, each in enumerate(_renumbered(spec["fields"], old, new))]
    return {**spec, "fields": fields}


def renumbered_order(order: Json, old: Json, new: Json) -> Json:
    """A sort order of a new table, whose columns got other ids."""
    return {**order, "fields": _renumbered(order["fields"], old, new)}


def _renumbered(fields: Sequence[Json], old: Json, new: Json) -> list[Json]:
    _check_sources(fields, old, "the request")
    names, ids = names_by_id(old), ids_by_name(new)
    renumbered: list[Json] = []
    for field in fields:
        missing = [each for each in _sources(field) if each not in names]
        if missing:
            raise BadRequest(f"the request refers to the field id {missing[0]}, which the schema does not have")
        if field.get("source-id") is None:
            renumbered.append({**field, "source-ids": [ids[names[each]] for each in field["source-ids"]]})
        else:
            renumbered.append({**field, "source-id": ids[names[field["source-id"]]]})
    return renumbered


def is_same_spec(one: Json, other: Json) -> bool:
    """Whether two specs partition rows in the same way, with the same names."""

    def key(spec: Json) -> list[tuple[Any, ...]]:
        return [(_sources(each), each["transform"], each["name"]) for each in spec["fields"]]

    return key(one) == key(other)


def is_same_order(one: Json, other: Json) -> bool:
    """Whether two orders sort rows in the same way."""

    def key(order: Json) -> list[tuple[Any, ...]]:
        return [(_sources(each), each["transform"], each["direction"], each["null-order"]) for each in order["fields"]]

    return key(one) == key(other)


def next_id(known: Sequence[Mapping[str, Any]], key: str, first: int) -> int:
    """One above the highest id in use, at least `first`."""
    return max((each[key] + 1 for each in known), default=first) if known else first
