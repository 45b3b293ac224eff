"""What the tests share. They need numpy and pytest alone; HALOC names the command, for those that compare with it."""

import numpy as np
import pytest

import halocline as hl

HEAT = """stencil heat(x, y) {
    param lambda = 1, dt = 0.2
    field u: f32 { boundary fixed 10 }
    u[t+1] = u + lambda * dt * laplacian(u)
    reduce change = max(abs(u[t+1] - u))
}
"""

# An input, a state with a past, an output, in three axes.
WAVE = """stencil wave(x, y, z) {
    param dt = 0.1
    field c: f64
    field p: f64 { boundary fixed 0 }
    field energy: f64
    p[t+1] = 2 * p - p[t-1] + dt * dt * c * c * laplacian(p)
    energy = p * p
}
"""


@pytest.fixture
def heat():
    return hl.compile(HEAT)


@pytest.fixture
def wave():
    return hl.compile(WAVE)


@pytest.fixture
def sim(heat):
    with heat.simulate((24, 16), device="cpu") as simulation:
        yield simulation


@pytest.fixture
def start():
    return np.random.default_rng(1).random((16, 24), np.float32)


def address(array):
    return array.__array_interface__["data"][0]


def heat_by_numpy(u, steps, dt=0.2):
    """Another way to the same numbers, up to rounding."""
    u = u.astype(np.float64)
    for _ in range(steps):
        w = np.pad(u, 1, constant_values=10)
        u = u + dt * (w[:-2, 1:-1] + w[2:, 1:-1] + w[1:-1, :-2] + w[1:-1, 2:] - 4 * u)
    return u
