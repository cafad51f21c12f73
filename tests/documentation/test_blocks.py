"""Every code block of README.md and docs/ is run by a test that is named here, or says why it is not."""

from __future__ import annotations

import re
from itertools import groupby

import pytest

from tests.documentation.blocks import NO_CODE, PAGES, Block, blocks
from tests.support.apache import ROOT

SIGNATURES = "docs/reference/python.md"
"""A generated page: its blocks are signatures."""
FIRST_SESSION = (
    "tests/clients/test_first_session.py::test_the_first_session_of_the_readme_prints_the_row_that_it_asks_for"
)
HERE = "tests/documentation/test_guides.py::"
START = "tests/documentation/test_start.py::"
REMOTES = "tests/remotes/test_guides.py::"
SPARK = "tests/spark/test_acid_guides.py::"
RUN_BY = {
    "README.md": {
        "bash": FIRST_SESSION,
        "python": FIRST_SESSION,
        "sql": f"{HERE}test_the_statement_of_the_readme_makes_a_remote_database",
    },
    "docs/guide/acid-sql.md": {"python": f"{SPARK}test_the_programs_of_the_guides_run"},
    "docs/guide/acid.md": {"python": f"{SPARK}test_the_programs_of_the_guides_run"},
    "docs/guide/authorization.md": {"yaml": f"{HERE}test_the_settings_of_a_page_are_accepted"},
    "docs/guide/backup.md": {"bash": f"{HERE}test_a_backup_is_made_restored_and_migrated"},
    "docs/guide/catalog.md": {
        "python": "tests/catalog/test_guide.py::test_the_program_of_the_guide_runs",
        "yaml": "tests/catalog/test_guide.py::test_the_configuration_of_the_guide_has_the_defaults",
    },
    "docs/guide/client.md": {"python": "tests/client/test_guide.py::test_the_programs_of_the_guide_run"},
    "docs/guide/compaction.md": {"bash": f"{HERE}test_a_compaction_is_requested_and_listed"},
    "docs/guide/connectors.md": {
        "python": "tests/connectors/test_guide.py::test_the_example_of_a_connector_works",
        "sql": f"{REMOTES}test_the_statement_with_a_tunnel_reads_through_two_hops",
        "toml": f"{REMOTES}test_the_connector_of_another_package_is_found_by_its_entry_point",
    },
    "docs/guide/copies.md": {"python": f"{SPARK}test_the_programs_of_the_guides_run"},
    "docs/guide/engines.md": {"python": f"{HERE}test_pyiceberg_opens_the_catalog"},
    "docs/guide/filters.md": {"python": "tests/client/test_guide.py::test_the_page_on_filters_does_what_it_says"},
    "docs/guide/glue.md": dict.fromkeys(
        ("bash", "sql", "python"), f"{HERE}test_the_tables_of_glue_are_shown_registered_and_compared"
    ),
    "docs/guide/lance-rest.md": {
        "bash": f"{HERE}test_lance_tables_are_written_and_read_over_rest",
        "python": f"{HERE}test_lance_tables_are_written_and_read_over_rest",
    },
    "docs/guide/lance.md": {"python": "tests/lance/test_guide.py::test_the_program_of_the_guide_prints_what_it_says"},
    "docs/guide/moving-a-warehouse.md": {"bash": f"{HERE}test_a_warehouse_is_moved"},
    "docs/guide/pipelines.md": {
        "bash": f"{HERE}test_the_steps_of_a_pipeline_are_shown",
        "yaml": "tests/pipeline/test_guide.py::test_the_file_of_the_guide_can_be_run",
    },
    "docs/guide/remotes.md": {
        "bash": f"{REMOTES}test_the_servers_of_the_guide_start",
        "pyspark": "tests/spark/test_statements.py::test_the_blocks_of_the_guide_for_spark_do_what_it_says",
        "python": "tests/client/test_guide.py::test_the_guide_of_remotes_does_what_it_says",
        "spark-sql": "tests/spark/test_statements.py::test_the_blocks_of_the_guide_for_spark_do_what_it_says",
        "sql": f"{REMOTES}test_remotes_are_made_changed_written_and_dropped",
    },
    "docs/guide/repair.md": {"python": "tests/spark/test_repair.py::done"},
    "docs/guide/spark-catalog.md": {"python": "tests/spark/test_guide.py::test_the_guide_does_what_it_says"},
    "docs/guide/statistics.md": {"python": "tests/spark/statistics/test_analyze.py::done"},
    "docs/guide/switching.md": {"bash": f"{HERE}test_a_hive_metastore_is_imported_compared_served_and_exported_to"},
    "docs/guide/users.md": {
        "bash": f"{HERE}test_a_user_is_added_changed_listed_and_removed",
        "yaml": f"{HERE}test_the_settings_of_a_page_are_accepted",
    },
    "docs/guide/waggle-dance.md": {
        "bash": f"{REMOTES}test_a_configuration_of_waggle_dance_is_converted_and_executed",
        "python": f"{REMOTES}test_the_filter_is_found_by_its_entry_point_and_hides_what_is_secret",
        "toml": f"{REMOTES}test_the_filter_is_found_by_its_entry_point_and_hides_what_is_secret",
    },
    "docs/reference/configuration.md": {"yaml": f"{HERE}test_the_settings_of_a_page_are_accepted"},
    "docs/reference/server.md": {
        "bash": f"{HERE}test_a_server_is_called_over_https_by_curl",
        "json": f"{HERE}test_the_ready_file_has_the_keys_of_the_reference",
    },
    "docs/start/acid.md": dict.fromkeys(
        ("bash", "python"), f"{START}test_an_acid_table_is_updated_deleted_from_and_merged_into"
    ),
    "docs/start/first-steps.md": {
        "bash": "tests/clients/test_first_session.py::test_first_steps_has_the_session_of_the_readme",
        "python": f"{HERE}test_a_test_of_the_reader_has_a_server",
    },
    "docs/start/glue.md": dict.fromkeys(
        ("bash", "sql"), f"{START}test_a_database_of_glue_is_a_database_of_the_metastore"
    ),
    "docs/start/lance.md": dict.fromkeys(("bash", "python"), f"{START}test_a_vector_is_found_in_a_lance_table"),
    "docs/start/pytest.md": dict.fromkeys(("bash", "python"), f"{START}test_a_test_of_the_readers_own_has_a_metastore"),
    "docs/start/replace-hive.md": {"bash": f"{START}test_a_metastore_is_copied_compared_and_served"},
    "docs/start/replace-waggle-dance.md": {
        "bash": f"{START}test_the_metastores_of_a_waggle_dance_are_behind_one_server"
    },
}
"""The test that runs the blocks of a page, by language; or the fixture, if several tests look at the result."""

CODE = [block for page in PAGES for block in blocks(page) if block.language not in NO_CODE and block.page != SIGNATURES]


def test_every_block_is_run_by_a_test_or_says_why_it_is_not() -> None:
    lost = [
        f"{block.page}:{block.line}: name its test in RUN_BY, or write <!-- not run: REASON --> above it"
        for block in CODE
        if block.reason is None and block.language not in RUN_BY.get(block.page, {})
    ]
    assert lost == []


def test_every_named_test_runs_a_block_that_exists() -> None:
    run = {(block.page, block.language) for block in CODE if block.reason is None}
    assert {(page, language) for page, tests in RUN_BY.items() for language in tests} == run


@pytest.mark.parametrize("test", sorted({test for tests in RUN_BY.values() for test in tests.values()}))
def test_every_named_test_exists(test: str) -> None:
    file, _, name = test.partition("::")
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text("utf-8"), re.MULTILINE)


def test_reasons_name_tests_that_exist() -> None:
    named = {path for block in CODE for path in re.findall(r"tests/[\w/.]*\w", block.reason or "")}
    assert named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_most_blocks_are_run() -> None:
    by_page = groupby(CODE, lambda block: block.page)
    left_out = {page: [_first_line(block) for block in found if block.reason] for page, found in by_page}
    assert sum(map(len, left_out.values())) < len(CODE) / 3, left_out


def _first_line(block: Block) -> str:
    return block.text.partition("\n")[0]
