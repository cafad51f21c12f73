"""Many values of a frozen dataclass are made at once."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from metastored.model.spark.bulk import made
from metastored.model.spark.types import INTEGER, STRING, StructField
from metastored.model.spark.values import BucketSpec


def test_the_values_are_those_of_the_constructor() -> None:
    fields = made(StructField, 2, ["a", "b"], [INTEGER, STRING], [True, False], [{}, {"comment": "x"}])
    assert fields == [StructField("a", INTEGER), StructField("b", STRING, False, {"comment": "x"})]
    assert hash(fields[0]) == hash(StructField("a", INTEGER))


def test_they_are_frozen() -> None:
    (field,) = made(StructField, 1, ["a"], [INTEGER], [True], [{}])
    with pytest.raises(FrozenInstanceError):
        field.name = "b"  # type: ignore[misc]


def test_each_field_needs_a_column() -> None:
    with pytest.raises(ValueError, match="shorter"):
        made(StructField, 1, ["a"], [INTEGER])


def test_a_class_that_checks_its_values_is_refused() -> None:
    with pytest.raises(TypeError, match="BucketSpec has __post_init__"):
        made(BucketSpec, 1, [4], [()], [()])
