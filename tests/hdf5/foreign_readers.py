#!/usr/bin/env python3
"""That other programs read what a run writes: VTK (the reader of ParaView), h5py, netCDF4, xarray and ParaView.

    foreign_readers.py HALOC

Each is asked where Python can import it, ParaView where its pvpython is on the PATH, and left out in words where not;
without any the test is skipped (77).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

SPEC = """stencil seen(x, y, z) {
    param dt = 0.125
    spacing x = 0.5, y = 0.25
    origin y = -1
    field u: f32 { boundary clamp }
    field v: (x: f16, y: f16)
    field s: f64 at x+1/2
    field b: bool
    u[t+1] = u + 1
    v[t+1] = v * 0.5
    s[t+1] = s + 1
    b[t+1] = not b
    reduce most = max(u)
    reduce all = sum(s)
    points ears
    sample u at ears into ears.heard[t]
}
run seen {
    grid 6, 5, 4
    steps 5
    init u = idx(x) + 10*idx(y) + 100*idx(z)
    init v.x = idx(y)
    ears at [0.5, -1, 2], [1, 0, 1]
    save u to "all.vtkhdf" every 2 from 0 together
    save v to "all.vtkhdf" every 2 from 0 together
    save u to "one.vtkhdf"
    save u to "series.vtkhdf" every 2 from 0
    save u at y = 2 to "plane.vtkhdf" every 2 together
    save u to "all.nc" every 2 from 0 together
    save s to "all.nc" every 2 from 0 together
    save v to "all.nc" every 2 from 0 together
    save b to "all.nc" every 2 from 0 together
    save u to "one.nc"
    save most to "log.h5" every 2
    save all to "log.h5" every 2
    save ears.heard to "heard.h5"
}
"""


UNITS = """stencil warm(x, y) {
    param dt = 0.125 unit "s"
    spacing x = 0.5 unit "m", y = 2 unit "km"
    field u: f32 { unit "K"; boundary clamp }
    field v: (x: f32, y: f32) { unit "m s-1"; boundary clamp }
    field w: f32 { boundary clamp }
    u[t+1] = u + 1
    v[t+1] = v
    w[t+1] = w
    reduce most = max(u) unit "K"
    reduce cells = sum(1)
    points ears
    sample u at ears into ears.heard[t] unit "K"
    sample w at ears into ears.other[t]
}
run warm {
    grid 6, 5
    steps 2
    ears at [1, 2]
    save most to "columns.h5"
    save cells to "columns.h5"
    save ears.heard to "heard_units.h5"
    save ears.other to "other_units.h5"
    save u to "units.nc"
    save v to "units.nc"
    save w to "units.nc"
    save u to "frames.nc" every 1 together
    save u to "units.h5"
    save v.x at x = 2 to "units.h5"
    save w to "units.h5"
}
"""


def imported(name):
    try:
        return __import__(name, fromlist=["_"])
    except ImportError:
        print(f"left out: Python has no {name}")
        return None


def cells(np, step):
    z, y, x = np.mgrid[0:4, 0:5, 0:6]
    return (x + 10 * y + 100 * z + step).astype("f4")


def check_vtk(np, hdf):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkVersion
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as pipeline

    def frames(name):
        reader = hdf.vtkHDFReader()
        reader.SetFileName(name)
        reader.UpdateInformation()
        information = reader.GetOutputInformation(0)
        key = pipeline.TIME_STEPS()
        for time in information.Get(key) if information.Has(key) else [None]:
            reader.Update() if time is None else reader.UpdateTimeStep(time)
            yield time, reader.GetOutputDataObject(0)

    ((_, image),) = frames("one.vtkhdf")
    assert np.array_equal(vtk_to_numpy(image.GetPointData().GetArray("u")), cells(np, 5).ravel())
    version = vtkVersion()
    if (version.GetVTKMajorVersion(), version.GetVTKMinorVersion()) < (9, 3):
        print("left out: VTK before 9.3 does not know files of several times")
        return
    read = list(frames("all.vtkhdf"))
    assert [time for time, _ in read] == [0, 0.25, 0.5, 0.625]
    for (_, image), step in zip(frames("all.vtkhdf"), (0, 2, 4, 5)):
        assert image.GetDimensions() == (6, 5, 4) and image.GetSpacing() == (0.5, 0.25, 1)
        assert image.GetOrigin() == (0, -1, 0)
        data = image.GetPointData()
        assert np.array_equal(vtk_to_numpy(data.GetArray("u")), cells(np, step).ravel())
        v = vtk_to_numpy(data.GetArray("v"))
        assert v.shape == (120, 2) and v[6, 0] == 0.5**step and v[6, 1] == 0
    for (_, image), step in zip(frames("plane.vtkhdf"), (2, 4, 5)):
        # Boxes around the places of the values.
        assert image.GetBounds() == (-0.25, 2.75, -0.625, -0.375, -0.5, 3.5)
        assert np.array_equal(vtk_to_numpy(image.GetCellData().GetArray("u")), cells(np, step)[:, 2, :].ravel())


def check_h5py(np, h5py):
    with h5py.File("all.vtkhdf") as file:
        top = file["VTKHDF"]
        assert list(top.attrs["Version"]) == [2, 0] and top.attrs["Type"] == b"ImageData"
        assert list(top.attrs["WholeExtent"]) == [0, 5, 0, 4, 0, 3]
        assert top["Steps"].attrs["NSteps"] == 4
        assert np.array_equal(top["PointData/u"][1], cells(np, 2))
    with h5py.File("one.vtkhdf") as file:
        assert list(file["VTKHDF"].attrs["Version"]) == [1, 0]
    with h5py.File("all.nc") as file:
        assert file["x"].attrs["CLASS"] == b"DIMENSION_SCALE"
        assert [dims[0].name for dims in file["u"].dims] == ["/time", "/z", "/y", "/x"]


    with h5py.File("log.h5") as file:
        assert list(file["step"]) == [2, 4, 5] and list(file["time"]) == [0.25, 0.5, 0.625]
        assert list(file["most"]) == [cells(np, step - 1).max() for step in (2, 4, 5)] and len(file["all"]) == 3
    with h5py.File("heard.h5") as file:
        assert list(file["step"]) == [0, 1, 2, 3, 4] and file["time"][4] == 0.5
        assert file["positions"][...].tolist() == [[0.5, -1, 2], [1, 0, 1]]
        assert file["heard"][...].tolist() == [[201 + step, 142 + step] for step in range(5)]


    with h5py.File("units.h5") as file:
        u, v, w = file["u"].attrs, file["v.x"].attrs, file["w"].attrs
        assert (u["units"], u["axis_units"], u["time_units"]) == (b"K", b"km; m", b"s")
        assert (v["units"], v["axis_units"]) == (b"m s-1", b"km") and "units" not in w


    def units_of(name):
        with h5py.File(name) as file:
            return {key: file[key].attrs.get("units") for key in file}

    assert units_of("columns.h5") == {"step": None, "time": b"s", "most": b"K", "cells": None}
    heard = {"heard": b"K", "positions": None, "step": None, "time": b"s"}  # axes of two units
    assert units_of("heard_units.h5") == heard
    assert units_of("other_units.h5")["other"] is None


def check_netcdf(np, netcdf):
    for name in "units.nc", "frames.nc":
        with netcdf.Dataset(name) as file:
            units = {name: getattr(file[name], "units", None) for name in file.variables}
            assert (units["u"], units["x"], units["y"], units["time"]) == ("K", "m", "km", "s")
            assert units["step"] is None and units.get("v", "m s-1") == "m s-1" and units.get("w") is None
    with netcdf.Dataset("all.nc") as file:
        assert file.Conventions == "CF-1.10" and '"spec"' in file.provenance
        assert file.dimensions["time"].isunlimited()
        assert file["u"].dimensions == ("time", "z", "y", "x")
        assert file["s"].dimensions == ("time", "z", "y", "x_half")
        assert file["v"].dimensions[-1] == "component" and "component" not in file.variables
        assert list(file["time"]) == [0, 0.25, 0.5, 0.625] and list(file["step"]) == [0, 2, 4, 5]
        assert list(file["y"]) == [-1, -0.75, -0.5, -0.25, 0] and file["x_half"][0] == 0.25
        assert file["x"].axis == "X"
        assert np.array_equal(file["u"][2], cells(np, 4)) and file["b"].dtype == np.uint8
        assert set(map(int, file["b"][1:3].ravel())) == {0}
    with netcdf.Dataset("one.nc") as file:
        assert file["u"].dimensions == ("z", "y", "x") and float(file["time"][...]) == 0.625


def check_xarray(np, xarray):
    with xarray.open_dataset("all.nc") as data:
        here = data.u.sel(time=0.5, x=1, y=-0.75, z=3, method="nearest")
        assert float(here) == cells(np, 4)[3, 1, 2]
        # What it writes is read again.
        data.u.isel(time=3).drop_vars("time").to_netcdf("again.nc", engine="netcdf4")
    subprocess.run([HALOC, "run", "seen.halo", "-q", "--no-files", "--load", "u=again.nc"], check=True)


def check_series():
    with open("series.vtkhdf.series") as file:
        series = json.load(file)
    assert series["file-series-version"] == "1.0"
    assert [(entry["name"], entry["time"]) for entry in series["files"]] == [
        ("series-000000.vtkhdf", 0),
        ("series-000002.vtkhdf", 0.25),
        ("series-000004.vtkhdf", 0.5),
        ("series.vtkhdf", 0.625),
    ]


def paraview_reads():
    pvpython = shutil.which("pvpython")
    if pvpython is None:
        print("left out: there is no pvpython")
        return False
    script = os.path.join(HERE, "paraview_reads.py")
    subprocess.run([pvpython, "--force-offscreen-rendering", script], check=True, timeout=120)
    print("ParaView reads them")
    return True


CHECKS = {
    "vtkmodules.vtkIOHDF": check_vtk,
    "h5py": check_h5py,
    "netCDF4": check_netcdf,
    "xarray": check_xarray,
}
HALOC = os.path.abspath(sys.argv[1])
numpy = imported("numpy")
if numpy is None:
    sys.exit(77)
HERE = os.path.dirname(os.path.abspath(__file__))
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, spec in ("seen.halo", SPEC), ("units.halo", UNITS):
        with open(name, "w") as file:
            file.write(spec)
        subprocess.run([HALOC, "run", name, "-q", "--device", "interpreter"], check=True)
    # Locks of other libraries, which some file systems lack.
    os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")
    done = 0
    for name, check in CHECKS.items():
        module = imported(name)
        if module is None:
            continue
        check(numpy, module)
        print(f"{name} reads them")
        done += 1
    check_series()
    done += paraview_reads()
    os.chdir("/")
sys.exit(0 if done else 77)
