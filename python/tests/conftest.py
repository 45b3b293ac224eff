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

# Whole numbers, so that results are exact, in arrays whose rows lie apart (halos).
TOTAL = """stencil total(x, y) {
    field u: i32 { boundary fixed 1 }
    u[t+1] = u[x-1] + u[x+1] - u + 1
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


# Libraries that share arrays on a GPU; tests that ask for one that is not there are skipped.


@pytest.fixture
def torch():
    library = pytest.importorskip("torch")
    if not library.cuda.is_available():
        pytest.skip("torch sees no GPU")
    library.cuda.set_device(0)
    return library


@pytest.fixture
def cupy():
    library = pytest.importorskip("cupy")
    if not library.is_available():
        pytest.skip("CuPy sees no GPU")
    return library


@pytest.fixture
def jax():
    library = pytest.importorskip("jax")
    if not any(device.platform == "gpu" for device in library.devices()):
        pytest.skip("JAX sees no GPU")
    return library


@pytest.fixture
def total():
    with hl.compile(TOTAL).simulate((30, 20), device="cuda") as simulation:
        yield simulation


def address(array):
    return array.__array_interface__["data"][0]


def heat_by_numpy(u, steps, dt=0.2):
    """Another way to the same numbers, up to rounding."""
    u = u.astype(np.float64)
    for _ in range(steps):
        w = np.pad(u, 1, constant_values=10)
        u = u + dt * (w[:-2, 1:-1] + w[2:, 1:-1] + w[1:-1, :-2] + w[1:-1, 2:] - 4 * u)
    return u
