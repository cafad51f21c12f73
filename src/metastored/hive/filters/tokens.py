"""The tokens of a partition filter, in the grammar of Hive 2.3 and 3.1 and in that of Hive 4.

The older lexer complains about a character and reads on, and only its last complaint reaches the client;
`Lexer` does the same and words it the same. Which tokens make a filter is for `filter_parser` to say.
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
    """A date written as yyyy-MM-dd, if it is one of the calendar."""
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


class Lexer:
    """Cuts a filter into tokens, and remembers the last complaint about what it could not read."""

    def __init__(self, text: str, generation: Generation) -> None:
        self.text = text
        self.is_new = generation >= Generation.HIVE_4_0
        self.keywords = _keywords(generation)
        self._complaint: tuple[int, str] | None = None
        self.tokens = self._read()

    @property
    def error(self) -> str | None:
        """The last complaint with its position, as the older servers word it."""
        if self._complaint is None:
            return None
        place, reason = self._complaint
        return f"{self.position(place)} {reason}"

    def position(self, place: int) -> str:
        before = self.text[:place]
        return f"line {before.count(chr(10)) + 1}:{place - before.rfind(chr(10)) - 1}"

    def _read(self) -> list[Token]:
        pattern = _NEW_TOKENS if self.is_new else _OLD_TOKENS
        tokens: list[Token] = []
        place = 0
        while place < len(self.text):
            match = pattern.match(self.text, place)
            if match is None:
                place = self._skip(place)
                continue
            place = match.end()
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
                self._complaint = end, f"mismatched character '{self._at(end)}' expecting set null"
                return None
            case "date" if not self.is_new and read_date(text) is None:
                reason = "rule DateLiteral failed predicate: { ExtractDate(getText()) != null }?"
                self._complaint = start + len(text), reason
                return None
        return Token(group, text, start)

    def _skip(self, place: int) -> int:
        """Note why nothing can be read here, and return where to go on."""
        character = self.text[place]
        if character in "'\"":
            self._complaint = len(self.text), f"mismatched character '<EOF>' expecting '{character}'"
            return len(self.text)
        following = f"character '{self._at(place + 1)}'"
        if character == "!":
            self._complaint = place + 1, f"mismatched {following} expecting '='"
        elif character == "-":
            self._complaint = place + 1, f"required (...)+ loop did not match anything at {following}"
        else:
            self._complaint = place, f"no viable alternative at character '{character.upper()}'"
        return place + 1

    def _at(self, place: int) -> str:
        return self.text[place] if place < len(self.text) else "<EOF>"
