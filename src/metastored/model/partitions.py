"""The values of a partition, written as a list, as a dict or as a name such as `ds=2024-01-01/h=1`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from metastored.errors import InvalidInputException
from metastored.hive.names import DEFAULT_PARTITION, make_part_name, unescape
from metastored.wire.generated.common import Table

PartitionValues = str | Mapping[str, Any] | Sequence[str]
"""A partition as callers may write it: `"ds=2024-01-01/h=1"`, `{"ds": "2024-01-01", "h": 1}`, `("2024-01-01", "1")`."""


def keys_of(table: Table) -> tuple[str, ...]:
    """The names of a table's partition keys, in their order."""
    return tuple(key.name or "" for key in table.partitionKeys or ())


def values_of(table: str, keys: Sequence[str], written: PartitionValues) -> tuple[str, ...]:
    """The values in the order of the keys. `table` is for the message.

    Raises InvalidInputException where a key has no value, a value has no key, or a value has no text. Keys are
    compared in any case, as Hive compares columns. Numbers and dates become their text, None the default partition.
    """
    if isinstance(written, str):
        named: Mapping[str, Any] = _spec(written, table, keys)
    elif isinstance(written, Mapping):
        named = written
    elif isinstance(written, Sequence):
        if len(written) != len(keys):
            raise InvalidInputException(
                f"{table} is partitioned by ({', '.join(keys)}), and {len(written)} values were given: {_forms(keys)}"
            )
        return tuple(_text(value, key) for key, value in zip(keys, written, strict=True))
    else:
        raise InvalidInputException(f"{written!r} are not the values of a partition of {table}: {_forms(keys)}")
    lower = {str(name).lower(): value for name, value in named.items()}
    if set(lower) != {key.lower() for key in keys}:
        raise InvalidInputException(
            f"{table} is partitioned by ({', '.join(keys)}), and values of ({', '.join(map(str, named))}) were given"
        )
    return tuple(_text(lower[key.lower()], key) for key in keys)


def _spec(name: str, table: str, keys: Sequence[str]) -> dict[str, str]:
    """The keys and values of a name. Raises InvalidInputException for a part that is not `key=value`.

    A value with `=` in it is written with `%3D`, as Hive writes it: what `a=b=c` means would be a guess.
    """
    spec: dict[str, str] = {}
    for part in name.split("/"):
        key, sign, value = part.partition("=")
        wrong = None
        if not sign or not key:
            wrong = f"{part!r} is not key=value"
        elif not value:
            wrong = f"{part!r} has no value; that of the default partition is {DEFAULT_PARTITION}"
        elif "=" in value:
            wrong = f"{part!r} has more than one =; write %3D for a = in a value"
        elif unescape(key).lower() in spec:
            wrong = f"the key {key} occurs twice"
        if wrong is not None:
            raise InvalidInputException(f"{name!r} does not name a partition of {table}: {wrong}; {_forms(keys)}")
        spec[unescape(key).lower()] = unescape(value)
    return spec


def listed(table: str, written: Sequence[str]) -> tuple[str, ...]:
    """The values of a plain list, where the keys need not be known."""
    if not isinstance(written, Sequence):
        raise InvalidInputException(f"{written!r} are not the values of a partition of {table}: write a list of texts")
    return tuple(_text(value, str(at + 1)) for at, value in enumerate(written))


def name_of(table: Table, values: Sequence[str]) -> str:
    """The name of a partition, `ds=2024-01-01/h=1`."""
    return make_part_name(keys_of(table), values)


def _text(value: Any, key: str) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return DEFAULT_PARTITION
    if isinstance(value, (int, date)) and not isinstance(value, bool):
        return str(value)
    raise InvalidInputException(f"{value!r} is not a value of the partition key {key}: write it as text")


def _forms(keys: Sequence[str]) -> str:
    name = "/".join(f"{key}=…" for key in keys)
    pairs = ", ".join(f'"{key}": "…"' for key in keys)
    return f'write "{name}", {{{pairs}}} or a list of {len(keys)} texts'
