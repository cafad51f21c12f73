# Made by tools/unasync.py from _async/methods.py: DO NOT EDIT.
"""Every method of the metastore, to be called. Made by tools/generate.py from api/*.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metastored.wire.generated.catalogs import (
        AlterCatalogRequest,
        CreateCatalogRequest,
        DropCatalogRequest,
        GetCatalogRequest,
        GetCatalogResponse,
        GetCatalogsResponse,
    )
    from metastored.wire.generated.common import (
        AsyncOperationResp,
        ColumnStatistics,
        CompactionInfoStruct,
        CreationMetadata,
        EnvironmentContext,
        FieldSchema,
        PrincipalPrivilegeSet,
        SQLCheckConstraint,
        SQLDefaultConstraint,
        SQLForeignKey,
        SQLNotNullConstraint,
        SQLPrimaryKey,
        SQLUniqueConstraint,
        SerDeInfo,
        Table,
        WriteEventInfo,
    )
    from metastored.wire.generated.compaction import (
        AbortCompactResponse,
        AbortCompactionRequest,
        CompactionMetricsDataRequest,
        CompactionMetricsDataStruct,
        CompactionRequest,
        CompactionResponse,
        FindNextCompactRequest,
        GetLatestCommittedCompactionInfoRequest,
        GetLatestCommittedCompactionInfoResponse,
        OptionalCompactionInfoStruct,
        ShowCompactRequest,
        ShowCompactResponse,
    )
    from metastored.wire.generated.connectors import (
        AlterDataConnectorRequest,
        CreateDataConnectorRequest,
        DataConnector,
        DropDataConnectorRequest,
        GetDataConnectorRequest,
    )
    from metastored.wire.generated.constraints import (
        AddCheckConstraintRequest,
        AddDefaultConstraintRequest,
        AddForeignKeyRequest,
        AddNotNullConstraintRequest,
        AddPrimaryKeyRequest,
        AddUniqueConstraintRequest,
        AllTableConstraintsRequest,
        AllTableConstraintsResponse,
        CheckConstraintsRequest,
        CheckConstraintsResponse,
        DefaultConstraintsRequest,
        DefaultConstraintsResponse,
        DropConstraintRequest,
        ForeignKeysRequest,
        ForeignKeysResponse,
        NotNullConstraintsRequest,
        NotNullConstraintsResponse,
        PrimaryKeysRequest,
        PrimaryKeysResponse,
        UniqueConstraintsRequest,
        UniqueConstraintsResponse,
    )
    from metastored.wire.generated.databases import (
        AlterDatabaseRequest,
        CreateDatabaseRequest,
        Database,
        DropDatabaseRequest,
        GetDatabaseObjectsRequest,
        GetDatabaseObjectsResponse,
        GetDatabaseRequest,
    )
    from metastored.wire.generated.files import (
        CacheFileMetadataRequest,
        CacheFileMetadataResult,
        ClearFileMetadataRequest,
        ClearFileMetadataResult,
        GetFileMetadataByExprRequest,
        GetFileMetadataByExprResult,
        GetFileMetadataRequest,
        GetFileMetadataResult,
        PutFileMetadataRequest,
        PutFileMetadataResult,
    )
    from metastored.wire.generated.functions import (
        Function,
        GetAllFunctionsResponse,
        GetFunctionsRequest,
        GetFunctionsResponse,
    )
    from metastored.wire.generated.indexes import Index
    from metastored.wire.generated.locks import (
        CheckLockRequest,
        HeartbeatRequest,
        LockMaterializationRebuildRequest,
        LockRequest,
        LockResponse,
        ShowLocksRequest,
        ShowLocksResponse,
        UnlockRequest,
    )
    from metastored.wire.generated.metrics import (
        GetReplicationMetricsRequest,
        GetRuntimeStatsRequest,
        ReplicationMetricList,
        RuntimeStat,
    )
    from metastored.wire.generated.notifications import (
        CurrentNotificationEventId,
        FireEventRequest,
        FireEventResponse,
        GetAllWriteEventInfoRequest,
        NotificationEventRequest,
        NotificationEventResponse,
        NotificationEventsCountRequest,
        NotificationEventsCountResponse,
        WriteNotificationLogBatchRequest,
        WriteNotificationLogBatchResponse,
        WriteNotificationLogRequest,
        WriteNotificationLogResponse,
    )
    from metastored.wire.generated.partitions import (
        AddPartitionsRequest,
        AddPartitionsResult,
        AlterPartitionsRequest,
        AlterPartitionsResponse,
        AppendPartitionsRequest,
        DropPartitionRequest,
        DropPartitionsRequest,
        DropPartitionsResult,
        GetPartitionNamesPsRequest,
        GetPartitionNamesPsResponse,
        GetPartitionRequest,
        GetPartitionResponse,
        GetPartitionsByFilterRequest,
        GetPartitionsByNamesRequest,
        GetPartitionsByNamesResult,
        GetPartitionsPsWithAuthRequest,
        GetPartitionsPsWithAuthResponse,
        GetPartitionsRequest,
        GetPartitionsResponse,
        Partition,
        PartitionSpec,
        PartitionValuesRequest,
        PartitionValuesResponse,
        PartitionsByExprRequest,
        PartitionsByExprResult,
        PartitionsRequest,
        PartitionsResponse,
        PartitionsSpecByExprResult,
        RenamePartitionRequest,
        RenamePartitionResponse,
    )
    from metastored.wire.generated.procedures import (
        AddPackageRequest,
        DropPackageRequest,
        GetPackageRequest,
        ListPackageRequest,
        ListStoredProcedureRequest,
        Package,
        StoredProcedure,
        StoredProcedureRequest,
    )
    from metastored.wire.generated.resource_plans import (
        WMAlterPoolRequest,
        WMAlterPoolResponse,
        WMAlterResourcePlanRequest,
        WMAlterResourcePlanResponse,
        WMAlterTriggerRequest,
        WMAlterTriggerResponse,
        WMCreateOrDropTriggerToPoolMappingRequest,
        WMCreateOrDropTriggerToPoolMappingResponse,
        WMCreateOrUpdateMappingRequest,
        WMCreateOrUpdateMappingResponse,
        WMCreatePoolRequest,
        WMCreatePoolResponse,
        WMCreateResourcePlanRequest,
        WMCreateResourcePlanResponse,
        WMCreateTriggerRequest,
        WMCreateTriggerResponse,
        WMDropMappingRequest,
        WMDropMappingResponse,
        WMDropPoolRequest,
        WMDropPoolResponse,
        WMDropResourcePlanRequest,
        WMDropResourcePlanResponse,
        WMDropTriggerRequest,
        WMDropTriggerResponse,
        WMGetActiveResourcePlanRequest,
        WMGetActiveResourcePlanResponse,
        WMGetAllResourcePlanRequest,
        WMGetAllResourcePlanResponse,
        WMGetResourcePlanRequest,
        WMGetResourcePlanResponse,
        WMGetTriggersForResourePlanRequest,
        WMGetTriggersForResourePlanResponse,
        WMValidateResourcePlanRequest,
        WMValidateResourcePlanResponse,
    )
    from metastored.wire.generated.roles import (
        GetPrincipalsInRoleRequest,
        GetPrincipalsInRoleResponse,
        GetRoleGrantsForPrincipalRequest,
        GetRoleGrantsForPrincipalResponse,
        GrantRevokePrivilegeRequest,
        GrantRevokePrivilegeResponse,
        GrantRevokeRoleRequest,
        GrantRevokeRoleResponse,
        HiveObjectPrivilege,
        HiveObjectRef,
        PrivilegeBag,
        Role,
    )
    from metastored.wire.generated.scheduled_queries import (
        ScheduledQuery,
        ScheduledQueryKey,
        ScheduledQueryMaintenanceRequest,
        ScheduledQueryPollRequest,
        ScheduledQueryPollResponse,
        ScheduledQueryProgressInfo,
    )
    from metastored.wire.generated.schema_registry import (
        AlterISchemaRequest,
        FindSchemasByColsResp,
        FindSchemasByColsRqst,
        GetSerdeRequest,
        ISchema,
        ISchemaName,
        MapSchemaVersionToSerdeRequest,
        SchemaVersion,
        SchemaVersionDescriptor,
        SetSchemaVersionStateRequest,
    )
    from metastored.wire.generated.service import (
        CmRecycleRequest,
        CmRecycleResponse,
        PropertyGetRequest,
        PropertyGetResponse,
        PropertySetRequest,
    )
    from metastored.wire.generated.statistics import (
        AggrStats,
        DeleteColumnStatisticsRequest,
        PartitionsStatsRequest,
        PartitionsStatsResult,
        SetPartitionsStatsRequest,
        SetPartitionsStatsResponse,
        TableStatsRequest,
        TableStatsResult,
        UpdateTransactionalStatsRequest,
    )
    from metastored.wire.generated.tables import (
        AlterTableRequest,
        AlterTableResponse,
        CreateTableRequest,
        DropTableRequest,
        ExtendedTableInfo,
        GetFieldsRequest,
        GetFieldsResponse,
        GetSchemaRequest,
        GetSchemaResponse,
        GetTableRequest,
        GetTableResult,
        GetTablesExtRequest,
        GetTablesRequest,
        GetTablesResult,
        TableMeta,
        TableParamsUpdate,
        TruncateTableRequest,
        TruncateTableResponse,
    )
    from metastored.wire.generated.transactions import (
        AbortTxnRequest,
        AbortTxnsRequest,
        AddDynamicPartitions,
        AllocateTableWriteIdsRequest,
        AllocateTableWriteIdsResponse,
        CommitTxnRequest,
        GetOpenTxnsInfoResponse,
        GetOpenTxnsRequest,
        GetOpenTxnsResponse,
        GetValidWriteIdsRequest,
        GetValidWriteIdsResponse,
        HeartbeatTxnRangeRequest,
        HeartbeatTxnRangeResponse,
        MaxAllocatedTableWriteIdRequest,
        MaxAllocatedTableWriteIdResponse,
        OpenTxnRequest,
        OpenTxnsResponse,
        ReplTblWriteIdStateRequest,
        ReplayedTxnsForPolicyResult,
        SeedTableWriteIdsRequest,
        SeedTxnIdRequest,
    )
    from metastored.wire.generated.types import Type
    from metastored.wire.generated.views import Materialization


class Methods:
    """One function a method, named as the method. Arguments are those of Thrift; null is None."""

    def call(self, name: str, *args: Any) -> Any:
        raise NotImplementedError

    # catalogs

    def alter_catalog(self, rqst: AlterCatalogRequest | None) -> None:
        self.call("alter_catalog", rqst)

    def create_catalog(self, catalog: CreateCatalogRequest | None) -> None:
        self.call("create_catalog", catalog)

    def drop_catalog(self, catName: DropCatalogRequest | None) -> None:
        self.call("drop_catalog", catName)

    def get_catalog(self, catName: GetCatalogRequest | None) -> GetCatalogResponse:
        answer: GetCatalogResponse = self.call("get_catalog", catName)
        return answer

    def get_catalogs(self) -> GetCatalogsResponse:
        answer: GetCatalogsResponse = self.call("get_catalogs")
        return answer

    # compaction

    def abort_Compactions(self, rqst: AbortCompactionRequest | None) -> AbortCompactResponse:
        answer: AbortCompactResponse = self.call("abort_Compactions", rqst)
        return answer

    def compact(self, rqst: CompactionRequest | None) -> None:
        self.call("compact", rqst)

    def compact2(self, rqst: CompactionRequest | None) -> CompactionResponse:
        answer: CompactionResponse = self.call("compact2", rqst)
        return answer

    def find_next_compact(self, workerId: str | None) -> OptionalCompactionInfoStruct:
        answer: OptionalCompactionInfoStruct = self.call("find_next_compact", workerId)
        return answer

    def find_next_compact2(self, rqst: FindNextCompactRequest | None) -> OptionalCompactionInfoStruct:
        answer: OptionalCompactionInfoStruct = self.call("find_next_compact2", rqst)
        return answer

    def get_latest_committed_compaction_info(
        self, rqst: GetLatestCommittedCompactionInfoRequest | None
    ) -> GetLatestCommittedCompactionInfoResponse:
        answer: GetLatestCommittedCompactionInfoResponse = self.call("get_latest_committed_compaction_info", rqst)
        return answer

    def mark_cleaned(self, cr: CompactionInfoStruct | None) -> None:
        self.call("mark_cleaned", cr)

    def mark_compacted(self, cr: CompactionInfoStruct | None) -> None:
        self.call("mark_compacted", cr)

    def mark_failed(self, cr: CompactionInfoStruct | None) -> None:
        self.call("mark_failed", cr)

    def mark_refused(self, cr: CompactionInfoStruct | None) -> None:
        self.call("mark_refused", cr)

    def remove_compaction_metrics_data(self, request: CompactionMetricsDataRequest | None) -> None:
        self.call("remove_compaction_metrics_data", request)

    def set_hadoop_jobid(self, jobId: str | None, cq_id: int | None) -> None:
        self.call("set_hadoop_jobid", jobId, cq_id)

    def show_compact(self, rqst: ShowCompactRequest | None) -> ShowCompactResponse:
        answer: ShowCompactResponse = self.call("show_compact", rqst)
        return answer

    def submit_for_cleanup(self, o1: CompactionRequest | None, o2: int | None, o3: int | None) -> bool:
        answer: bool = self.call("submit_for_cleanup", o1, o2, o3)
        return answer

    def update_compaction_metrics_data(self, data: CompactionMetricsDataStruct | None) -> bool:
        answer: bool = self.call("update_compaction_metrics_data", data)
        return answer

    def update_compactor_state(self, cr: CompactionInfoStruct | None, txn_id: int | None) -> None:
        self.call("update_compactor_state", cr, txn_id)

    # connectors

    def alter_dataconnector(self, name: str | None, connector: DataConnector | None) -> None:
        self.call("alter_dataconnector", name, connector)

    def alter_dataconnector_req(self, alterReq: AlterDataConnectorRequest | None) -> None:
        self.call("alter_dataconnector_req", alterReq)

    def create_dataconnector(self, connector: DataConnector | None) -> None:
        self.call("create_dataconnector", connector)

    def create_dataconnector_req(self, connectorReq: CreateDataConnectorRequest | None) -> None:
        self.call("create_dataconnector_req", connectorReq)

    def drop_dataconnector(self, name: str | None, ifNotExists: bool | None, checkReferences: bool | None) -> None:
        self.call("drop_dataconnector", name, ifNotExists, checkReferences)

    def drop_dataconnector_req(self, dropDcReq: DropDataConnectorRequest | None) -> None:
        self.call("drop_dataconnector_req", dropDcReq)

    def get_dataconnector_req(self, request: GetDataConnectorRequest | None) -> DataConnector:
        answer: DataConnector = self.call("get_dataconnector_req", request)
        return answer

    def get_dataconnectors(self) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_dataconnectors")
        return answer

    # constraints

    def add_check_constraint(self, req: AddCheckConstraintRequest | None) -> None:
        self.call("add_check_constraint", req)

    def add_default_constraint(self, req: AddDefaultConstraintRequest | None) -> None:
        self.call("add_default_constraint", req)

    def add_foreign_key(self, req: AddForeignKeyRequest | None) -> None:
        self.call("add_foreign_key", req)

    def add_not_null_constraint(self, req: AddNotNullConstraintRequest | None) -> None:
        self.call("add_not_null_constraint", req)

    def add_primary_key(self, req: AddPrimaryKeyRequest | None) -> None:
        self.call("add_primary_key", req)

    def add_unique_constraint(self, req: AddUniqueConstraintRequest | None) -> None:
        self.call("add_unique_constraint", req)

    def drop_constraint(self, req: DropConstraintRequest | None) -> None:
        self.call("drop_constraint", req)

    def get_all_table_constraints(self, request: AllTableConstraintsRequest | None) -> AllTableConstraintsResponse:
        answer: AllTableConstraintsResponse = self.call("get_all_table_constraints", request)
        return answer

    def get_check_constraints(self, request: CheckConstraintsRequest | None) -> CheckConstraintsResponse:
        answer: CheckConstraintsResponse = self.call("get_check_constraints", request)
        return answer

    def get_default_constraints(self, request: DefaultConstraintsRequest | None) -> DefaultConstraintsResponse:
        answer: DefaultConstraintsResponse = self.call("get_default_constraints", request)
        return answer

    def get_foreign_keys(self, request: ForeignKeysRequest | None) -> ForeignKeysResponse:
        answer: ForeignKeysResponse = self.call("get_foreign_keys", request)
        return answer

    def get_not_null_constraints(self, request: NotNullConstraintsRequest | None) -> NotNullConstraintsResponse:
        answer: NotNullConstraintsResponse = self.call("get_not_null_constraints", request)
        return answer

    def get_primary_keys(self, request: PrimaryKeysRequest | None) -> PrimaryKeysResponse:
        answer: PrimaryKeysResponse = self.call("get_primary_keys", request)
        return answer

    def get_unique_constraints(self, request: UniqueConstraintsRequest | None) -> UniqueConstraintsResponse:
        answer: UniqueConstraintsResponse = self.call("get_unique_constraints", request)
        return answer

    # databases

    def alter_database(self, dbname: str | None, db: Database | None) -> None:
        self.call("alter_database", dbname, db)

    def alter_database_req(self, alterDbReq: AlterDatabaseRequest | None) -> None:
        self.call("alter_database_req", alterDbReq)

    def create_database(self, database: Database | None) -> None:
        self.call("create_database", database)

    def create_database_req(self, createDatabaseRequest: CreateDatabaseRequest | None) -> None:
        self.call("create_database_req", createDatabaseRequest)

    def drop_database(self, name: str | None, deleteData: bool | None, cascade: bool | None) -> None:
        self.call("drop_database", name, deleteData, cascade)

    def drop_database_req(self, req: DropDatabaseRequest | None) -> AsyncOperationResp:
        answer: AsyncOperationResp = self.call("drop_database_req", req)
        return answer

    def get_all_databases(self) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_all_databases")
        return answer

    def get_database(self, name: str | None) -> Database:
        answer: Database = self.call("get_database", name)
        return answer

    def get_database_req(self, request: GetDatabaseRequest | None) -> Database:
        answer: Database = self.call("get_database_req", request)
        return answer

    def get_databases(self, pattern: str | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_databases", pattern)
        return answer

    def get_databases_req(self, request: GetDatabaseObjectsRequest | None) -> GetDatabaseObjectsResponse:
        answer: GetDatabaseObjectsResponse = self.call("get_databases_req", request)
        return answer

    # files

    def cache_file_metadata(self, req: CacheFileMetadataRequest | None) -> CacheFileMetadataResult:
        answer: CacheFileMetadataResult = self.call("cache_file_metadata", req)
        return answer

    def clear_file_metadata(self, req: ClearFileMetadataRequest | None) -> ClearFileMetadataResult:
        answer: ClearFileMetadataResult = self.call("clear_file_metadata", req)
        return answer

    def get_file_metadata(self, req: GetFileMetadataRequest | None) -> GetFileMetadataResult:
        answer: GetFileMetadataResult = self.call("get_file_metadata", req)
        return answer

    def get_file_metadata_by_expr(self, req: GetFileMetadataByExprRequest | None) -> GetFileMetadataByExprResult:
        answer: GetFileMetadataByExprResult = self.call("get_file_metadata_by_expr", req)
        return answer

    def put_file_metadata(self, req: PutFileMetadataRequest | None) -> PutFileMetadataResult:
        answer: PutFileMetadataResult = self.call("put_file_metadata", req)
        return answer

    # functions

    def alter_function(self, dbName: str | None, funcName: str | None, newFunc: Function | None) -> None:
        self.call("alter_function", dbName, funcName, newFunc)

    def create_function(self, func: Function | None) -> None:
        self.call("create_function", func)

    def drop_function(self, dbName: str | None, funcName: str | None) -> None:
        self.call("drop_function", dbName, funcName)

    def get_all_functions(self) -> GetAllFunctionsResponse:
        answer: GetAllFunctionsResponse = self.call("get_all_functions")
        return answer

    def get_function(self, dbName: str | None, funcName: str | None) -> Function:
        answer: Function = self.call("get_function", dbName, funcName)
        return answer

    def get_functions(self, dbName: str | None, pattern: str | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_functions", dbName, pattern)
        return answer

    def get_functions_req(self, request: GetFunctionsRequest | None) -> GetFunctionsResponse:
        answer: GetFunctionsResponse = self.call("get_functions_req", request)
        return answer

    # indexes

    def add_index(self, new_index: Index | None, index_table: Table | None) -> Index:
        answer: Index = self.call("add_index", new_index, index_table)
        return answer

    def alter_index(
        self, dbname: str | None, base_tbl_name: str | None, idx_name: str | None, new_idx: Index | None
    ) -> None:
        self.call("alter_index", dbname, base_tbl_name, idx_name, new_idx)

    def drop_index_by_name(
        self, db_name: str | None, tbl_name: str | None, index_name: str | None, deleteData: bool | None
    ) -> bool:
        answer: bool = self.call("drop_index_by_name", db_name, tbl_name, index_name, deleteData)
        return answer

    def get_index_by_name(self, db_name: str | None, tbl_name: str | None, index_name: str | None) -> Index:
        answer: Index = self.call("get_index_by_name", db_name, tbl_name, index_name)
        return answer

    def get_index_names(self, db_name: str | None, tbl_name: str | None, max_indexes: int | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_index_names", db_name, tbl_name, max_indexes)
        return answer

    def get_indexes(self, db_name: str | None, tbl_name: str | None, max_indexes: int | None) -> tuple[Index, ...]:
        answer: tuple[Index, ...] = self.call("get_indexes", db_name, tbl_name, max_indexes)
        return answer

    # locks

    def check_lock(self, rqst: CheckLockRequest | None) -> LockResponse:
        answer: LockResponse = self.call("check_lock", rqst)
        return answer

    def get_lock_materialization_rebuild(
        self, dbName: str | None, tableName: str | None, txnId: int | None
    ) -> LockResponse:
        answer: LockResponse = self.call("get_lock_materialization_rebuild", dbName, tableName, txnId)
        return answer

    def get_lock_materialization_rebuild_req(self, req: LockMaterializationRebuildRequest | None) -> LockResponse:
        answer: LockResponse = self.call("get_lock_materialization_rebuild_req", req)
        return answer

    def heartbeat(self, ids: HeartbeatRequest | None) -> None:
        self.call("heartbeat", ids)

    def heartbeat_lock_materialization_rebuild(
        self, dbName: str | None, tableName: str | None, txnId: int | None
    ) -> bool:
        answer: bool = self.call("heartbeat_lock_materialization_rebuild", dbName, tableName, txnId)
        return answer

    def heartbeat_lock_materialization_rebuild_req(self, req: LockMaterializationRebuildRequest | None) -> bool:
        answer: bool = self.call("heartbeat_lock_materialization_rebuild_req", req)
        return answer

    def lock(self, rqst: LockRequest | None) -> LockResponse:
        answer: LockResponse = self.call("lock", rqst)
        return answer

    def show_locks(self, rqst: ShowLocksRequest | None) -> ShowLocksResponse:
        answer: ShowLocksResponse = self.call("show_locks", rqst)
        return answer

    def unlock(self, rqst: UnlockRequest | None) -> None:
        self.call("unlock", rqst)

    # metrics

    def add_replication_metrics(self, replicationMetricList: ReplicationMetricList | None) -> None:
        self.call("add_replication_metrics", replicationMetricList)

    def add_runtime_stats(self, stat: RuntimeStat | None) -> None:
        self.call("add_runtime_stats", stat)

    def get_replication_metrics(self, rqst: GetReplicationMetricsRequest | None) -> ReplicationMetricList:
        answer: ReplicationMetricList = self.call("get_replication_metrics", rqst)
        return answer

    def get_runtime_stats(self, rqst: GetRuntimeStatsRequest | None) -> tuple[RuntimeStat, ...]:
        answer: tuple[RuntimeStat, ...] = self.call("get_runtime_stats", rqst)
        return answer

    # notifications

    def add_write_notification_log(self, rqst: WriteNotificationLogRequest | None) -> WriteNotificationLogResponse:
        answer: WriteNotificationLogResponse = self.call("add_write_notification_log", rqst)
        return answer

    def add_write_notification_log_in_batch(
        self, rqst: WriteNotificationLogBatchRequest | None
    ) -> WriteNotificationLogBatchResponse:
        answer: WriteNotificationLogBatchResponse = self.call("add_write_notification_log_in_batch", rqst)
        return answer

    def fire_listener_event(self, rqst: FireEventRequest | None) -> FireEventResponse:
        answer: FireEventResponse = self.call("fire_listener_event", rqst)
        return answer

    def get_all_write_event_info(self, request: GetAllWriteEventInfoRequest | None) -> tuple[WriteEventInfo, ...]:
        answer: tuple[WriteEventInfo, ...] = self.call("get_all_write_event_info", request)
        return answer

    def get_current_notificationEventId(self) -> CurrentNotificationEventId:
        answer: CurrentNotificationEventId = self.call("get_current_notificationEventId")
        return answer

    def get_next_notification(self, rqst: NotificationEventRequest | None) -> NotificationEventResponse:
        answer: NotificationEventResponse = self.call("get_next_notification", rqst)
        return answer

    def get_notification_events_count(
        self, rqst: NotificationEventsCountRequest | None
    ) -> NotificationEventsCountResponse:
        answer: NotificationEventsCountResponse = self.call("get_notification_events_count", rqst)
        return answer

    # partitions

    def add_partition(self, new_part: Partition | None) -> Partition:
        answer: Partition = self.call("add_partition", new_part)
        return answer

    def add_partition_with_environment_context(
        self, new_part: Partition | None, environment_context: EnvironmentContext | None = None
    ) -> Partition:
        answer: Partition = self.call("add_partition_with_environment_context", new_part, environment_context)
        return answer

    def add_partitions(self, new_parts: tuple[Partition, ...] | None) -> int:
        answer: int = self.call("add_partitions", new_parts)
        return answer

    def add_partitions_pspec(self, new_parts: tuple[PartitionSpec, ...] | None) -> int:
        answer: int = self.call("add_partitions_pspec", new_parts)
        return answer

    def add_partitions_req(self, request: AddPartitionsRequest | None) -> AddPartitionsResult:
        answer: AddPartitionsResult = self.call("add_partitions_req", request)
        return answer

    def alter_partition(self, db_name: str | None, tbl_name: str | None, new_part: Partition | None) -> None:
        self.call("alter_partition", db_name, tbl_name, new_part)

    def alter_partition_with_environment_context(
        self,
        db_name: str | None,
        tbl_name: str | None,
        new_part: Partition | None,
        environment_context: EnvironmentContext | None = None,
    ) -> None:
        self.call("alter_partition_with_environment_context", db_name, tbl_name, new_part, environment_context)

    def alter_partitions(
        self, db_name: str | None, tbl_name: str | None, new_parts: tuple[Partition, ...] | None
    ) -> None:
        self.call("alter_partitions", db_name, tbl_name, new_parts)

    def alter_partitions_req(self, req: AlterPartitionsRequest | None) -> AlterPartitionsResponse:
        answer: AlterPartitionsResponse = self.call("alter_partitions_req", req)
        return answer

    def alter_partitions_with_environment_context(
        self,
        db_name: str | None,
        tbl_name: str | None,
        new_parts: tuple[Partition, ...] | None,
        environment_context: EnvironmentContext | None = None,
    ) -> None:
        self.call("alter_partitions_with_environment_context", db_name, tbl_name, new_parts, environment_context)

    def append_partition(
        self, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None
    ) -> Partition:
        answer: Partition = self.call("append_partition", db_name, tbl_name, part_vals)
        return answer

    def append_partition_by_name(self, db_name: str | None, tbl_name: str | None, part_name: str | None) -> Partition:
        answer: Partition = self.call("append_partition_by_name", db_name, tbl_name, part_name)
        return answer

    def append_partition_by_name_with_environment_context(
        self,
        db_name: str | None,
        tbl_name: str | None,
        part_name: str | None,
        environment_context: EnvironmentContext | None = None,
    ) -> Partition:
        answer: Partition = self.call(
            "append_partition_by_name_with_environment_context", db_name, tbl_name, part_name, environment_context
        )
        return answer

    def append_partition_req(self, appendPartitionsReq: AppendPartitionsRequest | None) -> Partition:
        answer: Partition = self.call("append_partition_req", appendPartitionsReq)
        return answer

    def append_partition_with_environment_context(
        self,
        db_name: str | None,
        tbl_name: str | None,
        part_vals: tuple[str, ...] | None,
        environment_context: EnvironmentContext | None = None,
    ) -> Partition:
        answer: Partition = self.call(
            "append_partition_with_environment_context", db_name, tbl_name, part_vals, environment_context
        )
        return answer

    def drop_partition(
        self, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None, deleteData: bool | None
    ) -> bool:
        answer: bool = self.call("drop_partition", db_name, tbl_name, part_vals, deleteData)
        return answer

    def drop_partition_by_name(
        self, db_name: str | None, tbl_name: str | None, part_name: str | None, deleteData: bool | None
    ) -> bool:
        answer: bool = self.call("drop_partition_by_name", db_name, tbl_name, part_name, deleteData)
        return answer

    def drop_partition_by_name_with_environment_context(
        self,
        db_name: str | None,
        tbl_name: str | None,
        part_name: str | None,
        deleteData: bool | None,
        environment_context: EnvironmentContext | None = None,
    ) -> bool:
        answer: bool = self.call(
            "drop_partition_by_name_with_environment_context",
            db_name,
            tbl_name,
            part_name,
            deleteData,
            environment_context,
        )
        return answer

    def drop_partition_req(self, dropPartitionReq: DropPartitionRequest | None) -> bool:
        answer: bool = self.call("drop_partition_req", dropPartitionReq)
        return answer

    def drop_partition_with_environment_context(
        self,
        db_name: str | None,
        tbl_name: str | None,
        part_vals: tuple[str, ...] | None,
        deleteData: bool | None,
        environment_context: EnvironmentContext | None = None,
    ) -> bool:
        answer: bool = self.call(
            "drop_partition_with_environment_context", db_name, tbl_name, part_vals, deleteData, environment_context
        )
        return answer

    def drop_partitions_req(self, req: DropPartitionsRequest | None) -> DropPartitionsResult:
        answer: DropPartitionsResult = self.call("drop_partitions_req", req)
        return answer

    def exchange_partition(
        self,
        partitionSpecs: dict[str, str] | None,
        source_db: str | None,
        source_table_name: str | None,
        dest_db: str | None,
        dest_table_name: str | None,
    ) -> Partition:
        answer: Partition = self.call(
            "exchange_partition", partitionSpecs, source_db, source_table_name, dest_db, dest_table_name
        )
        return answer

    def exchange_partitions(
        self,
        partitionSpecs: dict[str, str] | None,
        source_db: str | None,
        source_table_name: str | None,
        dest_db: str | None,
        dest_table_name: str | None,
    ) -> tuple[Partition, ...]:
        answer: tuple[Partition, ...] = self.call(
            "exchange_partitions", partitionSpecs, source_db, source_table_name, dest_db, dest_table_name
        )
        return answer

    def fetch_partition_names_req(self, partitionReq: PartitionsRequest | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("fetch_partition_names_req", partitionReq)
        return answer

    def get_num_partitions_by_filter(self, db_name: str | None, tbl_name: str | None, filter: str | None) -> int:
        answer: int = self.call("get_num_partitions_by_filter", db_name, tbl_name, filter)
        return answer

    def get_part_specs_by_filter(
        self, db_name: str | None, tbl_name: str | None, filter: str | None, max_parts: int | None
    ) -> tuple[PartitionSpec, ...]:
        answer: tuple[PartitionSpec, ...] = self.call("get_part_specs_by_filter", db_name, tbl_name, filter, max_parts)
        return answer

    def get_partition(self, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None) -> Partition:
        answer: Partition = self.call("get_partition", db_name, tbl_name, part_vals)
        return answer

    def get_partition_by_name(self, db_name: str | None, tbl_name: str | None, part_name: str | None) -> Partition:
        answer: Partition = self.call("get_partition_by_name", db_name, tbl_name, part_name)
        return answer

    def get_partition_names(self, db_name: str | None, tbl_name: str | None, max_parts: int | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_partition_names", db_name, tbl_name, max_parts)
        return answer

    def get_partition_names_ps(
        self, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None, max_parts: int | None
    ) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_partition_names_ps", db_name, tbl_name, part_vals, max_parts)
        return answer

    def get_partition_names_ps_req(self, req: GetPartitionNamesPsRequest | None) -> GetPartitionNamesPsResponse:
        answer: GetPartitionNamesPsResponse = self.call("get_partition_names_ps_req", req)
        return answer

    def get_partition_names_req(self, req: PartitionsByExprRequest | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_partition_names_req", req)
        return answer

    def get_partition_req(self, req: GetPartitionRequest | None) -> GetPartitionResponse:
        answer: GetPartitionResponse = self.call("get_partition_req", req)
        return answer

    def get_partition_values(self, request: PartitionValuesRequest | None) -> PartitionValuesResponse:
        answer: PartitionValuesResponse = self.call("get_partition_values", request)
        return answer

    def get_partition_with_auth(
        self,
        db_name: str | None,
        tbl_name: str | None,
        part_vals: tuple[str, ...] | None,
        user_name: str | None,
        group_names: tuple[str, ...] | None,
    ) -> Partition:
        answer: Partition = self.call("get_partition_with_auth", db_name, tbl_name, part_vals, user_name, group_names)
        return answer

    def get_partitions(self, db_name: str | None, tbl_name: str | None, max_parts: int | None) -> tuple[Partition, ...]:
        answer: tuple[Partition, ...] = self.call("get_partitions", db_name, tbl_name, max_parts)
        return answer

    def get_partitions_by_expr(self, req: PartitionsByExprRequest | None) -> PartitionsByExprResult:
        answer: PartitionsByExprResult = self.call("get_partitions_by_expr", req)
        return answer

    def get_partitions_by_filter(
        self, db_name: str | None, tbl_name: str | None, filter: str | None, max_parts: int | None
    ) -> tuple[Partition, ...]:
        answer: tuple[Partition, ...] = self.call("get_partitions_by_filter", db_name, tbl_name, filter, max_parts)
        return answer

    def get_partitions_by_filter_req(self, req: GetPartitionsByFilterRequest | None) -> tuple[Partition, ...]:
        answer: tuple[Partition, ...] = self.call("get_partitions_by_filter_req", req)
        return answer

    def get_partitions_by_names(
        self, db_name: str | None, tbl_name: str | None, names: tuple[str, ...] | None
    ) -> tuple[Partition, ...]:
        answer: tuple[Partition, ...] = self.call("get_partitions_by_names", db_name, tbl_name, names)
        return answer

    def get_partitions_by_names_req(self, req: GetPartitionsByNamesRequest | None) -> GetPartitionsByNamesResult:
        answer: GetPartitionsByNamesResult = self.call("get_partitions_by_names_req", req)
        return answer

    def get_partitions_ps(
        self, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None, max_parts: int | None
    ) -> tuple[Partition, ...]:
        answer: tuple[Partition, ...] = self.call("get_partitions_ps", db_name, tbl_name, part_vals, max_parts)
        return answer

    def get_partitions_ps_with_auth(
        self,
        db_name: str | None,
        tbl_name: str | None,
        part_vals: tuple[str, ...] | None,
        max_parts: int | None,
        user_name: str | None,
        group_names: tuple[str, ...] | None,
    ) -> tuple[Partition, ...]:
        answer: tuple[Partition, ...] = self.call(
            "get_partitions_ps_with_auth", db_name, tbl_name, part_vals, max_parts, user_name, group_names
        )
        return answer

    def get_partitions_ps_with_auth_req(
        self, req: GetPartitionsPsWithAuthRequest | None
    ) -> GetPartitionsPsWithAuthResponse:
        answer: GetPartitionsPsWithAuthResponse = self.call("get_partitions_ps_with_auth_req", req)
        return answer

    def get_partitions_pspec(
        self, db_name: str | None, tbl_name: str | None, max_parts: int | None
    ) -> tuple[PartitionSpec, ...]:
        answer: tuple[PartitionSpec, ...] = self.call("get_partitions_pspec", db_name, tbl_name, max_parts)
        return answer

    def get_partitions_req(self, req: PartitionsRequest | None) -> PartitionsResponse:
        answer: PartitionsResponse = self.call("get_partitions_req", req)
        return answer

    def get_partitions_spec_by_expr(self, req: PartitionsByExprRequest | None) -> PartitionsSpecByExprResult:
        answer: PartitionsSpecByExprResult = self.call("get_partitions_spec_by_expr", req)
        return answer

    def get_partitions_with_auth(
        self,
        db_name: str | None,
        tbl_name: str | None,
        max_parts: int | None,
        user_name: str | None,
        group_names: tuple[str, ...] | None,
    ) -> tuple[Partition, ...]:
        answer: tuple[Partition, ...] = self.call(
            "get_partitions_with_auth", db_name, tbl_name, max_parts, user_name, group_names
        )
        return answer

    def get_partitions_with_specs(self, request: GetPartitionsRequest | None) -> GetPartitionsResponse:
        answer: GetPartitionsResponse = self.call("get_partitions_with_specs", request)
        return answer

    def isPartitionMarkedForEvent(
        self, db_name: str | None, tbl_name: str | None, part_vals: dict[str, str] | None, eventType: int | None
    ) -> bool:
        answer: bool = self.call("isPartitionMarkedForEvent", db_name, tbl_name, part_vals, eventType)
        return answer

    def markPartitionForEvent(
        self, db_name: str | None, tbl_name: str | None, part_vals: dict[str, str] | None, eventType: int | None
    ) -> None:
        self.call("markPartitionForEvent", db_name, tbl_name, part_vals, eventType)

    def partition_name_has_valid_characters(
        self, part_vals: tuple[str, ...] | None, throw_exception: bool | None
    ) -> bool:
        answer: bool = self.call("partition_name_has_valid_characters", part_vals, throw_exception)
        return answer

    def partition_name_to_spec(self, part_name: str | None) -> dict[str, str]:
        answer: dict[str, str] = self.call("partition_name_to_spec", part_name)
        return answer

    def partition_name_to_vals(self, part_name: str | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("partition_name_to_vals", part_name)
        return answer

    def rename_partition(
        self, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None, new_part: Partition | None
    ) -> None:
        self.call("rename_partition", db_name, tbl_name, part_vals, new_part)

    def rename_partition_req(self, req: RenamePartitionRequest | None) -> RenamePartitionResponse:
        answer: RenamePartitionResponse = self.call("rename_partition_req", req)
        return answer

    # procedures

    def add_package(self, request: AddPackageRequest | None) -> None:
        self.call("add_package", request)

    def create_stored_procedure(self, proc: StoredProcedure | None) -> None:
        self.call("create_stored_procedure", proc)

    def drop_package(self, request: DropPackageRequest | None) -> None:
        self.call("drop_package", request)

    def drop_stored_procedure(self, request: StoredProcedureRequest | None) -> None:
        self.call("drop_stored_procedure", request)

    def find_package(self, request: GetPackageRequest | None) -> Package:
        answer: Package = self.call("find_package", request)
        return answer

    def get_all_packages(self, request: ListPackageRequest | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_all_packages", request)
        return answer

    def get_all_stored_procedures(self, request: ListStoredProcedureRequest | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_all_stored_procedures", request)
        return answer

    def get_stored_procedure(self, request: StoredProcedureRequest | None) -> StoredProcedure:
        answer: StoredProcedure = self.call("get_stored_procedure", request)
        return answer

    # resource plans

    def alter_resource_plan(self, request: WMAlterResourcePlanRequest | None) -> WMAlterResourcePlanResponse:
        answer: WMAlterResourcePlanResponse = self.call("alter_resource_plan", request)
        return answer

    def alter_wm_pool(self, request: WMAlterPoolRequest | None) -> WMAlterPoolResponse:
        answer: WMAlterPoolResponse = self.call("alter_wm_pool", request)
        return answer

    def alter_wm_trigger(self, request: WMAlterTriggerRequest | None) -> WMAlterTriggerResponse:
        answer: WMAlterTriggerResponse = self.call("alter_wm_trigger", request)
        return answer

    def create_or_drop_wm_trigger_to_pool_mapping(
        self, request: WMCreateOrDropTriggerToPoolMappingRequest | None
    ) -> WMCreateOrDropTriggerToPoolMappingResponse:
        answer: WMCreateOrDropTriggerToPoolMappingResponse = self.call(
            "create_or_drop_wm_trigger_to_pool_mapping", request
        )
        return answer

    def create_or_update_wm_mapping(
        self, request: WMCreateOrUpdateMappingRequest | None
    ) -> WMCreateOrUpdateMappingResponse:
        answer: WMCreateOrUpdateMappingResponse = self.call("create_or_update_wm_mapping", request)
        return answer

    def create_resource_plan(self, request: WMCreateResourcePlanRequest | None) -> WMCreateResourcePlanResponse:
        answer: WMCreateResourcePlanResponse = self.call("create_resource_plan", request)
        return answer

    def create_wm_pool(self, request: WMCreatePoolRequest | None) -> WMCreatePoolResponse:
        answer: WMCreatePoolResponse = self.call("create_wm_pool", request)
        return answer

    def create_wm_trigger(self, request: WMCreateTriggerRequest | None) -> WMCreateTriggerResponse:
        answer: WMCreateTriggerResponse = self.call("create_wm_trigger", request)
        return answer

    def drop_resource_plan(self, request: WMDropResourcePlanRequest | None) -> WMDropResourcePlanResponse:
        answer: WMDropResourcePlanResponse = self.call("drop_resource_plan", request)
        return answer

    def drop_wm_mapping(self, request: WMDropMappingRequest | None) -> WMDropMappingResponse:
        answer: WMDropMappingResponse = self.call("drop_wm_mapping", request)
        return answer

    def drop_wm_pool(self, request: WMDropPoolRequest | None) -> WMDropPoolResponse:
        answer: WMDropPoolResponse = self.call("drop_wm_pool", request)
        return answer

    def drop_wm_trigger(self, request: WMDropTriggerRequest | None) -> WMDropTriggerResponse:
        answer: WMDropTriggerResponse = self.call("drop_wm_trigger", request)
        return answer

    def get_active_resource_plan(
        self, request: WMGetActiveResourcePlanRequest | None
    ) -> WMGetActiveResourcePlanResponse:
        answer: WMGetActiveResourcePlanResponse = self.call("get_active_resource_plan", request)
        return answer

    def get_all_resource_plans(self, request: WMGetAllResourcePlanRequest | None) -> WMGetAllResourcePlanResponse:
        answer: WMGetAllResourcePlanResponse = self.call("get_all_resource_plans", request)
        return answer

    def get_resource_plan(self, request: WMGetResourcePlanRequest | None) -> WMGetResourcePlanResponse:
        answer: WMGetResourcePlanResponse = self.call("get_resource_plan", request)
        return answer

    def get_triggers_for_resourceplan(
        self, request: WMGetTriggersForResourePlanRequest | None
    ) -> WMGetTriggersForResourePlanResponse:
        answer: WMGetTriggersForResourePlanResponse = self.call("get_triggers_for_resourceplan", request)
        return answer

    def validate_resource_plan(self, request: WMValidateResourcePlanRequest | None) -> WMValidateResourcePlanResponse:
        answer: WMValidateResourcePlanResponse = self.call("validate_resource_plan", request)
        return answer

    # roles

    def create_role(self, role: Role | None) -> bool:
        answer: bool = self.call("create_role", role)
        return answer

    def drop_role(self, role_name: str | None) -> bool:
        answer: bool = self.call("drop_role", role_name)
        return answer

    def get_principals_in_role(self, request: GetPrincipalsInRoleRequest | None) -> GetPrincipalsInRoleResponse:
        answer: GetPrincipalsInRoleResponse = self.call("get_principals_in_role", request)
        return answer

    def get_privilege_set(
        self, hiveObject: HiveObjectRef | None, user_name: str | None, group_names: tuple[str, ...] | None
    ) -> PrincipalPrivilegeSet:
        answer: PrincipalPrivilegeSet = self.call("get_privilege_set", hiveObject, user_name, group_names)
        return answer

    def get_role_grants_for_principal(
        self, request: GetRoleGrantsForPrincipalRequest | None
    ) -> GetRoleGrantsForPrincipalResponse:
        answer: GetRoleGrantsForPrincipalResponse = self.call("get_role_grants_for_principal", request)
        return answer

    def get_role_names(self) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_role_names")
        return answer

    def grant_privileges(self, privileges: PrivilegeBag | None) -> bool:
        answer: bool = self.call("grant_privileges", privileges)
        return answer

    def grant_revoke_privileges(self, request: GrantRevokePrivilegeRequest | None) -> GrantRevokePrivilegeResponse:
        answer: GrantRevokePrivilegeResponse = self.call("grant_revoke_privileges", request)
        return answer

    def grant_revoke_role(self, request: GrantRevokeRoleRequest | None) -> GrantRevokeRoleResponse:
        answer: GrantRevokeRoleResponse = self.call("grant_revoke_role", request)
        return answer

    def grant_role(
        self,
        role_name: str | None,
        principal_name: str | None,
        principal_type: int | None,
        grantor: str | None,
        grantorType: int | None,
        grant_option: bool | None,
    ) -> bool:
        answer: bool = self.call(
            "grant_role", role_name, principal_name, principal_type, grantor, grantorType, grant_option
        )
        return answer

    def list_privileges(
        self, principal_name: str | None, principal_type: int | None, hiveObject: HiveObjectRef | None
    ) -> tuple[HiveObjectPrivilege, ...]:
        answer: tuple[HiveObjectPrivilege, ...] = self.call(
            "list_privileges", principal_name, principal_type, hiveObject
        )
        return answer

    def list_roles(self, principal_name: str | None, principal_type: int | None) -> tuple[Role, ...]:
        answer: tuple[Role, ...] = self.call("list_roles", principal_name, principal_type)
        return answer

    def refresh_privileges(
        self,
        objToRefresh: HiveObjectRef | None,
        authorizer: str | None,
        grantRequest: GrantRevokePrivilegeRequest | None,
    ) -> GrantRevokePrivilegeResponse:
        answer: GrantRevokePrivilegeResponse = self.call("refresh_privileges", objToRefresh, authorizer, grantRequest)
        return answer

    def revoke_privileges(self, privileges: PrivilegeBag | None) -> bool:
        answer: bool = self.call("revoke_privileges", privileges)
        return answer

    def revoke_role(self, role_name: str | None, principal_name: str | None, principal_type: int | None) -> bool:
        answer: bool = self.call("revoke_role", role_name, principal_name, principal_type)
        return answer

    # scheduled queries

    def get_scheduled_query(self, scheduleKey: ScheduledQueryKey | None) -> ScheduledQuery:
        answer: ScheduledQuery = self.call("get_scheduled_query", scheduleKey)
        return answer

    def scheduled_query_maintenance(self, request: ScheduledQueryMaintenanceRequest | None) -> None:
        self.call("scheduled_query_maintenance", request)

    def scheduled_query_poll(self, request: ScheduledQueryPollRequest | None) -> ScheduledQueryPollResponse:
        answer: ScheduledQueryPollResponse = self.call("scheduled_query_poll", request)
        return answer

    def scheduled_query_progress(self, info: ScheduledQueryProgressInfo | None) -> None:
        self.call("scheduled_query_progress", info)

    # schema registry

    def add_schema_version(self, schemaVersion: SchemaVersion | None) -> None:
        self.call("add_schema_version", schemaVersion)

    def add_serde(self, serde: SerDeInfo | None) -> None:
        self.call("add_serde", serde)

    def alter_ischema(self, rqst: AlterISchemaRequest | None) -> None:
        self.call("alter_ischema", rqst)

    def create_ischema(self, schema: ISchema | None) -> None:
        self.call("create_ischema", schema)

    def drop_ischema(self, name: ISchemaName | None) -> None:
        self.call("drop_ischema", name)

    def drop_schema_version(self, schemaVersion: SchemaVersionDescriptor | None) -> None:
        self.call("drop_schema_version", schemaVersion)

    def get_ischema(self, name: ISchemaName | None) -> ISchema:
        answer: ISchema = self.call("get_ischema", name)
        return answer

    def get_schema_all_versions(self, schemaName: ISchemaName | None) -> tuple[SchemaVersion, ...]:
        answer: tuple[SchemaVersion, ...] = self.call("get_schema_all_versions", schemaName)
        return answer

    def get_schema_latest_version(self, schemaName: ISchemaName | None) -> SchemaVersion:
        answer: SchemaVersion = self.call("get_schema_latest_version", schemaName)
        return answer

    def get_schema_version(self, schemaVersion: SchemaVersionDescriptor | None) -> SchemaVersion:
        answer: SchemaVersion = self.call("get_schema_version", schemaVersion)
        return answer

    def get_schemas_by_cols(self, rqst: FindSchemasByColsRqst | None) -> FindSchemasByColsResp:
        answer: FindSchemasByColsResp = self.call("get_schemas_by_cols", rqst)
        return answer

    def get_serde(self, rqst: GetSerdeRequest | None) -> SerDeInfo:
        answer: SerDeInfo = self.call("get_serde", rqst)
        return answer

    def map_schema_version_to_serde(self, rqst: MapSchemaVersionToSerdeRequest | None) -> None:
        self.call("map_schema_version_to_serde", rqst)

    def set_schema_version_state(self, rqst: SetSchemaVersionStateRequest | None) -> None:
        self.call("set_schema_version_state", rqst)

    # service

    def aliveSince(self) -> int:
        answer: int = self.call("aliveSince")
        return answer

    def cm_recycle(self, request: CmRecycleRequest | None) -> CmRecycleResponse:
        answer: CmRecycleResponse = self.call("cm_recycle", request)
        return answer

    def flushCache(self) -> None:
        self.call("flushCache")

    def getCounter(self, key: str | None) -> int:
        answer: int = self.call("getCounter", key)
        return answer

    def getCounters(self) -> dict[str, int]:
        answer: dict[str, int] = self.call("getCounters")
        return answer

    def getCpuProfile(self, profileDurationInSec: int | None) -> str:
        answer: str = self.call("getCpuProfile", profileDurationInSec)
        return answer

    def getMetaConf(self, key: str | None) -> str:
        answer: str = self.call("getMetaConf", key)
        return answer

    def getName(self) -> str:
        answer: str = self.call("getName")
        return answer

    def getOption(self, key: str | None) -> str:
        answer: str = self.call("getOption", key)
        return answer

    def getOptions(self) -> dict[str, str]:
        answer: dict[str, str] = self.call("getOptions")
        return answer

    def getStatus(self) -> int:
        answer: int = self.call("getStatus")
        return answer

    def getStatusDetails(self) -> str:
        answer: str = self.call("getStatusDetails")
        return answer

    def getVersion(self) -> str:
        answer: str = self.call("getVersion")
        return answer

    def get_config_value(self, name: str | None, defaultValue: str | None) -> str:
        answer: str = self.call("get_config_value", name, defaultValue)
        return answer

    def get_metastore_db_uuid(self) -> str:
        answer: str = self.call("get_metastore_db_uuid")
        return answer

    def get_properties(self, req: PropertyGetRequest | None) -> PropertyGetResponse:
        answer: PropertyGetResponse = self.call("get_properties", req)
        return answer

    def reinitialize(self) -> None:
        self.call("reinitialize")

    def setMetaConf(self, key: str | None, value: str | None) -> None:
        self.call("setMetaConf", key, value)

    def setOption(self, key: str | None, value: str | None) -> None:
        self.call("setOption", key, value)

    def set_properties(self, req: PropertySetRequest | None) -> bool:
        answer: bool = self.call("set_properties", req)
        return answer

    def set_ugi(self, user_name: str | None, group_names: tuple[str, ...] | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("set_ugi", user_name, group_names)
        return answer

    def shutdown(self) -> None:
        self.call("shutdown")

    # statistics

    def delete_column_statistics_req(self, req: DeleteColumnStatisticsRequest | None) -> bool:
        answer: bool = self.call("delete_column_statistics_req", req)
        return answer

    def delete_partition_column_statistics(
        self, db_name: str | None, tbl_name: str | None, part_name: str | None, col_name: str | None, engine: str | None
    ) -> bool:
        answer: bool = self.call("delete_partition_column_statistics", db_name, tbl_name, part_name, col_name, engine)
        return answer

    def delete_table_column_statistics(
        self, db_name: str | None, tbl_name: str | None, col_name: str | None, engine: str | None
    ) -> bool:
        answer: bool = self.call("delete_table_column_statistics", db_name, tbl_name, col_name, engine)
        return answer

    def find_columns_with_stats(self, cr: CompactionInfoStruct | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("find_columns_with_stats", cr)
        return answer

    def get_aggr_stats_for(self, request: PartitionsStatsRequest | None) -> AggrStats:
        answer: AggrStats = self.call("get_aggr_stats_for", request)
        return answer

    def get_partition_column_statistics(
        self, db_name: str | None, tbl_name: str | None, part_name: str | None, col_name: str | None
    ) -> ColumnStatistics:
        answer: ColumnStatistics = self.call("get_partition_column_statistics", db_name, tbl_name, part_name, col_name)
        return answer

    def get_partitions_statistics_req(self, request: PartitionsStatsRequest | None) -> PartitionsStatsResult:
        answer: PartitionsStatsResult = self.call("get_partitions_statistics_req", request)
        return answer

    def get_table_column_statistics(
        self, db_name: str | None, tbl_name: str | None, col_name: str | None
    ) -> ColumnStatistics:
        answer: ColumnStatistics = self.call("get_table_column_statistics", db_name, tbl_name, col_name)
        return answer

    def get_table_statistics_req(self, request: TableStatsRequest | None) -> TableStatsResult:
        answer: TableStatsResult = self.call("get_table_statistics_req", request)
        return answer

    def set_aggr_stats_for(self, request: SetPartitionsStatsRequest | None) -> bool:
        answer: bool = self.call("set_aggr_stats_for", request)
        return answer

    def update_partition_column_statistics(self, stats_obj: ColumnStatistics | None) -> bool:
        answer: bool = self.call("update_partition_column_statistics", stats_obj)
        return answer

    def update_partition_column_statistics_req(
        self, req: SetPartitionsStatsRequest | None
    ) -> SetPartitionsStatsResponse:
        answer: SetPartitionsStatsResponse = self.call("update_partition_column_statistics_req", req)
        return answer

    def update_table_column_statistics(self, stats_obj: ColumnStatistics | None) -> bool:
        answer: bool = self.call("update_table_column_statistics", stats_obj)
        return answer

    def update_table_column_statistics_req(self, req: SetPartitionsStatsRequest | None) -> SetPartitionsStatsResponse:
        answer: SetPartitionsStatsResponse = self.call("update_table_column_statistics_req", req)
        return answer

    def update_transaction_statistics(self, req: UpdateTransactionalStatsRequest | None) -> None:
        self.call("update_transaction_statistics", req)

    # tables

    def alter_table(self, dbname: str | None, tbl_name: str | None, new_tbl: Table | None) -> None:
        self.call("alter_table", dbname, tbl_name, new_tbl)

    def alter_table_req(self, req: AlterTableRequest | None) -> AlterTableResponse:
        answer: AlterTableResponse = self.call("alter_table_req", req)
        return answer

    def alter_table_with_cascade(
        self, dbname: str | None, tbl_name: str | None, new_tbl: Table | None, cascade: bool | None
    ) -> None:
        self.call("alter_table_with_cascade", dbname, tbl_name, new_tbl, cascade)

    def alter_table_with_environment_context(
        self,
        dbname: str | None,
        tbl_name: str | None,
        new_tbl: Table | None,
        environment_context: EnvironmentContext | None = None,
    ) -> None:
        self.call("alter_table_with_environment_context", dbname, tbl_name, new_tbl, environment_context)

    def create_table(self, tbl: Table | None) -> None:
        self.call("create_table", tbl)

    def create_table_req(self, request: CreateTableRequest | None) -> None:
        self.call("create_table_req", request)

    def create_table_with_constraints(
        self,
        tbl: Table | None,
        primaryKeys: tuple[SQLPrimaryKey, ...] | None,
        foreignKeys: tuple[SQLForeignKey, ...] | None,
        uniqueConstraints: tuple[SQLUniqueConstraint, ...] | None,
        notNullConstraints: tuple[SQLNotNullConstraint, ...] | None,
        defaultConstraints: tuple[SQLDefaultConstraint, ...] | None,
        checkConstraints: tuple[SQLCheckConstraint, ...] | None,
    ) -> None:
        self.call(
            "create_table_with_constraints",
            tbl,
            primaryKeys,
            foreignKeys,
            uniqueConstraints,
            notNullConstraints,
            defaultConstraints,
            checkConstraints,
        )

    def create_table_with_environment_context(
        self, tbl: Table | None, environment_context: EnvironmentContext | None = None
    ) -> None:
        self.call("create_table_with_environment_context", tbl, environment_context)

    def drop_table(self, dbname: str | None, name: str | None, deleteData: bool | None) -> None:
        self.call("drop_table", dbname, name, deleteData)

    def drop_table_req(self, dropTableReq: DropTableRequest | None) -> AsyncOperationResp:
        answer: AsyncOperationResp = self.call("drop_table_req", dropTableReq)
        return answer

    def drop_table_with_environment_context(
        self,
        dbname: str | None,
        name: str | None,
        deleteData: bool | None,
        environment_context: EnvironmentContext | None = None,
    ) -> None:
        self.call("drop_table_with_environment_context", dbname, name, deleteData, environment_context)

    def get_all_tables(self, db_name: str | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_all_tables", db_name)
        return answer

    def get_fields(self, db_name: str | None, table_name: str | None) -> tuple[FieldSchema, ...]:
        answer: tuple[FieldSchema, ...] = self.call("get_fields", db_name, table_name)
        return answer

    def get_fields_req(self, req: GetFieldsRequest | None) -> GetFieldsResponse:
        answer: GetFieldsResponse = self.call("get_fields_req", req)
        return answer

    def get_fields_with_environment_context(
        self, db_name: str | None, table_name: str | None, environment_context: EnvironmentContext | None = None
    ) -> tuple[FieldSchema, ...]:
        answer: tuple[FieldSchema, ...] = self.call(
            "get_fields_with_environment_context", db_name, table_name, environment_context
        )
        return answer

    def get_schema(self, db_name: str | None, table_name: str | None) -> tuple[FieldSchema, ...]:
        answer: tuple[FieldSchema, ...] = self.call("get_schema", db_name, table_name)
        return answer

    def get_schema_req(self, req: GetSchemaRequest | None) -> GetSchemaResponse:
        answer: GetSchemaResponse = self.call("get_schema_req", req)
        return answer

    def get_schema_with_environment_context(
        self, db_name: str | None, table_name: str | None, environment_context: EnvironmentContext | None = None
    ) -> tuple[FieldSchema, ...]:
        answer: tuple[FieldSchema, ...] = self.call(
            "get_schema_with_environment_context", db_name, table_name, environment_context
        )
        return answer

    def get_table(self, dbname: str | None, tbl_name: str | None) -> Table:
        answer: Table = self.call("get_table", dbname, tbl_name)
        return answer

    def get_table_meta(
        self, db_patterns: str | None, tbl_patterns: str | None, tbl_types: tuple[str, ...] | None
    ) -> tuple[TableMeta, ...]:
        answer: tuple[TableMeta, ...] = self.call("get_table_meta", db_patterns, tbl_patterns, tbl_types)
        return answer

    def get_table_names_by_filter(
        self, dbname: str | None, filter: str | None, max_tables: int | None
    ) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_table_names_by_filter", dbname, filter, max_tables)
        return answer

    def get_table_objects_by_name(self, dbname: str | None, tbl_names: tuple[str, ...] | None) -> tuple[Table, ...]:
        answer: tuple[Table, ...] = self.call("get_table_objects_by_name", dbname, tbl_names)
        return answer

    def get_table_objects_by_name_req(self, req: GetTablesRequest | None) -> GetTablesResult:
        answer: GetTablesResult = self.call("get_table_objects_by_name_req", req)
        return answer

    def get_table_req(self, req: GetTableRequest | None) -> GetTableResult:
        answer: GetTableResult = self.call("get_table_req", req)
        return answer

    def get_tables(self, db_name: str | None, pattern: str | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_tables", db_name, pattern)
        return answer

    def get_tables_by_type(self, db_name: str | None, pattern: str | None, tableType: str | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_tables_by_type", db_name, pattern, tableType)
        return answer

    def get_tables_ext(self, req: GetTablesExtRequest | None) -> tuple[ExtendedTableInfo, ...]:
        answer: tuple[ExtendedTableInfo, ...] = self.call("get_tables_ext", req)
        return answer

    def translate_table_dryrun(self, request: CreateTableRequest | None) -> Table:
        answer: Table = self.call("translate_table_dryrun", request)
        return answer

    def truncate_table(self, dbName: str | None, tableName: str | None, partNames: tuple[str, ...] | None) -> None:
        self.call("truncate_table", dbName, tableName, partNames)

    def truncate_table_req(self, req: TruncateTableRequest | None) -> TruncateTableResponse:
        answer: TruncateTableResponse = self.call("truncate_table_req", req)
        return answer

    def update_table_params(self, updates: tuple[TableParamsUpdate, ...] | None) -> None:
        self.call("update_table_params", updates)

    # tokens

    def add_master_key(self, key: str | None) -> int:
        answer: int = self.call("add_master_key", key)
        return answer

    def add_token(self, token_identifier: str | None, delegation_token: str | None) -> bool:
        answer: bool = self.call("add_token", token_identifier, delegation_token)
        return answer

    def cancel_delegation_token(self, token_str_form: str | None) -> None:
        self.call("cancel_delegation_token", token_str_form)

    def get_all_token_identifiers(self) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_all_token_identifiers")
        return answer

    def get_delegation_token(self, token_owner: str | None, renewer_kerberos_principal_name: str | None) -> str:
        answer: str = self.call("get_delegation_token", token_owner, renewer_kerberos_principal_name)
        return answer

    def get_master_keys(self) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_master_keys")
        return answer

    def get_token(self, token_identifier: str | None) -> str:
        answer: str = self.call("get_token", token_identifier)
        return answer

    def remove_master_key(self, key_seq: int | None) -> bool:
        answer: bool = self.call("remove_master_key", key_seq)
        return answer

    def remove_token(self, token_identifier: str | None) -> bool:
        answer: bool = self.call("remove_token", token_identifier)
        return answer

    def renew_delegation_token(self, token_str_form: str | None) -> int:
        answer: int = self.call("renew_delegation_token", token_str_form)
        return answer

    def update_master_key(self, seq_number: int | None, key: str | None) -> None:
        self.call("update_master_key", seq_number, key)

    # transactions

    def abort_txn(self, rqst: AbortTxnRequest | None) -> None:
        self.call("abort_txn", rqst)

    def abort_txns(self, rqst: AbortTxnsRequest | None) -> None:
        self.call("abort_txns", rqst)

    def add_dynamic_partitions(self, rqst: AddDynamicPartitions | None) -> None:
        self.call("add_dynamic_partitions", rqst)

    def add_write_ids_to_min_history(self, txnId: int | None, writeIds: dict[str, int] | None) -> None:
        self.call("add_write_ids_to_min_history", txnId, writeIds)

    def allocate_table_write_ids(self, rqst: AllocateTableWriteIdsRequest | None) -> AllocateTableWriteIdsResponse:
        answer: AllocateTableWriteIdsResponse = self.call("allocate_table_write_ids", rqst)
        return answer

    def commit_txn(self, rqst: CommitTxnRequest | None) -> None:
        self.call("commit_txn", rqst)

    def get_latest_txnid_in_conflict(self, txnId: int | None) -> int:
        answer: int = self.call("get_latest_txnid_in_conflict", txnId)
        return answer

    def get_max_allocated_table_write_id(
        self, rqst: MaxAllocatedTableWriteIdRequest | None
    ) -> MaxAllocatedTableWriteIdResponse:
        answer: MaxAllocatedTableWriteIdResponse = self.call("get_max_allocated_table_write_id", rqst)
        return answer

    def get_open_txns(self) -> GetOpenTxnsResponse:
        answer: GetOpenTxnsResponse = self.call("get_open_txns")
        return answer

    def get_open_txns_info(self) -> GetOpenTxnsInfoResponse:
        answer: GetOpenTxnsInfoResponse = self.call("get_open_txns_info")
        return answer

    def get_open_txns_req(self, getOpenTxnsRequest: GetOpenTxnsRequest | None) -> GetOpenTxnsResponse:
        answer: GetOpenTxnsResponse = self.call("get_open_txns_req", getOpenTxnsRequest)
        return answer

    def get_replayed_txns_for_policy(self, policyName: str | None) -> ReplayedTxnsForPolicyResult:
        answer: ReplayedTxnsForPolicyResult = self.call("get_replayed_txns_for_policy", policyName)
        return answer

    def get_valid_write_ids(self, rqst: GetValidWriteIdsRequest | None) -> GetValidWriteIdsResponse:
        answer: GetValidWriteIdsResponse = self.call("get_valid_write_ids", rqst)
        return answer

    def heartbeat_txn_range(self, txns: HeartbeatTxnRangeRequest | None) -> HeartbeatTxnRangeResponse:
        answer: HeartbeatTxnRangeResponse = self.call("heartbeat_txn_range", txns)
        return answer

    def open_txns(self, rqst: OpenTxnRequest | None) -> OpenTxnsResponse:
        answer: OpenTxnsResponse = self.call("open_txns", rqst)
        return answer

    def repl_tbl_writeid_state(self, rqst: ReplTblWriteIdStateRequest | None) -> None:
        self.call("repl_tbl_writeid_state", rqst)

    def seed_txn_id(self, rqst: SeedTxnIdRequest | None) -> None:
        self.call("seed_txn_id", rqst)

    def seed_write_id(self, rqst: SeedTableWriteIdsRequest | None) -> None:
        self.call("seed_write_id", rqst)

    # types

    def create_type(self, type: Type | None) -> bool:
        answer: bool = self.call("create_type", type)
        return answer

    def drop_type(self, type: str | None) -> bool:
        answer: bool = self.call("drop_type", type)
        return answer

    def get_type(self, name: str | None) -> Type:
        answer: Type = self.call("get_type", name)
        return answer

    def get_type_all(self, name: str | None) -> dict[str, Type]:
        answer: dict[str, Type] = self.call("get_type_all", name)
        return answer

    # views

    def get_all_materialized_view_objects_for_rewriting(self) -> tuple[Table, ...]:
        answer: tuple[Table, ...] = self.call("get_all_materialized_view_objects_for_rewriting")
        return answer

    def get_materialization_invalidation_info(
        self, creation_metadata: CreationMetadata | None, validTxnList: str | None
    ) -> Materialization:
        answer: Materialization = self.call("get_materialization_invalidation_info", creation_metadata, validTxnList)
        return answer

    def get_materialized_views_for_rewriting(self, db_name: str | None) -> tuple[str, ...]:
        answer: tuple[str, ...] = self.call("get_materialized_views_for_rewriting", db_name)
        return answer

    def update_creation_metadata(
        self, catName: str | None, dbname: str | None, tbl_name: str | None, creation_metadata: CreationMetadata | None
    ) -> None:
        self.call("update_creation_metadata", catName, dbname, tbl_name, creation_metadata)
