"""Arrays of torch, CuPy and JAX on a GPU: the same memory, in both directions, and what is refused."""

import ctypes
import gc

import numpy as np
import pytest
from gpu_tools import COUNT, address, numbers, on_a_gpu, on_host, total_by_numpy

import halocline as hl

pytestmark = on_a_gpu


@pytest.fixture
def compact():
    """Of a program that reads no neighbours, so that rows lie together: JAX takes no others."""
    with hl.compile(COUNT).simulate((64, 48), device="cuda") as simulation:
        assert simulation.u.strides == (256, 4)
        yield simulation


# ---- out


def test_torch_has_the_same_memory(torch, total):
    total.u = numbers((20, 30))
    shown = torch.from_dlpack(total.u)
    assert shown.data_ptr() == address(total.u) and shown.device == torch.device("cuda:0")
    assert tuple(shown.shape) == (20, 30) and tuple(4 * each for each in shown.stride()) == total.u.strides
    assert shown.dtype == torch.int32 and np.array_equal(on_host(shown), numbers((20, 30)))


def test_torch_as_tensor_has_the_same_memory(torch, total):
    total.u = numbers((20, 30))
    shown = torch.as_tensor(total.u, device="cuda")
    assert shown.data_ptr() == address(total.u) and np.array_equal(on_host(shown), numbers((20, 30)))


@pytest.mark.parametrize("way", ["from_dlpack", "asarray"])
def test_cupy_has_the_same_memory(cupy, total, way):
    total.u = numbers((20, 30))
    shown = getattr(cupy, way)(total.u)
    assert shown.data.ptr == address(total.u) and shown.strides == total.u.strides and shown.dtype == np.int32
    assert np.array_equal(shown.get(), numbers((20, 30)))


def test_jax_has_the_same_memory(jax, compact):
    compact.u = numbers((48, 64))
    shown = jax.dlpack.from_dlpack(compact.u)
    assert address(shown) == address(compact.u) and shown.devices().pop().platform == "gpu"
    assert shown.dtype == np.int32 and np.array_equal(np.asarray(shown), numbers((48, 64)))


def test_jax_takes_no_rows_that_lie_apart(jax, total):
    """Or a later version copies them; it never shows other cells."""
    total.u = numbers((20, 30))
    assert total.u.strides[0] > 30 * 4
    try:
        shown = jax.dlpack.from_dlpack(total.u)
    except Exception as error:
        assert "strid" in str(error)
    else:
        assert np.array_equal(np.asarray(shown), numbers((20, 30)))


def test_bfloat16_is_torchs(torch):
    sim = hl.compile("stencil s(x) {\n field u: bf16\n u[t+1] = u\n}").simulate(4, device="cuda")
    sim.u = np.array([1, 2.5, -3, 4], np.float32)
    shown = torch.from_dlpack(sim.u)
    assert shown.dtype == torch.bfloat16 and shown.float().tolist() == [1, 2.5, -3, 4]


def test_the_cuda_array_interface(total):
    interface = total.u.__cuda_array_interface__
    assert interface["version"] == 3 and interface["shape"] == (20, 30) and interface["typestr"] == "<i4"
    assert interface["strides"] == total.u.strides and interface["data"][1] is False
    assert interface["stream"] == (total.device.stream or 1)


def test_dlpack_versions(total):
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    assert total.u.__dlpack_device__() == (2, 0)
    for stream in (None, -1, 1, 2):
        assert name(total.u.__dlpack__(stream=stream)) == b"dltensor"
    assert name(total.u.__dlpack__(max_version=(1, 0))) == b"dltensor_versioned"
    assert name(total.u.__dlpack__(dl_device=(2, 0), copy=False)) == b"dltensor"
    for options in ({"dl_device": (1, 0)}, {"dl_device": (2, 1)}, {"copy": True}):
        with pytest.raises(BufferError):
            total.u.__dlpack__(**options)


def test_outputs_are_read_only(wave):
    sim = wave.simulate((8, 6, 4), device="cuda")
    sim.p = 2.0
    sim.run(1)
    assert sim.energy.readonly and sim.energy.__cuda_array_interface__["data"][1] is True
    with pytest.raises(BufferError, match="read-only"):
        sim.energy.__dlpack__()
    sim.energy.__dlpack__(max_version=(1, 0))
    assert sim.array("p", read_only=True).readonly and not sim.p.readonly


@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
def test_outputs_are_shown_or_refused(wave, library, request):
    """Not every library knows read-only arrays; none may show other values."""
    module = request.getfixturevalue(library)
    sim = wave.simulate((8, 6, 4), device="cuda")
    sim.p = 2.0
    sim.run(1)
    try:
        shown = (module.dlpack if library == "jax" else module).from_dlpack(sim.energy)
    except BufferError:
        return
    assert np.array_equal(on_host(shown), sim.read("energy"))


# ---- what was taken


@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
def test_what_was_taken_keeps_its_values(compact, library, request):
    module = request.getfixturevalue(library)
    start = numbers((48, 64))
    compact.u = start
    held = (module.dlpack if library == "jax" else module).from_dlpack(compact.u)
    where = address(held)
    compact.run(5)
    assert np.array_equal(on_host(held), start) and address(held) == where != address(compact.u)
    assert np.array_equal(compact.read("u"), start + 5)
    compact.run(3)
    assert np.array_equal(on_host(held), start) and np.array_equal(compact.read("u"), start + 8)


def test_cupy_by_the_cuda_array_interface_keeps_its_values(cupy, total):
    start = numbers((20, 30))
    total.u = start
    held = cupy.asarray(total.u)
    total.run(5)
    assert np.array_equal(held.get(), start) and np.array_equal(total.read("u"), total_by_numpy(start, 5))


def test_memory_that_nobody_holds_is_not_copied(total):
    seen = {address(total.u)}
    for _ in range(8):
        total.run(1)
        seen.add(address(total.u))
    assert len(seen) <= 3


def test_memory_is_given_back_by_the_library_that_held_it(cupy):
    sim = hl.compile(COUNT).simulate((4096, 4096), device="cuda")
    sim.u = 1
    held = cupy.from_dlpack(sim.u)
    sim.run(1)  # moves to memory of its own
    sim.wait()
    before = cupy.cuda.runtime.memGetInfo()[0]
    del held
    gc.collect()
    assert cupy.cuda.runtime.memGetInfo()[0] - before >= 4096 * 4096 * 4


@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
def test_an_array_outlives_its_simulation(library, request):
    module = request.getfixturevalue(library)
    sim = hl.compile(COUNT).simulate((64, 48), device="cuda")
    sim.u = numbers((48, 64))
    shown = (module.dlpack if library == "jax" else module).from_dlpack(sim.u)
    sim.close()
    del sim
    gc.collect()
    assert np.array_equal(on_host(shown), numbers((48, 64)))


def test_steps_begin_with_what_was_written(torch, total):
    start = numbers((20, 30))
    total.u = start
    total.run(2)
    shown = torch.from_dlpack(total.u)
    shown += 3
    torch.cuda.synchronize()
    del shown
    total.run(2)
    assert np.array_equal(total.read("u"), total_by_numpy(total_by_numpy(start, 2) + 3, 2))


def test_steps_begin_with_what_was_written_to_an_array_that_is_still_held(cupy, total):
    start = numbers((20, 30))
    total.u = start
    shown = cupy.from_dlpack(total.u)
    shown[...] = cupy.asarray(start + 1)
    cupy.cuda.Device().synchronize()
    total.run(2)
    assert np.array_equal(total.read("u"), total_by_numpy(start + 1, 2)) and np.array_equal(shown.get(), start + 1)


def test_inputs_stay_where_they_are(cupy, wave):
    sim = wave.simulate((8, 6, 4), device="cuda")
    sim.c = 1.0
    shown = cupy.from_dlpack(sim.c)
    sim.run(3)
    assert shown.data.ptr == address(sim.c)


# ---- in


def made_by(library, module, values):
    if library == "torch":
        return module.as_tensor(values, device="cuda")
    return module.asarray(values) if library == "cupy" else module.device_put(values, module.devices("gpu")[0])


@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
def test_assignments(total, library, request):
    start = numbers((20, 30))
    total.u = made_by(library, request.getfixturevalue(library), start)
    assert np.array_equal(total.read("u"), start)
    assert np.array_equal(total.run(3).read("u"), total_by_numpy(start, 3))


def test_assignments_of_rows_that_lie_apart(torch, cupy, total):
    wide = numbers((40, 60))
    for values in (torch.as_tensor(wide, device="cuda")[::2, 7:37], cupy.asarray(wide)[::2, 7:37]):
        total.u = 0
        total.u = values
        assert np.array_equal(total.read("u"), wide[::2, 7:37])


def test_assignments_of_levels_in_three_axes(cupy, wave):
    space = np.random.default_rng(3).random((9, 10, 11))
    sim = wave.simulate((8, 6, 4), device="cuda")
    sim["p", -1] = cupy.asarray(space)[1::2, 2:8, 3:]
    assert np.array_equal(sim.read("p", level=-1), space[1::2, 2:8, 3:]) and not sim.read("p").any()


def test_assignments_between_simulations(total):
    other = hl.compile(COUNT).simulate((30, 20), device="cuda")
    other.u = numbers((20, 30))
    total.u = other.u
    assert np.array_equal(total.read("u"), numbers((20, 30)))
    total.u = total.u
    assert np.array_equal(total.read("u"), numbers((20, 30)))


def test_a_tensor_on_the_cpu_is_copied_in(torch, total):
    total.u = torch.as_tensor(numbers((20, 30)))
    assert np.array_equal(total.read("u"), numbers((20, 30)))


@pytest.mark.parametrize(
    "values, words",
    [
        (lambda cupy: cupy.zeros((30, 20), np.int32), "other order"),
        (lambda cupy: cupy.zeros((20, 29), np.int32), r"shape \(20, 30\)"),
        (lambda cupy: cupy.zeros((20, 30), np.float32), "astype"),
        (lambda cupy: cupy.zeros((30, 20), np.int32).T, "ascontiguousarray"),
        (lambda cupy: cupy.zeros((20, 60), np.int32)[:, ::2], "ascontiguousarray"),
    ],
)
def test_arrays_that_do_not_fit(cupy, total, values, words):
    total.u = numbers((20, 30))
    with pytest.raises(hl.ArrayError, match=words):
        total.u = values(cupy)
    assert np.array_equal(total.read("u"), numbers((20, 30)))


def test_a_tensor_that_needs_a_gradient_is_refused(torch):
    sim = hl.compile("stencil s(x) {\n field u: f32\n u[t+1] = u\n}").simulate(4, device="cuda")
    with pytest.raises(hl.ArrayError, match="detach"):
        sim.u = torch.zeros(4, device="cuda", requires_grad=True)
