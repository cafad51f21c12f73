"""Spark's statistics as parameters, and its histograms."""

from __future__ import annotations

import logging
import random

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.errors import ConversionError, SparkCatalogError
from metastored.model.spark import histograms
from metastored.model.spark.histograms import histogram_from_text, histogram_to_text
from metastored.model.spark.statistics import column_stat_key_prop_name, stats_from_properties, stats_to_properties
from metastored.model.spark.values import CatalogStatistics, ColumnStat, Histogram, HistogramBin

SPARKS = "TFo0QmxvY2smJQAAAEAAAAAW2jIMND/4AAEAMgI/8AsAEkAHAAYIABMIEQACAgASAgcAYAAB/////0xaNEJsb2NrFgAAAAAAAAAAAAAAAA=="
HISTOGRAM = Histogram(1.5, (HistogramBin(1.0, 2.0, 2), HistogramBin(2.0, 3.0, 1)))
STATS = CatalogStatistics(
    5812, 500, {"C1": ColumnStat(2, "1", "30000", 1, 2, 2, HISTOGRAM), "a.b": ColumnStat(null_count=0)}
)


def test_a_histogram_of_spark_is_read() -> None:
    assert histogram_from_text(SPARKS) == HISTOGRAM


@given(
    st.lists(
        st.builds(HistogramBin, st.floats(allow_nan=False), st.floats(allow_nan=False), st.integers(0, 2**62)),
        max_size=30,
    )
)
def test_a_histogram_is_read_as_it_was_written(bins: list[HistogramBin]) -> None:
    histogram = Histogram(2.0, tuple(bins))
    assert histogram_from_text(histogram_to_text(histogram)) == histogram


@pytest.mark.parametrize("text", ["", "x", "TFo0", SPARKS[:60], SPARKS.replace("EkAHAA", "EkAHBA")])
def test_a_damaged_histogram_is_an_error(text: str) -> None:
    with pytest.raises(ConversionError):
        histogram_from_text(text)


def test_statistics_are_read_as_they_were_written() -> None:
    properties = stats_to_properties(STATS)
    assert properties["spark.sql.statistics.totalSize"] == "5812"
    assert properties["spark.sql.statistics.numRows"] == "500"
    assert properties[column_stat_key_prop_name("C1", "distinctCount")] == "2"
    assert properties["spark.sql.statistics.colStats.a.b.version"] == "2"
    assert stats_from_properties({**properties, "other": "1"}, "t") == STATS


def test_a_long_histogram_is_in_parts() -> None:
    chance = random.Random(1)  # Such numbers cannot be compressed.
    bins = tuple(HistogramBin(chance.random(), chance.random(), chance.getrandbits(62)) for _ in range(254))
    stats = CatalogStatistics(1, None, {"a": ColumnStat(histogram=Histogram(1.0, bins))})
    properties = stats_to_properties(stats)
    assert "spark.sql.statistics.colStats.a.histogram.numParts" in properties
    assert stats_from_properties(properties, "t") == stats


def test_an_ordinary_histogram_is_one_short_parameter() -> None:
    """Spark's own text for such a histogram has 1,600 characters."""
    histogram = Histogram(100.0, tuple(HistogramBin(at * 10.0, at * 10.0 + 10, 10) for at in range(254)))
    properties = stats_to_properties(CatalogStatistics(1, None, {"a": ColumnStat(histogram=histogram)}))
    text = properties["spark.sql.statistics.colStats.a.histogram"]
    assert len(text) < 1_700
    assert histogram_from_text(text) == histogram


@given(st.binary(max_size=40), st.integers(0, 400), st.binary(max_size=300))
def test_a_block_is_decompressed_by_lz4_itself(repeated: bytes, times: int, rest: bytes) -> None:
    data = repeated * times + rest
    packed = histograms._compressed(data)
    assert histograms._lz4(packed, len(data)) == data
    if data:
        assert pyarrow.Codec("lz4_raw").decompress(packed, len(data)).to_pybytes() == data


def test_no_statistics_are_none() -> None:
    assert stats_from_properties({"totalSize": "1"}, "t") is None


def test_a_broken_column_is_left_out_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    properties = {**stats_to_properties(STATS), column_stat_key_prop_name("C1", "maxLen"): "long"}
    with caplog.at_level(logging.WARNING):
        found = stats_from_properties(properties, "t")
    assert found is not None
    assert set(found.col_stats) == {"a.b"}
    assert "column C1 in table t" in caplog.text


def test_statistics_without_a_size_are_an_error() -> None:
    with pytest.raises(SparkCatalogError, match=r"key not found: spark\.sql\.statistics\.totalSize"):
        stats_from_properties({"spark.sql.statistics.numRows": "1"}, "t")


def test_version_1_is_read_and_written_as_version_2() -> None:
    properties = {"spark.sql.statistics.totalSize": "1", column_stat_key_prop_name("d", "version"): "1",
                  column_stat_key_prop_name("d", "min"): "2016-05-08"}  # fmt: skip
    found = stats_from_properties(properties, "t")
    assert found is not None
    assert found.col_stats["d"] == ColumnStat(min="2016-05-08", version=1)
    assert stats_to_properties(found)[column_stat_key_prop_name("d", "version")] == "2"
