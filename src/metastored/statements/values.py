"""The statements as values. A value has what was written, and no default that the executor fills in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from metastored.statements.basics import Kind as Kind
from metastored.statements.basics import Pairs as Pairs
from metastored.statements.basics import Parts as Parts
from metastored.statements.basics import Principal as Principal
from metastored.statements.definitions import DefinitionStatement
from metastored.statements.materialized import MaterializedStatement
from metastored.statements.rights import RightsStatement
from metastored.statements.shows import ShowStatement


@dataclass(frozen=True, slots=True)
class CreateRemote:
    """CREATE REMOTE TABLE, DATABASE or CATALOG."""

    kind: Kind
    name: Parts
    if_not_exists: bool = False
    comment: str | None = None
    connected_to: Parts | None = None
    via: str | None = None
    using: str | None = None
    """The connector of Hive 4, for a database only."""
    prefix: str | None = None
    """For a catalog only."""
    properties: Pairs = ()


@dataclass(frozen=True, slots=True)
class AlterRemote:
    """ALTER REMOTE TABLE, DATABASE or CATALOG: what is None or empty stays as it is."""

    kind: Kind
    name: Parts
    connected_to: Parts | None = None
    via: str | None = None
    prefix: str | None = None
    set: Pairs = ()
    unset: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DropRemote:
    """DROP REMOTE TABLE, DATABASE or CATALOG: removes the definition, and nothing at the remote."""

    kind: Kind
    name: Parts
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class ShowRemotes:
    """SHOW REMOTES: the definitions, of one database or of all, whose names match."""

    database: Parts | None = None
    like: str | None = None


@dataclass(frozen=True, slots=True)
class ShowCreateRemote:
    """SHOW CREATE REMOTE: the statement that makes the remote again."""

    kind: Kind
    name: Parts


@dataclass(frozen=True, slots=True)
class CreateConnector:
    """Hive 4's CREATE CONNECTOR."""

    name: str
    type: str
    url: str
    if_not_exists: bool = False
    comment: str | None = None
    properties: Pairs = ()


@dataclass(frozen=True, slots=True)
class AlterConnector:
    """ALTER CONNECTOR … SET: one of the three is given."""

    name: str
    url: str | None = None
    properties: Pairs | None = None
    owner: Principal | None = None


@dataclass(frozen=True, slots=True)
class DropConnector:
    """DROP CONNECTOR."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class ShowConnectors:
    """SHOW CONNECTORS."""


@dataclass(frozen=True, slots=True)
class DescribeConnector:
    """DESCRIBE CONNECTOR."""

    name: str
    extended: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """USE: the current database of the statements that follow."""

    name: Parts


Statement: TypeAlias = (
    CreateRemote
    | AlterRemote
    | DropRemote
    | ShowRemotes
    | ShowCreateRemote
    | CreateConnector
    | AlterConnector
    | DropConnector
    | ShowConnectors
    | DescribeConnector
    | Use
    | ShowStatement
    | RightsStatement
    | DefinitionStatement
    | MaterializedStatement
)
