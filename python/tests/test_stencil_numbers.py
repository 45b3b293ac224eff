"""Numbers in stencils from Python: their text, exact where they can be."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import halocline as hl
import numpy
import pytest
from halocline.authoring.numbers import number_text
from spec_tools import assert_same, body


def test_numbers():
    @hl.stencil
    def numbers(x):
        radius = hl.const(2)
        third = hl.const(Fraction(1, 3))
        h, n = hl.param(hl.pi / 63), hl.param(3, type="i32")
        damping = hl.param()
        c = hl.coef([2 / 3, -1 / 12], low=1)
        w = hl.coef(numpy.array([[1, 2], [3, 4]]) / 16, low=(-1, 0), param=True)
        hl.spacing(x=h)
        hl.origin(x=-1)
        u = hl.field("f64", boundary=hl.periodic)
        u.next = (
            sum(c[r] * (u[x + r] - u[x - r]) for r in (1, 2)) + w[-1, 1] * third * damping + n * radius * Decimal("0.1")
        )

    assert_same(
        numbers,
        """
        stencil numbers(x) {
            const radius = 2, third = 1/3
            param h = pi/63, n: i32 = 3, damping
            coef c[1..2] = [0.6666666666666666, -0.08333333333333333]
            param coef w[-1..0, 0..1] = [[1/16, 2/16], [3/16, 4/16]]
            spacing x = h
            origin x = -1
            field u: f64 { boundary periodic }
            u[t+1] = c[1] * (u[x+1] - u[x-1]) + c[2] * (u[x+2] - u[x-2]) + w[-1, 1] * third * damping + n * radius * (1/10)
        }
        """,
    )


@pytest.mark.parametrize(
    "number, text",
    [
        (1, "1"),
        (-2, "-2"),
        (3.0, "3"),
        (0.1, "0.1"),
        (1e-5, "1e-05"),
        (1e300, "1e+300"),
        (2.0**-1074, "5e-324"),
        (Fraction(1, 3), "1/3"),
        (Fraction(-1, 3), "-1/3"),
        (numpy.float32(0.25), "0.25"),
        (numpy.int64(7), "7"),
        (numpy.array(2.5), "2.5"),
        (Decimal("0.125"), "1/8"),
        (2j, "2i"),
        (1 - 2j, "1 - 2i"),
        (True, "true"),
        (1 + 2.0**-24, "16777217/2^24"),  # half way between two numbers of f32
        (2.0**60 + 2.0**36, "1152921573326323712"),
    ],
)
def test_text_of_numbers(number, text):
    @hl.stencil
    def one(x):
        if isinstance(number, bool):
            out = hl.field("bool")
        else:
            out = hl.field("c128" if isinstance(number, complex) else "f64")
        out[:] = number

    assert body(one)[-1] == f"out = {text}"


@pytest.mark.parametrize("seed", range(20))
def test_floats_keep_their_value_in_every_type(seed):
    """The text of a float, read exactly, rounds to f64, f32, f16 and bf16 as the float does."""
    random = numpy.random.default_rng(seed)
    floats = list(random.normal(size=20) * 10.0 ** random.integers(-9, 9, size=20))
    for bits, least, _ in NARROW:
        for mantissa in random.integers(
            1, 2 ** (bits + 1), size=20
        ):  # the odd ones are half way between two neighbours
            exponent = int(random.integers(least - 3, 12))
            floats.append(float(mantissa) * 2.0 ** (exponent - bits))
    for number in map(float, floats):
        text, _ = number_text(number)
        exact = _exact(text)
        assert float(exact) == number
        for bits, least, _ in NARROW:
            assert _rounded(exact, bits, least) == _rounded(Fraction(number), bits, least), (text, bits)


NARROW = [(24, -126, "f32"), (11, -14, "f16"), (8, -126, "bf16")]


def _exact(text: str) -> Fraction:
    above, _, below = text.partition("/2^")
    return Fraction(above) / 2 ** int(below or 0)


def _rounded(value: Fraction, bits: int, least: int) -> Fraction:
    """To nearest, ties to even; numbers past the largest are no matter here."""
    exponent = least
    while abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - bits + 1)
    return round(value / unit) * unit
