"""Examples of dsl_examples/ in Python: the CUDA is the same, byte for byte."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import halocline as hl
import pytest
from halocline import t
from spec_tools import formatted

EXAMPLES = Path(__file__).parents[2] / "dsl_examples"
if not EXAMPLES.exists():
    pytest.skip("the examples are not beside these tests", allow_module_level=True)


@hl.stencil
def heat3d(x, y, z):
    lam, dt = hl.param(1, name="lambda"), hl.param(0.16)
    hl.spacing(x=1, y=1, z=1)
    u = hl.field("f32", boundary=hl.fixed(10))
    u.next = u + lam * dt * hl.laplacian(u)


@hl.stencil
def heat2d_adi(x, y):
    kappa, dt, h = hl.param(1), hl.param(Fraction(1, 1000)), hl.param(Fraction(1, 96))
    hl.spacing(x=h, y=h)
    hl.origin(x=h, y=h)
    u, middle = hl.fields("f64", boundary=hl.fixed(0))
    c, d = hl.fields("f64", boundary=hl.fixed(0))
    s = hl.let(kappa * dt / (2 * h**2))

    def second(v, axis):
        return v[axis - 1] - 2 * v + v[axis + 1]

    def halfway(v, along, across, after):
        with hl.sweep(along, in_parts=True):
            pivot = hl.let(1 + 2 * s + s * c[along - 1])
            c[:] = -s / pivot
            d[:] = (v + s * second(v, across) + s * d[along - 1]) / pivot
        with hl.sweep(along, "down", in_parts=True):
            after(d, c)

    def to_middle(d, c):
        middle[:] = d - c * middle[x + 1]

    def to_next(d, c):
        u.next = d - c * u[t + 1, y + 1]

    halfway(u, x, y, to_middle)
    halfway(middle, y, x, to_next)
    warmest = hl.reduce(hl.max(u.next))


@hl.stencil
def cavity3d(x, y, z):
    re, dt, h, lid = hl.param(100), hl.param(Fraction(1, 200)), hl.param(Fraction(1, 32)), hl.param(1)
    hl.spacing(x=h, y=h, z=h)
    hl.origin(x=h / 2, y=h / 2, z=h / 2)
    u = hl.field("f64", at=x + 1 / 2, boundary={x: hl.fixed(0), ...: hl.antisymmetric})
    v = hl.field("f64", at=y + 1 / 2, boundary={y: hl.fixed(0), ...: hl.antisymmetric})
    w = hl.field("f64", at=z + 1 / 2, boundary={z: hl.fixed(0), ...: hl.antisymmetric})
    p = hl.field("f64", boundary=hl.clamp)
    d, between = hl.d, hl.interpolate

    def at_wall(axis):
        return hl.idx(axis) == hl.len(axis) - 1

    above = hl.let(hl.where(at_wall(z), 2 * lid, 0))
    lifted = between(w, x, z) * (d(u, z) + above / (2 * h))
    du = hl.let((hl.laplacian(u) + above / h**2) / re - u * d(u, x) - between(v, x, y) * d(u, y) - lifted, at=x + 1 / 2)
    dv = hl.let(hl.laplacian(v) / re - between(u, x, y) * d(v, x) - v * d(v, y) - between(w, y, z) * d(v, z), at=y + 1 / 2)
    dw = hl.let(hl.laplacian(w) / re - between(u, x, z) * d(w, x) - between(v, y, z) * d(w, y) - w * d(w, z), at=z + 1 / 2)
    ut = hl.let(hl.where(at_wall(x), 0, u + dt * du), at=x + 1 / 2, boundary=hl.fixed(0))
    vt = hl.let(hl.where(at_wall(y), 0, v + dt * dv), at=y + 1 / 2, boundary=hl.fixed(0))
    wt = hl.let(hl.where(at_wall(z), 0, w + dt * dw), at=z + 1 / 2, boundary=hl.fixed(0))
    source = hl.let(h**2 / dt * (d(ut, x) + d(vt, y) + d(wt, z)))
    with hl.repeat(30) as k:
        p[k + 1] = (sum(p[k, a - 1] + p[k, a + 1] for a in (x, y, z)) - source) / 6
        residual = hl.reduce(hl.max(abs(p[k + 1] - p[k])))
    u.next = ut - dt * d(p.next, x)
    v.next = vt - dt * d(p.next, y)
    w.next = wt - dt * d(p.next, z)
    change = hl.reduce(hl.max(abs(u.next - u)))


@hl.stencil
def eikonal2d(x, z):
    h, top, gain = hl.param(10), hl.param(1500), hl.param(1.2)
    shot, tol = hl.param(400), hl.param(1e-9)
    hl.spacing(x=h, z=h)
    T = hl.field("f64", boundary=hl.clamp)
    s = hl.let(h / (top + gain * hl.pos(z)))
    T[...] = hl.where((abs(hl.pos(x) - shot) < h / 2) & (hl.idx(z) == 0), 0, 1e6)
    change = hl.reduction()
    with hl.repeat(until=change < tol, at_most=2000) as k:
        a = hl.let(hl.min(T[k, x - 1], T[k, x + 1]))
        b = hl.let(hl.min(T[k, z - 1], T[k, z + 1]))
        apart = hl.let(abs(a - b))
        slanted = hl.let((a + b + hl.sqrt(hl.max(2 * s**2 - apart**2, 0))) / 2)
        T[k + 1] = hl.min(T[k], hl.where(apart < s, slanted, hl.min(a, b) + s))
        hl.reduce(change=hl.max(T[k] - T[k + 1]))


@hl.stencil
def wave2d(x, y):
    c, dt = hl.param(1), hl.param(0.5)
    hl.spacing(x=1, y=1)
    u = hl.field("f32", boundary=hl.clamp)
    u[t + 1] = 2 * u - u[t - 1] + (c * dt) ** 2 * hl.laplacian(u, order=4)
    height = hl.reduce(hl.max(abs(u)))


@hl.stencil
def cahn_hilliard(x, y):
    M, gamma, dt = hl.param(1), hl.param(0.5), hl.param(0.03)
    c = hl.field("f32", boundary=hl.periodic)
    mu = hl.let(c**3 - c - gamma * hl.laplacian(c))
    c.next = c + dt * M * hl.laplacian(mu)
    mass = hl.reduce(hl.sum(c.next))
    energy = hl.reduce(hl.sum((c**2 - 1) ** 2 / 4 + gamma * ((c[x + 1] - c) ** 2 + (c[y + 1] - c) ** 2) / 2))


@hl.stencil
def cahn_hilliard_rk4(x, y):
    M, gamma, dt = hl.param(1), hl.param(0.5), hl.param(0.05)
    c = hl.field("f64", boundary=hl.periodic)

    def potential(a):
        return a**3 - a - gamma * hl.laplacian(a)

    mu1 = hl.let(potential(c))
    c2 = hl.let(c + dt / 2 * M * hl.laplacian(mu1))
    mu2 = hl.let(potential(c2))
    c3 = hl.let(c + dt / 2 * M * hl.laplacian(mu2))
    mu3 = hl.let(potential(c3))
    c4 = hl.let(c + dt * M * hl.laplacian(mu3))
    mu4 = hl.let(potential(c4))
    c.next = c + dt / 6 * M * hl.laplacian(mu1 + 2 * mu2 + 2 * mu3 + mu4)
    mass = hl.reduce(hl.sum(c.next))
    energy = hl.reduce(hl.sum((c**2 - 1) ** 2 / 4 + gamma * ((c[x + 1] - c) ** 2 + (c[y + 1] - c) ** 2) / 2))


@hl.stencil
def maxwell2d(x, y):
    dt = hl.param(1 / 320)
    hl.spacing(x=1 / hl.len(x), y=1 / hl.len(y))
    ez = hl.field("f32", boundary=hl.fixed(0))
    hx = hl.field("f32", at=y + 1 / 2, boundary=hl.clamp)
    hy = hl.field("f32", at=x + 1 / 2, boundary=hl.clamp)
    hx.next = hx - dt * hl.d(ez, y)
    hy.next = hy + dt * hl.d(ez, x)
    ez.next = ez + dt * (hl.d(hy.next, x) - hl.d(hx.next, y))
    brightest = hl.reduce(hl.max(abs(ez.next)))


@hl.stencil
def game_of_life(x, y):
    alive = hl.field("bool", boundary=hl.periodic)
    around = hl.let(sum(hl.where(alive[x + i, y + j], 1, 0) for i in (-1, 0, 1) for j in (-1, 0, 1)))
    alive.next = (around == 3) | (alive & (around == 4))
    population = hl.reduce(hl.sum(hl.where(alive.next, 1, 0)))


@hl.stencil
def heat_solid(x, y):
    dt, kappa, speed, hot = hl.param(0.1), hl.param(0.6), hl.param(0.8), hl.param(1)
    solid = hl.field("f32")
    T = hl.field(
        "f32",
        boundary={x.low: hl.fixed(0.2 * (hl.pos(y) / 96) ** 2), x.high: hl.extrapolate(1), y: hl.symmetric},
    )
    with hl.where(solid == 0):
        T.next = T + dt * (kappa * hl.laplacian(T) - speed * (T - T[x - 1]))
    with hl.where(solid == 1):
        T.next = hot
    warmest = hl.reduce(hl.max(T.next), where=solid == 0)


@hl.stencil
def burgers2d(x, y):
    h, cfl, end = hl.param(1 / 160), hl.param(0.4), hl.param(0.6)
    hl.spacing(x=h, y=h)
    u = hl.field("f64", boundary=hl.periodic)
    clock = hl.field("f64")
    fastest = hl.reduce(hl.max(abs(u)))
    elapsed = hl.reduction()
    dt = hl.let(hl.min(cfl * h / fastest, end - elapsed))

    def flux(a, b):
        return (a**2 + b**2) / 4 - fastest * (b - a) / 2

    u.next = u - dt / h * (flux(u, u[x + 1]) - flux(u[x - 1], u) + flux(u, u[y + 1]) - flux(u[y - 1], u))
    clock.next = clock + dt
    hl.reduce(elapsed=hl.max(clock.next), start=0)
    mass = hl.reduce(hl.sum(u.next))


@hl.stencil
def schroedinger2d(x, y):
    dt = hl.param(0.015)
    hl.accuracy(8)
    hl.spacing(x=1 / 4, y=1 / 4)
    hl.origin(x=-32, y=-16)
    psi = hl.field("c64", boundary=hl.periodic)
    potential = hl.field("f32", boundary=hl.periodic)
    density = hl.field("f32")

    def rate(p):
        return 1j * (hl.laplacian(p) / 2 - potential * p)

    k1 = hl.let(rate(psi))
    k2 = hl.let(rate(psi + dt / 2 * k1))
    k3 = hl.let(rate(psi + dt / 2 * k2))
    k4 = hl.let(rate(psi + dt * k3))
    psi.next = psi + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    density[:] = abs(psi.next) ** 2
    probability = hl.reduce(hl.sum(density / 16))


@hl.stencil
def poiseuille2d(x, y):
    w = [Fraction(4, 9)] + 4 * [Fraction(1, 9)] + 4 * [Fraction(1, 36)]
    cx = [0, 1, 0, -1, 0, 1, -1, -1, 1]
    cy = [0, 0, 1, 0, -1, 1, 1, -1, -1]
    opposite = [0, 3, 4, 1, 2, 7, 8, 5, 6]
    tau = hl.param(Fraction(1, 2) + hl.sqrt(3) / 4)
    force = hl.param(1e-5)
    f = hl.field("f64[9]", boundary={x: hl.periodic})
    solid = hl.field("f64", boundary={x: hl.periodic})
    density = hl.field("f64")
    velocity = hl.field({"x": "f64", "y": "f64"})

    def arriving(i):
        return hl.where(solid[x - cx[i], y - cy[i]] > 0, f[opposite[i]], f[i][x - cx[i], y - cy[i]])

    g = hl.let([arriving(i) for i in range(9)])
    rho = hl.let(sum(g[i] for i in range(9)))
    u = hl.let(sum(g[i] * [cx[i], cy[i]] for i in range(9)) / rho + [force / 2, 0])

    def equilibrium(i):
        along = hl.dot([cx[i], cy[i]], u)
        return w[i] * rho * (1 + 3 * along + Fraction(9, 2) * along**2 - Fraction(3, 2) * hl.dot(u, u))

    def push(i):
        along = hl.dot([cx[i], cy[i]], u)
        return (1 - 1 / (2 * tau)) * w[i] * rho * force * (3 * (cx[i] - u.x) + 9 * along * cx[i])

    f.next = [g[i] + (equilibrium(i) - g[i]) / tau + push(i) for i in range(9)]
    density[:] = rho
    velocity[:] = u
    speed = hl.reduce(hl.max(hl.where(solid > 0, 0, u.x)))


@hl.stencil
def acoustic2d(x, y):
    dt = hl.param(0.001)
    h = hl.const(5)
    hl.spacing(x=h, y=h)
    hl.origin(y=-995)
    hl.accuracy(8)
    operators = hl.use("operators.halo")
    p = hl.field("f32", boundary=hl.fixed(0))
    v = hl.field("f32")
    shots, phones = hl.points("sinc 4")
    keep = hl.let(operators.sponge(x, 30, 0.1) * operators.sponge(y, 30, 0.1))
    p.next = keep * (2 * p - keep * p.prev + (v * dt) ** 2 * hl.laplacian(p))
    hl.inject(p.next, shots, (v * dt / h) ** 2 * shots.wavelet[t])
    hl.sample(p, phones, into=phones.trace)


@pytest.mark.parametrize(
    "stencil",
    [
        heat3d,
        heat2d_adi,
        cavity3d,
        eikonal2d,
        wave2d,
        cahn_hilliard,
        cahn_hilliard_rk4,
        maxwell2d,
        game_of_life,
        heat_solid,
        burgers2d,
        schroedinger2d,
        poiseuille2d,
        acoustic2d,
    ],
    ids=lambda stencil: stencil.name,
)
def test_the_same_cuda(stencil):
    by_hand = hl.compile(EXAMPLES / f"{stencil.name}.halo")
    cells = [128, 128, 128] if stencil in (heat3d, cavity3d) else [256, 256]  # that schedules are chosen for
    assert stencil.emit(grid=cells) == by_hand.emit(grid=cells)
    assert formatted(stencil.text) == stencil.text


def test_prod_of_python():
    @hl.stencil
    def product(x):
        u = hl.field("f64", boundary=hl.periodic)
        u.next = math.prod(u[x + r] for r in (-1, 1))

    assert "u[t+1] = u[x-1] * u[x+1]\n" in product.text
