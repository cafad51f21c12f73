"""Random statements that change the tables of TPC-H, in SQL that both Spark and DuckDB execute."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final, NamedTuple

from tests.spark.acid.tpch.tables import COLUMNS, SEGMENTS


class Change(NamedTuple):
    """A statement."""

    table: str
    spark: str
    duckdb: str = ""
    """Where DuckDB needs another one."""


def _update(chance: random.Random, number: int) -> Change:
    rest = chance.randrange(23)
    return chance.choice([
        Change("lineitem", "update lineitem set l_quantity = l_quantity + 1, l_tax = 0.03, l_comment = 'it''s changed' "
                           f"where l_orderkey % 23 = {rest} and l_linenumber > 2"),
        Change("orders", f"update orders set o_orderstatus = 'F', o_totalprice = o_totalprice - 0.25 "
                         f"where o_orderkey % 23 = {rest} or o_orderdate = date '1995-03-{rest % 20 + 1:02d}'"),
        Change("customer", f"update customer set c_acctbal = c_acctbal * 2 - 1.25 where c_nationkey = {rest} "
                           f"and c_mktsegment <> '{chance.choice(SEGMENTS)}'"),
        Change("part", "update part set p_size = p_size % 50 + 1 "
                       f"where p_partkey % 23 = {rest} and p_name like '%green%'"),
        Change("partsupp", "update partsupp set ps_availqty = ps_availqty + 7 where ps_partkey in "
                           f"(select p_partkey from part where p_size = {rest + 1})"),
        Change("supplier", f"update supplier set s_comment = 'late Customer Complaints' where s_suppkey % 23 = {rest}"),
    ])  # fmt: skip


def _delete(chance: random.Random, number: int) -> Change:
    rest = chance.randrange(41)
    return chance.choice([
        Change("lineitem", f"delete from lineitem where l_orderkey % 41 = {rest} and l_shipmode in ('AIR', 'MAIL')"),
        Change("orders", f"delete from orders where o_custkey in (select c_custkey from customer "
                         f"where c_custkey % 41 = {rest} and c_acctbal < 0)"),
        Change("customer", f"delete from customer where c_custkey % 41 = {rest} and c_mktsegment = 'MACHINERY'"),
        Change("partsupp", f"delete from partsupp where ps_partkey % 41 = {rest} and ps_supplycost > 900"),
    ])  # fmt: skip


def _insert(chance: random.Random, number: int) -> Change:
    """New rows with keys that no other row has."""
    rest = chance.randrange(29)
    name, key, where = chance.choice([
        ("orders", "o_orderkey", f"o_orderkey % 29 = {rest}"),
        ("lineitem", "l_orderkey", f"l_orderkey % 29 = {rest} and l_linenumber = 1"),
        ("customer", "c_custkey", f"c_custkey % 29 = {rest}"),
        ("part", "p_partkey", f"p_partkey % 29 = {rest}"),
    ])  # fmt: skip
    columns = ", ".join(COLUMNS[name])
    values = ", ".join(f"{key} + {number * 10**9}" if each == key else each for each in COLUMNS[name])
    return Change(
        name, f"insert into {name} ({columns}) select {values} from {name} where {where} and {key} < 1000000000"
    )


def _merge(chance: random.Random, number: int) -> Change:
    rest = chance.randrange(17)
    return Change(
        "partsupp",
        "merge into partsupp t using (select ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment "
        f"from partsupp where ps_partkey % 17 = {rest} and ps_partkey < 1000000000 union all select "
        f"ps_partkey + {number * 10**9}, ps_suppkey, ps_availqty, ps_supplycost, 'new' from partsupp "
        f"where ps_partkey % 17 = {rest} and ps_partkey < 1000000000) s "
        "on t.ps_partkey = s.ps_partkey and t.ps_suppkey = s.ps_suppkey "
        "when matched and s.ps_availqty % 5 = 0 then delete "
        "when matched then update set ps_supplycost = s.ps_supplycost + 0.5, ps_comment = s.ps_comment "
        "when not matched then insert (ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment) "
        "values (s.ps_partkey, s.ps_suppkey, s.ps_availqty, s.ps_supplycost, s.ps_comment)",
    )


def _overwrite(chance: random.Random, number: int) -> Change:
    rest = chance.randrange(31)
    columns = ", ".join(COLUMNS["supplier"])
    query = f"select {columns} from supplier where s_suppkey % 31 <> {rest} or s_nationkey < 20"
    return Change("supplier", f"insert overwrite supplier {query}", f"create or replace table supplier as {query}")


_KINDS: Final[tuple[Callable[[random.Random, int], Change], ...]] = (
    _update, _update, _update, _delete, _delete, _insert, _insert, _merge, _merge, _overwrite,
)  # fmt: skip


def change(chance: random.Random, number: int) -> Change:
    """The statement of this number, from 1."""
    return chance.choice(_KINDS)(chance, number)
