"""Grants of privileges by an administrator, for tests."""

from __future__ import annotations

import metastored
from metastored.structs import (
    HiveObjectPrivilege,
    HiveObjectRef,
    HiveObjectType,
    PrincipalType,
    PrivilegeBag,
    PrivilegeGrantInfo,
)
from metastored.testing import RunningServer

METASTORE = HiveObjectRef(HiveObjectType.GLOBAL)


def table_ref(database: str, table: str) -> HiveObjectRef:
    return HiveObjectRef(HiveObjectType.TABLE, database, table)


def granted(server: RunningServer, to: str, *privileges: str, on: HiveObjectRef = METASTORE, by: str = "maja") -> None:
    """Grants privileges on an object to a user."""
    with metastored.connect(server.uri, user=by, cache=False) as client:
        for privilege in privileges:
            info = PrivilegeGrantInfo(privilege, 0, by, PrincipalType.USER, False)
            grant = HiveObjectPrivilege(on, to, PrincipalType.USER, info, "SQL")
            client.api.grant_privileges(PrivilegeBag((grant,)))
