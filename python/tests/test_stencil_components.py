"""Staggered fields, vectors, components, complex numbers, some cells alone: as Python says it, against the spec by hand."""

from __future__ import annotations

from fractions import Fraction

import halocline as hl
from spec_tools import assert_same, body, formatted


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
