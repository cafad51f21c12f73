"""The metastore API, locks. Made by tools/generate.py from api/locks.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['CheckLockRequest', 'HeartbeatRequest', 'LockComponent', 'LockLevel', 'LockMaterializationRebuildRequest', 'LockRequest', 'LockResponse', 'LockState', 'LockType', 'ShowLocksRequest', 'ShowLocksResponse', 'ShowLocksResponseElement', 'UnlockRequest']


class LockLevel:
    DB = 1
    TABLE = 2
    PARTITION = 3
    NAMES: ClassVar[dict[int, str]] = {1: 'DB', 2: 'TABLE', 3: 'PARTITION'}


class LockState:
    ACQUIRED = 1
    WAITING = 2
    ABORT = 3
    NOT_ACQUIRED = 4
    NAMES: ClassVar[dict[int, str]] = {1: 'ACQUIRED', 2: 'WAITING', 3: 'ABORT', 4: 'NOT_ACQUIRED'}


class LockType:
    SHARED_READ = 1
    SHARED_WRITE = 2
    EXCLUSIVE = 3
    EXCL_WRITE = 4
    NAMES: ClassVar[dict[int, str]] = {1: 'SHARED_READ', 2: 'SHARED_WRITE', 3: 'EXCLUSIVE', 4: 'EXCL_WRITE'}


if TYPE_CHECKING:

    class CheckLockRequest(NamedTuple):
        lockid: int | None = None
        txnid: int | None = None
        elapsed_ms: int | None = None

    class HeartbeatRequest(NamedTuple):
        lockid: int | None = None
        txnid: int | None = None

    class LockComponent(NamedTuple):
        type: int | None = None
        level: int | None = None
        dbname: str | None = None
        tablename: str | None = None
        partitionname: str | None = None
        operationType: int | None = None
        isTransactional: bool | None = None
        isDynamicPartitionWrite: bool | None = None
        catName: str | None = None

    class LockMaterializationRebuildRequest(NamedTuple):
        catName: str | None = None
        dbName: str | None = None
        tableName: str | None = None
        txnId: int | None = None

    class LockRequest(NamedTuple):
        component: tuple[LockComponent, ...] | None = None
        txnid: int | None = None
        user: str | None = None
        hostname: str | None = None
        agentInfo: str | None = None
        zeroWaitReadEnabled: bool | None = None
        exclusiveCTAS: bool | None = None
        locklessReadsEnabled: bool | None = None

    class LockResponse(NamedTuple):
        lockid: int | None = None
        state: int | None = None
        errorMessage: str | None = None

    class ShowLocksRequest(NamedTuple):
        dbname: str | None = None
        tablename: str | None = None
        partname: str | None = None
        isExtended: bool | None = None
        txnid: int | None = None
        catname: str | None = None

    class ShowLocksResponse(NamedTuple):
        locks: tuple[ShowLocksResponseElement, ...] | None = None

    class ShowLocksResponseElement(NamedTuple):
        lockid: int | None = None
        dbname: str | None = None
        tablename: str | None = None
        partname: str | None = None
        state: int | None = None
        type: int | None = None
        txnid: int | None = None
        lastheartbeat: int | None = None
        acquiredat: int | None = None
        user: str | None = None
        hostname: str | None = None
        heartbeatCount: int | None = None
        agentInfo: str | None = None
        blockedByExtId: int | None = None
        blockedByIntId: int | None = None
        lockIdInternal: int | None = None
        catname: str | None = None

    class UnlockRequest(NamedTuple):
        lockid: int | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class CheckLockRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 lockid required @lock_id', '2 i64 txnid @txn_id', '3 i64 elapsed_ms',)

        def __new__(cls, lockid=None, txnid=None, elapsed_ms=None):
            return new(cls, (lockid, txnid, elapsed_ms,))

        lockid = at[0]
        txnid = at[1]
        elapsed_ms = at[2]

    class HeartbeatRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 lockid @lock_id', '2 i64 txnid @txn_id',)

        def __new__(cls, lockid=None, txnid=None):
            return new(cls, (lockid, txnid,))

        lockid = at[0]
        txnid = at[1]

    class LockComponent(Struct):
        __slots__ = ()
        SPEC = ('1 LockType type required', '2 LockLevel level required', '3 string dbname required @db', '4 string tablename @table', '5 string partitionname @part_name', '6 DataOperationType operationType default=5', '7 bool isTransactional', '8 bool isDynamicPartitionWrite', '9 string catName default=hive @cat in=next+',)

        def __new__(cls, type=None, level=None, dbname=None, tablename=None, partitionname=None, operationType=None, isTransactional=None, isDynamicPartitionWrite=None, catName=None):
            return new(cls, (type, level, dbname, tablename, partitionname, operationType, isTransactional, isDynamicPartitionWrite, catName,))

        type = at[0]
        level = at[1]
        dbname = at[2]
        tablename = at[3]
        partitionname = at[4]
        operationType = at[5]
        isTransactional = at[6]
        isDynamicPartitionWrite = at[7]
        catName = at[8]

    class LockMaterializationRebuildRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string catName required @cat in=next+', '2 string dbName required @db in=next+', '3 string tableName required @table in=next+', '4 i64 txnId required @txn_id in=next+',)

        def __new__(cls, catName=None, dbName=None, tableName=None, txnId=None):
            return new(cls, (catName, dbName, tableName, txnId,))

        catName = at[0]
        dbName = at[1]
        tableName = at[2]
        txnId = at[3]

    class LockRequest(Struct):
        __slots__ = ()
        SPEC = ('1 list<LockComponent> component required', '2 i64 txnid @txn_id', '3 string user required @user', '4 string hostname required', '5 string agentInfo default=Unknown', '6 bool zeroWaitReadEnabled default=false in=4.0.0+', '7 bool exclusiveCTAS default=false in=4.0.0+', '8 bool locklessReadsEnabled default=false in=4.0.0+',)

        def __new__(cls, component=None, txnid=None, user=None, hostname=None, agentInfo=None, zeroWaitReadEnabled=None, exclusiveCTAS=None, locklessReadsEnabled=None):
            return new(cls, (component, txnid, user, hostname, agentInfo, zeroWaitReadEnabled, exclusiveCTAS, locklessReadsEnabled,))

        component = at[0]
        txnid = at[1]
        user = at[2]
        hostname = at[3]
        agentInfo = at[4]
        zeroWaitReadEnabled = at[5]
        exclusiveCTAS = at[6]
        locklessReadsEnabled = at[7]

    class LockResponse(Struct):
        __slots__ = ()
        SPEC = ('1 i64 lockid required @lock_id', '2 LockState state required', '3 string errorMessage in=4.0.0+',)

        def __new__(cls, lockid=None, state=None, errorMessage=None):
            return new(cls, (lockid, state, errorMessage,))

        lockid = at[0]
        state = at[1]
        errorMessage = at[2]

    class ShowLocksRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string dbname @db', '2 string tablename @table', '3 string partname @part_name', '4 bool isExtended default=false', '5 i64 txnid @txn_id in=4.0.0+', '6 string catname default=hive @cat in=next+',)

        def __new__(cls, dbname=None, tablename=None, partname=None, isExtended=None, txnid=None, catname=None):
            return new(cls, (dbname, tablename, partname, isExtended, txnid, catname,))

        dbname = at[0]
        tablename = at[1]
        partname = at[2]
        isExtended = at[3]
        txnid = at[4]
        catname = at[5]

    class ShowLocksResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<ShowLocksResponseElement> locks',)

        def __new__(cls, locks=None):
            return new(cls, (locks,))

        locks = at[0]

    class ShowLocksResponseElement(Struct):
        __slots__ = ()
        SPEC = ('1 i64 lockid required @lock_id', '2 string dbname required @db', '3 string tablename @table', '4 string partname @part_name', '5 LockState state required', '6 LockType type required', '7 i64 txnid @txn_id', '8 i64 lastheartbeat required', '9 i64 acquiredat', '10 string user required @user', '11 string hostname required', '12 i32 heartbeatCount default=0', '13 string agentInfo', '14 i64 blockedByExtId @lock_id', '15 i64 blockedByIntId', '16 i64 lockIdInternal', '17 string catname required @cat in=next+',)

        def __new__(cls, lockid=None, dbname=None, tablename=None, partname=None, state=None, type=None, txnid=None, lastheartbeat=None, acquiredat=None, user=None, hostname=None, heartbeatCount=None, agentInfo=None, blockedByExtId=None, blockedByIntId=None, lockIdInternal=None, catname=None):
            return new(cls, (lockid, dbname, tablename, partname, state, type, txnid, lastheartbeat, acquiredat, user, hostname, heartbeatCount, agentInfo, blockedByExtId, blockedByIntId, lockIdInternal, catname,))

        lockid = at[0]
        dbname = at[1]
        tablename = at[2]
        partname = at[3]
        state = at[4]
        type = at[5]
        txnid = at[6]
        lastheartbeat = at[7]
        acquiredat = at[8]
        user = at[9]
        hostname = at[10]
        heartbeatCount = at[11]
        agentInfo = at[12]
        blockedByExtId = at[13]
        blockedByIntId = at[14]
        lockIdInternal = at[15]
        catname = at[16]

    class UnlockRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 lockid required @lock_id',)

        def __new__(cls, lockid=None):
            return new(cls, (lockid,))

        lockid = at[0]
