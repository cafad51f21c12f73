"""Tables with the columns of TPC-H and random rows: their values are such that each of the 22 queries finds rows.

The rows are not those of TPC-H's own generator: only their number, types and references are.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any, Final

import numpy
import pyarrow
import pyarrow.compute as pc

MONEY: Final = "decimal(15,2)"
COLUMNS: Final[dict[str, dict[str, str]]] = {
    "region": {"r_regionkey": "int", "r_name": "string", "r_comment": "string"},
    "nation": {"n_nationkey": "int", "n_name": "string", "n_regionkey": "int", "n_comment": "string"},
    "supplier": {
        "s_suppkey": "bigint", "s_name": "string", "s_address": "string", "s_nationkey": "int", "s_phone": "string",
        "s_acctbal": MONEY, "s_comment": "string",
    },
    "customer": {
        "c_custkey": "bigint", "c_name": "string", "c_address": "string", "c_nationkey": "int", "c_phone": "string",
        "c_acctbal": MONEY, "c_mktsegment": "string", "c_comment": "string",
    },
    "part": {
        "p_partkey": "bigint", "p_name": "string", "p_mfgr": "string", "p_brand": "string", "p_type": "string",
        "p_size": "int", "p_container": "string", "p_retailprice": MONEY, "p_comment": "string",
    },
    "partsupp": {
        "ps_partkey": "bigint", "ps_suppkey": "bigint", "ps_availqty": "int", "ps_supplycost": MONEY,
        "ps_comment": "string",
    },
    "orders": {
        "o_orderkey": "bigint", "o_custkey": "bigint", "o_orderstatus": "string", "o_totalprice": MONEY,
        "o_orderdate": "date", "o_orderpriority": "string", "o_clerk": "string", "o_shippriority": "int",
        "o_comment": "string",
    },
    "lineitem": {
        "l_orderkey": "bigint", "l_partkey": "bigint", "l_suppkey": "bigint", "l_linenumber": "int",
        "l_quantity": MONEY, "l_extendedprice": MONEY, "l_discount": MONEY, "l_tax": MONEY, "l_returnflag": "string",
        "l_linestatus": "string", "l_shipdate": "date", "l_commitdate": "date", "l_receiptdate": "date",
        "l_shipinstruct": "string", "l_shipmode": "string", "l_comment": "string",
    },
}  # fmt: skip
KEYS: Final = {
    "orders": ("o_orderkey",), "lineitem": ("l_orderkey", "l_linenumber"), "customer": ("c_custkey",),
    "part": ("p_partkey",), "partsupp": ("ps_partkey", "ps_suppkey"), "supplier": ("s_suppkey",),
}  # fmt: skip
"""The keys of the tables that statements change."""

REGIONS: Final = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
NATIONS: Final = (
    ("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4), ("ETHIOPIA", 0), ("FRANCE", 3),
    ("GERMANY", 3), ("INDIA", 2), ("INDONESIA", 2), ("IRAN", 4), ("IRAQ", 4), ("JAPAN", 2), ("JORDAN", 4), ("KENYA", 0),
    ("MOROCCO", 0), ("MOZAMBIQUE", 0), ("PERU", 1), ("CHINA", 2), ("ROMANIA", 3), ("SAUDI ARABIA", 4), ("VIETNAM", 2),
    ("RUSSIA", 3), ("UNITED KINGDOM", 3), ("UNITED STATES", 1),
)  # fmt: skip
SEGMENTS: Final = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
PRIORITIES: Final = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
MODES: Final = ("AIR", "AIR REG", "FOB", "MAIL", "RAIL", "SHIP", "TRUCK")
INSTRUCTIONS: Final = ("COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN")
COLOURS: Final = ("almond", "forest", "green", "ivory", "navy", "plum", "red", "salmon")
TYPES: Final = tuple(
    f"{a} {b} {c}"
    for a in ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")
    for b in ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")
    for c in ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER")
)
CONTAINERS: Final = tuple(
    f"{a} {b}" for a in ("SM", "MED", "LG", "JUMBO") for b in ("CASE", "BOX", "BAG", "PACK", "PKG")
)
COMMENTS: Final = (
    "carefully final", "special packages requests", "quickly bold", "Customer even Complaints", "it''s not pending",
    "Größe: 5 %", "",
)  # fmt: skip
FIRST_DAY: Final = datetime.date(1992, 1, 1)


class _Maker:
    """Random columns of one length."""

    def __init__(self, chance: numpy.random.Generator, rows: int) -> None:
        self._chance = chance
        self._rows = rows

    def numbers(self, low: int, high: int) -> Any:
        return self._chance.integers(low, high, self._rows)

    def one_of(self, texts: tuple[str, ...]) -> pyarrow.Array:
        return pyarrow.array(texts).take(pyarrow.array(self.numbers(0, len(texts))))

    def money(self, low: int, high: int) -> pyarrow.Array:
        """Amounts between these numbers of cents."""
        cents = pyarrow.array(self.numbers(low, high)).cast(pyarrow.decimal128(19, 0))
        return pc.multiply(cents, pyarrow.scalar(Decimal("0.01"), pyarrow.decimal128(3, 2)))

    def named(self, prefix: str, numbers: Any) -> pyarrow.Array:
        return pc.binary_join_element_wise(prefix, pyarrow.array(numbers).cast(pyarrow.string()), "")


def tables(scale: float, seed: int) -> dict[str, pyarrow.Table]:
    """All tables. At scale 1 there are six million rows in lineitem."""
    chance = numpy.random.default_rng(seed)

    def maker(rows: int) -> _Maker:
        return _Maker(chance, rows)

    counts = {name: max(20, int(rows * scale)) for name, rows in
              (("supplier", 10_000), ("customer", 150_000), ("part", 200_000), ("orders", 1_500_000))}  # fmt: skip
    made: dict[str, dict[str, Any]] = {
        "region": {"r_regionkey": range(5), "r_name": REGIONS, "r_comment": [""] * 5},
        "nation": {
            "n_nationkey": range(25), "n_name": [name for name, _ in NATIONS],
            "n_regionkey": [region for _, region in NATIONS], "n_comment": [""] * 25,
        },
    }  # fmt: skip

    def people(prefix: str, name: str) -> dict[str, Any]:
        rows, keys = maker(counts[name]), numpy.arange(1, counts[name] + 1)
        nations = rows.numbers(0, 25)
        return {
            f"{prefix}key": keys,
            "name": rows.named(f"{name.capitalize()}#", keys),
            "address": rows.named("street ", rows.numbers(1, 9999)),
            "nationkey": nations,
            "phone": pc.binary_join_element_wise(
                pyarrow.array(nations + 10).cast("string"), rows.named("", rows.numbers(1000, 9999)), "-"
            ),
            "acctbal": rows.money(-99_999, 999_999),
            "comment": rows.one_of(COMMENTS),
        }

    supplier, customer = people("supp", "supplier"), people("cust", "customer")
    customer["mktsegment"] = maker(counts["customer"]).one_of(SEGMENTS)
    made["supplier"] = {f"s_{key}": value for key, value in supplier.items()}
    made["customer"] = {f"c_{key}": value for key, value in customer.items()}
    rows, keys = maker(counts["part"]), numpy.arange(1, counts["part"] + 1)
    made["part"] = {
        "p_partkey": keys,
        "p_name": pc.binary_join_element_wise(rows.one_of(COLOURS), rows.one_of(COLOURS), " "),
        "p_mfgr": rows.named("Manufacturer#", rows.numbers(1, 6)),
        "p_brand": rows.named("Brand#", rows.numbers(1, 6) * 10 + rows.numbers(1, 6)),
        "p_type": rows.one_of(TYPES),
        "p_size": rows.numbers(1, 51),
        "p_container": rows.one_of(CONTAINERS),
        "p_retailprice": rows.money(90_000, 200_000),
        "p_comment": rows.one_of(COMMENTS),
    }
    parts = numpy.repeat(keys, 4)
    rows = maker(len(parts))
    made["partsupp"] = {
        "ps_partkey": parts,
        "ps_suppkey": (parts + numpy.tile(numpy.arange(4), len(keys)) * (counts["supplier"] // 4)) % counts["supplier"]
        + 1,
        "ps_availqty": rows.numbers(1, 10_000),
        "ps_supplycost": rows.money(100, 100_000),
        "ps_comment": rows.one_of(COMMENTS),
    }
    rows, keys = maker(counts["orders"]), numpy.arange(1, counts["orders"] + 1) * 4
    days = rows.numbers(0, 2406)
    made["orders"] = {
        "o_orderkey": keys,
        # A third of the customers never orders.
        "o_custkey": rows.numbers(0, max(1, counts["customer"] // 3)) * 3 + 1,
        "o_orderstatus": rows.one_of(("F", "O", "P")),
        "o_totalprice": rows.money(90_000, 50_000_000),
        "o_orderdate": _dates(days),
        "o_orderpriority": rows.one_of(PRIORITIES),
        "o_clerk": rows.named("Clerk#", rows.numbers(1, 1000)),
        "o_shippriority": numpy.zeros(len(keys), "int32"),
        "o_comment": rows.one_of(COMMENTS),
    }
    lines = chance.integers(1, 8, len(keys))
    rows = maker(int(lines.sum()))
    of_order = numpy.repeat(days, lines)
    shipped = of_order + rows.numbers(1, 122)
    flags = numpy.where(shipped > 1260, 2, rows.numbers(0, 2))
    of_part = rows.numbers(1, counts["part"] + 1)
    made["lineitem"] = {
        "l_orderkey": numpy.repeat(keys, lines),
        "l_partkey": of_part,
        "l_suppkey": (of_part + rows.numbers(0, 4) * (counts["supplier"] // 4)) % counts["supplier"] + 1,
        "l_linenumber": numpy.concatenate([numpy.arange(1, each + 1) for each in lines]),
        "l_quantity": rows.money(100, 5100),
        "l_extendedprice": rows.money(90_000, 10_000_000),
        "l_discount": rows.money(0, 11),
        "l_tax": rows.money(0, 9),
        "l_returnflag": pyarrow.array(("A", "R", "N")).take(pyarrow.array(flags)),
        "l_linestatus": pyarrow.array(("F", "O")).take(pyarrow.array((shipped > 1260).astype("int64"))),
        "l_shipdate": _dates(shipped),
        "l_commitdate": _dates(of_order + rows.numbers(30, 91)),
        "l_receiptdate": _dates(shipped + rows.numbers(1, 31)),
        "l_shipinstruct": rows.one_of(INSTRUCTIONS),
        "l_shipmode": rows.one_of(MODES),
        "l_comment": rows.one_of(COMMENTS),
    }
    return {name: _typed(name, columns) for name, columns in made.items()}


_ARROW: Final = {
    "int": pyarrow.int32(), "bigint": pyarrow.int64(), "string": pyarrow.string(), "date": pyarrow.date32(),
    MONEY: pyarrow.decimal128(15, 2),
}  # fmt: skip


def _typed(name: str, columns: dict[str, Any]) -> pyarrow.Table:
    arrays = {
        column: pyarrow.array(columns[column]).cast(_ARROW[type])
        if not isinstance(columns[column], (pyarrow.Array, pyarrow.ChunkedArray))
        else columns[column].cast(_ARROW[type])
        for column, type in COLUMNS[name].items()
    }
    return pyarrow.table(arrays)


def _dates(days: Any) -> pyarrow.Array:
    """Days since the first one."""
    return pyarrow.array((days + (FIRST_DAY - datetime.date(1970, 1, 1)).days).astype("int32")).cast(pyarrow.date32())
