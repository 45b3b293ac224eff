"""Arrays in and out: the same memory where nothing is copied, and what is refused where something would have to be."""

import ctypes
import gc

import numpy as np
import pytest
from conftest import address

import halocline as hl


def test_every_way_out_shows_the_same_memory(sim, start):
    sim.u = start
    u = sim.u
    ways = [np.asarray(u), np.asarray(memoryview(u)), np.from_dlpack(u), u.__array__(), np.asarray(sim["u"]), u[:]]
    for array in ways:
        assert address(array) == address(u) == address(ways[0])
        assert np.shares_memory(array, ways[0])
        assert array.shape == (16, 24) and array.dtype == np.float32 and np.array_equal(array, start)
        assert array.strides == u.strides and array.strides[1] == 4 and array.strides[0] >= 24 * 4


def test_what_an_array_says_of_itself(sim, start):
    sim.u = start
    u = sim.u
    assert (u.shape, u.ndim, u.size, u.itemsize, u.nbytes, len(u)) == ((16, 24), 2, 384, 4, 1536, 16)
    assert u.dtype == np.float32 and u.device == "cpu" and not u.readonly
    assert repr(u).startswith("<halocline.Array (16, 24) of <f4>")
    assert u.__array_interface__["version"] == 3
    assert not hasattr(u, "__cuda_array_interface__")
    with pytest.raises(TypeError):
        hash(u)


def test_a_copy_is_a_copy(sim, start):
    sim.u = start
    for copy in (sim.u.numpy(), sim.read("u"), np.array(sim.u), np.asarray(sim.u, np.float64)):
        assert not np.shares_memory(copy, np.asarray(sim.u)) and np.array_equal(copy, start)
    assert sim.u.numpy().flags.c_contiguous
    assert sim.read("u", "float64").dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        np.asarray(sim.u).__array__ and sim.u.__array__(np.float64, copy=False)


def test_arithmetic_and_parts(sim, start):
    sim.u = start
    assert np.array_equal(sim.u - 1, start - 1) and np.array_equal(2 * sim.u, 2 * start)
    assert np.array_equal(np.exp(sim.u), np.exp(start)) and sim.u[3, 5] == start[3, 5]
    sim.u[2:4, 1] = 7
    assert sim.u[3, 1] == 7 and sim.u[4, 1] == start[4, 1]
    sim.u += 1
    assert sim.u[3, 1] == 8
    assert np.array_equal(np.add(sim.u, 0, out=sim.u), sim.u)


def test_what_was_taken_keeps_its_values(sim, start):
    sim.u = start
    held = [np.asarray(sim.u), np.from_dlpack(sim.u), sim.u]
    sim.run(6)
    after = sim.read("u")
    assert not np.array_equal(after, start)
    for each in held:
        assert np.array_equal(np.asarray(each), start)
        assert not np.shares_memory(np.asarray(each), np.asarray(sim.u))
    sim.run(1)
    assert np.array_equal(held[0], start)


def test_steps_begin_with_what_was_written_to_an_array(sim, start, heat):
    sim.u = start
    sim.run(3)
    shown = np.asarray(sim.u)
    shown[:] = start + 1
    kept = sim.u
    kept[0, 0] = 3
    sim.run(5)
    again = heat.simulate((24, 16), device="cpu")
    other = start + 1
    other[0, 0] = 3
    again.u = other
    again.run(5)
    assert np.array_equal(sim.read("u"), again.read("u"))


def test_memory_that_nobody_holds_is_not_copied(sim, start):
    sim.u = start
    first = address(sim.u)
    seen = set()
    for _ in range(6):
        sim.run(1)
        seen.add(address(sim.u))
    assert first in seen and len(seen) <= 3  # the levels that steps move between


def test_an_array_outlives_its_simulation(heat, start):
    sim = heat.simulate((24, 16), device="cpu")
    sim.u = start
    shown, capsule = np.asarray(sim.u), sim.u.__dlpack__(max_version=(1, 0))
    sim.close()
    del sim
    gc.collect()
    assert np.array_equal(shown, start)
    del capsule


def test_inputs_stay_where_they_are(wave):
    sim = wave.simulate((8, 6, 4), device="cpu")
    sim.c = 1.0
    shown = np.asarray(sim.c)
    sim.p[2, 3, 4] = 1
    sim.run(3)
    assert np.shares_memory(shown, np.asarray(sim.c))
    before = sim.read("p")
    shown[:] = 0  # steps see it
    sim.run(1)
    past = sim.read("p", level=-1)
    assert np.array_equal(past, before)
    assert np.allclose(sim.read("p"), 2 * before - _two_back(wave))


def _two_back(wave):
    sim = wave.simulate((8, 6, 4), device="cpu")
    sim.c = 1.0
    sim.p[2, 3, 4] = 1
    return sim.run(2).read("p")


def test_levels_and_outputs(wave):
    sim = wave.simulate((8, 6, 4), device="cpu")
    sim["p", -1] = 2
    assert sim["p", -1][1, 2, 3] == 2 and sim["p"][1, 2, 3] == 0
    sim.run(1)
    assert sim.energy.readonly and np.asarray(sim.energy).flags.writeable is False
    with pytest.raises(ValueError):
        np.asarray(sim.energy)[0, 0, 0] = 1
    for level in (-2, 1, 0.0, "now"):
        with pytest.raises(hl.ArgumentError, match="levels -1 to 0"):
            sim["p", level]
    with pytest.raises(hl.ArgumentError, match="levels 0 alone"):
        sim["c", -1] = 0


def test_dlpack_versions_and_flags(wave):
    sim = wave.simulate((8, 6, 4), device="cpu")
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    assert name(sim.p.__dlpack__()) == b"dltensor"
    assert name(sim.p.__dlpack__(max_version=(0, 8))) == b"dltensor"
    assert name(sim.p.__dlpack__(max_version=(1, 0))) == b"dltensor_versioned"
    assert sim.p.__dlpack_device__() == (1, 0)
    assert np.from_dlpack(sim.energy).flags.writeable is False  # numpy asks for versions
    assert np.from_dlpack(sim.array("p", read_only=True)).flags.writeable is False
    for options, words in [
        ({"stream": 1}, "no stream"),
        ({"dl_device": (2, 0)}, "handed over there alone"),
        ({"copy": True}, "without a copy"),
    ]:
        with pytest.raises(BufferError, match=words):
            sim.p.__dlpack__(**options)
    with pytest.raises(BufferError, match="read-only"):
        sim.energy.__dlpack__()
    assert sim.p.__dlpack__(dl_device=(1, 0), copy=False) is not None


def test_buffers_for_consumers_that_know_less(sim, wave):
    with pytest.raises(BufferError, match="know"):
        hash_of = __import__("hashlib").sha256(sim.u)
        del hash_of
    with pytest.raises((BufferError, TypeError)):
        __import__("struct").pack_into("f", wave.simulate((8, 6, 4), device="cpu").energy, 0, 1.0)


def test_every_way_in(sim, start):
    class ByInterface:
        __array_interface__ = start.__array_interface__
        keep = start

    class ByDlpack:
        def __dlpack__(self, **options):
            return start.__dlpack__(**options)

        def __dlpack_device__(self):
            return start.__dlpack_device__()

    class ByArray:
        def __array__(self, dtype=None, copy=None):
            return start

    ways = [start, ByInterface(), ByDlpack(), ByArray(), memoryview(start), start[::1], np.asfortranarray(start).copy("C")]
    for values in ways:
        sim.u = 0
        sim.u = values
        assert np.array_equal(sim.read("u"), start), values
    sim.u = sim.u
    assert np.array_equal(sim.read("u"), start)


def test_rows_may_lie_apart(heat, wave):
    wide = np.random.default_rng(2).random((32, 40), np.float32)
    sim = heat.simulate((24, 16), device="cpu")
    for part in (wide[:16, :24], wide[4:20, 7:31], wide[::2, 3:27], np.broadcast_to(wide[:16, :24], (16, 24))):
        sim.u = part
        assert np.array_equal(sim.read("u"), part)
    space = np.random.default_rng(3).random((9, 10, 11))
    cube = wave.simulate((8, 6, 4), device="cpu")
    cube.p = space[1::2, 2:8, 3:]
    assert np.array_equal(cube.read("p"), space[1::2, 2:8, 3:])
    line = hl.compile("stencil s(x) {\n field u: i64\n u[t+1] = u\n}").simulate(5, device="cpu")
    line.u = np.arange(5)
    assert line.u[:].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("value", [3, 2.5, np.float64(1.5), np.array(4), True])
def test_a_number_for_all_cells(sim, value):
    sim.u = value
    assert np.all(np.asarray(sim.u) == np.float32(value))


def test_read_only_arrays_may_be_read(sim, start):
    start.flags.writeable = False
    sim.u = start
    assert np.array_equal(sim.read("u"), start)


@pytest.mark.parametrize(
    "values, words",
    [
        (np.zeros((24, 16), np.float32), r"axes \(y, x\).*other order"),
        (np.zeros((16, 23), np.float32), r"shape \(16, 24\).*\(16, 23\)"),
        (np.zeros(384, np.float32), r"reshape\(16, 24\)"),
        (np.zeros((16, 24)), r"astype\('float32'\)"),
        (np.zeros((16, 24), ">f4"), r"astype"),
        (np.zeros((16, 24), np.complex64), "astype"),
        (np.zeros((16, 24), object), "array of numbers"),
        (np.zeros((24, 16), np.float32).T, "ascontiguousarray"),
        (np.zeros((16, 24), np.float32)[:, ::-1], "ascontiguousarray"),
        (np.zeros((16, 48), np.float32)[:, ::2], "ascontiguousarray"),
        (np.zeros((16, 24), np.float32)[::-1], "ascontiguousarray"),
        (np.broadcast_to(np.float32(1), (16, 24)), "ascontiguousarray"),
        ("warm", "not str"),
        (None, "not NoneType"),
        ({}, "not dict"),
        (1j, "not complex"),
        (np.complex64(1j), "real numbers"),
        ([[1, 2], [3]], "neither"),
    ],
)
def test_arrays_that_do_not_fit(sim, start, values, words):
    sim.u = start
    with pytest.raises(hl.ArrayError, match=words) as caught:
        sim.u = values
    assert isinstance(caught.value, TypeError) and isinstance(caught.value, ValueError)
    assert np.array_equal(sim.read("u"), start)


def test_a_copy_on_request(sim, start):
    sim.write("u", np.asfortranarray(start), copy=True)
    assert np.array_equal(sim.read("u"), start)
    sim.write("u", start.astype(np.float64)[::-1], copy=True)
    assert np.array_equal(sim.read("u"), start[::-1])
    with pytest.raises(hl.ArrayError, match="astype"):
        sim.write("u", start.astype(np.complex64), copy=True)
    with pytest.raises(hl.ArrayError, match="shape"):
        sim.write("u", start[1:], copy=True)


@pytest.mark.parametrize(
    "type, dtype", [("f64", "f8"), ("f16", "f2"), ("u8", "u1"), ("i32", "i4"), ("i64", "i8"), ("bool", "?")]
)
def test_types(type, dtype):
    program = hl.compile(f"stencil s(x, y) {{\n field u: {type}\n u[t+1] = u\n}}")
    sim = program.simulate((6, 4), device="cpu")
    values = np.arange(24).reshape(4, 6).astype(dtype)
    sim.u = values
    sim.run(2)
    for way in (np.asarray(sim.u), np.from_dlpack(sim.u), sim.read("u")):
        assert way.dtype == np.dtype(dtype) and np.array_equal(way, values)
    if dtype in ("u1", "i4"):
        for value in (2**40, -(2**40), 1.5):
            with pytest.raises(hl.ArrayError, match="cannot hold"):
                sim.u = value


def test_bfloat16_goes_by_float32():
    sim = hl.compile("stencil s(x) {\n field u: bf16\n u[t+1] = u\n}").simulate(4, device="cpu")
    sim.u = np.array([1, 2.5, -3, 1.00390625], np.float32)
    assert sim.read("u", "float32").tolist() == [1, 2.5, -3, 1]
    sim.u = 2
    assert sim.read("u", "float32").tolist() == [2, 2, 2, 2]
    assert sim.u.typestr == "bfloat16" and "bfloat16" in repr(sim.u)
    with pytest.raises(hl.ArgumentError, match="float32"):
        sim.read("u")
    for wrong in (np.zeros(4, int), np.zeros(5, np.float32)):
        with pytest.raises(hl.ArrayError):
            sim.u = wrong
    with pytest.raises(TypeError, match="bfloat16"):
        sim.u.dtype
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(sim.u)
    assert not hasattr(sim.u, "__array_interface__")


VECTOR = """stencil s(x, y) {{
    field v: (x: f32, y: f32) {{ boundary periodic{} }}
    v[t+1] = v + 1
}}
"""


@pytest.mark.parametrize("layout", ["", "\n        layout aos"])
def test_components(layout):
    spec = VECTOR.format(layout).replace("v[t+1] = v + 1", "v[t+1] = [v.x + 1, v.y[x-1]]")
    sim = hl.compile(spec).simulate((6, 4), device="cpu")
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    sim["v.y"] = values
    sim.run(2)
    assert np.all(np.asarray(sim["v.x"]) == 2)
    assert np.array_equal(sim["v.y"], np.roll(values, 2, axis=1))
    assert isinstance(sim["v.x"], np.ndarray if layout else hl.Array)
    if layout:
        assert not sim["v.x"].flags.writeable
    with pytest.raises(AttributeError, match=r"sim\['v.x'\], sim\['v.y'\]"):
        sim.v
    with pytest.raises(AttributeError, match=r"sim\['v.x'\]"):
        sim.v = values
