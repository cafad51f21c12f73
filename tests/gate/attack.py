"""Arguments for any method that point at vera's objects: made by walking the method's types and filling in roles.

No method is listed by its name here. A `Spelling` says how catalogs, databases and tables are written; a `Filler` makes
the arguments, and can put something else at one place of a name, so that gate and metastore see different names there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from metastored.wire.codec import binary
from metastored.wire.generated import ENUMS, STRUCTS
from metastored.wire.methods import Method
from metastored.wire.structs import fields
from metastored.wire.types import Field, Type

PLACED: Final = ("cat", "db", "table", "full_name")
"""The roles of names that have a spelling."""
DEEPEST: Final = 7


class Spelling(NamedTuple):
    """One way to write the same three names."""

    cat: str | None
    db: str
    table: str
    full: str


def _spelled(cat: str | None, db: str, table: str) -> Spelling:
    return Spelling(cat, db, table, f"{db}.{table}" if cat is None else f"{cat}.{db}.{table}")


SPELLINGS: Final = (
    _spelled("hive", "vkdb", "vt"),
    _spelled(None, "vkdb", "vt"),
    _spelled("HIVE", "VKDB", "VT"),
    _spelled(" hive ", " vkdb ", " vt "),
    _spelled("\thive\n", "vkdb\r", "\x00vt\x1f"),
    _spelled(None, "vkdb", "vt\u00a0"),
    _spelled(None, "\u00a0vkdb", "vt"),
    _spelled("hive\u2003", "vkdb\u2003", "\u2003vt"),
    _spelled("\ufeffhive", "vkdb\u200b", "vt\u3000"),
    _spelled("hive", "V\u212aDB", "vt"),
    _spelled("", "vkdb", "vt"),
    _spelled(" ", "vkdb", "vt"),
    _spelled("nope", "vkdb", "vt"),
    _spelled(None, "@hive#vkdb", "vt"),
    _spelled("nope", "@hive#vkdb", "vt"),
    _spelled("", "@HIVE# VKDB ", "vt"),
    _spelled(None, "@ hive #vkdb", "vt"),
    _spelled(None, "hive.vkdb", "vt"),
    _spelled(None, "vkdb", "vkdb.vt"),
    _spelled(None, "mdb", "vkdb.vt"),
    _spelled(None, "vk*", "v*"),
    _spelled(None, "vkdb|mdb", "vt"),
    _spelled(None, "vkdb", "vnew"),
    _spelled(None, "vnewdb", "vt"),
    _spelled("vcat", "vkdb", "vt"),
    _spelled("VCAT ", " vkdb", "Vt"),
    _spelled(None, "@vcat#vkdb", "vt"),
)
PLAIN: Final = SPELLINGS[0]
SUBSTITUTES: Final = {
    "cat": (None, "", "nope", "vcat"),
    "db": (None, "", "mdb", "@hive#vkdb"),
    "table": (None, "", "mt"),
    "full_name": ("mdb.mt", "vkdb", "@hive#vkdb.vt"),
}
"""Other names for one position, while all other positions name vera's object."""

NAMES: Final = {
    **dict.fromkeys(("packageName",), "vp"),
    **dict.fromkeys(("procName", "StoredProcedure.name"), "vproc"),
    **dict.fromkeys(("schemaName", "ISchema.name"), "vs"),
    **dict.fromkeys(("resourcePlanName", "WMResourcePlan.name", "WMNullableResourcePlan.name"), "vplan"),
    **dict.fromkeys(("triggerName",), "vtrigger"),
    **dict.fromkeys(("indexName", "index_name", "idx_name"), "vi"),
    **dict.fromkeys(("serdeName",), "vserde"),
    **dict.fromkeys(("scheduleName",), "vsq"),
    **dict.fromkeys(("constraintname", "pk_name"), "vpk"),
    **dict.fromkeys(("name", "type"), "vtype"),
}
"""Values of names that no privilege is on, by the field or by the struct and the field."""

TEXTS: Final = {
    "filter": 'p != "zz"',
    "clusterNamespace": "ns",
    "token_identifier": "vtoken",
    "privilege": "SELECT",
    "expr": 'p != "zz"',
    "type": "int",
    "colType": "int",
    "tableType": "MANAGED_TABLE",
    "schedule": "0 0 0 * * ? *",
    "policy": "vpolicy",
    "engine": "hive",
    "entityType": "USER",
    "validTxnList": None,
    "validWriteIdList": None,
    "replPolicy": None,
    "authorizer": None,
    "state": None,
    "order": None,
}
TABLE_FILTER: Final = 'hive_filter_field_params__k like "%"'
NUMBERS: Final = {"num_txns": 1, "version": 1, "key_seq": 1, "eventType": 1, "numDVs": 1}
MANY: Final = ("max", "limit", "rows")
"""Roles of numbers for which -1 means everything."""


PLACES: Final = (None, "file:/nowhere/vkdb.db/vt", "file:/nowhere/mdb.db/mt")
"""Locations, of which each kind of call has one: none, vera's, mallory's."""
VALUES: Final = ("1", "2", "1")
NEW_VALUES: Final = ("2", "1", "3")
"""The same in a partition that a call brings: it does not exist, exists, or is another one's new name."""
PERSONS: Final = ("mallory", "vrole", "vera")
SPARING: Final = (
    *("sd", "cols", "partitionKeys", "parameters", "tableType", "values", "serdeInfo"),
    *("name", "type", "functionType", "className"),
)
PLAIN_STRUCTS: Final = ("Table", "Partition", "StorageDescriptor", "FieldSchema", "SerDeInfo", "Function")
REQUIRED, SPARE, FULL = range(3)
"""How much of a request is filled: what the IDL requires, also names and structs, or everything."""
MOST_PLACES: Final = 12
"""Places of one call at which something else is written; what is deeper repeats what was there."""


class Ids(NamedTuple):
    """Numbers of vera's."""

    txn: int
    lock: int
    table: int


class Filler:
    """Makes the arguments of one call."""

    def __init__(
        self,
        spelling: Spelling,
        ids: Ids,
        *,
        amount: int = SPARE,
        kind: int = 0,
        instead: tuple[int, Any] | None = None,
        absent: str = "",
    ) -> None:
        """`kind` chooses among an enum's values, persons and locations; names of the role `absent` are left out."""
        self._spelling = spelling
        self._ids = ids
        self._amount = amount
        self._kind = kind
        self._instead = instead
        self._absent = absent
        self.places: list[str] = []
        """The role of each place of a name, in the order of filling."""

    def args(self, method: Method) -> tuple[Any, ...]:
        self._about = method.object
        made = tuple(self._of_type(method.name, field, field.type, ()) for field in method.args)
        # As they come from the wire: with the defaults of the IDL.
        return binary.decode_args(method, binary.encode_args(method, made))

    def _of_type(self, owner: str, field: Field, type: Type, within: tuple[str, ...]) -> Any:
        match type.name:
            case "list":
                item = self._of_type(owner, field, type.args[0], within)
                return () if item is None else (item,)
            case "set":
                item = self._of_type(owner, field, type.args[0], within)
                return frozenset() if item is None else frozenset({item})
            case "map" if field.name in ("part_vals", "partitionSpecs"):
                return {"p": "1"}
            case "map":
                key = self._of_type(owner, field, type.args[0], within)
                plain = Field(0, type.args[1], field.name)
                value = self._of_type(owner, plain, type.args[1], within)
                return {} if key is None or value is None else {key: value}
            case "bool":
                return True
            case "double":
                return 1.0
            case "i16" | "i32" | "i64" | "byte":
                return self._number(field)
            case "string":
                return self._text(owner, field)
            case "binary":
                return (self._text(owner, field) or "").encode()
        if type.name in ENUMS:
            values = sorted(ENUMS[type.name].NAMES)  # type: ignore[attr-defined]
            return values[self._kind % len(values)]
        return self._struct(type.name, within)

    def _struct(self, name: str, within: tuple[str, ...]) -> Any:
        if name in within or len(within) > DEEPEST:
            return None
        values: dict[str, Any] = {}
        for field in fields(STRUCTS[name]):
            if field.name not in values and self._matters(name, field):
                values[field.name] = self._of_type(name, field, field.type, (*within, name))
        if name == "Table":
            values["partitionKeys"] = (STRUCTS["FieldSchema"](name="p", type="string"),)
        cls = STRUCTS[name]
        if cls.UNION:  # type: ignore[attr-defined]
            values = dict([next(iter(values.items()))])
        return cls(**values)

    def _matters(self, owner: str, field: Field) -> bool:
        """Whether a sparing request has this field: names, and what a request is made of."""
        if self._amount == FULL:
            return True
        if owner in PLAIN_STRUCTS:
            return field.role is not None or field.name in SPARING
        if self._amount == REQUIRED:
            # Structs of the first versions require nothing.
            requires = any(each.required for each in fields(STRUCTS[owner]))
            return field.required or field.role in (*PLACED, "txn_id", "lock_id") or not requires
        return field.required or field.role is not None or field.type.name in STRUCTS or bool(field.type.args)

    def _number(self, field: Field) -> int:
        match field.role:
            case "txn_id":
                return self._ids.txn
            case "lock_id":
                return self._ids.lock
            case "table_id":
                return self._ids.table
            case "limit":
                return -1
        if any(word in field.name.lower() for word in MANY):
            return -1
        return NUMBERS.get(field.name, self._kind)

    def _text(self, owner: str, field: Field) -> Any:
        role = field.role
        if role in PLACED:
            return self._placed(role or "")
        match role:
            case "part_name":
                return f"p={VALUES[self._kind]}"
            case "part_values":
                return (NEW_VALUES if owner.startswith("Partition") else VALUES)[self._kind]
            case "function":
                return "vf"
            case "pattern":
                return "*"
            case "location":
                return PLACES[self._kind]
            case "relative_location":
                return "/../vt"
            case "connector":
                return "vconn"
            case "user":
                return "vrole" if "role" in field.name.lower() else PERSONS[self._kind]
            case "name":
                return NAMES.get(f"{owner}.{field.name}", NAMES.get(field.name, "x"))
        if owner == "FieldSchema" and field.name == "name":
            return "p" if "partition" in field.name else "a"
        if "col" in field.name.lower() and "name" in field.name.lower():
            return "a"
        if field.name == "filter" and self._about == "table":
            return TABLE_FILTER
        return TEXTS.get(field.name, "x")

    def _placed(self, role: str) -> Any:
        at = len(self.places)
        self.places.append(role)
        if role == self._absent:
            return None
        if self._instead is not None and self._instead[0] == at:
            return self._instead[1]
        spelled = self._spelling
        return {"cat": spelled.cat, "db": spelled.db, "table": spelled.table, "full_name": spelled.full}[role]


class Attack(NamedTuple):
    """One call, and how it was made."""

    args: tuple[Any, ...]
    how: str


def attacks(method: Method, ids: Ids, spellings: tuple[Spelling, ...] = SPELLINGS) -> Iterator[Attack]:
    """Every call of a method: each spelling, each place with something else, with and without a request struct."""
    seen: set[str] = set()
    for attack in _attacks(method, ids, spellings):
        # Methods without names have the same arguments in every spelling.
        if (text := repr(attack.args)) not in seen:
            seen.add(text)
            yield attack


def _attacks(method: Method, ids: Ids, spellings: tuple[Spelling, ...]) -> Iterator[Attack]:
    yield Attack((None,) * len(method.args), "no arguments")
    empty = tuple(STRUCTS[each.type.name]() if each.type.name in STRUCTS else None for each in method.args)
    yield Attack(empty, "empty structs")
    for amount in (REQUIRED, SPARE, FULL):
        for kind in (0, 1, 2):
            filler = Filler(PLAIN, ids, amount=amount, kind=kind)
            yield Attack(filler.args(method), f"{kind=}, {amount=}")
        for spelling in spellings:
            yield Attack(Filler(spelling, ids, amount=amount).args(method), f"{spelling}, {amount=}")
        for role in PLACED:
            yield Attack(Filler(PLAIN, ids, amount=amount, absent=role).args(method), f"no {role}, {amount=}")
        for at, role in enumerate(filler.places[:MOST_PLACES]):
            for other in SUBSTITUTES[role]:
                changed = Filler(PLAIN, ids, amount=amount, instead=(at, other))
                yield Attack(changed.args(method), f"{role} {at} is {other!r}, {amount=}")
