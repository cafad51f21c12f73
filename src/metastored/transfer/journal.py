"""How far a transfer has come, so that the next run goes on there: lines appended to a file, whatever interrupts.

A line is written when what it says is done in the target. A line that was cut off is as good as none: what it would
have said is done again, which does no harm. A transfer that ends takes its journal away.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from metastored.errors import ConfigError
from metastored.store.engine.private import opener


class Journal:
    """The journal of one transfer, told from others by `of`. Without a path nothing is kept."""

    def __init__(self, path: Path | None, of: str) -> None:
        self.path: Final = path
        self._of = of
        self._done: set[str] = set()
        self._reached: dict[str, str] = {}
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        if self.path is None:
            return self
        try:
            kept = self._read(self.path) if self.path.exists() else False
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Names of tables are nobody else's business.
            self._file = open(
                self.path, "a" if kept else "w", encoding="utf-8", errors="surrogateescape", opener=opener
            )
        except OSError as error:
            raise ConfigError(f"the journal {self.path} cannot be written: {error.strerror or error}") from error
        if kept:
            self._file.write("\n")  # The last line may have been cut off.
        else:
            self._write({"of": self._of})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def goes_on(self) -> bool:
        """Whether an earlier run got somewhere."""
        return bool(self._done or self._reached)

    def is_done(self, key: str) -> bool:
        return key in self._done

    def done(self, key: str) -> None:
        self._reached.pop(key, None)
        self._done.add(key)
        self._write({"done": key})

    def reached(self, key: str) -> str | None:
        """The name up to which something long was done."""
        return self._reached.get(key)

    def reach(self, key: str, name: str) -> None:
        self._reached[key] = name
        self._write({"key": key, "reached": name})

    def finish(self) -> None:
        """The transfer is complete: the next one begins anew."""
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
        if not lines or lines[0].get("of") != self._of:
            return False
        for line in lines:
            if "done" in line:
                self._done.add(line["done"])
            elif "reached" in line:
                self._reached[line["key"]] = line["reached"]
        return True
