"""halocline.torch and halocline.jax on a GPU."""

import numpy as np
import pytest
from conftest import TOTAL, heat_by_numpy
from gpu_tools import COUNT, LARGE, busy, numbers, on_a_gpu, total_by_numpy, wave_by_numpy

import halocline as hl

pytestmark = on_a_gpu


# ---- torch


def test_torch_op(torch):
    step = hl.torch.op(hl.compile(TOTAL))
    u = torch.as_tensor(numbers((20, 30)), device="cuda")
    result = step(u, steps=7)
    assert result.device == u.device and result.is_contiguous() and result.shape == u.shape
    assert np.array_equal(result.cpu(), total_by_numpy(numbers((20, 30)), 7))
    assert np.array_equal(u.cpu(), numbers((20, 30)))  # stays as it is
    assert torch.equal(step(step(u, steps=3), steps=4), result) and torch.equal(step(u, steps=0), u)


def test_torch_op_with_params(torch, heat, start):
    result = hl.torch.op(heat)(torch.as_tensor(start, device="cuda"), steps=5, dt=0.1)
    np.testing.assert_allclose(result.cpu(), heat_by_numpy(start, 5, 0.1), rtol=1e-4)


def test_torch_op_with_a_past_an_input_and_an_output(torch, wave):
    arrays = [np.random.default_rng(i).random((6, 7, 8)) for i in range(3)]
    result = hl.torch.op(wave)(*(torch.as_tensor(each, device="cuda") for each in arrays), steps=3)
    p, past = wave_by_numpy(*arrays, 3)
    np.testing.assert_allclose(result.p.cpu(), p, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(result.p_past1.cpu(), past, rtol=1e-12, atol=1e-13)
    assert result.energy.shape == (6, 7, 8)


def wave_by_library(library, p, past, c, dt, steps):
    """Any dimensions, by arrays of numpy's ways: torch and JAX differentiate this themselves."""
    pad = library.pad if hasattr(library, "pad") else lambda w, cells: library.nn.functional.pad(w, [cells] * 2 * w.ndim)
    inner = slice(1, -1)
    for _ in range(steps):
        w, sides = pad(p, 1), -2 * p.ndim * p
        for axis in range(p.ndim):
            for side in (slice(2, None), slice(0, -2)):
                sides = sides + w[tuple(side if each == axis else inner for each in range(p.ndim))]
        p, past = 2 * p - past + (dt * c) ** 2 * sides, p
    return p, past


def test_torch_gradients_are_those_of_torch(torch, wave):
    step = hl.torch.op(wave)
    arrays = [np.random.default_rng(i).random((6, 7, 8)) for i in range(3)]

    def gradients(run, device):
        given = [torch.as_tensor(each, device=device).requires_grad_() for each in arrays]
        dt = torch.tensor(0.1, dtype=torch.float64, device=device, requires_grad=True)
        p, past = run(*given, dt)
        found = torch.autograd.grad((p**3).sum() + past.sum(), (*given, dt))
        assert all(each.device == p.device for each in found)
        return [each.cpu().numpy() for each in found]

    ours = gradients(lambda p, past, c, dt: step(p, past, c, dt=dt, steps=4)[:2], "cuda")
    for one, other in zip(ours, gradients(lambda *given: wave_by_library(torch, *given, 4), "cpu")):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_torch_gradients_are_in_the_stream_of_the_call(torch):
    square = hl.torch.op(hl.compile("stencil square(x, y) {\n field u: f32\n u[t+1] = u * u\n}"))
    u = torch.zeros((300, 200), device="cuda", requires_grad=True)
    square(u).sum().backward()  # compiled
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        busy(torch)
        with torch.no_grad():
            u.fill_(3)
        (found,) = torch.autograd.grad(square(u).sum(), u)
        assert (found == 6).all().item()


@pytest.mark.parametrize("is_default", [False, True])
def test_torch_op_is_done_in_torchs_current_stream(torch, is_default):
    step = hl.torch.op(hl.compile(COUNT))
    u = torch.zeros((300, 200), dtype=torch.int32, device="cuda")
    step(u)  # compiled
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.default_stream() if is_default else torch.cuda.Stream()):
        busy(torch)
        u.fill_(7)
        result = step(u, steps=5)
        u.fill_(9)
        assert (result * 2 == 24).all().item()


def test_torch_op_opens_a_device_for_each_stream_once(torch, monkeypatch):
    opened = []

    class Counted(hl.Device):
        def __init__(self, kind, *, stream=None, threads=0):
            opened.append(stream)
            super().__init__(kind, stream=stream, threads=threads)

    monkeypatch.setattr(hl._devices, "Device", Counted)
    step, u = hl.torch.op(hl.compile(TOTAL)), torch.as_tensor(numbers((20, 30)), device="cuda")
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]
    for _ in range(3):
        for stream in streams:
            with torch.cuda.stream(stream):
                stream.wait_stream(torch.cuda.default_stream())
                assert np.array_equal(step(u, steps=7).cpu(), total_by_numpy(numbers((20, 30)), 7))
    assert len(opened) == len(set(opened)) <= 2


def test_torch_op_of_a_tensor_in_another_layout(torch):
    turned = torch.as_tensor(numbers((30, 20)), device="cuda").T
    assert np.array_equal(hl.torch.op(hl.compile(TOTAL))(turned, steps=2).cpu(), total_by_numpy(numbers((30, 20)).T, 2))


def test_torch_opcheck(torch, heat, start):
    found = torch.library.opcheck(hl.torch.op(heat).operator, ([torch.as_tensor(start, device="cuda")], [1.0, 0.2], 3, []))
    assert set(found.values()) == {"SUCCESS"}, found


def test_torch_compile_sees_one_call(torch):
    step = hl.torch.op(hl.compile(TOTAL))
    u = torch.as_tensor(numbers((20, 30)), device="cuda")
    compiled = torch.compile(lambda u: step(u * 2, steps=3) + 1, backend="eager", fullgraph=True)
    assert np.array_equal(compiled(u).cpu(), total_by_numpy(numbers((20, 30)) * 2, 3) + 1)


def test_tensors_on_different_devices_are_refused(torch, wave):
    here, there = (torch.zeros((4, 5, 6), dtype=torch.float64, device=device) for device in ("cuda", "cpu"))
    with pytest.raises(hl.ArrayError, match="give tensor.to"):
        hl.torch.op(wave)(here, there, here)


def test_torch_op_in_a_recording_is_refused(torch):
    step = hl.torch.op(hl.compile(TOTAL))
    u = torch.as_tensor(numbers((20, 30)), device="cuda")
    step(u)
    x = torch.zeros(4, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x += 1
        with pytest.raises(hl.LaunchError, match="recorded to a CUDA graph"):
            step(u, steps=2)
    graph.replay()
    torch.cuda.synchronize()
    assert x.tolist() == [1] * 4 and np.array_equal(step(u, steps=2).cpu(), total_by_numpy(numbers((20, 30)), 2))


# ---- JAX


@pytest.fixture(params=[None, "cuda"])
def on_jax(jax, request):
    """A call, which no Python is called for, and an array on the GPU."""
    step = hl.jax.call(hl.compile(TOTAL), device=request.param)
    step._run = lambda *_: 1 / 0
    return step, jax.device_put(numbers((20, 30)), jax.devices("gpu")[0])


def test_jax_call(on_jax):
    step, u = on_jax
    result = step(u, steps=7)
    assert result.devices() == u.devices() and np.array_equal(result, total_by_numpy(numbers((20, 30)), 7))
    assert np.array_equal(u, numbers((20, 30)))  # stays as it is


def test_jax_call_in_jit(jax, on_jax):
    step, u = on_jax
    traced = jax.jit(lambda u: step(u * 2, steps=3) + 1)
    for _ in range(3):
        assert np.array_equal(traced(u), total_by_numpy(numbers((20, 30)) * 2, 3) + 1)


def test_jax_call_in_scan(jax, on_jax):
    step, u = on_jax
    scanned, _ = jax.lax.scan(lambda u, _: (step(u, steps=4), None), u, length=3)
    assert np.array_equal(scanned, total_by_numpy(numbers((20, 30)), 12))


def test_jax_call_in_vmap(jax, on_jax):
    step, u = on_jax
    both = jax.vmap(lambda u: step(u, steps=2))(jax.numpy.stack([u, u + 1]))
    assert np.array_equal(both[1], total_by_numpy(numbers((20, 30)) + 1, 2))


def test_jax_call_is_done_in_order_with_what_xla_does(jax):
    """Long work before and after it, in one compiled function and in several."""
    step = hl.jax.call(hl.compile(COUNT))
    u = jax.device_put(np.zeros(LARGE, np.int32), jax.devices("gpu")[0])

    def before(u):
        return jax.lax.fori_loop(0, 200, lambda _, u: u * 3 + 1, u) * 0 + 7

    traced = jax.jit(lambda u: step(before(u), steps=5) * 2)
    assert (np.asarray(traced(u)) == 24).all() and (np.asarray(step(jax.jit(before)(u), steps=5) * 2) == 24).all()


def test_jax_call_with_a_traced_param(jax, heat, start):
    step = hl.jax.call(heat)
    result = jax.jit(lambda u, dt: step(u, steps=5, dt=dt * 2))(start, np.float32(0.05))
    np.testing.assert_allclose(result, heat_by_numpy(start, 5, 0.1), rtol=1e-4)


def test_jax_call_with_a_past_an_input_and_an_output(jax, wave):
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        arrays = [np.random.default_rng(i).random((6, 7, 8)) for i in range(3)]
        result = jax.jit(lambda *each: hl.jax.call(wave)(*each, steps=3))(*arrays)
        p, past = wave_by_numpy(*arrays, 3)
        np.testing.assert_allclose(result.p, p, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(result.p_past1, past, rtol=1e-12, atol=1e-13)
        assert result.energy.shape == (6, 7, 8)


def test_jax_arrays_that_are_elsewhere_come_by_the_host(jax):
    step = hl.jax.call(hl.compile(TOTAL), device="cuda")
    u = jax.device_put(numbers((20, 30)), jax.devices("cpu")[0])
    assert np.array_equal(step(u, steps=7), total_by_numpy(numbers((20, 30)), 7))


def test_what_goes_wrong_in_a_jax_call_is_said(jax, heat, start):
    step = hl.jax.call(heat)
    with pytest.raises(Exception, match="finite|NaN|nan"):
        jax.block_until_ready(jax.jit(lambda u, dt: step(u, dt=dt))(jax.device_put(start, jax.devices("gpu")[0]), np.float32("nan")))


JAX_WAVE = """stencil wave(x, y) {
    param dt = 0.1
    field c: f32
    field p: TYPE { boundary fixed 0 }
    p[t+1] = 2 * p - p[t-1] + (dt * c)^2 * laplacian(p)
}
"""


# Derivatives of f32 as f64 are of another type than the arrays.
@pytest.mark.parametrize("type", ["f32", "f32 as f64"])
@pytest.mark.parametrize("place, device", [("gpu", None), ("gpu", "cuda"), ("cpu", "cuda")])
def test_jax_gradients_are_those_of_jax(jax, place, device, type):
    wave = hl.jax.call(hl.compile(JAX_WAVE.replace("TYPE", type)), device=device)
    if place == "gpu":
        wave._pull_back = lambda *_: 1 / 0  # no Python is called
    arrays = [np.random.default_rng(i).random((7, 8), np.float32) for i in range(3)]

    def gradients(run, platform):
        gradient = jax.jit(jax.grad(lambda p, past, c, dt: (run(p, past, c, dt) ** 2).sum(), (0, 1, 2, 3)))
        where = jax.devices(platform)[0]
        return gradient(*(jax.device_put(each, where) for each in (*arrays, np.float32(0.1))))

    ours = gradients(lambda p, past, c, dt: wave(p, past, c, dt=dt, steps=4).p, place)
    for one, other in zip(ours, gradients(lambda *given: wave_by_library(jax.numpy, *given, 4)[0], "cpu")):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
