"""The programs in docs/guide/client.md and filters.md run unchanged on a real server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from metastored.hive.filters.parser import parse_filter
from metastored.hive.filters.tree import FilterSyntaxError
from metastored.hive.generation import Generation
from metastored.model.where import FilterFault, parse
from metastored.model.where.functions import FUNCTIONS
from metastored.testing import running_server

pytestmark = pytest.mark.slow

GUIDES = Path(__file__).parents[2] / "docs/guide"


def printed(
    page: str, blocks: int, capsys: pytest.CaptureFixture[str], addresses: dict[str, str] | None = None
) -> list[str]:
    """What the programs of a page print, one after the other at an empty server."""
    found = re.findall(r"```python\n(.*?)```", (GUIDES / page).read_text("utf-8"), re.DOTALL)
    assert len(found) == blocks
    with running_server() as server:
        names: dict[str, Any] = {}
        for block in found:
            for address, real in {"thrift://localhost:9083": server.uri, **(addresses or {})}.items():
                block = block.replace(address, real)
            exec(block, names)
    return capsys.readouterr().out.replace(server.uri, "URI").splitlines()


def test_the_programs_of_the_guide_run(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    assert printed("client.md", 4, capsys) == [
        "<Client of URI> ('default', 'shop') ('orders',)",
        "('2024-01-08',)",
        "('2024-01-09',)",
        "('2024-01-10',)",
        "all orders",
        "('2024-01-01', '2')",
        "['user', 'page', 'agent', 'ds', 'h']",
        "{'name': 'agent', 'type': 'string', 'comment': 'the browser'}",
        "True",
    ]


def test_the_guide_of_remotes_does_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    with running_server() as old:
        assert printed("remotes.md", 2, capsys, {"thrift://127.0.0.1:9084": old.uri}) == [
            *("('orders',)", "('ds=2024-09-02',)", "id bigint", "ds string"),
            f"database sales raw_sales {old.uri}",
            *("CREATE REMOTE DATABASE sales", "CONNECTED TO raw_sales", "VIA 'thrift'", "WITH DBPROPERTIES ("),
            *(f"  'hive.metastore.uris' = '{old.uri}',", "  'metastored.remote.access' = 'read'", ");"),
        ]


def test_the_page_on_filters_does_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"ds=2024-01-{day:02}/h={day % 3}" for day in range(1, 7)]
    lines = printed("filters.md", 1, capsys)
    assert lines[:2] == [repr((names[4], names[5])), repr((names[0],))]
    assert lines[2].endswith(
        "not_h is not a partitioning key of the table; the partition keys are ds (string), h (int)"
    )
    assert lines[3:] == [repr((names[4],)), repr((names[1], names[2]))]


def test_the_page_names_every_function_and_the_clients_error() -> None:
    page = (GUIDES / "filters.md").read_text("utf-8")
    listed = re.search(r"The functions are (.*?); and cast, coalesce and nvl", page, re.DOTALL)
    assert listed is not None
    synonyms = {"substring", "ucase", "lcase", "dayofmonth", "ceiling", "pmod"}
    operators = {name for name in FUNCTIONS if not name.isidentifier()}
    assert set(listed[1].replace("\n", " ").split(", ")) == set(FUNCTIONS) - synonyms - operators
    (arithmetic,) = (line for line in page.splitlines() if line.startswith("| arithmetic |"))
    assert all(f" {operator} " in arithmetic for operator in operators)
    with pytest.raises(FilterFault) as fault:
        parse("ds = = 1")
    assert str(fault.value) in page.replace("\n> ", " ")


@pytest.mark.parametrize(
    ("where", "generation"),
    [
        ("h <> 3 and '2024-01-01' <= ds", Generation.HIVE_2_3),
        ("h not between 1 and 3", Generation.HIVE_2_3),
        ("(struct(ds, h)) in (const struct('2024-01-01', 1), const struct('2024-01-02', 2))", Generation.HIVE_2_3),
        ("(h) in (1, 2)", Generation.HIVE_2_3),
        ("ds == '1' or `my key` = '1' or h not in (1, 2)", Generation.HIVE_4_0),
        ("ds = DATE '2024-01-01' or ds = TIMESTAMP '2024-01-01 00:00:00'", Generation.HIVE_4_0),
        ("(ds = '1') is not true", Generation.HIVE_4_2),
    ],
)
def test_each_form_of_a_filter_is_read_since_the_version_that_the_page_says(where: str, generation: Generation) -> None:
    for known in Generation:
        if known >= generation:
            parse_filter(where, known)
        else:
            older = parse_or_none(where, known)
            assert older is None or older != parse_filter(where, generation)


def parse_or_none(where: str, generation: Generation) -> object:
    try:
        return parse_filter(where, generation)
    except FilterSyntaxError:
        return None
