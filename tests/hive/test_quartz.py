"""Cron expressions of Quartz. Next times that a real Hive 4 computed are compared in `tests/differential`."""

from datetime import datetime

import pytest

from metastored.hive.quartz import QuartzError, parse

MONDAY = datetime(2024, 1, 1, 12, 30, 15)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* * * * * ?", "2024-01-01 12:30:16"),
        ("0 * * * * ? *", "2024-01-01 12:31:00"),
        ("0 0/20 * * * ?", "2024-01-01 12:40:00"),
        ("0 10-20/5,50 * * * ?", "2024-01-01 12:50:00"),
        ("15 30 12 * * ?", "2024-01-02 12:30:15"),
        ("0 0 2 ? * MON-FRI", "2024-01-02 02:00:00"),
        ("0 0 2 ? * SAT-SUN", "2024-01-06 02:00:00"),
        ("0 0 2 ? * 1", "2024-01-07 02:00:00"),
        ("0 0 0 L * ?", "2024-01-31 00:00:00"),
        ("0 0 0 L-2 FEB ?", "2024-02-27 00:00:00"),
        ("0 0 0 LW 6 ?", "2024-06-28 00:00:00"),
        ("0 0 0 1W 6 ?", "2024-06-03 00:00:00"),
        ("0 0 0 31W 3 ?", "2024-03-29 00:00:00"),
        ("0 0 0 ? * 6L", "2024-01-26 00:00:00"),
        ("0 0 0 ? * L", "2024-01-06 00:00:00"),
        ("0 0 0 ? * 2#5", "2024-01-29 00:00:00"),
        ("0 0 0 29 2 ? 2025/1", "2028-02-29 00:00:00"),
        ("0 0 0 15,1 NOV-FEB ?", "2024-01-15 00:00:00"),
    ],
)
def test_the_next_moment(text: str, expected: str) -> None:
    assert str(parse(text).after(MONDAY)) == expected


@pytest.mark.parametrize("text", ["0 0 0 1 1 ? 2001", "0 0 0 31 2 ?"])
def test_some_moments_never_come(text: str) -> None:
    assert parse(text).after(MONDAY) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "every day",
        "* * * * *",
        "* * * * * *",
        "* * * ? * ?",
        "60 * * * * ?",
        "* * * * 13 ?",
        "* * * ? * FOO",
        "* * * 0 * ?",
        "*/0 * * * * ?",
        "30-10 * * * * ?",
        "* * * ? * 2#6",
        "* * * XW * ?",
        "- * * * * ?",
    ],
)
def test_bytes_that_are_no_expression_are_refused(text: str) -> None:
    with pytest.raises(QuartzError):
        parse(text)
