"""A metastore behind the gate, without a network. Tests that take `house` run on SQLite and on a real PostgreSQL."""

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
from tests.store.conftest import postgres as postgres
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


class House:
    """Calls as somebody: through the gate, or past it as `root` would before it was closed."""

    def __init__(self, database: Database, wrap: Callable[[Handler, Service, Pool], Handler]) -> None:
        self.service = Service(database, Warehouse(WAREHOUSE, "off"))
        ensure_defaults(self.service)
        self.pool = Pool(2)
        self.local = Local(self.service, self.pool)
        self.handler = wrap(self.local, self.service, self.pool)
        self.loop = asyncio.new_event_loop()

    def answer(self, session: Session, name: str, *args: Any) -> Reply:
        return self.loop.run_until_complete(self.handler.handle(call_of(name, *args), session))

    def ask(self, user: str | None, name: str, *args: Any, groups: tuple[str, ...] = ()) -> Any:
        """The answer to a user, or the error."""
        return self.answer(session_of(user, groups), name, *args).value(METHODS[name])

    def past(self, name: str, *args: Any) -> Any:
        """The answer of the metastore itself."""
        call = call_of(name, *args)
        return self.loop.run_until_complete(self.local.handle(call, session_of("root"))).value(call.method)

    def grant(self, ref: HiveObjectRef, word: str, to: str, kind: int = USER, *, option: bool = False) -> None:
        self.past("grant_privileges", bag(ref, word, to, kind, option=option))

    def close(self) -> None:
        self.pool.close()
        self.loop.close()


def authorized(inner: Handler, service: Service, pool: Pool) -> Handler:
    return Authorized(inner, service.database, pool, Policy(frozenset({"root"}), service.warehouse.root))


@pytest.fixture
def house(opener: Opener) -> Iterator[House]:
    """dana owns the database d, tom its table t; rose has the role r; root is admin."""
    database = opener()
    ensure_schema(database)
    house = House(database, authorized)
    house.past("create_database", DatabaseStruct(name="d", ownerName="dana", ownerType=USER))
    house.past("create_table", table("t", "tom"))
    house.past("create_role", Role(roleName="r"))
    house.past("grant_role", "r", "rose", USER, "root", USER, False)
    yield house
    house.close()


class Nothing:
    """A handler that answers every call with nothing."""

    async def handle(self, call: Call, session: Session) -> Reply:
        return Reply.of(call.method, None)


@pytest.fixture(scope="session")
def empty_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A gate before a metastore that answers nothing."""
    database = open_database(None, tmp_path_factory.mktemp("gate"), threads=4)
    ensure_schema(database)
    house = House(database, lambda inner, service, pool: authorized(Nothing(), service, pool))
    yield house
    house.close()
    database.close()
