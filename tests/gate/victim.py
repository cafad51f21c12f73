"""Objects of one user, vera, with a secret in every text: the target of `test_all_methods.py`. It asserts nothing.

Names of objects are public; all other texts of them (comments, parameters, columns, locations, texts, owners, hosts)
contain MARK, which cannot be guessed. Mallory, the attacker, has a database and a table of his own.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from metastored.gate.authorized import Authorized
from metastored.gate.caller import Policy
from metastored.gate.services import ForServices
from metastored.hive.generation import Generation
from metastored.service.bootstrap import ensure_defaults
from metastored.service.core.context import Service
from metastored.service.local import Local
from metastored.store.engine import schema
from metastored.store.engine.database import Database
from metastored.store.engine.migrate import ensure_schema
from metastored.store.engine.statements import Statement, column_list
from metastored.store.warehouse.directories import Warehouse
from metastored.threads import Pool
from metastored.wire.generated import STRUCTS
from metastored.wire.generated.common import DataOperationType, PrincipalType
from metastored.wire.generated.locks import LockLevel, LockType
from metastored.wire.generated.roles import HiveObjectType
from metastored.wire.message import Call, Reply, Session
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.gate.attack import Ids

OPENERS: Final = ("mallory", "")
"""Users who open transactions and locks other than vera's: the attacker, and callers without a name."""
MARK: Final = f"mk{secrets.token_hex(8)}"
COLUMN: Final = f"c{MARK}"
VICTIM, ATTACKER, ADMIN = "vera", "mallory", "root"
WAREHOUSE: Final = "file:/nowhere"
SECRET_PLACE: Final = f"file:/elsewhere/{MARK}"
TEXTS: Final = {"k": MARK, f"key{MARK}": "v"}
USER: Final = PrincipalType.USER
GENERATION: Final = Generation.HIVE_4_2


def made(struct: str, /, **fields: Any) -> Any:
    """A struct by its name."""
    return STRUCTS[struct](**fields)


def _table(name: str, db: str, owner: str, mark: str, **other: Any) -> Any:
    columns = tuple(made("FieldSchema", name=each, type="int", comment=mark) for each in (f"c{mark}", "a"))
    serde = made("SerDeInfo", name=mark, serializationLib=mark, parameters={"k": mark})
    at = {"location": f"{SECRET_PLACE}/{name}"} if mark == MARK else {}
    fields = {
        "owner": owner,
        "sd": made("StorageDescriptor", cols=columns, serdeInfo=serde, inputFormat=mark, parameters={"k": mark}, **at),
        "partitionKeys": (made("FieldSchema", name="p", type="string", comment=mark),),
        "parameters": {"comment": mark, "k": mark},
        "tableType": "MANAGED_TABLE",
        **other,
    }
    return made("Table", tableName=name, dbName=db, **fields)


class Victim:
    """The metastore with vera's objects, behind the gate as a server has it with `authorization: sql`."""

    def __init__(self, open_again: Callable[[], Database], folder: Path | None = None) -> None:
        """`folder` is a SQLite database's, which `restore` puts back."""
        self._reopen = open_again
        self._folder = folder
        self.loop = asyncio.new_event_loop()
        self.now = 1.8e9
        self._start()
        self._build()
        self.known = self.rows()
        self._of_others = self.of_others(self.known)
        self.now += 60
        if folder is not None:
            self._stop()
            shutil.copytree(folder, self._saved, dirs_exist_ok=True)
            self._start()

    @property
    def _saved(self) -> Path:
        assert self._folder is not None
        return self._folder.with_name(self._folder.name + "-saved")

    def _start(self) -> None:
        self.database = self._reopen()
        ensure_schema(self.database)
        # Nothing times out, but a heartbeat is visible.
        service = Service(self.database, Warehouse(WAREHOUSE, "off"), clock=lambda: self.now)
        ensure_defaults(service)
        self._pool = Pool(2)
        self._local = Local(service, self._pool)
        self._version = self.database.version()
        policy = Policy(frozenset({ADMIN}), WAREHOUSE)
        self.handler = Authorized(ForServices(self._local, (ADMIN,)), self.database, self._pool, policy)

    def _stop(self) -> None:
        self._pool.close()
        self.database.close()

    def close(self) -> None:
        self._stop()
        self.loop.close()

    def restore(self) -> None:
        """Everything as it was in the beginning."""
        assert self._folder is not None
        self._stop()
        shutil.rmtree(self._folder)
        shutil.copytree(self._saved, self._folder)
        self._start()

    def rows(self) -> Counter[tuple[Any, ...]]:
        """Every row of every table, with its table's name before it."""
        tx = self.database.reader()
        return Counter(
            (name, *map(_plain, row))
            for name, table in schema.metadata.tables.items()
            for row in tx.all(Statement(f"SELECT {column_list(*table.columns.keys())} FROM {name}"))
        )

    def of_others(self, rows: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
        """The rows that are not mallory's own: no call of his may add, change or remove them."""
        tables = {row[1] for row in rows if row[0] == "tables" and _cell(row, "db_id") == self._own_database}
        counters = {row[1] for row in rows if row[0] == "write_id_counters" and _cell(row, "db") == "mdb"}
        return Counter({row: count for row, count in rows.items() if not self._is_own(row, tables, counters)})

    def _is_own(self, row: tuple[Any, ...], tables: set[Any], counters: set[Any]) -> bool:
        match row[0]:
            case "counters":
                return True  # Numbers that the next object gets; every call that makes one takes some.
            case "write_ids":
                return row[1] in counters
            case "databases":
                return bool(row[1] == self._own_database)
            case "tables":
                return row[1] in tables
            case "txns":
                return _cell(row, "opened_by") in OPENERS
            case "locks" if _cell(row, "tbl") is None:
                # Hive locks a database for SHOW TABLES, which all users may call.
                return _cell(row, "opened_by") in OPENERS and _cell(row, "type") == LockType.SHARED_READ
            case "events" if _cell(row, "db") is None:
                return _cell(row, "type") in ("OPEN_TXN", "COMMIT_TXN", "ABORT_TXN")
        if _cell(row, "db_id") == self._own_database or _cell(row, "table_id") in tables:
            return True
        return (_cell(row, "cat"), _cell(row, "db")) == ("hive", "mdb")

    def changes(self) -> tuple[bool, str]:
        """Whether anything is different from the beginning, and what of it is others': empty for nothing."""
        version = self.database.version()
        if version == self._version:
            return False, ""
        self._version = version
        rows = self.rows()
        if rows == self.known:
            return False, ""
        now = self.of_others(rows)
        lost, new = self._of_others - now, now - self._of_others
        return True, f"lost {list(lost)}, new {list(new)}" if lost or new else ""

    # --- calls

    def session(self, user: str | None, generation: Generation = GENERATION) -> Session:
        session = Session("10.0.0.7:4711", generation, user)
        session.authenticated = user is not None
        return session

    def reply(self, user: str | None, name: str, args: tuple[Any, ...], generation: Generation = GENERATION) -> Reply:
        """The reply of the gate and the metastore behind it."""
        return self.loop.run_until_complete(
            self.handler.handle(Call(METHODS[name], args), self.session(user, generation))
        )

    def _do(self, name: str, *args: Any, by: str = VICTIM) -> Any:
        """The result of the metastore itself."""
        method = METHODS[name]
        call = Call(method, (*args, *[None] * (len(method.args) - len(args))))
        return self.loop.run_until_complete(self._local.handle(call, self.session(by))).value(method)

    # --- what vera has

    def _build(self) -> None:
        catalog = made("Catalog", name="vcat", locationUri=f"{WAREHOUSE}/vcat")
        self._do("create_catalog", made("CreateCatalogRequest", catalog=catalog), by=ADMIN)
        for cat in ("hive", "vcat"):
            self._tables(cat)
        self._statistics()
        self._constraints()
        self._documents()
        self._privileges()
        self._secrets()
        self._rest()
        own = made("Database", name="mdb", ownerName=ATTACKER, ownerType=USER)
        self._do("create_database", own, by=ATTACKER)
        self._do("create_table", _table("mt", "mdb", ATTACKER, "plain"), by=ATTACKER)
        tables = self.rows()
        self._own_database = next(row[1] for row in tables if row[0] == "databases" and _cell(row, "name") == "mdb")
        self.ids = Ids(*self._open(VICTIM, "vkdb", "vt"), table=self._id_of("vkdb", "vt"))
        self._transactions()
        self.own_ids = Ids(*self._open(ATTACKER, "mdb", "mt"), table=self._id_of("vkdb", "vt"))

    def _id_of(self, db: str, table: str) -> int:
        id: int = self._do("get_table", db, table).id
        return id

    def _open(self, user: str, db: str, table: str) -> tuple[int, int]:
        """A transaction, and a lock outside of it."""
        mark = MARK if user == VICTIM else "plain"
        who = {"user": mark, "hostname": mark, "agentInfo": mark}
        (txn,) = self._do("open_txns", made("OpenTxnRequest", num_txns=1, **who), by=user).txn_ids
        component = made(
            "LockComponent",
            **{"type": LockType.SHARED_READ, "level": LockLevel.TABLE, "dbname": db, "tablename": table},
            operationType=DataOperationType.SELECT,
        )
        request = made("LockRequest", component=(component,), **who)
        self._do("lock", replace(request, txnid=txn), by=user)
        return txn, self._do("lock", request, by=user).lockid

    def _tables(self, cat: str) -> None:
        database = made("Database", name="vkdb", catalogName=cat, ownerName=VICTIM, ownerType=USER, parameters=TEXTS)
        self._do("create_database", database)
        self._do("create_table", _table("vt", "vkdb", VICTIM, MARK, catName=cat))
        view: dict[str, Any] = {"tableType": "VIRTUAL_VIEW", "viewOriginalText": MARK, "viewExpandedText": MARK}
        self._do("create_table", _table("vv", "vkdb", VICTIM, MARK, catName=cat, **view))
        used = made("CreationMetadata", catName=cat, dbName="vkdb", tblName="vm", tablesUsed=frozenset({"vkdb.vt"}))
        view = {"tableType": "MATERIALIZED_VIEW", "creationMetadata": used, "rewriteEnabled": True}
        view |= {"viewOriginalText": MARK, "viewExpandedText": MARK, "partitionKeys": ()}
        self._do("create_table", _table("vm", "vkdb", VICTIM, MARK, catName=cat, **view))
        sd = self._do("get_table", f"@{cat}#vkdb", "vt").sd
        parts = [
            made("Partition", values=(value,), dbName="vkdb", tableName="vt", catName=cat, sd=sd, parameters=TEXTS)
            for value in ("1", MARK)
        ]
        self._do("add_partitions", tuple(map(_without_location, parts)))

    def _statistics(self) -> None:
        data = made(
            "ColumnStatisticsData",
            longStats=made("LongColumnStatsData", numNulls=1, numDVs=2, bitVectors=MARK.encode()),
        )
        objects = tuple(
            made("ColumnStatisticsObj", colName=name, colType="int", statsData=data) for name in (COLUMN, "a")
        )
        about = {"dbName": "vkdb", "tableName": "vt", "catName": "hive"}
        table = made("ColumnStatisticsDesc", isTblLevel=True, **about)
        part = made("ColumnStatisticsDesc", isTblLevel=False, partName="p=1", **about)
        self._do("update_table_column_statistics", made("ColumnStatistics", statsDesc=table, statsObj=objects))
        self._do("update_partition_column_statistics", made("ColumnStatistics", statsDesc=part, statsObj=objects))
        self._do("markPartitionForEvent", "vkdb", "vt", {"p": "1"}, 1)

    def _constraints(self) -> None:
        at = {"table_db": "vkdb", "table_name": "vt", "column_name": COLUMN, "catName": "hive"}
        for method, request, field, struct, other in (
            ("add_primary_key", "AddPrimaryKeyRequest", "primaryKeyCols", "SQLPrimaryKey", {"pk_name": "vpk"}),
            ("add_unique_constraint", "AddUniqueConstraintRequest", "uniqueConstraintCols", "SQLUniqueConstraint", {}),
            (
                *("add_not_null_constraint", "AddNotNullConstraintRequest", "notNullConstraintCols"),
                *("SQLNotNullConstraint", {"nn_name": f"nn{MARK}"}),
            ),
            (
                *("add_default_constraint", "AddDefaultConstraintRequest", "defaultConstraintCols"),
                *("SQLDefaultConstraint", {"default_value": MARK}),
            ),
            (
                *("add_check_constraint", "AddCheckConstraintRequest", "checkConstraintCols"),
                *("SQLCheckConstraint", {"check_expression": MARK}),
            ),
        ):
            self._do(method, made(request, **{field: (made(struct, **at, **other),)}))
        foreign = made(
            "SQLForeignKey",
            **{"pktable_db": "vkdb", "pktable_name": "vt", "pkcolumn_name": COLUMN, "catName": "hive"},
            **{"fktable_db": "vkdb", "fktable_name": "vm", "fkcolumn_name": COLUMN, "fk_name": f"fk{MARK}"},
        )
        self._do("add_foreign_key", made("AddForeignKeyRequest", foreignKeyCols=(foreign,)))

    def _documents(self) -> None:
        uri = made("ResourceUri", resourceType=1, uri=f"file:/{MARK}")
        function = made("Function", functionName="vf", dbName="vkdb", className=MARK, ownerName=VICTIM, ownerType=USER)
        self._do("create_function", replace(function, functionType=1, resourceUris=(uri,), catName="hive"))
        named = {"catName": "hive", "dbName": "vkdb"}
        self._do(
            "create_ischema", made("ISchema", name="vs", description=MARK, schemaGroup=MARK, schemaType=1, **named)
        )
        name = made("ISchemaName", schemaName="vs", **named)
        columns = (made("FieldSchema", name=COLUMN, type="int", comment=MARK),)
        texts = {"schemaText": MARK, "description": MARK, "fingerprint": MARK, "name": MARK}
        self._do("add_schema_version", made("SchemaVersion", schema=name, version=1, cols=columns, **texts))
        self._do("add_serde", made("SerDeInfo", name="vserde", description=MARK, parameters=TEXTS), by=ADMIN)
        self._do("add_package", made("AddPackageRequest", packageName="vp", header=MARK, body=MARK, **named))
        self._do("create_stored_procedure", made("StoredProcedure", name="vproc", source=MARK, **named))
        connector = {"type": "mysql", "url": f"jdbc:{MARK}", "description": MARK, "parameters": {"password": MARK}}
        self._do("create_dataconnector", made("DataConnector", name="vconn", ownerName=VICTIM, **connector))
        key = made("ScheduledQueryKey", scheduleName="vsq", clusterNamespace="ns")
        query = {"enabled": True, "schedule": "0 0 0 * * ? *", "user": VICTIM, "query": MARK}
        scheduled = made("ScheduledQuery", scheduleKey=key, **query)
        self._do(
            "scheduled_query_maintenance",
            made("ScheduledQueryMaintenanceRequest", type=1, scheduledQuery=scheduled),
            by=ADMIN,
        )
        self._do("create_type", made("Type", name="vtype", fields=columns), by=ADMIN)
        plan = made("WMResourcePlan", name="vplan")
        self._do("create_resource_plan", made("WMCreateResourcePlanRequest", resourcePlan=plan), by=ADMIN)
        trigger = made("WMTrigger", resourcePlanName="vplan", triggerName="vtrigger", triggerExpression=MARK)
        self._do("create_wm_trigger", made("WMCreateTriggerRequest", trigger=trigger), by=ADMIN)

    def _privileges(self) -> None:
        self._do("create_role", made("Role", roleName="vrole", ownerName=MARK), by=ADMIN)
        self._do("grant_role", "vrole", VICTIM, USER, MARK, USER, False, by=ADMIN)
        info = made("PrivilegeGrantInfo", privilege="SELECT", grantor=MARK, grantorType=USER, grantOption=False)
        for kind, name in ((HiveObjectType.TABLE, "vt"), (HiveObjectType.DATABASE, None)):
            ref = made("HiveObjectRef", objectType=kind, dbName="vkdb", objectName=name)
            given = {"principalName": "vrole", "principalType": PrincipalType.ROLE, "grantInfo": info}
            bag = made("PrivilegeBag", privileges=(made("HiveObjectPrivilege", hiveObject=ref, **given),))
            self._do("grant_privileges", bag, by=ADMIN)

    def _secrets(self) -> None:
        self._do("add_master_key", MARK, by=ADMIN)
        self._do("add_token", "vtoken", MARK, by=ADMIN)
        self._do("get_delegation_token", VICTIM, VICTIM)

    def _transactions(self) -> None:
        ids = made("AllocateTableWriteIdsRequest", dbName="vkdb", tableName="vt", txnIds=(self.ids.txn,))
        self._do("allocate_table_write_ids", ids)
        self._do("get_lock_materialization_rebuild", "vkdb", "vm", self.ids.txn)
        wanted = {"type": 2, "runas": MARK, "initiatorId": MARK, "properties": TEXTS, "partitionname": "p=1"}
        self._do("compact2", made("CompactionRequest", dbname="vkdb", tablename="vt", **wanted))

    def _rest(self) -> None:
        index = {"dbName": "vkdb", "origTableName": "vt", "indexTableName": "vit", "parameters": TEXTS}
        table = _table("vit", "vkdb", VICTIM, MARK, tableType="INDEX_TABLE", partitionKeys=())
        made_index = made("Index", indexName="vi", indexHandlerClass=MARK, sd=table.sd, **index)
        self._do("add_index", made_index, table)
        data = made("InsertEventRequestData", filesAdded=(f"file:/{MARK}",), replace=False)
        event = made("FireEventRequestData", insertData=data)
        self._do(
            "fire_listener_event", made("FireEventRequest", successful=True, data=event, dbName="vkdb", tableName="vt")
        )
        self._do("add_runtime_stats", made("RuntimeStat", createTime=1, weight=1, payload=MARK.encode()), by=ADMIN)
        metric = made("ReplicationMetrics", scheduledExecutionId=1, policy="vpolicy", dumpExecutionId=1, metadata=MARK)
        self._do("add_replication_metrics", made("ReplicationMetricList", replicationMetricList=(metric,)), by=ADMIN)


def _without_location(part: Any) -> Any:
    return replace(part, sd=replace(part.sd, location=None))


def _cell(row: tuple[Any, ...], column: str) -> Any:
    """A column of a row that begins with its table's name; None where there is no such column."""
    columns = schema.metadata.tables[row[0]].columns.keys()
    return row[1 + columns.index(column)] if column in columns else None


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value
