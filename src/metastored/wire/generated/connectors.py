"""The metastore API, connectors. Made by tools/generate.py from api/connectors.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['AlterDataConnectorRequest', 'CreateDataConnectorRequest', 'DataConnector', 'DropDataConnectorRequest', 'GetDataConnectorRequest']


if TYPE_CHECKING:

    class AlterDataConnectorRequest(NamedTuple):
        connectorName: str | None = None
        newConnector: DataConnector | None = None

    class CreateDataConnectorRequest(NamedTuple):
        connector: DataConnector | None = None

    class DataConnector(NamedTuple):
        name: str | None = None
        type: str | None = None
        url: str | None = None
        description: str | None = None
        parameters: dict[str, str] | None = None
        ownerName: str | None = None
        ownerType: int | None = None
        createTime: int | None = None

    class DropDataConnectorRequest(NamedTuple):
        connectorName: str | None = None
        ifNotExists: bool | None = None
        checkReferences: bool | None = None

    class GetDataConnectorRequest(NamedTuple):
        connectorName: str | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class AlterDataConnectorRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string connectorName required @connector in=4.0.1+', '2 DataConnector newConnector required in=4.0.1+',)

        def __new__(cls, connectorName=None, newConnector=None):
            return new(cls, (connectorName, newConnector,))

        connectorName = at[0]
        newConnector = at[1]

    class CreateDataConnectorRequest(Struct):
        __slots__ = ()
        SPEC = ('1 DataConnector connector in=4.0.0+',)

        def __new__(cls, connector=None):
            return new(cls, (connector,))

        connector = at[0]

    class DataConnector(Struct):
        __slots__ = ()
        SPEC = ('1 string name @connector in=4.0.0+', '2 string type in=4.0.0+', '3 string url @secret in=4.0.0+', '4 string description in=4.0.0+', '5 map<string,string> parameters in=4.0.0+', '6 string ownerName @user in=4.0.0+', '7 PrincipalType ownerType in=4.0.0+', '8 i32 createTime in=4.0.0+',)

        def __new__(cls, name=None, type=None, url=None, description=None, parameters=None, ownerName=None, ownerType=None, createTime=None):
            return new(cls, (name, type, url, description, parameters, ownerName, ownerType, createTime,))

        name = at[0]
        type = at[1]
        url = at[2]
        description = at[3]
        parameters = at[4]
        ownerName = at[5]
        ownerType = at[6]
        createTime = at[7]

    class DropDataConnectorRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string connectorName required @connector in=4.0.1+', '2 bool ifNotExists in=4.0.1+', '3 bool checkReferences in=4.0.1+',)

        def __new__(cls, connectorName=None, ifNotExists=None, checkReferences=None):
            return new(cls, (connectorName, ifNotExists, checkReferences,))

        connectorName = at[0]
        ifNotExists = at[1]
        checkReferences = at[2]

    class GetDataConnectorRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string connectorName required @connector in=4.0.0+',)

        def __new__(cls, connectorName=None):
            return new(cls, (connectorName,))

        connectorName = at[0]
