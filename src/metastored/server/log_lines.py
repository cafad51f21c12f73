"""The format of the server's log: one record is one line, whatever names a client sends.

Texts of clients (names, methods, SASL mechanisms, errors about them) reach the log only through `LineFormatter`, which
escapes characters that begin another line or move a terminal's cursor, and truncates long messages. It changes nothing
else.
"""

from __future__ import annotations

import logging
import re
from typing import Final

LINE_FORMAT: Final = "%(asctime)s %(levelname)s [%(process)d] %(message)s"
MAX_LINE: Final = 8 * 1024
"""The most characters of one message; the rest is replaced by its length."""

# Control characters of ASCII and Latin-1, the line and paragraph separators, marks that reverse text, and surrogates.
_HARMFUL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str) -> str:
    """The text on one line: a newline becomes `\\x0a`, and so on."""
    if len(text) > MAX_LINE:
        text = f"{text[:MAX_LINE]}… ({len(text) - MAX_LINE} more characters)"
    return text if text.isprintable() else _HARMFUL.sub(_code, text)


def _code(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


class LineFormatter(logging.Formatter):
    """Writes a record as one escaped line. The lines of a traceback follow, indented, so none looks like a record."""

    def __init__(self) -> None:
        super().__init__(LINE_FORMAT)

    def format(self, record: logging.LogRecord) -> str:
        record.message = escaped(record.getMessage())
        record.asctime = self.formatTime(record)
        line = self.formatMessage(record)
        below = self.formatException(record.exc_info) if record.exc_info else ""
        return line + "".join(f"\n    {escaped(each)}" for each in below.splitlines())
