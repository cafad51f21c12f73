"""The deliberate differences to Hive for incomplete or contradictory requests; see `deliberate.py`."""

from __future__ import annotations

from typing import Final

from tests.differential.deliberate import Difference, both_refuse, metastored_says, same_kind, same_words
from tests.differential.script import ALL, BEFORE_4, HIVE_4, SINCE_3_1, SINCE_4_0_1

_ELSEWHERE: Final = ("to another table", "to another table, managed", "to another database")
_WITHOUT: Final = tuple(f"without a {what}{kind}" for what in ("table", "database") for kind in ("", ", managed"))
_COLUMNS: Final = ("a column without a name", "a column without a type")
_REFUSED: Final = "!MetaException The transaction for alter partition did not commit successfully."


def _edges(method: str, *labels: str) -> tuple[str, ...]:
    return tuple(f"partition_edges/{method}: {label}" for label in labels)


DIFFERENCES_AT_EDGES: Final = (
    Difference(
        "Hive renames a partition whose new form names another table, if there is one of that name, as if it named"
        " this one; metastored refuses it as it does any other name",
        _edges("rename_partition", *_ELSEWHERE),
        metastored_says(_REFUSED),
        ALL,
    ),
    Difference(
        "What came of it",
        (
            *_edges("get_partition", *(f"{word} {label}" for label in _ELSEWHERE for word in ("renamed", "left"))),
            *_edges("drop_partition", *(f"{word} {label}" for label in _ELSEWHERE for word in ("renamed", "left"))),
        ),
        lambda hive, metastored: hive.startswith("!") != metastored.startswith("!"),
        ALL,
    ),
    Difference(
        "Hive stumbles over what is missing and answers with Java's NullPointerException, or with what its database"
        " said; metastored says what is missing",
        (
            *_edges("add_partition", "of a table, without storage", *_COLUMNS),
            *_edges("create_table", *_COLUMNS, "a key without a name", "a key without a type"),
            *_edges("alter", *_COLUMNS),
            *_edges("alter partition", *_COLUMNS),
            *_edges("rename_partition", "with a nameless column", "with a nameless column, managed"),
        ),
        same_kind,
        BEFORE_4,
    ),
    Difference(
        "The same in Hive 4",
        (
            *_edges("add_partition", "of a table, without storage", "a column without a name"),
            *_edges("create_table", *_COLUMNS, "a key without a name", "a key without a type"),
            *_edges("alter", *_COLUMNS),
            *_edges("alter partition", "a column without a name"),
            *_edges("rename_partition", "with a nameless column", "with a nameless column, managed"),
        ),
        same_kind,
        HIVE_4,
    ),
    Difference(
        "Hive stumbles over a rename that names no table or database",
        _edges("rename_partition", *_WITHOUT),
        metastored_says(_REFUSED),
        SINCE_3_1,
    ),
    Difference(
        "Hive 4 stores a partition's column without a type, which no reader can use; metastored refuses it as Hive 3"
        " does",
        _edges("add_partition", "a column without a type") + _edges("alter partition", "a column without a type"),
        metastored_says("!MetaException column 1, a, has no type: each column needs both"),
        HIVE_4,
    ),
    Difference(
        "What came of it",
        (
            *_edges("get_partition", "a column without a type", "a column without a type, changed"),
            *_edges("drop_partition", "a column without a type"),
        ),
        lambda hive, metastored: hive != metastored,
        HIVE_4,
    ),
    Difference(
        "Hive looks at the first letter of an empty type; metastored says that there is no such type",
        (
            *_edges("create_table", "a column with an empty type", "a key with an empty type"),
            *_edges("alter", "a column with an empty type"),
        ),
        both_refuse,
        ALL,
    ),
    Difference(
        "Hive stumbles over partitions of views, which have no storage; metastored does what can be done",
        _edges("rename_partition", "of a view"),
        metastored_says("None"),
        ALL,
    ),
    Difference(
        "What came of it",
        _edges("get_partition_names", "of a view, at last", "of a renamed view"),
        lambda hive, metastored: metastored.replace("ds=renamed/h=1", "ds=2/h=2") != metastored,
        ALL,
    ),
    Difference(
        "Hive fails internally where a view's partition is to be exchanged, or a spec has nothing in it; metastored"
        " says why",
        (
            *_edges("exchange_partition", "of a view", "to a view"),
            *_edges("add_partitions_pspec", "neither kind"),
        ),
        both_refuse,
        ALL,
    ),
    Difference(
        "The same, where only Hive before 4.0 fails internally",
        _edges("add_partitions_pspec", "without shared storage"),
        both_refuse,
        BEFORE_4,
    ),
    Difference(
        "The word IOException makes Java clients try again what cannot succeed",
        _edges("add_partition", "of a view, with a place"),
        lambda hive, metastored: hive.replace("java.io.IOException: ", "") == metastored,
        SINCE_4_0_1,
    ),
    Difference(
        "4.0.0 says it as 3.1 does; metastored says it as 4.0.1 does, in the mode for both",
        (*_edges("append_partition_by_name", "a null name"), *_edges("drop_partition", "no values")),
        same_kind,
        ("4.0.0",),
    ),
    Difference(
        "A location has one form, whoever writes it; Hive leaves it as it is written where several partitions are"
        " changed",
        _edges("get_partition", "a slash behind, altered with others"),
        lambda hive, metastored: hive.replace("h=1/", "h=1") == metastored,
        ALL,
    ),
    Difference(
        "What cannot be changed of a function is told; Hive fails internally",
        ("functions/alter_function: without a type", "functions/alter_function: without a name"),
        both_refuse,
        BEFORE_4,
    ),
    Difference(
        "Hive fails internally over a constraint's name that is taken; metastored says that it is",
        (
            "constraints/add_unique_constraint: the same name on the same table",
            "constraints/add_unique_constraint: the same name twice",
            "constraints/add_not_null_constraint: the same name on the same table",
        ),
        both_refuse,
        SINCE_3_1,
    ),
    Difference(
        "The same for names on other tables, which Hive 4 allows",
        (
            "constraints/add_primary_key: the same name on another table",
            "constraints/add_unique_constraint: the same name on a third table",
            "constraints/add_not_null_constraint: the same name on another table",
        ),
        both_refuse,
        ("3.1",),
    ),
    Difference(
        "Hive 4 drops a constraint from every table that has one of that name; metastored from the table that is named",
        ("constraints/get_not_null_constraints: one of two of a name, left",),
        lambda hive, metastored: hive.endswith("=[])") and "nn_name='nn'" in metastored,
        HIVE_4,
    ),
    Difference(
        "2.3 says it in the words of Java",
        ("service/setMetaConf: a timeout that is none",),
        same_kind,
        ("2.3",),
    ),
    Difference(
        "Hive sorts neither; metastored lists by name",
        (
            "hive_4_objects/get_table_objects_by_name_req: by a pattern",
            "hive_4_objects/get_table_objects_by_name_req: by two patterns",
        ),
        same_words,
        HIVE_4,
        sometimes=True,
    ),
    Difference(
        "4.1 loses the connection where it is asked for some fields of a table; metastored answers as 4.0 does",
        tuple(
            f"hive_4_objects/get_table_objects_by_name_req: {label}"
            for label in ("two fields", "two fields, by a pattern", "the owner", "a field inside")
        ),
        lambda hive, metastored: hive == "!connection lost" and metastored.startswith("GetTablesResult("),
        ("4.1",),
    ),
)
