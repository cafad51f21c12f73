"""Hive type strings: two parsers to a small immutable tree, its printer, and the metastore's two checks on
types.

The metastore checks only the first word of a column's type and stores the rest as it is written
(`is_valid_column_type`), and it compares types only when a table is altered (`are_compatible`). A table can therefore
have the type `decimal(10, 2)` or `array< int >`. `parse_type` accepts Hive's own spelling, `read_type` every spelling
that a metastore may return. Nothing here knows the types of Spark, Iceberg or Arrow.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from metastored.hive.generation import Generation
from metastored.hive.limits import MAX_TYPE, shortened
from metastored.hive.quoting import backquoted


class TypeSyntaxError(ValueError):
    """A text that is not a Hive type; the message has the position and what was expected there."""


# --- the tree ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Primitive:
    """A type that is only a name: `int`, `string`, `timestamp with local time zone`, `void` …"""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Decimal:
    precision: int = 10
    scale: int = 0

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True)
class Char:
    length: int

    def __str__(self) -> str:
        return f"char({self.length})"


@dataclass(frozen=True, slots=True)
class Varchar:
    length: int

    def __str__(self) -> str:
        return f"varchar({self.length})"


@dataclass(frozen=True, slots=True)
class Array:
    element: "HiveType"

    def __str__(self) -> str:
        return f"array<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map:
    key: "HiveType"
    value: "HiveType"

    def __str__(self) -> str:
        return f"map<{self.key},{self.value}>"


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a struct. A name that would break the type string apart, or has blanks around it, is printed in
    backticks."""

    name: str
    type: "HiveType"

    def __str__(self) -> str:
        plain = _FIELD_NAME.fullmatch(self.name) is not None and self.name == self.name.strip()
        name = self.name if plain else backquoted(self.name)
        return f"{name}:{self.type}"


@dataclass(frozen=True, slots=True)
class Struct:
    fields: tuple[Field, ...]

    def __str__(self) -> str:
        return f"struct<{','.join(map(str, self.fields))}>"


@dataclass(frozen=True, slots=True)
class Union:
    alternatives: "tuple[HiveType, ...]"

    def __str__(self) -> str:
        return f"uniontype<{','.join(map(str, self.alternatives))}>"


HiveType = Primitive | Decimal | Char | Varchar | Array | Map | Struct | Union

_PRIMITIVES = frozenset(
    {
        *("void", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary"),
        *("date", "datetime", "timestamp", "timestamp with local time zone", "timestamp with time zone"),
        *("interval_year_month", "interval_day_time"),
    }
)

MAX_DECIMAL_PRECISION = 38
MAX_CHAR_LENGTH = 255
MAX_VARCHAR_LENGTH = 65535
# Deep enough for any schema, shallow enough that no text can exhaust Python's stack.
MAX_DEPTH = 100


# --- the parser --------------------------------------------------------------------------------------------

_FIELD_NAME = re.compile("[^`:,<>()]+")
_QUOTED_NAME = re.compile("`((?:[^`]|``)*)`")
_TYPE_NAME = re.compile("[a-z_]+(?: [a-z]+)*")
_NUMBER = re.compile("[0-9]{1,9}")


def parse_type(text: str) -> HiveType:
    """The tree of a type string.

    Names of types are lower case, and have no spaces around them, as Hive writes them.
    """
    _check_length(text)
    parser = _Parser(text)
    parsed = parser.type(0)
    if parser.position != len(text):
        raise parser.error("the end")
    return parsed


def read_type(text: str) -> HiveType:
    """The tree of a type string in any spelling: capitals, blanks around every sign, comments in structs.

    `DECIMAL (10, 2)`, `struct< a : int comment 'x' >` and `double precision` are read. Raises TypeSyntaxError.
    """
    _check_length(text)
    parser = _AnySpelling(text)
    parsed = parser.type(0)
    parser.skip()
    if parser.position != len(text):
        raise parser.error("the end")
    return parsed


def _check_length(text: str) -> None:
    if len(text) > MAX_TYPE:
        raise TypeSyntaxError(f"a type of {len(text)} characters ({shortened(text)}); at most {MAX_TYPE} are accepted")


class _Parser:
    """Recursive descent over one type string; `position` is the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def error(self, expected: str) -> TypeSyntaxError:
        actual = repr(self.text[self.position : self.position + 20]) if self.position < len(self.text) else "the end"
        return TypeSyntaxError(
            f"Error: {expected} expected at the position {self.position} of '{self.text}' but {actual} is found."
        )

    def match(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        match = pattern.match(self.text, self.position)
        if match is None:
            raise self.error(expected)
        self.position = match.end()
        return match

    def peek(self, character: str) -> bool:
        return self.text.startswith(character, self.position)

    def expect(self, character: str) -> None:
        if not self.peek(character):
            raise self.error(character)
        self.position += 1

    def accept(self, character: str) -> bool:
        if not self.peek(character):
            return False
        self.position += 1
        return True

    def type(self, depth: int) -> HiveType:
        if depth > MAX_DEPTH:
            raise TypeSyntaxError(f"types are nested deeper than {MAX_DEPTH} levels in '{self.text[:60]}…'")
        start = self.position
        name = self.type_name()
        match name:
            case _ if name in _PRIMITIVES:
                return Primitive(name)
            case "decimal":
                return self.decimal()
            case "char":
                return Char(self.length("char", MAX_CHAR_LENGTH))
            case "varchar":
                return Varchar(self.length("varchar", MAX_VARCHAR_LENGTH))
            case "array":
                return Array(self.exactly(1, depth)[0])
            case "map":
                return Map(*self.exactly(2, depth))
            case "struct":
                return self.struct(depth)
            case "uniontype":
                return Union(self.some(depth))
        self.position = start
        raise self.error("type")

    def type_name(self) -> str:
        return self.match(_TYPE_NAME, "type")[0]

    def number(self, what: str, low: int, high: int) -> int:
        number = int(self.match(_NUMBER, what)[0])
        if not low <= number <= high:
            raise TypeSyntaxError(f"{what} {number} out of allowed range [{low}, {high}] in '{self.text}'")
        return number

    def decimal(self) -> Decimal:
        if not self.accept("("):
            return Decimal()
        precision = self.number("decimal precision", 1, MAX_DECIMAL_PRECISION)
        scale = self.number("decimal scale", 0, precision) if self.accept(",") else 0
        self.expect(")")
        return Decimal(precision, scale)

    def length(self, what: str, most: int) -> int:
        if not self.accept("("):
            raise TypeSyntaxError(f"{what} type is specified without length: {self.text}")
        length = self.number(f"{what} length", 1, most)
        self.expect(")")
        return length

    def exactly(self, count: int, depth: int) -> tuple[HiveType, ...]:
        self.expect("<")
        members = [self.type(depth + 1)]
        while len(members) < count:
            self.expect(",")
            members.append(self.type(depth + 1))
        self.expect(">")
        return tuple(members)

    def some(self, depth: int) -> tuple[HiveType, ...]:
        self.expect("<")
        members = [self.type(depth + 1)]
        while self.accept(","):
            members.append(self.type(depth + 1))
        self.expect(">")
        return tuple(members)

    def struct(self, depth: int) -> Struct:
        self.expect("<")
        if self.accept(">"):
            return Struct(())
        fields = [self.field(depth)]
        while self.accept(","):
            fields.append(self.field(depth))
        self.expect(">")
        return Struct(tuple(fields))

    def field(self, depth: int) -> Field:
        if self.peek("`"):
            name = self.match(_QUOTED_NAME, "a closed `name`")[1].replace("``", "`")
        else:
            name = self.match(_FIELD_NAME, "name")[0]
        self.expect(":")
        return Field(name, self.type(depth + 1))


_BLANKS = re.compile(r"\s*")
_SYNONYMS = {"double precision": "double", "timestamp without time zone": "timestamp"}
_LONG_NAMES = sorted({*_PRIMITIVES, *_SYNONYMS}, key=len, reverse=True)
_ANY_NAME = re.compile(
    "(?:" + "|".join(name.replace(" ", r"\s+") for name in _LONG_NAMES if " " in name) + r")\b|[a-z_]+", re.IGNORECASE
)
_FIELD_COMMENT = re.compile(r"comment\s+(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", re.IGNORECASE)


class _AnySpelling(_Parser):
    """The same grammar with blanks between all signs and names of types in any case."""

    def skip(self) -> None:
        self.position = _BLANKS.match(self.text, self.position).end()  # type: ignore[union-attr]

    def match(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        self.skip()
        return super().match(pattern, expected)

    def peek(self, character: str) -> bool:
        self.skip()
        return super().peek(character)

    def type_name(self) -> str:
        name = " ".join(self.match(_ANY_NAME, "type")[0].lower().split())
        return _SYNONYMS.get(name, name)

    def field(self, depth: int) -> Field:
        is_quoted = self.peek("`")
        parsed = super().field(depth)
        self.skip()
        comment = _FIELD_COMMENT.match(self.text, self.position)
        if comment is not None:
            self.position = comment.end()
        return parsed if is_quoted else Field(parsed.name.strip(), parsed.type)


# --- what the metastore checks -----------------------------------------------------------------------------

TYPE_FROM_DESERIALIZER = "<derived from deserializer>"

_COLUMN_TYPE_WORDS = frozenset(
    {
        *(name for name in _PRIMITIVES if " " not in name),
        *("decimal", "char", "varchar", "array", "map", "struct", "uniontype"),
    }
)
# Java's Character.isLetterOrDigit and the underscore; Python's \w matches the same for the characters of types.
# made of.
_FIRST_WORD = re.compile(r"\w+")


def is_valid_column_type(text: str) -> bool:
    """Whether create_table accepts this column type: only its first word is read, in lower case."""
    if text == TYPE_FROM_DESERIALIZER:
        return True
    first = _FIRST_WORD.match(text)
    return first is not None and first[0] in _COLUMN_TYPE_WORDS


# Each may be changed to any type after it.
_NUMERIC_ORDER = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")
_STRINGS = frozenset({"string", "varchar", "char"})
_DATETIMES = frozenset({"date", "datetime", "timestamp"})
_PRIMITIVE_WORDS = _COLUMN_TYPE_WORDS - {"array", "map", "struct", "uniontype"}
_ALIASES = {"integer": "int", "numeric": "decimal"}


def are_compatible(old: str, new: str, generation: Generation) -> bool:
    """Whether a column may change from `old` to `new` while disallow.incompatible.col.type.changes is on.

    Hive 2.3 compares nested types completely; later generations compare only the outermost word, so that any array may
    become any other. Hive 4 no longer allows string to double.
    """
    if old == new:
        return True
    before, after = _word(old), _word(new)
    if before == after:
        return before in _PRIMITIVE_WORDS or generation >= Generation.HIVE_3_1
    if before not in _PRIMITIVE_WORDS or after not in _PRIMITIVE_WORDS:
        return False
    if before in _NUMERIC_ORDER and after in _NUMERIC_ORDER:
        return _NUMERIC_ORDER.index(before) < _NUMERIC_ORDER.index(after)
    if after in _STRINGS:
        return before == "void" or before in _STRINGS or before in _DATETIMES or before in _NUMERIC_ORDER
    if before in _STRINGS:
        return after == "double" and generation < Generation.HIVE_4_0
    return before == "void"


def _word(text: str) -> str:
    first = _FIRST_WORD.match(text.lower())
    word = first[0] if first else ""
    return _ALIASES.get(word, word)


def incompatible_columns(
    old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]], generation: Generation
) -> list[str]:
    """The names of new columns whose type is not compatible with the old column in the same position.

    Columns are pairs of name and type. Only positions matter: columns beyond the shorter list are not checked.
    """
    return [
        name
        for (_, before), (name, after) in zip(old, new, strict=False)
        if not are_compatible(before, after, generation)
    ]
