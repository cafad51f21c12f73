"""The tokens of a partition filter, in the grammar of Hive 2.3 and 3.1 and in that of Hive 4.

The older lexer complains about a character and reads on, and only its last complaint reaches the client; `Lexer`
does the same and words it the same. Which tokens make a filter is for `filter_parser` to say.
"""

import re
from datetime import date
from typing import NamedTuple

from skep.hive.generation import Generation


class Token(NamedTuple):
    kind: str
    text: str
    start: int


# As Hive 2.3 and 3.1 number them in messages such as NoViableAltException(13@[]).
NUMBERS = {
    **{"end": -1, "BETWEEN": 4, ",": 5, "date": 6, "=": 9, ">": 10, ">=": 11, "IN": 12, "identifier": 13},
    **{
        "integer": 14,
        "AND": 15,
        "CONST": 16,
        "LIKE": 18,
        "NOT": 19,
        "OR": 20,
        "STRUCT": 21,
        "<": 22,
        "<=": 23,
    },
    **{"(": 24, "!=": 26, ")": 27, "string": 28},
}

_STRINGS = r"""(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_SPACE = r"(?P<space>[ \r\t\n]+)"
_OLD_TOKENS = re.compile(
    rf"""{_SPACE}|{_STRINGS}|(?P<date>\d{{4}}-\d\d-\d\d)|(?P<broken>\d{{4}}-)|(?P<integer>-\d+)"""
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


def read_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


class Lexer:
    """Cuts a filter into tokens. `error` is the last complaint, as the old servers report it; reading goes on."""

    def __init__(self, text: str, generation: Generation) -> None:
        self.text = text
        self.is_new = generation >= Generation.HIVE_4_0
        self.keywords = _keywords(generation)
        self.error: str | None = None
        self.tokens = self._read()

    def _read(self) -> list[Token]:
        pattern = _NEW_TOKENS if self.is_new else _OLD_TOKENS
        tokens: list[Token] = []
        place = 0
        while place < len(self.text):
            match = pattern.match(self.text, place)
            if match is None or match.lastgroup == "broken":
                place = self._complain(place)
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
            case "date" if not self.is_new and read_date(text) is None:
                end = self.position(start + len(text))
                self.error = f"{end} rule DateLiteral failed predicate: {{ ExtractDate(getText()) != null }}?"
                return None
        return Token(group, text, start)

    def _complain(self, place: int) -> int:
        """Note why nothing can be read here, and return where to go on."""
        character = self.text[place]
        if character in "'\"":
            end = len(self.text)
            self.error = f"{self.position(end)} mismatched character '<EOF>' expecting '{character}'"
            return end
        if character.isdigit() and character.isascii() and not self.is_new:
            while place < len(self.text) and self.text[place] in "0123456789":
                place += 1
            place += 1
            while place < len(self.text) and self.text[place] in "0123456789":
                place += 1
            self.error = f"{self.position(place)} mismatched character '{self._at(place)}' expecting set null"
            return len(self.text)
        following = f"{self.position(place + 1)} %s character '{self._at(place + 1)}'"
        if character == "!":
            self.error = following % "mismatched" + " expecting '='"
        elif character == "-" and not self.is_new:
            self.error = following % "required (...)+ loop did not match anything at"
        else:
            self.error = f"{self.position(place)} no viable alternative at character '{character.upper()}'"
        return place + 1

    def _at(self, place: int) -> str:
        return self.text[place] if place < len(self.text) else "<EOF>"

    def position(self, place: int) -> str:
        before = self.text[:place]
        return f"line {before.count(chr(10)) + 1}:{place - before.rfind(chr(10)) - 1}"
