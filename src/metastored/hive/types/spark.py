"""Hive types as Spark writes them and back: type strings, DDL, and the JSON of a schema. No pyspark is imported.

Spark reads Hive's `timestamp` as its own TIMESTAMP and writes it so; `timestamp_ntz` becomes `timestamp` as well, and
`timestamp with local time zone` is TIMESTAMP_LTZ. Spark has no union: it is shown as a struct of a tag and one field
for each alternative, as Trino does. The part of a type that Spark cannot express is in the metadata of a schema's
column: under Spark's own key for char and varchar, under `HIVE_TYPE_STRING` for the rest; so a schema's JSON is
converted back unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, NoReturn

from metastored.errors import ConversionError
from metastored.hive.types.type_strings import (
    MAX_CHAR_LENGTH,
    MAX_DECIMAL_PRECISION,
    MAX_DEPTH,
    MAX_VARCHAR_LENGTH,
    Array,
    Char,
    Decimal,
    Field,
    HiveType,
    Map,
    Primitive,
    Struct,
    TypeSyntaxError,
    Union,
    Varchar,
    parse_type,
)

CHAR_VARCHAR: Final = "__CHAR_VARCHAR_TYPE_STRING"
"""The key under which Spark keeps the declared type of a column that holds char or varchar."""
HIVE_TYPE: Final = "HIVE_TYPE_STRING"
"""Where Hive's own text is kept when Spark has no such type."""
DEFAULT: Final = "CURRENT_DEFAULT"
"""The metadata of a column's default; Spark keeps the first default of a column beside it, under `EXISTS_DEFAULT`."""
GENERATED: Final = "GENERATION_EXPRESSION"
"""The metadata of a generated column's expression."""


class SparkColumn(NamedTuple):
    """A column of a schema."""

    name: str
    type: HiveType
    comment: str | None = None
    nullable: bool = True
    default: str | None = None
    """The SQL expression of the default value."""
    generated: str | None = None
    """The SQL expression of a generated column."""


# --- type strings ------------------------------------------------------------------------------------------

_TO_SPARK: Final = {
    "datetime": "timestamp",
    "timestamp with local time zone": "timestamp_ltz",
    "timestamp with time zone": "timestamp_ltz",
    "interval_year_month": "interval year to month",
    "interval_day_time": "interval day to second",
}
_FROM_SPARK: Final = {
    "void": "void", "null": "void", "boolean": "boolean", "tinyint": "tinyint", "byte": "tinyint",
    "smallint": "smallint", "short": "smallint", "int": "int", "integer": "int", "bigint": "bigint", "long": "bigint",
    "float": "float", "real": "float", "double": "double", "string": "string", "binary": "binary", "date": "date",
    "timestamp": "timestamp", "timestamp_ntz": "timestamp", "timestamp_ltz": "timestamp with local time zone",
}  # fmt: skip
_INTERVALS: Final = {
    **dict.fromkeys(("year", "month"), "interval_year_month"),
    **dict.fromkeys(("day", "hour", "minute", "second"), "interval_day_time"),
}


def to_spark(type: HiveType) -> str:
    """The type as Spark's SQL has it: `struct<a:decimal(10,2)>`."""
    match type:
        case Primitive(name):
            return _TO_SPARK.get(name, name)
        case Array(element):
            return f"array<{to_spark(element)}>"
        case Map(key, value):
            return f"map<{to_spark(key)},{to_spark(value)}>"
        case Struct(fields):
            return f"struct<{','.join(f'{_quoted(each.name)}:{to_spark(each.type)}' for each in fields)}>"
        case Union():
            return to_spark(_as_struct(type))
    return str(type)


def from_spark(text: str) -> HiveType:
    """Reads a type of Spark's SQL, in small letters or capitals, with or without blanks, NOT NULL and comments."""
    parser = _Parser(text)
    type = parser.type(0)
    parser.end()
    return type


def from_spark_ddl(text: str) -> list[SparkColumn]:
    """Reads the columns of `a INT NOT NULL COMMENT 'the number', b ARRAY<STRING>`."""
    parser = _Parser(text)
    columns = [parser.column(0)]
    while parser.accept(","):
        columns.append(parser.column(0))
    parser.end()
    return columns


def to_spark_ddl(columns: Iterable[SparkColumn]) -> str:
    """Writes the text that `from_spark_ddl` reads."""
    return ", ".join(
        f"{_quoted(each.name)} {to_spark(each.type)}"
        + ("" if each.nullable else " NOT NULL")
        + ("" if each.default is None else f" DEFAULT {each.default}")
        + ("" if each.generated is None else f" GENERATED ALWAYS AS ({each.generated})")
        + (" COMMENT '" + _escaped(each.comment) + "'" if each.comment else "")
        for each in columns
    )


def _escaped(comment: str) -> str:
    return comment.replace("\\", "\\\\").replace("'", "\\'")


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name) else "`" + name.replace("`", "``") + "`"


def _as_struct(union: Union) -> Struct:
    members = (Field(f"field{at}", each) for at, each in enumerate(union.alternatives))
    return Struct((Field("tag", Primitive("tinyint")), *members))


_BLANK = re.compile(r"\s*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_NAME = re.compile(r"[^\s`:,<>()]+")
_QUOTED = re.compile(r"`((?:[^`]|``)*)`")
_NUMBER = re.compile(r"-?\d{1,9}")
_EXPRESSION = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\w+|.", re.DOTALL)
_COMMENT = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)


class _Parser:
    """Recursive descent over one text; blanks between words are ignored."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def match(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        self.position = _BLANK.match(self.text, self.position).end()  # type: ignore[union-attr]
        match = pattern.match(self.text, self.position)
        if match is None:
            self.fail(expected)
        self.position = match.end()
        return match

    def fail(self, expected: str) -> NoReturn:
        rest = repr(self.text[self.position : self.position + 20]) if self.position < len(self.text) else "the end"
        raise ConversionError(f"{expected} was expected in {self.text!r} at {self.position}, not {rest}")

    def accept(self, sign: str) -> bool:
        position = _BLANK.match(self.text, self.position).end()  # type: ignore[union-attr]
        if not self.text.startswith(sign, position):
            return False
        self.position = position + len(sign)
        return True

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            self.fail(sign)

    def word(self, *words: str) -> bool:
        """Consumes these words, if they are next."""
        start = self.position
        for each in words:
            self.position = _BLANK.match(self.text, self.position).end()  # type: ignore[union-attr]
            match = _WORD.match(self.text, self.position)
            if match is None or match[0].lower() != each:
                self.position = start
                return False
            self.position = match.end()
        return True

    def end(self) -> None:
        self.position = _BLANK.match(self.text, self.position).end()  # type: ignore[union-attr]
        if self.position != len(self.text):
            self.fail("the end")

    def type(self, depth: int) -> HiveType:
        if depth > MAX_DEPTH:
            raise ConversionError(f"types are nested deeper than {MAX_DEPTH} levels in {self.text[:60]!r}…")
        start = self.position
        name = self.match(_WORD, "a type")[0].lower()
        match name:
            case "timestamp" if self.word("with", "local", "time", "zone"):
                return Primitive("timestamp with local time zone")
            case "timestamp" if self.word("without", "time", "zone"):
                return Primitive("timestamp")
            case "decimal" | "dec" | "numeric":
                return self.decimal()
            case "char" | "character":
                return Char(self.length(MAX_CHAR_LENGTH))
            case "varchar":
                return Varchar(self.length(MAX_VARCHAR_LENGTH))
            case "interval":
                return self.interval()
            case "array":
                (element,) = self.members(1, depth)
                return Array(element)
            case "map":
                key, value = self.members(2, depth)
                return Map(key, value)
            case "struct":
                return self.struct(depth)
            case _ if name in _FROM_SPARK:
                if name == "string" and self.word("collate"):
                    self.match(_NAME, "the name of a collation")
                return Primitive(_FROM_SPARK[name])
        self.position = start
        raise ConversionError(f"Hive has no type for Spark's {name!r} in {self.text!r}")

    def number(self, low: int, high: int) -> int:
        number = int(self.match(_NUMBER, "a number")[0])
        if not low <= number <= high:
            raise ConversionError(f"{number} in {self.text!r} is not between {low} and {high}, as Hive needs it")
        return number

    def decimal(self) -> HiveType:
        if not self.accept("("):
            return Decimal()
        precision = self.number(1, MAX_DECIMAL_PRECISION)
        scale = self.number(0, precision) if self.accept(",") else 0
        self.expect(")")
        return Decimal(precision, scale)

    def length(self, most: int) -> int:
        self.expect("(")
        length = self.number(1, most)
        self.expect(")")
        return length

    def interval(self) -> HiveType:
        unit = self.match(_WORD, "a unit of the interval")[0].lower()
        if unit not in _INTERVALS:
            self.fail("a unit of the interval")
        if self.word("to"):
            last = self.match(_WORD, "a unit of the interval")[0].lower()
            if _INTERVALS.get(last) != _INTERVALS[unit]:
                self.fail("a unit of the same kind of interval")
        return Primitive(_INTERVALS[unit])

    def members(self, count: int, depth: int) -> tuple[HiveType, ...]:
        self.expect("<")
        types = [self.type(depth + 1)]
        while len(types) < count:
            self.expect(",")
            types.append(self.type(depth + 1))
        self.expect(">")
        return tuple(types)

    def struct(self, depth: int) -> Struct:
        self.expect("<")
        if self.accept(">"):
            return Struct(())
        columns = [self.column(depth + 1)]
        while self.accept(","):
            columns.append(self.column(depth + 1))
        self.expect(">")
        return Struct(tuple(Field(each.name, each.type) for each in columns))

    def column(self, depth: int) -> SparkColumn:
        self.position = _BLANK.match(self.text, self.position).end()  # type: ignore[union-attr]
        if self.text.startswith("`", self.position):
            name = self.match(_QUOTED, "a closed `name`")[1].replace("``", "`")
        else:
            name = self.match(_NAME, "a name")[0]
        self.accept(":")
        type = self.type(depth)
        nullable, comment, default, generated = True, None, None, None
        while True:
            if self.word("not", "null"):
                nullable = False
            elif self.word("default"):
                default = self.expression()
            elif self.word("generated", "always", "as"):
                self.expect("(")
                generated = self.expression()
                self.expect(")")
            elif self.word("comment"):
                found = self.match(_COMMENT, "a comment in quotes")
                comment = re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2], flags=re.DOTALL)
            else:
                return SparkColumn(name, type, comment or None, nullable, default, generated)

    def expression(self) -> str:
        """The text of an SQL expression: up to a comma, a closing parenthesis or the next clause of the column."""
        start, depth = self.position, 0
        while self.position < len(self.text):
            found = _EXPRESSION.match(self.text, self.position)
            assert found is not None  # Every character is a part.
            if depth == 0 and (found[0] in (",", ")") or found[0].lower() in ("comment", "not", "generated")):
                break
            depth += {"(": 1, ")": -1}.get(found[0], 0)
            self.position = found.end()
        expression = self.text[start : self.position].strip()
        if not expression:
            self.fail("an expression")
        return expression


# --- the JSON of a schema ----------------------------------------------------------------------------------

_JSON_NAMES: Final = {
    "tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long", "timestamp_ltz": "timestamp",
}  # fmt: skip


def to_spark_json(columns: Iterable[SparkColumn]) -> str:
    """The schema as Spark keeps it in `spark.sql.sources.schema`."""
    return json.dumps({"type": "struct", "fields": [json_column(each) for each in columns]}, separators=(",", ":"))


def from_spark_json(text: str) -> list[SparkColumn]:
    """Reads a schema that Spark wrote."""
    try:
        schema = json.loads(text)
        fields = schema["fields"]
        return [_column_of(each) for each in fields]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConversionError(f"not a schema of Spark: {error}: {text[:80]}") from error


def json_column(column: SparkColumn) -> dict[str, Any]:
    """A column as it is in the JSON of a schema."""
    metadata: dict[str, Any] = {"comment": column.comment} if column.comment else {}
    plain = _json_type(column.type)
    if _of_json(plain, 0) != column.type:
        only_texts = _without_lengths(column.type)
        exact = only_texts != column.type and _of_json(_json_type(only_texts), 0) == only_texts
        metadata[CHAR_VARCHAR if exact else HIVE_TYPE] = to_spark(column.type) if exact else str(column.type)
    if column.default is not None:
        metadata |= {DEFAULT: column.default, "EXISTS_DEFAULT": column.default}
    if column.generated is not None:
        metadata[GENERATED] = column.generated
    return {"name": column.name, "type": plain, "nullable": column.nullable, "metadata": metadata}


def _json_type(type: HiveType) -> Any:
    """Without char and varchar, which Spark keeps in a column's metadata."""
    match type:
        case Char() | Varchar():
            return "string"
        case Array(element):
            return {"type": "array", "elementType": _json_type(element), "containsNull": True}
        case Map(key, value):
            types = {"keyType": _json_type(key), "valueType": _json_type(value)}
            return {"type": "map", **types, "valueContainsNull": True}
        case Struct(fields):
            inner = [_json_column_plain(each) for each in fields]
            return {"type": "struct", "fields": inner}
        case Union():
            return _json_type(_as_struct(type))
    text = to_spark(type)
    return _JSON_NAMES.get(text, text)


def _json_column_plain(field: Field) -> dict[str, Any]:
    return {"name": field.name, "type": _json_type(field.type), "nullable": True, "metadata": {}}


def _without_lengths(type: HiveType) -> HiveType:
    return _mapped(type, lambda each: Primitive("string") if isinstance(each, Char | Varchar) else each)


def _mapped(type: HiveType, change: Callable[[HiveType], HiveType]) -> HiveType:
    match type:
        case Array(element):
            return Array(_mapped(element, change))
        case Map(key, value):
            return Map(_mapped(key, change), _mapped(value, change))
        case Struct(fields):
            return Struct(tuple(Field(each.name, _mapped(each.type, change)) for each in fields))
        case Union(alternatives):
            return Union(tuple(_mapped(each, change) for each in alternatives))
    return change(type)


def _column_of(field: Mapping[str, Any]) -> SparkColumn:
    metadata = field.get("metadata") or {}
    type = _of_json(field["type"], 0)
    for key, read in ((CHAR_VARCHAR, from_spark), (HIVE_TYPE, parse_type)):
        if key in metadata:
            try:
                declared = read(metadata[key])
            except TypeSyntaxError as error:
                raise ConversionError(f"column {field['name']!r}: {error}") from error
            # Otherwise the type of the column was changed since.
            if _json_type(declared) == _json_type(type):
                type = declared
    return SparkColumn(
        field["name"],
        type,
        metadata.get("comment"),
        field.get("nullable", True),
        metadata.get(DEFAULT),
        metadata.get(GENERATED),
    )


def _of_json(type: Any, depth: int) -> HiveType:
    if depth > MAX_DEPTH:
        raise ConversionError(f"types are nested deeper than {MAX_DEPTH} levels")
    if isinstance(type, str):
        return from_spark(type)
    match type["type"]:
        case "array":
            return Array(_of_json(type["elementType"], depth + 1))
        case "map":
            return Map(_of_json(type["keyType"], depth + 1), _of_json(type["valueType"], depth + 1))
        case "struct":
            members = (Field(each["name"], _of_json(each["type"], depth + 1)) for each in type["fields"])
            return Struct(tuple(members))
        case "udt":
            return _of_json(type["sqlType"], depth + 1)
    raise ConversionError(f"Hive has no type for Spark's {type['type']!r}")
