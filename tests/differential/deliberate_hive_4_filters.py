"""Where metastored means to differ from Hive 4 in partition filters and table filters; see `deliberate.py`."""

from __future__ import annotations

from typing import Final

from tests.differential.deliberate import Difference, same_words
from tests.differential.script import HIVE_4

UNREADABLE: Final = "!MetaException Error parsing partition filter"
NOT_COMPARABLE: Final = "!MetaException Filtering is supported only on partition keys of type string"
NOTHING: Final = ("[]", "0")


def both_ways(*texts: str) -> tuple[str, ...]:
    """The lines of partition filters, which are both listed and counted."""
    return tuple(
        f"filters/{method}: {text!r}"
        for method in ("get_partitions_by_filter", "get_num_partitions_by_filter")
        for text in texts
    )


def of_tables(*texts: str) -> tuple[str, ...]:
    return tuple(f"filters/get_table_names_by_filter: {text!r}" for text in texts)


def both_begin(text: str, *sides: str) -> bool:
    return all(side.startswith(text) for side in sides)


DIFFERENCES_IN_FILTERS: Final = (
    Difference(
        "What cannot be read is told in the words of ANTLR 4; metastored says where it is, as before, and"
        " what would work",
        (
            *both_ways(
                *("ds = a", "(ds) in ()", "d = date 2024-01-01", "d = date2024-01-01", "d = 2024-13-45", "ds ="),
                *("not h = 1", "ds is null", "h", "h+1=2", "true", "()", '(ds = "a"', 'ds = "a" and', "   "),
                *('ds = "a" and h', "h = +1", "1 = 1", "ds = ds", "1 between h and 3"),
            ),
            *of_tables("zzz"),
        ),
        lambda hive, metastored: both_begin(UNREADABLE, hive, metastored),
        HIVE_4,
    ),
    Difference(
        "A filter is read to its end; Hive ignores what it does not understand, and answers with partitions that"
        " nobody asked for",
        both_ways('ds = "a" xor h = 1', "h = 1.5", 'ds = "a" ;', 'ds="a"h=1'),
        lambda hive, metastored: hive in ("[['a', '1', '2024-01-01']]", "1") and metastored.startswith(UNREADABLE),
        HIVE_4,
    ),
    Difference(
        "So Hive refuses the key, and metastored the fraction",
        both_ways("dec = 1.5"),
        lambda hive, metastored: hive == NOT_COMPARABLE and metastored.startswith(UNREADABLE),
        HIVE_4,
    ),
    Difference(
        "A list needs no brackets around its key",
        both_ways("h in (1,2)"),
        lambda hive, metastored: (
            hive.startswith(UNREADABLE) and metastored in ("[['a', '1', '2024-01-01'], ['b', '2', '2024-02-01']]", "2")
        ),
        HIVE_4,
    ),
    Difference(
        "A list may hold one struct alone, as clients of 2.3 write it",
        both_ways('(struct(ds,h)) NOT IN (const struct("a",1))'),
        lambda hive, metastored: (
            hive.startswith(UNREADABLE) and (metastored == "7" or metastored.startswith("[['A', '-1', "))
        ),
        HIVE_4,
    ),
    Difference(
        "LIKE understands `.*` as well as SQL's wildcards: clients of all generations ask",
        both_ways('ds like "a.*"', 'ds like ".*b.*"'),
        lambda hive, metastored: hive in NOTHING and (metastored == "3" or metastored.startswith("[['a b', ")),
        HIVE_4,
    ),
    Difference(
        "The same of SQL's wildcards, where Hive has only its own",
        of_tables('hive_filter_field_params__color like "%e%"'),
        lambda hive, metastored: hive == "[]" and metastored == "['ext', 'green', 'red']",
        HIVE_4,
    ),
    Difference(
        "Each condition stands for itself; Hive compares all of a filter as text when it must do so with one part, and"
        " numbers not at all",
        both_ways('d = "notadate" or h = 1'),
        lambda hive, metastored: hive == NOT_COMPARABLE and metastored in ("[['a', '1', '2024-01-01']]", "1"),
        HIVE_4,
    ),
    Difference(
        "An empty text is equal to no value; 4.0.0 makes a partition's name of it and stumbles, and 4.0.1 no longer",
        both_ways('ds = ""', "ds = ''"),
        lambda hive, metastored: hive == "!MetaException Partition spec is incorrect. {ds=}" and metastored in NOTHING,
        ("4.0.0",),
    ),
    Difference(
        "Java prints the operators of a hash set in the order of a run",
        of_tables('hive_filter_field_params__transient_lastDdlTime > "1"'),
        same_words,
        HIVE_4,
        sometimes=True,
    ),
    Difference(
        "A literal of the wrong type is an error; Hive leaves it to its database",
        of_tables('hive_filter_field_last_access__ = "0"'),
        lambda hive, metastored: (
            hive == "['ext', 'f', 'green', 't1']"
            and metastored
            == "!MetaException hive_filter_field_last_access__ is compared with seconds, an integer, not '0'"
        ),
        HIVE_4,
    ),
    Difference(
        "The same",
        of_tables("hive_filter_field_owner__ = 1"),
        lambda hive, metastored: (
            hive == "[]"
            and metastored == "!MetaException hive_filter_field_owner__ is compared with quoted text, not 1"
        ),
        HIVE_4,
    ),
)
