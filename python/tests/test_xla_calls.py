"""What XLA calls on a GPU, called as XLA does, where the GPU is a stand-in of host memory whose kernels do nothing."""

import pytest
from test_machine import on_a_stand_in, on_fake_told

pytestmark = on_a_stand_in


@pytest.fixture(autouse=True)
def all_kernels(monkeypatch):
    monkeypatch.setenv("HALO_FAKE_ALL_KERNELS", "1")


# A call frame of XLA's foreign function interface (xla/ffi/api/c_api.h), and what handlers ask of it.
FRAME = """
import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, addressof, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint8, c_void_p, cast, sizeof
import numpy as np
from halocline import _core

F32, S64, F64 = 11, 5, 12

def struct(**fields):
    return type("Made", (Structure,), {"_fields_": list(fields.items())})

Base = [("struct_size", c_size_t), ("extensions", c_void_p)]
Failure = struct(struct_size=c_size_t, extensions=c_void_p, message=c_char_p, code=c_int)
AskedStream = struct(struct_size=c_size_t, extensions=c_void_p, context=c_void_p, stream=c_void_p)
Fail, FindStream = CFUNCTYPE(c_void_p, POINTER(Failure)), CFUNCTYPE(c_void_p, POINTER(AskedStream))
Version = struct(struct_size=c_size_t, extensions=c_void_p, major=c_int, minor=c_int)
Api = struct(struct_size=c_size_t, extensions=c_void_p, version=Version, internal=c_void_p, fail=Fail, others=c_void_p * 3, find_stream=FindStream)
Buffer = struct(struct_size=c_size_t, extensions=c_void_p, type=c_int, data=c_void_p, rank=c_int64, dims=c_void_p)
Listed = struct(struct_size=c_size_t, extensions=c_void_p, size=c_int64, kinds=c_void_p, items=c_void_p)
Text = struct(begin=c_char_p, size=c_size_t)
Scalar, Numbers = struct(type=c_int, value=c_void_p), struct(type=c_int, size=c_size_t, data=c_void_p)
Attributes = struct(struct_size=c_size_t, extensions=c_void_p, size=c_int64, kinds=c_void_p, names=c_void_p, values=c_void_p)
Frame = struct(struct_size=c_size_t, extensions=c_void_p, api=c_void_p, context=c_void_p, stage=c_int, arguments=Listed, results=Listed, attributes=Attributes)

said = []
fail = Fail(lambda made: said.append(made.contents.message.decode()) or 1)

@FindStream
def find_stream(asked):
    asked.contents.stream = STREAM
    return None

pointer_to = ctypes.pythonapi.PyCapsule_GetPointer
pointer_to.restype, pointer_to.argtypes = c_void_p, [ctypes.py_object, c_char_p]
handler = CFUNCTYPE(c_void_p, c_void_p)(pointer_to(_core.xla_handler_gpu(), None))

def call(key, arguments, results, steps, params):
    api, kept = Api(), []
    api.fail, api.find_stream = fail, find_stream

    def listed(arrays):
        buffers = []
        for array, kind in arrays:
            dims = (c_int64 * max(array.ndim, 1))(*array.shape)
            buffers.append(Buffer(0, None, kind, array.ctypes.data, array.ndim, addressof(dims)))
            kept.append(dims)
        pointers = (c_void_p * len(buffers))(*map(addressof, buffers))
        kept.extend([buffers, pointers])
        return Listed(0, None, len(buffers), None, addressof(pointers))

    count, numbers = c_int64(steps), (c_double * len(params))(*params)
    values = [Text(key, len(key)), Scalar(S64, addressof(count)), Numbers(F64, len(params), addressof(numbers))]
    names = [Text(name, len(name)) for name in (b"program", b"steps", b"params")]
    kinds = (c_int * 3)(4, 3, 1)
    name_pointers, value_pointers = ((c_void_p * 3)(*map(addressof, each)) for each in (names, values))
    attributes = Attributes(0, None, 3, *map(addressof, (kinds, name_pointers, value_pointers)))
    frame = Frame(0, None, addressof(api), None, 3, listed(arguments), listed(results), attributes)
    said.clear()
    return said[0] if handler(addressof(frame)) else "well"

stream_of_xla = c_int(0)
STREAM = addressof(stream_of_xla)
heat = hl.compile("stencil heat(x, y) {\\n param dt\\n field u: f32 { boundary clamp }\\n u[t+1] = u + dt * laplacian(u)\\n}")
def known(key, gpu):
    _core.register_call(key, heat._core, hl.Device("cpu")._core, gpu, [("u", 0)], [("u", 0)], ["dt"])
u = np.random.default_rng(1).random((20, 30), np.float32)
v = np.zeros_like(u)
"""


def told(tmp_path, code):
    return on_fake_told(tmp_path, FRAME + code).splitlines()


def test_arrays_go_to_fields_and_back_in_the_gpus_memory(tmp_path):
    code = "known('heat', '')\nprint(call(b'heat', [(u, F32)], [(v, F32)], 0, [0.1]), np.array_equal(u, v), v.any())"
    assert told(tmp_path, code) == ["well True True"]


@pytest.mark.parametrize("number, kind", [("np.float32(0.1)", "F32"), ("np.float64(0.1)", "F64")])
def test_a_traced_parameter_is_read_from_the_gpus_memory(tmp_path, number, kind):
    code = f"known('heat', '')\ndt = np.asarray({number})\nprint(call(b'heat', [(u, F32), (dt, {kind})], [(v, F32)], 0, [float('nan')]), np.array_equal(u, v))"
    assert told(tmp_path, code) == ["well True"]
    code = "known('heat', '')\ndt = np.asarray(np.float64('nan'))\nprint(call(b'heat', [(u, F32), (dt, F64)], [(v, F32)], 1, [float('nan')]))"
    assert "dt" in told(tmp_path, code)[0]


def test_what_cannot_be_is_said(tmp_path):
    code = """
known('heat@cuda:1', 'cuda:1')
print(call(b'heat@cuda:1', [(u, F32)], [(v, F32)], 0, [0.1]))
print(call(b'wave', [(u, F32)], [(v, F32)], 0, [0.1]))
STREAM = None
known('heat', '')
print(call(b'heat', [(u, F32)], [(v, F32)], 0, [0.1]))
"""
    elsewhere, unknown, streamless = told(tmp_path, code)
    assert "arrays are on cuda:0, and the call is for cuda:1; leave device= out" in elsewhere
    assert "no program 'wave'" in unknown
    assert "default stream" in streamless
