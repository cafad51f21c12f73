"""Which remotes the names in a call's arguments belong to. Pure: it reads roles of fields, and knows no method."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, NamedTuple

from metastored.hive.names import CatalogNameError, FullNameError, decode_catalog_name, normalize, read_full_name
from metastored.model.names import DatabaseName, TableName
from metastored.model.objects import objects_of
from metastored.model.remotes.values import Remote
from metastored.remotes.definitions import Known
from metastored.wire.edit.splice import splice_arguments
from metastored.wire.message import Call
from metastored.wire.methods import Method
from metastored.wire.methods.naming import argument_names, names_in
from metastored.wire.structs import replace

LONG: Final = 16 * 1024
"""Bytes of arguments from which on names are first looked for in the bytes: most of a long call is partitions."""


SHORT: Final = 512
"""Bytes of arguments up to which their owners are cached."""


class Owners(NamedTuple):
    """Whose objects a call names."""

    remotes: tuple[Remote, ...]
    """Each once, in the order of the arguments."""
    local: bool


NOBODY: Final = Owners((), True)


def owners_of(call: Call, known: Known) -> Owners:
    """The remotes that the arguments name. A table counts for itself and not for the database around it."""
    body = call.encoded
    if body is None or len(body) > SHORT:
        return _owners_of(call, known)
    key = (call.method.name, body)
    owners: Owners | None = known.owners.get(key)
    if owners is None:
        owners = _owners_of(call, known)
        known.owners[key] = owners
    return owners


def _owners_of(call: Call, known: Known) -> Owners:
    if not any(map(known.concerns, _database_names(call))):
        return NOBODY
    named = objects_of(call)
    inside = {table.database_name for table in (*named.tables, *named.sources)}
    remotes: dict[Remote, None] = {}
    local = False
    for remote in (
        *(known.table(table) for table in named.tables),
        *(known.database(database) for database in named.databases if database not in inside),
    ):
        if remote is None:
            local = True
        else:
            remotes[remote] = None
    return Owners(tuple(remotes), local)


def _database_names(call: Call) -> set[str]:
    """The names of databases in the arguments, without their catalogs."""
    names: set[str] = set()

    def database(name: str) -> str:
        with suppress(CatalogNameError):  # No name of anything: the local metastore has the error for it.
            names.add(normalize(decode_catalog_name(name).database or ""))
        return name

    def full_name(name: str) -> str:
        with suppress(FullNameError):
            names.add(read_full_name(name)[1])
        return name

    readers = {"db": database, "full_name": full_name}
    if call.size > LONG:
        splice_arguments(call.method, call.body, readers)
    else:
        for role, value in names_in(call.method, call.args):
            if role in readers:
                readers[role](value)
    return names


def shared(remotes: tuple[Remote, ...]) -> bool:
    """Whether one call to one endpoint can be about all of these: databases of one endpoint, or a single remote."""
    return len(remotes) == 1 or (
        all(remote.table is None for remote in remotes) and len({remote.endpoint for remote in remotes}) == 1
    )


def parts_of(call: Call, known: Known) -> dict[Remote | None, Call] | None:
    """A call that names a list of tables as one call for each owner; None where its arguments have no such list.

    The key None is the local metastore.
    """
    position = _list_of_tables(call.method)
    if position is None:
        return None
    path, role = position
    database = next(iter(objects_of(call).databases), None)
    groups: dict[Remote | None, list[str]] = {}
    for name in _read(call.method, call.args, path) or ():
        table = _table(role, name, database)
        groups.setdefault(None if table is None else known.table(table), []).append(name)
    return {
        owner: Call(call.method, _with(call.method, call.args, path, tuple(names)), call.seqid)
        for owner, names in groups.items()
    }


def _list_of_tables(method: Method) -> tuple[tuple[str, ...], str] | None:
    for position in argument_names(method):
        if position.role in ("table", "full_name") and position.path[-1].into == "each":
            return tuple(step.name for step in position.path[:-1]), position.role
    return None


def _table(role: str, name: str, database: DatabaseName | None) -> TableName | None:
    if role == "table":
        return None if database is None else database.table(normalize(name))
    try:
        return TableName(*read_full_name(name))
    except FullNameError:
        return None


def _read(method: Method, args: tuple[Any, ...], path: tuple[str, ...]) -> Any:
    value = args[_index(method, path[0])]
    for name in path[1:]:
        value = None if value is None else getattr(value, name)
    return value


def _with(method: Method, args: tuple[Any, ...], path: tuple[str, ...], names: tuple[str, ...]) -> tuple[Any, ...]:
    at = _index(method, path[0])
    return (*args[:at], _replaced(args[at], path[1:], names), *args[at + 1 :])


def _replaced(value: Any, path: tuple[str, ...], names: tuple[str, ...]) -> Any:
    if not path:
        return names
    return replace(value, **{path[0]: _replaced(getattr(value, path[0]), path[1:], names)})


def _index(method: Method, name: str) -> int:
    return next(at for at, argument in enumerate(method.args) if argument.name == name)
