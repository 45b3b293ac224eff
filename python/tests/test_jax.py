"""Programs as functions for JAX."""

import sys

import numpy as np
import pytest
from conftest import WAVE

import halocline as hl

jax = pytest.importorskip("jax", reason="jax is not installed")
import jax.numpy as jnp  # noqa: E402

import halocline.jax as hj  # noqa: E402


@pytest.fixture
def u():
    return jax.random.uniform(jax.random.key(1), (16, 24))


def by_simulation(heat, u, steps, **params):
    sim = heat.simulate((24, 16), device="cpu", **params)
    sim.u = np.asarray(u)
    return np.asarray(sim.run(steps).u)


def test_a_state_after_some_steps(heat, u):
    step = hj.call(heat)
    assert np.array_equal(step(u, steps=20, dt=0.1), by_simulation(heat, u, 20, dt=0.1))
    assert np.array_equal(step(np.asarray(u), steps=3), by_simulation(heat, u, 3))
    assert hl.jax is hj and "-> u" in repr(step)


def test_jit_scan_and_vmap(heat, u):
    step = hj.call(heat)
    traced = jax.jit(lambda u, dt: step(u * 2, steps=5, dt=dt) + 1)
    dt = np.float32(0.1)
    assert np.array_equal(traced(u, dt), by_simulation(heat, u * 2, 5, dt=float(dt)) + 1)
    scanned, _ = jax.lax.scan(lambda u, _: (step(u, steps=4), None), u, length=3)
    assert np.array_equal(scanned, by_simulation(heat, u, 12))
    both = jax.vmap(lambda u: step(u, steps=2))(jnp.stack([u, u + 1]))
    assert np.array_equal(both[1], by_simulation(heat, u + 1, 2))


def test_on_the_cpu_no_python_is_called(heat, u, monkeypatch):
    step = hj.call(heat)
    expected = by_simulation(heat, u, 3, dt=float(np.float32(0.1)))
    monkeypatch.setattr(hj.Call, "_run", lambda *_: 1 / 0)
    traced = jax.jit(lambda u, dt: step(u, steps=3, dt=dt))
    assert np.array_equal(traced(u, np.float32(0.1)), expected) and np.array_equal(traced(u, np.float16(0.1)).shape, u.shape)


def test_by_the_way_of_other_devices_the_results_are_the_same(heat, u, monkeypatch):
    native = hj.call(heat)(u, steps=4, dt=0.1)
    monkeypatch.setattr(jax.lax, "platform_dependent", lambda *operands, default, **_: default(*operands))
    assert np.array_equal(jax.jit(lambda u, dt: hj.call(heat)(u, steps=4, dt=dt))(u, np.float32(0.1)).shape, u.shape)
    assert np.array_equal(hj.call(heat)(u, steps=4, dt=0.1), native)


def test_doubles(heat):
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        double = hl.compile("stencil s(x) {\n param a = 1\n field u: f64\n u[t+1] = u / 3 + a\n}")
        u = jnp.arange(5.0)
        sim = double.simulate(5, device="cpu", a=0.1)
        sim.u = np.arange(5.0)
        assert np.array_equal(jax.jit(lambda u, a: hj.call(double)(u, steps=3, a=a))(u, 0.1), sim.run(3).u)


def test_what_goes_wrong_in_a_call_is_said(heat, u):
    step = hj.call(heat)
    with pytest.raises(Exception, match="dt") as caught:
        jax.block_until_ready(jax.jit(lambda u, dt: step(u, dt=dt))(u, np.float32("nan")))
    assert "finite" in str(caught.value) or "NaN" in str(caught.value) or "nan" in str(caught.value)


def test_threads(heat, u):
    from concurrent.futures import ThreadPoolExecutor

    step = jax.jit(lambda u: hj.call(heat)(u, steps=50))
    expected = by_simulation(heat, u, 50)
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(each, expected) for each in pool.map(lambda _: step(u), range(16)))


def test_past_levels_inputs_and_outputs():
    spec = WAVE.replace("f64", "f32")
    wave = hl.compile(spec)
    p, past, c = (jax.random.uniform(jax.random.key(i), (4, 5, 6)) for i in range(3))
    result = jax.jit(lambda *each: hj.call(wave)(*each, steps=3))(p, past, c)
    sim = wave.simulate((6, 5, 4), device="cpu")
    sim.p, sim["p", -1], sim.c = np.asarray(p), np.asarray(past), np.asarray(c)
    sim.run(3)
    assert result._fields == ("p", "p_past1", "energy")
    for got, want in zip(result, (sim.p, sim["p", -1], sim.energy)):
        assert np.array_equal(got, want)


def test_doubles_need_x64(wave):
    step = hj.call(wave)
    p = jnp.zeros((4, 4, 4), jnp.float32)
    with pytest.raises(hl.ArrayError, match="jax_enable_x64"):
        step(p, p, p)
    with pytest.raises(hl.ArrayError, match="jax_enable_x64"):
        step(*[np.zeros((4, 4, 4))] * 3)


@pytest.mark.parametrize(
    "use, kind, words",
    [
        (lambda step, u: step(), hl.ArgumentError, "needs u"),
        (lambda step, u: step(u, dtt=1), hl.UnknownNameError, "is 'dt' meant"),
        (lambda step, u: step(u, steps=-1), hl.ArgumentError, "steps"),
        (lambda step, u: step(u, dt="fast"), hl.ArgumentError, "numbers"),
        (lambda step, u: step(u, dt=u), hl.ArgumentError, "is a number"),
        (lambda step, u: step(u, dt=float("nan")), hl.ArgumentError, "finite"),
        (lambda step, u: step(u.astype(jnp.float16)), hl.ArrayError, "float32"),
        (lambda step, u: step(u[0]), hl.ArrayError, r"axes \(y, x\)"),
        (lambda step, u: step(1.0), hl.ArrayError, "asarray"),
    ],
)
def test_arguments_that_cannot_be(heat, u, use, kind, words):
    with pytest.raises(kind, match=words):
        use(hj.call(heat), u)


def test_programs_that_cannot_be():
    with pytest.raises(hl.ArgumentError, match="takes a program"):
        hj.call("heat")
    with pytest.raises(hl.UnsupportedError, match="bf16"):
        hj.call(hl.compile("stencil s(x) {\n field b: bf16 as f32\n b[t+1] = b\n}"))
    with pytest.raises(hl.UnsupportedError, match="atoms"):
        hj.call(hl.compile("stencil s(x) {\n table atoms { q: f32 }\n field v: f32\n v = sum(a in atoms) a.q\n}"))


def test_jax_that_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.delitem(sys.modules, "halocline.jax")
    monkeypatch.delattr(hl, "jax")
    with pytest.raises(hl.MissingLibraryError, match=r"halocline\[jax\]"):
        hl.jax
