"""The method table: what every method of the metastore takes, gives, throws and costs.

Routing, renaming, authorisation, audit, metrics, retries and the reference read it; none lists methods by hand.
It is data from `api/*.toml`; this module only gives it types. It never calls a method. `naming.py` and `plan.py` derive
from it where names are, and how structs are laid out.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any, Final

from metastored.wire.generated.methods import TABLE
from metastored.wire.types import Field, Type, parse_field, parse_returns, parse_versions


class Method:
    """One Thrift method. See `api/__init__.py` for what each attribute means."""

    def __init__(self, name: str, row: tuple[Any, ...]) -> None:
        self.name: Final = name
        self.name_bytes: Final = name.encode()
        self.topic: str = row[0]
        self._args: tuple[str, ...] = row[1]
        self._returns: str = row[2]
        self._throws: tuple[str, ...] = row[3]
        self._throws_in: tuple[tuple[str, tuple[str, ...]], ...] = row[4]
        self._versions: str = row[5]
        self.oneway: bool = row[6]
        self.verb: str = row[7]
        self.object: str = row[8]
        self.cost: str = row[9]
        self.route: str = row[10]
        self.merge: str = row[11]
        self.retry: str = row[12]
        self.privileges: str = row[13]
        self.event: str = row[14]
        self.hook: str = row[15]
        self.changes_with: tuple[str, ...] = row[16]
        self.doc: str = row[17]
        self.reads_columns = True
        """Whether the columns of tables in a long reply are decoded; see `replies/unread.py`."""

    def __repr__(self) -> str:
        return f"Method({self.name})"

    @cached_property
    def with_unread_columns(self) -> Method:
        """The same method for a caller that can do without the columns of the tables in a long reply."""
        method = copy(self)
        method.reads_columns = False
        return method

    @cached_property
    def args(self) -> tuple[Field, ...]:
        return tuple(parse_field(line) for line in self._args)

    @cached_property
    def returns(self) -> Type | None:
        """The type of the result's field 0; None for void."""
        return parse_returns(self._returns)[0]

    @cached_property
    def returns_role(self) -> str | None:
        """The role of a result that is itself a name, or a list of names."""
        return parse_returns(self._returns)[1]

    @cached_property
    def versions(self) -> tuple[str, ...]:
        return parse_versions(self._versions)

    @cached_property
    def throws(self) -> dict[str, int]:
        """Exception name to its field id in the result."""
        return _throws(self._throws)

    def throws_in(self, version: str) -> dict[str, int]:
        """The same as a server of this version declares it."""
        for versions, throws in self._throws_in:
            if version in parse_versions(versions):
                return _throws(throws)
        return self.throws


def _throws(lines: tuple[str, ...]) -> dict[str, int]:
    return {name: int(number) for number, name in (line.split() for line in lines)}


METHODS: Final[dict[str, Method]] = {name: Method(name, row) for name, row in TABLE.items()}
BY_BYTES: Final[dict[bytes, Method]] = {method.name_bytes: method for method in METHODS.values()}
"""By the name's bytes, as it comes from the wire."""
