"""Hive's own settings, as clients may read them: names, defaults, and which of them a session may change.

The defaults of each generation are in `hive_defaults.tsv`, which `tools/hive_defaults.py` generates from Hive's
classes. The file is read on the first call. Nothing here changes how metastored works.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from metastored.errors import MetaException
from metastored.hive.generation import Generation
from metastored.service.core.compat import Rules
from metastored.service.transactions.state import REPLICATION_TIMEOUT, TIMEOUT

_PREFIX: Final = "hive."
"""Each setting of the metastore also exists with this prefix, and in Hive 2.3 only with it."""

SOCKET_TIMEOUT: Final = "metastore.client.socket.timeout"
_OF_SESSIONS: Final = frozenset(
    {
        *("metastore.try.direct.sql", "metastore.try.direct.sql.ddl", SOCKET_TIMEOUT),
        *("metastore.partition.name.whitelist.pattern", "metastore.client.capability.check"),
    }
)
_OF_SESSIONS_SINCE_3_1: Final = frozenset({"metastore.disallow.incompatible.col.type.changes"})
_OF_SESSIONS_SINCE_4_0: Final = frozenset({"metastore.expression.proxy", "metastore.partition.order.expr"})
"""The keys that a client may set for its own session.

Neither has an effect here: expressions are read in each of the forms that Hive's proxies read, and partitions are
returned in the order of their names.
"""

OWN: Final = {
    **dict.fromkeys(("metastore.txn.timeout", "hive.txn.timeout"), TIMEOUT),
    **dict.fromkeys(("metastore.repl.txn.timeout", "hive.repl.txn.timeout"), REPLICATION_TIMEOUT),
}
"""Times in milliseconds that metastored fixes, whatever Hive's default is."""

_DAY: Final = 86_400_000
_TIME = re.compile(r"([0-9]+)([a-zA-Z]+)")
_UNITS: Final = {"s": "sec", "ms": "msec", "m": "min", "us": "usec", "ns": "nsec", "h": "hour", "d": "day"}
"""Short names of units, and the prefixes of the long names."""


@cache
def _defaults() -> dict[Generation, dict[str, str]]:
    defaults: dict[Generation, dict[str, str]] = {generation: {} for generation in Generation}
    text = files("metastored.service").joinpath("hive_defaults.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line.startswith("#"):
            generations, key, value = line.split("\t")
            for generation in generations.split(","):
                defaults[Generation.of(generation)][key] = re.sub(r"\\([\\nt])", _unescaped, value)
    return defaults


def _unescaped(match: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t"}.get(match[1], match[1])


def default(key: str, generations: Sequence[Generation]) -> str | None:
    """Hive's default for a key, of the first of these generations that has the key; None if none of them has it."""
    known = next((value for each in generations if (value := _defaults()[each].get(key)) is not None), None)
    if known is not None and key in OWN:
        time = OWN[key]
        return f"{time // _DAY}d" if time % _DAY == 0 else f"{time // 1000}s"
    return known


def session_key(key: str | None, rules: Rules) -> str:
    """The name, without `hive.`, of a setting that a session may change."""
    name = (key or "").removeprefix(_PREFIX)
    known = _OF_SESSIONS
    if rules.configures_columns:
        known |= _OF_SESSIONS_SINCE_3_1
    elif name == key:
        known = frozenset()
    if rules.accepts_proxy_keys:
        known |= _OF_SESSIONS_SINCE_4_0
    if name not in known:
        raise MetaException(f"Invalid configuration key {'null' if key is None else key}")
    return name


def default_of_session(name: str, generations: Sequence[Generation]) -> str:
    """The default of a key that `session_key` returned."""
    return default(f"{_PREFIX}{name}", generations) or ""


def check_value(key: str | None, name: str, value: str) -> None:
    """Raises an error for a value that a session cannot set."""
    if name != SOCKET_TIMEOUT:
        return
    problem = _problem_of_time(value)
    if problem is not None:
        raise MetaException(f"Invalid configuration value {value} for key {key} by {problem}")


def _problem_of_time(value: str) -> str | None:
    """Hive's message for a text that is not a time such as `600s`; None if it is one."""
    if value[-1:] < "A":
        return None if re.fullmatch(r"[+-]?[0-9]+", value) else f'For input string: "{value}"'
    parsed = _TIME.fullmatch(value)
    if parsed is None:
        return f"Invalid time unit {value}"
    unit = parsed[2].lower()
    known = any(unit == short or unit.startswith(long) for short, long in _UNITS.items())
    return None if known else f"Invalid time unit {unit}"
