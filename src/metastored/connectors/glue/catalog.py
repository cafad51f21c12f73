"""The AWS Glue Data Catalog through boto3. Needs the extra `glue`.

Glue's objects are Hive's under other names. What differs: a table cannot be renamed, partitions are added in batches of
a hundred of which some may fail, and a table's location has to be given, or its database's.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final

from metastored.connectors.adapted.sources import Source
from metastored.connectors.failures import CredentialsRefused, Unreachable
from metastored.connectors.glue.statistics import statistics_of
from metastored.connectors.glue.structs import (
    database_input,
    partition_input,
    partition_of,
    table_input,
    table_of,
)
from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    MissingExtra,
    NoSuchObjectException,
)
from metastored.filters.glue import glue_expression
from metastored.filters.hive.tree import Filter
from metastored.hive.locations import join
from metastored.model.kinds import is_view
from metastored.wire.generated.common import ColumnStatisticsObj, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

log = logging.getLogger("metastored.connectors.glue")

BATCH: Final = 100
"""Partitions in one call that makes them, columns in one that reads their statistics: Glue takes no more."""
READ_BATCH: Final = 1000
"""Partitions in one call that reads them."""
_SESSION: Final = ("profile_name",)
_REFUSED: Final = frozenset({
    "UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException", "InvalidClientTokenId",
    "MissingAuthenticationTokenException", "SignatureDoesNotMatch", "ExpiredToken",
})  # fmt: skip

_NO_STATISTICS: Final = frozenset({"AccessDeniedException", "UnknownOperationException", "404", "500", "501"})
"""Queries go on without statistics. The numbers are those of servers that imitate Glue and lack a call."""


STATISTICS_CALLS: Final = 8
"""Calls for the statistics of partitions at a time."""


class _NoStatistics(Exception):
    """Statistics cannot be read at all, of whichever partition."""


class GlueSource(Source):
    """The catalog of one account and region. `options` are those of boto3's session and client."""

    def __init__(self, options: Mapping[str, Any], catalog_id: str | None = None, client: Any = None) -> None:
        """`client`: the one of boto3, where it is not to be made of the options."""
        try:
            import boto3
        except ImportError:
            raise MissingExtra("the Glue catalog", "glue") from None
        self._where = f"Glue at {options.get('endpoint_url') or options.get('region_name') or 'its default region'}"
        with self._told():
            session = boto3.Session(**{key: value for key, value in options.items() if key in _SESSION})
            others = {key: value for key, value in options.items() if key not in _SESSION}
            self._glue = client or session.client("glue", **others)
        self._catalog = {"CatalogId": catalog_id} if catalog_id else {}

    def close(self) -> None:
        self._glue.close()

    # Databases

    def databases(self) -> Sequence[str]:
        with self._told():
            return sorted(each["Name"] for each in self._all("get_databases", "DatabaseList"))

    def database(self, name: str) -> Database:
        with self._told(name):
            answer = self._glue.get_database(Name=name, **self._catalog)["Database"]
        return Database(
            name=answer["Name"],
            description=answer.get("Description"),
            locationUri=answer.get("LocationUri"),
            parameters=dict(answer.get("Parameters") or {}),
        )

    def create_database(self, database: Database) -> None:
        with self._told(database.name or ""):
            self._glue.create_database(DatabaseInput=database_input(database), **self._catalog)

    def alter_database(self, name: str, database: Database) -> None:
        with self._told(name):
            self._glue.update_database(Name=name, DatabaseInput=database_input(database), **self._catalog)

    def drop_database(self, name: str) -> None:
        with self._told(name):
            self._glue.delete_database(Name=name, **self._catalog)

    # Tables

    def tables(self, db: str) -> Sequence[str]:
        with self._told(db):
            return sorted(each["Name"] for each in self._all("get_tables", "TableList", DatabaseName=db))

    def table(self, db: str, name: str) -> Table:
        with self._told(f"{db}.{name}", "table not found"):
            answer = self._glue.get_table(DatabaseName=db, Name=name, **self._catalog)["Table"]
        return table_of(db, answer)

    def table_objects(self, db: str, names: Sequence[str]) -> Iterable[Table]:
        """All of them at once: Glue lists tables with all that it knows of them."""
        wanted = set(names)
        with self._told(db):
            answers = list(self._all("get_tables", "TableList", DatabaseName=db))
        return [table_of(db, each) for each in answers if each["Name"] in wanted]

    def create_table(self, table: Table) -> None:
        db, name = table.dbName or "", table.tableName or ""
        with self._told(f"{db}.{name}"):
            self._glue.create_table(DatabaseName=db, TableInput=table_input(self._placed(table)), **self._catalog)

    def alter_table(self, db: str, name: str, table: Table) -> None:
        if (table.dbName or db, table.tableName or name) != (db, name):
            raise InvalidOperationException(f"{db}.{name} cannot be renamed: Glue has no such call; make it anew")
        self._update(db, name, table)

    def alter_table_if(self, db: str, name: str, table: Table, key: str, value: str | None) -> None:
        """By Glue's version of the table: a change in between makes this one fail."""
        with self._told(f"{db}.{name}", "table not found"):
            answer = self._glue.get_table(DatabaseName=db, Name=name, **self._catalog)["Table"]
        now = (answer.get("Parameters") or {}).get(key)
        if now != value:
            raise MetaException(
                f"The table has been modified. The parameter value for key '{key}' is '{now}'. The expected was value "
                f"was '{value}'"
            )
        self._update(db, name, table, answer.get("VersionId"))

    def _update(self, db: str, name: str, table: Table, version: str | None = None) -> None:
        at = {"VersionId": version} if version else {}
        with self._told(f"{db}.{name}", "table not found"):
            self._glue.update_table(DatabaseName=db, TableInput=table_input(table), **at, **self._catalog)

    def drop_table(self, db: str, name: str, purge: bool) -> None:
        """Its files stay: Glue never touches them."""
        with self._told(f"{db}.{name}", "table not found"):
            self._glue.delete_table(DatabaseName=db, Name=name, **self._catalog)

    def _placed(self, table: Table) -> Table:
        """A table without a location gets one in its database's, as a metastore would choose it."""
        if is_view(table) or table.sd is None or table.sd.location:
            return table
        root = self.database(table.dbName or "").locationUri
        return replace(table, sd=replace(table.sd, location=join(root, table.tableName or ""))) if root else table

    # Partitions

    def partitions(self, db: str, name: str, where: Filter | None = None) -> Iterable[Partition]:
        place: dict[str, Any] = {"DatabaseName": db, "TableName": name}
        if where is not None:
            keys = {key.name: key.type or "" for key in self.table(db, name).partitionKeys or () if key.name}
            if expression := glue_expression(where, keys):
                place["Expression"] = expression
        with self._told(f"{db}.{name}", "table not found"):
            answers = list(self._all("get_partitions", "Partitions", **place))
        return sorted((partition_of(db, name, each) for each in answers), key=lambda part: part.values or ())

    def partitions_of(self, db: str, name: str, values: Sequence[Sequence[str]]) -> Iterable[Partition]:
        place = {"DatabaseName": db, "TableName": name, **self._catalog}
        remaining = [{"Values": list(each)} for each in values]
        partitions: list[Partition] = []
        while remaining:
            asked, remaining = remaining[:READ_BATCH], remaining[READ_BATCH:]
            with self._told(f"{db}.{name}", "table not found"):
                answer = self._glue.batch_get_partition(**place, PartitionsToGet=asked)
            partitions += [partition_of(db, name, each) for each in answer.get("Partitions") or ()]
            left = answer.get("UnprocessedKeys") or []
            if len(left) == len(asked):
                raise MetaException(f"{self._where}: it returned none of {len(asked)} partitions of {db}.{name}")
            remaining += left
        return partitions

    def partition(self, db: str, name: str, values: Sequence[str]) -> Partition:
        place = {"DatabaseName": db, "TableName": name, **self._catalog}
        with self._told(f"partition values={list(values)}"):
            return partition_of(db, name, self._glue.get_partition(**place, PartitionValues=list(values))["Partition"])

    def add_partitions(self, db: str, name: str, partitions: Sequence[Partition], if_not_exists: bool) -> None:
        table = self.table(db, name)
        inputs = [partition_input(table, each) for each in partitions]
        place = {"DatabaseName": db, "TableName": name, **self._catalog}
        for at in range(0, len(inputs), BATCH):
            with self._told(f"{db}.{name}", "table not found"):
                answer = self._glue.batch_create_partition(**place, PartitionInputList=inputs[at : at + BATCH])
            for failed in answer.get("Errors") or ():
                code, text = failed["ErrorDetail"].get("ErrorCode"), failed["ErrorDetail"].get("ErrorMessage")
                values = ", ".join(failed["PartitionValues"])
                if code != "AlreadyExistsException":
                    raise MetaException(f"{self._where}: partition ({values}) of {db}.{name}: {code}: {text}")
                if not if_not_exists:
                    raise AlreadyExistsException(f"Partition already exists: {db}.{name} ({values})")

    def alter_partition(self, db: str, name: str, partition: Partition) -> None:
        place = {"DatabaseName": db, "TableName": name, **self._catalog}
        given = partition_input(self.table(db, name), partition)
        with self._told(f"partition values={given['Values']}"):
            self._glue.update_partition(**place, PartitionValueList=given["Values"], PartitionInput=given)

    def drop_partition(self, db: str, name: str, values: Sequence[str]) -> None:
        place = {"DatabaseName": db, "TableName": name, **self._catalog}
        with self._told(f"partition values={list(values)}"):
            self._glue.delete_partition(**place, PartitionValues=list(values))

    # Statistics

    def column_statistics(self, db: str, name: str, columns: Sequence[str]) -> Sequence[ColumnStatisticsObj]:
        with suppress(_NoStatistics):
            return self._statistics("get_column_statistics_for_table", db, name, columns)
        return ()

    def partition_statistics(
        self, db: str, name: str, values: Sequence[str], columns: Sequence[str]
    ) -> Sequence[ColumnStatisticsObj]:
        with suppress(_NoStatistics):
            return self._of_partition(db, name, columns, values)
        return ()

    def partitions_statistics(
        self, db: str, name: str, values: Sequence[Sequence[str]], columns: Sequence[str]
    ) -> Iterable[Sequence[ColumnStatisticsObj]]:
        """Glue has no call for several partitions: several are called for at a time."""
        with ThreadPoolExecutor(STATISTICS_CALLS, thread_name_prefix="metastored-glue") as pool:
            try:
                return list(pool.map(partial(self._of_partition, db, name, columns), values))
            except _NoStatistics:
                return [()] * len(values)
            finally:
                pool.shutdown(cancel_futures=True)

    def _of_partition(
        self, db: str, name: str, columns: Sequence[str], values: Sequence[str]
    ) -> Sequence[ColumnStatisticsObj]:
        try:
            operation = "get_column_statistics_for_partition"
            return self._statistics(operation, db, name, columns, PartitionValues=list(values))
        except NoSuchObjectException:
            return ()  # A partition that is not there has none, as in Hive.

    def _statistics(
        self, operation: str, db: str, name: str, columns: Sequence[str], **more: Any
    ) -> list[ColumnStatisticsObj]:
        """Those that are there. Raises _NoStatistics where they may not be read, or the service has no such call."""
        from botocore.exceptions import ClientError

        statistics: list[ColumnStatisticsObj] = []
        place = {"DatabaseName": db, "TableName": name, **more, **self._catalog}
        for at in range(0, len(columns), BATCH):
            with self._told(f"{db}.{name}", "table not found"):
                try:
                    answer = getattr(self._glue, operation)(**place, ColumnNames=list(columns[at : at + BATCH]))
                except ClientError as error:
                    code = error.response["Error"].get("Code")
                    if code not in _NO_STATISTICS:
                        raise
                    log.info("%s: the statistics of %s.%s are not readable: %s", self._where, db, name, code)
                    raise _NoStatistics from None
            statistics += [statistics_of(each) for each in answer.get("ColumnStatisticsList") or ()]
        return statistics

    # How

    def _all(self, operation: str, key: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Every page of a list."""
        for page in self._glue.get_paginator(operation).paginate(**arguments, **self._catalog):
            yield from page.get(key) or ()

    @contextmanager
    def _told(self, name: str = "", missing: str = "") -> Iterator[None]:
        """Glue's errors as the metastore's, with the name that the call was about."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            code, text = error.response["Error"].get("Code"), error.response["Error"].get("Message")
            if code == "EntityNotFoundException":
                raise NoSuchObjectException(f"{name} {missing}".strip()) from error
            if code == "AlreadyExistsException":
                raise AlreadyExistsException(f"{name} already exists") from error
            if code in ("InvalidInputException", "ValidationException"):
                raise InvalidObjectException(f"{name}: {text}") from error
            if code == "ConcurrentModificationException":
                raise MetaException(f"{name} was changed by another client at the same time: {text}") from error
            if code in _REFUSED:
                raise CredentialsRefused(f"{self._where} does not accept the credentials: {code}: {text}") from error
            raise MetaException(f"{self._where}: {name}: {code}: {text}") from error
        except BotoCoreError as error:
            raise Unreachable(f"{self._where}: {error}") from error
