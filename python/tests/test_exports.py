"""Fields with their coordinates, for xarray, zarr and pyvista."""

import sys

import numpy as np
import pytest

import halocline as hl

PLACED = """stencil placed(x, y) {
    spacing x = h, y = 2 * h
    origin x = -1
    param h = 0.5, dt = 0.25
    field p: f32
    field vx: f64 at x+1/2
    field c: f32
    field top: f32
    p[t+1] = p + c
    vx[t+1] = vx + 1
    top = p * 2
}
"""


@pytest.fixture
def placed():
    sim = hl.compile(PLACED).simulate((6, 4), device="cpu")
    sim.p = np.arange(24, dtype=np.float32).reshape(4, 6)
    sim.c = 1
    return sim.run(3)


def test_an_array_as_xarray(placed):
    pytest.importorskip("xarray", reason="xarray is not installed")
    p = placed.p.to_xarray()
    assert p.dims == ("y", "x") and p.shape == (4, 6) and p.name == "p" and np.array_equal(p, placed.read("p"))
    assert p.x.values.tolist() == [-1, -0.5, 0, 0.5, 1, 1.5] and p.y.values.tolist() == [0, 1, 2, 3]
    assert p.time == 0.75 and p.attrs == {"stencil": "placed", "step": 3, "spacing": [1.0, 0.5]}
    vx = placed["vx"].to_xarray()
    assert vx.dims == ("y", "x_half") and vx.x_half[0] == -0.75
    before = placed.p
    placed.run(1)
    assert before.to_xarray().attrs["step"] == 3 and np.array_equal(before.to_xarray(), p)
    placed.h = 1
    assert placed.p.to_xarray().x[1] == 0 and placed.p.to_xarray().time == 1


def test_a_simulation_as_xarray(placed):
    pytest.importorskip("xarray", reason="xarray is not installed")
    data = placed.to_xarray()
    assert list(data) == ["p", "vx", "top"] and dict(data.sizes) == {"y": 4, "x": 6, "x_half": 6}
    assert data.attrs == {"stencil": "placed", "step": 3, "param_h": 0.5, "param_dt": 0.25}
    assert list(placed.to_xarray(["c"])) == ["c"] and data.time == 0.75
    assert float(data.p.sel(x=0.0, y=2.0)) == placed.p[2, 2]
    with pytest.raises(hl.UnknownNameError, match="'q'"):
        placed.to_xarray("q")
    pieces = hl.compile(PLACED).simulate((6, 4), device="cpu", devices=2)
    assert pieces.to_xarray("p").p.shape == (4, 6)


def test_components_and_bf16_as_xarray():
    pytest.importorskip("xarray", reason="xarray is not installed")
    sim = hl.compile("stencil s(x, y) {\n field v: f32[2]\n field b: bf16 as f32\n v[t+1] = 2 * v\n b[t+1] = b\n}").simulate((3, 2), device="cpu")
    assert list(sim.to_xarray("v")) == ["v.0", "v.1"] and sim.to_xarray("b").b.dtype == np.float32
    assert "time" not in sim.to_xarray().coords


def test_zarr_is_appended_to_in_whole_chunks(placed, tmp_path, monkeypatch):
    zarr = pytest.importorskip("zarr", minversion="3", reason="zarr 3 is not installed")
    written = []
    array = zarr.Array
    plain = array.__setitem__
    monkeypatch.setattr(array, "__setitem__", lambda self, key, value: (written.append((self.name, key)), plain(self, key, value))[1])
    where = tmp_path / "out.zarr"
    placed.to_zarr(where, ["p", "vx"], chunks=(3, 4))
    boxes = [key for name, key in written if name == "/p"]
    assert boxes == [(0, slice(a, b), slice(c, d)) for a, b in ((0, 3), (3, 4)) for c, d in ((0, 4), (4, 6))]
    first = placed.read("p")
    placed.run(2).to_zarr(where, ["p", "vx"])
    group = zarr.open_group(where, mode="r")
    assert group["p"].shape == (2, 4, 6) and group["p"].chunks == (1, 3, 4) and group["vx"].dtype == np.float64
    assert np.array_equal(group["p"][0], first) and np.array_equal(group["p"][1], placed.read("p"))
    assert group["step"][:].tolist() == [3, 5] and group["time"][:].tolist() == [0.75, 1.25]
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    data = xarray.open_zarr(where, consolidated=False)
    assert data.p.dims == ("step", "y", "x") and data.vx.dims == ("step", "y", "x_half")
    assert data.x.values.tolist() == [-1, -0.5, 0, 0.5, 1, 1.5] and data.p.attrs["stencil"] == "placed"


def test_what_was_interrupted_is_written_over(placed, tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3", reason="zarr 3 is not installed")
    placed.to_zarr(tmp_path / "z", "p")
    group = zarr.open_group(tmp_path / "z", mode="a")
    group["p"].resize((2, 4, 6))  # as a process that was killed left it
    placed.run(1).to_zarr(tmp_path / "z", "p")
    assert zarr.open_group(tmp_path / "z", mode="r")["p"].shape == (2, 4, 6)
    assert np.array_equal(zarr.open_group(tmp_path / "z", mode="r")["p"][1], placed.read("p"))


def test_zarr_in_pieces_and_of_bf16(heat, start, tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3", reason="zarr 3 is not installed")
    sim = heat.simulate((24, 16), device="cpu", devices=2)
    sim.u = start
    sim.to_zarr(tmp_path / "z", chunks=5)
    assert np.array_equal(zarr.open_group(tmp_path / "z", mode="r")["u"][0], start)
    half = hl.compile("stencil s(x) {\n field b: bf16 as f32\n b[t+1] = b\n}").simulate(9, device="cpu")
    half.b = 1.5
    half.to_zarr(tmp_path / "b", chunks=4)
    assert zarr.open_group(tmp_path / "b", mode="r")["b"][0].tolist() == [1.5] * 9
    assert "time" not in zarr.open_group(tmp_path / "b", mode="r")


def test_zarr_that_cannot_be(placed, sim, tmp_path):
    pytest.importorskip("zarr", minversion="3", reason="zarr 3 is not installed")
    placed.to_zarr(tmp_path / "z")
    for other, fields in ((sim, None), (placed, "p"), (hl.compile(PLACED).simulate((4, 4), device="cpu"), None)):
        with pytest.raises(hl.ArgumentError, match="is there already"):
            other.to_zarr(tmp_path / "z", fields)
    for chunks in ((1, 2, 3), 0, (1.5, 2), (-1, 2)):
        with pytest.raises(hl.ArgumentError, match="chunks"):
            placed.to_zarr(tmp_path / "new", chunks=chunks)
    with pytest.raises(hl.UnknownNameError):
        placed.to_zarr(tmp_path / "new", "q")
    with pytest.raises(hl.ArgumentError, match="no field"):
        placed.to_zarr(tmp_path / "new", [])
    (tmp_path / "file").write_text("")
    with pytest.raises(hl.FileError):
        placed.to_zarr(tmp_path / "file" / "z")


def test_chunks_that_are_chosen():
    from halocline._zarr import _boxes, _chunks

    assert _chunks(None, (40, 30), 4) == (40, 30)
    chosen = _chunks(None, (512, 512, 512), 4)
    assert np.prod(chosen) * 4 <= 8 << 20 and min(chosen) >= 64
    cells = np.zeros((7, 5), int)
    for box in _boxes((7, 5), (3, 2)):
        cells[box] += 1
    assert (cells == 1).all()


def test_pyvista(wave, placed):
    pytest.importorskip("pyvista", reason="pyvista is not installed")
    sim = wave.simulate((5, 4, 3), device="cpu")
    sim.p = np.random.default_rng(0).random((3, 4, 5))
    image = sim.to_pyvista()
    assert image.dimensions == (5, 4, 3) and sorted(image.point_data) == ["energy", "p"]
    assert image.point_data["p"].reshape(3, 4, 5)[2, 1, 3] == sim.p[2, 1, 3]
    assert np.array_equal(sim.p.to_pyvista().point_data["p"], image.point_data["p"])
    flat = placed.to_pyvista("p")
    assert flat.dimensions == (6, 4, 1) and flat.spacing == (0.5, 1, 1) and flat.origin == (-1, 0, 0)
    with pytest.raises(hl.ArgumentError, match="'p' and 'vx' do not lie at the same places"):
        placed.to_pyvista()
    line = hl.compile("stencil s(x) {\n field u: f32\n u[t+1] = u\n}").simulate(4, device="cpu")
    with pytest.raises(hl.ArgumentError, match="two or three axes"):
        line.to_pyvista()


@pytest.mark.parametrize(
    "module, extra, use",
    [
        ("xarray", "xarray", lambda sim, path: sim.to_xarray()),
        ("xarray", "xarray", lambda sim, path: sim.u.to_xarray()),
        ("zarr", "xarray", lambda sim, path: sim.to_zarr(path)),
        ("pyvista", "viz", lambda sim, path: sim.to_pyvista()),
        ("pyvista", "viz", lambda sim, path: sim.u.to_pyvista()),
    ],
)
def test_a_library_that_is_missing_is_named_with_the_mend(sim, tmp_path, monkeypatch, module, extra, use):
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not there
    with pytest.raises(ImportError, match=rf"needs {module}.*pip install halocline\[{extra}\]") as caught:
        use(sim, tmp_path / "z")
    assert isinstance(caught.value, hl.MissingLibraryError) and isinstance(caught.value, hl.Error)
