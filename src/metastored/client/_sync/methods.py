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
        """Calls any method by its name and returns its result."""
        raise NotImplementedError

    # catalogs

    def alter_catalog(self, rqst: AlterCatalogRequest | None) -> None:
        """Replaces the description and the location of a catalog.

        Hive 3.1 and later. Raises NoSuchObjectException, InvalidOperationException, MetaException.
        """
        self.call("alter_catalog", rqst)

    def create_catalog(self, catalog: CreateCatalogRequest | None) -> None:
        """Creates a catalog, with the database `default` in it.

        Hive 3.1 and later. Raises AlreadyExistsException, InvalidObjectException, MetaException.
        """
        self.call("create_catalog", catalog)

    def drop_catalog(self, catName: DropCatalogRequest | None) -> None:
        """Drops a catalog that has no databases but an empty `default`.

        Hive 3.1 and later. Raises NoSuchObjectException, InvalidOperationException, MetaException.
        """
        self.call("drop_catalog", catName)

    def get_catalog(self, catName: GetCatalogRequest | None) -> GetCatalogResponse:
        """Returns a catalog by its name.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        result: GetCatalogResponse = self.call("get_catalog", catName)
        return result

    def get_catalogs(self) -> GetCatalogsResponse:
        """Returns the names of all catalogs.

        Hive 3.1 and later. Raises MetaException.
        """
        result: GetCatalogsResponse = self.call("get_catalogs")
        return result

    # compaction

    def abort_Compactions(self, rqst: AbortCompactionRequest | None) -> AbortCompactResponse:
        """Aborts waiting compactions by their ids, and returns the outcome of each.

        Hive 4.0.0 and later.
        """
        result: AbortCompactResponse = self.call("abort_Compactions", rqst)
        return result

    def compact(self, rqst: CompactionRequest | None) -> None:
        """Requests a compaction of a table or a partition.

        Hive 2.3 and later.
        """
        self.call("compact", rqst)

    def compact2(self, rqst: CompactionRequest | None) -> CompactionResponse:
        """Requests a compaction of a table or a partition, and returns its id and whether it is a new one.

        Hive 2.3 and later.
        """
        result: CompactionResponse = self.call("compact2", rqst)
        return result

    def find_next_compact(self, workerId: str | None) -> OptionalCompactionInfoStruct:
        """Gives the next compaction that waits to a worker of this name.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: OptionalCompactionInfoStruct = self.call("find_next_compact", workerId)
        return result

    def find_next_compact2(self, rqst: FindNextCompactRequest | None) -> OptionalCompactionInfoStruct:
        """Gives the next compaction that waits, of a pool of workers, to a worker.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: OptionalCompactionInfoStruct = self.call("find_next_compact2", rqst)
        return result

    def get_latest_committed_compaction_info(
        self, rqst: GetLatestCommittedCompactionInfoRequest | None
    ) -> GetLatestCommittedCompactionInfoResponse:
        """Returns the newest finished compaction of a table, or of each of its partitions.

        Hive 4.0.0 and later.
        """
        result: GetLatestCommittedCompactionInfoResponse = self.call("get_latest_committed_compaction_info", rqst)
        return result

    def mark_cleaned(self, cr: CompactionInfoStruct | None) -> None:
        """Records that the files which a compaction replaced are deleted.

        Hive 4.0.0 and later. Raises MetaException.
        """
        self.call("mark_cleaned", cr)

    def mark_compacted(self, cr: CompactionInfoStruct | None) -> None:
        """Records that a worker has finished a compaction, which is then ready for cleaning.

        Hive 4.0.0 and later. Raises MetaException.
        """
        self.call("mark_compacted", cr)

    def mark_failed(self, cr: CompactionInfoStruct | None) -> None:
        """Records that a compaction failed.

        Hive 4.0.0 and later. Raises MetaException.
        """
        self.call("mark_failed", cr)

    def mark_refused(self, cr: CompactionInfoStruct | None) -> None:
        """Records that a compaction was refused.

        Hive 4.0.0 and later. Raises MetaException.
        """
        self.call("mark_refused", cr)

    def remove_compaction_metrics_data(self, request: CompactionMetricsDataRequest | None) -> None:
        """Deletes a compaction metric of a table or a partition.

        Hive 4.0.0 and later. Raises MetaException.
        """
        self.call("remove_compaction_metrics_data", request)

    def set_hadoop_jobid(self, jobId: str | None, cq_id: int | None) -> None:
        """Records the id of the Hadoop job that runs a compaction.

        Hive 4.0.0 and later.
        """
        self.call("set_hadoop_jobid", jobId, cq_id)

    def show_compact(self, rqst: ShowCompactRequest | None) -> ShowCompactResponse:
        """Returns the compactions that wait, run or have ended, filtered as the request says.

        Hive 2.3 and later.
        """
        result: ShowCompactResponse = self.call("show_compact", rqst)
        return result

    def submit_for_cleanup(self, o1: CompactionRequest | None, o2: int | None, o3: int | None) -> bool:
        """Queues the files that an aborted write left for cleaning.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: bool = self.call("submit_for_cleanup", o1, o2, o3)
        return result

    def update_compaction_metrics_data(self, data: CompactionMetricsDataStruct | None) -> bool:
        """Stores a compaction metric of a table or a partition.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: bool = self.call("update_compaction_metrics_data", data)
        return result

    def update_compactor_state(self, cr: CompactionInfoStruct | None, txn_id: int | None) -> None:
        """Stores the state of a compaction and the transaction in which its worker runs.

        Hive 4.0.0 and later.
        """
        self.call("update_compactor_state", cr, txn_id)

    # connectors

    def alter_dataconnector(self, name: str | None, connector: DataConnector | None) -> None:
        """Replaces a data connector.

        Hive 4.0.0 only. Raises MetaException, NoSuchObjectException.
        """
        self.call("alter_dataconnector", name, connector)

    def alter_dataconnector_req(self, alterReq: AlterDataConnectorRequest | None) -> None:
        """Replaces a data connector.

        Hive 4.0.1 and later. Raises MetaException, NoSuchObjectException.
        """
        self.call("alter_dataconnector_req", alterReq)

    def create_dataconnector(self, connector: DataConnector | None) -> None:
        """Creates a data connector, by which databases of other systems are reached.

        Hive 4.0.0 only. Raises AlreadyExistsException, InvalidObjectException, MetaException.
        """
        self.call("create_dataconnector", connector)

    def create_dataconnector_req(self, connectorReq: CreateDataConnectorRequest | None) -> None:
        """Creates a data connector, by which databases of other systems are reached.

        Hive 4.0.1 and later. Raises AlreadyExistsException, InvalidObjectException, MetaException.
        """
        self.call("create_dataconnector_req", connectorReq)

    def drop_dataconnector(self, name: str | None, ifNotExists: bool | None, checkReferences: bool | None) -> None:
        """Drops a data connector.

        Hive 4.0.0 only. Raises NoSuchObjectException, InvalidOperationException, MetaException.
        """
        self.call("drop_dataconnector", name, ifNotExists, checkReferences)

    def drop_dataconnector_req(self, dropDcReq: DropDataConnectorRequest | None) -> None:
        """Drops a data connector.

        Hive 4.0.1 and later. Raises NoSuchObjectException, InvalidOperationException, MetaException.
        """
        self.call("drop_dataconnector_req", dropDcReq)

    def get_dataconnector_req(self, request: GetDataConnectorRequest | None) -> DataConnector:
        """Returns a data connector by its name.

        Hive 4.0.0 and later. Raises NoSuchObjectException, MetaException.
        """
        result: DataConnector = self.call("get_dataconnector_req", request)
        return result

    def get_dataconnectors(self) -> tuple[str, ...]:
        """Returns the names of all data connectors.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("get_dataconnectors")
        return result

    # constraints

    def add_check_constraint(self, req: AddCheckConstraintRequest | None) -> None:
        """Adds CHECK constraints to a table.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("add_check_constraint", req)

    def add_default_constraint(self, req: AddDefaultConstraintRequest | None) -> None:
        """Adds DEFAULT constraints to a table.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("add_default_constraint", req)

    def add_foreign_key(self, req: AddForeignKeyRequest | None) -> None:
        """Adds foreign keys to a table.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("add_foreign_key", req)

    def add_not_null_constraint(self, req: AddNotNullConstraintRequest | None) -> None:
        """Adds NOT NULL constraints to a table.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("add_not_null_constraint", req)

    def add_primary_key(self, req: AddPrimaryKeyRequest | None) -> None:
        """Adds a primary key to a table.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("add_primary_key", req)

    def add_unique_constraint(self, req: AddUniqueConstraintRequest | None) -> None:
        """Adds UNIQUE constraints to a table.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("add_unique_constraint", req)

    def drop_constraint(self, req: DropConstraintRequest | None) -> None:
        """Drops a constraint of a table by its name.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("drop_constraint", req)

    def get_all_table_constraints(self, request: AllTableConstraintsRequest | None) -> AllTableConstraintsResponse:
        """Returns the constraints of a table, of all kinds.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException.
        """
        result: AllTableConstraintsResponse = self.call("get_all_table_constraints", request)
        return result

    def get_check_constraints(self, request: CheckConstraintsRequest | None) -> CheckConstraintsResponse:
        """Returns the CHECK constraints of a table.

        Hive 3.1 and later. Raises MetaException, NoSuchObjectException.
        """
        result: CheckConstraintsResponse = self.call("get_check_constraints", request)
        return result

    def get_default_constraints(self, request: DefaultConstraintsRequest | None) -> DefaultConstraintsResponse:
        """Returns the DEFAULT constraints of a table.

        Hive 3.1 and later. Raises MetaException, NoSuchObjectException.
        """
        result: DefaultConstraintsResponse = self.call("get_default_constraints", request)
        return result

    def get_foreign_keys(self, request: ForeignKeysRequest | None) -> ForeignKeysResponse:
        """Returns the foreign keys between a parent table and a foreign table, either of which may be left out.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: ForeignKeysResponse = self.call("get_foreign_keys", request)
        return result

    def get_not_null_constraints(self, request: NotNullConstraintsRequest | None) -> NotNullConstraintsResponse:
        """Returns the NOT NULL constraints of a table.

        Hive 3.1 and later. Raises MetaException, NoSuchObjectException.
        """
        result: NotNullConstraintsResponse = self.call("get_not_null_constraints", request)
        return result

    def get_primary_keys(self, request: PrimaryKeysRequest | None) -> PrimaryKeysResponse:
        """Returns the columns of a table's primary key.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: PrimaryKeysResponse = self.call("get_primary_keys", request)
        return result

    def get_unique_constraints(self, request: UniqueConstraintsRequest | None) -> UniqueConstraintsResponse:
        """Returns the UNIQUE constraints of a table.

        Hive 3.1 and later. Raises MetaException, NoSuchObjectException.
        """
        result: UniqueConstraintsResponse = self.call("get_unique_constraints", request)
        return result

    # databases

    def alter_database(self, dbname: str | None, db: Database | None) -> None:
        """Replaces the description, owner, location and parameters of a database.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        self.call("alter_database", dbname, db)

    def alter_database_req(self, alterDbReq: AlterDatabaseRequest | None) -> None:
        """Replaces the description, owner, location and parameters of a database.

        Hive 4.0.1 and later. Raises MetaException, NoSuchObjectException.
        """
        self.call("alter_database_req", alterDbReq)

    def create_database(self, database: Database | None) -> None:
        """Creates a database and its directory.

        Hive 2.3 and later. Raises AlreadyExistsException, InvalidObjectException, MetaException.
        """
        self.call("create_database", database)

    def create_database_req(self, createDatabaseRequest: CreateDatabaseRequest | None) -> None:
        """Creates a database and its directory.

        Hive 4.0.1 and later. Raises AlreadyExistsException, InvalidObjectException, MetaException.
        """
        self.call("create_database_req", createDatabaseRequest)

    def drop_database(self, name: str | None, deleteData: bool | None, cascade: bool | None) -> None:
        """Drops a database, with `cascade` the tables and functions in it too, and with `deleteData` its directory.

        Hive 2.3 and later. Raises NoSuchObjectException, InvalidOperationException, MetaException.
        """
        self.call("drop_database", name, deleteData, cascade)

    def drop_database_req(self, req: DropDatabaseRequest | None) -> AsyncOperationResp:
        """Drops a database as the request says; it can be done in the background.

        Hive 4.0.0 and later. Raises NoSuchObjectException, InvalidOperationException, MetaException.
        """
        result: AsyncOperationResp = self.call("drop_database_req", req)
        return result

    def get_all_databases(self) -> tuple[str, ...]:
        """Returns the names of all databases.

        Hive 2.3 and later. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("get_all_databases")
        return result

    def get_database(self, name: str | None) -> Database:
        """Returns a database by its name.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: Database = self.call("get_database", name)
        return result

    def get_database_req(self, request: GetDatabaseRequest | None) -> Database:
        """Returns a database by its name, as a client with the given capabilities may see it.

        Hive 4.0.0 and later. Raises NoSuchObjectException, MetaException.
        """
        result: Database = self.call("get_database_req", request)
        return result

    def get_databases(self, pattern: str | None) -> tuple[str, ...]:
        """Returns the names of databases that match a pattern.

        Hive 2.3 and later. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("get_databases", pattern)
        return result

    def get_databases_req(self, request: GetDatabaseObjectsRequest | None) -> GetDatabaseObjectsResponse:
        """Returns databases that match a pattern.

        Hive 4.1 and later. Raises MetaException.
        """
        result: GetDatabaseObjectsResponse = self.call("get_databases_req", request)
        return result

    # files

    def cache_file_metadata(self, req: CacheFileMetadataRequest | None) -> CacheFileMetadataResult:
        """Caches the metadata of a table's files.

        Hive 2.3 and later.
        """
        result: CacheFileMetadataResult = self.call("cache_file_metadata", req)
        return result

    def clear_file_metadata(self, req: ClearFileMetadataRequest | None) -> ClearFileMetadataResult:
        """Removes cached metadata of files.

        Hive 2.3 and later.
        """
        result: ClearFileMetadataResult = self.call("clear_file_metadata", req)
        return result

    def get_file_metadata(self, req: GetFileMetadataRequest | None) -> GetFileMetadataResult:
        """Returns cached metadata of files by their ids.

        Hive 2.3 and later.
        """
        result: GetFileMetadataResult = self.call("get_file_metadata", req)
        return result

    def get_file_metadata_by_expr(self, req: GetFileMetadataByExprRequest | None) -> GetFileMetadataByExprResult:
        """Returns cached metadata of the files that an expression does not rule out.

        Hive 2.3 and later.
        """
        result: GetFileMetadataByExprResult = self.call("get_file_metadata_by_expr", req)
        return result

    def put_file_metadata(self, req: PutFileMetadataRequest | None) -> PutFileMetadataResult:
        """Stores metadata of files in the server's cache.

        Hive 2.3 and later.
        """
        result: PutFileMetadataResult = self.call("put_file_metadata", req)
        return result

    # functions

    def alter_function(self, dbName: str | None, funcName: str | None, newFunc: Function | None) -> None:
        """Replaces a function.

        Hive 2.3 and later. Raises InvalidOperationException, MetaException.
        """
        self.call("alter_function", dbName, funcName, newFunc)

    def create_function(self, func: Function | None) -> None:
        """Creates a function: a name for a Java class and the files that it needs.

        Hive 2.3 and later. Raises AlreadyExistsException, InvalidObjectException, MetaException,
        NoSuchObjectException.
        """
        self.call("create_function", func)

    def drop_function(self, dbName: str | None, funcName: str | None) -> None:
        """Drops a function.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("drop_function", dbName, funcName)

    def get_all_functions(self) -> GetAllFunctionsResponse:
        """Returns the functions of all databases.

        Hive 2.3 and later. Raises MetaException.
        """
        result: GetAllFunctionsResponse = self.call("get_all_functions")
        return result

    def get_function(self, dbName: str | None, funcName: str | None) -> Function:
        """Returns a function by its name.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: Function = self.call("get_function", dbName, funcName)
        return result

    def get_functions(self, dbName: str | None, pattern: str | None) -> tuple[str, ...]:
        """Returns the names of a database's functions that match a pattern.

        Hive 2.3 and later. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("get_functions", dbName, pattern)
        return result

    def get_functions_req(self, request: GetFunctionsRequest | None) -> GetFunctionsResponse:
        """Returns the functions of a database that match a pattern, or only their names.

        Hive 4.1 and later. Raises MetaException.
        """
        result: GetFunctionsResponse = self.call("get_functions_req", request)
        return result

    # indexes

    def add_index(self, new_index: Index | None, index_table: Table | None) -> Index:
        """Creates an index of a table, with the table that stores it.

        Hive 2.3 only. Raises InvalidObjectException, AlreadyExistsException, MetaException.
        """
        result: Index = self.call("add_index", new_index, index_table)
        return result

    def alter_index(
        self, dbname: str | None, base_tbl_name: str | None, idx_name: str | None, new_idx: Index | None
    ) -> None:
        """Replaces an index.

        Hive 2.3 only. Raises InvalidOperationException, MetaException.
        """
        self.call("alter_index", dbname, base_tbl_name, idx_name, new_idx)

    def drop_index_by_name(
        self, db_name: str | None, tbl_name: str | None, index_name: str | None, deleteData: bool | None
    ) -> bool:
        """Drops an index and the table that stores it.

        Hive 2.3 only. Raises NoSuchObjectException, MetaException.
        """
        result: bool = self.call("drop_index_by_name", db_name, tbl_name, index_name, deleteData)
        return result

    def get_index_by_name(self, db_name: str | None, tbl_name: str | None, index_name: str | None) -> Index:
        """Returns an index of a table by its name.

        Hive 2.3 only. Raises MetaException, NoSuchObjectException.
        """
        result: Index = self.call("get_index_by_name", db_name, tbl_name, index_name)
        return result

    def get_index_names(self, db_name: str | None, tbl_name: str | None, max_indexes: int | None) -> tuple[str, ...]:
        """Returns the names of a table's indexes.

        Hive 2.3 only. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("get_index_names", db_name, tbl_name, max_indexes)
        return result

    def get_indexes(self, db_name: str | None, tbl_name: str | None, max_indexes: int | None) -> tuple[Index, ...]:
        """Returns the indexes of a table.

        Hive 2.3 only. Raises NoSuchObjectException, MetaException.
        """
        result: tuple[Index, ...] = self.call("get_indexes", db_name, tbl_name, max_indexes)
        return result

    # locks

    def check_lock(self, rqst: CheckLockRequest | None) -> LockResponse:
        """Returns whether a lock that waited has been acquired, and keeps it alive.

        Hive 2.3 and later. Raises NoSuchTxnException, TxnAbortedException, NoSuchLockException.
        """
        result: LockResponse = self.call("check_lock", rqst)
        return result

    def get_lock_materialization_rebuild(
        self, dbName: str | None, tableName: str | None, txnId: int | None
    ) -> LockResponse:
        """Locks a materialized view, so that one transaction at a time rebuilds it.

        Hive 3.1 and later.
        """
        result: LockResponse = self.call("get_lock_materialization_rebuild", dbName, tableName, txnId)
        return result

    def get_lock_materialization_rebuild_req(self, req: LockMaterializationRebuildRequest | None) -> LockResponse:
        """Locks a materialized view, so that one transaction at a time rebuilds it.

        Hive the one after 4.2 and later.
        """
        result: LockResponse = self.call("get_lock_materialization_rebuild_req", req)
        return result

    def heartbeat(self, ids: HeartbeatRequest | None) -> None:
        """Keeps a transaction, a lock or both from timing out.

        Hive 2.3 and later. Raises NoSuchLockException, NoSuchTxnException, TxnAbortedException.
        """
        self.call("heartbeat", ids)

    def heartbeat_lock_materialization_rebuild(
        self, dbName: str | None, tableName: str | None, txnId: int | None
    ) -> bool:
        """Keeps the lock of a materialized view's rebuild from timing out.

        Hive 3.1 and later.
        """
        result: bool = self.call("heartbeat_lock_materialization_rebuild", dbName, tableName, txnId)
        return result

    def heartbeat_lock_materialization_rebuild_req(self, req: LockMaterializationRebuildRequest | None) -> bool:
        """Keeps the lock of a materialized view's rebuild from timing out.

        Hive the one after 4.2 and later.
        """
        result: bool = self.call("heartbeat_lock_materialization_rebuild_req", req)
        return result

    def lock(self, rqst: LockRequest | None) -> LockResponse:
        """Requests locks on databases, tables or partitions, all at once or not at all.

        Hive 2.3 and later. Raises NoSuchTxnException, TxnAbortedException.
        """
        result: LockResponse = self.call("lock", rqst)
        return result

    def show_locks(self, rqst: ShowLocksRequest | None) -> ShowLocksResponse:
        """Returns the locks that are held or wait.

        Hive 2.3 and later.
        """
        result: ShowLocksResponse = self.call("show_locks", rqst)
        return result

    def unlock(self, rqst: UnlockRequest | None) -> None:
        """Releases a lock that belongs to no transaction.

        Hive 2.3 and later. Raises NoSuchLockException, TxnOpenException.
        """
        self.call("unlock", rqst)

    # metrics

    def add_replication_metrics(self, replicationMetricList: ReplicationMetricList | None) -> None:
        """Stores metrics of replications.

        Hive 4.0.0 and later. Raises MetaException.
        """
        self.call("add_replication_metrics", replicationMetricList)

    def add_runtime_stats(self, stat: RuntimeStat | None) -> None:
        """Stores runtime statistics of a query's operators.

        Hive 3.1 and later. Raises MetaException.
        """
        self.call("add_runtime_stats", stat)

    def get_replication_metrics(self, rqst: GetReplicationMetricsRequest | None) -> ReplicationMetricList:
        """Returns metrics of replications by policy or by id.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: ReplicationMetricList = self.call("get_replication_metrics", rqst)
        return result

    def get_runtime_stats(self, rqst: GetRuntimeStatsRequest | None) -> tuple[RuntimeStat, ...]:
        """Returns runtime statistics of queries, the newest first.

        Hive 3.1 and later. Raises MetaException.
        """
        result: tuple[RuntimeStat, ...] = self.call("get_runtime_stats", rqst)
        return result

    # notifications

    def add_write_notification_log(self, rqst: WriteNotificationLogRequest | None) -> WriteNotificationLogResponse:
        """Records which files a write of a transaction added, for readers of the notifications.

        Hive 4.0.0 and later.
        """
        result: WriteNotificationLogResponse = self.call("add_write_notification_log", rqst)
        return result

    def add_write_notification_log_in_batch(
        self, rqst: WriteNotificationLogBatchRequest | None
    ) -> WriteNotificationLogBatchResponse:
        """Records which files several writes of a transaction added.

        Hive 4.0.0 and later.
        """
        result: WriteNotificationLogBatchResponse = self.call("add_write_notification_log_in_batch", rqst)
        return result

    def fire_listener_event(self, rqst: FireEventRequest | None) -> FireEventResponse:
        """Writes a notification of an INSERT, or of a RELOAD, that an engine has done.

        Hive 2.3 and later.
        """
        result: FireEventResponse = self.call("fire_listener_event", rqst)
        return result

    def get_all_write_event_info(self, request: GetAllWriteEventInfoRequest | None) -> tuple[WriteEventInfo, ...]:
        """Returns what a transaction wrote: tables, partitions and files.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: tuple[WriteEventInfo, ...] = self.call("get_all_write_event_info", request)
        return result

    def get_current_notificationEventId(self) -> CurrentNotificationEventId:
        """Returns the id of the newest notification.

        Hive 2.3 and later.
        """
        result: CurrentNotificationEventId = self.call("get_current_notificationEventId")
        return result

    def get_next_notification(self, rqst: NotificationEventRequest | None) -> NotificationEventResponse:
        """Returns the notifications after an id.

        Hive 2.3 and later.
        """
        result: NotificationEventResponse = self.call("get_next_notification", rqst)
        return result

    def get_notification_events_count(
        self, rqst: NotificationEventsCountRequest | None
    ) -> NotificationEventsCountResponse:
        """Returns how many notifications of a database came after an id.

        Hive 3.1 and later.
        """
        result: NotificationEventsCountResponse = self.call("get_notification_events_count", rqst)
        return result

    # partitions

    def add_partition(self, new_part: Partition | None) -> Partition:
        """Adds a partition to a table, and returns it as it was stored.

        Hive 2.3 and later. Raises InvalidObjectException, AlreadyExistsException, MetaException.
        """
        result: Partition = self.call("add_partition", new_part)
        return result

    def add_partition_with_environment_context(
        self, new_part: Partition | None, environment_context: EnvironmentContext | None = None
    ) -> Partition:
        """Adds a partition to a table, and returns it as it was stored.

        Hive 2.3 and later. Raises InvalidObjectException, AlreadyExistsException, MetaException.
        """
        result: Partition = self.call("add_partition_with_environment_context", new_part, environment_context)
        return result

    def add_partitions(self, new_parts: tuple[Partition, ...] | None) -> int:
        """Adds partitions to a table, all or none, and returns how many.

        Hive 2.3 and later. Raises InvalidObjectException, AlreadyExistsException, MetaException.
        """
        result: int = self.call("add_partitions", new_parts)
        return result

    def add_partitions_pspec(self, new_parts: tuple[PartitionSpec, ...] | None) -> int:
        """Adds partitions that share storage descriptors, all or none, and returns how many.

        Hive 2.3 and later. Raises InvalidObjectException, AlreadyExistsException, MetaException.
        """
        result: int = self.call("add_partitions_pspec", new_parts)
        return result

    def add_partitions_req(self, request: AddPartitionsRequest | None) -> AddPartitionsResult:
        """Adds partitions to a table, all or none, and returns them if requested.

        Hive 2.3 and later. Raises InvalidObjectException, AlreadyExistsException, MetaException.
        """
        result: AddPartitionsResult = self.call("add_partitions_req", request)
        return result

    def alter_partition(self, db_name: str | None, tbl_name: str | None, new_part: Partition | None) -> None:
        """Replaces a partition, identified by its values.

        Hive 2.3 and later. Raises InvalidOperationException, MetaException.
        """
        self.call("alter_partition", db_name, tbl_name, new_part)

    def alter_partition_with_environment_context(
        self,
        db_name: str | None,
        tbl_name: str | None,
        new_part: Partition | None,
        environment_context: EnvironmentContext | None = None,
    ) -> None:
        """Replaces a partition, identified by its values.

        Hive 2.3 and later. Raises InvalidOperationException, MetaException.
        """
        self.call("alter_partition_with_environment_context", db_name, tbl_name, new_part, environment_context)

    def alter_partitions(
        self, db_name: str | None, tbl_name: str | None, new_parts: tuple[Partition, ...] | None
    ) -> None:
        """Replaces partitions, identified by their values, all or none.

        Hive 2.3 and later. Raises InvalidOperationException, MetaException.
        """
        self.call("alter_partitions", db_name, tbl_name, new_parts)

    def alter_partitions_req(self, req: AlterPartitionsRequest | None) -> AlterPartitionsResponse:
        """Replaces partitions, identified by their values, all or none.

        Hive 4.0.0 and later. Raises InvalidOperationException, MetaException.
        """
        result: AlterPartitionsResponse = self.call("alter_partitions_req", req)
        return result

    def alter_partitions_with_environment_context(
        self,
        db_name: str | None,
        tbl_name: str | None,
        new_parts: tuple[Partition, ...] | None,
        environment_context: EnvironmentContext | None = None,
    ) -> None:
        """Replaces partitions, identified by their values, all or none.

        Hive 2.3 and later. Raises InvalidOperationException, MetaException.
        """
        self.call("alter_partitions_with_environment_context", db_name, tbl_name, new_parts, environment_context)

    def append_partition(
        self, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None
    ) -> Partition:
        """Adds a partition of these values, with the table's columns and the usual directory.

        Hive 2.3 and later. Raises InvalidObjectException, AlreadyExistsException, MetaException.
        """
        result: Partition = self.call("append_partition", db_name, tbl_name, part_vals)
        return result

    def append_partition_by_name(self, db_name: str | None, tbl_name: str | None, part_name: str | None) -> Partition:
        """Adds a partition of this name, with the table's columns and the usual directory.

        Hive 2.3 and later. Raises InvalidObjectException, AlreadyExistsException, MetaException.
        """
        result: Partition = self.call("append_partition_by_name", db_name, tbl_name, part_name)
        return result

    def append_partition_by_name_with_environment_context(
        self,
        db_name: str | None,
        tbl_name: str | None,
        part_name: str | None,
        environment_context: EnvironmentContext | None = None,
    ) -> Partition:
        """Adds a partition of this name, with the table's columns and the usual directory.

        Hive 2.3 and later. Raises InvalidObjectException, AlreadyExistsException, MetaException.
        """
        result: Partition = self.call(
            "append_partition_by_name_with_environment_context", db_name, tbl_name, part_name, environment_context
        )
        return result

    def append_partition_req(self, appendPartitionsReq: AppendPartitionsRequest | None) -> Partition:
        """Adds a partition of this name or these values, with the table's columns and the usual directory.

        Hive 4.0.1 and later. Raises InvalidObjectException, AlreadyExistsException, MetaException.
        """
        result: Partition = self.call("append_partition_req", appendPartitionsReq)
        return result

    def append_partition_with_environment_context(
        self,
        db_name: str | None,
        tbl_name: str | None,
        part_vals: tuple[str, ...] | None,
        environment_context: EnvironmentContext | None = None,
    ) -> Partition:
        """Adds a partition of these values, with the table's columns and the usual directory.

        Hive 2.3 and later. Raises InvalidObjectException, AlreadyExistsException, MetaException.
        """
        result: Partition = self.call(
            "append_partition_with_environment_context", db_name, tbl_name, part_vals, environment_context
        )
        return result

    def drop_partition(
        self, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None, deleteData: bool | None
    ) -> bool:
        """Drops a partition by its values, and with `deleteData` its directory.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: bool = self.call("drop_partition", db_name, tbl_name, part_vals, deleteData)
        return result

    def drop_partition_by_name(
        self, db_name: str | None, tbl_name: str | None, part_name: str | None, deleteData: bool | None
    ) -> bool:
        """Drops a partition by its name, and with `deleteData` its directory.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: bool = self.call("drop_partition_by_name", db_name, tbl_name, part_name, deleteData)
        return result

    def drop_partition_by_name_with_environment_context(
        self,
        db_name: str | None,
        tbl_name: str | None,
        part_name: str | None,
        deleteData: bool | None,
        environment_context: EnvironmentContext | None = None,
    ) -> bool:
        """Drops a partition by its name, and with `deleteData` its directory.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: bool = self.call(
            "drop_partition_by_name_with_environment_context",
            db_name,
            tbl_name,
            part_name,
            deleteData,
            environment_context,
        )
        return result

    def drop_partition_req(self, dropPartitionReq: DropPartitionRequest | None) -> bool:
        """Drops a partition by its name or its values.

        Hive 4.0.1 and later. Raises NoSuchObjectException, MetaException.
        """
        result: bool = self.call("drop_partition_req", dropPartitionReq)
        return result

    def drop_partition_with_environment_context(
        self,
        db_name: str | None,
        tbl_name: str | None,
        part_vals: tuple[str, ...] | None,
        deleteData: bool | None,
        environment_context: EnvironmentContext | None = None,
    ) -> bool:
        """Drops a partition by its values, and with `deleteData` its directory.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: bool = self.call(
            "drop_partition_with_environment_context", db_name, tbl_name, part_vals, deleteData, environment_context
        )
        return result

    def drop_partitions_req(self, req: DropPartitionsRequest | None) -> DropPartitionsResult:
        """Drops partitions by their names or by expressions, all or none.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: DropPartitionsResult = self.call("drop_partitions_req", req)
        return result

    def exchange_partition(
        self,
        partitionSpecs: dict[str, str] | None,
        source_db: str | None,
        source_table_name: str | None,
        dest_db: str | None,
        dest_table_name: str | None,
    ) -> Partition:
        """Moves a partition from one table to another, with its data.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException, InvalidObjectException,
        InvalidInputException.
        """
        result: Partition = self.call(
            "exchange_partition", partitionSpecs, source_db, source_table_name, dest_db, dest_table_name
        )
        return result

    def exchange_partitions(
        self,
        partitionSpecs: dict[str, str] | None,
        source_db: str | None,
        source_table_name: str | None,
        dest_db: str | None,
        dest_table_name: str | None,
    ) -> tuple[Partition, ...]:
        """Moves partitions that match part of the values from one table to another, with their data.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException, InvalidObjectException,
        InvalidInputException.
        """
        result: tuple[Partition, ...] = self.call(
            "exchange_partitions", partitionSpecs, source_db, source_table_name, dest_db, dest_table_name
        )
        return result

    def fetch_partition_names_req(self, partitionReq: PartitionsRequest | None) -> tuple[str, ...]:
        """Returns the names of a table's partitions.

        Hive 4.0.1 and later. Raises NoSuchObjectException, MetaException.
        """
        result: tuple[str, ...] = self.call("fetch_partition_names_req", partitionReq)
        return result

    def get_num_partitions_by_filter(self, db_name: str | None, tbl_name: str | None, filter: str | None) -> int:
        """Returns how many partitions match a filter.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: int = self.call("get_num_partitions_by_filter", db_name, tbl_name, filter)
        return result

    def get_part_specs_by_filter(
        self, db_name: str | None, tbl_name: str | None, filter: str | None, max_parts: int | None
    ) -> tuple[PartitionSpec, ...]:
        """Returns the partitions that match a filter, grouped by shared storage descriptors.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: tuple[PartitionSpec, ...] = self.call("get_part_specs_by_filter", db_name, tbl_name, filter, max_parts)
        return result

    def get_partition(self, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None) -> Partition:
        """Returns a partition by its values.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: Partition = self.call("get_partition", db_name, tbl_name, part_vals)
        return result

    def get_partition_by_name(self, db_name: str | None, tbl_name: str | None, part_name: str | None) -> Partition:
        """Returns a partition by its name, such as `ds=2024-01-01/h=1`.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: Partition = self.call("get_partition_by_name", db_name, tbl_name, part_name)
        return result

    def get_partition_names(self, db_name: str | None, tbl_name: str | None, max_parts: int | None) -> tuple[str, ...]:
        """Returns the names of a table's partitions.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: tuple[str, ...] = self.call("get_partition_names", db_name, tbl_name, max_parts)
        return result

    def get_partition_names_ps(
        self, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None, max_parts: int | None
    ) -> tuple[str, ...]:
        """Returns the names of the partitions that match the first values; an empty value matches any.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: tuple[str, ...] = self.call("get_partition_names_ps", db_name, tbl_name, part_vals, max_parts)
        return result

    def get_partition_names_ps_req(self, req: GetPartitionNamesPsRequest | None) -> GetPartitionNamesPsResponse:
        """Returns the names of the partitions that match the first values; an empty value matches any.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException.
        """
        result: GetPartitionNamesPsResponse = self.call("get_partition_names_ps_req", req)
        return result

    def get_partition_names_req(self, req: PartitionsByExprRequest | None) -> tuple[str, ...]:
        """Returns the names of the partitions that match an expression.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException.
        """
        result: tuple[str, ...] = self.call("get_partition_names_req", req)
        return result

    def get_partition_req(self, req: GetPartitionRequest | None) -> GetPartitionResponse:
        """Returns a partition by its values.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException.
        """
        result: GetPartitionResponse = self.call("get_partition_req", req)
        return result

    def get_partition_values(self, request: PartitionValuesRequest | None) -> PartitionValuesResponse:
        """Returns the distinct values of partition keys.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: PartitionValuesResponse = self.call("get_partition_values", request)
        return result

    def get_partition_with_auth(
        self,
        db_name: str | None,
        tbl_name: str | None,
        part_vals: tuple[str, ...] | None,
        user_name: str | None,
        group_names: tuple[str, ...] | None,
    ) -> Partition:
        """Returns a partition by its values, with the privileges of a user and groups on it.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: Partition = self.call("get_partition_with_auth", db_name, tbl_name, part_vals, user_name, group_names)
        return result

    def get_partitions(self, db_name: str | None, tbl_name: str | None, max_parts: int | None) -> tuple[Partition, ...]:
        """Returns the partitions of a table.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: tuple[Partition, ...] = self.call("get_partitions", db_name, tbl_name, max_parts)
        return result

    def get_partitions_by_expr(self, req: PartitionsByExprRequest | None) -> PartitionsByExprResult:
        """Returns the partitions that match a serialised expression of Hive's, and whether some may not match.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: PartitionsByExprResult = self.call("get_partitions_by_expr", req)
        return result

    def get_partitions_by_filter(
        self, db_name: str | None, tbl_name: str | None, filter: str | None, max_parts: int | None
    ) -> tuple[Partition, ...]:
        """Returns the partitions that match a filter, such as `ds >= '2024-01-01'`.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: tuple[Partition, ...] = self.call("get_partitions_by_filter", db_name, tbl_name, filter, max_parts)
        return result

    def get_partitions_by_filter_req(self, req: GetPartitionsByFilterRequest | None) -> tuple[Partition, ...]:
        """Returns the partitions that match a filter, such as `ds >= '2024-01-01'`.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException.
        """
        result: tuple[Partition, ...] = self.call("get_partitions_by_filter_req", req)
        return result

    def get_partitions_by_names(
        self, db_name: str | None, tbl_name: str | None, names: tuple[str, ...] | None
    ) -> tuple[Partition, ...]:
        """Returns partitions by their names; those that do not exist are left out.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException, InvalidObjectException.
        """
        result: tuple[Partition, ...] = self.call("get_partitions_by_names", db_name, tbl_name, names)
        return result

    def get_partitions_by_names_req(self, req: GetPartitionsByNamesRequest | None) -> GetPartitionsByNamesResult:
        """Returns partitions by their names; those that do not exist are left out.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException, InvalidObjectException.
        """
        result: GetPartitionsByNamesResult = self.call("get_partitions_by_names_req", req)
        return result

    def get_partitions_ps(
        self, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None, max_parts: int | None
    ) -> tuple[Partition, ...]:
        """Returns the partitions that match the first values; an empty value matches any.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: tuple[Partition, ...] = self.call("get_partitions_ps", db_name, tbl_name, part_vals, max_parts)
        return result

    def get_partitions_ps_with_auth(
        self,
        db_name: str | None,
        tbl_name: str | None,
        part_vals: tuple[str, ...] | None,
        max_parts: int | None,
        user_name: str | None,
        group_names: tuple[str, ...] | None,
    ) -> tuple[Partition, ...]:
        """Returns the partitions that match the first values, with the privileges of a user and groups on them.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: tuple[Partition, ...] = self.call(
            "get_partitions_ps_with_auth", db_name, tbl_name, part_vals, max_parts, user_name, group_names
        )
        return result

    def get_partitions_ps_with_auth_req(
        self, req: GetPartitionsPsWithAuthRequest | None
    ) -> GetPartitionsPsWithAuthResponse:
        """Returns the partitions that match the first values, with the privileges of a user and groups on them.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException.
        """
        result: GetPartitionsPsWithAuthResponse = self.call("get_partitions_ps_with_auth_req", req)
        return result

    def get_partitions_pspec(
        self, db_name: str | None, tbl_name: str | None, max_parts: int | None
    ) -> tuple[PartitionSpec, ...]:
        """Returns the partitions of a table, grouped by shared storage descriptors.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: tuple[PartitionSpec, ...] = self.call("get_partitions_pspec", db_name, tbl_name, max_parts)
        return result

    def get_partitions_req(self, req: PartitionsRequest | None) -> PartitionsResponse:
        """Returns the partitions of a table.

        Hive 4.0.0 and later. Raises NoSuchObjectException, MetaException.
        """
        result: PartitionsResponse = self.call("get_partitions_req", req)
        return result

    def get_partitions_spec_by_expr(self, req: PartitionsByExprRequest | None) -> PartitionsSpecByExprResult:
        """Returns the partitions that match a serialised expression of Hive's, grouped by shared storage descriptors.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException.
        """
        result: PartitionsSpecByExprResult = self.call("get_partitions_spec_by_expr", req)
        return result

    def get_partitions_with_auth(
        self,
        db_name: str | None,
        tbl_name: str | None,
        max_parts: int | None,
        user_name: str | None,
        group_names: tuple[str, ...] | None,
    ) -> tuple[Partition, ...]:
        """Returns the partitions of a table, with the privileges of a user and groups on them.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: tuple[Partition, ...] = self.call(
            "get_partitions_with_auth", db_name, tbl_name, max_parts, user_name, group_names
        )
        return result

    def get_partitions_with_specs(self, request: GetPartitionsRequest | None) -> GetPartitionsResponse:
        """Returns chosen fields of the partitions that match filters, grouped by shared storage descriptors.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: GetPartitionsResponse = self.call("get_partitions_with_specs", request)
        return result

    def isPartitionMarkedForEvent(
        self, db_name: str | None, tbl_name: str | None, part_vals: dict[str, str] | None, eventType: int | None
    ) -> bool:
        """Returns whether a partition was marked for an event, such as that its data is complete.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException, UnknownDBException, UnknownTableException,
        UnknownPartitionException, InvalidPartitionException.
        """
        result: bool = self.call("isPartitionMarkedForEvent", db_name, tbl_name, part_vals, eventType)
        return result

    def markPartitionForEvent(
        self, db_name: str | None, tbl_name: str | None, part_vals: dict[str, str] | None, eventType: int | None
    ) -> None:
        """Marks a partition for an event, such as that its data is complete.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException, UnknownDBException, UnknownTableException,
        UnknownPartitionException, InvalidPartitionException.
        """
        self.call("markPartitionForEvent", db_name, tbl_name, part_vals, eventType)

    def partition_name_has_valid_characters(
        self, part_vals: tuple[str, ...] | None, throw_exception: bool | None
    ) -> bool:
        """Returns whether partition values have only characters that the server's pattern allows.

        Hive 2.3 and later. Raises MetaException.
        """
        result: bool = self.call("partition_name_has_valid_characters", part_vals, throw_exception)
        return result

    def partition_name_to_spec(self, part_name: str | None) -> dict[str, str]:
        """Splits a partition's name into keys and values.

        Hive 2.3 and later. Raises MetaException.
        """
        result: dict[str, str] = self.call("partition_name_to_spec", part_name)
        return result

    def partition_name_to_vals(self, part_name: str | None) -> tuple[str, ...]:
        """Splits a partition's name into its values.

        Hive 2.3 and later. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("partition_name_to_vals", part_name)
        return result

    def rename_partition(
        self, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None, new_part: Partition | None
    ) -> None:
        """Gives a partition new values, and moves its directory where it is the usual one.

        Hive 2.3 and later. Raises InvalidOperationException, MetaException.
        """
        self.call("rename_partition", db_name, tbl_name, part_vals, new_part)

    def rename_partition_req(self, req: RenamePartitionRequest | None) -> RenamePartitionResponse:
        """Gives a partition new values, and moves its directory where it is the usual one.

        Hive 4.0.0 and later. Raises InvalidOperationException, MetaException.
        """
        result: RenamePartitionResponse = self.call("rename_partition_req", req)
        return result

    # procedures

    def add_package(self, request: AddPackageRequest | None) -> None:
        """Creates or replaces a package of stored procedures.

        Hive 4.0.0 and later. Raises MetaException.
        """
        self.call("add_package", request)

    def create_stored_procedure(self, proc: StoredProcedure | None) -> None:
        """Creates or replaces a stored procedure.

        Hive 4.0.0 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("create_stored_procedure", proc)

    def drop_package(self, request: DropPackageRequest | None) -> None:
        """Drops a package of stored procedures.

        Hive 4.0.0 and later. Raises MetaException.
        """
        self.call("drop_package", request)

    def drop_stored_procedure(self, request: StoredProcedureRequest | None) -> None:
        """Drops a stored procedure.

        Hive 4.0.0 and later. Raises MetaException.
        """
        self.call("drop_stored_procedure", request)

    def find_package(self, request: GetPackageRequest | None) -> Package:
        """Returns a package of stored procedures by its name.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException.
        """
        result: Package = self.call("find_package", request)
        return result

    def get_all_packages(self, request: ListPackageRequest | None) -> tuple[str, ...]:
        """Returns the names of the packages of stored procedures.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("get_all_packages", request)
        return result

    def get_all_stored_procedures(self, request: ListStoredProcedureRequest | None) -> tuple[str, ...]:
        """Returns the names of the stored procedures.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("get_all_stored_procedures", request)
        return result

    def get_stored_procedure(self, request: StoredProcedureRequest | None) -> StoredProcedure:
        """Returns a stored procedure by its name.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException.
        """
        result: StoredProcedure = self.call("get_stored_procedure", request)
        return result

    # resource plans

    def alter_resource_plan(self, request: WMAlterResourcePlanRequest | None) -> WMAlterResourcePlanResponse:
        """Changes a resource plan: its settings, its name, or whether it is enabled or active.

        Hive 3.1 and later. Raises NoSuchObjectException, InvalidOperationException, MetaException.
        """
        result: WMAlterResourcePlanResponse = self.call("alter_resource_plan", request)
        return result

    def alter_wm_pool(self, request: WMAlterPoolRequest | None) -> WMAlterPoolResponse:
        """Replaces a pool of a resource plan.

        Hive 3.1 and later. Raises AlreadyExistsException, NoSuchObjectException, InvalidObjectException,
        MetaException.
        """
        result: WMAlterPoolResponse = self.call("alter_wm_pool", request)
        return result

    def alter_wm_trigger(self, request: WMAlterTriggerRequest | None) -> WMAlterTriggerResponse:
        """Replaces a trigger of a resource plan.

        Hive 3.1 and later. Raises NoSuchObjectException, InvalidObjectException, MetaException.
        """
        result: WMAlterTriggerResponse = self.call("alter_wm_trigger", request)
        return result

    def create_or_drop_wm_trigger_to_pool_mapping(
        self, request: WMCreateOrDropTriggerToPoolMappingRequest | None
    ) -> WMCreateOrDropTriggerToPoolMappingResponse:
        """Adds a trigger to a pool, or removes it.

        Hive 3.1 and later. Raises AlreadyExistsException, NoSuchObjectException, InvalidObjectException,
        MetaException.
        """
        result: WMCreateOrDropTriggerToPoolMappingResponse = self.call(
            "create_or_drop_wm_trigger_to_pool_mapping", request
        )
        return result

    def create_or_update_wm_mapping(
        self, request: WMCreateOrUpdateMappingRequest | None
    ) -> WMCreateOrUpdateMappingResponse:
        """Maps users, groups or applications to a pool of a resource plan.

        Hive 3.1 and later. Raises AlreadyExistsException, NoSuchObjectException, InvalidObjectException,
        MetaException.
        """
        result: WMCreateOrUpdateMappingResponse = self.call("create_or_update_wm_mapping", request)
        return result

    def create_resource_plan(self, request: WMCreateResourcePlanRequest | None) -> WMCreateResourcePlanResponse:
        """Creates a resource plan, empty or as a copy of another one.

        Hive 3.1 and later. Raises AlreadyExistsException, InvalidObjectException, MetaException.
        """
        result: WMCreateResourcePlanResponse = self.call("create_resource_plan", request)
        return result

    def create_wm_pool(self, request: WMCreatePoolRequest | None) -> WMCreatePoolResponse:
        """Adds a pool to a resource plan.

        Hive 3.1 and later. Raises AlreadyExistsException, NoSuchObjectException, InvalidObjectException,
        MetaException.
        """
        result: WMCreatePoolResponse = self.call("create_wm_pool", request)
        return result

    def create_wm_trigger(self, request: WMCreateTriggerRequest | None) -> WMCreateTriggerResponse:
        """Adds a trigger to a resource plan.

        Hive 3.1 and later. Raises AlreadyExistsException, NoSuchObjectException, InvalidObjectException,
        MetaException.
        """
        result: WMCreateTriggerResponse = self.call("create_wm_trigger", request)
        return result

    def drop_resource_plan(self, request: WMDropResourcePlanRequest | None) -> WMDropResourcePlanResponse:
        """Drops a resource plan.

        Hive 3.1 and later. Raises NoSuchObjectException, InvalidOperationException, MetaException.
        """
        result: WMDropResourcePlanResponse = self.call("drop_resource_plan", request)
        return result

    def drop_wm_mapping(self, request: WMDropMappingRequest | None) -> WMDropMappingResponse:
        """Removes a mapping of users, groups or applications.

        Hive 3.1 and later. Raises NoSuchObjectException, InvalidOperationException, MetaException.
        """
        result: WMDropMappingResponse = self.call("drop_wm_mapping", request)
        return result

    def drop_wm_pool(self, request: WMDropPoolRequest | None) -> WMDropPoolResponse:
        """Drops a pool of a resource plan and the pools below it.

        Hive 3.1 and later. Raises NoSuchObjectException, InvalidOperationException, MetaException.
        """
        result: WMDropPoolResponse = self.call("drop_wm_pool", request)
        return result

    def drop_wm_trigger(self, request: WMDropTriggerRequest | None) -> WMDropTriggerResponse:
        """Drops a trigger of a resource plan.

        Hive 3.1 and later. Raises NoSuchObjectException, InvalidOperationException, MetaException.
        """
        result: WMDropTriggerResponse = self.call("drop_wm_trigger", request)
        return result

    def get_active_resource_plan(
        self, request: WMGetActiveResourcePlanRequest | None
    ) -> WMGetActiveResourcePlanResponse:
        """Returns the active resource plan with all that belongs to it.

        Hive 3.1 and later. Raises MetaException.
        """
        result: WMGetActiveResourcePlanResponse = self.call("get_active_resource_plan", request)
        return result

    def get_all_resource_plans(self, request: WMGetAllResourcePlanRequest | None) -> WMGetAllResourcePlanResponse:
        """Returns all resource plans.

        Hive 3.1 and later. Raises MetaException.
        """
        result: WMGetAllResourcePlanResponse = self.call("get_all_resource_plans", request)
        return result

    def get_resource_plan(self, request: WMGetResourcePlanRequest | None) -> WMGetResourcePlanResponse:
        """Returns a resource plan with all that belongs to it.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        result: WMGetResourcePlanResponse = self.call("get_resource_plan", request)
        return result

    def get_triggers_for_resourceplan(
        self, request: WMGetTriggersForResourePlanRequest | None
    ) -> WMGetTriggersForResourePlanResponse:
        """Returns the triggers of a resource plan.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        result: WMGetTriggersForResourePlanResponse = self.call("get_triggers_for_resourceplan", request)
        return result

    def validate_resource_plan(self, request: WMValidateResourcePlanRequest | None) -> WMValidateResourcePlanResponse:
        """Checks a resource plan and returns its errors and warnings.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        result: WMValidateResourcePlanResponse = self.call("validate_resource_plan", request)
        return result

    # roles

    def create_role(self, role: Role | None) -> bool:
        """Creates a role.

        Hive 2.3 and later. Raises MetaException.
        """
        result: bool = self.call("create_role", role)
        return result

    def drop_role(self, role_name: str | None) -> bool:
        """Drops a role and all that was granted to it.

        Hive 2.3 and later. Raises MetaException.
        """
        result: bool = self.call("drop_role", role_name)
        return result

    def get_principals_in_role(self, request: GetPrincipalsInRoleRequest | None) -> GetPrincipalsInRoleResponse:
        """Returns the users and roles that were granted a role.

        Hive 2.3 and later. Raises MetaException.
        """
        result: GetPrincipalsInRoleResponse = self.call("get_principals_in_role", request)
        return result

    def get_privilege_set(
        self, hiveObject: HiveObjectRef | None, user_name: str | None, group_names: tuple[str, ...] | None
    ) -> PrincipalPrivilegeSet:
        """Returns the privileges of a user and groups on an object.

        Hive 2.3 and later. Raises MetaException.
        """
        result: PrincipalPrivilegeSet = self.call("get_privilege_set", hiveObject, user_name, group_names)
        return result

    def get_role_grants_for_principal(
        self, request: GetRoleGrantsForPrincipalRequest | None
    ) -> GetRoleGrantsForPrincipalResponse:
        """Returns the roles that were granted to a user or a role.

        Hive 2.3 and later. Raises MetaException.
        """
        result: GetRoleGrantsForPrincipalResponse = self.call("get_role_grants_for_principal", request)
        return result

    def get_role_names(self) -> tuple[str, ...]:
        """Returns the names of all roles.

        Hive 2.3 and later. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("get_role_names")
        return result

    def grant_privileges(self, privileges: PrivilegeBag | None) -> bool:
        """Grants privileges on objects.

        Hive 2.3 and later. Raises MetaException.
        """
        result: bool = self.call("grant_privileges", privileges)
        return result

    def grant_revoke_privileges(self, request: GrantRevokePrivilegeRequest | None) -> GrantRevokePrivilegeResponse:
        """Grants privileges on objects, or revokes them.

        Hive 2.3 and later. Raises MetaException.
        """
        result: GrantRevokePrivilegeResponse = self.call("grant_revoke_privileges", request)
        return result

    def grant_revoke_role(self, request: GrantRevokeRoleRequest | None) -> GrantRevokeRoleResponse:
        """Grants a role to a user or another role, or revokes it.

        Hive 2.3 and later. Raises MetaException.
        """
        result: GrantRevokeRoleResponse = self.call("grant_revoke_role", request)
        return result

    def grant_role(
        self,
        role_name: str | None,
        principal_name: str | None,
        principal_type: int | None,
        grantor: str | None,
        grantorType: int | None,
        grant_option: bool | None,
    ) -> bool:
        """Grants a role to a user or another role.

        Hive 2.3 and later. Raises MetaException.
        """
        result: bool = self.call(
            "grant_role", role_name, principal_name, principal_type, grantor, grantorType, grant_option
        )
        return result

    def list_privileges(
        self, principal_name: str | None, principal_type: int | None, hiveObject: HiveObjectRef | None
    ) -> tuple[HiveObjectPrivilege, ...]:
        """Returns the privileges that were granted to a user, group or role, on one object or on all.

        Hive 2.3 and later. Raises MetaException.
        """
        result: tuple[HiveObjectPrivilege, ...] = self.call(
            "list_privileges", principal_name, principal_type, hiveObject
        )
        return result

    def list_roles(self, principal_name: str | None, principal_type: int | None) -> tuple[Role, ...]:
        """Returns the roles that were granted to a user or a role.

        Hive 2.3 and later. Raises MetaException.
        """
        result: tuple[Role, ...] = self.call("list_roles", principal_name, principal_type)
        return result

    def refresh_privileges(
        self,
        objToRefresh: HiveObjectRef | None,
        authorizer: str | None,
        grantRequest: GrantRevokePrivilegeRequest | None,
    ) -> GrantRevokePrivilegeResponse:
        """Replaces the privileges on an object that one authorizer maintains.

        Hive 3.1 and later. Raises MetaException.
        """
        result: GrantRevokePrivilegeResponse = self.call("refresh_privileges", objToRefresh, authorizer, grantRequest)
        return result

    def revoke_privileges(self, privileges: PrivilegeBag | None) -> bool:
        """Revokes privileges on objects.

        Hive 2.3 and later. Raises MetaException.
        """
        result: bool = self.call("revoke_privileges", privileges)
        return result

    def revoke_role(self, role_name: str | None, principal_name: str | None, principal_type: int | None) -> bool:
        """Revokes a role from a user or another role.

        Hive 2.3 and later. Raises MetaException.
        """
        result: bool = self.call("revoke_role", role_name, principal_name, principal_type)
        return result

    # scheduled queries

    def get_scheduled_query(self, scheduleKey: ScheduledQueryKey | None) -> ScheduledQuery:
        """Returns a scheduled query by its name.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException.
        """
        result: ScheduledQuery = self.call("get_scheduled_query", scheduleKey)
        return result

    def scheduled_query_maintenance(self, request: ScheduledQueryMaintenanceRequest | None) -> None:
        """Creates, changes or drops a scheduled query.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException, AlreadyExistsException,
        InvalidInputException.
        """
        self.call("scheduled_query_maintenance", request)

    def scheduled_query_poll(self, request: ScheduledQueryPollRequest | None) -> ScheduledQueryPollResponse:
        """Gives the next scheduled query that is due to an executor.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: ScheduledQueryPollResponse = self.call("scheduled_query_poll", request)
        return result

    def scheduled_query_progress(self, info: ScheduledQueryProgressInfo | None) -> None:
        """Records how far the execution of a scheduled query has come.

        Hive 4.0.0 and later. Raises MetaException, InvalidOperationException.
        """
        self.call("scheduled_query_progress", info)

    # schema registry

    def add_schema_version(self, schemaVersion: SchemaVersion | None) -> None:
        """Adds a version to a schema of the schema registry.

        Hive 3.1 and later. Raises AlreadyExistsException, NoSuchObjectException, MetaException.
        """
        self.call("add_schema_version", schemaVersion)

    def add_serde(self, serde: SerDeInfo | None) -> None:
        """Creates a serde of the schema registry.

        Hive 3.1 and later. Raises AlreadyExistsException, MetaException.
        """
        self.call("add_serde", serde)

    def alter_ischema(self, rqst: AlterISchemaRequest | None) -> None:
        """Changes a schema of the schema registry.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("alter_ischema", rqst)

    def create_ischema(self, schema: ISchema | None) -> None:
        """Creates a schema of the schema registry.

        Hive 3.1 and later. Raises AlreadyExistsException, NoSuchObjectException, MetaException.
        """
        self.call("create_ischema", schema)

    def drop_ischema(self, name: ISchemaName | None) -> None:
        """Drops a schema that has no versions.

        Hive 3.1 and later. Raises NoSuchObjectException, InvalidOperationException, MetaException.
        """
        self.call("drop_ischema", name)

    def drop_schema_version(self, schemaVersion: SchemaVersionDescriptor | None) -> None:
        """Drops a version of a schema.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("drop_schema_version", schemaVersion)

    def get_ischema(self, name: ISchemaName | None) -> ISchema:
        """Returns a schema by its name.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        result: ISchema = self.call("get_ischema", name)
        return result

    def get_schema_all_versions(self, schemaName: ISchemaName | None) -> tuple[SchemaVersion, ...]:
        """Returns all versions of a schema.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        result: tuple[SchemaVersion, ...] = self.call("get_schema_all_versions", schemaName)
        return result

    def get_schema_latest_version(self, schemaName: ISchemaName | None) -> SchemaVersion:
        """Returns the newest version of a schema.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        result: SchemaVersion = self.call("get_schema_latest_version", schemaName)
        return result

    def get_schema_version(self, schemaVersion: SchemaVersionDescriptor | None) -> SchemaVersion:
        """Returns one version of a schema.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        result: SchemaVersion = self.call("get_schema_version", schemaVersion)
        return result

    def get_schemas_by_cols(self, rqst: FindSchemasByColsRqst | None) -> FindSchemasByColsResp:
        """Returns the versions of schemas that have a column of this name, namespace or type.

        Hive 3.1 and later. Raises MetaException.
        """
        result: FindSchemasByColsResp = self.call("get_schemas_by_cols", rqst)
        return result

    def get_serde(self, rqst: GetSerdeRequest | None) -> SerDeInfo:
        """Returns a serde by its name.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        result: SerDeInfo = self.call("get_serde", rqst)
        return result

    def map_schema_version_to_serde(self, rqst: MapSchemaVersionToSerdeRequest | None) -> None:
        """Sets the serde of a schema's version.

        Hive 3.1 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("map_schema_version_to_serde", rqst)

    def set_schema_version_state(self, rqst: SetSchemaVersionStateRequest | None) -> None:
        """Sets the state of a schema's version.

        Hive 3.1 and later. Raises NoSuchObjectException, InvalidOperationException, MetaException.
        """
        self.call("set_schema_version_state", rqst)

    # service

    def aliveSince(self) -> int:
        """Returns when the server started, in seconds since 1970.

        Hive 2.3 and later.
        """
        result: int = self.call("aliveSince")
        return result

    def cm_recycle(self, request: CmRecycleRequest | None) -> CmRecycleResponse:
        """Moves files to the change manager's trash, so that replication can still read them.

        Hive 3.1 and later. Raises MetaException.
        """
        result: CmRecycleResponse = self.call("cm_recycle", request)
        return result

    def flushCache(self) -> None:
        """Clears the caches of the server.

        Hive 2.3 and later.
        """
        self.call("flushCache")

    def getCounter(self, key: str | None) -> int:
        """Returns a counter of the server.

        Hive 2.3 and later.
        """
        result: int = self.call("getCounter", key)
        return result

    def getCounters(self) -> dict[str, int]:
        """Returns the counters of the server.

        Hive 2.3 and later.
        """
        result: dict[str, int] = self.call("getCounters")
        return result

    def getCpuProfile(self, profileDurationInSec: int | None) -> str:
        """Returns a CPU profile of the server.

        Hive 2.3 and later.
        """
        result: str = self.call("getCpuProfile", profileDurationInSec)
        return result

    def getMetaConf(self, key: str | None) -> str:
        """Returns a setting of the server for this connection.

        Hive 2.3 and later. Raises MetaException.
        """
        result: str = self.call("getMetaConf", key)
        return result

    def getName(self) -> str:
        """Returns the name of the service.

        Hive 2.3 and later.
        """
        result: str = self.call("getName")
        return result

    def getOption(self, key: str | None) -> str:
        """Returns an option of the server.

        Hive 2.3 and later.
        """
        result: str = self.call("getOption", key)
        return result

    def getOptions(self) -> dict[str, str]:
        """Returns the options of the server.

        Hive 2.3 and later.
        """
        result: dict[str, str] = self.call("getOptions")
        return result

    def getStatus(self) -> int:
        """Returns the state of the server, a number of `fb_status`.

        Hive 2.3 and later.
        """
        result: int = self.call("getStatus")
        return result

    def getStatusDetails(self) -> str:
        """Returns the state of the server in words.

        Hive 2.3 and later.
        """
        result: str = self.call("getStatusDetails")
        return result

    def getVersion(self) -> str:
        """Returns the version of the server's API.

        Hive 2.3 and later.
        """
        result: str = self.call("getVersion")
        return result

    def get_config_value(self, name: str | None, defaultValue: str | None) -> str:
        """Returns a setting of the server, or the given default.

        Hive 2.3 and later. Raises ConfigValSecurityException.
        """
        result: str = self.call("get_config_value", name, defaultValue)
        return result

    def get_metastore_db_uuid(self) -> str:
        """Returns the id of the metastore's database.

        Hive 3.1 and later. Raises MetaException.
        """
        result: str = self.call("get_metastore_db_uuid")
        return result

    def get_properties(self, req: PropertyGetRequest | None) -> PropertyGetResponse:
        """Returns properties of a namespace that match the request.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException.
        """
        result: PropertyGetResponse = self.call("get_properties", req)
        return result

    def reinitialize(self) -> None:
        """Reloads the settings of the server.

        Hive 2.3 and later.
        """
        self.call("reinitialize")

    def setMetaConf(self, key: str | None, value: str | None) -> None:
        """Changes a setting of the server for this connection.

        Hive 2.3 and later. Raises MetaException.
        """
        self.call("setMetaConf", key, value)

    def setOption(self, key: str | None, value: str | None) -> None:
        """Sets an option of the server.

        Hive 2.3 and later.
        """
        self.call("setOption", key, value)

    def set_properties(self, req: PropertySetRequest | None) -> bool:
        """Stores properties of a namespace.

        Hive 4.0.0 and later. Raises MetaException, NoSuchObjectException.
        """
        result: bool = self.call("set_properties", req)
        return result

    def set_ugi(self, user_name: str | None, group_names: tuple[str, ...] | None) -> tuple[str, ...]:
        """Sets the user and groups of this connection, on a server without authentication.

        Hive 2.3 and later. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("set_ugi", user_name, group_names)
        return result

    def shutdown(self) -> None:
        """Ends the session of this connection.

        Hive 2.3 and later.
        """
        self.call("shutdown")

    # statistics

    def delete_column_statistics_req(self, req: DeleteColumnStatisticsRequest | None) -> bool:
        """Deletes column statistics of a table or of partitions.

        Hive 4.1 and later. Raises NoSuchObjectException, MetaException, InvalidObjectException,
        InvalidInputException.
        """
        result: bool = self.call("delete_column_statistics_req", req)
        return result

    def delete_partition_column_statistics(
        self, db_name: str | None, tbl_name: str | None, part_name: str | None, col_name: str | None, engine: str | None
    ) -> bool:
        """Deletes the statistics of a column, or of all, of a partition.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException, InvalidObjectException,
        InvalidInputException.
        """
        result: bool = self.call("delete_partition_column_statistics", db_name, tbl_name, part_name, col_name, engine)
        return result

    def delete_table_column_statistics(
        self, db_name: str | None, tbl_name: str | None, col_name: str | None, engine: str | None
    ) -> bool:
        """Deletes the statistics of a column, or of all, of a table.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException, InvalidObjectException,
        InvalidInputException.
        """
        result: bool = self.call("delete_table_column_statistics", db_name, tbl_name, col_name, engine)
        return result

    def find_columns_with_stats(self, cr: CompactionInfoStruct | None) -> tuple[str, ...]:
        """Returns the columns of a table or partition that have statistics.

        Hive 4.0.0 and later.
        """
        result: tuple[str, ...] = self.call("find_columns_with_stats", cr)
        return result

    def get_aggr_stats_for(self, request: PartitionsStatsRequest | None) -> AggrStats:
        """Returns column statistics of partitions, merged into one for each column.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: AggrStats = self.call("get_aggr_stats_for", request)
        return result

    def get_partition_column_statistics(
        self, db_name: str | None, tbl_name: str | None, part_name: str | None, col_name: str | None
    ) -> ColumnStatistics:
        """Returns the statistics of a partition's column.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException, InvalidInputException,
        InvalidObjectException.
        """
        result: ColumnStatistics = self.call("get_partition_column_statistics", db_name, tbl_name, part_name, col_name)
        return result

    def get_partitions_statistics_req(self, request: PartitionsStatsRequest | None) -> PartitionsStatsResult:
        """Returns column statistics of partitions, by partition.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: PartitionsStatsResult = self.call("get_partitions_statistics_req", request)
        return result

    def get_table_column_statistics(
        self, db_name: str | None, tbl_name: str | None, col_name: str | None
    ) -> ColumnStatistics:
        """Returns the statistics of a table's column.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException, InvalidInputException,
        InvalidObjectException.
        """
        result: ColumnStatistics = self.call("get_table_column_statistics", db_name, tbl_name, col_name)
        return result

    def get_table_statistics_req(self, request: TableStatsRequest | None) -> TableStatsResult:
        """Returns column statistics of a table.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        result: TableStatsResult = self.call("get_table_statistics_req", request)
        return result

    def set_aggr_stats_for(self, request: SetPartitionsStatsRequest | None) -> bool:
        """Stores column statistics of a table or of partitions, or merges them with those that exist.

        Hive 2.3 and later. Raises NoSuchObjectException, InvalidObjectException, MetaException,
        InvalidInputException.
        """
        result: bool = self.call("set_aggr_stats_for", request)
        return result

    def update_partition_column_statistics(self, stats_obj: ColumnStatistics | None) -> bool:
        """Stores column statistics of a partition.

        Hive 2.3 and later. Raises NoSuchObjectException, InvalidObjectException, MetaException,
        InvalidInputException.
        """
        result: bool = self.call("update_partition_column_statistics", stats_obj)
        return result

    def update_partition_column_statistics_req(
        self, req: SetPartitionsStatsRequest | None
    ) -> SetPartitionsStatsResponse:
        """Stores column statistics of a partition.

        Hive 4.0.0 and later. Raises NoSuchObjectException, InvalidObjectException, MetaException,
        InvalidInputException.
        """
        result: SetPartitionsStatsResponse = self.call("update_partition_column_statistics_req", req)
        return result

    def update_table_column_statistics(self, stats_obj: ColumnStatistics | None) -> bool:
        """Stores column statistics of a table.

        Hive 2.3 and later. Raises NoSuchObjectException, InvalidObjectException, MetaException,
        InvalidInputException.
        """
        result: bool = self.call("update_table_column_statistics", stats_obj)
        return result

    def update_table_column_statistics_req(self, req: SetPartitionsStatsRequest | None) -> SetPartitionsStatsResponse:
        """Stores column statistics of a table.

        Hive 4.0.0 and later. Raises NoSuchObjectException, InvalidObjectException, MetaException,
        InvalidInputException.
        """
        result: SetPartitionsStatsResponse = self.call("update_table_column_statistics_req", req)
        return result

    def update_transaction_statistics(self, req: UpdateTransactionalStatsRequest | None) -> None:
        """Adds to the counts of rows that transactions inserted, updated and deleted in a table.

        Hive 4.0.0 and later. Raises MetaException.
        """
        self.call("update_transaction_statistics", req)

    # tables

    def alter_table(self, dbname: str | None, tbl_name: str | None, new_tbl: Table | None) -> None:
        """Replaces a table; a new name or database in it renames the table.

        Hive 2.3 and later. Raises InvalidOperationException, MetaException.
        """
        self.call("alter_table", dbname, tbl_name, new_tbl)

    def alter_table_req(self, req: AlterTableRequest | None) -> AlterTableResponse:
        """Replaces a table; a new name or database in it renames the table.

        Hive 4.0.0 and later. Raises InvalidOperationException, MetaException.
        """
        result: AlterTableResponse = self.call("alter_table_req", req)
        return result

    def alter_table_with_cascade(
        self, dbname: str | None, tbl_name: str | None, new_tbl: Table | None, cascade: bool | None
    ) -> None:
        """Replaces a table, with `cascade` the columns of its partitions too.

        Hive 2.3 and later. Raises InvalidOperationException, MetaException.
        """
        self.call("alter_table_with_cascade", dbname, tbl_name, new_tbl, cascade)

    def alter_table_with_environment_context(
        self,
        dbname: str | None,
        tbl_name: str | None,
        new_tbl: Table | None,
        environment_context: EnvironmentContext | None = None,
    ) -> None:
        """Replaces a table; `CASCADE` in the context replaces the columns of its partitions too.

        Hive 2.3 and later. Raises InvalidOperationException, MetaException.
        """
        self.call("alter_table_with_environment_context", dbname, tbl_name, new_tbl, environment_context)

    def create_table(self, tbl: Table | None) -> None:
        """Creates a table or a view.

        Hive 2.3 and later. Raises AlreadyExistsException, InvalidObjectException, MetaException,
        NoSuchObjectException.
        """
        self.call("create_table", tbl)

    def create_table_req(self, request: CreateTableRequest | None) -> None:
        """Creates a table or a view, with constraints.

        Hive 4.0.0 and later. Raises AlreadyExistsException, InvalidObjectException, MetaException,
        NoSuchObjectException.
        """
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
        """Creates a table with constraints.

        Hive 2.3 and later. Raises AlreadyExistsException, InvalidObjectException, MetaException,
        NoSuchObjectException.
        """
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
        """Creates a table or a view.

        Hive 2.3 and later. Raises AlreadyExistsException, InvalidObjectException, MetaException,
        NoSuchObjectException.
        """
        self.call("create_table_with_environment_context", tbl, environment_context)

    def drop_table(self, dbname: str | None, name: str | None, deleteData: bool | None) -> None:
        """Drops a table, and with `deleteData` the data of a managed one.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("drop_table", dbname, name, deleteData)

    def drop_table_req(self, dropTableReq: DropTableRequest | None) -> AsyncOperationResp:
        """Drops a table as the request says; it can be done in the background.

        Hive 4.0.1 and later. Raises NoSuchObjectException, MetaException.
        """
        result: AsyncOperationResp = self.call("drop_table_req", dropTableReq)
        return result

    def drop_table_with_environment_context(
        self,
        dbname: str | None,
        name: str | None,
        deleteData: bool | None,
        environment_context: EnvironmentContext | None = None,
    ) -> None:
        """Drops a table, and with `deleteData` the data of a managed one; `ifPurge` in the context skips the trash.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("drop_table_with_environment_context", dbname, name, deleteData, environment_context)

    def get_all_tables(self, db_name: str | None) -> tuple[str, ...]:
        """Returns the names of a database's tables and views.

        Hive 2.3 and later. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("get_all_tables", db_name)
        return result

    def get_fields(self, db_name: str | None, table_name: str | None) -> tuple[FieldSchema, ...]:
        """Returns the columns of a table without its partition keys.

        Hive 2.3 and later. Raises MetaException, UnknownTableException, UnknownDBException.
        """
        result: tuple[FieldSchema, ...] = self.call("get_fields", db_name, table_name)
        return result

    def get_fields_req(self, req: GetFieldsRequest | None) -> GetFieldsResponse:
        """Returns the columns of a table without its partition keys.

        Hive 4.0.0 and later. Raises MetaException, UnknownTableException, UnknownDBException.
        """
        result: GetFieldsResponse = self.call("get_fields_req", req)
        return result

    def get_fields_with_environment_context(
        self, db_name: str | None, table_name: str | None, environment_context: EnvironmentContext | None = None
    ) -> tuple[FieldSchema, ...]:
        """Returns the columns of a table without its partition keys.

        Hive 2.3 and later. Raises MetaException, UnknownTableException, UnknownDBException.
        """
        result: tuple[FieldSchema, ...] = self.call(
            "get_fields_with_environment_context", db_name, table_name, environment_context
        )
        return result

    def get_schema(self, db_name: str | None, table_name: str | None) -> tuple[FieldSchema, ...]:
        """Returns the columns of a table, its partition keys last.

        Hive 2.3 and later. Raises MetaException, UnknownTableException, UnknownDBException.
        """
        result: tuple[FieldSchema, ...] = self.call("get_schema", db_name, table_name)
        return result

    def get_schema_req(self, req: GetSchemaRequest | None) -> GetSchemaResponse:
        """Returns the columns of a table, its partition keys last.

        Hive 4.0.0 and later. Raises MetaException, UnknownTableException, UnknownDBException.
        """
        result: GetSchemaResponse = self.call("get_schema_req", req)
        return result

    def get_schema_with_environment_context(
        self, db_name: str | None, table_name: str | None, environment_context: EnvironmentContext | None = None
    ) -> tuple[FieldSchema, ...]:
        """Returns the columns of a table, its partition keys last.

        Hive 2.3 and later. Raises MetaException, UnknownTableException, UnknownDBException.
        """
        result: tuple[FieldSchema, ...] = self.call(
            "get_schema_with_environment_context", db_name, table_name, environment_context
        )
        return result

    def get_table(self, dbname: str | None, tbl_name: str | None) -> Table:
        """Returns a table or a view by its name.

        Hive 2.3 to 4.0.0. Raises MetaException, NoSuchObjectException.
        """
        result: Table = self.call("get_table", dbname, tbl_name)
        return result

    def get_table_meta(
        self, db_patterns: str | None, tbl_patterns: str | None, tbl_types: tuple[str, ...] | None
    ) -> tuple[TableMeta, ...]:
        """Returns names, types and comments of the tables that match patterns.

        Hive 2.3 and later. Raises MetaException.
        """
        result: tuple[TableMeta, ...] = self.call("get_table_meta", db_patterns, tbl_patterns, tbl_types)
        return result

    def get_table_names_by_filter(
        self, dbname: str | None, filter: str | None, max_tables: int | None
    ) -> tuple[str, ...]:
        """Returns the names of the tables that match a filter over owner, parameters or last access.

        Hive 2.3 and later. Raises MetaException, InvalidOperationException, UnknownDBException.
        """
        result: tuple[str, ...] = self.call("get_table_names_by_filter", dbname, filter, max_tables)
        return result

    def get_table_objects_by_name(self, dbname: str | None, tbl_names: tuple[str, ...] | None) -> tuple[Table, ...]:
        """Returns tables by their names; those that do not exist are left out.

        Hive 2.3 to 4.0.0.
        """
        result: tuple[Table, ...] = self.call("get_table_objects_by_name", dbname, tbl_names)
        return result

    def get_table_objects_by_name_req(self, req: GetTablesRequest | None) -> GetTablesResult:
        """Returns tables by their names; those that do not exist are left out.

        Hive 2.3 and later. Raises MetaException, InvalidOperationException, UnknownDBException.
        """
        result: GetTablesResult = self.call("get_table_objects_by_name_req", req)
        return result

    def get_table_req(self, req: GetTableRequest | None) -> GetTableResult:
        """Returns a table or a view by its name, as a client with the given capabilities may see it.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: GetTableResult = self.call("get_table_req", req)
        return result

    def get_tables(self, db_name: str | None, pattern: str | None) -> tuple[str, ...]:
        """Returns the names of a database's tables and views that match a pattern.

        Hive 2.3 and later. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("get_tables", db_name, pattern)
        return result

    def get_tables_by_type(self, db_name: str | None, pattern: str | None, tableType: str | None) -> tuple[str, ...]:
        """Returns the names of a database's tables of one type that match a pattern.

        Hive 2.3 and later. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("get_tables_by_type", db_name, pattern, tableType)
        return result

    def get_tables_ext(self, req: GetTablesExtRequest | None) -> tuple[ExtendedTableInfo, ...]:
        """Returns the tables that match a pattern, with the access that the client has to each.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: tuple[ExtendedTableInfo, ...] = self.call("get_tables_ext", req)
        return result

    def translate_table_dryrun(self, request: CreateTableRequest | None) -> Table:
        """Returns the table that create_table would store, and stores nothing.

        Hive 4.0.0 and later. Raises AlreadyExistsException, InvalidObjectException, MetaException,
        NoSuchObjectException.
        """
        result: Table = self.call("translate_table_dryrun", request)
        return result

    def truncate_table(self, dbName: str | None, tableName: str | None, partNames: tuple[str, ...] | None) -> None:
        """Deletes the data of a table or of some of its partitions.

        Hive 3.1 and later. Raises MetaException.
        """
        self.call("truncate_table", dbName, tableName, partNames)

    def truncate_table_req(self, req: TruncateTableRequest | None) -> TruncateTableResponse:
        """Deletes the data of a table or of some of its partitions.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: TruncateTableResponse = self.call("truncate_table_req", req)
        return result

    def update_table_params(self, updates: tuple[TableParamsUpdate, ...] | None) -> None:
        """Changes parameters of tables, where the ones that the caller expects are still there; all or none.

        Hive the one after 4.2 and later. Raises MetaException.
        """
        self.call("update_table_params", updates)

    # tokens

    def add_master_key(self, key: str | None) -> int:
        """Stores a key by which delegation tokens are signed.

        Hive 2.3 and later. Raises MetaException.
        """
        result: int = self.call("add_master_key", key)
        return result

    def add_token(self, token_identifier: str | None, delegation_token: str | None) -> bool:
        """Stores a delegation token.

        Hive 2.3 and later.
        """
        result: bool = self.call("add_token", token_identifier, delegation_token)
        return result

    def cancel_delegation_token(self, token_str_form: str | None) -> None:
        """Cancels a delegation token.

        Hive 2.3 and later. Raises MetaException.
        """
        self.call("cancel_delegation_token", token_str_form)

    def get_all_token_identifiers(self) -> tuple[str, ...]:
        """Returns the identifiers of all delegation tokens.

        Hive 2.3 and later.
        """
        result: tuple[str, ...] = self.call("get_all_token_identifiers")
        return result

    def get_delegation_token(self, token_owner: str | None, renewer_kerberos_principal_name: str | None) -> str:
        """Returns a new delegation token, by which a user's programs authenticate.

        Hive 2.3 and later. Raises MetaException.
        """
        result: str = self.call("get_delegation_token", token_owner, renewer_kerberos_principal_name)
        return result

    def get_master_keys(self) -> tuple[str, ...]:
        """Returns the keys by which delegation tokens are signed.

        Hive 2.3 and later.
        """
        result: tuple[str, ...] = self.call("get_master_keys")
        return result

    def get_token(self, token_identifier: str | None) -> str:
        """Returns a delegation token by its identifier.

        Hive 2.3 and later.
        """
        result: str = self.call("get_token", token_identifier)
        return result

    def remove_master_key(self, key_seq: int | None) -> bool:
        """Deletes a key by which delegation tokens are signed.

        Hive 2.3 and later.
        """
        result: bool = self.call("remove_master_key", key_seq)
        return result

    def remove_token(self, token_identifier: str | None) -> bool:
        """Deletes a delegation token.

        Hive 2.3 and later.
        """
        result: bool = self.call("remove_token", token_identifier)
        return result

    def renew_delegation_token(self, token_str_form: str | None) -> int:
        """Extends a delegation token, and returns when it expires.

        Hive 2.3 and later. Raises MetaException.
        """
        result: int = self.call("renew_delegation_token", token_str_form)
        return result

    def update_master_key(self, seq_number: int | None, key: str | None) -> None:
        """Replaces a key by which delegation tokens are signed.

        Hive 2.3 and later. Raises NoSuchObjectException, MetaException.
        """
        self.call("update_master_key", seq_number, key)

    # transactions

    def abort_txn(self, rqst: AbortTxnRequest | None) -> None:
        """Aborts a transaction and releases its locks.

        Hive 2.3 and later. Raises NoSuchTxnException.
        """
        self.call("abort_txn", rqst)

    def abort_txns(self, rqst: AbortTxnsRequest | None) -> None:
        """Aborts transactions and releases their locks.

        Hive 2.3 and later. Raises NoSuchTxnException.
        """
        self.call("abort_txns", rqst)

    def add_dynamic_partitions(self, rqst: AddDynamicPartitions | None) -> None:
        """Records which partitions a transaction wrote to, for the detection of conflicts.

        Hive 2.3 and later. Raises NoSuchTxnException, TxnAbortedException.
        """
        self.call("add_dynamic_partitions", rqst)

    def add_write_ids_to_min_history(self, txnId: int | None, writeIds: dict[str, int] | None) -> None:
        """Records the lowest write ids that a transaction may read, so that the cleaner keeps their files.

        Hive 4.0.0 and later. Raises MetaException.
        """
        self.call("add_write_ids_to_min_history", txnId, writeIds)

    def allocate_table_write_ids(self, rqst: AllocateTableWriteIdsRequest | None) -> AllocateTableWriteIdsResponse:
        """Gives each of the transactions a write id of a table.

        Hive 3.1 and later. Raises NoSuchTxnException, TxnAbortedException, MetaException.
        """
        result: AllocateTableWriteIdsResponse = self.call("allocate_table_write_ids", rqst)
        return result

    def commit_txn(self, rqst: CommitTxnRequest | None) -> None:
        """Commits a transaction and releases its locks.

        Hive 2.3 and later. Raises NoSuchTxnException, TxnAbortedException.
        """
        self.call("commit_txn", rqst)

    def get_latest_txnid_in_conflict(self, txnId: int | None) -> int:
        """Returns the newest transaction that committed a write in conflict with this one; 0 where there is none.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: int = self.call("get_latest_txnid_in_conflict", txnId)
        return result

    def get_max_allocated_table_write_id(
        self, rqst: MaxAllocatedTableWriteIdRequest | None
    ) -> MaxAllocatedTableWriteIdResponse:
        """Returns the highest allocated write id of a table.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: MaxAllocatedTableWriteIdResponse = self.call("get_max_allocated_table_write_id", rqst)
        return result

    def get_open_txns(self) -> GetOpenTxnsResponse:
        """Returns the open and aborted transactions, from which a snapshot is made.

        Hive 2.3 and later.
        """
        result: GetOpenTxnsResponse = self.call("get_open_txns")
        return result

    def get_open_txns_info(self) -> GetOpenTxnsInfoResponse:
        """Returns the open and aborted transactions with their users and times.

        Hive 2.3 and later.
        """
        result: GetOpenTxnsInfoResponse = self.call("get_open_txns_info")
        return result

    def get_open_txns_req(self, getOpenTxnsRequest: GetOpenTxnsRequest | None) -> GetOpenTxnsResponse:
        """Returns the open and aborted transactions, without those of the kinds that the request excludes.

        Hive 4.0.0 and later.
        """
        result: GetOpenTxnsResponse = self.call("get_open_txns_req", getOpenTxnsRequest)
        return result

    def get_replayed_txns_for_policy(self, policyName: str | None) -> ReplayedTxnsForPolicyResult:
        """Returns which transactions of a replication's source were replayed as which.

        Hive 4.2 and later. Raises MetaException.
        """
        result: ReplayedTxnsForPolicyResult = self.call("get_replayed_txns_for_policy", policyName)
        return result

    def get_valid_write_ids(self, rqst: GetValidWriteIdsRequest | None) -> GetValidWriteIdsResponse:
        """Returns which writes of tables a snapshot of transactions sees.

        Hive 3.1 and later. Raises NoSuchTxnException, MetaException.
        """
        result: GetValidWriteIdsResponse = self.call("get_valid_write_ids", rqst)
        return result

    def heartbeat_txn_range(self, txns: HeartbeatTxnRangeRequest | None) -> HeartbeatTxnRangeResponse:
        """Keeps a range of transactions from timing out, and returns which of them were aborted or are unknown.

        Hive 2.3 and later.
        """
        result: HeartbeatTxnRangeResponse = self.call("heartbeat_txn_range", txns)
        return result

    def open_txns(self, rqst: OpenTxnRequest | None) -> OpenTxnsResponse:
        """Opens transactions.

        Hive 2.3 and later.
        """
        result: OpenTxnsResponse = self.call("open_txns", rqst)
        return result

    def repl_tbl_writeid_state(self, rqst: ReplTblWriteIdStateRequest | None) -> None:
        """Gives a replicated table the write ids of its source.

        Hive 3.1 and later.
        """
        self.call("repl_tbl_writeid_state", rqst)

    def seed_txn_id(self, rqst: SeedTxnIdRequest | None) -> None:
        """Sets the id of the next transaction, in a metastore without transactions.

        Hive 4.0.0 and later. Raises MetaException.
        """
        self.call("seed_txn_id", rqst)

    def seed_write_id(self, rqst: SeedTableWriteIdsRequest | None) -> None:
        """Sets the next write id of a table without write ids.

        Hive 4.0.0 and later. Raises MetaException.
        """
        self.call("seed_write_id", rqst)

    # types

    def create_type(self, type: Type | None) -> bool:
        """Stores a type.

        Hive 2.3 and later. Raises AlreadyExistsException, InvalidObjectException, MetaException.
        """
        result: bool = self.call("create_type", type)
        return result

    def drop_type(self, type: str | None) -> bool:
        """Deletes a type.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: bool = self.call("drop_type", type)
        return result

    def get_type(self, name: str | None) -> Type:
        """Returns a type by its name.

        Hive 2.3 and later. Raises MetaException, NoSuchObjectException.
        """
        result: Type = self.call("get_type", name)
        return result

    def get_type_all(self, name: str | None) -> dict[str, Type]:
        """Returns a type and the types that it is made of.

        Hive 2.3 and later. Raises MetaException.
        """
        result: dict[str, Type] = self.call("get_type_all", name)
        return result

    # views

    def get_all_materialized_view_objects_for_rewriting(self) -> tuple[Table, ...]:
        """Returns the materialized views that queries may be rewritten to use.

        Hive 4.0.0 and later. Raises MetaException.
        """
        result: tuple[Table, ...] = self.call("get_all_materialized_view_objects_for_rewriting")
        return result

    def get_materialization_invalidation_info(
        self, creation_metadata: CreationMetadata | None, validTxnList: str | None
    ) -> Materialization:
        """Returns whether the tables of a materialized view have changed since it was built.

        Hive 3.1 and later. Raises MetaException, InvalidOperationException, UnknownDBException.
        """
        result: Materialization = self.call("get_materialization_invalidation_info", creation_metadata, validTxnList)
        return result

    def get_materialized_views_for_rewriting(self, db_name: str | None) -> tuple[str, ...]:
        """Returns the names of a database's materialized views that queries may be rewritten to use.

        Hive 3.1 and later. Raises MetaException.
        """
        result: tuple[str, ...] = self.call("get_materialized_views_for_rewriting", db_name)
        return result

    def update_creation_metadata(
        self, catName: str | None, dbname: str | None, tbl_name: str | None, creation_metadata: CreationMetadata | None
    ) -> None:
        """Stores the tables and the snapshot that a materialized view was built from.

        Hive 3.1 and later. Raises MetaException, InvalidOperationException, UnknownDBException.
        """
        self.call("update_creation_metadata", catName, dbname, tbl_name, creation_metadata)
