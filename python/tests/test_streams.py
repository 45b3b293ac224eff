"""Streams of other libraries, by how they say what they are. What a stream does needs a GPU."""

from types import SimpleNamespace

import pytest

import halocline as hl
from halocline._arrays import Checked
from halocline._devices import _stream_handle


class Cuda:
    def __cuda_stream__(self):
        return (0, 17)


class CudaProperty:
    __cuda_stream__ = (0, 18)


class Newer:
    def __cuda_stream__(self):
        return (1, 17)


class Torch:
    cuda_stream = 19


class Cupy:
    ptr = 20


@pytest.mark.parametrize(
    "stream, handle", [(None, None), (0, 0), (16, 16), (Cuda(), 17), (CudaProperty(), 18), (Torch(), 19), (Cupy(), 20)]
)
def test_streams_of_others(stream, handle):
    assert _stream_handle(stream) == handle


@pytest.mark.parametrize("stream, words", [(-1, "address"), (Newer(), "version 1"), ("main", "no CUDA stream"), (True, "no CUDA stream"), (1.5, "no CUDA stream")])
def test_what_is_no_stream(stream, words):
    with pytest.raises(hl.ArgumentError, match=words):
        _stream_handle(stream)


def test_a_device_is_a_stream():
    assert hl.Device("cpu").__cuda_stream__() == (0, 0)


class Recorder:
    """A device and a simulation of the core, and an array of another library, that note what is asked of them."""

    stream = 21

    def __init__(self, calls):
        self._calls = calls

    def __getattr__(self, name):
        return lambda *arguments, **named: self._calls.append((name, named.get("stream", arguments[0] if arguments else None)))

    def __dlpack__(self, **options):
        self._calls.append(("__dlpack__", options["stream"]))


@pytest.mark.parametrize(
    "theirs, ours, expected",
    [
        (33, 21, [("wait_for_stream", 33), ("write_view", "u"), ("make_stream_wait", 33)]),
        (None, 21, [("__dlpack__", 21), ("write_view", "u"), ("wait", None)]),  # as torch and JAX
        (None, 0, [("__dlpack__", 1), ("write_view", "u"), ("wait", None)]),  # in the default stream
    ],
)
def test_an_array_on_a_gpu_is_copied_after_what_its_stream_has_to_do(theirs, ours, expected):
    calls = []
    core = Recorder(calls)
    core.stream = ours
    checked = Checked(Recorder(calls), 64, 16, 4, 0)
    checked.stream = theirs
    simulation = SimpleNamespace(device=SimpleNamespace(_core=core), _core=core)
    hl.Simulation._write_on_gpu(simulation, "u", checked, 0)
    assert calls == expected
