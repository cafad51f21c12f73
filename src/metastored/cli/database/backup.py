"""`metastored backup` and `metastored restore`: write a server's database to a file, and restore it and verify it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metastored.cli.errors import explained
from metastored.cli.options import Output, Store, options
from metastored.cli.output import print_object
from metastored.cli.progress import Meter
from metastored.errors import StoreError
from metastored.model.counting import counted

if TYPE_CHECKING:
    from metastored.transfer.readable import Readable

To = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")]
From = Annotated[Path, typer.Argument(metavar="FILE", help="A file written by metastored backup.")]


@explained
@options(store=Store.read)
def backup(store: Store, file: To, output: Output = "text") -> None:
    """Back up the database of a server, while servers use it.

    The file contains a consistent snapshot with every change that was acknowledged before the command started, of
    SQLite or of PostgreSQL. Files of the warehouse are not included.
    """
    from metastored.store.engine.backup import back_up, back_up_postgresql

    settings = store.settings
    with Meter("backup") as meter:
        if settings.database_url is None:
            done = back_up(settings.data, file, progress=meter.remaining)
        else:
            done = back_up_postgresql(settings.database_url, file, progress=meter)
    value = {"source": str(store), "file": str(file), "bytes": done.size, "schema": done.revision}
    text = f"{store} was written to {file} ({counted(done.size, 'byte')}, schema {done.revision})"
    print_object(value, text, output)


@explained
@options(store=Store.read)
def restore(store: Store, file: From, output: Output = "text") -> None:
    """Restore a database from a backup, and read every object of it.

    The target is a data folder without a database that no server uses, or an empty PostgreSQL database. A backup of
    the one can be restored to the other.
    """
    from metastored.store.engine.backup import restore as restored
    from metastored.store.engine.backup import restore_postgresql

    settings = store.settings
    with Meter("restore") as meter:
        if settings.database_url is None:
            done = restored(file, settings.data, progress=meter.remaining)
        else:
            done = restore_postgresql(file, settings.database_url, progress=meter)
    value: dict[str, Any] = {"file": str(file), "target": str(store), "bytes": done.size, "schema": done.revision}
    text = f"{file} was restored to {store} ({counted(done.size, 'byte')}, schema {done.revision}"
    if done.is_old:
        print_object(
            {**value, "verified": None},
            f"{text}; metastored migrate or metastored serve upgrades the schema, then metastored doctor verifies it)",
            output,
        )
        return
    verified = _verified(store)
    counts = ", ".join(counted(number, name.removesuffix("s")) for name, number in verified._asdict().items())
    print_object({**value, "verified": verified._asdict()}, f"{text}); verified: {counts}", output)


def _verified(store: Store) -> Readable:
    """Checks the database as the doctor does, and reads every object. Raises StoreError."""
    import time

    from metastored.errors import Error
    from metastored.store.diagnosis import examine
    from metastored.store.engine.opening import open_existing
    from metastored.transfer.readable import read_everything

    settings = store.settings
    data = settings.data if settings.database_url is None else None
    database = open_existing(settings.database_url, data, threads=1)
    try:
        # Jobs that wait for a server are not damage.
        damage = [finding for finding in examine(database, time.time()) if finding.kind != "job"]
    finally:
        database.close()
    if damage:
        raise StoreError(f"{store} was restored, but is damaged: {damage[0].reason}")
    try:
        with Meter("verify") as meter:
            return read_everything(settings.database_url, data, meter)
    except Error as error:
        raise StoreError(f"{store} was restored, but not everything in it can be read: {error}") from error
