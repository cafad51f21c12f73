"""Quartz's cron expressions, the schedules of Hive's scheduled queries: the next moment after another one.

    seconds minutes hours day-of-month month day-of-week [year]      0 30 2 ? * MON-FRI

Days of the week are 1 (Sunday) to 7. One of the two kinds of days is `?`. `L` is the last day, `L-3` the third before
it, `15W` the weekday nearest to the 15th, `LW` the last weekday, `6L` the last Friday, `6#3` the third one. Times have
no zone here, and nothing reads a clock.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Final, NamedTuple

from metastored.hive.limits import MAX_SCHEDULE, shortened

YEARS: Final = (1970, 2099)
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEK = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_PART = re.compile(r"(?:(\*)|(\w+)(?:-(\w+))?)(?:/(\d+))?\Z")
_LAST = re.compile(r"L(?:-(\d+))?\Z")

DayTest = Callable[[date], bool]


class QuartzError(ValueError):
    """The text is not a Quartz expression."""


class Schedule(NamedTuple):
    """A parsed expression."""

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    day: DayTest
    months: frozenset[int]
    years: frozenset[int]

    def after(self, moment: datetime) -> datetime | None:
        """The first moment that is later, or None if there is none until the year 2099."""
        moment = moment.replace(microsecond=0) + timedelta(seconds=1)
        day, clock = moment.date(), moment.time()
        while day.year <= YEARS[1]:
            if day.year not in self.years:
                day = date(day.year + 1, 1, 1)
            elif day.month not in self.months:
                day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
            else:
                time_of_day = self._on(clock) if self.day(day) else None
                if time_of_day is not None:
                    return datetime.combine(day, time_of_day)
                day += timedelta(days=1)
            clock = time()
        return None

    def _on(self, clock: time) -> time | None:
        """The first time of a day that is not earlier."""
        for hour in self.hours:
            if hour < clock.hour:
                continue
            for minute in self.minutes:
                if (hour, minute) < (clock.hour, clock.minute):
                    continue
                for second in self.seconds:
                    if (hour, minute, second) >= (clock.hour, clock.minute, clock.second):
                        return time(hour, minute, second)
        return None


def parse(text: str) -> Schedule:
    """Parses an expression. Raises QuartzError if it is invalid."""
    if len(text) > MAX_SCHEDULE:
        raise QuartzError(
            f"an expression of {len(text)} characters ({shortened(text)}); at most {MAX_SCHEDULE} are accepted"
        )
    fields = text.upper().split()
    if len(fields) not in (6, 7):
        raise QuartzError(f"{text!r} has {len(fields)} fields; 6 or 7 were expected")
    seconds, minutes, hours, days, months, week = fields[:6]
    if (days == "?") == (week == "?"):
        raise QuartzError(f"{text!r}: one of day of month and day of week is ?, and not both")
    return Schedule(
        _numbers(seconds, 0, 59),
        _numbers(minutes, 0, 59),
        _numbers(hours, 0, 23),
        _any_of(days, _day_of_month) if week == "?" else _any_of(week, _day_of_week),
        frozenset(_numbers(months, 1, 12, _MONTHS)),
        frozenset(_numbers(fields[6] if len(fields) == 7 else "*", *YEARS)),
    )


def _numbers(text: str, low: int, high: int, names: tuple[str, ...] = ()) -> tuple[int, ...]:
    numbers: set[int] = set()
    for part in text.split(","):
        match = _PART.match(part)
        if match is None:
            raise QuartzError(f"{part!r} is not a number, range or step")
        star, first, last, step = match.groups()
        begin = low if star else _number(first, low, high, names)
        end = high if star or (last is None and step) else _number(last or first, low, high, names)
        if end < begin:
            if not names:
                raise QuartzError(f"{part!r} begins after its end")
            end += high - low + 1  # A range of weekdays or months may wrap around.
        stride = int(step or 1)
        if stride < 1:
            raise QuartzError(f"{part!r} has a step of 0")
        numbers.update((number - low) % (high - low + 1) + low for number in range(begin, end + 1, stride))
    return tuple(sorted(numbers))


def _number(text: str, low: int, high: int, names: tuple[str, ...]) -> int:
    number = names.index(text) + low if text in names else int(text) if text.isdecimal() else None
    if number is None or not low <= number <= high:
        raise QuartzError(f"{text!r} is not within {low} to {high}")
    return number


def _any_of(text: str, test: Callable[[str], DayTest]) -> DayTest:
    tests = [test(part) for part in text.split(",")]
    return lambda day: any(each(day) for each in tests)


def _last(day: date) -> int:
    return monthrange(day.year, day.month)[1]


def _day_of_month(part: str) -> DayTest:
    if part == "LW":
        return lambda day: day.day == _weekday(day, _last(day))
    if match := _LAST.match(part):
        back = int(match[1] or 0)
        return lambda day: day.day == _last(day) - back
    if part.endswith("W"):
        target = _number(part[:-1], 1, 31, ())
        return lambda day: target <= _last(day) and day.day == _weekday(day, target)
    days = frozenset(_numbers(part, 1, 31))
    return lambda day: day.day in days


def _weekday(day: date, target: int) -> int:
    """The weekday nearest to a day, within the month."""
    of_week = day.replace(day=target).weekday()
    if of_week == 5:
        return target - 1 if target > 1 else target + 2
    if of_week == 6:
        return target + 1 if target < _last(day) else target - 2
    return target


def _day_of_week(part: str) -> DayTest:
    if part == "L":
        part = "7"
    elif part.endswith("L"):
        weekday = _number(part[:-1], 1, 7, _WEEK)
        return lambda day: _of_week(day) == weekday and day.day + 7 > _last(day)
    if "#" in part:
        name, _, nth = part.partition("#")
        weekday, which = _number(name, 1, 7, _WEEK), _number(nth, 1, 5, ())
        return lambda day: _of_week(day) == weekday and (day.day - 1) // 7 + 1 == which
    days = frozenset(_numbers(part, 1, 7, _WEEK))
    return lambda day: _of_week(day) in days


def _of_week(day: date) -> int:
    return day.isoweekday() % 7 + 1
