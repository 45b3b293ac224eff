"""Streams of other libraries, by how they say what they are. What a stream does needs a GPU."""

import pytest

import halocline as hl
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
