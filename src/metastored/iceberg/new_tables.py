"""The metadata of a new table, as a request to create it describes it. Pure."""

from __future__ import annotations

import uuid as uuids
from collections.abc import Mapping

from metastored.iceberg.metadata import EMPTY, FORMAT_VERSION, check_properties, format_version
from metastored.iceberg.requests import Json, records
from metastored.iceberg.schemas import check_schema, fresh
from metastored.iceberg.specs import check_order, check_spec, renumbered_order, renumbered_spec
from metastored.iceberg.updates import Builder

__all__ = ["new_table"]


def new_table(
    schema: Json, spec: Json | None, order: Json | None, location: str, properties: Mapping[str, str]
) -> Json:
    """The metadata of a new table without rows. Its columns and partition fields are numbered anew."""
    version = format_version(properties)
    check_schema(schema, version, "the schema")
    spec, order = spec or {"spec-id": 0, "fields": []}, order or {"order-id": 0, "fields": []}
    spec = {**spec, "fields": records(spec, "fields", "the partition spec")}
    order = {**order, "fields": records(order, "fields", "the sort order")}
    check_spec(spec)
    check_order(order)
    columns = fresh(schema)
    kept = {key: value for key, value in properties.items() if key != FORMAT_VERSION}
    check_properties(kept)
    builder = Builder({**EMPTY, FORMAT_VERSION: version, "table-uuid": str(uuids.uuid4())}, new=True)
    builder.apply({"action": "add-schema", "schema": columns})
    builder.apply({"action": "set-current-schema", "schema-id": -1})
    builder.apply({"action": "add-spec", "spec": renumbered_spec(spec, schema, columns)})
    builder.apply({"action": "set-default-spec", "spec-id": -1})
    builder.apply({"action": "add-sort-order", "sort-order": renumbered_order(order, schema, columns)})
    builder.apply({"action": "set-default-sort-order", "sort-order-id": -1})
    builder.apply({"action": "set-location", "location": location})
    builder.apply({"action": "set-properties", "updates": {"write.parquet.compression-codec": "zstd", **kept}})
    return builder.built(None)
