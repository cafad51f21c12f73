"""The progress of a transfer, so that an interrupted transfer resumes: lines appended to a file.

A line is written after its object was written to the target. A truncated line is ignored: its object is written again,
which does no harm. A complete transfer deletes its journal.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from metastored.errors import ConfigError
from metastored.store.engine.private import opener


class Journal:
    """The journal of one transfer, identified by its fingerprint. Without a path nothing is stored."""

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        self.path: Final = path
        self._fingerprint = fingerprint
        self._done: set[str] = set()
        self._reached: dict[str, str] = {}
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        if self.path is None:
            return self
        try:
            kept = self._read(self.path) if self.path.exists() else False
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Readable by its owner only, since it contains names of tables.
            self._file = open(
                self.path, "a" if kept else "w", encoding="utf-8", errors="surrogateescape", opener=opener
            )
        except OSError as error:
            raise ConfigError(f"the journal {self.path} cannot be written: {error.strerror or error}") from error
        if kept:
            self._file.write("\n")  # The last line may have been cut off.
        else:
            self._write({"of": self._fingerprint})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def goes_on(self) -> bool:
        """Whether an earlier run made progress."""
        return bool(self._done or self._reached)

    def is_done(self, key: str) -> bool:
        return key in self._done

    def done(self, key: str) -> None:
        self._reached.pop(key, None)
        self._done.add(key)
        self._write({"done": key})

    def reached(self, key: str) -> str | None:
        """The name up to which a long step is done."""
        return self._reached.get(key)

    def reach(self, key: str, name: str) -> None:
        self._reached[key] = name
        self._write({"key": key, "reached": name})

    def finish(self) -> None:
        """The transfer is complete: deletes the journal, so that the next run starts from the beginning."""
        if self._file is not None and self.path is not None:
            self._file.close()
            self._file = None
            self.path.unlink(missing_ok=True)

    def _write(self, line: dict[str, str]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()

    def _read(self, path: Path) -> bool:
        """Whether the file is this transfer's."""
        lines = []
        for text in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            try:
                lines.append(json.loads(text))
            except ValueError:
                continue
        if not lines or lines[0].get("of") != self._fingerprint:
            return False
        for line in lines:
            if "done" in line:
                self._done.add(line["done"])
            elif "reached" in line:
                self._reached[line["key"]] = line["reached"]
        return True
