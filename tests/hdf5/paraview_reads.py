"""Run by pvpython, in the folder of the files that foreign_readers.py has had written: ParaView reads images of VTK."""

import numpy as np
from paraview import servermanager
from paraview.simple import GetParaViewVersion, UpdatePipeline, VTKHDFReader
from vtkmodules.util.numpy_support import vtk_to_numpy


def cells(step):
    z, y, x = np.mgrid[0:4, 0:5, 0:6]
    return (x + 10 * y + 100 * z + step).astype("f4")


def check(name, frames):
    reader = VTKHDFReader(FileName=[name])
    reader.UpdatePipelineInformation()
    times = [time for time, _ in frames if time is not None]
    assert list(reader.TimestepValues or []) == times, (name, list(reader.TimestepValues or []))
    for time, step in frames:
        UpdatePipeline(proxy=reader) if time is None else UpdatePipeline(time=time, proxy=reader)
        image = servermanager.Fetch(reader)
        assert image.GetDimensions() == (6, 5, 4) and image.GetSpacing() == (0.5, 0.25, 1), name
        assert image.GetOrigin() == (0, -1, 0), name
        assert np.array_equal(vtk_to_numpy(image.GetPointData().GetArray("u")), cells(step).ravel()), (name, step)


check("series.vtkhdf.series", [(0, 0), (0.25, 2), (0.5, 4), (0.625, 5)])
check("one.vtkhdf", [(None, 5)])
if GetParaViewVersion() >= (5, 13):  # version 2.0 of the format
    check("all.vtkhdf", [(0, 0), (0.25, 2), (0.5, 4), (0.625, 5)])
