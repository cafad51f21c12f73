"""Absent values: null and empty names, lists and columns, as Hive's own tests of its client send them."""

from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import PartitionSpec, PartitionSpecWithSharedSD, PartitionWithoutSD
from metastored.wire.structs import replace
from tests.differential.probes.functions import function
from tests.differential.probes.objects import field, with_fields, with_storage
from tests.differential.script import SINCE_3_1, EditPartition, EditTable, Probe, ask
from tests.support.objects import partition, storage, table

DB = "abs"
COLUMNS = field("sd", "cols")
PLACE = field("sd", "location")
FILTER = 'hive_filter_field_owner__ = "bob"'


def shared(*values: str, path: str | None) -> PartitionSpec:
    part = PartitionWithoutSD(values=values, relativePath=path, parameters={})
    spec = PartitionSpecWithSharedSD(partitions=(part,), sd=storage(location="{W}/abs.db/shared/"))
    return PartitionSpec(dbName=DB, tableName="p", rootPath="{W}/abs.db/p", sharedSDPartitionSpec=spec)


SCRIPT: list[Probe] = [
    ask("for them", "create_database", Database(name=DB)),
    # --- tables
    ask("of a null database", "create_table", replace(table(DB, "nodb"), dbName=None)),
    ask("of an empty database", "create_table", table("", "nodb")),
    ask("plain", "create_table", table(DB, "t")),
    ask("partitioned", "create_table", table(DB, "p", keys="k string")),
    EditTable("to a null database", DB, "t", with_fields(dbName=None)),
    EditTable("to an empty database", DB, "t", with_fields(dbName="")),
    EditTable("to an empty name", DB, "t", with_fields(tableName="")),
    ask("as it was", "get_table", DB, "t", show=field("tableName")),
    ask("of a null database", "get_table_names_by_filter", None, FILTER, -1),
    ask("of an empty database", "get_table_names_by_filter", "", FILTER, -1),
    ask("of an empty catalog", "get_table_names_by_filter", "@#abs", FILTER, -1, versions=SINCE_3_1),
    ask("of an empty catalog", "get_database", "@#abs", versions=SINCE_3_1),
    ask("of a catalog alone", "get_table_names_by_filter", "@hive#", FILTER, -1, versions=SINCE_3_1),
    ask("of no catalog's end", "get_database", "@abs", versions=SINCE_3_1),
    ask("of an empty catalog alone", "get_database", "@#", versions=SINCE_3_1),
    # --- partitions
    ask("without columns", "add_partition", partition(DB, "p", ("1",), sd=storage(cols=None))),  # type: ignore[arg-type]
    ask("without columns", "get_partition", DB, "p", ("1",), show=COLUMNS),
    ask("without columns", "add_partitions", (partition(DB, "p", ("2",), sd=storage(cols=None)),)),  # type: ignore[arg-type]
    ask("without columns, of a list", "get_partition", DB, "p", ("2",), show=COLUMNS),
    ask("without columns", "get_partitions", DB, "p", -1, show=COLUMNS),
    ask("with columns", "add_partition", partition(DB, "p", ("3",))),
    EditPartition("to null columns", DB, "p", ("3",), with_storage(cols=None)),
    ask("with null columns", "get_partition", DB, "p", ("3",), show=COLUMNS),
    EditPartition("to columns again", DB, "p", ("1",), with_storage(cols=storage().cols)),
    ask("with columns again", "get_partition", DB, "p", ("1",), show=COLUMNS),
    ask("from null values", "rename_partition", DB, "p", None, partition(DB, "p", ("9",))),
    ask("from empty values", "rename_partition", DB, "p", (), partition(DB, "p", ("9",))),
    ask("from empty values, to one that is there", "rename_partition", DB, "p", (), partition(DB, "p", ("1",))),
    ask("after these", "get_partition_names", DB, "p", -1),
    ask("null", "get_partitions_by_names", DB, "p", None),
    ask("none", "get_partitions_by_names", DB, "p", ()),
    ask("without a path", "add_partitions_pspec", (shared("4", path=None),)),
    ask("without a path", "get_partition", DB, "p", ("4",), show=PLACE),
    ask("of no table", "get_partitions_with_auth", DB, "nope", -1, "", ()),
    ask("of an empty database", "get_partitions_with_auth", "", "p", -1, "", ()),
    # --- functions
    ask("of a null database", "create_function", replace(function("f", DB), dbName=None)),
    ask("of an empty database", "create_function", function("f", "")),
    ask("them", "drop_database", DB, True, True),
]
