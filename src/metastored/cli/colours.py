"""Colours of the output: only on a terminal, and never if the variable NO_COLOR is set (https://no-color.org)."""

from __future__ import annotations

import os
from typing import Final, Literal, TextIO

Colour = Literal["red", "green", "yellow", "bold"]
_CODES: Final[dict[Colour, str]] = {"red": "31", "green": "32", "yellow": "33", "bold": "1"}


def has_colours(stream: TextIO) -> bool:
    """Whether text with colours may be written to the stream."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def painted(text: str, colour: Colour, stream: TextIO) -> str:
    """The text in a colour, for a stream that has colours; otherwise the text as it is."""
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if has_colours(stream) else text
