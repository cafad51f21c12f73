"""The arithmetic of aggregated statistics, tested without a metastore."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from metastored.hive.statistics.ndv import Estimation, HyperLogLog
from metastored.service.statistics.estimate import Gathered, of_partitions
from metastored.wire.generated.common import Date
from metastored.wire.generated.common import Decimal as ThriftDecimal


def gathered(kind: str, places: list[int], low: list[Any], high: list[Any], distincts: list[int], **other: Any) -> Any:
    number = len(places)
    plain = Gathered("c", kind, kind, places, low, high, [1] * number, distincts, *[[None] * number] * 4)
    return plain._replace(**other)


def data(result: Gathered, expected: int, **how: Any) -> Any:
    return of_partitions(result, expected, Estimation(**how)).data


def test_the_tuner_chooses_between_the_fewest_and_the_most_distinct_values() -> None:
    result = gathered("double", [0, 1], [0.0, 5.0], [10.0, 99.0], [10, 30])
    assert [data(result, 2, tuner=tuner).numDVs for tuner in (0.0, 0.5, 1.0)] == [30, 35, 40]


def test_density_estimates_from_the_distance_between_values() -> None:
    result = gathered("long", [0, 1], [0, 100], [100, 200], [10, 10])
    assert data(result, 2, density=True).numDVs == 20
    apart = gathered("long", [0, 1], [0, 10_000], [100, 10_100], [10, 10])
    assert data(apart, 2, density=True).numDVs == 20
    same = gathered("long", [0, 1], [0, 0], [100, 100], [10, 10])
    assert data(same, 2, density=True).numDVs == 10


def test_a_bound_that_one_partition_lacks_is_unknown_when_extrapolated() -> None:
    result = gathered("long", [0, 1], [None, 5], [7, 9], [2, 3])
    assert (data(result, 3).lowValue, data(result, 2).lowValue) == (None, 5)


def test_the_line_ends_at_the_last_requested_partition() -> None:
    falling = gathered("long", [0, 2], [10, 4], [20, 14], [5, 3])
    assert data(falling, 5)[:4] == (10 - 6 * 4 // 2, 20, 5, 5)


@pytest.mark.parametrize("bound", [2**63 - 1, -(2**63)])
def test_numbers_stay_within_64_bits(bound: int) -> None:
    result = gathered("long", [0, 1], [0, bound], [0, bound], [1, 1])
    assert all(-(2**63) <= value < 2**63 for value in data(result, 9)[:4])


def test_dates_and_decimals_are_extrapolated_as_numbers() -> None:
    days = gathered("date", [1, 3], [10, 30], [15, 35], [5, 6])
    assert data(days, 5)[:2] == (Date(0), Date(45))
    prices = gathered("decimal", [1, 3], [Decimal(10), Decimal(30)], [Decimal(15), Decimal(35)], [5, 6])
    assert data(prices, 5)[:2] == (ThriftDecimal(b"\x00", 1), ThriftDecimal((450).to_bytes(2), 1))


def _sketch(first: int) -> bytes:
    return HyperLogLog(sparse=dict.fromkeys(range(first, first + 60), 1)).serialize()


def test_neighbours_count_as_one_partition_when_bit_vectors_are_merged() -> None:
    result = gathered("double", [0, 1, 5], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [60, 60, 60])
    result = result._replace(bit_vectors=[_sketch(0), _sketch(30), _sketch(0)])
    # 90 values at position 0.5, 60 at position 5: the line rises to the left, to 90 + 30 * 0.5 / 4.5 at its beginning.
    assert data(result, 8, bit_vectors=True).numDVs == 60 + int(30 * 5 // 4.5)


def test_without_all_bit_vectors_the_numbers_decide() -> None:
    result = gathered("double", [0, 1], [0.0, 0.0], [1.0, 1.0], [60, 70], bit_vectors=[_sketch(0), None])
    assert data(result, 2, bit_vectors=True).numDVs == 70
