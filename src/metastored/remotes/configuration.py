"""A remote's configuration in the parameters of what it shows: added to what callers get, taken out of what they send.

Secrets are masked. A table of a remote database has the configuration of its database, with its own remote name. The
managed tables of a read-only remote are external ones here (`renaming.py` replaces their type).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from metastored.hive.names import normalize
from metastored.model.kinds import EXTERNAL_PARAMETER, MANAGED
from metastored.model.remotes.keys import REMOTE, is_remote, is_remote_key
from metastored.model.remotes.values import Access, Remote, remote_keys, remote_parameters, without_remote_keys
from metastored.remotes.renaming import Renaming
from metastored.remotes.views import SPARK_2_DATABASE, SPARK_NAMESPACE, rename_property
from metastored.wire.edit.parameters import Entries, edit_parameters
from metastored.wire.generated.common import Table
from metastored.wire.generated.databases import Database
from metastored.wire.message import Call
from metastored.wire.methods import Method
from metastored.wire.structs import Struct, new, replace

Described = Table | Database
"""What has the configuration of a remote in its parameters."""

_MANAGED, _EXTERNAL = MANAGED.encode(), EXTERNAL_PARAMETER.encode()
_OF_SPARK = (SPARK_NAMESPACE.encode(), SPARK_2_DATABASE.encode())


@lru_cache(maxsize=1024)
def shown_parameters(remote: Remote, table: str | None) -> dict[str, str]:
    """What callers see of a remote's definition, for the remote itself or a table of the remote database."""
    parameters = remote_parameters(remote, masked=True)
    if table is not None and remote.table is None:
        parameters[REMOTE] = f"{remote.remote_database}.{table}"
    return parameters


@lru_cache(maxsize=1024)
def _shown_entries(remote: Remote, table: bytes | None) -> Entries:
    """The same, encoded. The list is shared: callers do not change it."""
    name = None if table is None else table.decode("utf-8", "replace")
    return [(key.encode(), value.encode()) for key, value in shown_parameters(remote, name).items()]


def add_configuration(method: Method, body: bytes, remote: Remote, renaming: Renaming) -> bytes:
    """The remote's result with its configuration in each table and database, before names are replaced."""
    is_table = method.object != "database"
    read_only = is_table and remote.access is not Access.WRITE

    def edit(name: bytes, type: bytes, entries: Entries) -> Entries:
        if read_only and type == _MANAGED:
            entries = [(key, value) for key, value in entries if key.upper() != _EXTERNAL] + [(_EXTERNAL, b"TRUE")]
        kept = [
            (key, _of_view(key, value, renaming))
            for key, value in entries
            if not is_remote_key(key.decode("utf-8", "replace"))
        ]
        return kept + _shown_entries(remote, name if is_table else None)

    return edit_parameters(method, body, edit)


def _of_view(key: bytes, value: bytes, renaming: Renaming) -> bytes:
    if not key.startswith(_OF_SPARK):
        return value
    text = value.decode("utf-8", "surrogateescape")
    return rename_property(key.decode(), text, renaming.database).encode("utf-8", "surrogateescape")


def tables_in(value: Any) -> list[Table]:
    """The definitions of tables in decoded arguments, not those inside of another one."""
    if isinstance(value, Table):
        return [value]
    return [table for item in value for table in tables_in(item)] if isinstance(value, tuple) else []


def changes_definition(call: Call, remote: Remote) -> bool:
    """Whether an ALTER of a remote table is about the definition here: its name, or the keys of the remote."""
    for table in tables_in(call.args):
        if normalize(table.tableName or remote.table or "") != remote.table:
            return True
        if normalize(table.dbName or remote.database).rpartition("#")[2] != remote.database:
            return True
        given = remote_keys(table.parameters)
        if given and given != shown_parameters(remote, remote.table):
            return True
    return False


def other_configuration(call: Call, remote: Remote) -> str | None:
    """A key of remotes whose value a call would change in a table of a remote database; None where there is none."""
    for table in tables_in(call.args):
        expected = shown_parameters(remote, normalize(table.tableName or ""))
        for key, value in remote_keys(table.parameters).items():
            # A rename sends the configuration of the old name.
            if key != REMOTE and expected.get(key) != value:
                return key
    return None


def makes_remote(call: Call) -> bool:
    """Whether the parameters of a new database make it a remote one."""
    given = [arg for arg in call.args if isinstance(arg, Struct)]
    nested = [item for arg in given for item in arg if isinstance(item, Struct)]
    return any(is_remote(getattr(each, "parameters", None)) for each in (*given, *nested))


def without_configuration(call: Call) -> Call:
    """The call without the keys of remotes in its tables and databases."""
    args = tuple(_edited(arg, _stripped) for arg in call.args)
    return call if args == call.args else Call(call.method, args, call.seqid)


def _stripped(described: Described) -> Described:
    if described.parameters is None:
        return described
    return replace(described, parameters=without_remote_keys(described.parameters))


def _edited(value: Any, edit: Callable[[Described], Described]) -> Any:
    if isinstance(value, Table | Database):
        return edit(value)
    if isinstance(value, Struct):
        return new(type(value), [_edited(item, edit) for item in value])
    if type(value) is tuple:
        return tuple(_edited(item, edit) for item in value)
    return value
