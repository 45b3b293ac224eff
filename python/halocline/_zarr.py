"""Fields of a simulation in a zarr group, a chunk at a time."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import numpy as np

from ._arrays import NUMPY_TYPES
from ._errors import ArgumentError, FileError, MissingLibraryError
from ._exports import About, about
from ._optional import needed

if TYPE_CHECKING:
    from ._simulation import Simulation

__all__ = ["append"]

_CHUNK_BYTES = 8 << 20


def _chunks(asked: Sequence[int] | int | None, shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    if asked is None:
        chunk = list(shape)
        while np.prod(chunk, dtype=object) * size > _CHUNK_BYTES:
            axis = int(np.argmax(chunk))
            chunk[axis] = -(-chunk[axis] // 2)
        return tuple(chunk)
    numbers = (asked,) * len(shape) if isinstance(asked, int) else tuple(asked)
    if len(numbers) != len(shape) or not all(isinstance(n, (int, np.integer)) and n > 0 for n in numbers):
        raise ArgumentError(f"chunks={asked!r}: cells along each axis, the slowest first, such as {shape}")
    return tuple(min(int(n), extent) for n, extent in zip(numbers, shape))


def _boxes(shape: tuple[int, ...], chunk: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    starts = [range(0, extent, step) for extent, step in zip(shape, chunk)]
    for start in itertools.product(*starts):
        yield tuple(slice(at, min(at + step, extent)) for at, step, extent in zip(start, chunk, shape))


def _dtype(simulation: "Simulation", field: str) -> np.dtype:
    return NUMPY_TYPES.get(simulation._fields[field].type, np.dtype("<f4"))


def _read(simulation: "Simulation", field: str, box: tuple[slice, ...]) -> np.ndarray:
    is_bf16 = simulation._fields[field].type not in NUMPY_TYPES
    values = np.empty([each.stop - each.start for each in box], "<u2" if is_bf16 else _dtype(simulation, field))
    own = iter(box[::-1])  # along axes that the field has not there is one cell
    along = [next(own) if is_own else slice(0, 1) for is_own in simulation._fields[field].over]
    begin, end = [each.start for each in along], [each.stop for each in along]
    simulation._core.read_box(field, begin, end, values.ctypes.data, values.nbytes, 0)
    return (values.astype("<u4") << 16).view("<f4") if is_bf16 else values  # bf16 is the upper half of f32


def _made(group: Any, simulation: "Simulation", fields: list[str], chunks: Any) -> None:
    """Makes the arrays, with no step in them."""
    known: dict[str, Any] = {}
    for field in fields:
        at, dtype = about(simulation, field), _dtype(simulation, field)
        shape = simulation._shape_of(simulation._fields[field])
        chunk = _chunks(chunks, shape, dtype.itemsize)
        array = group.create_array(
            field, shape=(0, *shape), chunks=(1, *chunk), dtype=dtype, dimension_names=("step", *at.dims), overwrite=True
        )
        array.attrs.update({name: value for name, value in at.attributes.items() if name != "step"})
        known |= at.coordinates(shape)
    for name, values in known.items():
        array = group.create_array(
            name, shape=values.shape, chunks=values.shape, dtype=values.dtype, dimension_names=(name,), overwrite=True
        )
        array[:] = values
    for name, dtype in (("step", "<i8"), ("time", "<f8")):
        if name == "step" or _time(simulation, fields) is not None:
            group.create_array(name, shape=(0,), chunks=(1024,), dtype=dtype, dimension_names=("step",), overwrite=True)
    group.attrs.update({"stencil": simulation.program.name, "grid": list(simulation.grid), "fields": fields})


def _time(simulation: "Simulation", fields: list[str]) -> float | None:
    found: About = about(simulation, fields[0])
    return found.time


def _check(group: Any, path: str, simulation: "Simulation", fields: list[str]) -> None:
    mine = {"stencil": simulation.program.name, "grid": list(simulation.grid), "fields": fields}
    there = {name: group.attrs.get(name) for name in mine}
    for name, value in mine.items():
        if there[name] != value:
            raise ArgumentError(f"{path} is there already, with {name} {there[name]}, and this is {value}; give another path")


def append(simulation: "Simulation", path: str, fields: list[str], chunks: Any) -> None:
    zarr = needed("zarr", "simulation.to_zarr()", "xarray")
    if int(zarr.__version__.partition(".")[0]) < 3:
        raise MissingLibraryError(f"to_zarr() needs zarr 3 or later, and {zarr.__version__} is installed: pip install 'zarr>=3'", name="zarr")
    if not fields:
        raise ArgumentError("there is no field to write; name one")
    if not path:
        raise ArgumentError("path='' names no group")
    try:
        group = zarr.open_group(path, mode="a")
        if not list(group.attrs):
            _made(group, simulation, fields, chunks)
        _check(group, path, simulation, fields)
        step = group["step"]
        count = step.shape[0]
        for field in fields:
            array = group[field]
            array.resize((count + 1, *array.shape[1:]))
            for box in _boxes(array.shape[1:], array.chunks[1:]):
                array[(count, *box)] = _read(simulation, field, box)
        time = _time(simulation, fields)
        if time is not None:
            group["time"].resize((count + 1,))
            group["time"][count] = time
        step.resize((count + 1,))
        step[count] = simulation.steps_done
    except (OSError, KeyError) as error:
        raise FileError(f"{path} cannot be written: {error}") from error
