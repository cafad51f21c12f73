"""The statements that create all tables in an empty database. Nothing is run here.

They are the texts of two files, one for each database, which `tools/create_tables.py` writes from `schema.py`: so a
server creates its tables without SQLAlchemy.
"""

import re
from pathlib import Path
from typing import Final

from metastored.store.engine.statements import SQLITE

__all__ = ["END", "creation", "creation_file", "table_names"]

END: Final = ";\n"
"""The end of each statement in a file."""


def creation_file(dialect: str) -> Path:
    """The file with the statements for a database."""
    return Path(__file__).parent / f"create_{dialect}.sql"


def creation(dialect: str) -> tuple[str, ...]:
    """The statements, in the order in which they have to run."""
    text = re.sub("^--.*\n", "", creation_file(dialect).read_text("utf-8"), flags=re.MULTILINE)
    return tuple(statement.strip() for statement in text.split(END) if statement.strip())


def table_names() -> tuple[str, ...]:
    """The names of all tables; a table comes after those that it refers to."""
    created = (re.match(r"CREATE TABLE (\w+)", statement) for statement in creation(SQLITE))
    return tuple(each[1] for each in created if each is not None)
