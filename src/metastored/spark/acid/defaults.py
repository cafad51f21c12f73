"""The default values of columns: Hive's DEFAULT constraints, which the metastore stores as expressions in SQL.

A new row has them for columns without a value. A column without a constraint is null. Nothing is evaluated here.
"""

from __future__ import annotations

from typing import Final

from metastored.client._sync.client import Client
from metastored.errors import ApplicationError, NoSuchObjectException
from metastored.model.names import TableName
from metastored.wire.generated.constraints import DefaultConstraintsRequest

NULL: Final = "NULL"
_METHOD: Final = "get_default_constraints"


def default_values(client: Client, name: TableName) -> dict[str, str]:
    """The expressions of the columns that have one, by column in lower case. Servers before Hive 3 have none."""
    if client.capabilities.lacks(_METHOD):
        return {}
    request = DefaultConstraintsRequest(catName=name.catalog_field, db_name=name.database, tbl_name=name.table)
    try:
        found = client.api.get_default_constraints(request).defaultConstraints or ()
    except NoSuchObjectException:
        return {}
    except ApplicationError as error:
        if error.type != ApplicationError.UNKNOWN_METHOD:
            raise
        client.capabilities.learned(_METHOD, False)
        return {}
    return {
        (each.column_name or "").lower(): each.default_value
        for each in found
        if each.default_value and each.enable_cstr is not False
    }
