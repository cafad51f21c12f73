"""Hive's serialized expressions: from the bytes that Hive 2.3 and 3.1 write with Kryo 3 to a small tree.

A stream holds one ExprNodeGenericFuncDesc, field after field in the order of their names, so it can be read only with
the fields of every class in it. `LAYOUTS` lists them: a class that is not listed is not guessed, not skipped and never
executed. Depth, sizes and the number of nodes are bounded, also for streams that repeat themselves by reference.
"""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any, Final, NamedTuple, NoReturn

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_DEPTH: Final = 150
"""Nested objects; every level of an expression is two of them."""
MAX_NODES: Final = 100_000


class UnreadableExpression(ValueError):
    """An expression with an unsupported part; the message names the part and its position."""


class MalformedExpression(UnreadableExpression):
    """Bytes that are not a serialized expression. The text is Kryo's own, since people search for it."""


# --- the tree ----------------------------------------------------------------------------------------------


class SqlDate(NamedTuple):
    """A date of Hive 2.3: the milliseconds at which it began, in the time zone of its writer."""

    millis: int


class SqlTimestamp(NamedTuple):
    """A timestamp of Hive 2.3: a moment, to be shown in the time zone of its writer."""

    millis: int
    nanos: int


@dataclass(frozen=True, slots=True)
class Column:
    """A column, by name; a partition key or not."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal. Values have Python's own types, except dates of Hive 2.3; timestamps of Hive 3 are texts."""

    type: str
    value: Any


@dataclass(frozen=True, slots=True)
class Apply:
    """A function applied to operands. Its name is that of Hive's class, such as GenericUDFOPEqual or UDFToDouble."""

    function: str
    operands: "tuple[Expression, ...]"
    type: str


Expression = Column | Constant | Apply


def read_expression(data: bytes) -> Expression:
    """The tree of a serialized expression, which must be all of the data."""
    return tree_of(Stream(data), lambda stream: stream.referenced(ROOT, lambda: stream.fields(ROOT), may_be_null=False))


def tree_of(stream: "Stream", root: "Callable[[Stream], Any]") -> Expression:
    """The tree of a complete stream; `root` reads its first object."""
    size = len(stream.data)
    if size > MAX_BYTES:
        raise UnreadableExpression(f"an expression of {size} bytes is longer than {MAX_BYTES}")
    object = root(stream)
    if stream.position != size:
        raise MalformedExpression(f"{size - stream.position} bytes follow the expression at {stream.position}")
    return Trees().tree(object)


# --- the layouts of Hive's classes -----------------------------------------------------------------------

_GENERIC: Final = "org.apache.hadoop.hive.ql.udf.generic."
_PLAN: Final = "org.apache.hadoop.hive.ql.plan."
_TYPES: Final = "org.apache.hadoop.hive.serde2.typeinfo."
_INSPECTORS: Final = "org.apache.hadoop.hive.serde2.objectinspector."
_VALUES: Final = "org.apache.hadoop.hive.common.type."
ROOT: Final = f"{_PLAN}ExprNodeGenericFuncDesc"
LIST: Final = "java.util.ArrayList"
STRING: Final = "java.lang.String"
_INSPECTOR_ARRAY: Final = f"[L{_INSPECTORS}ObjectInspector;"

# A field is written by its declared type: a primitive as such, an object of a final class without the name of the
# class, and anything else ("object") with it.
_RESULT = (("result", "object"),)
_COMPARISON = (
    *(("compareOI", "object"), ("compareType", "enum"), ("opDisplayName", STRING), ("opName", STRING)),
    *_RESULT,
)
_TYPED = (("typeInfo", "object"),)
_INSPECTED = ("Boolean", "Byte", "Short", "Int", "Long", "Float", "Double", "Date")

LAYOUTS: dict[str, tuple[tuple[str, str], ...]] = {
    ROOT: (("chidren", "object"), ("genericUDF", "object"), ("isSortedExpr", "boolean"), *_TYPED),
    f"{_PLAN}ExprNodeColumnDesc": (
        *(("column", STRING), ("isPartitionColOrVirtualCol", "boolean"), ("isSkewedCol", "boolean")),
        *(("tabAlias", STRING), *_TYPED),
    ),
    f"{_PLAN}ExprNodeConstantDesc": (*_TYPED, ("value", "object")),
    f"{_TYPES}PrimitiveTypeInfo": (("typeName", STRING),),
    f"{_TYPES}DecimalTypeInfo": (("precision", "int"), ("scale", "int"), ("typeName", STRING)),
    f"{_TYPES}CharTypeInfo": (("length", "int"), ("typeName", STRING)),
    f"{_TYPES}VarcharTypeInfo": (("length", "int"), ("typeName", STRING)),
    f"{_TYPES}StructTypeInfo": (("allStructFieldNames", "names"), ("allStructFieldTypeInfos", "list")),
    f"{_VALUES}HiveDecimal": (
        *(("fast0", "long"), ("fast1", "long"), ("fast2", "long"), ("fastIntegerDigitCount", "int")),
        *(("fastScale", "int"), ("fastSerializationScale", "int"), ("fastSignum", "int")),
    ),
    f"{_VALUES}HiveChar": (("value", STRING),),
    f"{_VALUES}HiveVarchar": (("value", STRING),),
    f"{_VALUES}Date": (("localDate", "java.time.LocalDate"),),
    f"{_VALUES}Timestamp": (("localDateTime", "java.time.LocalDateTime"),),
    "java.time.LocalDate": (("day", "short"), ("month", "short"), ("year", "int")),
    "java.time.LocalDateTime": (("date", "java.time.LocalDate"), ("time", "java.time.LocalTime")),
    "java.time.LocalTime": (("hour", "byte"), ("minute", "byte"), ("nano", "int"), ("second", "byte")),
    **{
        f"{_GENERIC}GenericUDF{name}": _COMPARISON
        for name in (
            *("OPEqual", "OPNotEqual", "OPLessThan", "OPEqualOrLessThan", "OPGreaterThan", "OPEqualOrGreaterThan"),
            "OPEqualNS",
        )
    },
    **{f"{_GENERIC}GenericUDF{name}": _RESULT for name in ("OPAnd", "OPOr", "OPNot", "OPNull", "OPNotNull")},
    f"{_GENERIC}GenericUDFIn": (("bw", "object"), ("isInSetConstant", "boolean")),
    f"{_GENERIC}GenericUDFBetween": (("argumentOIs", "object"), ("egt", "object"), ("elt", "object"), *_RESULT),
    f"{_GENERIC}GenericUDFBridge": (("isOperator", "boolean"), ("udfClassName", STRING), ("udfName", STRING)),
    f"{_GENERIC}GenericUDFToDate": (),
    f"{_GENERIC}GenericUDFToString": (),
    f"{_GENERIC}GenericUDFToDecimal": _TYPED,
    f"{_GENERIC}GenericUDFStruct": (),
    # Functions that were used before they were written also contain the state of their operands.
    **{
        f"{_INSPECTORS}primitive.Writable{name}ObjectInspector": _TYPED
        for name in (*_INSPECTED, "String", "HiveDecimal", "Timestamp")
    },
    **{
        f"{_INSPECTORS}primitive.WritableConstant{name}ObjectInspector": (*_TYPED, ("value", "object"))
        for name in _INSPECTED
    },
    "org.apache.hadoop.io.BooleanWritable": (("value", "boolean"),),
    "org.apache.hadoop.io.IntWritable": (("value", "int"),),
    "org.apache.hadoop.io.LongWritable": (("value", "long"),),
    "org.apache.hadoop.hive.serde2.io.DateWritable": (("daysSinceEpoch", "int"),),
    "org.apache.hadoop.hive.serde2.io.DateWritableV2": (("date", "object"),),
}

_BRIDGED: Final = "org.apache.hadoop.hive.ql.udf."

# Classes that Hive registers with Kryo are numbered; the first are Kryo's own. Further ones occur in no expression.
_WRAPPERS: dict[int, str] = {
    **{0: "int", 2: "float", 3: "boolean", 4: "byte", 6: "short", 7: "long", 8: "double"},
}
PRIMITIVES: Final = frozenset(_WRAPPERS.values())
NUMBERED: dict[int, str] = {1: STRING, 10: "java.sql.Date", 11: "java.sql.Timestamp"}


class Instance:
    """An object of the stream: its class, and the values of its fields."""

    __slots__ = ("fields", "name")

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        self.name = name
        self.fields = fields


_UNFINISHED: Final = object()


# --- the stream ----------------------------------------------------------------------------------------------


class Stream:
    """A position in the data, the classes that were named so far, and the objects that were read."""

    layouts = LAYOUTS
    numbered = NUMBERED
    byte_order = ">"

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0
        self.depth = 0
        self.trace: list[str] = []
        self.names: list[str] = []
        self.objects: list[Any] = []

    # errors

    def malformed(self, what: str) -> NoReturn:
        """Kryo's text: the error, and the fields in which it occurred, the innermost first."""
        trace = "".join(f"\n{field}" for field in reversed(self.trace))
        raise MalformedExpression(f"{what}\nSerialization trace:{trace}" if trace else what)

    def unreadable(self, what: str) -> NoReturn:
        inside = f", inside {' of '.join(reversed(self.trace))}" if self.trace else ""
        raise UnreadableExpression(f"{what} is not understood, at byte {self.position}{inside}")

    @contextmanager
    def inside(self, field: str) -> Iterator[None]:
        if self.depth == MAX_DEPTH:
            raise UnreadableExpression(f"the expression is nested deeper than {MAX_DEPTH} objects")
        self.depth += 1
        self.trace.append(field)
        yield
        self.trace.pop()
        self.depth -= 1

    # primitives

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.position:
            self.malformed("Buffer underflow.")
        taken = self.data[self.position : self.position + count]
        self.position += count
        return taken

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self, most: int = 5) -> int:
        """An unsigned number of seven bits a byte; the ninth byte of a long has eight."""
        result = 0
        for at in range(most):
            byte = self.byte()
            if at == 8:
                return result | byte << 56
            result |= (byte & 0x7F) << 7 * at
            if byte < 0x80:
                return result
        return self.malformed("Malformed integer.")

    def signed(self, most: int = 5) -> int:
        raw = self.number(most)
        return (raw >> 1) ^ -(raw & 1)

    def boolean(self) -> bool:
        return self.byte() == 1

    def packed(self, form: str) -> Any:
        return struct.unpack(self.byte_order + form, self.take(struct.calcsize(f"={form}")))[0]

    def primitive(self, kind: str) -> Any:
        match kind:
            case "boolean":
                return self.boolean()
            case "int":
                return self.signed()
            case "long":
                return self.signed(9)
            case _:
                return self.packed({"byte": "b", "short": "h", "float": "f", "double": "d"}[kind])

    def string(self) -> str | None:
        first = self.byte()
        if first < 0x80:
            return self.ascii(first)
        length = first & 0x3F
        if first & 0x40:
            length |= self.number() << 6
        if length <= 1:
            return None if length == 0 else ""
        if length - 1 > len(self.data) - self.position:
            self.malformed("Buffer underflow.")
        units = [self.unit() for _ in range(length - 1)]
        try:
            return struct.pack(f"<{len(units)}H", *units).decode("utf-16-le")
        except UnicodeDecodeError:
            return self.malformed("a text has half of a character")

    def ascii(self, first: int) -> str:
        """Texts of more than one ASCII character may be written this way: the last has its highest bit set."""
        out = bytearray([first])
        while out[-1] < 0x80:
            out.append(self.byte())
        out[-1] &= 0x7F
        return out.decode("ascii")

    def unit(self) -> int:
        """A UTF-16 code unit in one to three bytes."""
        first = self.byte()
        if first < 0x80:
            return first
        if first >> 5 == 6:
            return (first & 0x1F) << 6 | self.byte() & 0x3F
        if first >> 4 == 14:
            return (first & 0x0F) << 12 | (self.byte() & 0x3F) << 6 | self.byte() & 0x3F
        return self.malformed("a text is not in Java's form of UTF-8")

    # objects

    def referenced(self, name: str, read: Callable[[], Any], *, may_be_null: bool = True) -> Any:
        """An object that is null, new, or a reference to an earlier one."""
        mark = self.number()
        if mark == 0 and may_be_null:
            return None
        if mark == 1:
            at = len(self.objects)
            self.objects.append(_UNFINISHED)
            self.objects[at] = read()
            return self.objects[at]
        if not 0 <= mark - 2 < len(self.objects):
            self.malformed(f"Index {mark - 2} out of bounds for length {len(self.objects)}")
        object = self.objects[mark - 2]
        if object is _UNFINISHED:
            self.unreadable(f"a {name} that contains itself")
        return object

    def object(self) -> Any:
        """An object that is preceded by its class."""
        kind = self.kind()
        if kind is None:
            return None
        return self.primitive(kind) if kind in PRIMITIVES else self.of_class(kind)

    def kind(self) -> str | None:
        """The class of the next object: its name, or the word for a primitive. None for a null, which has none."""
        number = self.number()
        if number == 0:
            return None
        if number == 1:
            return self.class_name()
        known = _WRAPPERS.get(number - 2) or self.numbered.get(number - 2)
        if known is None:
            self.unreadable(f"the class that Hive registers as number {number - 2}")
        return known

    def class_name(self) -> str:
        number = self.number()
        if number == len(self.names):
            self.names.append(self.string() or "")
        elif number > len(self.names):
            self.malformed(f"Class number {number} follows {len(self.names)} named classes")
        return self.names[number]

    def of_class(self, name: str) -> Any:
        match name:
            case "java.lang.String":
                return self.referenced(name, self.string)
            case "java.util.ArrayList":
                return self.referenced(name, self.listed)
            case "java.sql.Date":
                return self.referenced(name, lambda: SqlDate(self.packed("q")))
            case "java.sql.Timestamp":
                return self.referenced(name, lambda: SqlTimestamp(self.packed("q"), self.packed("i")))
            case _ if name == _INSPECTOR_ARRAY:
                return self.referenced(name, lambda: self.elements(self.number() - 1, self.object))
            case _ if name in self.layouts:
                return self.referenced(name, partial(self.fields, name))
            case _:
                return self.unreadable(f"the class {name}")

    def elements(self, count: int, read: Callable[[], Any]) -> tuple[Any, ...]:
        if not 0 <= count <= len(self.data) - self.position:
            self.malformed("Buffer underflow.")
        with self.inside("[]"):
            self.trace.pop()  # Kryo does not trace elements
            elements = []
            for _ in range(count):  # a loop, since a generator would be one more call for every level
                elements.append(read())
            self.trace.append("[]")
        return tuple(elements)

    def fields(self, name: str) -> Instance:
        values = {}
        for field, kind in self.layouts[name]:
            with self.inside(f"{field} ({name})"):
                values[field] = self.field(kind)
        return Instance(name, values)

    def field(self, kind: str) -> Any:
        match kind:
            case "object":
                return self.object()
            case "enum":
                return self.enum()
            case "list":
                return self.of_list(self.listed)
            case "names":
                return self.of_list(self.listed_names)
            case _ if kind == STRING or kind in self.layouts:
                return self.of_class(kind)
            case _:
                return self.primitive(kind)

    def enum(self) -> Any:
        return self.referenced("enum", self.number)

    def of_list(self, read: Callable[[], tuple[Any, ...]]) -> Any:
        """A list field, which is preceded by its class even so: ArrayList is not final."""
        if self.number() != 1 or self.class_name() != LIST:
            self.unreadable(f"a list that is not a {LIST}")
        return self.referenced(LIST, read)

    def listed(self) -> tuple[Any, ...]:
        return self.elements(self.number(), self.object)

    def listed_names(self) -> tuple[Any, ...]:
        return self.elements(self.number(), self._name)

    def _name(self) -> Any:
        """Kryo 3 writes the elements of a list of strings without their class; Kryo 4, in Spark, with it."""
        if self.data[self.position : self.position + 1] == b"\x03":
            return self.object()
        return self.of_class(STRING)


# --- from objects to the tree -------------------------------------------------------------------------------


class Trees:
    """Turns objects into nodes, each once, and counts them as often as they occur."""

    def __init__(self) -> None:
        self.done: dict[int, tuple[Expression, int]] = {}

    def tree(self, object: Any) -> Expression:
        return self.sized(object)[0]

    def sized(self, object: Any) -> tuple[Expression, int]:
        if not isinstance(object, Instance):
            raise UnreadableExpression(f"{object!r} is not an expression")
        if id(object) not in self.done:
            self.done[id(object)] = self.converted(object)
        return self.done[id(object)]

    def converted(self, object: Instance) -> tuple[Expression, int]:
        fields = object.fields
        match object.name.removeprefix(_PLAN):
            case "ExprNodeColumnDesc":
                return Column(str(fields["column"]), _type_text(fields["typeInfo"])), 1
            case "ExprNodeConstantDesc":
                return Constant(_type_text(fields["typeInfo"]), _value(fields["value"])), 1
            case "ExprNodeGenericFuncDesc":
                children = fields.get(
                    "children", fields.get("chidren")
                )  # Until Hive 4 the field's name was misspelled.
                operands = [self.sized(child) for child in (children if isinstance(children, tuple) else ())]
                size = 1 + sum(count for _, count in operands)
                if size > MAX_NODES:
                    raise UnreadableExpression(f"the expression has more than {MAX_NODES} nodes")
                nodes = tuple(node for node, _ in operands)
                return Apply(_function(fields["genericUDF"]), nodes, _type_text(fields["typeInfo"])), size
        raise UnreadableExpression(f"the class {object.name} is not understood as an expression")


def _function(object: Any) -> str:
    if not isinstance(object, Instance) or not object.name.startswith(_GENERIC):
        raise UnreadableExpression("an expression has no function")
    name = object.name.removeprefix(_GENERIC)
    if name != "GenericUDFBridge":
        return name
    return str(object.fields["udfClassName"]).removeprefix(_BRIDGED)


def _type_text(object: Any) -> str:
    """The type as Hive writes it: decimal(10,2), varchar(10), struct."""
    if not isinstance(object, Instance) or not object.name.startswith(_TYPES):
        raise UnreadableExpression("an expression has no type")
    fields = object.fields
    match object.name.removeprefix(_TYPES):
        case "DecimalTypeInfo":
            return f"decimal({fields['precision']},{fields['scale']})"
        case "CharTypeInfo" | "VarcharTypeInfo":
            return f"{fields['typeName']}({fields['length']})"
        case "StructTypeInfo":
            return "struct"
        case _:
            return str(fields["typeName"])


def _value(object: Any) -> Any:
    if isinstance(object, tuple) and not isinstance(object, SqlDate | SqlTimestamp):
        return tuple(map(_value, object))
    if not isinstance(object, Instance):
        return object
    fields = object.fields
    match object.name.removeprefix(_VALUES):
        case "HiveDecimal":
            return _decimal(fields)
        case "HiveChar" | "HiveVarchar":
            return fields["value"]
        case "Date" if fields["localDate"] is not None:
            return _date(fields["localDate"].fields)
        case "Timestamp" if fields["localDateTime"] is not None:
            return _timestamp(fields["localDateTime"].fields)
    raise UnreadableExpression(f"the class {object.name} is not understood as a constant")


def _decimal(fields: dict[str, int]) -> Decimal:
    """Up to 38 digits in three numbers: sixteen, sixteen and six."""
    digits = fields["fast0"] + fields["fast1"] * 10**16 + fields["fast2"] * 10**32
    if not (0 <= digits < 10**38 and 0 <= fields["fastScale"] <= 38 and fields["fastSignum"] in (-1, 0, 1)):
        raise UnreadableExpression("a decimal is out of its range")
    return Decimal((int(fields["fastSignum"] < 0), tuple(map(int, str(digits))), -fields["fastScale"]))


def _date(fields: dict[str, int]) -> date:
    try:
        return date(fields["year"], fields["month"], fields["day"])
    except ValueError:
        raise UnreadableExpression(
            f"the date {fields['year']}-{fields['month']}-{fields['day']} is out of range"
        ) from None


def _timestamp(fields: dict[str, Any]) -> str:
    """Its text, with all nine digits of its fraction, so that texts compare as moments do."""
    if fields["date"] is None or fields["time"] is None:
        raise UnreadableExpression("a timestamp has no date or no time")
    time = fields["time"].fields
    clock = f"{time['hour']:02}:{time['minute']:02}:{time['second']:02}.{time['nano']:09}"
    return f"{_date(fields['date'].fields).isoformat()} {clock}"
