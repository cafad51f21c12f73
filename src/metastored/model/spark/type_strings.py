"""Spark's types as text: the form that Spark gives Hive's metastore, Spark's SQL, and the columns of a DDL. Pure.

`catalog_string` is Spark's `catalogString`: small letters, the names of a struct's fields unquoted, as Hive has them.
`parse_data_type` reads that form, Spark's SQL and the types of Hive's columns that Spark can read.
"""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

from metastored.errors import ConversionError
from metastored.hive.quoting import backquoted
from metastored.model.spark.types import (
    BINARY_COLLATION,
    CURRENT_DEFAULT,
    EXISTS_DEFAULT,
    GENERATED,
    MAX_DEPTH,
    STRING,
    ArrayType,
    AtomicType,
    CharType,
    DataType,
    DecimalType,
    MapType,
    StringType,
    StructField,
    StructType,
    UserDefinedType,
    VarcharType,
)

_SQL_NAMES: Final = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
_NAMES: Final = {
    "void": "void", "boolean": "boolean", "tinyint": "byte", "byte": "byte", "smallint": "short", "short": "short",
    "int": "integer", "integer": "integer", "bigint": "long", "long": "long", "float": "float", "real": "float",
    "double": "double", "binary": "binary", "date": "date", "variant": "variant",
    "timestamp_ntz": "timestamp_ntz", "timestamp_ltz": "timestamp", "timestamp": "timestamp",
}  # fmt: skip
_UNITS: Final = {"year": 0, "month": 1, "day": 2, "hour": 3, "minute": 4, "second": 5}
_PLAIN_NAME: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def catalog_string(type: DataType, quoted: bool = False) -> str:
    """The type as Spark writes it into a column of the metastore; `quoted` quotes names where Spark's SQL needs it."""
    match type:
        case AtomicType(name):
            return _SQL_NAMES.get(name, name)
        case DecimalType(precision, scale):
            return f"decimal({precision},{scale})"
        case StringType(collation):
            return "string" if collation == BINARY_COLLATION else f"string collate {collation}"
        case CharType(length):
            return f"char({length})"
        case VarcharType(length):
            return f"varchar({length})"
        case ArrayType(element):
            return f"array<{catalog_string(element, quoted)}>"
        case MapType(key, value):
            return f"map<{catalog_string(key, quoted)},{catalog_string(value, quoted)}>"
        case StructType(fields):
            names = (_quoted(each.name) if quoted else each.name for each in fields)
            types = (catalog_string(each.data_type, quoted) for each in fields)
            members = (f"{name}:{type}" for name, type in zip(names, types, strict=True))
            return f"struct<{','.join(members)}>"
        case UserDefinedType(sql_type):
            return catalog_string(sql_type, quoted)


def needs_quotes(name: str) -> bool:
    """Whether a name must be quoted in Spark's SQL."""
    return _PLAIN_NAME.fullmatch(name) is None


def sql(type: DataType) -> str:
    """The type in Spark's SQL: `STRUCT<a: INT NOT NULL>`."""
    match type:
        case ArrayType(element):
            return f"ARRAY<{sql(element)}>"
        case MapType(key, value):
            return f"MAP<{sql(key)}, {sql(value)}>"
        case StructType(fields):
            return f"STRUCT<{', '.join(_column_sql(each, ': ') for each in fields)}>"
        case StringType(collation) if collation != BINARY_COLLATION:
            return f"STRING COLLATE {collation}"
    return catalog_string(type).upper()


def to_ddl(schema: StructType) -> str:
    """The columns in Spark's SQL: `id INT NOT NULL,name STRING COMMENT 'who'`."""
    return ",".join(_column_sql(each, " ") for each in schema.fields)


def _column_sql(field: StructField, separator: str) -> str:
    metadata = field.metadata
    text = f"{_quoted(field.name)}{separator}{sql(field.data_type)}"
    if not field.nullable:
        text += " NOT NULL"
    if CURRENT_DEFAULT in metadata:
        text += f" DEFAULT {metadata[CURRENT_DEFAULT]}"
    if GENERATED in metadata:
        text += f" GENERATED ALWAYS AS ({metadata[GENERATED]})"
    if field.comment is not None:
        text += " COMMENT '" + field.comment.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return text


def _quoted(name: str) -> str:
    return backquoted(name) if needs_quotes(name) else name


# --- reading -----------------------------------------------------------------------------------------------


def parse_data_type(text: str) -> DataType:
    """Reads a type. Raises ConversionError if Spark cannot read the text as a type."""
    parser = _Parser(text)
    type = parser.type(0)
    parser.end()
    return type


def parse_ddl(text: str) -> StructType:
    """Reads the columns of `id INT NOT NULL, name STRING COMMENT 'who'`. Raises ConversionError."""
    parser = _Parser(text)
    fields = [parser.column(0)]
    while parser.accept(","):
        fields.append(parser.column(0))
    parser.end()
    return StructType(tuple(fields))


def _collation(name: str) -> str:
    """The name as Spark has it: in capitals, except for those of languages (`de_CI`)."""
    return name.upper() if name.upper().startswith(("UTF8_", "UNICODE")) else name


_BLANK: Final = re.compile(r"\s*")
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_UNQUOTED: Final = re.compile(r"([^,<:`]+):")
"""The name of a struct's field in Hive's form, where everything up to the colon belongs to it."""
_NAME: Final = re.compile(r"[^\s`:,<>()]+")
_QUOTED: Final = re.compile(r"`((?:[^`]|``)*)`")
_NUMBER: Final = re.compile(r"-?\d{1,9}")
_ARGUMENTS: Final = re.compile(r"[^()]*")
_EXPRESSION: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\w+|.", re.DOTALL)
_COMMENT: Final = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)


class _Parser:
    """Recursive descent over one text; blanks between words are ignored."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def skip(self) -> None:
        self.position = _BLANK.match(self.text, self.position).end()  # type: ignore[union-attr]

    def match(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        self.skip()
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
            self.skip()
            match = _WORD.match(self.text, self.position)
            if match is None or match[0].lower() != each:
                self.position = start
                return False
            self.position = match.end()
        return True

    def end(self) -> None:
        self.skip()
        if self.position != len(self.text):
            self.fail("the end")

    def type(self, depth: int) -> DataType:
        if depth > MAX_DEPTH:
            raise ConversionError(f"types are nested deeper than {MAX_DEPTH} levels in {self.text[:60]!r}…")
        start = self.position
        name = self.match(_WORD, "a type")[0].lower()
        match name:
            case "string":
                return StringType(_collation(self.match(_NAME, "a collation")[0])) if self.word("collate") else STRING
            case "decimal" | "dec" | "numeric":
                return self.decimal()
            case "char" | "character":
                return CharType(self.argument())
            case "varchar":
                return VarcharType(self.argument())
            case "interval":
                return self.interval()
            case "array":
                (element,) = self.members(1, depth)
                return ArrayType(element)
            case "map":
                key, value = self.members(2, depth)
                return MapType(key, value)
            case "struct":
                return self.struct(depth)
            case "time":
                return AtomicType(f"time({self.argument() if self.accept('(') and self.back() else 6})")
            case "timestamp" if self.word("without", "time", "zone"):
                return AtomicType("timestamp_ntz")
            case "timestamp_ntz" | "timestamp_ltz" if self.accept("(") and self.back():
                return AtomicType(f"{name}({self.argument()})")
            case "geometry" | "geography" if self.accept("("):
                arguments = self.match(_ARGUMENTS, "a reference system")[0]
                self.expect(")")
                return AtomicType(f"{name}({arguments})")
            case _ if name in _NAMES:
                return AtomicType(_NAMES[name])
        self.position = start
        raise ConversionError(f"Spark has no type {name!r}, in {self.text!r}")

    def back(self) -> bool:
        """Puts one consumed sign back."""
        self.position -= 1
        return True

    def decimal(self) -> DataType:
        if not self.accept("("):
            return DecimalType()
        precision = int(self.match(_NUMBER, "a precision")[0])
        scale = int(self.match(_NUMBER, "a scale")[0]) if self.accept(",") else 0
        self.expect(")")
        if not 0 < precision <= 38 or scale > precision:
            raise ConversionError(f"Spark has no decimal({precision},{scale}), in {self.text!r}")
        return DecimalType(precision, scale)

    def argument(self) -> int:
        self.expect("(")
        number = int(self.match(_NUMBER, "a number")[0])
        self.expect(")")
        return number

    def interval(self) -> DataType:
        self.skip()
        first = _WORD.match(self.text, self.position)
        if first is None or first[0].lower() not in _UNITS:
            return AtomicType("interval")
        self.position = first.end()
        name = f"interval {first[0].lower()}"
        if self.word("to"):
            last = self.match(_WORD, "a unit of an interval")[0].lower()
            if last not in _UNITS or _UNITS[last] <= _UNITS[first[0].lower()]:
                self.fail("a smaller unit of the interval")
            name += f" to {last}"
        return AtomicType(name)

    def members(self, count: int, depth: int) -> tuple[DataType, ...]:
        self.expect("<")
        types = [self.type(depth + 1)]
        while len(types) < count:
            self.expect(",")
            types.append(self.type(depth + 1))
        self.expect(">")
        return tuple(types)

    def struct(self, depth: int) -> StructType:
        self.expect("<")
        if self.accept(">"):
            return StructType()
        fields = [self.column(depth + 1)]
        while self.accept(","):
            fields.append(self.column(depth + 1))
        self.expect(">")
        return StructType(tuple(fields))

    def name(self, inside: bool) -> str:
        self.skip()
        if self.text.startswith("`", self.position):
            return self.match(_QUOTED, "a closed `name`")[1].replace("``", "`")
        if inside and (match := _UNQUOTED.match(self.text, self.position)):
            self.position = match.end(1)
            return match[1].rstrip()
        return self.match(_NAME, "a name")[0]

    def column(self, depth: int) -> StructField:
        name = self.name(depth > 0)
        self.accept(":")
        type = self.type(depth)
        nullable, metadata = True, dict[str, Any]()
        while True:
            if self.word("not", "null"):
                nullable = False
            elif self.word("default"):
                metadata[CURRENT_DEFAULT] = metadata[EXISTS_DEFAULT] = self.expression()
            elif self.word("generated", "always", "as"):
                self.expect("(")
                metadata[GENERATED] = self.expression()
                self.expect(")")
            elif self.word("comment"):
                match = self.match(_COMMENT, "a comment in quotes")
                quoted = match[1] if match[1] is not None else match[2]
                metadata["comment"] = re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
            else:
                return StructField(name, type, nullable, metadata)

    def expression(self) -> str:
        """The text of an SQL expression, up to a comma, a closing parenthesis or the next clause of the column."""
        start, depth = self.position, 0
        while self.position < len(self.text):
            part = _EXPRESSION.match(self.text, self.position)
            assert part is not None  # Every character matches.
            if depth == 0 and (part[0] in (",", ")", ">") or part[0].lower() in ("comment", "not", "generated")):
                break
            depth += {"(": 1, ")": -1}.get(part[0], 0)
            self.position = part.end()
        expression = self.text[start : self.position].strip()
        if not expression:
            self.fail("an expression")
        return expression
