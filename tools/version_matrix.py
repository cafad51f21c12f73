"""Writes docs/reference/versions.md: what each version of Hive can do, found by asking a server of each.

It starts them one after the other, those that `make setup` and `make peers` brought, and so takes some minutes. Run it
after a change of the features or of how versions are told: `python tools/version_matrix.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

import metastored  # noqa: E402
from metastored.client.versions import FEATURES  # noqa: E402
from metastored.testing import RunningServer, running_server  # noqa: E402
from metastored.wire.generated.databases import GetDatabaseObjectsRequest  # noqa: E402
from metastored.wire.generated.partitions import PartitionsRequest  # noqa: E402
from metastored.wire.generated.tables import GetTableRequest  # noqa: E402
from tests.support.apache import ApacheMetastore, apache_2_3, apache_3_1, apache_peer  # noqa: E402
from tests.support.hive_2_0 import hive_2_0  # noqa: E402

OUT = ROOT / "docs/reference/versions.md"
SERVERS: dict[str, Callable[[], AbstractContextManager[ApacheMetastore | RunningServer | str]]] = {
    "metastored": running_server,
    "Hive 2.0 to 2.2": hive_2_0,
    "Hive 2.3.10": apache_2_3,
    "Hive 3.0.0": partial(apache_peer, "3.0.0"),
    "Hive 3.1.3": apache_3_1,
    "Hive 4.0.0": partial(apache_peer, "4.0.0"),
    "Hive 4.0.1": partial(apache_peer, "4.0.1"),
    "Hive 4.1.0": partial(apache_peer, "4.1.0"),
}
CALLS: dict[str, tuple[Any, ...]] = {
    "get_table": ("default", "none"),
    "get_table_req": (GetTableRequest("default", "none"),),
    "get_table_objects_by_name": ("default", ()),
    "get_partitions_req": (PartitionsRequest(dbName="default", tblName="none"),),
    "get_databases_req": (GetDatabaseObjectsRequest(),),
}
"""Calls that came or went with a version, each with arguments that do no harm."""
HEAD = """# What each version can do

Found by `tools/version_matrix.py`, which asked a real server of each version through metastored's client; only the one
of 2.0 to 2.2, which cannot be had any more, is scripted. "Told as" is what `client.capabilities.version()` says: before
4.0 no answer of a server tells its last number.

"""


def asked(uri: str) -> dict[str, str]:
    """Each line of the table for one server."""
    with metastored.connect(uri, cache=False) as client:
        found = {"told as": str(client.capabilities.version())}
        for name in FEATURES:
            found[name.replace("_", " ")] = "yes" if client.capabilities.supports(name) else "no"
        for name, args in CALLS.items():
            found[f"`{name}`"] = "yes" if client.capabilities.knows(name, *args) else "no"
        return found


def main() -> None:
    columns: dict[str, dict[str, str]] = {}
    for name, start in SERVERS.items():
        with start() as server:
            columns[name] = asked(server if isinstance(server, str) else server.uri)
        print(name, columns[name]["told as"], flush=True)
    lines = [f"| | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    lines += [f"| {line} | {' | '.join(found[line] for found in columns.values())} |" for line in columns["metastored"]]
    OUT.write_text(HEAD + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
