"""The operations on views: list, create, load, replace, drop. Renames are in `tables.py`, beside those of tables.

A view is a view of the metastore with the query for Hive, or its first one, so that Hive and Spark read it too.
"""

from __future__ import annotations

from functools import partial

from metastored.iceberg.catalog import VIEWS, Catalog
from metastored.iceberg.commits import Conflict, check_free, insert, until_done
from metastored.iceberg.definition import changed_view, metadata_location, new_row
from metastored.iceberg.errors import BadRequest
from metastored.iceberg.files import next_file
from metastored.iceberg.metadata import check_location, now
from metastored.iceberg.publishing import NewFiles
from metastored.iceberg.requests import Json, Request, few_records, new_name, optional, required, texts
from metastored.iceberg.requirements import check_requirements, is_create
from metastored.iceberg.rights import may_change, may_create
from metastored.iceberg.updates import MAX_COSTLY
from metastored.iceberg.view_metadata import ViewBuilder, new_view
from metastored.model.names import TableName

__all__ = ["create_view", "drop_view", "list_views", "load_view", "replace_view", "view_exists"]


def list_views(catalog: Catalog, request: Request) -> Json:
    """The Iceberg views of a namespace; other views are not listed."""
    return catalog.listed(VIEWS, request)


def create_view(catalog: Catalog, request: Request) -> Json:
    fields = request.fields()
    name = request.database.table(new_name(fields))
    location = optional(fields, "location", str, "the request")
    schema = required(fields, "schema", dict, "the request")
    version = required(fields, "view-version", dict, "the request")
    properties = texts(fields, "properties", "the request")
    where = catalog.default_location(name) if location is None else check_location(location)
    metadata = new_view(schema, version, where, properties)
    catalog.database(name.database_name)
    check_free(catalog, name, view=True)
    file = next_file(metadata, None)
    owner = properties.get("hive.metastore.table.owner") or catalog.caller.user
    row = changed_view(new_row(name, owner, now() // 1000, view=True), metadata, file, None, None)
    may_create(catalog, row)
    catalog.check_file(name, metadata["location"], file)
    with NewFiles(catalog) as new:
        new.write(file, metadata)
        insert(catalog, new, name, row, file)
    return _reply(file, metadata)


def load_view(catalog: Catalog, request: Request) -> Json:
    loaded = catalog.view(request.table)
    return _reply(loaded.file, loaded.metadata)


def view_exists(catalog: Catalog, request: Request) -> None:
    catalog.view_row(request.table)


def drop_view(catalog: Catalog, request: Request) -> None:
    catalog.view_row(request.table)
    catalog.drop(request.table)


def replace_view(catalog: Catalog, request: Request) -> Json:
    """Applies updates to a view."""
    fields, name = request.fields(), request.table
    requirements = few_records(fields, "requirements", "the request")
    updates = few_records(fields, "updates", "the request", MAX_COSTLY)
    if is_create(requirements):
        raise BadRequest("a view is made by a POST to the list of views, not by assert-create")
    return until_done([name], lambda: _attempt(catalog, name, requirements, updates))


def _attempt(catalog: Catalog, name: TableName, requirements: list[Json], updates: list[Json]) -> Json:
    before = catalog.view(name)
    check_requirements(requirements, before.metadata, uuid="view-uuid")
    builder = ViewBuilder(before.metadata)
    for update in updates:
        builder.apply(update)
    if not builder.changed:
        return _reply(before.file, before.metadata)
    metadata = builder.built()
    file = next_file(metadata, before.file)
    may_change(catalog, name, changed_view(before.row, metadata, file, before.metadata, before.file), None)
    catalog.check_file(name, (before.row.sd and before.row.sd.location) or "", file)
    with NewFiles(catalog) as new:
        new.write(file, metadata)
        with catalog.locked([name]):
            row = catalog.row(name)
            if row is None or metadata_location(row) != before.file:
                raise Conflict
            changed = changed_view(row, metadata, file, before.metadata, before.file)
            if not new.commit([(name, file)], partial(catalog.alter, name, changed, before.file, committing=False)):
                raise Conflict
    return _reply(file, metadata)


def _reply(file: str, metadata: Json) -> Json:
    return {"metadata-location": file, "metadata": metadata, "config": {}}
