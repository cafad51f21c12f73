"""Decimal numbers as Hive's statistics carry them: an unscaled number in bytes, and a scale. No rounding anywhere."""

from __future__ import annotations

from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def decimal_value(parts: tuple[bytes | None, int | None]) -> Decimal:
    """The number of (unscaled bytes, big-endian in two's complement; scale)."""
    unscaled, scale = parts
    return Decimal(int.from_bytes(unscaled or b"\x00", signed=True)).scaleb(-(scale or 0), context=_EXACT)


def decimal_parts(value: Decimal) -> tuple[bytes, int]:
    """The shortest bytes, and the scale that the number is written with; the opposite of `decimal_value`."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError(f"{value} is not a number")
    unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
    bits = (unscaled + 1).bit_length() if unscaled < 0 else unscaled.bit_length()
    return unscaled.to_bytes(bits // 8 + 1, signed=True), -exponent
