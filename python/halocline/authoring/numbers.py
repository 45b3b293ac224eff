"""Python's numbers as text of the language, whose numbers are exact rationals.

Every type of the language rounds the text of a float as it would round the float itself. That is `repr`, which means
the same double. Only where a float lies half way between two numbers of a narrower type might the text lie on one side
of it: then it is the exact value.
"""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from .._errors import ArgumentError
from .errors import StencilError
from .levels import Level

# Bits of the significand and the least exponent of a normal number: f32, f16, bf16.
_NARROW_TYPES = ((24, -126), (11, -14), (8, -126))


def is_number(value: object) -> bool:
    return isinstance(value, (numbers.Number, Decimal)) or _is_numpy_number(value)


def number_text(value) -> tuple[str, Level]:
    """The text of a number and how tightly it binds."""
    if _is_numpy_number(value):
        value = value.item()
    if isinstance(value, bool):
        return ("true" if value else "false"), Level.PRIMARY
    if isinstance(value, int):
        return _signed(value < 0, str(abs(value)), Level.PRIMARY)
    if isinstance(value, Decimal):
        value = Fraction(value) if value.is_finite() else float(value)
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, numbers.Rational):
        if value.denominator == 1:
            return number_text(int(value.numerator))
        return _signed(value < 0, f"{abs(value.numerator)}/{value.denominator}", Level.PRODUCT)
    if isinstance(value, complex):
        return _complex_text(value)
    raise StencilError(f"{type(value).__name__} is no kind of number that a stencil can hold")


def _is_numpy_number(value: object) -> bool:
    return type(value).__module__ == "numpy" and getattr(value, "shape", None) == ()


@lru_cache(maxsize=1024)  # a weight is written many times
def _float_text(value: float) -> tuple[str, Level]:
    if not math.isfinite(value):
        raise ArgumentError(f"{value} is no number that a stencil can hold: its numbers are exact and finite")
    size = Fraction(abs(value))
    if size.denominator == 1 and size < 2**53:
        return _signed(value < 0, str(size.numerator), Level.PRIMARY)
    text = repr(abs(value))
    if Fraction(text) == size or not any(_is_half_way(size, bits, least) for bits, least in _NARROW_TYPES):
        return _signed(value < 0, text, Level.PRIMARY)
    if size.denominator == 1:
        return _signed(value < 0, str(size.numerator), Level.PRIMARY)
    return _signed(value < 0, f"{size.numerator}/2^{size.denominator.bit_length() - 1}", Level.PRODUCT)


def _is_half_way(size: Fraction, bits: int, least: int) -> bool:
    exponent = max(math.frexp(float(size))[1] - 1, least)
    halves = size / Fraction(2) ** (exponent - bits)
    return halves.denominator == 1 and halves.numerator % 2 == 1


def _complex_text(value: complex) -> tuple[str, Level]:
    imaginary, level = number_text(abs(value.imag))
    imaginary = imaginary + "i" if level == Level.PRIMARY else f"{imaginary} * 1i"
    if value.real == 0:
        return _signed(value.imag < 0, imaginary, level)
    return f"{number_text(value.real)[0]} {'-' if value.imag < 0 else '+'} {imaginary}", Level.SUM


def _signed(is_negative: bool, text: str, level: Level) -> tuple[str, Level]:
    return (f"-{text}", min(level, Level.SIGN)) if is_negative else (text, level)
