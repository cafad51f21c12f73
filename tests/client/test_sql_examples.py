"""The example of each statement on the page of statements is executed, in the order of the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import metastored
from metastored.client._sync.statements import Statements
from metastored.errors import StatementError
from metastored.statements.examples import EXAMPLES
from metastored.statements.explanations import SECTIONS
from metastored.statements.parsing import parse_script
from tests.cli.running import run
from tests.support.in_process import serving_metastore

RULES = [rule for statements in SECTIONS.values() for rule, _ in statements]


def test_each_statement_of_the_page_has_an_example() -> None:
    assert sorted(EXAMPLES) == sorted(RULES)


def test_the_examples_run_in_the_order_of_the_page(tmp_path: Path) -> None:
    with serving_metastore(tmp_path) as uri, metastored.connect(uri, user="root", timeout=20) as client:
        statements = Statements(client)
        for rule in RULES:
            if rule == "msck":
                with pytest.raises(StatementError, match=r"metastored\.spark\.repair"):
                    parse_script(EXAMPLES[rule])
                continue
            statements.run(EXAMPLES[rule].replace("thrift://old:9083", "thrift://127.0.0.1:1"))
        assert client.tables("shop") == ("balances", "cheap", "ledger", "old_orders", "orders", "visits")
        assert client.partition_names("shop.orders") == ("ds=2024-01-01",)


@pytest.mark.parametrize("output", ["text", "json", "csv"])
def test_the_results_of_the_examples_are_printed_in_each_form(tmp_path: Path, output: str) -> None:
    texts = [EXAMPLES[rule].replace("thrift://old:9083", "thrift://127.0.0.1:1") for rule in RULES if rule != "msck"]
    file = tmp_path / "examples.sql"
    file.write_text("\n".join(texts))
    with serving_metastore(tmp_path) as uri:
        done = run("sql", "-f", str(file), "--uri", uri, "--user", "root", "--output", output)
    assert (done.code, done.err) == (0, "")
    if output == "text":
        assert "ok: GRANT SELECT, INSERT" in done.out and "ok: COMMENT ON COLUMN shop.orders.id" in done.out
    if output == "json":
        assert all("columns" in json.loads(line) for line in done.out.splitlines())
