"""Which partitions predicates select on a real metastore: Spark's HivePartitionFilteringSuite."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

import metastored
from metastored.errors import MetaException, SparkCatalogError
from metastored.filters.spark.predicates import parse_predicate
from metastored.hive.names import DEFAULT_PARTITION
from metastored.model.spark.partition_specs import members
from metastored.model.spark.types import DATE, INTEGER, STRING, StructType
from metastored.model.spark.values import CatalogTable, CatalogTablePartition, CatalogTableType, TableIdentifier
from metastored.spark import ExternalCatalog
from metastored.spark.connection import Settings
from tests.spark.conftest import PATIENCE, TEXT, Metastore, empty

DAYS, HOURS, CHUNKS = (20170101, 20170102, 20170103), range(5), ("aa", "ab", "ba", "bb")
DATES = ("2019-01-01", "2019-01-02", "2019-01-03", DEFAULT_PARTITION)
DATE_TEXTS, TIMES = ("2020-01-01", "2020-01-02"), ("2020-01-01 00:00:00", "2020-01-02 00:00:00")
COLUMNS = ("ds", "h", "chunk", "d", "datestr", "timestampstr")
Row = tuple[str, ...]


def rows(whole: bool) -> list[Row]:
    """The values of all partitions: whole, of each day also each pair of texts."""
    if whole:
        return [tuple(map(str, each)) for each in product(DAYS, HOURS, CHUNKS, DATES, DATE_TEXTS, TIMES)]
    chance = random.Random(1)
    texts = [(chance.choice(DATE_TEXTS), chance.choice(TIMES)) for _ in product(DAYS, HOURS, CHUNKS, DATES)]
    return [(*map(str, each), *pair) for each, pair in zip(product(DAYS, HOURS, CHUNKS, DATES), texts, strict=True)]


class Filled(NamedTuple):
    """A catalog, and the partitions of its table `test`."""

    catalog: ExternalCatalog
    rows: list[Row]

    def where(self, **wanted: object) -> set[Row]:
        """The partitions whose columns have one of the values."""
        places = {COLUMNS.index(name): {str(each) for each in wanted[name]} for name in wanted}  # type: ignore[attr-defined]
        return {row for row in self.rows if all(row[place] in accepted for place, accepted in places.items())}


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=pytest.mark.soak)], ids=["240", "960"])
def filled(
    request: pytest.FixtureRequest, metastore: Metastore, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Filled]:
    """A table with 240 partitions, for each day, hour, chunk and date one; `make soak` has the 960 of Spark's suite."""
    folder: Path = tmp_path_factory.mktemp("filters")
    with metastored.connect(metastore.uri, user="ann", timeout=PATIENCE) as client:
        empty(client)
        catalog = ExternalCatalog(client)
        schema = StructType().add("value", INTEGER).add("ds", INTEGER).add("h", INTEGER).add("chunk", STRING)
        schema = schema.add("d", DATE).add("datestr", STRING).add("timestampstr", STRING)
        storage = TEXT.__class__(folder.as_uri(), TEXT.input_format, TEXT.output_format, TEXT.serde)
        catalog.create_table(
            CatalogTable(
                TableIdentifier("test", "default"),
                CatalogTableType.EXTERNAL,
                storage,
                schema,
                provider="hive",
                partition_column_names=COLUMNS,
            )
        )
        made = rows(whole=request.param)
        parts = [CatalogTablePartition(dict(zip(COLUMNS, each, strict=True))) for each in made]
        for at in range(0, len(parts), 120):  # Hive makes a directory for each, within the time-out of one call.
            catalog.create_partitions("default", "test", parts[at : at + 120])
        yield Filled(catalog, made)
        empty(client)


def values(found: list[CatalogTablePartition]) -> set[tuple[str, ...]]:
    return {tuple(each.spec[name] for name in COLUMNS) for each in found}


@pytest.mark.parametrize(
    ("predicate", "wanted"),
    [
        ("ds = 20170101", {"ds": [20170101]}),
        ("20170101 = ds", {"ds": [20170101]}),
        ("ds <=> 20170101", {"ds": [20170101]}),
        ("CAST(ds AS BIGINT) = 20170101", {"ds": [20170101]}),
        ("chunk = 'aa'", {"chunk": ["aa"]}),
        ("'aa' = chunk", {"chunk": ["aa"]}),
        ("ds IN (20170102, 20170103)", {"ds": [20170102, 20170103]}),
        ("chunk IN ('ab', 'ba')", {"chunk": ["ab", "ba"]}),
        ("ds BETWEEN 20170101 AND 20170102", {"ds": [20170101, 20170102]}),
        ("chunk NOT IN ('ab', 'ba')", {"chunk": ["aa", "bb"]}),
        ("chunk = 'a' OR (ds = 20170101 AND h >= 3)", {"ds": [20170101], "h": [3, 4]}),
        ("contains(chunk, 'b')", {"chunk": ["ab", "ba", "bb"]}),
        ("startswith(chunk, 'b')", {"chunk": ["ba", "bb"]}),
        ("endswith(chunk, 'b')", {"chunk": ["ab", "bb"]}),
        ("chunk LIKE 'b%'", {"chunk": ["ba", "bb"]}),
        ("d = DATE '2019-01-01'", {"d": ["2019-01-01"]}),
        ("d = '2019-01-01'", {"d": ["2019-01-01"]}),
        ("d > DATE '2019-01-02'", {"d": ["2019-01-03"]}),
        ("d != DATE '2019-01-01'", {"d": ["2019-01-02", "2019-01-03"]}),
        ("d IN (DATE '2019-01-01', DATE '2019-01-02')", {"d": ["2019-01-01", "2019-01-02"]}),
        ("d NOT IN (DATE '2019-01-01', DATE '2019-01-02')", {"d": ["2019-01-03"]}),
        ("d IS NULL", {"d": [DEFAULT_PARTITION]}),
        ("CAST(datestr AS DATE) = DATE '2020-01-01'", {"datestr": ["2020-01-01"]}),
        ("timestampstr = '2020-01-01 00:00:00'", {"timestampstr": ["2020-01-01 00:00:00"]}),
        ("h * 2 = 4", {"h": [2]}),
    ],
)  # fmt: skip
def test_predicates_select_partitions(filled: Filled, predicate: str, wanted: dict[str, list[object]]) -> None:
    expected = filled.where(**wanted)
    assert 0 < len(expected) < len(filled.rows)
    assert values(filled.catalog.list_partitions_by_filter("default", "test", predicate)) == expected


def test_both_sides_of_an_or_are_converted(filled: Filled) -> None:
    predicate = "(ds = 20170101 AND h >= 2) OR (ds = 20170102 AND h < 2)"
    expected = filled.where(ds=[20170101], h=[2, 3, 4]) | filled.where(ds=[20170102], h=[0, 1])
    assert values(filled.catalog.list_partitions_by_filter("default", "test", predicate)) == expected


@pytest.mark.parametrize(
    ("predicate", "returned"),  # of 240 partitions
    [
        ("ds = 20170101", 80),
        ("ds <=> 20170101", 240),
        ("d IS NULL", 240),
        ("h * 2 = 4 AND ds = 20170101", 80),
        ("chunk = 'aa' OR h * 2 = 4", 240),
        ("contains(chunk, 'b')", 180),
        ("startswith(chunk, 'b') AND chunk != 'ba'", 60),
        ("ds IN (20170101, 20170102) AND chunk = 'aa'", 40),
    ],
)
def test_the_metastore_returns_what_its_filter_selects(filled: Filled, predicate: str, returned: int) -> None:
    """The filter for the metastore alone; where there is none, all partitions."""
    found = filled.catalog._found("default", "test")
    filter = filled.catalog._filter(found, [parse_predicate(predicate, found.table.partition_schema)])
    listed = filled.catalog._by_filter(found, filter)
    assert listed is not None
    assert sum(len(members(each)) for each in listed) == returned * len(filled.rows) // 240


def test_hive_refuses_a_pattern_beside_an_integer_key(filled: Filled, request: pytest.FixtureRequest) -> None:
    """Hive 2.3 evaluates patterns without SQL of its own, and cannot compare integers there. Spark fails as well."""
    predicate = "contains(chunk, 'b') AND ds = 20170101"
    expected = filled.where(ds=[20170101], chunk=["ab", "ba", "bb"])
    catalog = filled.catalog
    if request.node.callspec.params["metastore"] == "hive_2_3":
        with pytest.raises(SparkCatalogError, match="refuses the filter") as caught:
            catalog.list_partitions_by_filter("default", "test", predicate)
        assert caught.value.condition == "INTERNAL_ERROR_HIVE_METASTORE_PARTITION_FILTER"
        catalog = ExternalCatalog(catalog.client, Settings(partition_pruning_fallback_on_exception=True))
    assert values(catalog.list_partitions_by_filter("default", "test", predicate)) == expected


def test_a_long_list_is_a_range_for_the_metastore_and_a_list_here(filled: Filled) -> None:
    catalog = ExternalCatalog(filled.catalog.client, Settings(partition_pruning_in_set_threshold=1))
    found = catalog.list_partitions_by_filter("default", "test", "ds IN (20170101, 20170103)")
    assert values(found) == filled.where(ds=[20170101, 20170103])


def test_a_filter_that_the_metastore_refuses_is_an_error_or_reads_all(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any metastore refuses a filter over a key it does not have."""
    for fallback in (False, True):
        catalog = ExternalCatalog(filled.catalog.client, Settings(partition_pruning_fallback_on_exception=fallback))
        monkeypatch.setattr(catalog, "_filter", lambda found, trees: 'nokey = "1"')
        if fallback:
            found = catalog.list_partitions_by_filter("default", "test", "ds = 20170101")
            assert values(found) == filled.where(ds=[20170101])
        else:
            with pytest.raises(SparkCatalogError) as caught:
                catalog.list_partitions_by_filter("default", "test", "ds = 20170101")
            assert caught.value.condition == "INTERNAL_ERROR_HIVE_METASTORE_PARTITION_FILTER"
            assert isinstance(caught.value.__cause__, MetaException)
