"""What this machine has, and schedules that are measured on it."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from . import _core, _describe
from ._devices import Device, chosen_devices, why_no_gpu
from ._errors import ArgumentError, NoDeviceError

__all__ = ["Doctor", "Finding", "TunedStage", "Tuning", "doctor"]


class Finding(NamedTuple):
    """Something that programs may use, found or missing."""

    name: str
    """``'cuda_driver'``, ``'cuda_device'``, ``'nvrtc'``, ``'cpu'``, ``'hdf5'``, ``'cache'``."""
    title: str
    """For people: ``'NVRTC'``."""
    found: bool
    detail: str
    """What was found; or why it is missing, and how to get it."""


class Doctor(NamedTuple):
    """What was found on this machine; ``print()`` shows it as text."""

    findings: tuple[Finding, ...]
    best_device: str
    """Where programs run that name no device: ``'cuda'`` or ``'cpu'``; ``'none'`` where there is neither."""
    figures: str
    """What schedules are chosen by."""

    def __getitem__(self, key: Any) -> Any:
        """A finding by its name, besides what tuples have: ``hl.doctor()['nvrtc'].found``."""
        if not isinstance(key, str):
            return tuple.__getitem__(self, key)
        for finding in self.findings:
            if finding.name == key:
                return finding
        raise KeyError(f"{key}: there are " + ", ".join(each.name for each in self.findings))

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON: ``{'nvrtc': {'found': …, 'detail': …}, …, 'best_device': …}``."""
        data: dict[str, Any] = {"version": _core.__version__}
        data |= {each.name: {"found": each.found, "detail": each.detail} for each in self.findings}
        return data | {"best_device": self.best_device, "figures": self.figures}

    def __str__(self) -> str:
        lines = [f"halocline {_core.__version__}", ""]
        for each in self.findings:
            detail = each.detail.replace("\n", "\n" + " " * 25)
            lines.append(f"  {'found  ' if each.found else 'missing'}  {each.title:<14}  {detail}")
        where = self.best_device if self.best_device != "none" else "nothing: neither a GPU nor the CPU back end is there"
        return "\n".join([*lines, "", f"Programs run on: {where}", "", self.figures.rstrip()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return _describe.of_doctor(self)


def doctor() -> Doctor:
    """What ``haloc doctor`` tells: driver, GPUs, NVRTC, the CPU back end (LLVM), HDF5 and the disk cache; what is missing,
    and how to get it. As text by ``print()``, as data by its attributes, ``['nvrtc']`` and ``as_dict()``."""
    findings, best, figures = _core.examine_machine()
    return Doctor(tuple(Finding(*each) for each in findings), best if best != "interpreter" else "none", figures)


class TunedStage(NamedTuple):
    """What was found for a stage, or for how steps are grouped."""

    name: str
    """``'stage 1'``, ``'several steps at once'``."""
    result: str
    """``'tuned'``; ``'known'`` from before; ``'no choice'``; ``'failed'``."""
    schedule: str
    """The fastest."""
    model_schedule: str
    """That which the model chooses."""
    seconds: float
    """Of a step of the program."""
    model_seconds: float | None
    """The same by the model's choice, measured."""
    trials: int
    """Schedules that were tried, now and before."""
    left_out: list[str]
    """Those with wrong results, and examples of others that could not be taken: a sentence each."""


class Tuning(NamedTuple):
    """What ``Program.tune()`` found; ``print()`` shows it as text."""

    stages: tuple[TunedStage, ...]
    text: str
    store: str
    """The file that keeps it."""

    def __str__(self) -> str:
        return f"{self.text}kept in {self.store}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return _describe.of_tuning(self)


def tune(
    program: _core.Program,
    grid: list[int],
    budget: float,
    device: Any,
    jobs: int,
    again: bool,
    progress: bool,
    params: dict[str, float],
) -> Tuning:
    """As Program.tune(), of names that are known."""
    try:
        seconds = float(budget)
        numbers = [(name, float(value)) for name, value in params.items()]
    except (TypeError, ValueError):
        raise ArgumentError(f"budget={budget!r} and parameters are numbers") from None
    if isinstance(jobs, bool) or not isinstance(jobs, int) or not 0 <= jobs <= 1024:
        raise ArgumentError(f"jobs={jobs!r}: a number of threads, 0 for as many as there are processors")
    if device is None:
        why = why_no_gpu()
        if why:
            raise NoDeviceError(f"there is nothing to tune without a GPU, as the CPU has no schedules: {why}")
        device = "cuda"
    chosen: Device = chosen_devices(device, None, None)[0]
    catches = threading.current_thread() is threading.main_thread()
    stages, text, store, interrupted = _core.tune(
        program, chosen._core, grid, seconds, jobs, again, numbers, bool(progress), catches
    )
    if interrupted:
        raise KeyboardInterrupt(f"tuning was interrupted; what was measured is kept in {store}, and the same call goes on")
    return Tuning(tuple(TunedStage(*each) for each in stages), text, store)
