"""Hive's own readers and writers of transactional tables, of 3.1.3 and 4.0.1: `java/HiveAcid.java`, driven in JSON.

A `HiveFiles` collects commands, and the Java process of its version runs them: it is started at the first use and ends
with this process, since it takes longer to start and to load Hive's classes than to read the files of a test. No
metastore takes part: the ids that a reader sees are given as texts, as Hive has them in the configuration of a job.
"""

from __future__ import annotations

import atexit
import json
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from tests.support.apache import StartFailure, hive_exec_command

VERSIONS: Final = ("3.1.3", "4.0.1")
READERS: Final = ("row", "batch")
"""Hive reads row by row, or in batches ("vectorized"): by two separate implementations of deletes and snapshots."""
ALL_TRANSACTIONS: Final = "9223372036854775806:9223372036854775807::"
"""All transactions are committed."""

Event = dict[str, Any]
RowId = tuple[int, int, int]
"""The write id, the value of the column `bucket`, and the number of a row."""


def inserted(*values: Any, write_id: int | None = None) -> Event:
    return {"kind": "insert", "row": [to_json(each) for each in values], "write_id": write_id}


def updated(row_id: RowId, *values: Any) -> Event:
    return {"kind": "update", "row": [to_json(each) for each in values], "id": row_id}


def deleted(row_id: RowId) -> Event:
    return {"kind": "delete", "id": row_id}


class HiveError(Exception):
    """An exception of Hive's classes."""


@dataclass(frozen=True)
class Found:
    """What Hive's reader returned."""

    splits: list[tuple[str, int, int]]
    """The file, the start and the length of each split."""
    rows: list[tuple[Any, ...]]
    """Sorted rows, in the form of `comparable`; the row reader adds the id of each row."""


@dataclass
class HiveFiles:
    """Commands for Hive's classes of one version, on tables with these columns."""

    version: str
    columns: Mapping[str, str]
    _commands: list[dict[str, Any]] = field(default_factory=list)

    def write(
        self,
        location: Path,
        events: Iterable[Event],
        write_id: int,
        *,
        high: int | None = None,
        bucket: int = 0,
        statement: int = 0,
        base: bool = False,
        **more: int,
    ) -> None:
        """Events of one writer: a delta, and a delete delta if rows are deleted; or a base.

        `more` has what only Hive 4 writes into names: `attempt` and `visibility`.
        """
        self._add(
            "write", location, events=list(events), low=write_id, high=high or write_id, bucket=bucket,
            statement=statement, base=base, **more,
        )  # fmt: skip

    def write_original(self, path: Path, rows: Iterable[Sequence[Any]]) -> None:
        """A file from before a table was transactional."""
        self._add("original", path, rows=[[to_json(value) for value in row] for row in rows])

    def read(
        self,
        location: Path,
        write_ids: str,
        *,
        reader: str = "row",
        transactions: str = ALL_TRANSACTIONS,
        settings: Mapping[str, str] | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        """`columns` are those of another table than the one that the commands are mostly about."""
        self._add(
            "read", location, write_ids=write_ids, reader=reader, transactions=transactions,
            settings=dict(settings or {}), **({} if columns is None else _described(columns)),
        )  # fmt: skip

    def directories(self, location: Path, write_ids: str, transactions: str = ALL_TRANSACTIONS) -> None:
        self._add("directories", location, write_ids=write_ids, transactions=transactions)

    def buckets(self, rows: Iterable[Sequence[Any]], count: int, columns: Mapping[str, str]) -> None:
        """The buckets of rows with these columns, by versions 1 and 2 of the hash."""
        values = [[to_json(value) for value in row] for row in rows]
        self._add("buckets", Path("/"), rows=values, count=count, **_described(columns))

    def _add(self, command: str, location: Path, **more: Any) -> None:
        self._commands.append({"command": command, "location": str(location), **_described(self.columns), **more})

    def run(self) -> list[Any]:
        """Runs the commands, and returns the results of those that have one.

        Raises HiveError with the stack trace of the first command that failed, and MissingPeer without hive-exec.
        """
        commands, self._commands = self._commands, []
        program = program_of(self.version)
        answers = [program.answer(command) for command in commands]
        results: list[Any] = []
        for command, result in zip(commands, answers, strict=True):
            if isinstance(result, dict) and "error" in result:
                raise HiveError(f"{command['command']} of {command['location']} failed: {result['error']}")
            if command["command"] == "read":
                types = [*command["types"], *([_ROW_ID] if command["reader"] == "row" else [])]
                rows = [tuple(map(from_json, row, types)) for row in result["rows"]]
                results.append(Found([tuple(each) for each in result["splits"]], sorted(rows, key=repr)))
            elif result is not None:
                results.append(result)
        return results


class Program:
    """A running `HiveAcid` of one version. It never outlives this process: it ends when its input is closed."""

    def __init__(self, version: str) -> None:
        command = hive_exec_command(version, "HiveAcid")
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - it is open until the program ends.
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, encoding="utf-8"
        )

    def answer(self, command: Mapping[str, Any]) -> Any:
        """What Hive's classes return for a command."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            status = self.process.wait(_END_TIMEOUT)
            self._log.seek(0)
            raise StartFailure(f"HiveAcid ended with status {status}:\n{self._log.read().decode(errors='replace')}")
        return json.loads(line)

    def stop(self) -> None:
        for stream in (self.process.stdin, self.process.stdout, self._log):
            if stream is not None:
                stream.close()
        self.process.wait(_END_TIMEOUT)


_END_TIMEOUT: Final = 60.0
_running: Final[dict[str, Program]] = {}


def program_of(version: str) -> Program:
    """The program of a version, which is started if there is none. Raises MissingPeer without hive-exec."""
    program = _running.get(version)
    if program is None or program.process.poll() is not None:
        program = _running[version] = Program(version)
    return program


@atexit.register
def stop_all() -> None:
    """Ends all of them."""
    while _running:
        _running.popitem()[1].stop()


def _described(columns: Mapping[str, str]) -> dict[str, list[str]]:
    return {"names": list(columns), "types": list(columns.values())}


# --- values ------------------------------------------------------------------------------------------------

_ROW_ID: Final = "struct<writeid:bigint,bucketid:int,rowid:bigint>"


def to_json(value: Any) -> Any:
    """A value of Python as the program reads it: structs as tuples, maps as lists of pairs."""
    match value:
        case None | bool() | int() | str():
            return value
        case bytes() | bytearray():
            return bytes(value).hex()
        case dict():
            return [[to_json(key), to_json(each)] for key, each in value.items()]
        case list() | tuple():
            return [to_json(each) for each in value]
        case float():
            return str(value).replace("nan", "NaN").replace("inf", "Infinity")  # As Java has them.
        case _:
            return str(value)


def from_json(value: Any, type: str) -> Any:
    """A value as the program prints it, as `comparable` has it. Lists, maps and structs hold integers and texts."""
    if value is None:
        return None
    name = type.partition("(")[0].partition("<")[0]
    match name:
        case "float" | "double":
            return repr(float(value))
        case "decimal":
            return repr(Decimal(value).normalize())
        case "char":
            # The spaces at the end are no part of a char: the vectorized reader leaves them out.
            return value.ljust(int(type[len("char(") : -1]))
        case "timestamp":
            return datetime.fromisoformat(value).isoformat()
        case "map":
            return tuple(sorted(tuple(map(_frozen, pair)) for pair in value))
    return _frozen(value)


def comparable(value: Any) -> Any:
    """A value of Spark as `from_json` returns it."""
    match value:
        case float():
            return repr(value)
        case Decimal():
            return repr(value.normalize())
        case date():
            return value.isoformat()
        case bytes() | bytearray():
            return bytes(value).hex()
        case dict():
            return tuple(sorted((comparable(key), comparable(each)) for key, each in value.items()))
        case list() | tuple():
            return tuple(comparable(each) for each in value)
    return value


def _frozen(value: Any) -> Any:
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value
