"""Whether a table is transactional, insert-only or fully ACID. Pure.

Hive has two rules for each question, on purpose, and both are here:

    is_transactional            `transactional` is "true", in any case. Hive's `TxnUtils` and `AcidUtils`: write ids,
                                statistics, locks.
    translates_as_transactional `transactional` is anything but "false". Hive 4's `MetastoreDefaultTransformer`: a
                                managed table whose value is a typo stays managed, and is refused later with a message
                                about the value; made external it would be accepted as something else than was meant.
    is_insert_only              transactional, and `transactional_properties` is "insert_only": `AcidUtils`.
    says_insert_only            `transactional_properties` alone: `MetaStoreUtils.isInsertOnlyTableParam`. Hive's
                                get_table hides tables by it from clients without the capability for them, and its
                                translation uses it: a property that is set is enough to be careful.

Parameter names are compared exactly by all four. Only the checks at create and alter read them in any case
(`in_any_case`), because Hive rewrites them there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from metastored.wire.generated.common import Table

TRANSACTIONAL: Final = "transactional"
PROPERTIES: Final = "transactional_properties"
INSERT_ONLY: Final = "insert_only"
BUCKETING_VERSION: Final = "bucketing_version"

Parameters = Mapping[str, str]


def _lower(parameters: Parameters | None, name: str) -> str:
    return ((parameters or {}).get(name) or "").lower()


def is_transactional(parameters: Parameters | None) -> bool:
    """Whether a table with these parameters has transactions: `transactional` is "true", in any case."""
    return _lower(parameters, TRANSACTIONAL) == "true"


def translates_as_transactional(parameters: Parameters | None) -> bool:
    """Whether Hive 4's translation leaves a managed table with these parameters managed: not "false" is enough."""
    return TRANSACTIONAL in (parameters or {}) and _lower(parameters, TRANSACTIONAL) != "false"


def is_insert_only(parameters: Parameters | None) -> bool:
    """Whether rows of a table with these parameters can only be added, in transactions."""
    return is_transactional(parameters) and says_insert_only(parameters)


def says_insert_only(parameters: Parameters | None) -> bool:
    """Whether `transactional_properties` is "insert_only", whatever `transactional` is."""
    return _lower(parameters, PROPERTIES) == INSERT_ONLY


def is_full_acid(parameters: Parameters | None) -> bool:
    """Whether rows of a table with these parameters can be updated and deleted."""
    return is_transactional(parameters) and not says_insert_only(parameters)


def in_any_case(parameters: Parameters, name: str) -> str | None:
    """The value of a parameter whose name may be written in any case, as the checks at create and alter read it."""
    return next((value for key, value in parameters.items() if key.lower() == name), None)


class Acid(NamedTuple):
    """A transactional table, as programs that read and write its files see it."""

    insert_only: bool
    """Rows are only added. In other tables they can be changed and deleted, and the files are ORC in Hive's layout."""
    write_id: int | None
    """The last write id of the table; None where nobody returned it."""
    bucket_count: int | None
    bucketing_version: int | None
    transaction_id: int | None = None
    """The last transaction of the metastore when the table was read."""
    valid_write_ids: str | None = None
    """The write ids that a reader may see, as Hive writes them: `db.t:high watermark:lowest open:open:aborted`."""


def acid_of(table: Table) -> Acid | None:
    """What a table itself says about its transactions; None when it is not transactional.

    The ids are in the struct only where a server or a program put them there. `client.acid(name)` and the catalog read
    them from the metastore.
    """
    parameters = table.parameters or {}
    if not is_transactional(parameters):
        return None
    buckets = table.sd.numBuckets if table.sd is not None else None
    written = table.writeId if table.writeId is not None and table.writeId >= 0 else None
    return Acid(
        insert_only=is_insert_only(parameters),
        write_id=_number(parameters, "writeId") if written is None else written,
        bucket_count=buckets if buckets is not None and buckets > 0 else None,
        bucketing_version=_number(parameters, BUCKETING_VERSION),
        transaction_id=_number(parameters, "transactionId"),
        valid_write_ids=parameters.get("validWriteIdList") or None,
    )


def _number(parameters: Parameters, name: str) -> int | None:
    value = parameters.get(name) or ""
    return int(value) if value.isdigit() else None
