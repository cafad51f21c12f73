"""A database of a real Hive metastore, read through metastored's routing under another name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from metastored.connectors.registry import Connectors
from metastored.connectors.thrift import ThriftMetastore
from metastored.errors import NoSuchObjectException
from metastored.model.remotes.definitions import Definitions
from metastored.model.remotes.values import remote_parameters
from metastored.remotes.definitions import Known
from metastored.remotes.endpoints import Endpoints
from metastored.remotes.routing import Routed
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.tables import GetTableRequest
from metastored.wire.message import Call, Handler, Session
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.support.apache import ApacheMetastore
from tests.support.client import Client
from tests.support.forks import running_server
from tests.support.memory_metastore import MemoryMetastore
from tests.support.remotes import remote_database

pytestmark = pytest.mark.apache

THERE = "routed_there"
HERE = "here"
COLUMNS = tuple(FieldSchema(f"c{i}", "string", f"column {i}") for i in range(50))


class Both:
    """The real metastore asked directly, and through the routing."""

    def __init__(self, server: ApacheMetastore) -> None:
        uri = f"thrift://{server.host}:{server.port}"
        self.direct = ThriftMetastore(uri)
        local = MemoryMetastore({"default": (), HERE: ()})
        remote = remote_database(HERE, THERE, uri)
        self.configuration = remote_parameters(remote, masked=True)
        self.known = Known(Definitions([remote]))
        self.endpoints = Endpoints(Connectors().connect)
        self.routed = Routed(local, self.definitions, self.endpoints)

    async def definitions(self) -> Known:
        return self.known

    async def ask(self, handler: Handler, name: str, *args: Any) -> Any:
        method = METHODS[name]
        return (await handler.handle(Call(method, args), Session(user="ann"))).value(method)


@asynccontextmanager
async def made(server: ApacheMetastore) -> AsyncIterator[Both]:
    """A database with a partitioned table of two partitions, dropped in the end."""
    both = Both(server)
    location = f"file:{server.warehouse}/{THERE}.db"
    sd = StorageDescriptor(
        cols=COLUMNS,
        location=f"{location}/clicks",
        inputFormat="org.apache.hadoop.mapred.TextInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        compressed=False,
        numBuckets=-1,
        serdeInfo=SerDeInfo(
            name="", serializationLib="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", parameters={}
        ),
        bucketCols=(),
        sortCols=(),
        parameters={},
    )
    table = Table(
        tableName="clicks",
        dbName=THERE,
        owner="ann",
        sd=sd,
        partitionKeys=(FieldSchema("ds", "string", None),),
        parameters={"EXTERNAL": "TRUE"},
        tableType="EXTERNAL_TABLE",
    )
    await both.ask(both.direct, "create_database", Database(name=THERE, description="", locationUri=location))
    try:
        await both.ask(both.direct, "create_table", table)
        partitions = tuple(
            Partition((f"{day}",), THERE, "clicks", 0, 0, replace(sd, location=f"{location}/clicks/ds={day}"), {})
            for day in (1, 2)
        )
        await both.ask(both.direct, "add_partitions", partitions)
        yield both
    finally:
        await both.ask(both.direct, "drop_database", THERE, True, True)
        await both.direct.close()
        await both.endpoints.close()


def test_a_table_is_the_same_in_every_field_but_the_name_of_its_database(hive_2_3: ApacheMetastore) -> None:
    async def test() -> None:
        async with made(hive_2_3) as both:
            direct = await both.ask(both.direct, "get_table", THERE, "clicks")
            routed = await both.ask(both.routed, "get_table", HERE, "clicks")
            assert direct.sd.cols == COLUMNS
            shown = {**direct.parameters, **both.configuration, "metastored.remote": f"{THERE}.clicks"}
            assert routed == replace(direct, dbName=HERE, parameters=shown)

    asyncio.run(test())


def test_partitions_and_listings_are_the_same_but_for_the_name_of_their_database(hive_2_3: ApacheMetastore) -> None:
    async def test() -> None:
        async with made(hive_2_3) as both:
            direct = await both.ask(both.direct, "get_partitions", THERE, "clicks", -1)
            assert len(direct) == 2
            routed = await both.ask(both.routed, "get_partitions", HERE, "clicks", -1)
            assert routed == tuple(replace(part, dbName=HERE) for part in direct)
            for name, args in {
                "get_all_tables": (),
                "get_tables": ("c*",),
                "get_partition_names": ("clicks", -1),
                "get_fields": ("clicks",),
                "get_partitions_by_filter": ("clicks", "ds = '1'", -1),
            }.items():
                there = await both.ask(both.direct, name, THERE, *args)
                here = await both.ask(both.routed, name, HERE, *args)
                assert here == tuple(
                    replace(item, dbName=HERE) if isinstance(item, Partition) else item for item in there
                ), name

    asyncio.run(test())


def test_the_database_itself_and_its_tables_are_listed_under_the_local_name(hive_2_3: ApacheMetastore) -> None:
    async def test() -> None:
        async with made(hive_2_3) as both:
            direct = await both.ask(both.direct, "get_database", THERE)
            assert await both.ask(both.routed, "get_database", HERE) == replace(
                direct, name=HERE, parameters={**(direct.parameters or {}), **both.configuration}
            )
            assert await both.ask(both.routed, "get_all_databases") == ("default", HERE)
            listed = await both.ask(both.routed, "get_table_meta", "*", "*", ())
            assert [(table.dbName, table.tableName) for table in listed] == [(HERE, "clicks")]

    asyncio.run(test())


def test_a_table_that_is_not_there_is_named_by_its_local_name(hive_2_3: ApacheMetastore) -> None:
    async def test() -> None:
        async with made(hive_2_3) as both:
            named = rf"^{HERE}\.nothing table not found \(remote database '{HERE}' \('{THERE}' at thrift://.*\)\)$"
            with pytest.raises(NoSuchObjectException, match=named):
                await both.ask(both.routed, "get_table", HERE, "nothing")

    asyncio.run(test())


@pytest.mark.parametrize("version", ["hive_2_3", "hive_3_1", pytest.param("hive_4_0_1", marks=pytest.mark.peers)])
def test_a_client_makes_a_remote_database_of_a_real_metastore_by_its_address(
    version: str, request: pytest.FixtureRequest
) -> None:
    server: ApacheMetastore = request.getfixturevalue(version)
    uri = f"thrift://{server.host}:{server.port}"

    async def test(here: Client) -> None:
        async with made(server) as both:
            parameters = {"hive.metastore.uris": uri, "metastored.remote": THERE}
            here.call("create_database", Database(name="Old", parameters=parameters))
            here.call("create_database", Database(name="shop"))
            link = Table(
                tableName="seen",
                dbName="shop",
                sd=StorageDescriptor(cols=(FieldSchema("ignored", "int", None),), location="/nowhere"),
                parameters={"hive.metastore.uris": uri, "metastored.remote": f"{THERE}.clicks"},
            )
            here.call("create_table", link)
            assert here.call("get_all_tables", "old") == ("clicks",)
            request = GetTableRequest(dbName=THERE, tblName="clicks")
            direct = (await both.ask(both.direct, "get_table_req", request)).table
            for database, table in (("old", "clicks"), ("shop", "seen")):
                routed: Table = here.call("get_table", database, table)
                assert (routed.dbName, routed.tableName, routed.sd) == (database, table, direct.sd)
                assert routed.parameters is not None
                assert routed.parameters["metastored.remote"] == f"{THERE}.clicks"
                parts = here.call("get_partitions_by_filter", database, table, "ds = '2'", -1)
                assert [(part.dbName, part.tableName, part.values) for part in parts] == [(database, table, ("2",))]
            with pytest.raises(NoSuchObjectException, match=r"old\.nothing table not found"):
                here.call("get_table", "old", "nothing")
            here.call("drop_table", "shop", "seen", True)
            here.call("drop_database", "old", True, True)
            assert len(await both.ask(both.direct, "get_partitions", THERE, "clicks", -1)) == 2

    with running_server(compat="3.1") as metastored:
        client = Client(metastored.host, metastored.port)
        try:
            asyncio.run(test(client))
        finally:
            client.close()
