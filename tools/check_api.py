"""Checks the API files and prints problems; fails if there are any: `python tools/check_api.py`.

Routing, renaming, authorization and audit find names and locations by their roles only, so they would ignore a name
whose field has no role. It also checks every attribute against its vocabulary (see
`src/metastored/wire/api/__init__.py`) and to what it claims: a method that is routed by names must have names to route
by.

It reads the modules that `tools/generate.py` generated; `generate.py --check` checks that they are current.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from metastored.errors import THRIFT_EXCEPTIONS
from metastored.wire.generated import STRUCTS
from metastored.wire.methods import METHODS, Method
from metastored.wire.methods.naming import argument_names
from metastored.wire.methods.plan import old_layout
from metastored.wire.structs import fields
from metastored.wire.types import Field, Type


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OBJECTS = words(
    "catalog column_statistics compaction config connector constraint database file_metadata function index lock "
    "notification package partition privilege procedure replication_metrics resource_plan role runtime_stats "
    "scheduled_query schema service table token transaction type"
)
VOCABULARY = {
    "verb": words("read write ddl grant admin session"),
    "object": OBJECTS,
    "cost": words("point scan write"),
    "route": words("local names pattern all id"),
    "merge": words("none concat sorted_union sum"),
    "retry": words("safe lookup never"),
}
HOOKS = words("lock snapshot notifications grants filter definitions txn_range check heartbeat end")
EVENTS = words(
    "CREATE_CATALOG ALTER_CATALOG DROP_CATALOG CREATE_DATABASE ALTER_DATABASE DROP_DATABASE "
    "CREATE_TABLE ALTER_TABLE DROP_TABLE ADD_PARTITION ALTER_PARTITION ALTER_PARTITIONS DROP_PARTITION INSERT RELOAD "
    "CREATE_FUNCTION DROP_FUNCTION CREATE_DATACONNECTOR ALTER_DATACONNECTOR DROP_DATACONNECTOR "
    "ADD_PRIMARYKEY ADD_FOREIGNKEY ADD_UNIQUECONSTRAINT ADD_NOTNULLCONSTRAINT ADD_DEFAULTCONSTRAINT "
    "ADD_CHECKCONSTRAINT DROP_CONSTRAINT CREATE_ISCHEMA ALTER_ISCHEMA DROP_ISCHEMA "
    "ADD_SCHEMA_VERSION ALTER_SCHEMA_VERSION DROP_SCHEMA_VERSION OPEN_TXN COMMIT_TXN ABORT_TXN "
    "ALLOC_WRITE_ID_EVENT ACID_WRITE_EVENT BATCH_ACID_WRITE_EVENT COMMIT_COMPACTION_EVENT "
    "UPDATE_TBL_COL_STAT_EVENT DELETE_TBL_COL_STAT_EVENT UPDATE_PART_COL_STAT_EVENT DELETE_PART_COL_STAT_EVENT"
)
PRIVILEGES = re.compile(
    r"admin|service|admin with \w+(\|\w+)*|use location|(select|insert|update|delete)(\|(insert|update|delete))* table"
    rf"|(create|alter|drop) ({'|'.join(sorted(OBJECTS))})|grant (role|privilege)"
    r"|select (connector|package|procedure|schema)|own (transaction|lock)"
)

# Compared with a field's name in lower case and without underscores. A pattern of parameter keys is not one of names;
# a host is not an object; columns have no privileges of their own, and are in every storage descriptor.
_THING = "db|database|tbl|tb|table|cat|catalog|part|partition|func|function|connector"
NAMED_LIKE = re.compile(
    rf"({_THING})s?(vals?|values?|specs?|lists?)?$|(?<!paramkey)patterns?$|(?<!host)(?<!col)(?<!column)names?$|^tablesused$"
)
NAMED_BARELY = re.compile(r"^values?$")
OWNED_BY = re.compile(r"database|table|catalog|part|function", re.IGNORECASE)
LOCATED_LIKE = re.compile(r"location|path|ur[il]s?$|dir(ectory|ectories)?(list|s)?$|files?(added)?$")
ID_ROLES = words("txn_id lock_id table_id limit")

_BY_COLUMN = "a map from partition column to value; a role on a map is that of its keys"
_BY_REPLICATION = "what a replication source wrote, which commit_txn takes from admins only"
EXEMPT = {
    "FieldSchema.name": "a column",
    "SerDeInfo.name": "a SerDe of its own only in add_serde, which is for admins; every storage descriptor has one",
    "SkewedInfo.skewedColValueLocationMaps": "a role on a map is that of its keys; the server opens none of its values",
    "WriteEventInfo.files": _BY_REPLICATION,
    "get_config_value.name": "a setting",
    "CreateDatabaseRequest.remote_dbname": "a name in the remote, which is never renamed here",
    "Database.remote_dbname": "a name in the remote, which is never renamed here",
    "FireEventRequest.batchPartitionValsForRefresh": "lists of lists carry no role",
    "PartitionsByExprRequest.defaultPartitionName": "the text of a null value",
    "exchange_partition.partitionSpecs": _BY_COLUMN,
    "exchange_partitions.partitionSpecs": _BY_COLUMN,
    "isPartitionMarkedForEvent.part_vals": _BY_COLUMN,
    "markPartitionForEvent.part_vals": _BY_COLUMN,
    "partition_name_to_spec.returns": _BY_COLUMN,
}


def is_textual(type: Type) -> bool:
    """A string, a list or set of strings however deep, or a map with string keys."""
    return type.name in ("string", "binary") or (bool(type.args) and is_textual(type.args[0]))


def can_have_role(type: Type, role: str) -> bool:
    """Whether a role fits a type: ids and limits on numbers, names on text; lists, sets; names also on a map's keys."""
    kinds = ("i64", "i16") if role in ID_ROLES else ("string", "binary")
    if type.name in ("list", "set"):
        return type.args[0].name in kinds
    return type.name in kinds or (type.name == "map" and type.args[0].name == "string" and "string" in kinds)


def is_named_like_an_object(owner: str, name: str) -> bool:
    plain = name.lower().replace("_", "")
    return bool(NAMED_LIKE.search(plain)) or bool(NAMED_BARELY.search(plain) and OWNED_BY.search(owner))


def is_named_like_a_location(name: str) -> bool:
    return bool(LOCATED_LIKE.search(name.lower().replace("_", "")))


def field_problems(owner: str, field: Field) -> Iterator[str]:
    """The problems of one field of a struct or one argument of a method."""
    where = f"{owner}.{field.name}"
    if field.role is not None:
        if where in EXEMPT:
            yield f"{where} has a role and an exemption in tools/check_api.py; remove the exemption"
        if not can_have_role(field.type, field.role):
            yield f"{where} is a {field.type}, which cannot have the role @{field.role}"
    elif where not in EXEMPT and is_textual(field.type) and is_named_like_an_object(owner, field.name):
        yield f"{where} is named like an object and has no role; give it one, or a reason in EXEMPT"
    elif where not in EXEMPT and is_textual(field.type) and is_named_like_a_location(field.name):
        yield f"{where} is named like a location and has no role; give it one, or a reason in EXEMPT"


def result_problems(method: Method) -> Iterator[str]:
    """The problems of the role of a method's result."""
    where = f"{method.name}.returns"
    if method.returns is None or where in EXEMPT:
        return
    if method.returns_role is not None:
        if not can_have_role(method.returns, method.returns_role):
            yield f"{where} is a {method.returns}, which cannot have the role @{method.returns_role}"
    elif is_textual(method.returns) and method.object in ("catalog", "database", "table", "partition", "function"):
        yield f"{where} lists objects and has no role; write {str(method.returns) + ' @role'!r}"


def word_problems(method: Method) -> Iterator[str]:
    """Attributes that are missing, or whose value is not in the vocabulary."""
    for attribute, known in VOCABULARY.items():
        value = getattr(method, attribute)
        if not value:
            yield f"{method.name} has no {attribute}; it is one of {', '.join(sorted(known))}"
        elif value not in known:
            yield f"{method.name} has {attribute} {value!r}; it is one of {', '.join(sorted(known))}"
    if method.hook and method.hook not in HOOKS:
        yield f"{method.name} has hook {method.hook!r}; known are {', '.join(sorted(HOOKS))}"
    for event in method.event.split():
        if event not in EVENTS:
            yield f"{method.name} has event {event!r}, which is not a kind of notification"
    for need in filter(None, method.privileges.split(", ")):
        if not PRIVILEGES.fullmatch(need):
            yield f"{method.name} has privilege {need!r}; see src/metastored/wire/api/__init__.py for the vocabulary"
    if not re.fullmatch(r"[A-Z][^\n]{8,108}\.", method.doc):
        yield f"{method.name} has the doc {method.doc!r}; it is a sentence of at most 110 characters"
    declared = {*method.throws, *(name for version in method.versions for name in method.throws_in(version))}
    for name in sorted(declared - set(THRIFT_EXCEPTIONS)):
        yield f"{method.name} throws {name}, which is not an exception of the API"


def claim_problems(method: Method) -> Iterator[str]:
    """Attributes that contradict each other or the arguments."""
    roles = {position.role for position in argument_names(method)}
    routed_by = {"names": {"db", "full_name"}, "pattern": {"db", "pattern"}, "id": {"txn_id", "lock_id"}}
    if (by := routed_by.get(method.route)) and not roles & by:
        yield f"{method.name} has route {method.route}, but no argument with role {' or '.join(sorted(by))}"
    if method.merge != "none" and method.route in ("local", "id"):
        yield f"{method.name} merges replies, but route {method.route} has one reply"
    if method.route in ("all", "pattern") and method.merge == "none":
        yield f"{method.name} has route {method.route}, but does not say how replies are merged"
    if method.verb == "read" and (method.cost == "write" or method.retry != "safe" or method.event):
        yield f"{method.name} is a read: its cost is not a write, its retry safe, and it writes no event"
    if method.verb in ("write", "ddl", "grant") and method.cost != "write":
        yield f"{method.name} is a {method.verb}, so its cost is write"
    if " table" in method.privileges and not roles & {"table", "full_name"}:
        yield f"{method.name} needs {method.privileges!r}, but no argument names a table"
    yield from ownership_problems(method, roles)
    if "location" in method.privileges and "location" not in roles:
        yield f"{method.name} needs {method.privileges!r}, but no argument is a location"


def ownership_problems(method: Method, roles: set[str]) -> Iterator[str]:
    """Transactions and locks have ids that are easy to guess: only the user who opened one may use it.

    Methods about tables have such a number too, and ignore it.
    """
    needs = method.privileges.split(", ")
    about = method.object in ("transaction", "lock", "notification")
    for role, kind in (("txn_id", "transaction"), ("lock_id", "lock")):
        settled = f"own {kind}" in needs or "admin" in needs or method.hook == "filter"
        if about and role in roles and not settled:
            yield f"{method.name} takes the number of a {kind}, so it needs 'own {kind}'"
        if role not in roles and f"own {kind}" in needs:
            yield f"{method.name} needs 'own {kind}', but no argument is the number of one"
    known = {field.name for argument in method.args for field in _fields_of(argument.type)}
    for name in (*method.changes_with, *(word for need in needs for word in _conditions(need))):
        if name not in known:
            yield f"{method.name} names the field {name}, which its request does not have"
    if method.changes_with and method.verb != "session":
        yield f"{method.name} has changes_with, but is not a session method: it changes something anyway"


def _fields_of(type: Type) -> tuple[Field, ...]:
    return fields(STRUCTS[type.name]) if type.name in STRUCTS else ()


def _conditions(need: str) -> list[str]:
    return need.removeprefix("admin with ").split("|") if need.startswith("admin with ") else []


def problems() -> Iterator[str]:
    """All problems, as lines that begin with the file."""
    seen: set[str] = set()
    for name, cls in STRUCTS.items():
        topic = cls.__module__.rpartition(".")[2]
        old = old_layout(name)
        for field in (*fields(cls), *(old[1] if old else ())):
            seen.add(f"{name}.{field.name}")
            yield from (f"{topic}.toml: {problem}" for problem in field_problems(name, field))
    for method in METHODS.values():
        seen.add(f"{method.name}.returns")
        seen.update(f"{method.name}.{field.name}" for field in method.args)
        lines = [
            *(problem for field in method.args for problem in field_problems(method.name, field)),
            *result_problems(method),
            *word_problems(method),
            *claim_problems(method),
        ]
        yield from (f"{method.topic}.toml: {problem}" for problem in lines)
    for where in sorted(set(EXEMPT) - seen):
        yield f"tools/check_api.py: EXEMPT has {where}, which is not in the API"


def main() -> int:
    lines = list(problems())
    for line in lines:
        print(line)
    print(f"{len(METHODS)} methods and {len(STRUCTS)} structs, {len(lines)} problems")
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
