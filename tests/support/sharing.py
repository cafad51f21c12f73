"""How a run with several processes (`pytest -n 2`) is divided: a file is never torn apart, and what shares servers
that are slow to start stays in one process.

The scopes that are listed here take the longest, and are started first, so that the short ones fill the rest of the
time evenly. The two scopes of Spark share nothing, so each process gets one of them.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any, Final

from xdist.scheduler import LoadScopeScheduling

TOGETHER: Final = {
    # One session of Spark, in the process of the tests.
    "Spark session": (
        "tests/spark/acid/test_analyze.py",
        "tests/spark/acid/test_cluster.py",
        "tests/spark/acid/test_compaction.py",
        "tests/spark/acid/test_files.py",
        "tests/spark/acid/test_histories.py",
        "tests/spark/acid/test_hive_reads.py",
        "tests/spark/acid/test_hive_writes.py",
        "tests/spark/acid/test_kills.py",
        "tests/spark/acid/test_lengths.py",
        "tests/spark/acid/test_reading.py",
        "tests/spark/acid/test_remote_tables.py",
        "tests/spark/acid/test_repair.py",
        "tests/spark/acid/test_row_keys.py",
        "tests/spark/acid/test_statements.py",
        "tests/spark/acid/test_streams.py",
        "tests/spark/acid/test_write_statistics.py",
        "tests/spark/acid/test_writing.py",
    ),
    # Spark as a program: a new JVM for each file or test.
    "Spark programs": (
        "tests/clients/test_first_session.py",
        "tests/clients/test_iceberg_java.py",
        "tests/clients/test_spark.py",
        "tests/clients/test_spark_slice.py",
        "tests/connectors/test_iceberg_spark.py",
        "tests/documentation/test_start.py",
        "tests/lance/test_described_by_spark.py",
        "tests/pipeline/test_run.py",
        "tests/server/auth/test_spark.py",
        "tests/server/test_tls_spark.py",
        "tests/spark/compaction/test_worker_command.py",
        "tests/spark/statistics/test_analyze.py",
        "tests/spark/statistics/test_interrupted.py",
        "tests/spark/test_acid_connect.py",
        "tests/spark/test_acid_guides.py",
        "tests/spark/test_copy.py",
        "tests/spark/test_copy_bytes.py",
        "tests/spark/test_copy_formats.py",
        "tests/spark/test_copy_killed.py",
        "tests/spark/test_copy_sources.py",
        "tests/spark/test_lance.py",
        "tests/spark/test_remotes.py",
        "tests/spark/test_repair.py",
        "tests/spark/test_statements.py",
        "tests/spark/test_with_spark.py",
        "tests/spark/test_with_spark_3_5.py",
        "tests/spark/test_with_spark_in_turn.py",
        "tests/tools/test_demo.py",
    ),
    "Hive servers for everybody": (
        "tests/catalog/test_behaviour.py",
        "tests/cli/test_apache.py",
        "tests/client/test_acid.py",
        "tests/client/test_behaviour.py",
        "tests/client/test_transports.py",
        "tests/lance/test_apache.py",
        "tests/lance/test_concurrent_writers.py",
        "tests/lance/test_contract.py",
        "tests/remotes/test_apache_remote.py",
        "tests/spark/test_backward_compatibility.py",
        "tests/spark/test_data_sources.py",
        "tests/spark/test_databases.py",
        "tests/spark/test_functions.py",
        "tests/spark/test_partition_filters.py",
        "tests/spark/test_partitions.py",
        "tests/spark/test_partitions_of_hives.py",
        "tests/spark/test_tables.py",
        "tests/spark/test_wide_tables.py",
        "tests/specs/test_client_section_10_criteria.py",
        "tests/specs/test_client_section_1_summary.py",
        "tests/specs/test_client_section_2_architecture.py",
        "tests/specs/test_client_section_3_compatibility.py",
        "tests/specs/test_client_section_4_transactions.py",
        "tests/specs/test_client_section_5_testability.py",
        "tests/specs/test_client_section_6_catalog.py",
        "tests/specs/test_client_section_7_errors.py",
        "tests/specs/test_client_section_7_pool_and_cache.py",
        "tests/specs/test_client_section_7_retries.py",
        "tests/specs/test_client_section_8_gotchas.py",
        "tests/specs/test_client_section_b_questions.py",
        "tests/remotes/test_waggle_dance_versions.py",
        "tests/support/test_apache.py",
        "tests/transfer/test_apache.py",
    ),
    "Hive servers for comparisons": (
        "tests/differential/test_probes.py",
        "tests/differential/test_sequences.py",
    ),
}
"""The longest scope first."""
_SCOPES: Final = {file: scope for scope, files in TOGETHER.items() for file in files}


def scope_of(nodeid: str) -> str:
    """The tests that run in one process."""
    file = PurePosixPath(nodeid.partition("::")[0]).as_posix()
    return _SCOPES.get(file, file)


class Sharing(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each process the next scope when it has done one: those of `TOGETHER`, then the one with most tests."""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        longest = next((scope for scope in TOGETHER if scope in self.workqueue), None)
        if longest is not None:
            self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)
