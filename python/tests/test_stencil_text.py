"""Each construct of the language, as Python says it, against the spec that is written by hand."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import halocline as hl
import numpy
import pytest
from halocline import t
from halocline.authoring.numbers import number_text
from spec_tools import assert_same, body, formatted, meaning


def test_prints_as_it_is_laid_out_by_hand():
    @hl.stencil
    def heat(x, y):
        """Heat in a plate.

        Explicit Euler."""
        lam, dt = hl.param(1), hl.param(0.2)
        u = hl.field("f32", boundary=hl.fixed(10))
        u.next = u + lam * dt * hl.laplacian(u)
        hl.reduce(change=hl.max(abs(u.next - u)))

    assert str(heat) + "\n" == heat.text
    assert (
        heat.text
        == """\
# Heat in a plate.
#
# Explicit Euler.
stencil heat(x, y) {
    param lam = 1
    param dt = 0.2

    field u: f32 { boundary fixed 10 }

    u[t+1] = u + lam * dt * laplacian(u)

    reduce change = max(abs(u[t+1] - u))
}
"""
    )
    assert formatted(heat.text) == heat.text
    assert repr(heat) == "<halocline.Stencil heat>"


def test_types_of_fields():
    @hl.stencil
    def kinds(x):
        half, brain, narrow = hl.field("f16"), hl.field("bf16"), hl.field("f32 as f64")
        count, large, grey = hl.field(numpy.int32), hl.field(numpy.dtype("int64")), hl.field(numpy.uint8)
        alive = hl.field(numpy.bool_)
        single, double = hl.fields(numpy.float64)
        populations = hl.field("f32[3]", layout="aos")
        psi = hl.field(numpy.complex64)
        single[:] = half + brain + narrow + hl.where(alive, 1, 0)
        double[...] = populations[0] + populations[2] + psi.re + hl.im(psi)
        count[x] = grey + 1
        large[:] = 2

    lines = body(kinds)
    assert lines[:11] == [
        "field half: f16",
        "field brain: bf16",
        "field narrow: f32 as f64",
        "field count: i32",
        "field large: i64",
        "field grey: u8",
        "field alive: bool",
        "field single, double: f64",
        "field populations: f32[3] { layout aos }",
        "field psi: c64",
        "single = half + brain + narrow + (if alive then 1 else 0)",
    ]
    assert formatted(kinds.text) == kinds.text


def test_boundaries_of_faces_and_components():
    @hl.stencil
    def channel(x, y):
        inflow = hl.param(1)
        u = hl.field("f32", boundary={x.low: hl.fixed(inflow), x.high: hl.clamp, y: "periodic"})
        q = hl.field("f32", boundary=hl.mirror)
        s = hl.field("f32", boundary={x.low: hl.robin(2, 1, 0.5), x.high: hl.extrapolate(1), ...: hl.gradient(-0.1)})
        a = hl.field("f32", boundary={x: hl.symmetric, y.low: hl.antisymmetric, y.high: hl.antimirror})
        v = hl.field(
            {"x": "f32", "y": "f32"}, boundary={...: hl.mirror, ("x", x): hl.antimirror, ("y", y): hl.antimirror}
        )
        w = hl.field({"x": "f32", "y": "f32"}, halo={x: 2, y.low: 1, y.high: 1}, boundary=hl.fixed([1, hl.pos(y) ** 2]))
        n = hl.field("f32", boundary={x.low: hl.free, x.high: hl.fixed(0), y: hl.fixed(0)})
        u.next = (u[x - 1] + u[x + 1] + u[y - 1] + u[y + 1]) / 4
        for each in (q, s, a, v, n):
            each.next = each + 0.1 * hl.laplacian(each)
        w.next = w[x - 2] + w[x + 2, y + 1] + w[y - 1]

    assert_same(
        channel,
        """
        stencil channel(x, y) {
            param inflow = 1
            field u: f32 { boundary x.low fixed inflow, x.high clamp, y periodic }
            field q: f32 { boundary mirror }
            field s: f32 {
                boundary x.low robin 2, 1, 1/2
                boundary x.high extrapolate 1, gradient -0.1
            }
            field a: f32 { boundary x symmetric, y.low antisymmetric, y.high antimirror }
            field v: (x: f32, y: f32) { boundary mirror, v.x x antimirror, v.y y antimirror }
            field w: (x: f32, y: f32) {
                halo x 2, y 1
                boundary fixed [1, pos(y)^2]
            }
            field n: f32 { boundary x.low free, x.high fixed 0, y fixed 0 }
            u[t+1] = (u[x-1] + u[x+1] + u[y-1] + u[y+1]) / 4
            q[t+1] = q + 0.1 * laplacian(q)
            s[t+1] = s + 0.1 * laplacian(s)
            a[t+1] = a + 0.1 * laplacian(a)
            v[t+1] = v + 0.1 * laplacian(v)
            n[t+1] = n + 0.1 * laplacian(n)
            w[t+1] = w[x-2] + w[x+2, y+1] + w[y-1]
        }
        """,
    )


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


def test_levels_and_neighbours():
    @hl.stencil
    def wave(x, y, t):
        c, dt = hl.param(1), hl.param(0.5)
        u = hl.field("f32", boundary=hl.clamp)
        v = hl.field("f32", boundary=hl.clamp)
        u[t + 1, x, y] = 2 * u[t, x, y] - u[t - 1, x, y] + (c * dt) ** 2 * hl.laplacian(u, order=4)
        v.next = u.next[x + 1] + v.prev[x - 1, y + 2] - v[t - 2] + (u + v)[x + 1]

    assert_same(
        wave,
        """
        stencil wave(x, y) {
            param c = 1, dt = 0.5
            field u, v: f32 { boundary clamp }
            u[t+1] = 2*u - u[t-1] + (c * dt)^2 * laplacian(u, order=4)
            v[t+1] = u[t+1, x+1] + v[t-1, x-1, y+2] - v[t-2] + (u[x+1] + v[x+1])
        }
        """,
    )


def test_operators_and_functions():
    @hl.stencil
    def operators(x, y):
        u, v = hl.fields("f64", boundary=hl.clamp)
        a, b, c, e = hl.fields("f64")
        r = hl.field("i32")
        a[:] = -(u**2) + (-u) ** 2 + 2**-u + (u**v) ** 2 + u ** (v**2) - (u - (v - 1)) - -v + +u
        b[:] = u / (v / 2) * (u * v) / (u / v) + abs(u) + round(v) + math.floor(u) + math.ceil(u) + math.trunc(v)
        c[:] = hl.where(
            (u > 0) & ~((v < 1) | (u == v)), hl.sqrt(abs(u)), hl.where(u >= v, hl.max(u, v, 0), hl.min(u, v))
        )
        e[:] = (
            hl.atan2(hl.sin(u), hl.cos(v)) + hl.exp(u) * hl.pow(abs(u), 1.5) + hl.tanh(hl.pi * u) + u ** Fraction(1, 2)
        )
        r[:] = (hl.idx(x) + hl.len(y)) // 3 + hl.idx(y) % 4 + hl.where((u != v) ^ (u < 0), 1, 0)

    assert_same(
        operators,
        """
        stencil operators(x, y) {
            field u, v: f64 { boundary clamp }
            field a, b, c, e: f64
            field r: i32
            a = -u^2 + (-u)^2 + 2^(-u) + (u^v)^2 + u^(v^2) - (u - (v - 1)) - (-v) + u
            b = u / (v / 2) * (u * v) / (u / v) + abs(u) + round(v) + floor(u) + ceil(u) + trunc(v)
            c = if u > 0 and not (v < 1 or u == v) then sqrt(abs(u)) else if u >= v then max(u, v, 0) else min(u, v)
            e = atan2(sin(u), cos(v)) + exp(u) * pow(abs(u), 1.5) + tanh(pi * u) + u^(1/2)
            r = div(idx(x) + len(y), 3) + mod(idx(y), 4) + (if (u != v) != (u < 0) then 1 else 0)
        }
        """,
    )


def test_derivatives():
    @hl.stencil
    def derivatives(x, y):
        hl.accuracy(4)
        hl.spacing(x=1 / 64, y=1 / 64)
        u = hl.field("f64", boundary=hl.periodic)
        v = hl.field({"x": "f64", "y": "f64"}, boundary=hl.periodic)
        u.next = (
            hl.d(u**2 / 2, x)
            + hl.d2(u, y, order=2)
            + hl.d(u, x, y)
            + hl.d(u, x, side="low", order=2)
            + hl.upwind(u, x, v.x, order=3)
            + hl.biharmonic(u, order=2)
            + hl.div(v)
            + hl.curl(v)
        )
        v.next = hl.grad(u) + hl.curl(u) + hl.laplacian(v) + hl.dot(v, v) * v - [hl.norm(v), hl.cross(v, v)]

    assert_same(
        derivatives,
        """
        stencil derivatives(x, y) {
            accuracy 4
            spacing x = 1/64, y = 1/64
            field u: f64 { boundary periodic }
            field v: (x: f64, y: f64) { boundary periodic }
            u[t+1] = d(u^2 / 2, x) + d2(u, y, order=2) + d(u, x, y) + d(u, x, side=low, order=2)
                + upwind(u, x, v.x, order=3) + biharmonic(u, order=2) + div(v) + curl(v)
            v[t+1] = grad(u) + curl(u) + laplacian(v) + dot(v, v) * v - [norm(v), cross(v, v)]
        }
        """,
    )


def test_staggered_fields():
    @hl.stencil
    def light(x, y):
        dt = hl.param(1 / 320)
        hl.spacing(x=1 / hl.len(x), y=1 / hl.len(y))
        e = hl.field("f32", boundary=hl.fixed(0))
        h = hl.field({"x": "f32", "y": "f32"}, at={"x": y + 1 / 2, "y": x + 0.5}, boundary=hl.clamp)
        p = hl.field("f32", at=(x + Fraction(1, 2), y + 1 / 2), boundary=hl.clamp)
        h.next = h - dt * hl.curl(e)
        e.next = e + dt * hl.curl(h.next)
        middle = hl.let(hl.interpolate(e, x), at=x + 1 / 2, boundary=hl.clamp)
        p.next = p + e[x + 1 / 2, y - 1 / 2] + hl.interpolate(middle, y)

    assert_same(
        light,
        """
        stencil light(x, y) {
            param dt = 0.003125
            spacing x = 1/len(x), y = 1/len(y)
            field e: f32 { boundary fixed 0 }
            field h: (x: f32 at y+1/2, y: f32 at x+1/2) { boundary clamp }
            field p: f32 at x+1/2, y+1/2 { boundary clamp }
            h[t+1] = h - dt * curl(e)
            e[t+1] = e + dt * curl(h[t+1])
            let middle at x+1/2 { boundary clamp } = interpolate(e, x)
            p[t+1] = p + e[x+1/2, y-1/2] + interpolate(middle, y)
        }
        """,
    )


def test_vectors_and_components():
    cx = [0, 1, 0, -1, 0]
    cy = [0, 0, 1, 0, -1]
    opposite = [0, 3, 4, 1, 2]

    @hl.stencil
    def stream(x, y):
        f = hl.field("f32[5]", boundary=hl.periodic)
        density = hl.field("f32")
        arriving = hl.let([f[i][x - cx[i], y - cy[i]] for i in range(5)])
        for i in range(5):
            f[i].next = 0.9 * arriving[i] + 0.1 * f[opposite[i]]
        density[:] = sum(f) + len(f)

    assert_same(
        stream,
        """
        stencil stream(x, y) {
            coef cx[0..4] = [0, 1, 0, -1, 0]
            coef cy[0..4] = [0, 0, 1, 0, -1]
            coef opposite[0..4] = [0, 3, 4, 1, 2]
            field f: f32[5] { boundary periodic }
            field density: f32
            let arriving = [f.i[x-cx[i], y-cy[i]] for i in 0..4]
            for i in 0..4 {
                f.i[t+1] = 0.9 * arriving.i + 0.1 * f.(opposite[i])
            }
            density = f.0 + f.1 + f.2 + f.3 + f.4 + 5
        }
        """,
    )


def test_parts_of_vectors_are_assigned_alone():
    @hl.stencil
    def parts(x, y):
        v = hl.field({"x": "f32", "y": "f32"}, boundary=hl.periodic)
        q = hl.field({"next": "f32", "y": "f32"})
        v.next.x = v.x + 1
        v.y.next = v["y"] * 2
        q["next"][:] = 1
        q.y[:] = 2 * v.y[x + 1]

    assert body(parts)[-4:] == [
        "v[t+1].x = v.x + 1",
        "v.y[t+1] = v.y * 2",
        "q.next = 1",
        "q.y = 2 * v.y[x+1]",
    ]
    assert formatted(parts.text) == parts.text


def test_complex_numbers():
    @hl.stencil
    def ginzburg_landau(x, y):
        dt, alpha, beta = hl.param(0.02), hl.param(1), hl.param(-1.2)
        a = hl.field("c64", boundary=hl.periodic)
        a.next = a + dt * (a + (1 + 1j * alpha) * hl.laplacian(a) - (1 + 1j * beta) * abs(a) ** 2 * a)
        strongest = hl.reduce(hl.max(abs(a)))

    assert_same(
        ginzburg_landau,
        """
        stencil ginzburg_landau(x, y) {
            param dt = 0.02, alpha = 1, beta = -1.2
            field a: c64 { boundary periodic }
            a[t+1] = a + dt * (a + (1 + 1i*alpha) * laplacian(a) - (1 + 1i*beta) * abs(a)^2 * a)
            reduce strongest = max(abs(a))
        }
        """,
    )


def test_some_cells_alone():
    @hl.stencil
    def tank(x, y):
        dt = hl.param(0.1)
        solid = hl.field("f32")
        u = hl.field("f32", boundary=hl.symmetric)
        with hl.where(solid == 0):
            u.next = u + dt * hl.laplacian(u)
            with hl.on(x[:5], y[-3:]):
                u.next = u.next + 1
        with hl.on(x.low, y[10:-10]):
            u.next = 1
        with hl.on(x[3]):
            u.next *= 2
        wet = hl.reduce(hl.sum(u.next), where=solid == 0)
        outflow = hl.reduce(hl.sum(u.next), on=(x.high, y[1:]))

    assert_same(
        tank,
        """
        stencil tank(x, y) {
            param dt = 0.1
            field solid: f32
            field u: f32 { boundary symmetric }
            where solid == 0 {
                u[t+1] = u + dt * laplacian(u)
                on x in 0..4, y in -3..-1 { u[t+1] = u[t+1] + 1 }
            }
            on x.low, y in 10..-11 { u[t+1] = 1 }
            on x in 3..3 { u[t+1] = u[t+1] * 2 }
            reduce wet = sum(u[t+1]) where solid == 0
            reduce outflow = sum(u[t+1]) on x.high, y in 1..-1
        }
        """,
    )


def test_reductions_that_statements_read():
    @hl.stencil
    def adaptive(x):
        h, end = hl.param(0.01), hl.param(2)
        u, clock = hl.fields("f64", boundary=hl.periodic)
        fastest = hl.reduce(hl.max(abs(u)))
        elapsed = hl.reduction()
        dt = hl.let(hl.min(0.5 * h / fastest, end - elapsed))
        u.next = u - dt / h * (u**2 - u[x - 1] ** 2) / 2
        clock.next = clock + dt
        hl.reduce(elapsed=hl.max(clock.next), start=0)
        mass, size = hl.reduce(mass=hl.sum(u), size=hl.norm2(u))

    assert_same(
        adaptive,
        """
        stencil adaptive(x) {
            param h = 0.01, end = 2
            field u, clock: f64 { boundary periodic }
            reduce fastest = max(abs(u))
            let dt = min(0.5 * h / fastest, end - elapsed)
            u[t+1] = u - dt / h * (u^2 - u[x-1]^2) / 2
            clock[t+1] = clock + dt
            reduce elapsed = max(clock[t+1]) start 0
            reduce mass = sum(u)
            reduce size = norm2(u)
        }
        """,
    )


def test_time_noise_schedules_and_fast_functions():
    @hl.stencil
    def shaken(x):
        seed, dt = hl.param(42), hl.param(0.1)
        hl.fast("sin", "cos")
        hl.schedule("direct threads=128 cells=2")
        c = hl.field("f32", boundary=hl.periodic)
        flux = hl.let(0.1 * hl.normal() + hl.random(), boundary=hl.periodic)
        c.next = c + 0.1 * hl.laplacian(c) + flux[x + 1] - flux + hl.sin(hl.time) * hl.step + hl.cos(dt * hl.pos(x))

    assert_same(
        shaken,
        """
        stencil shaken(x) {
            param seed = 42, dt = 0.1
            fast sin, cos
            schedule { direct threads=128 cells=2 }
            field c: f32 { boundary periodic }
            let flux { boundary periodic } = 0.1 * normal() + random()
            c[t+1] = c + 0.1 * laplacian(c) + flux[x+1] - flux + sin(time) * step + cos(dt * pos(x))
        }
        """,
    )


def test_points_and_tables():
    @hl.stencil
    def samples(x, y):
        scale, dt = hl.param(1), hl.param(0.5)
        atoms = hl.table(x="f32", y="f32", q="f32", weight=lambda row: scale * row.q**2)
        p = hl.field("f64", boundary=hl.fixed(0))
        potential = hl.field("f32")
        shots, phones = hl.points("sinc 3")
        lamps = hl.points()

        def r2(a):
            return (hl.pos(x) - a.x) ** 2 + (hl.pos(y) - a.y) ** 2

        potential[:] = 2 * hl.rows(atoms, lambda a: a.q * hl.rsqrt(r2(a))) + hl.rows(atoms, lambda a: a.weight + 1)
        p.next = 2 * p - p.prev + dt**2 * hl.laplacian(p)
        hl.inject(p.next, shots, dt**2 * shots.gain * shots.force[t])
        hl.inject(p.next, lamps, lamps.power)
        hl.sample(p, phones, into=phones.heard)

    assert_same(
        samples,
        """
        stencil samples(x, y) {
            param scale = 1, dt = 0.5
            table atoms {
                x, y, q: f32
                weight = scale * q^2
            }
            field p: f64 { boundary fixed 0 }
            field potential: f32
            points shots, phones: sinc 3
            points lamps
            def r2(a) = (pos(x) - a.x)^2 + (pos(y) - a.y)^2
            potential = 2 * (sum(a in atoms) a.q * rsqrt(r2(a))) + (sum(a in atoms) (a.weight + 1))
            p[t+1] = 2*p - p[t-1] + dt^2 * laplacian(p)
            inject p[t+1] at shots += dt^2 * shots.gain * shots.force[t]
            inject p[t+1] at lamps += lamps.power
            sample p at phones into phones.heard[t]
        }
        """,
    )


def test_modules_of_the_language():
    @hl.stencil
    def absorbing(x, y):
        operators = hl.use("operators.halo")
        p = hl.field("f32", boundary=hl.fixed(0))
        keep = hl.let(operators.sponge(x, 30, 0.1) * operators.sponge(y, 30, 0.1))
        p.next = keep * (2 * p - keep * p.prev + 0.1 * hl.laplacian(p))

    assert_same(
        absorbing,
        """
        use "operators.halo"

        stencil absorbing(x, y) {
            field p: f32 { boundary fixed 0 }
            let keep = sponge(x, 30, 0.1) * sponge(y, 30, 0.1)
            p[t+1] = keep * (2*p - keep * p[t-1] + 0.1 * laplacian(p))
        }
        """,
    )


def test_long_lines_go_on_in_the_next():
    @hl.stencil
    def wide(x):
        u = hl.field("f64", boundary=hl.periodic)
        u.next = sum(Fraction(1, 9) * (u[x + r] * 2 if r else u) for r in range(-4, 5))
        with hl.where(u > 0):
            u.next = hl.where(u > 1, u * 1.000000001 + 2 * u - 3.00000007 * u, u * 0.999999 - 0.333333333 * u**2)

    assert formatted(wide.text) == wide.text
    assert max(map(len, wide.text.splitlines())) <= 100
    assert meaning(wide.text) == meaning(wide.text.replace("\n        +", " +").replace("\n            else", " else"))


def test_thousand_operations_are_no_matter_of_recursion():
    @hl.stencil
    def long(x):
        u = hl.field("f64", boundary=hl.periodic)
        u.next = sum(u[x + r % 5] for r in range(1, 498))

    assert long.text.count("+ u") == 496
    assert formatted(long.text) == long.text


def test_the_same_python_gives_the_same_bytes():
    def make():
        @hl.stencil
        def once(x, y):
            u = hl.field({"b": "f32", "a": "f32"}, boundary={y: hl.periodic, x: hl.fixed(0.1)})
            u.next = u + hl.laplacian(u) * 0.1

        return once.text

    assert make() == make()
