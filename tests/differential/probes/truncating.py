"""The remaining statistics of truncated tables and partitions; Hive has truncate_table since 3.0."""

from metastored.wire.generated.databases import Database
from metastored.wire.generated.tables import TruncateTableRequest
from tests.differential.probes.objects import field
from tests.differential.script import SINCE_3_1, Ask, Probe, Put
from tests.differential.script import ask as ask_all
from tests.support.objects import DS_H, external, partition, table

DB = "trun"
PARAMETERS = field("parameters")
COUNTED = {"numFiles": "1", "totalSize": "4", "numRows": "3", "rawDataSize": "33"}
ACCURATE = '{"BASIC_STATS":"true","COLUMN_STATS":{"a":"true"}}'
TABLES = {
    "counted": {**COUNTED, "COLUMN_STATS_ACCURATE": ACCURATE},
    "rows_only": {"numRows": "3", "rawDataSize": "33"},
    "inaccurate": {**COUNTED, "k": "v"},
    "erasure_coded": {**COUNTED, "numFilesErasureCoded": "2"},
    "no_stats": {"k": "v"},
}


def ask(label: str, method: str, *args: object, show: object = None) -> Ask:
    return ask_all(label, method, *args, show=show, versions=SINCE_3_1)  # type: ignore[arg-type]


def of_table(name: str, parameters: dict[str, str]) -> list[Probe]:
    given = {"external.table.purge": "TRUE", **parameters}
    return [
        ask(name, "create_table", external(DB, name, parameters=given)),
        Put(f"a file of {name}", f"{{W}}/{DB}.db/{name}/f", 4, SINCE_3_1),
        ask(f"{name}, before", "get_table", DB, name, show=PARAMETERS),
        ask(name, "truncate_table", DB, name, None),
        ask(f"{name}, after", "get_table", DB, name, show=PARAMETERS),
    ]


def of_partition(name: str, parameters: dict[str, str]) -> list[Probe]:
    values = (name, "1")
    return [
        ask(name, "add_partition", partition(DB, "p", values, parameters=parameters), show=PARAMETERS),
        Put(f"a file of the partition {name}", f"{{W}}/{DB}.db/p/ds={name}/h=1/f", 4, SINCE_3_1),
        ask(f"the partition {name}", "truncate_table", DB, "p", (f"ds={name}/h=1",)),
        ask(f"{name}, after", "get_partition", DB, "p", values, show=PARAMETERS),
    ]


SCRIPT: list[Probe] = [
    ask("for them", "create_database", Database(name=DB)),
    *(probe for name, parameters in TABLES.items() for probe in of_table(name, parameters)),
    ask("p", "create_table", external(DB, "p", keys=DS_H, parameters={"external.table.purge": "TRUE"})),
    *(probe for name, parameters in TABLES.items() for probe in of_partition(name, parameters)),
    ask("with every partition", "add_partition", partition(DB, "p", ("z", "2"), parameters=COUNTED), show=PARAMETERS),
    ask("every partition", "truncate_table", DB, "p", None),
    ask("every partition, after", "get_partitions", DB, "p", -1, show=PARAMETERS),
    ask("managed", "create_table", table(DB, "m", parameters=TABLES["counted"])),
    ask("managed", "truncate_table", DB, "m", None),
    ask("managed, after", "get_table", DB, "m", show=PARAMETERS),
    ask(
        "with the request",
        "add_partition",
        partition(DB, "p", ("y", "3"), parameters=TABLES["counted"]),
        show=PARAMETERS,
    ),
    ask("the request", "truncate_table_req", TruncateTableRequest(DB, "p", ("ds=y/h=3",))),
    ask("the request, after", "get_partition", DB, "p", ("y", "3"), show=PARAMETERS),
    ask("with all", "drop_database", DB, True, True),
]
