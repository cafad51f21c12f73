"""Writers of DataFrames that refuse ACID tables: Spark would write plain files into their directories.

`df.write.insertInto`, `saveAsTable`, `df.writeTo`, `df.mergeInto` and `df.writeStream.toTable` look up the table first,
if the session of the DataFrame is guarded. DataFrames are made in many places, so the methods of PySpark's own classes
are changed, once in a process; for all other sessions they do what they did before. Files that are written by their
path (`df.write.save`) are not noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, Final

_METHODS: Final = {
    "pyspark.sql.classic.dataframe": (("DataFrame", "writeTo"), ("DataFrame", "mergeInto")),
    "pyspark.sql.readwriter": (("DataFrameWriter", "insertInto"), ("DataFrameWriter", "saveAsTable")),
    "pyspark.sql.streaming.readwriter": (("DataStreamWriter", "toTable"),),
}
_CONNECT_METHODS: Final = {
    "pyspark.sql.connect.dataframe": (("DataFrame", "writeTo"), ("DataFrame", "mergeInto")),
    "pyspark.sql.connect.readwriter": (("DataFrameWriter", "insertInto"), ("DataFrameWriter", "saveAsTable")),
    "pyspark.sql.connect.streaming.readwriter": (("DataStreamWriter", "toTable"),),
}
"""The methods that write to a table, whose name is their first argument: by module and class."""
_BEFORE_4: Final = {"pyspark.sql.classic.dataframe": "pyspark.sql.dataframe"}
"""The modules that Spark 3 has under other names."""
_GUARDED: Final = "_metastored_guarded"

Check = Callable[[Any, str], None]
"""Raises AcidTableError if a name is that of an ACID table in a guarded session."""


def guard_writers(spark: Any, check: Check) -> None:
    """Changes the classes of the DataFrames of this kind of session, of Spark or of Spark Connect, if not yet done."""
    import pyspark

    connect = any(".connect." in kind.__module__ for kind in type(spark).__mro__)
    for module, methods in (_CONNECT_METHODS if connect else _METHODS).items():
        imported = import_module(_BEFORE_4.get(module, module) if pyspark.__version__ < "4" else module)
        for kind, method in methods:
            _guard(getattr(imported, kind), method, check)


def _guard(kind: type[Any], method: str, check: Check) -> None:
    plain = getattr(kind, method, None)
    if plain is None or hasattr(plain, _GUARDED):
        return

    @wraps(plain)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        named = [*args[:1], *(kwargs[each] for each in ("tableName", "name", "table") if each in kwargs)]
        for name in named:
            check(_session(self), str(name))
        return plain(self, *args, **kwargs)

    setattr(guarded, _GUARDED, True)
    setattr(kind, method, guarded)


def _session(writer: Any) -> Any:
    """The session of a DataFrame or of a writer."""
    return next(
        (session for name in ("_session", "_spark") if (session := getattr(writer, name, None)) is not None), None
    )
