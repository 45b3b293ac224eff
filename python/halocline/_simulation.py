"""Simulations: a program on a grid, with its fields."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, NamedTuple

import numpy as np

from . import _arrays, _core, _describe, _files
from ._devices import Device
from ._errors import ArgumentError, ArrayError, ClosedError, refuse_name
from ._exports import Exports, about
from ._given import Given
from ._gradient import Gradient, gradient
from ._mappings import Params, Reductions
from ._notebook import Watch, in_notebook
from ._picture import given_range
from ._progress import Progress

if TYPE_CHECKING:
    from ._program import Program

__all__ = ["Iterations", "Simulation", "Until"]


class Until(NamedTuple):
    """How ``Simulation.until()`` ended."""

    steps: int
    """That were done."""
    holds: bool
    """Whether the condition holds now."""


class Iterations(NamedTuple):
    """Of a repeat that a condition ends, in all steps of a simulation."""

    condition: str
    """As it is written."""
    at_most: int
    """Iterations that a step does."""
    total: int
    """Iterations that were done."""
    most_in_step: int
    steps_without_it: int
    """That ended after `at_most` iterations, without the condition."""


def _is_whole(info: Any) -> bool:
    """Whether a field's arrays are laid out as those of the grid."""
    return all(info.over) and info.coarse == 1


class Simulation(Given, Exports):
    """A program on a grid, on one device or in pieces on several. Made by ``Program.simulate()``.

    Fields and parameters are attributes: ``sim.u`` is the field u now, an Array that shows where it lies, and
    ``sim.u = values`` writes to it; ``sim.dt = 0.1`` sets a parameter. Items do the same, also for names that are no
    attributes, and for the past: ``sim['v.x']``, ``sim['u', -1]``.

    Calls may come from any thread; those that work on one Device take turns, and the GIL is released meanwhile. It is
    a context manager, and gives its memory back at the end.
    """

    __slots__ = ("_core", "program", "grid", "shape", "_devices", "_fields", "_params", "_places", "_watches", "_gradient", "__weakref__")

    program: "Program"
    grid: tuple[int, ...]
    """Cells along each axis, x first."""
    shape: tuple[int, ...]
    """The shape of its arrays: the same, the slowest axis first."""

    def __init__(self, program: "Program", core: _core.Simulation, devices: list[Device], grid: tuple[int, ...]) -> None:
        own = object.__setattr__
        own(self, "_core", core)
        own(self, "program", program)
        own(self, "grid", grid)
        own(self, "shape", grid[::-1])
        own(self, "_devices", devices)
        own(self, "_fields", program.fields)
        own(self, "_params", frozenset(program.params))
        own(self, "_places", {})  # of fields, with the present parameters
        own(self, "_watches", [])
        own(self, "_gradient", None)  # the last one, with what it is of

    # ---- what it is

    def _open(self) -> "Simulation":
        if self._core is None:
            raise ClosedError(f"this simulation of '{self.program.name}' was closed; make another one by simulate()")
        return self

    def _known(self, kind: str, name: str) -> Any:
        """The core, where the program has what is named."""
        known = {"parameter": self._params, "reduction": self.program.reductions}[kind]
        if name not in known:
            refuse_name(self.program.name, kind, name, known)
        return self._core

    @property
    def params(self) -> Params:
        return Params(self)

    @property
    def reductions(self) -> Reductions:
        return Reductions(self)

    @property
    def iterations(self) -> tuple[Iterations, ...]:
        """Of the repeats that a condition ends, in their order: how many iterations the steps took. Waits."""
        return tuple(Iterations(*each) for each in self._open()._core.iterations())

    @property
    def devices(self) -> tuple[Device, ...]:
        """By piece of the grid."""
        return tuple(self._devices)

    @property
    def device(self) -> Device:
        """The one that it is on; of several the first."""
        return self._devices[0]

    @property
    def pieces(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """By device: the first cell of its piece of the grid, and the end, x first."""
        return [(tuple(begin), tuple(end)) for begin, end in self._open()._core.pieces]

    @property
    def steps_done(self) -> int:
        return self._open()._core.steps_done

    @property
    def closed(self) -> bool:
        return self._core is None

    # ---- steps

    def run(self, steps: int = 1, *, progress: bool | Callable[[int, int], None] = False) -> "Simulation":
        """Does steps. On a GPU it may return while the last of them are still being done; whatever gives values back
        waits. Ctrl-C ends it after the batch of steps that is being done, about a tenth of a second long.

        progress: True for a line on standard error; or a function, called as ``progress(done, steps)``.
        """
        self._advance(_count(steps, "steps"), None, 1, progress)
        return self

    def until(
        self,
        condition: str,
        *,
        every: int = 1,
        at_most: int | None = None,
        progress: bool | Callable[[int, int], None] = False,
    ) -> Until:
        """Does steps until the condition holds: a comparison of reductions, parameters, ``step`` and ``time``, as after
        ``until`` in a run block: ``"change < 1e-5"``. Raises SpecError where it is none.

        every: steps from one look at it to the next; each waits for the device.
        at_most: steps, after which it ends in any case.
        """
        core = self._open().program._condition(condition)
        most = 2**53 - self.steps_done if at_most is None else _count(at_most, "at_most")
        if _count(every, "every") < 1:
            raise ArgumentError(f"every={every}: the condition is looked at after every 1 step or more")
        return Until(*self._advance(most, core, every, progress))

    def watch(
        self,
        field: str,
        every: int = 50,
        *,
        range: tuple[float, float] | None = None,
        show: Callable[[np.ndarray, int], None] | None = None,
    ) -> Watch:
        """Shows a picture of a field in the notebook, and draws it anew while ``run()`` and ``until()`` do steps: after
        every so many, ten times a second at most, and at the end. Of three axes the middle plane is shown. The results
        are the same. ``stop()`` of what is returned ends it, and so does the end of a ``with`` block.

        every: steps from one picture to the next.
        range: (low, high), what the ends of the colour bar stand for; found from each picture's values without it.
        show: is called instead as ``show(values, steps_done)`` after each such step, with a copy of the field; for
            pictures of one's own, and outside of notebooks.

        Raises UnknownNameError; ArgumentError outside of a notebook, where ``show=`` is needed.
        """
        self._open()._field(field)
        if _count(every, "every") < 1:
            raise ArgumentError(f"every={every}: a picture after every 1 step or more")
        if show is None and not in_notebook():
            raise ArgumentError("pictures are shown in notebooks; give show=, a function (values, steps_done), elsewhere")
        watch = Watch(self, field, int(every), given_range(range), show)
        self._watches.append(watch)
        return watch

    def _advance(self, steps: int, condition: Any, every: int, progress: Any) -> tuple[int, bool]:
        self._open()
        line = Progress(steps) if progress is True else progress or None
        try:
            return self._advance_watched(steps, condition, every, line)
        finally:
            if progress is True:
                line.end()

    def _advance_watched(self, steps: int, condition: Any, every: int, progress: Any) -> tuple[int, bool]:
        """In parts, after each of which the watches look."""
        if not self._watches:
            return self._core.advance(steps, condition, every, progress)
        done, holds = 0, False
        while True:
            part = min([steps - done, *(watch.steps_to_next(self.steps_done) for watch in self._watches)])
            if condition is not None:  # which is looked at after the same steps as in one part
                part = min(-(-part // every) * every, steps - done)
            before = done
            told = None if progress is None else lambda now, _: progress(before + now, steps)
            now, holds = self._core.advance(part, condition, every, told)
            done += now
            ends = holds or done >= steps
            for watch in list(self._watches) if now else ():
                watch.look(ends)
            if ends:
                return done, holds

    def wait(self) -> None:
        """Until all steps are done. Raises what went wrong meanwhile."""
        self._open()._core.wait()

    def gradient(
        self,
        of: str,
        with_: str | Iterable[str],
        steps: int,
        *,
        every_step: bool = False,
        measured: Any = None,
        weights: Any = None,
        snapshots: int | None = None,
    ) -> Gradient:
        """The derivative of a number that steps from here end with, by the adjoint (docs/gradients.md): steps forward and
        back, after which the simulation is what it was. It must have done no step. Fields, parameters and points may be
        set anew before the next call, which compiles nothing. Waits; Ctrl-C is looked at when it is done.

        of: a reduction; or a trace that is sampled, ``"phones.seen"``.
        with_: with respect to what: inputs, states (as they are now), parameters, injected traces (``"shots.wavelet"``).
        every_step: of the reduction's sum over all steps; else of what the last step gives.
        measured: of a trace, an array (steps, points): the number is half the sum of the squares of what is seen less this.
        weights: of a trace, instead: the number is the sum of what is seen, each times its weight.
        snapshots: states that are kept on the way; as many as fit without it. Fewer take more steps, and give the same.

        Raises UnknownNameError; UnsupportedError, with the place, where it cannot be differentiated; ArgumentError.
        """
        return gradient(self._open(), of, with_, _count(steps, "steps"), every_step, measured, weights, snapshots)

    # ---- fields

    def _field(self, name: str) -> Any:
        info = self._fields.get(name)
        if info is None:
            members = [each for each in self._fields if each.partition(".")[0] == name]
            if members:
                shown = ", ".join(f"sim['{each}']" for each in members)
                refuse_name(self.program.name, "field", name, [], f": it has components, {shown}")
            refuse_name(self.program.name, "field", name, self._fields)
        return info

    def _level(self, info: Any, level: Any) -> int:
        if not isinstance(level, int) or not -info.past <= level <= 0:
            levels = "0 alone" if info.past == 0 else f"{-info.past} to 0"
            raise ArgumentError(f"field '{info.name}' has the levels {levels}, and no level {level}")
        return level

    def _key(self, key: Any) -> tuple[Any, int]:
        name, level = key if isinstance(key, tuple) and len(key) == 2 else (key, 0)
        info = self._field(name)
        return info, self._level(info, level)

    def array(self, field: str, level: int = 0, *, read_only: bool = False) -> Any:
        """A level of a field where it lies, without a copy: 0 is now, -1 the step before. Of several devices, of
        components that lie side by side, and of fields over fewer axes or on coarser grids there is a copy alone: a numpy
        array that cannot be written to."""
        core = self._open()._core
        info, level = self._key((field, level))
        if len(self._devices) == 1 and not info.interleaved and _is_whole(info):
            array = _arrays.Array(core, field, level, read_only)
            array._about = about(self, field, level)
            return array
        values = self.read(field, level=level)
        values.flags.writeable = False
        return values

    def read(self, field: str, dtype: Any = None, *, level: int = 0) -> np.ndarray:
        """A copy of a level of a field, in the host's memory; in its own type, or rounded to dtype. Waits."""
        core = self._open()._core
        info, level = self._key((field, level))
        own = _arrays.NUMPY_TYPES.get(info.type)
        if own is None:  # bf16
            if dtype is None:
                raise ArgumentError(f"numpy has no type for bfloat16; read the field as 'float32': read('{field}', 'float32')")
            values = np.empty(self._shape_of(info), np.float64)
            core.read_doubles(field, values.ctypes.data, values.size, level)
        else:
            values = np.empty(self._shape_of(info), own)
            core.read_elements(field, values.ctypes.data, values.nbytes, level)
        return values if dtype is None else values.astype(dtype, copy=False)

    def write(self, field: str, values: Any, *, level: int = 0, copy: bool = False) -> None:
        """Writes to a level of a field: a number, for all cells, or an array of the field's shape and type, of any
        library. Rows that lie apart are fine.

        copy: also takes arrays of other layouts, and of types that numpy casts within their kind, by way of a copy.
        """
        core = self._open()._core
        info, level = self._key((field, level))
        dtype = _arrays.NUMPY_TYPES.get(info.type)
        if isinstance(values, _arrays.Array) or _arrays.is_on_gpu(values):
            if dtype is None:
                raise ArrayError(f"field '{field}' is of bfloat16: write numbers or float32 arrays of numpy to it")
            if not self._is_local(values) or not _is_whole(info):
                values = self._fetched(field, values)
        if isinstance(values, (bool, int, float, np.generic)) or (isinstance(values, np.ndarray) and values.ndim == 0):
            return self._fill(field, values, dtype, level)
        if dtype is None:
            return self._write_rounded(field, values, level)
        axes, shape = self._axes_of(info), self._shape_of(info)
        if _arrays.is_on_gpu(values):
            return self._write_on_gpu(field, _arrays.check_gpu(field, values, shape, dtype, axes), level)
        checked = _arrays.check_host(field, values, shape, dtype, axes, copy)
        self._write_host(field, checked, level)

    def _axes_of(self, info: Any) -> list[str]:
        return [axis for axis, is_own in zip(self.program._info.axes, info.over) if is_own]

    def _shape_of(self, info: Any) -> tuple[int, ...]:
        """Of a field's arrays: that of the grid along its own axes, the slowest first."""
        return tuple(count // info.coarse for count, is_own in zip(self.grid, info.over) if is_own)[::-1]

    def _is_local(self, values: Any) -> bool:
        """Whether the memory is one that this simulation's device copies from by itself."""
        return not _arrays.is_on_gpu(values) or (len(self._devices) == 1 and self.device.kind != "cpu")

    def _fetched(self, field: str, values: Any) -> np.ndarray:
        if isinstance(values, _arrays.Array):
            return values.numpy()
        raise ArrayError(
            f"the array for field '{field}' is in a GPU's memory, and this simulation is not on that GPU alone: give a "
            "copy in the host's memory, such as cupy.asnumpy(array) or array.cpu()"
        )

    def _fill(self, field: str, value: Any, dtype: np.dtype | None, level: int) -> None:
        if np.iscomplexobj(value):
            raise ArrayError(f"field '{field}' takes real numbers, and this is {value!r}")
        if dtype is None:
            return self._write_rounded(field, np.full(self._shape_of(self._fields[field]), value, np.float64), level)
        try:
            filled = np.full(self._shape_of(self._fields[field]), value, dtype)
        except (OverflowError, TypeError, ValueError) as error:
            raise ArrayError(f"field '{field}' of {dtype} cannot hold {value!r}: {error}") from None
        if dtype.kind in "iub" and filled.flat[0] != value:
            raise ArrayError(f"field '{field}' of {dtype} cannot hold {value!r}")
        self._core.write_elements(field, filled.ctypes.data, filled.nbytes, level)

    def _write_rounded(self, field: str, values: Any, level: int) -> None:
        array = np.asarray(values)
        info = self._fields[field]
        _arrays.check_bf16(field, array, self._shape_of(info), self._axes_of(info))
        array = np.ascontiguousarray(array, np.float64)
        self._core.write_doubles(field, array.ctypes.data, array.size, level)

    def _write_host(self, field: str, checked: Any, level: int) -> None:
        dense = checked.owner.flags.c_contiguous
        info = self._fields[field]
        if dense or len(self._devices) > 1 or self.device.kind != "cpu" or info.interleaved or not _is_whole(info):
            array = checked.owner if dense else np.ascontiguousarray(checked.owner)
            self._core.write_elements(field, array.ctypes.data, array.nbytes, level)
        else:
            self._core.write_view(field, checked.address, checked.nbytes, checked.pitch, checked.slice, checked.volume, level)

    def _write_on_gpu(self, field: str, checked: Any, level: int) -> None:
        device = self.device._core
        made = None
        if checked.stream is not None:
            device.wait_for_stream(checked.stream)
        elif hasattr(checked.owner, "__dlpack__"):
            # torch and JAX name no stream in the CUDA array interface, but by DLPack let ours wait for theirs.
            try:
                made = checked.owner.__dlpack__(stream=device.stream or _arrays.LEGACY_STREAM)
            except BufferError as error:
                raise ArrayError(f"the array for field '{field}' cannot be read: {error}") from error
        self._core.write_view(field, checked.address, checked.nbytes, checked.pitch, checked.slice, checked.volume, level)
        # The array may go, or be written to, once this returns: whoever made it is told to wait, or the host does.
        if checked.stream is None:
            device.wait()
            del made  # which holds the memory
        else:
            device.make_stream_wait(checked.stream)

    def __getattr__(self, name: str) -> Any:
        # For names that are no attributes of the class.
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._fields:
            return self.array(name)
        if name in self._params:
            return self.params[name]
        self._open()
        if any(each.startswith(name + ".") for each in self._fields):
            self._field(name)
        methods = [each for each in _PUBLIC if not each.startswith("_")]
        refuse_name(self.program.name, "field or parameter", name, [*self._fields, *self._params], also=methods)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _PUBLIC:
            raise AttributeError(
                f"'{name}' is part of every simulation and cannot be set; a field or parameter of that name is "
                f"sim['{name}'], or sim.params['{name}']"
            )
        self._open()
        if name in self._fields:
            self.write(name, value)
        elif name in self._params:
            self.params[name] = value
        else:
            if any(each.startswith(name + ".") for each in self._fields):
                self._field(name)
            refuse_name(self.program.name, "field or parameter", name, [*self._fields, *self._params])

    def __getitem__(self, key: Any) -> Any:
        info, level = self._open()._key(key)
        return self.array(info.name, level)

    def __setitem__(self, key: Any, value: Any) -> None:
        info, level = self._open()._key(key)
        self.write(info.name, value, level=level)

    # ---- files

    def save(self, path: str | os.PathLike, fields: str | Iterable[str] | None = None) -> None:
        """Writes fields as they are now, as ``haloc run --save`` does. The file appears whole, or not at all. Waits.

        path: ``.npy`` for one field; ``.h5`` or ``.hdf5`` for any number, each a dataset with its axes, spacing,
            origin, step and time as attributes; ``.nc`` (NetCDF-4) and ``.vtkhdf`` (ParaView) likewise. These need
            libhdf5 on the system.
        fields: a name, or several; of a field with components (``v``) they are the last axis. Left out: the only
            state for ``.npy``; all states and outputs for HDF5.

        Raises ArgumentError for a name of a file that cannot be, or where it is not clear which field is meant;
        UnknownNameError; FileError where it cannot be written.
        """
        _files.save(self._open(), path, fields)

    def checkpoint(self, folder: str | os.PathLike) -> str:
        """Writes all that is needed to go on from here by ``program.restore(folder)``: fields with their past,
        parameters, steps done, reductions, traces, weights, tables and points. Waits. Returns the path of the
        checkpoint, ``folder/step-N``.

        A complete one is in the folder at any time: it is written beside the one before, which goes only then. The
        format is that of ``haloc run --checkpoint``.

        Raises ArgumentError where the folder holds checkpoints of another run; FileError.
        """
        return _files.checkpoint(self._open(), folder)

    # ---- the end

    def close(self) -> None:
        """Gives the memory back, after what is still being done; arrays that were taken stay. Twice is fine."""
        object.__setattr__(self, "_gradient", None)
        object.__setattr__(self, "_core", None)
        self._watches.clear()

    def __enter__(self) -> "Simulation":
        return self._open()

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self._fields if name.isidentifier()), *self._params]

    def _repr_html_(self) -> str:
        return _describe.of_simulation(self)

    def __repr__(self) -> str:
        grid = " x ".join(map(str, self.grid))
        state = "closed" if self.closed else f"after {self.steps_done} steps"
        where = " + ".join(device.kind for device in self._devices)
        return f"<halocline.Simulation of {self.program.name}, {grid} cells on {where}, {state}>"


_PUBLIC = frozenset(name for name in dir(Simulation) if not name.startswith("__"))


def _count(value: Any, what: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentError(f"{what}={value!r}: steps are counted by whole numbers")
    if value.__index__() < 0:
        raise ArgumentError(f"{what}={value}: there are no steps backwards; 0 or more")
    return int(value.__index__())
