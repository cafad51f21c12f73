"""How a run with several processes (`pytest -n 2`) is divided: a file is never torn apart, and what shares servers
that are slow to start stays in one process.

So each real Hive is started once, as in a run with one process, and there are never two Sparks at a time.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from xdist.scheduler import LoadScopeScheduling

TOGETHER: Final = {
    "Spark": (
        "tests/clients/test_first_session.py",
        "tests/clients/test_iceberg_java.py",
        "tests/clients/test_spark.py",
        "tests/clients/test_spark_slice.py",
        "tests/server/auth/test_spark.py",
        "tests/server/test_tls_spark.py",
    ),
    "Hive servers for everybody": (
        "tests/catalog/test_behaviour.py",
        "tests/client/test_acid.py",
        "tests/client/test_behaviour.py",
        "tests/client/test_transports.py",
        "tests/remotes/test_apache_remote.py",
        "tests/support/test_apache.py",
        "tests/transfer/test_apache.py",
    ),
    "Hive servers for comparisons": (
        "tests/differential/test_probes.py",
        "tests/differential/test_sequences.py",
    ),
}
_SCOPES: Final = {file: scope for scope, files in TOGETHER.items() for file in files}


def scope_of(nodeid: str) -> str:
    """What is run in one process."""
    file = PurePosixPath(nodeid.partition("::")[0]).as_posix()
    return _SCOPES.get(file, file)


class Sharing(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each process the next scope when it has done one."""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)
