"""Partitions and tables by a filter."""

from metastored.wire.generated.databases import Database
from tests.differential.script import Probe, ask
from tests.support.objects import external, partition, table

DB = "fil"
KEYS = "ds string, h int, d date, dec decimal(10;2), c char(4), bg bigint, ts timestamp, vc varchar(10)"
DEFAULT = "__HIVE_DEFAULT_PARTITION__"
ROWS = (
    *(("a", "1", "2024-01-01"), ("b", "2", "2024-02-01"), ("ab", "10", "2024-03-01"), ("A", "-1", "2023-12-31")),
    *(("o'q", "3", "2024-01-15"), (DEFAULT, DEFAULT, DEFAULT), ("a b", "7", "2024-01-01"), ("x%y", "8", "2024-05-01")),
)
FILTERS = (
    *("", 'ds = "a"', "ds='a'", "ds = a", 'DS = "a"', 'ds="a" and h=1', 'ds="a" AND h=1', 'ds = "a" or ds="b"'),
    *('(ds = "a" or ds="b") and h > 1', '"a" = ds', "1 < h", "h > 1", "h >= 2", "h < 3", "h <= 2", "h = -1"),
    *('h=1 and (ds="a")', "h <> 1", "h != 1", 'ds <> "a"', "h between 1 and 3", "h not between 1 and 3"),
    *("h BETWEEN 1 AND 3", "(h) in (1,2)", "h in (1,2)", "(h) not in (1,2)", '(ds) IN ("a","b")', "(ds) in ()"),
    *('(struct(ds,h)) IN (const struct("a",1),const struct("b",2))', 'ds like "a%"', 'ds like "a.*"', 'ds LIKE "a"'),
    *('(struct(ds,h)) NOT IN (const struct("a",1))', 'ds like "a_"', 'ds like ".*b.*"', 'h like "1.*"'),
    *('d = "2024-01-01"', "d = 2024-01-01", "d > 2024-01-10", 'd >= "2024-02-01"', 'd = date "2024-01-01"'),
    *("d = date '2024-01-01'", "d = date 2024-01-01", 'd = DATE"2024-01-01"', "d between 2024-01-01 and 2024-01-31"),
    *("d = date2024-01-01", 'd = "notadate"', "d = 2024-13-45", 'ds between "a" and "b"', "d <> 2024-01-01"),
    *('h = "1"', "ds = 1", "dec = 1.5", 'dec = "1.50"', "dec > 1", 'c = "ab"', "bg = 3", "bg > 3", 'vc = "v1"'),
    *('ts = "2024-01-01 00:00:00"', 'nokey = "x"', 'a = "x"', 'ds = "a" xor h = 1', "ds =", "not h = 1", "h = 1.5"),
    *("h = 99999999999999999999", 'ds = "o\'q"', "ds = 'o\\'q'", "ds is null", f'ds = "{DEFAULT}"', "h"),
    *(f'ds != "{DEFAULT}"', f'h = "{DEFAULT}"', 'ds == "a"', '`ds` = "a"', 'ds = "a" ;', 'ds="a b"', "h+1=2"),
    *('ds > "a" and ds < "b"', "true", "()", '((ds = "a"))', '(ds = "a"', 'ds = "a" and', 'ds = "a" and h', "   "),
    *('ds = "A"', 'ds = ""', "ds = ''", 'ds < "a"', 'ds >= "b"', 'h > 0 or d > "2024-02-15"', 'ds="a"h=1'),
    *('ds = "a" or h = 2 and d = "2024-02-01"', "h = 01", "h = +1", "1 = 1", "ds = ds", "h > 1 and h > 2 and h > 3"),
    *('d != "notadate"', 'd > "notadate"', 'd < "notadate"', '(d) in ("notadate")', 'd not between "a" and "b"'),
    *('(d) not in ("2024-01-01","notadate")', 'd > "2024-13-45"', 'd < "2024-1-5"', 'd = "notadate" or h = 1'),
    *('d like "2024.*"', 'd like "2024-01-01"', 'ts like "2024.*"', 'ts != "noon"', 'ts > "noon"', 'ts < "2024-1-5"'),
    *("1 between h and 3", "h between 3 and 1", 'ds LIKE "x%y"', "ds like 'x.y'", 'ds like "A"', '"a" like ds'),
)
F = "hive_filter_field_"
TABLE_FILTERS = (
    *(f'{F}owner__ = "bob"', f'{F}owner__ = "BOB"', f'{F}owner__ like ".*o.*"', f'{F}owner__ like "al.*"'),
    *(
        f'{F}params__transient_lastDdlTime > "1"',
        f"{F}last_access__ = 0",
        f"{F}last_access__ > 5",
        'bogus = "x"',
        "zzz",
    ),
    *(f'{F}owner__ = "bob" and {F}last_access__ = 0', f'{F}params__color like "r.*"', f'{F}params__nope like "x"'),
    *(f'{F}params__color like "%e%"', f'{F}owner__ != "bob"', f'{F}last_access__ like "1"', f'{F}last_access__ = "0"'),
    *("", f"{F}owner__ = 1", f'{F}params__color = "red"', f'{F}params__color <> "red"', f"{F}params__color = 1"),
    f'{F}tableType__ = "MANAGED_TABLE"',
)


def first_three(result: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(part.values[:3] for part in result)  # type: ignore[attr-defined]


SCRIPT: list[Probe] = [
    ask("for them", "create_database", Database(name=DB)),
    ask("of many types", "create_table", table(DB, "f", keys=KEYS)),
    ask("plain", "create_table", table(DB, "t1")),
    *(
        ask(
            f"{n}",
            "add_partition",
            partition(DB, "f", (*row, f"{n}.50", "ab", str(n), "2024-01-01 00:00:00", f"v{n}")),
            show=lambda part: part.values,
        )
        for n, row in enumerate(ROWS, 1)
    ),
    *(ask(repr(text), "get_partitions_by_filter", DB, "f", text, -1, show=first_three) for text in FILTERS),
    *(ask(repr(text), "get_num_partitions_by_filter", DB, "f", text) for text in FILTERS),
    ask("null", "get_partitions_by_filter", DB, "f", None, -1, show=first_three),
    ask("at most one", "get_partitions_by_filter", DB, "f", "h > 0", 1, show=len),
    ask("at most none", "get_partitions_by_filter", DB, "f", "h > 0", 0, show=len),
    ask("of no table", "get_partitions_by_filter", DB, "nope", "h > 0", 1),
    ask("of a plain table", "get_partitions_by_filter", DB, "t1", "h > 0", 1),
    ask("of a plain table, nothing", "get_partitions_by_filter", DB, "t1", "", 1),
    ask("of no table", "get_num_partitions_by_filter", DB, "nope", "h > 0"),
    ask("of a plain table", "get_num_partitions_by_filter", DB, "t1", "h > 0"),
    ask("red", "create_table", table(DB, "red", parameters={"color": "red"}, lastAccessTime=9)),
    ask("green", "create_table", table(DB, "green", parameters={"color": "green"}, owner="alice")),
    ask("external", "create_table", external(DB, "ext", parameters={"color": "red"})),
    *(ask(repr(text), "get_table_names_by_filter", DB, text, -1, show=sorted) for text in TABLE_FILTERS),
    ask("at most two", "get_table_names_by_filter", DB, f'{F}owner__ = "bob"', 2, show=len),
    ask("at most none", "get_table_names_by_filter", DB, f'{F}owner__ = "bob"', 0, show=len),
    ask("of no database", "get_table_names_by_filter", "nodb", f'{F}owner__ = "bob"', 2),
    ask("of an empty database", "get_table_names_by_filter", "", f'{F}owner__ = "bob"', 2),
    ask("null", "get_table_names_by_filter", DB, None, 2),
    ask("all", "drop_database", DB, True, True),
]
