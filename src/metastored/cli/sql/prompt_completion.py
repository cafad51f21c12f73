"""Completion with Tab at the prompt of `metastored sql`: keywords, catalogs, databases, tables and columns.

Columns are those of the tables that the statement names, as far as it was typed; behind `table.` those of the table.
Names are read from the metastore at each new word. A name that needs backquotes is offered behind a backquote only, and
one with control characters never: it would be printed on the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from metastored.errors import Error
from metastored.model.names import DatabaseName, TableName
from metastored.statements.parsing import keywords

if TYPE_CHECKING:
    from metastored.client._sync.client import Client
    from metastored.client._sync.statements import Statements

DELIMITERS: Final = " \t\n;(),='\"`"
"""Those between words; a dot is within a word."""
MOST_TABLES: Final = 4
"""Tables of a statement whose columns are read."""
_PLAIN: Final = re.compile(r"\w+", re.ASCII)
_NAME: Final = re.compile(r"(?:\w+|`[^`]+`)(?:\.(?:\w+|`[^`]+`)){0,2}")


class Completion:
    """Completes words of a statement. `before` are its lines that were typed already."""

    def __init__(self, client: Client, statements: Statements) -> None:
        self._client = client
        self._statements = statements
        self.before = ""

    def candidates(self, line: str, begun: str) -> list[str]:
        """What the word that was begun at the end of a line may become, sorted."""
        quoted = line.removesuffix(begun).endswith("`")
        names = self._behind_dot(begun) if "." in begun else self._names(f"{self.before}\n{line}")
        offered = {name for name in names if _is_offered(name, begun, quoted)}
        if not quoted and "." not in begun:
            offered |= {word.lower() if begun[:1].islower() else word for word in keywords()}
        return sorted(word for word in offered if word.startswith(begun))

    def completer(self, line: Callable[[], str]) -> Callable[[str, int], str | None]:
        """The function that readline calls: the candidates one by one, then None. `line` is what was typed."""
        offered: list[str] = []

        def complete(begun: str, state: int) -> str | None:
            nonlocal offered
            if state == 0:
                offered = self.candidates(line(), begun)
            return offered[state] if state < len(offered) else None

        return complete

    def _names(self, text: str) -> Iterator[str]:
        """Catalogs, databases, the tables of the current one, and the columns of tables in the text."""
        # Completion is not the place for an error: the statement itself will say it.
        with suppress(Error):
            yield from self._client.api.get_catalogs().names or ()
        with suppress(Error):
            yield from self._client.databases()
        tables: tuple[str, ...] = ()
        with suppress(Error):
            tables = self._client.tables(str(self._statements.current))
            yield from tables
        for name in self._tables_of(text, tables)[:MOST_TABLES]:
            yield from self._columns(name)

    def _behind_dot(self, begun: str) -> Iterator[str]:
        """`database.table`, `table.column`, `database.table.column` and `catalog.database`, as they were begun."""
        *parts, _ = begun.split(".")
        prefix = ".".join(parts)
        current = self._statements.current
        if len(parts) == 1:
            with suppress(Error):
                yield from (f"{prefix}.{table}" for table in self._client.tables(prefix))
            yield from (f"{prefix}.{column}" for column in self._columns(current.table(prefix)))
            with suppress(Error):
                databases = self._client.databases(DatabaseName(prefix, "*").field)
                yield from (f"{prefix}.{database}" for database in databases)
        else:
            with suppress(Error):
                names = self._client.tables(str(DatabaseName(parts[0], parts[1])))
                yield from (f"{prefix}.{table}" for table in names)
            yield from (f"{prefix}.{column}" for column in self._columns(TableName("", parts[0], parts[1])))

    def _tables_of(self, text: str, tables: Iterable[str]) -> list[TableName]:
        known, current = set(tables), self._statements.current
        named: dict[TableName, None] = {}
        for match in _NAME.finditer(text):
            parts = [part.strip("`").lower() for part in match[0].split(".")]
            if len(parts) > 1:
                named[TableName("", parts[-2], parts[-1])] = None
            elif parts[0] in known:
                named[current.table(parts[0])] = None
        return [*named]

    def _columns(self, name: TableName) -> list[str]:
        with suppress(Error):
            table = self._client.fresh_table(name)
            columns = (*((table.sd and table.sd.cols) or ()), *(table.partitionKeys or ()))
            return [each.name or "" for each in columns]
        return []


def _is_offered(name: str, begun: str, quoted: bool) -> bool:
    last = name.rpartition(".")[2] if "." in begun else name
    return name.isprintable() and "`" not in name if quoted else _PLAIN.fullmatch(last) is not None
