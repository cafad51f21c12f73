"""A Glue as a remote's definition describes it, on moto's server: keys, roles, filters, versions."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest

from metastored.connectors.context import Context
from metastored.connectors.glue.catalog import GlueSource
from metastored.connectors.registry import Connectors
from metastored.errors import MetaException, NoSuchObjectException, UnknownTableException
from metastored.filters.hive.parser import parse_filter
from metastored.hive.generation import Generation
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.hosts import AllowedHosts
from metastored.store.security.remote_secrets import RemoteSecrets
from metastored.wire.generated.common import (
    EnvironmentContext,
)
from metastored.wire.generated.constraints import PrimaryKeysRequest
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition, PartitionsByExprRequest
from metastored.wire.generated.statistics import PartitionsStatsRequest
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.connectors.test_glue import table_of

pytestmark = pytest.mark.slow

ACCOUNT = "123456789012"
KEYS = {"aws.access.key.id": "testing", "aws.secret.access.key": "testing", "aws.region": "us-east-1"}


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def at(glue: str, timeout: float = 60.0, /, **keys: str) -> Endpoint:
    found = KEYS | {"aws.glue.endpoint": glue} | {key.replace("_", "."): value for key, value in keys.items()}
    return Endpoint("glue", tuple(sorted(found.items())), timeout)


@asynccontextmanager
async def connected(endpoint: Endpoint, context: Context | None = None) -> AsyncIterator[Any]:
    handler: Any = Connectors(context).connect(endpoint)
    try:
        yield handler
    finally:
        await handler.close()


async def ask(handler: Any, name: str, *args: Any) -> Any:
    method = METHODS[name]
    return (await handler.handle(Call(method, args), Session())).value(method)


async def failure_of(handler: Any, name: str = "get_all_databases", *args: Any) -> str:
    with pytest.raises(MetaException) as raised:
        await ask(handler, name, *args)
    return str(raised.value)


@pytest.fixture
def db(glue: str) -> Iterator[str]:
    """A database with the table `t`, partitioned by ds (string) and h (int), with six partitions."""
    name = f"glue_{uuid.uuid4().hex[:12]}"

    async def make() -> None:
        async with connected(at(glue)) as handler:
            await ask(handler, "create_database", Database(name, "all", f"s3://bucket/{name}"))
            await ask(handler, "create_table", table_of(name))
            parts = tuple(Partition(values=(f"d{day}", str(hour)), dbName=name, tableName="t")
                          for day in range(3) for hour in (1, 2))  # fmt: skip
            assert await ask(handler, "add_partitions", parts) == 6

    async def drop() -> None:
        async with connected(at(glue)) as handler:
            await ask(handler, "drop_database", name, True, True)

    run(make())
    yield name
    run(drop())


def client_of(glue: str) -> Any:
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    return boto3.client("glue", endpoint_url=glue, region_name="us-east-1", **keys)


def values(partitions: Any) -> list[tuple[str, ...]]:
    return [part.values for part in partitions]


def test_a_glue_is_read_by_its_endpoint_region_catalog_and_keys(glue: str, db: str) -> None:
    async def test() -> None:
        async with connected(at(glue, hive_metastore_glue_catalogid=ACCOUNT)) as handler:
            assert db in await ask(handler, "get_all_databases")
            assert (await ask(handler, "get_table", db, "t")).owner == "ann"
            with pytest.raises(NoSuchObjectException, match=rf"^{db}\.none table not found$"):
                await ask(handler, "get_table", db, "none")
            with pytest.raises(UnknownTableException):
                await ask(handler, "get_fields", db, "none")

    run(test())


def test_partitions_are_found_in_every_way_that_clients_ask_for_them(glue: str, db: str) -> None:
    async def test() -> None:
        async with connected(at(glue)) as handler:
            assert len(await ask(handler, "get_partitions_with_auth", db, "t", -1, "ann", ())) == 6
            found = await ask(handler, "get_partitions_by_filter", db, "t", "ds = 'd1' and h >= 2", -1)
            assert values(found) == [("d1", "2")]
            (spec,) = await ask(handler, "get_part_specs_by_filter", db, "t", "ds = 'd1' and h >= 2", -1)
            assert values(spec.partitionList.partitions) == [("d1", "2")]
            assert await ask(handler, "get_num_partitions_by_filter", db, "t", "ds like 'd%' and h = 1") == 3
            assert values(await ask(handler, "get_partitions_ps", db, "t", ("d2", ""), -1)) == [
                ("d2", "1"),
                ("d2", "2"),
            ]
            names = await ask(handler, "get_partition_names_ps", db, "t", ("", "1"), -1)
            assert names == ("ds=d0/h=1", "ds=d1/h=1", "ds=d2/h=1")
            found = await ask(handler, "get_partitions_by_names", db, "t", ("ds=d0/h=2", "ds=none/h=1"))
            assert values(found) == [("d0", "2")]
            request = PartitionsByExprRequest(dbName=db, tblName="t", expr=b"ds = 'd0'", maxParts=-1)
            result = await ask(handler, "get_partitions_by_expr", request)
            assert (values(result.partitions), result.hasUnknownPartitions) == ([("d0", "1"), ("d0", "2")], False)

    run(test())


def test_a_filter_is_passed_to_glue(glue: str, db: str) -> None:
    client = client_of(glue)
    sent: list[dict[str, Any]] = []
    client.meta.events.register("provide-client-params.glue.GetPartitions", lambda params, **_: sent.append(params))
    source = GlueSource({}, client=client)
    tree = parse_filter("(ds) in ('d0', 'none') and h between 1 and 1", Generation.HIVE_3_1)
    assert values(source.partitions(db, "t", tree)) == [("d0", "1")]
    assert "Expression" in sent[0]
    source.close()


def test_a_conditional_alter_succeeds_only_while_the_parameter_has_its_value(glue: str, db: str) -> None:
    def expecting(value: str) -> EnvironmentContext:
        return EnvironmentContext({"expected_parameter_key": "b", "expected_parameter_value": value})

    async def test() -> None:
        async with connected(at(glue)) as handler:
            table = await ask(handler, "get_table", db, "t")
            changed = replace(table, parameters={"b": "3"})
            alter = "alter_table_with_environment_context"
            with pytest.raises(MetaException, match="The table has been modified"):
                await ask(handler, alter, db, "t", changed, expecting("1"))
            await ask(handler, alter, db, "t", changed, expecting("2"))
            assert (await ask(handler, "get_table", db, "t")).parameters == {"b": "3"}

    run(test())


def test_a_conditional_alter_names_the_version_that_it_read(glue: str, db: str) -> None:
    client = client_of(glue)
    sent: list[dict[str, Any]] = []
    client.meta.events.register("provide-client-params.glue.UpdateTable", lambda params, **_: sent.append(params))
    source = GlueSource({}, client=client)
    table = source.table(db, "t")
    source.alter_table(db, "t", table)
    source.alter_table_if(db, "t", table, "b", "2")
    assert [each.get("VersionId") for each in sent] == [None, "2"]
    source.close()


def test_partitions_without_statistics_have_none(glue: str, db: str) -> None:
    async def test() -> None:
        async with connected(at(glue)) as handler:
            request = PartitionsStatsRequest(db, "t", ("id",), ("ds=d0/h=1",))
            found = await ask(handler, "get_aggr_stats_for", request)
            assert (found.colStats, found.partsFound) == ((), 0)
            # moto has no such call.
            assert (await ask(handler, "get_partitions_statistics_req", request)).partStats == {}

    run(test())


def test_a_table_of_glue_has_no_constraints(glue: str, db: str) -> None:
    async def test() -> None:
        async with connected(at(glue)) as handler:
            found = await ask(handler, "get_primary_keys", PrimaryKeysRequest(db_name=db, tbl_name="t"))
            assert found.primaryKeys == ()

    run(test())


# Credentials and connections


def test_a_role_is_assumed(glue: str, db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", glue)

    async def test() -> None:
        async with connected(at(glue, aws_glue_role=f"arn:aws:iam::{ACCOUNT}:role/reader")) as handler:
            assert db in await ask(handler, "get_all_databases")

    run(test())


def test_a_role_that_cannot_be_assumed_is_named(glue: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1")

    async def test() -> None:
        async with connected(at(glue, aws_glue_role=f"arn:aws:iam::{ACCOUNT}:role/reader")) as handler:
            assert "http://127.0.0.1:1" in await failure_of(handler)

    run(test())


def test_keys_are_references_that_are_read_when_the_catalog_is_first_called(glue: str, db: str, tmp_path: Path) -> None:
    file = tmp_path / "key"
    context = Context(secrets=RemoteSecrets(references=[f"file:{tmp_path}/*"]))

    async def test() -> None:
        async with connected(at(glue, aws_secret_access_key=f"file:{file}"), context) as handler:
            assert f"file:{file}, which cannot be read" in await failure_of(handler)
            file.write_text("testing\n")
            assert db in await ask(handler, "get_all_databases")

    run(test())


def test_an_endpoint_that_is_not_allowed_is_never_called(glue: str) -> None:
    port = int(glue.rpartition(":")[2])

    async def test() -> None:
        context = Context(AllowedHosts.read(["*host"]))
        async with connected(at(f"http://localhost:{port}"), context) as handler:
            text = await failure_of(handler)
            assert f"localhost:{port} (127.0.0.1) is not among the hosts that remotes may use" in text

    run(test())


def test_a_glue_that_is_not_there_is_unreachable() -> None:
    from metastored.connectors.failures import Unreachable

    async def test() -> None:
        async with connected(at("http://127.0.0.1:1", 5.0)) as handler:
            reply = await handler.handle(Call(METHODS["get_all_databases"], ()), Session())
            assert isinstance(reply.error, Unreachable)
            assert "http://127.0.0.1:1" in str(reply.error)

    run(test())
