"""Programs: what a spec means, ready to run anywhere."""

from __future__ import annotations

import os
from json import loads
from pathlib import Path
from typing import Any, Callable, Iterable, Sequence

from . import _core, _describe, _files
from ._core import FieldInfo
from ._devices import chosen_devices
from ._errors import ArgumentError, SpecError, refuse_name
from ._explanation import Explanation
from ._machine import Tuning, tune
from ._simulation import Simulation

__all__ = ["Program", "compile", "load"]


def _grid(grid: Any, axes: list[str]) -> list[int]:
    numbers = [grid] if isinstance(grid, int) else list(grid)
    if not all(isinstance(n, int) or hasattr(n, "__index__") for n in numbers):
        raise ArgumentError(f"grid={grid!r}: cells are counted by whole numbers, one for each axis: ({', '.join(axes)})")
    return [int(n.__index__()) for n in numbers]


def _list(value: str | Iterable[str] | None) -> list[str]:
    if value is None:
        return []
    return [os.fspath(each) for each in ([value] if isinstance(value, (str, os.PathLike)) else value)]


class Program:
    """A stencil program. It compiles itself for a device and grid when a simulation first needs it; what was
    compiled once is taken from the disk cache the next time. It may be used from any thread."""

    __slots__ = ("_core", "_info", "_remap", "__weakref__")

    def __init__(self, core: _core.Program, remap: Callable[[SpecError], SpecError] | None = None) -> None:
        self._core = core
        self._info = core.info
        self._remap = remap

    @property
    def name(self) -> str:
        return self._info.name

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes as the spec has them: x first, which is the fastest. Shapes of arrays have them the other way
        round."""
        return tuple(self._info.axes)

    @property
    def fields(self) -> dict[str, FieldInfo]:
        """By name."""
        return {field.name: field for field in self._info.fields}

    @property
    def params(self) -> dict[str, float | None]:
        """Parameters with their defaults; None where a value has to be given."""
        return {param.name: param.default for param in self._info.params}

    @property
    def reductions(self) -> tuple[str, ...]:
        return tuple(self._info.reductions)

    @property
    def targets(self) -> list[str]:
        """What there is code for: ``'sm_90, grid 512 x 512'``."""
        return self._core.targets

    def simulate(
        self,
        grid: Sequence[int] | int,
        *,
        device: Any = None,
        devices: Any = None,
        stream: Any = None,
        exchange_every: int | None = None,
        **params: float,
    ) -> Simulation:
        """A simulation of this program: its fields at the start 0, its parameters those given here or their
        defaults.

        grid: cells along each axis, x first, as in the spec.
        device: ``'cpu'``, ``'cuda'``, ``'cuda:1'``, or a Device; the first GPU, else the CPU, where it is left out.
        devices: several, among which the grid is cut: how many, or a list of names or Devices.
        stream: of a GPU, the stream of yours that all is done in: an integer, or one of cuda.core, torch or CuPy.
        exchange_every: of several devices, steps from one exchange of cells to the next; chosen without it.
        params: of the spec, such as ``dt=0.1``.
        """
        chosen = chosen_devices(device, devices, stream)
        core = _core.Simulation.make(self._core, [each._core for each in chosen], _grid(grid, self._info.axes), exchange_every)
        simulation = Simulation(self, core, chosen, tuple(_grid(grid, self._info.axes)))
        for name, value in params.items():
            simulation.params[name] = value
        return simulation

    def restore(
        self,
        folder: str | os.PathLike,
        *,
        device: Any = None,
        devices: Any = None,
        stream: Any = None,
        exchange_every: int | None = None,
        prepare: Callable[[Simulation], Any] | None = None,
    ) -> Simulation:
        """A simulation that goes on from a checkpoint as if it had never stopped, on any devices: grid, parameters,
        fields, steps, reductions and traces are those of the checkpoint.

        folder: that ``simulation.checkpoint()`` or ``haloc run --checkpoint`` wrote to; the newest one in it is taken.
        device, devices, stream, exchange_every: as of ``simulate()``.
        prepare: is called with the simulation before it is restored. Checkpoints of ``haloc run`` leave inputs,
            weights, tables and points to the spec: they are set here.

        Raises FileError where there is no checkpoint, or it is damaged; ArgumentError where it is of another program,
        or ``prepare`` is needed.
        """

        def make(grid: tuple[int, ...]) -> Simulation:
            return self.simulate(grid, device=device, devices=devices, stream=stream, exchange_every=exchange_every)

        return _files.restore(self, folder, make, prepare)

    def tune(
        self,
        grid: Sequence[int] | int,
        budget: float = 60,
        *,
        device: Any = None,
        jobs: int = 0,
        again: bool = False,
        progress: bool = False,
        **params: float,
    ) -> Tuning:
        """Measures schedules on a GPU, as ``haloc tune``, and keeps the fastest on this machine: simulations that are
        made later on that grid run by them. What was measured before is known; the same call goes on from there.

        grid: cells along each axis, x first.
        budget: seconds.
        device: ``'cuda'``, ``'cuda:1'``, or a Device; the first GPU without it.
        jobs: threads that compile; 0: as many as there are processors, 16 at most.
        again: forgets what was measured before.
        progress: True for lines on standard error.
        params: of the spec, where they are not the defaults.

        Raises NoDeviceError where there is no GPU, with what is missing; ArgumentError for the CPU, which has no
        schedules; UnsupportedError where no schedule could be built and found right. Ctrl-C raises KeyboardInterrupt,
        and what was measured is kept.
        """
        known = self.params
        for name in params:
            if name not in known:
                refuse_name(self.name, "parameter", name, known)
        cells = _grid(grid, self._info.axes)
        return tune(self._core, cells, budget, device, jobs, again, progress, params)

    def emit(
        self,
        path: str | os.PathLike | None = None,
        *,
        schedule: str | Iterable[str] | None = None,
        arch: str | Iterable[str] | None = None,
        grid: Sequence[int] | None = None,
        fixed_grid: bool = False,
        target: str = "cuda",
    ) -> str | list[str]:
        """The code that the program becomes, as ``haloc emit`` writes it.

        path: a file to write; a ``.cu`` file gets a launcher in plain C, and a header beside it. The paths of all
            files that were written are returned; without a path the text is.
        schedule: as of ``haloc emit --schedule``: one for all stages, or a list.
        arch: ``'sm_90'``, or several, that schedules are chosen for. grid: likewise; a large one without it.
        fixed_grid: for that grid alone.
        target: ``'cuda'``, ``'cpu'`` (C++), ``'plan'`` (JSON), ``'stencil'`` or ``'kernel'``.
        """
        where = "" if path is None else os.fspath(path)
        if path is not None and not where:
            raise ArgumentError("path='' names no file")
        cells = [] if grid is None else _grid(grid, self._info.axes)
        return self._core.emit(where, target, _list(schedule), _list(arch), cells, fixed_grid)

    def explain(
        self,
        grid: Sequence[int] | None = None,
        *,
        arch: str | None = None,
        schedule: str | Iterable[str] | None = None,
        json: bool = False,
        width: int = 100,
    ) -> Any:
        """How each stage would run on a GPU, and why, as ``haloc explain`` tells it: a text, which notebooks show with a
        roofline picture (Explanation), or with ``json`` what its JSON holds.

        arch: ``'sm_90'``; this machine's GPU without it, or an H200 where there is none.
        """
        cells = [] if grid is None else _grid(grid, self._info.axes)
        words, core = _list(schedule), self._core

        def read() -> dict:
            return loads(core.explain(cells, words, arch or "", True, width))

        return read() if json else Explanation(core.explain(cells, words, arch or "", False, width), read)

    def write_bundle(
        self,
        path: str | os.PathLike,
        arch: str | Iterable[str],
        *,
        grids: Iterable[Sequence[int]] = (),
        any_grid: bool = True,
    ) -> None:
        """Code for GPUs that runs without a compiler, for ``halocline.load()`` and for host programs. It needs NVRTC,
        and no GPU."""
        cells = [_grid(grid, self._info.axes) for grid in grids]
        self._core.write_bundle(os.fspath(path), _list(arch), cells, any_grid)

    def _condition(self, text: str) -> _core.Condition:
        with _remapped(self._remap):
            return self._core.condition(text)

    def _repr_html_(self) -> str:
        return _describe.of_program(self)

    def __repr__(self) -> str:
        fields = ", ".join(f"{field.name}: {field.type}" for field in self._info.fields)
        return f"<halocline.Program {self.name}({', '.join(self.axes)}): {fields}>"


class _remapped:
    """Lets whoever made the text say where its mistakes are."""

    def __init__(self, remap: Callable[[SpecError], SpecError] | None) -> None:
        self.remap = remap

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, SpecError) and self.remap is not None:
            raise self.remap(error) from None


def _is_text(spec: str | os.PathLike) -> bool:
    return isinstance(spec, str) and ("{" in spec or "\n" in spec)


def compile(
    spec: str | os.PathLike,
    *,
    name: str | None = None,
    stencil: str = "",
    include: str | Iterable[str] | None = None,
    schedule: str | Iterable[str] | None = None,
    strict_fp: bool = False,
    wait_for_all_kernels: bool = False,
    remap: Callable[[SpecError], SpecError] | None = None,
) -> Program:
    """The program of a spec: the path of a ``.halo`` file, or the text itself. It is checked here, and compiled when it
    is first run.

    name: of a text, in messages; modules that it uses are looked for beside a file of that name.
    stencil: which one, where the spec has several.
    include: folders of modules.
    schedule: as of ``haloc run --schedule``, for GPUs.
    strict_fp: keeps the order of arithmetic as written.
    wait_for_all_kernels: without it a simulation does single steps until kernels for several are compiled, beside it.
    remap: is given a SpecError, and returns one with other places: for texts that were generated.

    Raises SpecError where the spec has mistakes; FileError where it, or a module, cannot be read.
    """
    with _remapped(remap):
        if _is_text(spec):
            core = _core.compile(
                spec, name or "program.halo", stencil, _list(include), _list(schedule), strict_fp, wait_for_all_kernels
            )
        else:
            if name is not None:
                raise ArgumentError("name= is that of a text; a file has its own")
            path = os.fspath(spec)
            if not path:
                raise ArgumentError("a spec is the path of a file, or a text, and this is empty")
            core = _core.compile_file(path, stencil, _list(include), _list(schedule), strict_fp, wait_for_all_kernels)
    return Program(core, remap)


def load(path: str | os.PathLike) -> Program:
    """A program from a bundle: ``haloc bundle``, or Program.write_bundle(). Such programs are for GPUs."""
    return Program(_core.load(os.fspath(Path(path))))

