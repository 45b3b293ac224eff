"""Fields with their coordinates, for other libraries: xarray, zarr, pyvista."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple, Sequence

import numpy as np

from . import _core
from ._arrays import NUMPY_TYPES
from ._errors import ArgumentError
from ._files import whole_names
from ._optional import needed

if TYPE_CHECKING:
    from ._simulation import Simulation

__all__ = ["About", "Exports", "data_array"]


class About(NamedTuple):
    """Where and when the cells of a field are. Lists are by axis, x first."""

    program: str
    field: str
    level: int
    steps: int
    axes: tuple[str, ...]
    spacing: tuple[float, ...] | None
    """None for programs of bundles, which do not say."""
    first: tuple[float, ...] | None
    """The place of the first cell."""
    between: tuple[bool, ...]
    """Whether the field lies between cells, half a spacing further."""
    time: float | None

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of axes, the slowest first: ``x_half`` where the field lies between cells along x."""
        names = [axis + "_half" if between else axis for axis, between in zip(self.axes, self.between)]
        return tuple(reversed(names))

    def coordinates(self, shape: Sequence[int]) -> dict[str, np.ndarray]:
        """Of the cells, by dimension; shape: the slowest axis first."""
        if self.first is None or self.spacing is None:
            return {}
        by_axis = zip(reversed(self.dims), self.first, self.spacing, reversed(shape))
        return {name: first + spacing * np.arange(count) for name, first, spacing, count in by_axis}

    @property
    def attributes(self) -> dict[str, Any]:
        """For people and files: plain values."""
        known: dict[str, Any] = {"stencil": self.program, "step": self.steps + self.level}
        if self.spacing is not None:
            known["spacing"] = list(reversed(self.spacing))
        return known


def about(simulation: "Simulation", field: str, level: int = 0) -> About:
    """Of a level of a field now."""
    program, steps = simulation.program, simulation._core.steps_done
    if field not in simulation._places:
        try:
            simulation._places[field] = _core.coordinates(simulation._core, field)
        except ArgumentError:  # a bundle's
            simulation._places[field] = (None, None, None, None)
    spacing, origin, first, step_time = simulation._places[field]
    lies_between = first is not None and simulation._fields[field].coarse == 1
    between = tuple(a != b for a, b in zip(first, origin)) if lies_between else (False,) * len(program.axes)
    time = None if step_time is None else (steps + level) * step_time
    over = simulation._fields[field].over

    def own(by_axis: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(each for each, is_own in zip(by_axis, over) if is_own)

    places = (None, None) if first is None else (own(spacing), own(first))
    return About(program.name, field, level, steps, own(program.axes), *places, own(between), time)


def data_array(values: np.ndarray, at: About) -> Any:
    xarray = needed("xarray", "to_xarray()", "xarray")
    coordinates: dict[str, Any] = {name: ((name,), each) for name, each in at.coordinates(values.shape).items()}
    if at.time is not None:
        coordinates["time"] = at.time
    return xarray.DataArray(values, coordinates, at.dims, at.field, at.attributes)


class Exports:
    """Of a Simulation."""

    __slots__ = ()

    def _chosen(self: Any, fields: str | Iterable[str] | None) -> list[str]:
        """Names of fields; of all states and outputs without any. A name of components (``v``) is all of them."""
        known = self._open()._fields
        if fields is None:
            return [name for name, info in known.items() if info.role != "input"]
        names: list[str] = []
        for name in [fields] if isinstance(fields, str) else fields:
            members = [name] if name in known else [each for each in known if name in whole_names([each])]
            if not members:
                self._field(name)  # raises
            names += members
        return names

    def _copied(self: Any, field: str) -> np.ndarray:
        return self.read(field, None if self._fields[field].type in NUMPY_TYPES else "float32")

    def to_xarray(self: Any, fields: str | Iterable[str] | None = None) -> Any:
        """Copies of fields now as an ``xarray.Dataset``: dimensions are the axes, the slowest first, with coordinates from
        the spec's spacing and origin (``x_half`` for fields between cells), ``time`` where the program has a ``dt``, and
        the step as an attribute. Waits.

        fields: a name, or several; all states and outputs without it.

        Raises MissingLibraryError where xarray is not installed; UnknownNameError.
        """
        xarray = needed("xarray", "simulation.to_xarray()", "xarray")
        names = self._chosen(fields)
        arrays = {name: data_array(self._copied(name), about(self, name)) for name in names}
        attributes = {"stencil": self.program.name, "step": self.steps_done}
        attributes |= {f"param_{name}": value for name, value in self.params._known() if value is not None}
        return xarray.Dataset(arrays, attrs=attributes)

    def to_zarr(
        self: Any,
        path: str | os.PathLike,
        fields: str | Iterable[str] | None = None,
        *,
        chunks: Sequence[int] | int | None = None,
    ) -> None:
        """Appends fields as they are now to a zarr group, which is made where it is not there: an array (step, …axes) for
        each, with coordinates as of ``to_xarray()``; ``xarray.open_zarr(path, consolidated=False)`` reads it. Waits.

        Only a chunk at a time is copied from the device, and each chunk is written once, by itself. What is appended
        counts when all of it is there: one that was interrupted is written over by the next call.

        fields: a name, or several; all states and outputs without it. The same in each call.
        chunks: cells of a chunk along each axis, the slowest first as of shapes; about 8 MB without it.

        Raises MissingLibraryError where zarr (3 or later) is not installed; ArgumentError where the group holds something else;
        UnknownNameError; FileError.
        """
        from ._zarr import append

        append(self, os.fspath(path), self._chosen(fields), chunks)

    def to_pyvista(self: Any, fields: str | Iterable[str] | None = None) -> Any:
        """Copies of fields now, of two or three axes, as a ``pyvista.ImageData`` whose points are the cells' centres:
        ``sim.to_pyvista("p").plot(volume=True)``. Waits.

        fields: a name, or several that lie at the same places; all states and outputs without it.

        Raises MissingLibraryError where pyvista is not installed; ArgumentError for one axis, or fields that lie apart.
        """
        pyvista = needed("pyvista", "to_pyvista()", "viz")
        names = self._chosen(fields)
        return image_data(pyvista, {name: self._copied(name) for name in names}, [about(self, name) for name in names])


def image_data(pyvista: Any, values: dict[str, np.ndarray], places: list[About]) -> Any:
    axes = len(places[0].axes)
    if not 2 <= axes <= 3:
        raise ArgumentError(f"to_pyvista() is for two or three axes, and these have {axes}; numpy.asarray() has the values")
    for other in places[1:]:
        if other.first != places[0].first or other.axes != places[0].axes:
            raise ArgumentError(f"'{places[0].field}' and '{other.field}' do not lie at the same places: give one of them at a time")
    shape = next(iter(values.values())).shape[::-1]
    rest = 3 - axes
    spacing, first = places[0].spacing or (1.0,) * axes, places[0].first or (0.0,) * axes
    image = pyvista.ImageData(dimensions=(*shape, *(1,) * rest), spacing=(*spacing, *(1.0,) * rest), origin=(*first, *(0.0,) * rest))
    for name, each in values.items():
        image.point_data[name] = np.ascontiguousarray(each).reshape(-1)
    return image
