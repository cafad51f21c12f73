"""Writes the statements that create the tables of a new database, for SQLite and PostgreSQL, from the schema.

python tools/create_tables.py            # writes src/metastored/store/engine/create_*.sql
python tools/create_tables.py --check    # fails if a file is not what this would write
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from sqlalchemy.dialects.postgresql.base import PGDialect  # noqa: E402
from sqlalchemy.dialects.sqlite.base import SQLiteDialect  # noqa: E402
from sqlalchemy.engine import Dialect  # noqa: E402
from sqlalchemy.schema import CreateIndex, CreateTable  # noqa: E402
from sqlalchemy.sql.ddl import DDLElement  # noqa: E402

from metastored.store.engine import schema  # noqa: E402
from metastored.store.engine.creating import END, creation_file  # noqa: E402
from metastored.store.engine.statements import POSTGRESQL, SQLITE  # noqa: E402
from metastored.store.engine.stored import FIRST_COUNTERS, SQLITE_STATISTICS  # noqa: E402
from tools.reference_page import write_or_check  # noqa: E402

HEAD = "-- Written by tools/create_tables.py from schema.py, which says what the columns are for. Do not edit.\n"
DIALECTS: dict[str, Dialect] = {SQLITE: SQLiteDialect(), POSTGRESQL: PGDialect()}  # type: ignore[no-untyped-call]


def statements(dialect: str) -> Iterator[str]:
    """All statements for a database: tables and indexes, then the first rows."""
    for table in schema.metadata.sorted_tables:
        yield _text(CreateTable(table), dialect)
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield _text(CreateIndex(index), dialect)
    yield f"INSERT INTO counters (name, value) VALUES\n{_rows(FIRST_COUNTERS)}"
    if dialect == SQLITE:
        # It creates the table of statistics and leaves it empty.
        yield "ANALYZE sqlite_schema"
        yield f"INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES\n{_rows(SQLITE_STATISTICS)}"


def _text(element: DDLElement, dialect: str) -> str:
    lines = str(element.compile(dialect=DIALECTS[dialect])).splitlines()
    return "\n".join(line.rstrip().replace("\t", "    ") for line in lines if line.strip())


def _rows(rows: tuple[tuple[str | int, ...], ...]) -> str:
    return ",\n".join(f"    ({', '.join(map(_literal, row))})" for row in rows)


def _literal(value: str | int) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)


def render(dialect: str) -> str:
    return HEAD + "".join(f"\n{statement}{END}" for statement in statements(dialect))


def main(check: bool) -> int:
    return max(write_or_check(creation_file(each), render(each), check=check, tool=__file__) for each in DIALECTS)


if __name__ == "__main__":
    raise SystemExit(main("--check" in sys.argv[1:]))
