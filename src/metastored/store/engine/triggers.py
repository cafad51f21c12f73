"""The triggers of the store: each change of the names of a database's tables writes a new stamp for the database.

They are in the database, so no program that writes to it has to know of the stamps: not a server of an earlier version
that still runs, nor SQL that is typed by hand. A cache of names compares the stamp, which `names_version` in
`store/objects/tables.py` reads.

SQLite has one write transaction at a time: each row that is written replaces the stamp. On PostgreSQL the trigger is
deferred to the end of the transaction, which writes a stamp once for each database: the row of the stamp is locked only
while the transaction commits, so transactions that create tables do not wait for each other.

A stamp is a random number, never one that a database had before. Nothing is run here.
"""

from __future__ import annotations

from typing import Final

from metastored.store.engine.statements import SQLITE

__all__ = ["sqlite_triggers", "trigger_statements"]

_CHANGED: Final = "OLD.id {0} NEW.id OR OLD.db_id {0} NEW.db_id OR OLD.name {0} NEW.name OR OLD.type {0} NEW.type"
"""Whether a list of names, or of the names of one type, may differ."""


def _sqlite(name: str, event: str, *rows: str, when: str = "") -> str:
    """A trigger that gives the databases of these rows new stamps.

    It has no ON CONFLICT: SQLite would replace it by that of the statement which fires the trigger.
    """
    replaced = (
        f"DELETE FROM table_name_stamps WHERE db_id = {row}.db_id; "
        f"INSERT INTO table_name_stamps (db_id, stamp) VALUES ({row}.db_id, random());"
        for row in rows
    )
    condition = f"WHEN {when} " if when else ""
    return f"CREATE TRIGGER {name} AFTER {event} ON tables {condition}BEGIN {' '.join(replaced)} END"


_SQLITE: Final = {
    "table_names_inserted": _sqlite("table_names_inserted", "INSERT", "NEW"),
    "table_names_updated": _sqlite(
        "table_names_updated", "UPDATE OF id, db_id, name, type", "OLD", "NEW", when=_CHANGED.format("IS NOT")
    ),
    "table_names_deleted": _sqlite("table_names_deleted", "DELETE", "OLD"),
    # INSERT OR REPLACE fires no trigger for a row that it removes, which may be one of another database.
    "table_names_replaced": (
        "CREATE TRIGGER table_names_replaced BEFORE INSERT ON tables BEGIN "
        "DELETE FROM table_name_stamps WHERE db_id IN (SELECT db_id FROM tables WHERE id = NEW.id); END"
    ),
}


def _one_line(text: str) -> str:
    """As `Statement` writes it: SQLite keeps the text of a trigger."""
    return " ".join(text.split())


# The setting has the databases that the transaction has written a stamp for, and ends with the transaction. OLD is null
# for a new table, and NEW for one that was dropped; a database that was dropped with its tables needs no stamp.
_FUNCTION: Final = _one_line("""
    CREATE OR REPLACE FUNCTION stamp_table_names() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    DECLARE
        stamped text := coalesce(current_setting('metastored.stamped', true), '');
        changed bigint;
    BEGIN
        IF TG_OP = 'TRUNCATE' THEN
            DELETE FROM table_name_stamps;
            RETURN NULL;
        END IF;
        FOREACH changed IN ARRAY ARRAY[OLD.db_id, NEW.db_id] LOOP
            IF strpos(stamped, '/' || changed || '/') = 0 THEN
                INSERT INTO table_name_stamps (db_id, stamp)
                SELECT id, ('x' || right(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::bigint
                FROM databases WHERE id = changed
                ON CONFLICT (db_id) DO UPDATE SET stamp = excluded.stamp;
                stamped := stamped || '/' || changed || '/';
                PERFORM set_config('metastored.stamped', stamped, true);
            END IF;
        END LOOP;
        RETURN NULL;
    END
    $$
""")

_DEFERRED: Final = "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
_RUNS: Final = "EXECUTE FUNCTION stamp_table_names()"

_POSTGRESQL: Final = (
    _FUNCTION,
    f"CREATE CONSTRAINT TRIGGER table_names_changed AFTER INSERT OR DELETE ON tables {_DEFERRED} {_RUNS}",
    f"CREATE CONSTRAINT TRIGGER table_names_updated AFTER UPDATE ON tables {_DEFERRED}"
    f" WHEN ({_CHANGED.format('IS DISTINCT FROM')}) {_RUNS}",
    f"CREATE TRIGGER table_names_truncated AFTER TRUNCATE ON tables {_RUNS}",
)


def trigger_statements(dialect: str) -> tuple[str, ...]:
    """The statements that create the triggers of a database, behind its tables."""
    return tuple(_SQLITE.values()) if dialect == SQLITE else _POSTGRESQL


def sqlite_triggers() -> dict[str, str]:
    """The names of SQLite's triggers and their statements, exactly as SQLite keeps them."""
    return dict(_SQLITE)
