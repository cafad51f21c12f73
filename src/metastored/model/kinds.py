"""What kind of table it is: managed, external, a view or a materialized view. Pure.

Hive decides "is it external?" by different rules, and each has a function:

    is_external             the parameter EXTERNAL, in any case. Decides what is deleted with a table, and where its
                            directory is. Hive's `MetaStoreUtils.isExternalTable`.
    stored_type             the parameter when a table is stored. Hive 2.3 compares with "TRUE" exactly, so a table with
                            EXTERNAL=true is stored as MANAGED_TABLE there, although `is_external` holds for it.
    has_external_type       the type. Hive 4's translation looks only at this (`MetastoreDefaultTransformer`).
    is_external_by_either   the parameter or the type. Hive refuses transactions on such a table
                            (`TransactionalValidationListener`), and a reader of any server's tables wants this one.
"""

from __future__ import annotations

from typing import Final

from metastored.wire.generated.common import Table

MANAGED: Final = "MANAGED_TABLE"
EXTERNAL: Final = "EXTERNAL_TABLE"
VIEW: Final = "VIRTUAL_VIEW"
MATERIALIZED_VIEW: Final = "MATERIALIZED_VIEW"
INDEX: Final = "INDEX_TABLE"
TYPES: Final = (MANAGED, EXTERNAL, VIEW, INDEX, MATERIALIZED_VIEW)
"""All types of tables, in Hive's order."""

EXTERNAL_PARAMETER: Final = "EXTERNAL"
PURGE: Final = "external.table.purge"
"""The parameter by which the data of an external table is deleted with it, since Hive 4.0."""


def is_true(table: Table, parameter: str) -> bool:
    """Whether a parameter is "true", in any case."""
    return ((table.parameters or {}).get(parameter) or "").upper() == "TRUE"


def is_external(table: Table) -> bool:
    """Whether the parameter EXTERNAL is "true", in any case; the type does not count."""
    return is_true(table, EXTERNAL_PARAMETER)


def has_external_type(table: Table) -> bool:
    """Whether the type is EXTERNAL_TABLE; the parameter does not count."""
    return table.tableType == EXTERNAL


def is_external_by_either(table: Table) -> bool:
    """Whether the parameter or the type declares the table external."""
    return has_external_type(table) or is_external(table)


def is_view(table: Table) -> bool:
    """Whether it is a view without data; a materialized view has data."""
    return table.tableType == VIEW


def is_materialized_view(table: Table) -> bool:
    """Whether it is a materialized view."""
    return table.tableType == MATERIALIZED_VIEW


def is_any_view(table: Table) -> bool:
    """Whether it is a view, materialized or not."""
    return table.tableType in (VIEW, MATERIALIZED_VIEW)


def owns_data(table: Table, purges_external: bool) -> bool:
    """Whether dropping the table deletes its data. `purges_external`: the server knows the parameter PURGE."""
    if is_external(table):
        return purges_external and is_true(table, PURGE)
    return not is_view(table)


def stored_type(table: Table, external_in_any_case: bool) -> str:
    """The type under which a table is stored: the parameter EXTERNAL wins over the type that a client sent.

    `external_in_any_case` is Hive's rule since 3.1; before, only "TRUE" in capitals counts.
    """
    if external_in_any_case:
        external = is_external(table)
    else:
        external = (table.parameters or {}).get(EXTERNAL_PARAMETER) == "TRUE"
    if table.tableType is None:
        if table.viewOriginalText is not None:
            return VIEW
        return EXTERNAL if external else MANAGED
    if table.tableType in (MANAGED, EXTERNAL):
        return EXTERNAL if external else MANAGED
    return table.tableType
