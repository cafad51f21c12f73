"""The tokens of a partition filter, in the grammar of Hive 2.3 and 3.1 and in that of Hive 4.

The older lexer reports an error for a character and continues, and only its last error reaches the client; `Lexer` does
the same with the same text. The grammar is in `parser.py`.
"""

import re
from datetime import date
from typing import NamedTuple

from metastored.hive.generation import Generation


class Token(NamedTuple):
    kind: str
    text: str
    start: int


# As Hive 2.3 and 3.1 number them in messages such as NoViableAltException(13@[]).
NUMBERS = {
    "end": -1,
    "BETWEEN": 4,
    ",": 5,
    "date": 6,
    "=": 9,
    ">": 10,
    ">=": 11,
    "IN": 12,
    "identifier": 13,
    "integer": 14,
    "AND": 15,
    "CONST": 16,
    "LIKE": 18,
    "NOT": 19,
    "OR": 20,
    "STRUCT": 21,
    "<": 22,
    "<=": 23,
    "(": 24,
    "!=": 26,
    ")": 27,
    "string": 28,
}

_STRINGS = r"""(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_SPACE = r"(?P<space>[ \r\t\n]+)"
_OLD_TOKENS = re.compile(
    rf"""{_SPACE}|{_STRINGS}|(?P<date>\d{{4}}-\d\d-\d\d)|(?P<broken>\d{{4}}-\d{{0,2}})|(?P<integer>-\d+)"""
    r"""|(?P<word>[A-Za-z0-9][A-Za-z0-9_]*)|(?P<operator><=|>=|<>|!=|[<>=(),])""",
    re.DOTALL | re.ASCII,
)
_NEW_TOKENS = re.compile(
    rf"""{_SPACE}|{_STRINGS}|(?P<timestamp>\d{{4}}-\d\d-\d\d\ \d\d:\d\d:\d\d)|(?P<date>\d{{4}}-\d\d-\d\d)"""
    r"""|(?P<integer>-[ \r\t\n]*\d+)|(?P<word>[A-Za-z0-9_]+)|(?P<quoted>`(?:``|[^`])*`)"""
    r"""|(?P<operator><=>|<=|>=|<>|!=|==|[<>=(),])""",
    re.DOTALL | re.ASCII,
)
_OLD_KEYWORDS = frozenset({"AND", "OR", "NOT", "LIKE", "CONST", "STRUCT", "BETWEEN", "IN"})
_NEW_KEYWORDS = _OLD_KEYWORDS | {"DATE", "TIMESTAMP"}
_LATEST_KEYWORDS = _NEW_KEYWORDS | {"IS", "TRUE", "FALSE"}
_SYNONYMS = {"<>": "!=", "==": "="}


def _keywords(generation: Generation) -> frozenset[str]:
    if generation >= Generation.HIVE_4_2:
        return _LATEST_KEYWORDS
    return _NEW_KEYWORDS if generation >= Generation.HIVE_4_0 else _OLD_KEYWORDS


_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def read_date(text: str) -> date | None:
    """A date written as yyyy-MM-dd; None if it is not in the calendar."""
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


class Lexer:
    """Splits a filter into tokens, and keeps the last error about a text that it could not read."""

    def __init__(self, text: str, generation: Generation) -> None:
        self.text = text
        self.is_new = generation >= Generation.HIVE_4_0
        self.keywords = _keywords(generation)
        self._last_error: tuple[int, str] | None = None
        self.tokens = self._read()

    @property
    def error(self) -> str | None:
        """The last error with its position, in the words of the older servers."""
        if self._last_error is None:
            return None
        offset, reason = self._last_error
        return f"{self.position(offset)} {reason}"

    def position(self, offset: int) -> str:
        before = self.text[:offset]
        return f"line {before.count(chr(10)) + 1}:{offset - before.rfind(chr(10)) - 1}"

    def _read(self) -> list[Token]:
        pattern = _NEW_TOKENS if self.is_new else _OLD_TOKENS
        tokens: list[Token] = []
        offset = 0
        while offset < len(self.text):
            match = pattern.match(self.text, offset)
            if match is None:
                offset = self._skip(offset)
                continue
            offset = match.end()
            token = self._token(str(match.lastgroup), match[0], match.start())
            if token is not None:
                tokens.append(token)
        tokens.append(Token("end", "<EOF>", len(self.text)))
        return tokens

    def _token(self, group: str, text: str, start: int) -> Token | None:
        match group:
            case "space":
                return None
            case "word" if text.isdigit():
                return Token("integer", text, start)
            case "word" if text.upper() in self.keywords:
                return Token(text.upper(), text, start)
            case "word":
                return Token("identifier", text, start)
            case "quoted":
                return Token("identifier", text[1:-1].replace("``", "`"), start)
            case "operator":
                return Token(_SYNONYMS.get(text, text), text, start)
            case "broken":
                end = start + len(text)
                self._last_error = end, f"mismatched character '{self._at(end)}' expecting set null"
                return None
            case "date" if not self.is_new and read_date(text) is None:
                reason = "rule DateLiteral failed predicate: { ExtractDate(getText()) != null }?"
                self._last_error = start + len(text), reason
                return None
        return Token(group, text, start)

    def _skip(self, offset: int) -> int:
        """Records why the text here cannot be read; returns the position to continue at."""
        character = self.text[offset]
        if character in "'\"":
            self._last_error = len(self.text), f"mismatched character '<EOF>' expecting '{character}'"
            return len(self.text)
        following = f"character '{self._at(offset + 1)}'"
        if character == "!":
            self._last_error = offset + 1, f"mismatched {following} expecting '='"
        elif character == "-":
            self._last_error = offset + 1, f"required (...)+ loop did not match anything at {following}"
        else:
            self._last_error = offset, f"no viable alternative at character '{character.upper()}'"
        return offset + 1

    def _at(self, offset: int) -> str:
        return self.text[offset] if offset < len(self.text) else "<EOF>"
