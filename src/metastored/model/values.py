"""Values as metastores store them: times, empty texts, locations, decimals. Pure.

Other programs write what they like into a metastore. The usual spellings are read here; a value that cannot be read
raises ConversionError, which names it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from metastored.errors import ConversionError
from metastored.hive.locations import LocationError, canonical
from metastored.hive.types.type_strings import Decimal, TypeSyntaxError, parse_type


def text(value: str | None) -> str | None:
    """A text; None also where a server writes an empty one, or blanks, for null."""
    return value if value is not None and value.strip() else None


def legible(value: str, encoding: str = "latin-1") -> str:
    """A text whose bytes were not UTF-8, read in another encoding.

    Such bytes come as lone surrogates, so that they go back to the server as they were; this is for showing them.
    """
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape").decode(encoding)
    return value


def moment(seconds: int | str | None) -> datetime | None:
    """Seconds since 1970 as a time in UTC, whatever the zone of the server is; None for null, 0 and -1."""
    if seconds is None or seconds == "":
        return None
    try:
        number = int(seconds)
        return datetime.fromtimestamp(number, UTC) if number > 0 else None
    except (ValueError, OverflowError, OSError) as error:
        raise ConversionError(f"{seconds!r} is not a time in seconds since 1970") from error


def seconds(time: datetime) -> int:
    """A time as the metastore keeps it. A time without a zone is refused: nobody knows which one is meant."""
    if time.tzinfo is None:
        raise ConversionError(f"{time} has no time zone; write it with one, such as datetime.UTC")
    return int(time.timestamp())


def location(uri: str | None) -> str | None:
    """A location in one form, as Hadoop compares them: no double and no trailing slashes."""
    if text(uri) is None:
        return None
    try:
        return canonical(uri or "")
    except LocationError as error:
        raise ConversionError(f"{uri!r} is not a location: {error}") from error


def decimal(type: str) -> tuple[int, int]:
    """Precision and scale of `decimal(10,2)`, `decimal(10)` or `decimal`, also with blanks or in capitals."""
    try:
        parsed = parse_type("".join(type.lower().split()))
    except TypeSyntaxError as error:
        raise ConversionError(f"{type!r} is not a type: {error}") from error
    if not isinstance(parsed, Decimal):
        raise ConversionError(f"{type!r} is not a decimal")
    return parsed.precision, parsed.scale
