"""The text of a view over the files of a snapshot, in SQL that Spark 3.5 and 4 understand. Pure.

Each query on files with ids needs all of Hive's six columns (`model/spark/acid_files.py`). The values of the partition
keys come from the paths of the files: Spark evaluates a condition on them before it opens a file. Rows that were
deleted are left out by an anti-join on their ids, which are unique within a partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from metastored.acid_views.files import Files, NotShown, TablePlace
from metastored.acid_views.names import Content, FileTable, Snapshot
from metastored.hive.locations import join, parse_location, same_location
from metastored.hive.names import DEFAULT_PARTITION, make_part_name
from metastored.hive.quoting import backquoted
from metastored.model.spark.acid_files import NAMES_ALL, is_visible
from metastored.model.spark.type_strings import parse_data_type, sql
from metastored.model.spark.types import CHAR_VARCHAR, CharType, StringType, StructField, StructType

MAX_ODD: Final = 500
"""Partitions at other places than those that Hive gives them: each is a branch of the text."""

_PATH: Final = "_metadata.file_path"
_IDS: Final = ("originalTransaction", "bucket", "rowId")
_OWN: Final = "__metastored_"
"""The begin of the names of columns that a view needs itself."""


def _mixed(side: str) -> str:
    """A number that few rows share."""
    write_id, bucket, row = (f"{side}.`{_OWN}{each}`" for each in _IDS)
    return f"(shiftleft({write_id}, 40) ^ shiftleft(CAST({bucket} AS BIGINT), 8) ^ {row})"


_SAME_IDS: Final = f"{_mixed('r')} = {_mixed('d')} AND " + " AND ".join(
    f"r.`{_OWN}{each}` - d.`{_OWN}{each}` = 0" for each in _IDS
)
"""Whether two ids are the same. Spark joins by the only equality, of one number, a tenth faster than by three. It would
join by the ids themselves if they were compared by an equality each."""


class Shape(NamedTuple):
    """The parts of a table that its view depends on."""

    database: str
    table: str
    location: str
    columns: StructType
    """Without the partition keys."""
    keys: StructType
    insert_only: bool


def view_text(shape: Shape, places: Sequence[TablePlace], files: Files, snapshot: Snapshot) -> str:
    """The query of the view. Raises NotShown."""
    _check(shape)
    selects = []
    if files.rows:
        rows = _insert_only_rows if shape.insert_only else _rows
        selects.append(rows(shape, _odd(shape, places), files, snapshot))
    if files.plain:
        selects.append(_plain_rows(shape, _odd(shape, places), snapshot))
    return " UNION ALL ".join(selects) or _no_rows(shape)


def failing_text(shape: Shape, reason: str) -> str:
    """A query that fails with a sentence, whatever is selected from it."""
    sentence = (
        f"{shape.database}.{shape.table} is an ACID table that cannot be shown as a view: {reason}. "
        "Read it with metastored.spark.sql"
    )
    columns = ", ".join(f"CAST(NULL AS {sql(each.data_type)}) AS {backquoted(each.name)}" for each in _all(shape))
    return f"SELECT {columns} FROM VALUES (1) AS t(x) WHERE raise_error({_text(sentence)}) IS NOT NULL"


def _check(shape: Shape) -> None:
    for each in _all(shape):
        if each.name.lower().startswith(_OWN):
            raise NotShown(f"the names of its columns may not begin with {_OWN}: {each.name!r}")
        if "`" in each.name and not shape.insert_only:
            raise NotShown(f"Spark cannot read the column {each.name!r} from ORC, because of its backtick")
        declared = each.metadata.get(CHAR_VARCHAR)
        if declared is not None and "char(" in str(declared).replace("varchar(", "") and not _char_length(each):
            raise NotShown(f"the column {each.name!r} has char within another type")


def _all(shape: Shape) -> tuple[StructField, ...]:
    return (*shape.columns.fields, *shape.keys.fields)


def _no_rows(shape: Shape) -> str:
    columns = ", ".join(f"CAST(NULL AS {sql(each.data_type)}) AS {backquoted(each.name)}" for each in _all(shape))
    return f"SELECT {columns} FROM VALUES (1) AS t(x) WHERE false"


# Rows


def _rows(shape: Shape, odd: Sequence[TablePlace], files: Files, snapshot: Snapshot) -> str:
    guard = f"{NAMES_ALL} AND {is_visible(snapshot.write_ids)}" if files.partly_visible else NAMES_ALL
    columns = [f"{_shown(_field(shape, each), each)} AS {backquoted(each.name)}" for each in shape.columns.fields]
    source = _source(shape, Content.ROWS, snapshot)
    keys = [_key_text(shape, at, odd, below=2) for at in range(len(shape.keys.fields))]
    if not files.deletes:
        return f"SELECT {', '.join([*columns, *_key_columns(shape, keys)])} FROM {source} WHERE {guard}"
    # Both sides have the keys as texts that are never null: so Spark applies a condition on a key to both of them.
    own = [f"`{each}` AS `{_OWN}{each}`" for each in _IDS]
    own += [f"{text} AS `{_OWN}key{at}`" for at, text in enumerate(keys)]
    texts = [f"r.`{_OWN}key{at}`" for at in range(len(keys))]
    names = [*(backquoted(each.name) for each in shape.columns.fields), *_key_columns(shape, texts)]
    compared = (*_IDS, *(f"key{at}" for at in range(len(keys))))
    same = " AND ".join(f"r.`{_OWN}{each}` = d.`{_OWN}{each}`" for each in compared) if keys else _SAME_IDS
    deletes = f"SELECT {', '.join(own)} FROM {_source(shape, Content.DELETES, snapshot)} WHERE {guard}"
    rows = f"SELECT {', '.join([*columns, *own])} FROM {source} WHERE {guard}"
    return f"SELECT {', '.join(names)} FROM ({rows}) r LEFT ANTI JOIN ({deletes}) d ON {same}"


def _insert_only_rows(shape: Shape, odd: Sequence[TablePlace], files: Files, snapshot: Snapshot) -> str:
    return _ordinary(shape, odd, Content.ROWS, snapshot, below=2)


def _plain_rows(shape: Shape, odd: Sequence[TablePlace], snapshot: Snapshot) -> str:
    return _ordinary(shape, odd, Content.PLAIN, snapshot, below=1)


def _ordinary(shape: Shape, odd: Sequence[TablePlace], content: Content, snapshot: Snapshot, below: int) -> str:
    columns = [f"{_shown(backquoted(each.name), each)} AS {backquoted(each.name)}" for each in shape.columns.fields]
    keys = [_key_text(shape, at, odd, below) for at in range(len(shape.keys.fields))]
    return f"SELECT {', '.join([*columns, *_key_columns(shape, keys)])} FROM {_source(shape, content, snapshot)}"


def _source(shape: Shape, content: Content, snapshot: Snapshot) -> str:
    return f"{backquoted(shape.database)}.{backquoted(FileTable(shape.table, content, snapshot).name)}"


def _field(shape: Shape, field: StructField) -> str:
    """A column in the files. ORC would look for a condition on it in a struct that is named `row`."""
    path = f"`row`.{backquoted(field.name)}"
    clash = any(each.name.lower() == "row" and isinstance(each.data_type, StructType) for each in shape.columns.fields)
    return f"coalesce({path}, {path})" if clash else path


def _char_length(field: StructField) -> int | None:
    """The length of a char; None for all other columns."""
    declared = field.metadata.get(CHAR_VARCHAR)
    type = parse_data_type(declared) if isinstance(declared, str) else None
    return type.length if isinstance(type, CharType) else None


def _shown(value: str, field: StructField) -> str:
    """ORC leaves out the spaces at the end of a char."""
    length = _char_length(field)
    return value if length is None else f"rpad({value}, {length}, ' ')"


# Partition keys


def _odd(shape: Shape, places: Sequence[TablePlace]) -> list[TablePlace]:
    """The partitions whose values are not in their paths as Hive writes them. Raises NotShown if there are many."""
    names = tuple(each.name for each in shape.keys.fields)
    if not names:
        return []
    usual = parse_location(shape.location)
    odd = []
    for place in places:
        expected = join(str(usual), make_part_name(names, place.values))
        if place.location != expected and not same_location(place.location, expected):
            odd.append(place)
    if len(odd) > MAX_ODD:
        raise NotShown(f"{len(odd):,} of its partitions are not below {shape.location}")
    if len({parse_location(each.location).path for each in odd}) != len(odd):
        raise NotShown("two of its partitions have the same path")
    return odd


def _key_text(shape: Shape, at: int, odd: Sequence[TablePlace], below: int) -> str:
    """The value of a key as Hive writes it in names of partitions, unescaped. `below` is the depth of files."""
    following = len(shape.keys.fields) - 1 - at + below
    # The path is written as a URI, and Hive has escaped the value before.
    text = _decoded(_decoded(f"regexp_extract({_PATH}, '/[^/=]*=([^/]*)(?:/[^/]*){{{following}}}$', 1)"))
    if not odd:
        return text
    place = _decoded(f"regexp_extract({_PATH}, '^(.*)(?:/[^/]*){{{below}}}$', 1)")
    path = f"regexp_replace({place}, '^[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?', '')"
    cases = (
        f"WHEN {_text(parse_location(each.location).path)} THEN {_text(each.values[at] or DEFAULT_PARTITION)}"
        for each in odd
    )
    return f"CASE {path} {' '.join(cases)} ELSE {text} END"


def _key_columns(shape: Shape, texts: Sequence[str]) -> list[str]:
    columns = []
    for field, text in zip(shape.keys.fields, texts, strict=True):
        value = f"nullif({text}, {_text(DEFAULT_PARTITION)})"
        typed = value if isinstance(field.data_type, StringType) else f"CAST({value} AS {sql(field.data_type)})"
        columns.append(f"{typed} AS {backquoted(field.name)}")
    return columns


def _decoded(value: str) -> str:
    """Spark's function takes a plus sign for a space."""
    return f"url_decode(replace({value}, '+', '%2B'))"


# Words


def _text(value: str) -> str:
    """A literal. A dollar sign would begin a variable of Spark's."""
    return "'" + "".join(each if _is_plain(each) else _escaped(each) for each in value) + "'"


def _is_plain(sign: str) -> bool:
    return sign not in "'\\$" and sign.isprintable()


def _escaped(sign: str) -> str:
    code = ord(sign)
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
