"""A metastore behind the gate, without a network. Tests with `guarded` run on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from metastored.gate.authorized import Authorized
from metastored.gate.caller import Policy
from metastored.hive.generation import Generation
from metastored.service.bootstrap import ensure_defaults
from metastored.service.core.context import Service
from metastored.service.local import Local
from metastored.store.engine.database import Database
from metastored.store.engine.migrate import ensure_schema
from metastored.store.engine.opening import open_database
from metastored.store.warehouse.directories import Warehouse
from metastored.threads import Pool
from metastored.wire.generated.common import (
    PrincipalType,
    PrivilegeGrantInfo,
    SerDeInfo,
    Table,
)
from metastored.wire.generated.databases import Database as DatabaseStruct
from metastored.wire.generated.roles import HiveObjectPrivilege, HiveObjectRef, HiveObjectType, PrivilegeBag, Role
from metastored.wire.message import Call, Handler, Reply, Session
from metastored.wire.methods import METHODS
from tests.store.conftest import Opener
from tests.store.conftest import opener as opener
from tests.store.conftest import place as place
from tests.support.objects import bare_storage, bare_table

USER, ROLE, GROUP = PrincipalType.USER, PrincipalType.ROLE, PrincipalType.GROUP
WAREHOUSE = "file:/nowhere"


def call_of(name: str, *args: Any) -> Call:
    method = METHODS[name]
    return Call(method, (*args, *[None] * (len(method.args) - len(args))))


def session_of(user: str | None, groups: tuple[str, ...] = ()) -> Session:
    session = Session("10.0.0.7:4711", Generation.HIVE_3_1, user)
    session.groups = groups
    return session


def table(name: str, owner: str, db: str = "d", location: str | None = None, **other: Any) -> Table:
    sd = bare_storage((("a", "int"),), location, serdeInfo=SerDeInfo())
    return bare_table(db, name, keys=("p",), **{"owner": owner, "sd": sd, "parameters": None, **other})


def on_table(db: str, name: str) -> HiveObjectRef:
    return HiveObjectRef(objectType=HiveObjectType.TABLE, dbName=db, objectName=name)


def on_database(db: str) -> HiveObjectRef:
    return HiveObjectRef(objectType=HiveObjectType.DATABASE, dbName=db)


EVERYTHING = HiveObjectRef(objectType=HiveObjectType.GLOBAL)


def bag(ref: HiveObjectRef, word: str, to: str, kind: int = USER, *, option: bool = False) -> PrivilegeBag:
    info = PrivilegeGrantInfo(privilege=word, grantor="root", grantorType=USER, grantOption=option)
    return PrivilegeBag(
        privileges=(HiveObjectPrivilege(hiveObject=ref, principalName=to, principalType=kind, grantInfo=info),)
    )


class Guarded:
    """A metastore behind the gate: calls of any user through the gate, and `unguarded` calls of `root`."""

    def __init__(self, database: Database, wrap: Callable[[Handler, Service, Pool], Handler]) -> None:
        self.service = Service(database, Warehouse(WAREHOUSE, "off"), admins=frozenset({"root"}))
        ensure_defaults(self.service)
        self.pool = Pool(2)
        self.local = Local(self.service, self.pool)
        self.handler = wrap(self.local, self.service, self.pool)
        self.loop = asyncio.new_event_loop()

    def reply(self, session: Session, name: str, *args: Any) -> Reply:
        return self.loop.run_until_complete(self.handler.handle(call_of(name, *args), session))

    def call(self, user: str | None, name: str, *args: Any, groups: tuple[str, ...] = ()) -> Any:
        """The result of a call of this user; raises its error."""
        return self.reply(session_of(user, groups), name, *args).value(METHODS[name])

    def unguarded(self, name: str, *args: Any) -> Any:
        """The result of the metastore itself, without the gate."""
        call = call_of(name, *args)
        return self.loop.run_until_complete(self.local.handle(call, session_of("root"))).value(call.method)

    def grant(self, ref: HiveObjectRef, word: str, to: str, kind: int = USER, *, option: bool = False) -> None:
        self.unguarded("grant_privileges", bag(ref, word, to, kind, option=option))

    def close(self) -> None:
        self.pool.close()
        self.loop.close()


def authorized(inner: Handler, service: Service, pool: Pool) -> Handler:
    return Authorized(inner, service.database, pool, Policy(frozenset({"root"}), service.warehouse.root))


@pytest.fixture
def guarded(opener: Opener) -> Iterator[Guarded]:
    """dana owns the database d, tom its table t; rose has the role r; root is admin."""
    database = opener()
    ensure_schema(database)
    guarded = Guarded(database, authorized)
    guarded.unguarded("create_database", DatabaseStruct(name="d", ownerName="dana", ownerType=USER))
    guarded.unguarded("create_table", table("t", "tom"))
    guarded.unguarded("create_role", Role(roleName="r"))
    guarded.unguarded("grant_role", "r", "rose", USER, "root", USER, False)
    yield guarded
    guarded.close()


class Nothing:
    """A handler whose every reply is empty."""

    async def handle(self, call: Call, session: Session) -> Reply:
        return Reply.of(call.method, None)


@pytest.fixture(scope="session")
def empty_metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """A gate before a handler with empty replies."""
    database = open_database(None, tmp_path_factory.mktemp("gate"), threads=4)
    ensure_schema(database)
    guarded = Guarded(database, lambda inner, service, pool: authorized(Nothing(), service, pool))
    yield guarded
    guarded.close()
    database.close()
