"""`metastored relocate`: rewrites stored locations after a directory was moved. It writes to the database directly.

Exit codes: 0 if locations were rewritten (or would be), 1 if nothing is stored below OLD, 2 if the command failed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metastored.cli.errors import FOUND, explained
from metastored.cli.options import Output, Store, options
from metastored.cli.output import print_object
from metastored.errors import ConfigError
from metastored.hive.locations import LocationError, warehouse_uri
from metastored.model.counting import counted

if TYPE_CHECKING:
    from metastored.config import Settings
    from metastored.service.relocation import Moved, Relocated

Old = Annotated[str, typer.Argument(metavar="OLD", help="The old directory: a path or a URI.")]
New = Annotated[str, typer.Argument(metavar="NEW", help="The new directory: a path or a URI.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Write nothing; print what would be rewritten.")]
Property = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY",
        help="Also rewrite this property of tables, storage descriptors and serdes; may be repeated. `path` and "
        "`avro.schema.url` are always rewritten.",
    ),
]


@explained
@options(store=Store.read)
def relocate(
    store: Store,
    old: Old,
    new: New,
    dry_run: DryRun = False,
    property: Property = None,
    output: Output = "text",
) -> None:
    """Replace OLD by NEW in stored locations, in one transaction.

    Like Hive's metatool, it rewrites locations of catalogs, databases, tables and partitions, and properties that
    contain locations. Directories are not moved: move them first. Restart running servers with the new --warehouse.
    """
    source, target = _location("OLD", old), _location("NEW", new)
    result = _relocated(store.settings, source, target, property or [], dry_run)
    text = "\n".join(_as_text(result, source, dry_run))
    print_object(_as_json(result, source, target, dry_run), text, output)
    raise typer.Exit(FOUND if result.nothing else 0)


def _location(what: str, text: str) -> str:
    try:
        return warehouse_uri(os.path.expanduser(text), os.getcwd())
    except LocationError as error:
        raise ConfigError(f"{what} is {text!r}; {error}") from None


def _relocated(settings: Settings, old: str, new: str, properties: list[str], dry_run: bool) -> Relocated:
    from metastored.service.relocation import relocate
    from metastored.store.engine.opening import open_existing

    database = open_existing(settings.database_url, settings.data, threads=1)
    try:
        return relocate(database, old, new, properties=properties, dry_run=dry_run)
    finally:
        database.close()


# --- output ---------------------------------------------------------------------------------------------------


def _as_text(result: Relocated, old: str, dry_run: bool) -> list[str]:
    if result.nothing:
        roots = sorted(set(result.roots))
        known = f"; the databases are in {', '.join(roots[:10])}{' …' if len(roots) > 10 else ''}" if roots else ""
        return [f"nothing is stored below {old}{known}", *_notes(result)]
    lines = [f"catalog {each.name}: {each.old} -> {each.new}" for each in result.catalogs]
    lines += [f"database {each.name}: {each.old} -> {each.new}" for each in result.databases]
    lines += [f"table {each.name}: {_of_table(each)}" for each in result.tables]
    counts = (
        (len(result.catalogs), "catalog"),
        (len({each.name for each in result.databases}), "database"),
        (len(result.tables), "table"),
        (result.partitions, "partition"),
        (result.properties, "property"),
    )
    done = ", ".join(counted(number, noun) for number, noun in counts)
    return [*lines, f"{'would be rewritten' if dry_run else 'rewritten'}: {done}", *_notes(result)]


def _of_table(table: Moved) -> str:
    parts = [f"{table.old} -> {table.new}"] if table.new is not None else []
    parts += [counted(table.partitions, "partition")] if table.partitions else []
    parts += [counted(table.properties, "property")] if table.properties else []
    return ", ".join(parts)


def _notes(result: Relocated) -> list[str]:
    if not result.iceberg:
        return []
    return [
        f"note: metadata_location was not rewritten for {counted(len(result.iceberg), 'Iceberg table')}, the first is "
        f"{result.iceberg[0]}: the files of an Iceberg table name each other by complete URIs. Rewrite the files with "
        "Iceberg's rewrite_table_path; --property metadata_location rewrites the property."
    ]


def _as_json(result: Relocated, old: str, new: str, dry_run: bool) -> dict[str, Any]:
    return {
        "old": old,
        "new": new,
        "dry_run": dry_run,
        "catalogs": [{"name": each.name, "old": each.old, "new": each.new} for each in result.catalogs],
        "databases": [{"name": each.name, "old": each.old, "new": each.new} for each in result.databases],
        "tables": [each._asdict() for each in result.tables],
        "partitions": result.partitions,
        "properties": result.properties,
        "iceberg_not_rewritten": result.iceberg,
    }
