"""Gradients of programs as functions for JAX: against differences (check_grads), and what is refused."""

import numpy as np
import pytest
from gradient_specs import SPECS

import halocline as hl

jax = pytest.importorskip("jax", reason="jax is not installed")
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import halocline.jax as hj  # noqa: E402

WAVE = SPECS["a wave with a past"][0]


@pytest.fixture(autouse=True)
def doubles():
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        yield


def arrays(count, shape, dtype=np.float64):
    return [jnp.asarray(each, dtype) for each in np.random.default_rng(count).random((count, *shape))]


@pytest.mark.parametrize("steps", [0, 1, 5])
@pytest.mark.parametrize("name", SPECS)
def test_check_grads(name, steps):
    spec, params = SPECS[name]
    call = hj.call(hl.compile(spec))
    fields = arrays(len(call.inputs), (4, 5)[: len(call.program.axes)])

    def function(*given):
        result = call(*given[: len(fields)], steps=steps, **dict(zip(params, given[len(fields) :])))
        return tuple(result) if isinstance(result, tuple) else result

    numbers = [jnp.asarray(value) for value in params.values()]
    check_grads(jax.jit(function), (*fields, *numbers), order=1, modes=["rev"])


def misfit(call, p, past, steps=4):
    return lambda v, dt: jnp.sum(call(p, past, v, dt=dt, steps=steps).p ** 2)


@pytest.fixture
def case():
    p, past, v = arrays(3, (4, 5))
    return misfit(hj.call(hl.compile(WAVE)), p, past), v, jnp.asarray(0.3)


def test_jit_grad_value_and_grad_vjp_and_vmap(case):
    function, v, dt = case
    value, (by_v, by_dt) = jax.value_and_grad(function, (0, 1))(v, dt)
    assert value == function(v, dt) and by_v.shape == v.shape and by_dt.shape == ()
    assert np.array_equal(jax.jit(jax.grad(function))(v, dt), by_v)
    assert np.array_equal(jax.grad(jax.jit(function))(v, dt), by_v)
    _, back = jax.vjp(function, v, dt)
    assert np.array_equal(back(1.0)[0], by_v)
    both = jax.vmap(jax.grad(function), (0, None))(jnp.stack([v + 1, v]), dt)
    assert np.array_equal(both[1], by_v)
    assert np.array_equal(jax.grad(function)(v, 0.3), by_v)  # as a number, dt is none of the arguments


def test_scan_and_what_is_around(case):
    call = hj.call(hl.compile(WAVE))
    p, past, v = arrays(3, (4, 5))

    def in_parts(v):
        (p_now, _), _ = jax.lax.scan(lambda levels, _: (call(*levels, v, steps=2)[:2], None), (jnp.sin(p), past), length=3)
        return jnp.sum(jnp.exp(p_now))

    whole = jax.grad(lambda v: jnp.sum(jnp.exp(call(jnp.sin(p), past, v, steps=6).p)))(v)
    assert np.allclose(jax.grad(in_parts)(v), whole, rtol=1e-12)


def test_by_the_way_of_other_devices_the_gradients_are_the_same(case, monkeypatch):
    function, v, dt = case
    native = jax.grad(function, (0, 1))(v, dt)
    monkeypatch.setattr(jax.lax, "platform_dependent", lambda *operands, default, **_: default(*operands))
    p, past, _ = arrays(3, (4, 5))
    found = jax.grad(misfit(hj.call(hl.compile(WAVE)), p, past), (0, 1))(v, dt)
    assert np.array_equal(found[0], native[0]) and found[1] == native[1]


def test_on_the_cpu_no_python_is_called(case, monkeypatch):
    function, v, dt = case
    expected = jax.grad(function)(v, dt)
    monkeypatch.setattr(hj.Call, "_pull_back", lambda *_: 1 / 0)
    assert np.array_equal(jax.jit(jax.grad(function))(v, dt), expected)


def test_types_and_the_dot_product_of_a_linear_program():
    """<w, J p> is <J' w, p>: each side is a sum of terms that about 10 operations a step round."""
    call, steps = hj.call(hl.compile(WAVE.replace("f64", "f32"))), 20
    p, past, v, w = arrays(4, (30, 40), np.float32)
    ahead, back = jax.vjp(lambda p, past: call(p, past, v, steps=steps).p, p, past)
    pairs = [(w, ahead), *zip(back(w), (p, past))]
    assert all(each.dtype == np.float32 for pair in pairs for each in pair)
    one, *others = (np.sum(np.float64(a) * np.float64(b)) for a, b in pairs)
    assert abs(one - sum(others)) < 10 * steps * np.finfo(np.float32).eps * np.sum(np.abs(w * ahead))
    for type, close in (("f16", 1e-3), ("f32 as f64", 1e-6)):
        square = hj.call(hl.compile(f"stencil square(x) {{\n field a: {type}\n a[t+1] = a * a\n}}"))
        a = jnp.asarray([0.5, 1.0, 1.5], np.float16 if type == "f16" else np.float32)
        found = jax.grad(lambda a: jnp.sum(square(a, steps=2)))(a)
        assert found.dtype == a.dtype and np.allclose(found, 4 * a**3, rtol=close)


def test_what_nothing_depends_on_has_the_gradient_0_and_integers_none():
    masked = hj.call(hl.compile("stencil masked(x) {\n field c: f64\n field mask: u8\n field a, b: f64\n field n: i32\n b[t+1] = if mask != 0 then 2 * b else b\n a[t+1] = c * a\n n[t+1] = n + 1\n}"))
    a, b, c = arrays(3, (4,))
    mask, n = jnp.asarray([0, 1, 0, 1], np.uint8), jnp.zeros(4, np.int32)
    found = jax.grad(lambda *given: jnp.sum(masked(a=given[0], b=given[1], c=given[2], mask=mask, n=n, steps=2).b), (0, 1, 2))(a, b, c)
    assert not found[0].any() and found[1].tolist() == [1, 4, 1, 4] and not found[2].any()
    _, back = jax.vjp(lambda n, b: masked(a=a, b=b, c=c, mask=mask, n=n, steps=2).n, n, b)
    by_n, by_b = back(np.zeros(4, jax.dtypes.float0))
    assert by_n.dtype == jax.dtypes.float0 and not by_b.any()


def test_what_is_refused(case):
    function, v, dt = case
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(function, (v, dt), (v, dt))
    with pytest.raises(hl.UnsupportedError, match="'wave' has no second derivatives"):
        jax.grad(lambda v: jnp.sum(jax.grad(function)(v, dt)))(v)
    noisy = hj.call(hl.compile("stencil noisy(x) {\n    field u: f64\n    u[t+1] = u + random()\n}"))
    assert noisy(jnp.zeros(8)).shape == (8,)
    with pytest.raises(hl.UnsupportedError, match=r"3:18: .*noise is not differentiated yet"):
        jax.jit(jax.grad(lambda u: jnp.sum(noisy(u))))(jnp.zeros(8))
