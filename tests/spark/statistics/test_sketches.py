"""Sketches from Arrow arrays equal, byte for byte, those that Hive's own HyperLogLog makes of the same values."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from metastored.hive.statistics.ndv import HyperLogLog, parse
from metastored.spark.statistics.summaries import ColumnBuilder, Kind, Summary
from tests.support.apache import MissingPeer, run_with_hive_3_1, run_with_hive_4_1

SIZES = (0, 1, 50, 153, 154, 160, 1000, 20_000)
EPOCH = date(1970, 1, 1)


def summary(kind: Kind, array: pa.Array, batch: int = 997) -> Summary:
    """The statistics of an array that arrives in batches."""
    builder = ColumnBuilder(kind)
    for at in range(0, len(array), batch):
        builder.add(array.slice(at, batch))
    return builder.built()


def sketch(kind: Kind, array: pa.Array) -> HyperLogLog:
    found = summary(kind, array).sketch
    assert found is not None
    return found


def requests(kind: str, lists: Sequence[Sequence[Any]]) -> str:
    """The input of the program `Sketches`: a sketch of each list, and at last all of them, merged."""
    lines = []
    for values in lists:
        lines += [f"{kind}\t{value}" for value in values] + ["end"]
    return "\n".join([*lines, f"merge {len(lists)}", ""])


CASES: dict[str, tuple[Kind, str, pa.DataType]] = {
    "integers": (Kind.INTEGER, "long", pa.int64()),
    "small integers": (Kind.INTEGER, "long", pa.int8()),
    "doubles": (Kind.DOUBLE, "double", pa.float64()),
    "decimals": (Kind.DECIMAL, "decimal", pa.decimal128(12, 2)),
    "long decimals": (Kind.DECIMAL, "decimal", pa.decimal128(30, 10)),
    "strings": (Kind.STRING, "string", pa.string()),
    "large strings": (Kind.STRING, "string", pa.large_string()),
    "dates": (Kind.DATE, "long", pa.date32()),
    "timestamps": (Kind.TIMESTAMP, "long", pa.timestamp("us", "UTC")),
}


def values_of(case: str, size: int) -> tuple[list[Any], list[Any]]:
    """Values for Arrow, and the same for Hive's class."""
    chance = random.Random(f"{case} {size}")
    numbers = [chance.randrange(-(2**62), 2**62) for _ in range(size)]
    match case:
        case "small integers":
            numbers = [each % 256 - 128 for each in numbers]
        case "doubles":
            doubles = [each / 1e9 for each in numbers]
            return doubles, [repr(each) for each in doubles]
        case "decimals":
            short = [Decimal(each % 10**12 - 5 * 10**11).scaleb(-2) for each in numbers]
            return short, short
        case "long decimals":
            long = [Decimal(each).scaleb(-10) for each in numbers]
            return long, long
        case "strings" | "large strings":
            alphabet = "ab c0_ä€😀"
            texts = ["".join(chance.choices(alphabet, k=each % 40)) for each in numbers]
            return texts, texts
        case "dates":
            days = [each % 40_000 - 10_000 for each in numbers]
            return [EPOCH + timedelta(days=each) for each in days], days
        case "timestamps":
            micros = [each % 10**16 - 10**15 for each in numbers]
            start = datetime(1970, 1, 1, tzinfo=UTC)
            return [start + timedelta(microseconds=each) for each in micros], [each // 10**6 for each in micros]
    return numbers, numbers


@pytest.mark.apache
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_sketch_has_the_bytes_of_hives_and_merges_to_the_same(case: str) -> None:
    """Each value is added once: Hive 3.1 counts repeated values, too, to decide when a sketch becomes dense."""
    kind, hive_kind, type = CASES[case]
    made = [values_of(case, size) for size in SIZES]
    own = [sketch(kind, pa.array(values, type)) for values, _ in made]
    distinct = [list(dict.fromkeys(values)) for _, values in made]
    *single, merged = run_with_hive_3_1("Sketches", requests(hive_kind, distinct)).split()
    assert [each.serialize().hex() for each in own] == single
    assert HyperLogLog().merge(own).serialize().hex() == merged


@pytest.mark.peers
@pytest.mark.slow
def test_a_sketch_of_repeated_values_is_that_of_hive_4(tmp_path: Path) -> None:
    """Hive 4 writes the entries of a sparse sketch in another order."""
    made = [values_of("small integers", size) for size in SIZES]
    file = tmp_path / "requests"
    file.write_text(requests("long", [values for _, values in made]), "utf-8")
    try:
        printed = run_with_hive_4_1("Sketches", str(file))
    except MissingPeer as reason:
        pytest.skip(str(reason))
    *single, merged = (parse(bytes.fromhex(each)) for each in printed.split())
    own = [sketch(Kind.INTEGER, pa.array(values, pa.int8())) for values, _ in made]
    assert own == single
    assert HyperLogLog().merge(own) == merged


def test_a_sketch_does_not_depend_on_batches_and_ignores_nulls() -> None:
    numbers = [each % 3000 for each in range(20_000)]
    whole = sketch(Kind.INTEGER, pa.array(numbers))
    with_nulls = pa.array([each for number in numbers for each in (number, None)])
    assert summary(Kind.INTEGER, with_nulls, 13).sketch == whole
    halves = [sketch(Kind.INTEGER, pa.array(part)) for part in (numbers[:7000], numbers[7000:])]
    assert halves[0].merge([halves[1]]) == whole


def test_a_sketch_is_sparse_as_long_as_hives_is() -> None:
    assert sketch(Kind.INTEGER, pa.array(range(153))).registers == b""
    assert sketch(Kind.INTEGER, pa.array(range(154))).sparse == {}


def test_texts_of_a_slice_are_hashed_from_their_own_bytes() -> None:
    texts = pa.array(["x" * at for at in range(200)])
    assert sketch(Kind.STRING, texts.slice(50, 100)) == sketch(Kind.STRING, pa.array(texts.to_pylist()[50:150]))
