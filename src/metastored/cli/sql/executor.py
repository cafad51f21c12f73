"""Executes the statements of `metastored sql`: metastored's own by the client, with `--spark` the others by Spark."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from metastored.cli.results import Tabular, done_text, harmless

if TYPE_CHECKING:
    from metastored.cli.sql.spark_rows import SparkRows
    from metastored.client._sync.statements import Statements
    from metastored.statements.values import Statement


class Executor:
    """The statements of one user; a text is a statement for Spark."""

    def __init__(self, statements: Statements, rows: SparkRows | None = None) -> None:
        self.statements = statements
        self._rows = rows

    def parsed(self, text: str) -> tuple[Statement | str, ...]:
        """The statements of a text. Raises StatementError; then none of them should be executed."""
        from metastored.statements.parsing import parse_beside_spark, parse_script

        return parse_script(text) if self._rows is None else parse_beside_spark(text)

    def execute(self, statement: Statement | str) -> tuple[Tabular, str]:
        """Executes one statement. Returns its result, and the line for people where it has no columns."""
        if not isinstance(statement, str):
            result = self.statements.execute(statement)
            if self._rows is not None:
                self._rows.forget_tables()
            return result, done_text(statement)
        from metastored.statements.refused import words_of

        assert self._rows is not None
        rows, more = self._rows.run(statement, self.statements.current)
        if more:
            count = len(rows.rows)
            print(f"the first {count:,} rows; --limit shows more, --limit 0 all", file=sys.stderr, flush=True)
        return rows, harmless(f"ok: {words_of(statement)}")

    def close(self) -> None:
        """Stops Spark, if it was started."""
        if self._rows is not None:
            self._rows.close()
