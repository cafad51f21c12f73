"""Hive types at random, for properties that hold of each."""

from __future__ import annotations

from hypothesis import strategies as st

from metastored.hive.types.type_strings import (
    Array,
    Char,
    Decimal,
    Field,
    HiveType,
    Map,
    Primitive,
    Struct,
    Union,
    Varchar,
)

PRIMITIVES = (
    *("void", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary"),
    *("date", "datetime", "timestamp", "timestamp with local time zone", "timestamp with time zone"),
    *("interval_year_month", "interval_day_time"),
)

leaves = st.sampled_from(PRIMITIVES).map(Primitive)
sized = st.one_of(
    st.integers(1, 255).map(Char),
    st.integers(1, 65535).map(Varchar),
    st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: Decimal(p, s))),
)
names = st.text(st.characters(codec="utf-8"))


def trees(leaf: st.SearchStrategy[HiveType], unions: bool = True) -> st.SearchStrategy[HiveType]:
    """Types of any depth over these leaves."""

    def deeper(inner: st.SearchStrategy[HiveType]) -> st.SearchStrategy[HiveType]:
        ways: list[st.SearchStrategy[HiveType]] = [
            inner.map(Array),
            st.builds(Map, inner, inner),
            st.lists(st.builds(Field, names, inner), max_size=3).map(lambda result: Struct(tuple(result))),
        ]
        if unions:
            ways.append(st.lists(inner, min_size=1, max_size=3).map(lambda result: Union(tuple(result))))
        return st.one_of(ways)

    return st.recursive(leaf, deeper, max_leaves=10)


every_type = trees(leaves | sized)
