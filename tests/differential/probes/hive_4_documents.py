"""Other objects of Hive 4: connectors, procedures, packages, scheduled queries, replication metrics."""

from typing import Any

from metastored.wire.generated.connectors import (
    AlterDataConnectorRequest,
    CreateDataConnectorRequest,
    DataConnector,
    DropDataConnectorRequest,
    GetDataConnectorRequest,
)
from metastored.wire.generated.databases import CreateDatabaseRequest
from metastored.wire.generated.metrics import GetReplicationMetricsRequest, ReplicationMetricList, ReplicationMetrics
from metastored.wire.generated.procedures import (
    AddPackageRequest,
    DropPackageRequest,
    GetPackageRequest,
    ListPackageRequest,
    ListStoredProcedureRequest,
    StoredProcedure,
    StoredProcedureRequest,
)
from metastored.wire.generated.scheduled_queries import (
    ScheduledQuery,
    ScheduledQueryKey,
    ScheduledQueryMaintenanceRequest,
    ScheduledQueryMaintenanceRequestType,
    ScheduledQueryPollRequest,
)
from tests.differential.script import HIVE_4, Ask, ask

DB = "docs"
CREATE = ScheduledQueryMaintenanceRequestType.CREATE
ALTER = ScheduledQueryMaintenanceRequestType.ALTER
DROP = ScheduledQueryMaintenanceRequestType.DROP


def probe(label: str, method: str, *args: Any, **other: Any) -> Ask:
    return ask(label, method, *args, versions=HIVE_4, **other)


def connector(name: str, **other: Any) -> DataConnector:
    return DataConnector(name=name, type="mysql", url="jdbc:mysql://h/d", ownerName="o", **other)


# 4.0.0 alone has the calls without a request.


def create(label: str, given: DataConnector) -> tuple[Ask, Ask]:
    return (
        probe(label, "create_dataconnector", given),
        probe(label, "create_dataconnector_req", CreateDataConnectorRequest(connector=given)),
    )


def alter(label: str, name: str, given: DataConnector) -> tuple[Ask, Ask]:
    return (
        probe(label, "alter_dataconnector", name, given),
        probe(label, "alter_dataconnector_req", AlterDataConnectorRequest(name, given)),
    )


def get(label: str, name: str) -> Ask:
    return probe(label, "get_dataconnector_req", GetDataConnectorRequest(connectorName=name))


def drop(label: str, name: str, missing_ok: bool) -> tuple[Ask, Ask]:
    request = DropDataConnectorRequest(connectorName=name, ifNotExists=missing_ok, checkReferences=True)
    return (
        probe(label, "drop_dataconnector", name, missing_ok, True),
        probe(label, "drop_dataconnector_req", request),
    )


def scheduled(label: str, kind: int, name: str = "q", **other: Any) -> Ask:
    plain: dict[str, Any] = {"enabled": True, "schedule": "0 0 0 1 1 ? 2030", "user": "u", "query": "select 1"}
    key = ScheduledQueryKey(scheduleName=name, clusterNamespace="ns")
    query = ScheduledQuery(scheduleKey=key, **(plain | other))
    request = ScheduledQueryMaintenanceRequest(type=kind, scheduledQuery=query)
    return probe(label, "scheduled_query_maintenance", request)


def metrics(id: int, policy: str = "p", **other: Any) -> ReplicationMetricList:
    one = ReplicationMetrics(scheduledExecutionId=id, policy=policy, dumpExecutionId=1, **other)
    return ReplicationMetricList(replicationMetricList=(one,))


SCRIPT = [
    probe("for them", "create_database_req", CreateDatabaseRequest(databaseName=DB)),
    *create("plain", connector("Con1", parameters={"k": "v"}, description="d")),
    *create("taken", connector("con1")),
    *create("a bad name", connector("a\tb")),
    get("plain", "CON1"),
    get("missing", "nope"),
    probe("all", "get_dataconnectors"),
    *alter("plain", "con1", connector("other", parameters={"x": "y"}, description=" ")),
    get("changed", "con1"),
    *alter("missing", "nope", connector("nope")),
    *drop("missing", "nope", False),
    *drop("missing, which may be", "nope", True),
    *drop("plain", "con1", False),
    probe("none", "get_dataconnectors"),
    probe("plain", "create_stored_procedure", StoredProcedure("P1", DB, "hive", "o", "text")),
    probe("again", "create_stored_procedure", StoredProcedure("P1", DB, "hive", "o", "other")),
    probe("of no database", "create_stored_procedure", StoredProcedure("p1", "nodb", "hive", "o", "text")),
    probe("plain", "get_stored_procedure", StoredProcedureRequest("hive", DB, "P1")),
    probe("missing", "get_stored_procedure", StoredProcedureRequest("hive", DB, "nope")),
    probe("all", "get_all_stored_procedures", ListStoredProcedureRequest("hive", DB)),
    probe("of any database", "get_all_stored_procedures", ListStoredProcedureRequest("hive")),
    probe("plain", "drop_stored_procedure", StoredProcedureRequest("hive", DB, "P1")),
    probe("missing", "drop_stored_procedure", StoredProcedureRequest("hive", DB, "P1")),
    probe("none", "get_all_stored_procedures", ListStoredProcedureRequest("hive", DB)),
    probe("plain", "add_package", AddPackageRequest("hive", DB, "Pk", "o", "head", "body")),
    probe("of no database", "add_package", AddPackageRequest("hive", "nodb", "pk", "o", "head", "body")),
    probe("plain", "find_package", GetPackageRequest("hive", DB, "Pk")),
    probe("missing", "find_package", GetPackageRequest("hive", DB, "nope")),
    probe("all", "get_all_packages", ListPackageRequest("hive", DB)),
    probe("plain", "drop_package", DropPackageRequest("hive", DB, "Pk")),
    probe("missing", "drop_package", DropPackageRequest("hive", DB, "Pk")),
    scheduled("plain", CREATE),
    scheduled("taken", CREATE),
    scheduled("with a bad schedule", CREATE, "bad", schedule="every day"),
    scheduled("with both kinds of days", CREATE, "bad2", schedule="0 0 0 1 1 1"),
    scheduled("that is never due", CREATE, "never", schedule="0 0 0 1 1 ? 2001"),
    probe("plain", "get_scheduled_query", ScheduledQueryKey("q", "ns")),
    probe("never due", "get_scheduled_query", ScheduledQueryKey("never", "ns")),
    probe("missing", "get_scheduled_query", ScheduledQueryKey("nope", "ns")),
    scheduled("changed", ALTER, query="select 2", enabled=False, schedule="30 15 10 L-2 * ? 2031"),
    probe("changed", "get_scheduled_query", ScheduledQueryKey("q", "ns")),
    scheduled("by weekday", ALTER, schedule="0 0 4 ? JAN,MAR 6#3 2032/2"),
    probe("by weekday", "get_scheduled_query", ScheduledQueryKey("q", "ns")),
    scheduled("by the last Friday", ALTER, schedule="0 0/20 4 ? 2 6L 2030"),
    probe("by the last Friday", "get_scheduled_query", ScheduledQueryKey("q", "ns")),
    scheduled("by the nearest weekday", ALTER, schedule="5,3 59 23 1W 4/3 ? 2033"),
    probe("by the nearest weekday", "get_scheduled_query", ScheduledQueryKey("q", "ns")),
    scheduled("missing", ALTER, "nope"),
    probe("none is due", "scheduled_query_poll", ScheduledQueryPollRequest("ns")),
    scheduled("plain, gone", DROP),
    scheduled("missing, gone", DROP),
    probe("plain", "add_replication_metrics", metrics(5, metadata="m", progress="p", messageFormat="f")),
    probe("more", "add_replication_metrics", metrics(5, progress="p2", messageFormat="f2")),
    probe("another", "add_replication_metrics", metrics(6, progress="x" * 10001)),
    probe("of a policy", "get_replication_metrics", GetReplicationMetricsRequest(policy="p")),
    probe("of one execution", "get_replication_metrics", GetReplicationMetricsRequest(scheduledExecutionId=5)),
    probe("of no policy", "get_replication_metrics", GetReplicationMetricsRequest(policy="nope")),
]
