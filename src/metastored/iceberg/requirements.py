"""Requirements of a commit: what must still hold for the metadata that it changes. Pure.

Raises CommitFailed for one that does not hold: the client reads the table and commits again.
"""

from __future__ import annotations

from typing import Final

from metastored.iceberg.errors import BadRequest, CommitFailed
from metastored.iceberg.requests import Json, integer, optional, required

__all__ = ["CREATE", "TABLE_EXISTS", "check_requirements", "is_create"]

CREATE: Final = "assert-create"
_NUMBERS: Final = {
    "assert-last-assigned-field-id": ("last-column-id", "last-assigned-field-id", "last assigned field id"),
    "assert-current-schema-id": ("current-schema-id", "current-schema-id", "current schema"),
    "assert-last-assigned-partition-id": (
        *("last-partition-id", "last-assigned-partition-id"),
        "last assigned partition id",
    ),
    "assert-default-spec-id": ("default-spec-id", "default-spec-id", "default partition spec"),
    "assert-default-sort-order-id": ("default-sort-order-id", "default-sort-order-id", "default sort order"),
}
"""The requirements that compare a number: its name in the metadata, in the requirement, and in Iceberg's messages."""
TABLE_EXISTS: Final = "Requirement failed: table already exists"


def is_create(requirements: list[Json]) -> bool:
    """Whether a commit makes the table. Raises BadRequest if it also requires something of an existing one."""
    kinds = [required(each, "type", str, "a requirement") for each in requirements]
    if CREATE not in kinds:
        return False
    if len(set(kinds)) > 1:
        raise BadRequest(f"a commit with {CREATE} has no other requirements, and this one has {', '.join(kinds)}")
    return True


def check_requirements(requirements: list[Json], metadata: Json, *, uuid: str = "table-uuid") -> None:
    """Raises CommitFailed if one does not hold for the metadata. `uuid` is its field with the uuid."""
    for each in requirements:
        kind = required(each, "type", str, "a requirement")
        match kind:
            case "assert-create":
                raise CommitFailed(TABLE_EXISTS)
            case "assert-table-uuid" | "assert-view-uuid":
                sent = required(each, "uuid", str, kind)
                if sent.lower() != str(metadata[uuid]).lower():
                    raise CommitFailed(f"Requirement failed: UUID does not match: expected {metadata[uuid]} != {sent}")
            case "assert-ref-snapshot-id":
                _check_ref(each, metadata)
            case _ if kind in _NUMBERS and uuid == "table-uuid":
                stored, sent_as, words = _NUMBERS[kind]
                expected = integer(each, sent_as, kind)
                if metadata[stored] != expected:
                    raise CommitFailed(
                        f"Requirement failed: {words} changed: expected id {expected} != {metadata[stored]}"
                    )
            case _:
                raise BadRequest(f"there is no requirement {kind!r} here"[:200])


def _check_ref(requirement: Json, metadata: Json) -> None:
    name = required(requirement, "ref", str, "assert-ref-snapshot-id")
    expected = optional(requirement, "snapshot-id", int, "assert-ref-snapshot-id")
    ref = metadata["refs"].get(name)
    present = None if ref is None else ref["snapshot-id"]
    if present != expected:
        raise CommitFailed(f"Requirement failed: branch or tag {name} has changed: expected id {expected} != {present}")
