"""Programs on a GPU: results, what a simulation shows of itself, memory, and what cannot be."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import HEAT, TOTAL, heat_by_numpy
from gpu_tools import COUNT, LARGE, numbers, on_a_gpu, total_by_numpy, wave_by_numpy

import halocline as hl

pytestmark = on_a_gpu


@pytest.fixture
def warm(heat, start):
    with heat.simulate((24, 16), device="cuda") as simulation:
        simulation.u = start
        yield simulation


def test_a_gpu_is_chosen_where_none_is_named(heat):
    assert heat.simulate((24, 16)).device.kind == "cuda:0" and hl.devices()[0].kind == "cuda:0"
    assert hl.devices()[0].arch.startswith("sm_") and hl.devices()[0].memory > 0


def test_whole_numbers_are_exact(total):
    start = numbers((20, 30))
    total.u = start
    assert np.array_equal(total.run(7).read("u"), total_by_numpy(start, 7))
    assert np.array_equal(total.run(4).read("u"), total_by_numpy(start, 11)) and total.steps_done == 11


@pytest.mark.parametrize("steps", [1, 2, 9, 100])
def test_heat(warm, start, steps):
    np.testing.assert_allclose(warm.run(steps).read("u"), heat_by_numpy(start, steps), rtol=1e-4)


def test_a_large_grid():
    sim = hl.compile(TOTAL).simulate((1000, 777), device="cuda")
    start = numbers((777, 1000))
    sim.u = start
    assert np.array_equal(sim.run(10).read("u"), total_by_numpy(start, 10))


def test_three_axes_a_past_an_input_and_an_output(wave):
    p, past, c = (np.random.default_rng(i).random((6, 7, 8)) for i in range(3))
    sim = wave.simulate((8, 7, 6), device="cuda")
    sim.p, sim["p", -1], sim.c = p, past, c
    sim.run(5)
    now, before = wave_by_numpy(p, past, c, 5)
    np.testing.assert_allclose(sim.read("p"), now, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(sim.read("p", level=-1), before, rtol=1e-12, atol=1e-13)
    assert sim.energy.readonly and np.array_equal(sim.read("c"), c)


def test_reductions_and_until(warm, start):
    warm.run(1)
    change = abs(heat_by_numpy(start, 1) - start).max()
    assert warm.reductions["change"] == pytest.approx(change, rel=1e-4)
    done = warm.until("change < 0.01", every=5, at_most=10**5)
    assert done.holds and done.steps % 5 == 0 and warm.steps_done == 1 + done.steps and warm.reductions["change"] < 0.01


def test_params(warm, start):
    warm.dt = 0.1
    np.testing.assert_allclose(warm.run(5).read("u"), heat_by_numpy(start, 5, 0.1), rtol=1e-4)


@pytest.mark.parametrize("type, dtype", [("f64", "f8"), ("f16", "f2"), ("u8", "u1"), ("i32", "i4"), ("i64", "i8"), ("bool", "?")])
def test_types(type, dtype):
    sim = hl.compile(f"stencil s(x, y) {{\n field u: {type}\n u[t+1] = u\n}}").simulate((6, 4), device="cuda")
    values = np.arange(24).reshape(4, 6).astype(dtype)
    sim.u = values
    assert np.array_equal(sim.run(2).read("u"), values) and sim.u.dtype == np.dtype(dtype)


def test_bfloat16():
    sim = hl.compile("stencil s(x) {\n field u: bf16\n u[t+1] = u\n}").simulate(4, device="cuda")
    sim.u = np.array([1, 2.5, -3, 1.00390625], np.float32)
    assert sim.run(1).read("u", "float32").tolist() == [1, 2.5, -3, 1]


@pytest.mark.parametrize("layout", ["", "\n        layout aos"])
def test_components(layout):
    spec = f"stencil s(x, y) {{\n field v: (x: f32, y: f32) {{ boundary periodic{layout} }}\n v[t+1] = [v.x + 1, v.y[x-1]]\n}}"
    sim = hl.compile(spec).simulate((6, 4), device="cuda")
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    sim["v.y"] = values
    sim.run(2)
    assert np.all(np.asarray(sim["v.x"]) == 2) and np.array_equal(np.asarray(sim["v.y"]), np.roll(values, 2, axis=1))


# ---- numpy


def test_numpy_gets_copies(total):
    start = numbers((20, 30))
    total.u = start
    u = total.u
    for copy in (np.asarray(u), u.numpy(), u[:], total.read("u"), np.array(u)):
        assert np.array_equal(copy, start) and copy.flags.writeable
    assert u[3, 5] == start[3, 5] and np.array_equal(u - 1, start - 1) and u.device == "cuda:0"
    assert repr(u) == "<halocline.Array (20, 30) of <i4 on cuda:0>"


def test_what_numpy_cannot_have_without_a_copy(total):
    u = total.u
    assert not hasattr(u, "__array_interface__")
    with pytest.raises((BufferError, TypeError)):
        memoryview(u)
    with pytest.raises(ValueError, match="host's"):
        u.__array__(copy=False)
    with pytest.raises(TypeError, match="CuPy, torch or JAX"):
        u[0, 0] = 1


@pytest.mark.parametrize("rows_apart", [False, True])
def test_arrays_of_numpy_are_copied_in(total, rows_apart):
    wide = numbers((40, 60))
    values = wide[::2, 7:37] if rows_apart else wide[:20, :30].copy()
    total.u = values
    assert np.array_equal(total.read("u"), values)


@pytest.mark.parametrize("value", [3, np.int32(4), True])
def test_a_number_for_all_cells(total, value):
    total.u = value
    assert np.all(total.read("u") == value)


# ---- what a simulation shows


def test_watch(total):
    start = numbers((20, 30))
    total.u = start
    seen = []
    with total.watch("u", every=5, show=lambda values, done: seen.append((done, values.copy()))):
        total.run(12)
    assert [done for done, _ in seen] == [5, 10]
    assert all(np.array_equal(values, total_by_numpy(start, done)) for done, values in seen)
    assert np.array_equal(total.read("u"), total_by_numpy(start, 12))


def test_progress(total):
    told = []
    total.run(50, progress=lambda done, steps: told.append((done, steps)))
    assert told[-1] == (50, 50) and total.steps_done == 50


def test_pictures_and_tables(warm):
    assert "<svg" in warm.u._repr_html_() and warm.device.description in warm._repr_html_()
    assert "cuda:0" in repr(warm) and "<svg" in hl.compile(HEAT).explain((512, 512)).roofline


def test_doctor():
    found = hl.doctor()
    assert found["cuda_device"].found and found["cuda_driver"].found and found.best_device == "cuda"


def test_checkpoints(warm, heat, start, tmp_path):
    warm.run(6)
    warm.checkpoint(tmp_path / "heat.ck")
    after = warm.run(4).read("u")
    with heat.restore(tmp_path / "heat.ck", device="cuda") as again:
        assert again.steps_done == 6 and np.array_equal(again.run(4).read("u"), after)
    warm.save(tmp_path / "u.npy")
    assert np.array_equal(np.load(tmp_path / "u.npy"), after)


def test_tune(tmp_path):
    code = f"""if True:
        import numpy as np
        import halocline as hl
        heat = hl.compile('''{HEAT}''')
        sim = heat.simulate((512, 512), device="cuda")
        sim.u = 1
        before = sim.run(20).read("u")
        told = heat.tune((512, 512), budget=2)
        assert isinstance(told, hl.Tuning) and told.stages, told
        again = heat.simulate((512, 512), device="cuda")
        again.u = 1
        np.testing.assert_allclose(again.run(20).read("u"), before, rtol=1e-5)
        print(told)
    """
    environment = os.environ | {"HALOCLINE_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert f"kept in {tmp_path / 'cache'}" in done.stdout


# ---- the end, and what cannot be


def test_a_grid_that_is_far_too_large(heat, total):
    with pytest.raises(hl.DeviceMemoryError, match="use a smaller grid") as caught:
        heat.simulate((400_000, 400_000), device="cuda").run(1)
    assert isinstance(caught.value, MemoryError)
    assert np.all(total.run(1).read("u")[:, 1:-1] == 1)  # others go on


def test_what_a_closed_simulation_had_is_given_back():
    program = hl.compile(COUNT)
    most = hl.devices()[0].memory
    grid = (16384, int(most * 0.1) // (16384 * 4 * 2))
    for _ in range(12):  # more than the GPU has, one after the other
        with program.simulate(grid, device="cuda") as sim:
            sim.run(1)
            sim.wait()


def test_use_after_close(heat):
    sim = heat.simulate((24, 16), device="cuda")
    sim.run(2)
    sim.close()
    sim.close()
    for use in (lambda: sim.u, lambda: sim.run(1), lambda: sim.read("u"), sim.wait):
        with pytest.raises(hl.ClosedError, match="closed"):
            use()


def test_an_array_outlives_its_simulation():
    sim = hl.compile(TOTAL).simulate((30, 20), device="cuda")
    start = numbers((20, 30))
    sim.u = start
    shown, capsule = sim.u, sim.u.__dlpack__(max_version=(1, 0))
    sim.close()
    del sim
    gc.collect()
    assert np.array_equal(shown.numpy(), start)
    del capsule


def test_run_returns_before_the_steps_are_done_and_wait_waits():
    sim = hl.compile(COUNT).simulate(LARGE, device="cuda")
    sim.run(2000)
    sim.wait()
    assert np.all(sim.read("u") == 2000)


@pytest.mark.parametrize("device", ["cuda:63", "cuda:x"])
def test_gpus_that_are_not_there(heat, device):
    with pytest.raises((hl.NoDeviceError, hl.ArgumentError), match="no GPU 63|no device"):
        heat.simulate((24, 16), device=device)


def test_threads_of_a_gpu(heat):
    with pytest.raises(hl.ArgumentError, match="threads are of the CPU"):
        hl.Device("cuda", threads=2)


def test_simulations_on_devices_of_their_own():
    start = numbers((20, 30))
    sims = [hl.compile(TOTAL).simulate((30, 20), device=hl.Device("cuda:0")) for _ in range(3)]
    for count, sim in enumerate(sims):
        sim.u = start
        sim.run(3 + count)
    for count, sim in enumerate(sims):
        assert np.array_equal(sim.read("u"), total_by_numpy(start, 3 + count))
