"""Known results of Hive 3.1.3's own tests of its client API: which of them fail on Hive's server, and which here.

Hive's tests were written for an older Thrift, in which a server that stumbles over a null closed the connection. With
the Thrift of Hive 3.1.3 it answers "Internal error processing …", so that those tests fail on Hive's own server.
`make soak` compares FAILS_ON_HIVE with what it finds there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

SETTINGS: Final[Mapping[str, Any]] = {"compat": "3.1", "trash_days": 1, "limits_partitions_per_call": 100}
"""How metastored runs."""
HIVE_SETTINGS: Final[Mapping[str, str]] = {
    # The settings of Hive's tests for servers that they start themselves.
    "metastore.limit.partition.request": "100",
    "fs.trash.interval": "1",
}
"""How Hive's server runs."""

FAILS_ON_HIVE: Final[Mapping[str, frozenset[str]]] = {
    "TestAddPartitions": frozenset(
        {
            "testAddPartitionsNullList",
        }
    ),
    "TestAddPartitionsFromPartSpec": frozenset(
        {
            "testAddPartitionSpecNoDB",
            "testAddPartitionSpecNoDBAndTableInPartition",
            "testAddPartitionSpecNoTable",
            "testAddPartitionSpecWithSharedSDNoValue",
            "testAddPartitionSpecWithSharedSDNullSd",
        }
    ),
    "TestAlterPartitions": frozenset(
        {
            "testAlterPartitionNullPartition",
            "testAlterPartitionWithEnvironmentCtxNullPartition",
            "testAlterPartitionsNullPartitionList",
            "testAlterPartitionsWithEnvironmentCtxNullPartitionList",
            "testRenamePartitionNullNewPart",
        }
    ),
    "TestFunctions": frozenset(
        {
            "testAlterFunctionNullDatabase",
            "testAlterFunctionNullDatabaseNameInNew",
            "testAlterFunctionNullFunction",
            "testAlterFunctionNullFunctionName",
            "testAlterFunctionNullFunctionNameInNew",
            "testAlterFunctionNullFunctionTypeInNew",
            "testAlterFunctionNullOwnerTypeInNew",
            "testCreateFunctionNullFunctionName",
            "testCreateFunctionNullFunctionType",
            "testCreateFunctionNullOwnerType",
            "testDropFunctionNullDatabase",
            "testDropFunctionNullFunctionName",
        }
    ),
    "TestGetPartitions": frozenset(
        {
            "testGetPartitionWithAuthInfoNullDbName",
            "testGetPartitionWithAuthInfoNullTblName",
            "testGetPartitionsByNamesNullDbName",
            "testGetPartitionsByNamesNullTblName",
        }
    ),
    "TestListPartitions": frozenset(
        {
            "testListPartitionNamesByValuesNullDbName",
            "testListPartitionNamesByValuesNullTblName",
            "testListPartitionNamesNullDbName",
            "testListPartitionNamesNullTblName",
            "testListPartitionSpecsNullTblName",
            "testListPartitionValuesEmptySchema",
            "testListPartitionsAllNullDbName",
            "testListPartitionsAllNullTblName",
            "testListPartitionsByFilterNullDbName",
            "testListPartitionsByFilterNullTblName",
            "testListPartitionsWithAuthByValuesNullDbName",
            "testListPartitionsWithAuthByValuesNullTblName",
        }
    ),
    "TestRuntimeStats": frozenset(
        {
            "testCleanup",
            "testReading",
        }
    ),
    "TestTablesCreateDropAlterTruncate": frozenset(
        {
            "testAlterTableNullNewTable",
        }
    ),
}
"""The tests that fail on Hive's server, by class."""

_UNDECLARED: Final = (
    "Hive throws an exception that the call does not declare, and its client gets Thrift's \"Internal error processing"
    ' …"; metastored raises a declared exception, whose message names the object'
)
_NO_COLUMNS: Final = (
    "a partition that was added without columns has an empty list of them here, and can be altered; Hive answers with"
    " null, and cannot alter the partition any more"
)

DIFFERENCES: Final[Mapping[str, Mapping[str, str]]] = {
    "TestAddPartitions": {
        "testAddPartitionNullColsInSd": _NO_COLUMNS,
        "testAddPartitionsNullColsInSd": _NO_COLUMNS,
    },
    "TestAlterPartitions": {
        "deprecatedCalls": "a location without a scheme and a leading slash is refused; engines read it differently"
    },
    "TestCatalogs": {
        "dropNonEmptyCatalog": (
            "the directory of a catalog's default database holds its other databases; Hive removes their data with it, "
            "metastored refuses"
        )
    },
    "TestCheckConstraint": {"addNoSuchTable": _UNDECLARED, "doubleAddUniqueConstraint": _UNDECLARED},
    "TestDefaultConstraint": {"addNoSuchTable": _UNDECLARED, "doubleAddUniqueConstraint": _UNDECLARED},
    "TestForeignKey": {
        "addNoSuchCatalog": _UNDECLARED,
        "addNoSuchDb": _UNDECLARED,
        "addNoSuchTable": _UNDECLARED,
        "foreignKeyAcrossCatalogs": _UNDECLARED,
    },
    "TestFunctions": {"testAlterFunctionNoSuchDatabaseInNew": _UNDECLARED},
    "TestNotNullConstraint": {"addNoSuchTable": _UNDECLARED, "doubleAddNotNullConstraint": _UNDECLARED},
    "TestPrimaryKey": {
        "addNoSuchTable": _UNDECLARED,
        "dropNoSuchCatalog": _UNDECLARED,
        "dropNoSuchConstraint": _UNDECLARED,
        "dropNoSuchDatabase": _UNDECLARED,
        "dropNoSuchTable": _UNDECLARED,
    },
    "TestTablesCreateDropAlterTruncate": {
        "tablesInOtherCatalogs": _UNDECLARED,
        "truncateTableBogusCatalog": _UNDECLARED,
    },
    "TestUniqueConstraint": {"addNoSuchTable": _UNDECLARED, "doubleAddUniqueConstraint": _UNDECLARED},
}
"""The tests that pass on Hive's server and fail here, by class, with the reason."""
