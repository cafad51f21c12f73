"""Writes manifests and manifest lists byte by byte, also such as no writer writes, and commits snapshots of them."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from metastored.hive.locations import local_path
from tests.iceberg.rest_server import Rest

SYNC = b"0123456789abcdef"


def long(number: int) -> bytes:
    number = (number << 1) ^ (number >> 63)
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def encoded(schema: Any, value: Any) -> bytes:
    """A value in Avro. A union is an optional value."""
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(kind, list):
        return long(0) if value is None else long(1) + encoded(kind[1], value)
    if kind == "record":
        return b"".join(encoded(each["type"], value.get(each["name"])) for each in schema["fields"])
    if kind == "array":
        items = [encoded(schema["items"], each) for each in value]
        return (long(len(items)) + b"".join(items) if items else b"") + long(0)
    if kind == "boolean":
        return b"\x01" if value else b"\x00"
    if kind in ("int", "long"):
        return long(value)
    data: bytes = value.encode() if kind == "string" else value
    return long(len(data)) + data


def container(schema: Any, records: list[Any], *, count: int | None = None, codec: str = "null") -> bytes:
    """An Avro file of one block. `count` is the number of records that it claims to have."""
    block = b"".join(encoded(schema, each) for each in records)
    if codec == "deflate":
        packer = zlib.compressobj(wbits=-15)
        block = packer.compress(block) + packer.flush()
    meta = {"avro.schema": json.dumps(schema), "avro.codec": codec}
    header = long(len(meta)) + b"".join(encoded("string", each) for pair in meta.items() for each in pair) + long(0)
    number = len(records) if count is None else count
    return b"Obj\x01" + header + SYNC + long(number) + long(len(block)) + block + SYNC


def field(name: str, id: int, type: Any, optional: bool = True) -> Any:
    return {"name": name, "field-id": id, "type": ["null", type] if optional else type}


def by_column(name: str, id: int, key: int, type: str) -> Any:
    pair = [
        {"name": "key", "field-id": key, "type": "int"},
        {"name": "value", "field-id": key + 1, "type": type},
    ]
    items = {"type": "record", "name": f"k{key}_v{key + 1}", "fields": pair}
    return field(name, id, {"type": "array", "logicalType": "map", "items": items})


def entry_schema(partition: list[Any]) -> Any:
    """The schema of a manifest; `partition` are the fields of partitions."""
    numbers = {"type": "array", "items": "int", "element-id": 136}
    file = [
        field("content", 134, "int", False),
        field("file_path", 100, "string", False),
        field("file_format", 101, "string", False),
        field("partition", 102, {"type": "record", "name": "r102", "fields": partition}, False),
        field("record_count", 103, "long", False),
        field("file_size_in_bytes", 104, "long", False),
        by_column("lower_bounds", 125, 126, "bytes"),
        by_column("upper_bounds", 128, 129, "bytes"),
        field("equality_ids", 135, numbers),
        field("first_row_id", 142, "long"),
        field("referenced_data_file", 143, "string"),
        field("content_offset", 144, "long"),
        field("content_size_in_bytes", 145, "long"),
    ]
    return {
        "type": "record",
        "name": "manifest_entry",
        "fields": [
            field("status", 0, "int", False),
            field("snapshot_id", 1, "long"),
            field("sequence_number", 3, "long"),
            field("file_sequence_number", 4, "long"),
            field("data_file", 2, {"type": "record", "name": "r2", "fields": file}, False),
        ],
    }


LIST_SCHEMA: Any = {
    "type": "record",
    "name": "manifest_file",
    "fields": [
        field("manifest_path", 500, "string", False),
        field("manifest_length", 501, "long", False),
        field("partition_spec_id", 502, "int", False),
        field("content", 517, "int", False),
        field("sequence_number", 515, "long", False),
        field("min_sequence_number", 516, "long", False),
        field("added_snapshot_id", 503, "long", False),
        field("added_files_count", 504, "int", False),
        field("existing_files_count", 505, "int", False),
        field("deleted_files_count", 506, "int", False),
        field("added_rows_count", 512, "long", False),
        field("existing_rows_count", 513, "long", False),
        field("deleted_rows_count", 514, "long", False),
        field("first_row_id", 520, "long"),
    ],
}


def entry(path: str, sequence: int | None = None, *, status: int = 1, **file: Any) -> Any:
    """An entry of a manifest, for a Parquet file of ten rows."""
    data = {"content": 0, "file_path": path, "file_format": "PARQUET", "partition": {}, "record_count": 10}
    return {
        "status": status,
        "sequence_number": sequence,
        "file_sequence_number": sequence,
        "data_file": {**data, "file_size_in_bytes": 1000, **file},
    }


def listed(path: str, data: bytes, **line: Any) -> Any:
    """A line of a manifest list for a manifest with these bytes."""
    found: dict[str, Any] = {each["name"]: 0 for each in LIST_SCHEMA["fields"] if isinstance(each["type"], str)}
    found |= {"manifest_path": path, "manifest_length": len(data), "added_snapshot_id": 1, "added_files_count": 1}
    return {**found, "sequence_number": 1, "min_sequence_number": 1, **line}


class Manifests:
    """The manifests of a new table of a namespace, in files that tests write."""

    def __init__(self, rest: Rest, namespace: str, **table: Any) -> None:
        self.rest, self.namespace = rest, namespace
        self.location: str = rest.table(namespace, **table)["metadata"]["location"]
        self._snapshot = 0
        self.lines: list[Any] = []

    def write(self, name: str, data: bytes) -> str:
        """The location of a new file."""
        path = Path(local_path(self.location)) / "metadata" / name
        path.write_bytes(data)
        return f"{self.location}/metadata/{name}"

    def add(self, *entries: Any, partition: list[Any] | None = None, **line: Any) -> None:
        """A manifest for the next snapshot."""
        data = container(entry_schema(partition or []), list(entries), codec="deflate")
        self.lines.append(listed(self.write(f"m{self._snapshot}-{len(self.lines)}.avro", data), data, **line))

    def commit(self, manifest_list: bytes | None = None) -> None:
        """A snapshot of the manifests, or of a manifest list with these bytes."""
        data = container(LIST_SCHEMA, self.lines) if manifest_list is None else manifest_list
        self.commit_list(self.write(f"snap-{self._snapshot}.avro", data))

    def commit_list(self, location: str) -> None:
        self._snapshot += 1
        snapshot = {"snapshot-id": self._snapshot, "sequence-number": self._snapshot, "timestamp-ms": 1_700_000_000_000,
                    "manifest-list": location, "summary": {"operation": "append"}, "schema-id": 0}  # fmt: skip
        if self._snapshot > 1:
            snapshot["parent-snapshot-id"] = self._snapshot - 1
        ref = {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": self._snapshot}
        reply = self.rest.commit(self.namespace, "t", {"action": "add-snapshot", "snapshot": snapshot}, ref)
        assert reply.status == 200, reply
