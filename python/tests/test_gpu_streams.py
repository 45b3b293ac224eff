"""Order between a simulation and other streams of the GPU, streams of the caller's, and recordings of them to CUDA graphs."""

import gc
import weakref

import numpy as np
import pytest
from conftest import TOTAL
from gpu_tools import COUNT, LARGE, busy, numbers, on_a_gpu, total_by_numpy

import halocline as hl

pytestmark = on_a_gpu


@pytest.fixture
def count():
    """Large, so that steps are still being done when run() returns."""
    with hl.compile(COUNT).simulate(LARGE, device="cuda") as simulation:
        simulation.u = 0
        yield simulation


# ---- streams of the caller's


class Named:
    """A stream as cuda.core has it."""

    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return 0, self.handle


@pytest.mark.parametrize("way", ["integer", "torch", "__cuda_stream__"])
def test_a_stream_of_torch(torch, way):
    stream = torch.cuda.Stream()
    given = {"integer": stream.cuda_stream, "torch": stream, "__cuda_stream__": Named(stream.cuda_stream)}[way]
    sim = hl.compile(TOTAL).simulate((30, 20), device="cuda", stream=given)
    assert sim.device.stream == stream.cuda_stream == sim.u.__cuda_array_interface__["stream"]
    start = numbers((20, 30))
    sim.u = start
    assert np.array_equal(sim.run(9).read("u"), total_by_numpy(start, 9))


def test_a_stream_of_cupy(cupy):
    stream = cupy.cuda.Stream(non_blocking=True)
    sim = hl.compile(TOTAL).simulate((30, 20), device="cuda", stream=stream)
    assert sim.device.stream == stream.ptr
    start = numbers((20, 30))
    with stream:
        sim.u = cupy.asarray(start)
        shown = cupy.asarray(sim.run(9).u)
        assert np.array_equal(shown.get(), total_by_numpy(start, 9))


def test_a_stream_is_held_as_long_as_it_is_needed(cupy):
    stream = cupy.cuda.Stream(non_blocking=True)
    stream_goes = weakref.ref(stream)
    sim = hl.compile(TOTAL).simulate((30, 20), device="cuda", stream=stream)
    shown = sim.u
    del stream
    start = numbers((20, 30))
    sim.u = start
    assert np.array_equal(sim.run(9).read("u"), total_by_numpy(start, 9))
    del sim
    assert stream_goes() is not None
    del shown
    gc.collect()
    assert stream_goes() is None


@pytest.mark.parametrize("library", ["none", "torch", "cupy"])
def test_the_default_stream(library, request):
    stream = 0
    if library == "torch":
        stream = request.getfixturevalue("torch").cuda.default_stream()
    elif library == "cupy":
        stream = request.getfixturevalue("cupy").cuda.Stream.null
    sim = hl.compile(TOTAL).simulate((30, 20), device="cuda", stream=stream)
    assert sim.device.stream == 0 and sim.u.__cuda_array_interface__["stream"] == 1
    start = numbers((20, 30))
    sim.u = start
    assert np.array_equal(sim.run(20).read("u"), total_by_numpy(start, 20))


def test_a_device_is_a_stream_for_others(torch):
    device = hl.Device("cuda:0")
    sim = hl.compile(COUNT).simulate(LARGE, device=device)
    sim.u = 0
    sim.run(500)
    assert device.__cuda_stream__() == (0, device.stream) and device.stream != 0
    with torch.cuda.stream(torch.cuda.ExternalStream(device.stream)):
        shown = torch.from_dlpack(sim.u)
        shown += 5
    del shown
    sim.run(1)
    assert np.all(sim.read("u") == 506)


# ---- those who take arrays wait for steps


def test_torch_waits_for_steps(torch, count):
    with torch.cuda.stream(torch.cuda.Stream()):
        count.run(2000)
        right = (torch.from_dlpack(count.u) == 2000).all()
        assert right.item()


@pytest.mark.parametrize("way", ["from_dlpack", "asarray"])
def test_cupy_waits_for_steps(cupy, count, way):
    with cupy.cuda.Stream(non_blocking=True):
        count.run(2000)
        assert bool((getattr(cupy, way)(count.u) == 2000).all())


def test_jax_waits_for_steps(jax, count):
    count.run(2000)
    assert bool((jax.dlpack.from_dlpack(count.u) == 2000).all())


def test_torch_in_the_default_stream_waits_for_steps(torch, count):
    count.run(2000)
    assert (torch.from_dlpack(count.u) == 2000).all().item()


def test_what_is_read_while_steps_go_on_is_what_was_taken(torch, count):
    count.run(100)
    with torch.cuda.stream(torch.cuda.Stream()):
        shown = torch.from_dlpack(count.u)
        busy(torch)
        right = (shown == 100).all()  # begins long after the next steps
        count.run(2000)
        assert right.item()
    assert np.all(count.read("u") == 2100)


# ---- steps wait for those who made arrays


def test_torch_is_waited_for(torch, total):
    values = torch.zeros((20, 30), dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        busy(torch)
        values.fill_(7)
        total.u = values
    assert np.all(total.read("u") == 7)


def test_torch_in_the_default_stream_is_waited_for(torch, total):
    values = torch.zeros((20, 30), dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    busy(torch)
    values.fill_(7)
    total.u = values
    assert np.all(total.read("u") == 7)


@pytest.mark.parametrize("is_default", [False, True])
def test_cupy_is_waited_for(cupy, total, is_default):
    spin = cupy.RawKernel("extern \"C\" __global__ void spin(long long cycles) { long long begin = clock64(); while (clock64() - begin < cycles); }", "spin")
    values = cupy.zeros((20, 30), np.int32)
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream.null if is_default else cupy.cuda.Stream(non_blocking=True):
        spin((1,), (1,), (np.int64(300_000_000),))
        values.fill(7)
        total.u = values
    assert np.all(total.read("u") == 7)


def test_jax_is_waited_for(jax, total):
    jnp = jax.numpy

    @jax.jit
    def slowly(a):
        a = jax.lax.fori_loop(0, 300, lambda _, a: (a @ a) / 2048, a)
        return jnp.where(a[0, 0] > 0, 7, 8) + jnp.zeros((20, 30), jnp.int32)

    ones = jnp.ones((2048, 2048), jnp.float32)
    slowly(ones).block_until_ready()
    total.u = slowly(ones)
    assert np.all(total.read("u") == 7)


def test_an_array_may_be_overwritten_once_it_was_assigned(torch, count):
    values = torch.full(LARGE, 7, dtype=torch.int32, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
        count.run(2000)  # the copy comes after these
        count.u = values
        values.fill_(9)
    assert np.all(count.read("u") == 7)
    torch.cuda.synchronize()


def test_an_array_of_cupy_may_be_overwritten_once_it_was_assigned(cupy, count):
    values = cupy.full(LARGE, 7, np.int32)
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True):
        count.run(2000)
        count.u = values
        values.fill(9)
    assert np.all(count.read("u") == 7)


def test_an_array_may_go_once_it_was_assigned(torch, count):
    count.run(2000)
    values = torch.full(LARGE, 7, dtype=torch.int32, device="cuda")
    count.u = values
    del values
    torch.full(LARGE, 9, dtype=torch.int32, device="cuda")  # in the same memory
    assert np.all(count.read("u") == 7)


# ---- recordings of the caller's to CUDA graphs


def test_steps_in_a_stream_that_is_recorded_are_refused(torch):
    stream = torch.cuda.Stream()
    sim = hl.compile(TOTAL).simulate((30, 20), device="cuda", stream=stream)
    start = numbers((20, 30))
    sim.u = start
    sim.run(8)
    sim.wait()
    x = torch.zeros(4, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        x += 1
        for use in (lambda: sim.run(8), lambda: sim.read("u"), lambda: sim.write("u", start), sim.wait):
            with pytest.raises(hl.LaunchError, match="recorded to a CUDA graph"):
                use()
        x += 1
    graph.replay()
    graph.replay()
    torch.cuda.synchronize()
    assert x.tolist() == [4] * 4  # the recording is whole
    assert sim.steps_done == 8 and np.array_equal(sim.run(3).read("u"), total_by_numpy(start, 11))


def test_arrays_are_not_handed_to_a_stream_that_is_recorded(torch, total):
    start = numbers((20, 30))
    total.u = start
    x = torch.zeros(4, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x += 1
        with pytest.raises(hl.LaunchError, match="recorded to a CUDA graph"):
            torch.from_dlpack(total.u)
    graph.replay()
    torch.cuda.synchronize()
    assert x.tolist() == [1] * 4 and np.array_equal(total.run(2).read("u"), total_by_numpy(start, 2))


def test_a_device_in_a_stream_that_is_recorded_is_refused(torch):
    x = torch.zeros(4, device="cuda")
    hl.devices()  # so that the driver is known
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x += 1
        with pytest.raises(hl.LaunchError, match="recorded to a CUDA graph"):
            hl.Device("cuda", stream=torch.cuda.current_stream())
    graph.replay()
    torch.cuda.synchronize()
    assert x.tolist() == [1] * 4


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_a_simulation_with_a_stream_of_its_own_is_right_whatever_else_is_recorded(torch, total, mode):
    """Should the driver forbid what its steps need meanwhile, they are refused, and the recording may be lost, but no values
    are wrong."""
    start = numbers((20, 30))
    total.u = start
    total.run(8)
    total.wait()
    x = torch.zeros(4, device="cuda")
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, capture_error_mode=mode):
            x += 1
            try:
                total.run(8)
            except hl.Error:
                pass
    except RuntimeError:
        graph = None
    done = total.steps_done
    assert 8 <= done <= 16 and np.array_equal(total.read("u"), total_by_numpy(start, done))
    if graph is not None:
        graph.replay()
        torch.cuda.synchronize()
        assert x.tolist() == [1] * 4 and total.steps_done == done
    assert np.array_equal(total.run(3).read("u"), total_by_numpy(start, done + 3))


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_a_simulation_with_a_stream_of_its_own_goes_on_beside_a_recording(torch, total, mode):
    """Also where it reserves memory, for what is held, and gives it back."""
    start = numbers((20, 30))
    total.u = start
    x = torch.zeros(4, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode=mode):
        x += 1
        held = total.u
        total.run(8)
        taken = held.numpy()
        del held
        total.wait()
        x += 1
    graph.replay()
    torch.cuda.synchronize()
    assert x.tolist() == [2] * 4 and np.array_equal(taken, start)
    assert total.steps_done == 8 and np.array_equal(total.read("u"), total_by_numpy(start, 8))
