"""numpy's functions and sympy's expressions in stencils."""

from __future__ import annotations

from fractions import Fraction

import halocline as hl
import numpy as np
import pytest
from spec_tools import assert_same, body

pytestmark = pytest.mark.filterwarnings("ignore::halocline.SpecWarning")  # much is declared here alone


def test_functions_of_numpy():
    @hl.stencil
    def ufuncs(x):
        u, v = hl.fields("f64", boundary=hl.periodic)
        a, b, c = hl.fields("f64")
        z = hl.field("c128")
        a[:] = np.sin(u) + np.exp(-np.square(v)) * np.arctan2(u, v) - np.maximum(u, 0.5) + np.abs(u) + np.rint(v)
        b[:] = (
            np.float64(2) * u + np.add(u, 1) / np.float32(0.5) - np.where(np.logical_and(u > 0, v > 0), u, np.sqrt(2))
        )
        c[:] = np.clip(u, 0, 1) + np.real(z) + np.power(u, 2) + np.reciprocal(v) + np.dot(np.array([1, 2]), [u, v])

    assert_same(
        ufuncs,
        """
        stencil ufuncs(x) {
            field u, v: f64 { boundary periodic }
            field a, b, c: f64
            field z: c128
            a = sin(u) + exp(-v^2) * atan2(u, v) - max(u, 0.5) + abs(u) + round(v)
            b = 2 * u + (u + 1) / 0.5 - (if u > 0 and v > 0 then u else 1.4142135623730951)
            c = min(max(u, 0), 1) + re(z) + u^2 + 1 / v + dot([1, 2], [u, v])
        }
        """,
    )


def test_arrays_are_vectors():
    @hl.stencil
    def vectors(x, y):
        v = hl.field({"x": "f64", "y": "f64"}, boundary=hl.periodic)
        v.next = v + np.array([0.5, 1]) + [1, v.x] - (0, 2)

    assert body(vectors)[-1] == "v[t+1] = v + [0.5, 1] + [1, v.x] - [0, 2]"


sympy = pytest.importorskip("sympy", reason="sympy is not installed: its expressions are not tested")


def test_derivatives_of_sympy():
    c = sympy.Symbol("c")
    energy = (c**2 - 1) ** 2 / 4

    @hl.stencil
    def cahn_hilliard(x, y):
        gamma, dt = hl.param(0.5), hl.param(0.01)
        c = hl.field("f32", boundary=hl.periodic)
        mu = hl.let(sympy.expand(sympy.diff(energy, sympy.Symbol("c"))) - gamma * hl.laplacian(c))
        c.next = c + dt * hl.laplacian(mu)

    assert_same(
        cahn_hilliard,
        """
        stencil cahn_hilliard(x, y) {
            param gamma = 0.5, dt = 0.01
            field c: f32 { boundary periodic }
            let mu = c^3 - c - gamma * laplacian(c)
            c[t+1] = c + dt * laplacian(mu)
        }
        """,
    )


def _printed(value, symbols=None) -> str:
    @hl.stencil
    def one(x):
        a, b = hl.fields("f64")
        out = hl.field("f64")
        out[:] = hl.from_sympy(value, symbols)

    return " ".join(body(one)[2:]).removeprefix("out = ")


a, b = sympy.symbols("a b")


@pytest.mark.parametrize(
    "value, text",
    [
        (a + b, "a + b"),
        (a - b, "a - b"),
        (-a, "-a"),
        (a / b, "a / b"),
        (1 / (a * b**2), "1 / (a * b^2)"),
        (sympy.Rational(2, 3) * a, "2/3 * a"),
        (a * sympy.Rational(-1, 3) + 1, "1 - 1/3 * a"),
        (sympy.sqrt(a), "sqrt(a)"),
        (1 / sympy.sqrt(a), "1 / sqrt(a)"),
        (a**b, "a^b"),
        (a**-2, "1 / a^2"),
        (sympy.exp(-a) * sympy.sin(b), "exp(-a) * sin(b)"),
        (sympy.Float(0.1) * a, "0.1 * a"),
        (sympy.pi * a, "pi * a"),
        (sympy.Max(a, b, 0), "max(0, a, b)"),
        (sympy.Abs(a), "abs(a)"),
        (sympy.Piecewise((a, a > 0), (b, True)), "if a > 0 then a else b"),
        (sympy.Piecewise((a, (a > 0) & (b <= 1)), (0, True)), "if a > 0 and b <= 1 then a else 0"),
    ],
)
def test_expressions_of_sympy(value, text):
    assert sorted(_printed(value)) == sorted(text)
    assert _printed(value) == text or value.is_Add or isinstance(value, (sympy.Max, sympy.Piecewise))


def test_values_of_sympy_expressions():
    """Random expressions, printed and read again by Python, have the value that sympy gives them."""
    random = np.random.default_rng(7)
    for _ in range(200):
        value = _random(random, 4)
        text = _printed(value).replace("^", "**")
        scope = {"a": 0.7, "b": 1.3, "sqrt": np.sqrt, "exp": np.exp, "sin": np.sin, "pi": np.pi, "i": 1j}
        expected = complex(value.subs({a: 0.7, b: 1.3}))
        if "if " in text or abs(expected.imag) > 0:
            continue
        assert eval(text, scope) == pytest.approx(expected.real, rel=1e-9), (value, text)


def _random(random, depth: int):
    if depth == 0:
        return [a, b, sympy.Integer(2), sympy.Rational(-1, 3), sympy.Float(0.25)][random.integers(5)]
    first, second = _random(random, depth - 1), _random(random, depth - 1)
    kind = random.integers(7)
    if kind == 0:
        return first + second
    if kind == 1:
        return first - second
    if kind == 2:
        return first * second
    if kind == 3:
        return first / (second**2 + 1)
    if kind == 4:
        return -first
    if kind == 5:
        return sympy.sin(first)
    return (first**2 + 1) ** sympy.Rational(-1, 2)


def test_symbols_stand_for_what_is_said():
    @hl.stencil
    def mapped(x):
        u = hl.field("f64", boundary=hl.periodic)
        u.next = hl.from_sympy(a + b**2, {a: u[x + 1], "b": Fraction(1, 3)})

    assert body(mapped)[-1] == "u[t+1] = u[x+1] + (1/3)^2" or body(mapped)[-1] == "u[t+1] = (1/3)^2 + u[x+1]"


def test_what_has_no_counterpart():
    with pytest.raises(hl.StencilError, match="gamma has no counterpart"):
        _printed(sympy.gamma(a))
    with pytest.raises(hl.StencilError, match="symbol `c`"):
        _printed(sympy.Symbol("c"))
    with pytest.raises(hl.StencilError, match="ends with a value for all other cases"):
        _printed(sympy.Piecewise((a, a > 0)))
