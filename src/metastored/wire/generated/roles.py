"""The metastore API, roles. Made by tools/generate.py from api/roles.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['GetPrincipalsInRoleRequest', 'GetPrincipalsInRoleResponse', 'GetRoleGrantsForPrincipalRequest', 'GetRoleGrantsForPrincipalResponse', 'GrantRevokePrivilegeRequest', 'GrantRevokePrivilegeResponse', 'GrantRevokeRoleRequest', 'GrantRevokeRoleResponse', 'GrantRevokeType', 'HiveObjectPrivilege', 'HiveObjectRef', 'HiveObjectType', 'PrivilegeBag', 'Role', 'RolePrincipalGrant']


class GrantRevokeType:
    GRANT = 1
    REVOKE = 2
    NAMES: ClassVar[dict[int, str]] = {1: 'GRANT', 2: 'REVOKE'}


class HiveObjectType:
    GLOBAL = 1
    DATABASE = 2
    TABLE = 3
    PARTITION = 4
    COLUMN = 5
    DATACONNECTOR = 6
    NAMES: ClassVar[dict[int, str]] = {1: 'GLOBAL', 2: 'DATABASE', 3: 'TABLE', 4: 'PARTITION', 5: 'COLUMN', 6: 'DATACONNECTOR'}


if TYPE_CHECKING:
    from metastored.wire.generated.common import PrivilegeGrantInfo

    class GetPrincipalsInRoleRequest(NamedTuple):
        roleName: str | None = None

    class GetPrincipalsInRoleResponse(NamedTuple):
        principalGrants: tuple[RolePrincipalGrant, ...] | None = None

    class GetRoleGrantsForPrincipalRequest(NamedTuple):
        principal_name: str | None = None
        principal_type: int | None = None

    class GetRoleGrantsForPrincipalResponse(NamedTuple):
        principalGrants: tuple[RolePrincipalGrant, ...] | None = None

    class GrantRevokePrivilegeRequest(NamedTuple):
        requestType: int | None = None
        privileges: PrivilegeBag | None = None
        revokeGrantOption: bool | None = None

    class GrantRevokePrivilegeResponse(NamedTuple):
        success: bool | None = None

    class GrantRevokeRoleRequest(NamedTuple):
        requestType: int | None = None
        roleName: str | None = None
        principalName: str | None = None
        principalType: int | None = None
        grantor: str | None = None
        grantorType: int | None = None
        grantOption: bool | None = None

    class GrantRevokeRoleResponse(NamedTuple):
        success: bool | None = None

    class HiveObjectPrivilege(NamedTuple):
        hiveObject: HiveObjectRef | None = None
        principalName: str | None = None
        principalType: int | None = None
        grantInfo: PrivilegeGrantInfo | None = None
        authorizer: str | None = None

    class HiveObjectRef(NamedTuple):
        objectType: int | None = None
        dbName: str | None = None
        objectName: str | None = None
        partValues: tuple[str, ...] | None = None
        columnName: str | None = None
        catName: str | None = None

    class PrivilegeBag(NamedTuple):
        privileges: tuple[HiveObjectPrivilege, ...] | None = None

    class Role(NamedTuple):
        roleName: str | None = None
        createTime: int | None = None
        ownerName: str | None = None

    class RolePrincipalGrant(NamedTuple):
        roleName: str | None = None
        principalName: str | None = None
        principalType: int | None = None
        grantOption: bool | None = None
        grantTime: int | None = None
        grantorName: str | None = None
        grantorPrincipalType: int | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class GetPrincipalsInRoleRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string roleName required @user',)

        def __new__(cls, roleName=None):
            return new(cls, (roleName,))

        roleName = at[0]

    class GetPrincipalsInRoleResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<RolePrincipalGrant> principalGrants required',)

        def __new__(cls, principalGrants=None):
            return new(cls, (principalGrants,))

        principalGrants = at[0]

    class GetRoleGrantsForPrincipalRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string principal_name required @user', '2 PrincipalType principal_type required',)

        def __new__(cls, principal_name=None, principal_type=None):
            return new(cls, (principal_name, principal_type,))

        principal_name = at[0]
        principal_type = at[1]

    class GetRoleGrantsForPrincipalResponse(Struct):
        __slots__ = ()
        SPEC = ('1 list<RolePrincipalGrant> principalGrants required',)

        def __new__(cls, principalGrants=None):
            return new(cls, (principalGrants,))

        principalGrants = at[0]

    class GrantRevokePrivilegeRequest(Struct):
        __slots__ = ()
        SPEC = ('1 GrantRevokeType requestType', '2 PrivilegeBag privileges', '3 bool revokeGrantOption',)

        def __new__(cls, requestType=None, privileges=None, revokeGrantOption=None):
            return new(cls, (requestType, privileges, revokeGrantOption,))

        requestType = at[0]
        privileges = at[1]
        revokeGrantOption = at[2]

    class GrantRevokePrivilegeResponse(Struct):
        __slots__ = ()
        SPEC = ('1 bool success',)

        def __new__(cls, success=None):
            return new(cls, (success,))

        success = at[0]

    class GrantRevokeRoleRequest(Struct):
        __slots__ = ()
        SPEC = ('1 GrantRevokeType requestType', '2 string roleName @user', '3 string principalName @user', '4 PrincipalType principalType', '5 string grantor @user', '6 PrincipalType grantorType', '7 bool grantOption',)

        def __new__(cls, requestType=None, roleName=None, principalName=None, principalType=None, grantor=None, grantorType=None, grantOption=None):
            return new(cls, (requestType, roleName, principalName, principalType, grantor, grantorType, grantOption,))

        requestType = at[0]
        roleName = at[1]
        principalName = at[2]
        principalType = at[3]
        grantor = at[4]
        grantorType = at[5]
        grantOption = at[6]

    class GrantRevokeRoleResponse(Struct):
        __slots__ = ()
        SPEC = ('1 bool success',)

        def __new__(cls, success=None):
            return new(cls, (success,))

        success = at[0]

    class HiveObjectPrivilege(Struct):
        __slots__ = ()
        SPEC = ('1 HiveObjectRef hiveObject', '2 string principalName @user', '3 PrincipalType principalType', '4 PrivilegeGrantInfo grantInfo', '5 string authorizer in=3.1+',)

        def __new__(cls, hiveObject=None, principalName=None, principalType=None, grantInfo=None, authorizer=None):
            return new(cls, (hiveObject, principalName, principalType, grantInfo, authorizer,))

        hiveObject = at[0]
        principalName = at[1]
        principalType = at[2]
        grantInfo = at[3]
        authorizer = at[4]

    class HiveObjectRef(Struct):
        __slots__ = ()
        SPEC = ('1 HiveObjectType objectType', '2 string dbName @db', '3 string objectName @table', '4 list<string> partValues @part_values', '5 string columnName', '6 string catName @cat',)

        def __new__(cls, objectType=None, dbName=None, objectName=None, partValues=None, columnName=None, catName=None):
            return new(cls, (objectType, dbName, objectName, partValues, columnName, catName,))

        objectType = at[0]
        dbName = at[1]
        objectName = at[2]
        partValues = at[3]
        columnName = at[4]
        catName = at[5]

    class PrivilegeBag(Struct):
        __slots__ = ()
        SPEC = ('1 list<HiveObjectPrivilege> privileges',)

        def __new__(cls, privileges=None):
            return new(cls, (privileges,))

        privileges = at[0]

    class Role(Struct):
        __slots__ = ()
        SPEC = ('1 string roleName @user', '2 i32 createTime', '3 string ownerName @user',)

        def __new__(cls, roleName=None, createTime=None, ownerName=None):
            return new(cls, (roleName, createTime, ownerName,))

        roleName = at[0]
        createTime = at[1]
        ownerName = at[2]

    class RolePrincipalGrant(Struct):
        __slots__ = ()
        SPEC = ('1 string roleName @user', '2 string principalName @user', '3 PrincipalType principalType', '4 bool grantOption', '5 i32 grantTime', '6 string grantorName @user', '7 PrincipalType grantorPrincipalType',)

        def __new__(cls, roleName=None, principalName=None, principalType=None, grantOption=None, grantTime=None, grantorName=None, grantorPrincipalType=None):
            return new(cls, (roleName, principalName, principalType, grantOption, grantTime, grantorName, grantorPrincipalType,))

        roleName = at[0]
        principalName = at[1]
        principalType = at[2]
        grantOption = at[3]
        grantTime = at[4]
        grantorName = at[5]
        grantorPrincipalType = at[6]
