"""Values as metastores store them: times, empty texts, locations, decimals. Pure.

Other programs write values in several spellings. The usual ones are read here; a value that cannot be read raises
ConversionError, which names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from metastored.errors import ConversionError
from metastored.hive.locations import LocationError, canonical
from metastored.hive.types.type_strings import Decimal, TypeSyntaxError, read_type


def text(value: str | None) -> str | None:
    """A text; None also where a server writes an empty one, or blanks, for null."""
    return value if value is not None and value.strip() else None


def legible(value: str, encoding: str | None = None) -> str:
    """A text without lone surrogates, which stand for bytes that are not UTF-8. Without `encoding`, each is Latin-1.

    The structs of the client keep such bytes, so that they are written back unchanged. Texts for people, in the catalog
    and in Arrow schemas, go through this function.
    """
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        data = value.encode("utf-8", "surrogateescape")
        return value.translate(_LATIN_1) if encoding is None else data.decode(encoding)
    return value


_LATIN_1: Final = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}


def shown(value: str | None) -> str | None:
    """A text for people: legible, and None where a server writes an empty text or blanks for null."""
    shown_text = text(value)
    return None if shown_text is None else legible(shown_text)


def shown_map(values: Mapping[str, str] | None) -> dict[str, str]:
    """Parameters for people: legible keys and values."""
    return {legible(key): legible(value) for key, value in (values or {}).items()}


def moment(seconds: int | str | None) -> datetime | None:
    """Seconds since 1970 as a time in UTC, whatever the zone of the server is; None for null, 0 and -1 (not set).

    A number of more than eleven digits is in milliseconds. Raises ConversionError for anything else.
    """
    if seconds is None or seconds == "":
        return None
    try:
        number = int(seconds)
        if number in _NOT_SET:
            return None
        thousandths = number if abs(number) >= _MILLISECONDS else number * 1000
        return _EPOCH + timedelta(milliseconds=thousandths)
    except (ValueError, OverflowError) as error:
        raise ConversionError(f"{seconds!r} is not a time in seconds or milliseconds since 1970") from error


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NOT_SET: Final = (0, -1)
_MILLISECONDS: Final = 10**11
"""Seconds until the year 5138; in milliseconds, the year 1973."""


def seconds(time: datetime) -> int:
    """A time in whole seconds since 1970, as metastores store it. A time without a zone is in UTC."""
    aware = time.replace(tzinfo=UTC) if time.tzinfo is None else time
    return (aware - _EPOCH) // timedelta(seconds=1)


def location(uri: str | None) -> str | None:
    """A location in one form, as Hadoop compares them: no double and no trailing slashes."""
    if text(uri) is None:
        return None
    try:
        return canonical(uri or "")
    except LocationError as error:
        raise ConversionError(f"{uri!r} is not a location: {error}") from error


def shown_location(uri: str | None) -> str | None:
    """A stored location in one form; a text that is not a location is returned as it is stored."""
    try:
        shown_uri = location(uri)
    except ConversionError:
        shown_uri = text(uri)
    return None if shown_uri is None else legible(shown_uri)


def decimal(type: str) -> tuple[int, int]:
    """Precision and scale of `decimal(10,2)`, `decimal(10)` or `decimal`, also with blanks or in capitals."""
    try:
        parsed = read_type(type)
    except TypeSyntaxError as error:
        raise ConversionError(f"{type!r} is not a type: {error}") from error
    if not isinstance(parsed, Decimal):
        raise ConversionError(f"{type!r} is not a decimal")
    return parsed.precision, parsed.scale
