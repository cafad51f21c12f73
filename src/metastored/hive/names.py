"""Names: the ones that Hive accepts, their stored form, and the names of catalogs and partitions.

There are three small languages: identifiers of databases, tables and columns; `@catalog#database`, by which
a Hive 3 client sends two names in one field; and `key=value/key=value`, the name and directory of a
partition. Nothing here looks up whether a name exists.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from metastored.hive.generation import Generation
from metastored.hive.limits import MAX_PARTITION_NAME, shortened

DEFAULT_CATALOG = "hive"
"""The catalog of databases without a named catalog."""
DEFAULT_DATABASE = "default"
DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class CatalogNameError(ValueError):
    """A database name that begins with `@` but carries no catalog name. The text is Hive's."""


class FullNameError(ValueError):
    """A text that is not a full name of a table."""


class PartitionNameError(ValueError):
    """A partition that cannot be named, or a name that lacks a key. The text is Hive's."""


# --- identifiers -------------------------------------------------------------------------------------------

_WORD = re.compile(r"[A-Za-z0-9_]+")
_WORD_OR_SLASH = re.compile(r"[A-Za-z0-9_/]+")
_WORD_OR_SPECIAL = re.compile(r"""[A-Za-z0-9_ "%&'()*+,\-./:;<=>?\[\]|{}$^!~#@`]+""")

# Java's String.trim() removes exactly these, Python's strip() also removes Unicode spaces.
_TRIMMED = "".join(map(chr, range(0x21)))


def normalize(name: str) -> str:
    """A name as Hive stores and looks it up: trimmed and in lower case."""
    return name.strip(_TRIMMED).lower()


def is_valid_catalog_name(name: str) -> bool:
    return _WORD.fullmatch(name) is not None


def is_valid_database_name(name: str, generation: Generation) -> bool:
    pattern = _WORD_OR_SPECIAL if generation >= Generation.HIVE_4_0 else _WORD
    return pattern.fullmatch(name) is not None


def is_valid_table_name(name: str, generation: Generation) -> bool:
    pattern = _WORD_OR_SPECIAL if generation >= Generation.HIVE_4_0 else _WORD_OR_SLASH
    return pattern.fullmatch(name) is not None


def directory_name(table: str) -> str:
    """A table's name as the name of its directory: `a/b` is stored in `a-47-b`."""
    return "".join(c if c.isalnum() or c == "_" else f"-{ord(c)}-" for c in table)


def database_directory(database: str) -> str:
    """A database's name as the name of its directory: `shop.db`.

    Hive 4 takes slashes in the names of databases, and its own directory of such a one can be anywhere.
    """
    return f"{directory_name(database) if '/' in database else database}.db"


def is_valid_function_name(name: str) -> bool:
    return _WORD.fullmatch(name) is not None


def is_valid_column_name(name: str) -> bool:
    """Every text is a column name to the metastore, even the empty one; engines are stricter."""
    return True


# --- catalog and database in one field ---------------------------------------------------------------------

_CATALOG_MARKER = "@"
_DATABASE_SEPARATOR = "#"
_EMPTY_DATABASE = "!"


class CatalogDatabase(NamedTuple):
    """The content of a database field. `catalog` is None when it names none; `database` None means any or all."""

    catalog: str | None
    database: str | None


def decode_catalog_name(text: str | None) -> CatalogDatabase:
    """Read `db`, `@cat#db`, `@cat#` (no database given) or `@cat#!` (the empty name)."""
    if text is None or not text.startswith(_CATALOG_MARKER):
        return CatalogDatabase(None, text)
    catalog, separator, database = text[1:].partition(_DATABASE_SEPARATOR)
    if not separator or not catalog:
        raise CatalogNameError(
            f"{text} is prepended with the catalog marker but does not appear to have a catalog name in it"
        )
    if not database:
        return CatalogDatabase(catalog, None)
    return CatalogDatabase(catalog, "" if database == _EMPTY_DATABASE else database)


def encode_catalog_name(catalog: str | None, database: str | None) -> str | None:
    """The field that `decode_catalog_name` reads back; without a catalog, the database as it is."""
    if catalog is None:
        return database
    if database is None:
        return f"{_CATALOG_MARKER}{catalog}{_DATABASE_SEPARATOR}"
    return f"{_CATALOG_MARKER}{catalog}{_DATABASE_SEPARATOR}{database or _EMPTY_DATABASE}"


def read_database(text: str | None, catalog: str | None = None) -> tuple[str, str | None]:
    """The catalog and the database that a request names, normalised. Raises CatalogNameError.

    The metastore and the gate in front of it read names only by this function and by `normalize`: a name that one of
    them read differently would bypass the gate. An absent catalog is the default one; an empty one is not a catalog's
    name.
    """
    written = decode_catalog_name(text)
    named = written.catalog if written.catalog is not None else catalog
    return (
        normalize(named) if named is not None else DEFAULT_CATALOG,
        None if written.database is None else normalize(written.database),
    )


def read_full_name(text: str) -> tuple[str, str, str]:
    """The catalog, the database and the table of `db.table` or `catalog.db.table`. Raises FullNameError."""
    parts = [normalize(part) for part in text.split(".")]
    if len(parts) == 2:
        return DEFAULT_CATALOG, parts[0], parts[1]
    if len(parts) == 3:
        return parts[0], parts[1], parts[2]
    raise FullNameError(f"{text} is not the full name of a table: write it as db.table")


# --- partition names ---------------------------------------------------------------------------------------

_ESCAPED_CHARACTERS = [chr(code) for code in (*range(0x20), 0x7F)] + list("\"#%'*/:=?\\{[]^")
_NEEDS_ESCAPE = re.compile("[" + re.escape("".join(_ESCAPED_CHARACTERS)) + "]")
_ESCAPES = str.maketrans({character: f"%{ord(character):02X}" for character in _ESCAPED_CHARACTERS})
_ESCAPE_SEQUENCE = re.compile("%([0-9A-Fa-f]{2})")


def escape(value: str) -> str:
    """One key or value as it is written in a partition name and in a directory."""
    if _NEEDS_ESCAPE.search(value) is None:
        return value
    return value.translate(_ESCAPES)


def unescape(text: str) -> str:
    """Reverses `escape`. A `%` that is not followed by two hexadecimal digits stays as it is."""
    if "%" not in text:
        return text
    return _ESCAPE_SEQUENCE.sub(lambda match: chr(int(match[1], 16)), text)


@lru_cache(maxsize=1024)
def _name_template(keys: tuple[str, ...]) -> str:
    return "/".join(escape(key.lower()).replace("%", "%%") + "=%s" for key in keys)


def make_part_name(keys: tuple[str, ...], values: Sequence[str | None]) -> str:
    """The name of the partition with these values, in the order of the table's partition keys.

    An empty or missing value is written as the default partition. Optimised for a million calls: the keys are escaped
    once per table, and one search over all values handles the usual case that nothing needs escaping.
    """
    if len(values) != len(keys) or not keys:
        raise PartitionNameError(
            f"Invalid partition key & values; keys {_hive_list(keys)}, values {_hive_list(values)}"
        )
    filled = tuple([value or DEFAULT_PARTITION for value in values])
    if _NEEDS_ESCAPE.search(" ".join(filled)) is not None:
        filled = tuple(map(escape, filled))
    return _name_template(keys) % filled


def _hive_list(items: Iterable[str | None]) -> str:
    return "[" + "".join(f"{item}, " for item in items) + "]"


def partition_name_to_vals(name: str) -> list[str]:
    """The values in a partition name, unescaped, in the order written; segments that are not `k=v` are skipped."""
    values = [value for _, value in _segments(name)]
    return [unescape(value) for value in values] if "%" in name else values


def partition_names_to_vals(names: Sequence[str], keys: Sequence[str]) -> list[Sequence[str]]:
    """`partition_name_to_vals` of each. Names of these keys without escapes, which most are, are read in one step."""
    text = "\n".join(names)
    if keys and text.count("\n") == len(names) - 1:
        values = _plain_names(tuple(keys)).findall(text)
        if len(values) == len(names):
            return values if len(keys) > 1 else [(value,) for value in values]
    return [partition_name_to_vals(each) for each in names]


@lru_cache(maxsize=64)
def _plain_names(keys: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("^" + "/".join(re.escape(escape(key)) + r"=([^/=%\n]++)" for key in keys) + "$", re.MULTILINE)


def partition_name_to_spec(name: str) -> dict[str, str]:
    """The keys and values in a partition name, unescaped, in the order written."""
    return {unescape(key): unescape(value) for key, value in _segments(name)}


def _segments(name: str) -> Iterator[tuple[str, str]]:
    """The keys and values of a name as they are written.

    Raises PartitionNameError when the name is too long.
    """
    if len(name) > MAX_PARTITION_NAME:
        raise PartitionNameError(
            f"a partition name of {len(name)} characters ({shortened(name)}); at most {MAX_PARTITION_NAME} are accepted"
        )
    for segment in name.split("/"):
        # With several `=` in one segment, Hive splits at the last one that has a character before and after it.
        at = segment.rfind("=", 1, len(segment) - 1)
        if at > 0:
            yield segment[:at], segment[at + 1 :]


def partition_values(name: str, keys: Iterable[str]) -> list[str]:
    """The values of a partition name in the order of `keys`, however the name orders them.

    Keys are compared exactly, as Hive does: `DS=a` has no value for `ds`.
    """
    spec = partition_name_to_spec(name)
    for key in keys:
        if key not in spec:
            raise PartitionNameError(f"incomplete partition name - missing {key}")
    return [spec[key] for key in keys]
