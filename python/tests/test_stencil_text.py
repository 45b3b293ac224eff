"""Each construct of the language, as Python says it, against the spec that is written by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import halocline as hl
import numpy
import pytest
from halocline import t
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
        hl.reduce(level=hl.mean(u), weight=hl.norm1(u))

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
            reduce level = mean(u)
            reduce weight = norm1(u)
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


def test_series():
    @hl.stencil
    def driven(x):
        hour = hl.param(3600)
        wind, tide = hl.series()
        u = hl.field("f64", boundary={x.low: hl.fixed(tide[hl.step]), x.high: hl.clamp})
        u.next = u[x - 1] + wind[hl.step + 1] * wind[hl.step / hour] - wind[hl.min(hour, hl.step - 1) * (2 - hour)]

    assert_same(
        driven,
        """
        stencil driven(x) {
            param hour = 3600
            series wind, tide
            field u: f64 { boundary x.low fixed tide[step], x.high clamp }
            u[t+1] = u[x-1] + wind[step+1] * wind[step/hour] - wind[min(hour, step - 1)*(2 - hour)]
        }
        """,
    )
    with pytest.raises(hl.StencilError, match="hl.step"):

        @hl.stencil
        def wrong(x):
            wind = hl.series()
            u = hl.field("f64")
            u[:] = wind[t]


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
