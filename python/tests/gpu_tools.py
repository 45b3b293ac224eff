"""What the tests on a GPU share. They need no CPU engine: what is expected is computed by numpy."""

import os

import numpy as np
import pytest

import halocline as hl

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX leaves memory to the others

on_a_gpu = pytest.mark.skipif(bool(hl.why_no_gpu()), reason=f"no GPU: {hl.why_no_gpu()}")

# One step adds 1 to each cell, so cells tell how many steps were done.
COUNT = """stencil count(x, y) {
    field u: i32
    u[t+1] = u + 1
}
"""

LARGE = (4096, 4096)  # cells; a thousand steps take tens of milliseconds, long after run() has returned


def total_by_numpy(u, steps):
    for _ in range(steps):
        w = np.pad(u, ((0, 0), (1, 1)), constant_values=1)
        u = w[:, :-2] + w[:, 2:] - u + 1
    return u


def wave_by_numpy(p, past, c, steps, dt=0.1):
    for _ in range(steps):
        w = np.pad(p, 1)
        sides = w[:-2, 1:-1, 1:-1] + w[2:, 1:-1, 1:-1] + w[1:-1, :-2, 1:-1] + w[1:-1, 2:, 1:-1] + w[1:-1, 1:-1, :-2] + w[1:-1, 1:-1, 2:]
        p, past = 2 * p - past + dt * dt * c * c * (sides - 6 * p), p
    return p, past


def numbers(shape, dtype=np.int32):
    return np.random.default_rng(1).integers(0, 9, shape).astype(dtype)


def address(array):
    """Of an Array, or of an array of torch, CuPy or JAX."""
    if hasattr(array, "unsafe_buffer_pointer"):
        return array.unsafe_buffer_pointer()
    return array.__cuda_array_interface__["data"][0]


def on_host(array):
    """A copy of an array of torch, CuPy or JAX, by that library."""
    if hasattr(array, "cpu"):
        return array.cpu().numpy()
    return array.get() if hasattr(array, "get") else np.asarray(array)


def busy(torch, seconds=0.2):
    """Keeps torch's current stream at work for some time."""
    torch.cuda._sleep(int(seconds * 1.5e9))  # cycles
