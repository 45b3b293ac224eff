"""Halocline: stencil programs, written the way a paper writes them, on GPUs and CPUs.

    import halocline as hl

    heat = hl.compile("heat.halo")                  # or the text of a spec
    sim = heat.simulate(grid=(512, 512), dt=0.2)    # device="cuda:0" | "cpu"; devices=2
    sim.u = u0                                      # any array of float32, axes (y, x)
    sim.run(1000)
    print(sim.reductions["change"], sim.u[256, 256])

Specs can be written in Python, too: @hl.stencil makes a program of a function over the axes.
"""

import builtins as _builtins

from ._arrays import Array
from ._core import __version__
from ._devices import Device, DeviceInfo, devices, why_no_gpu
from ._errors import *  # noqa: F403
from ._errors import __all__ as _errors
from ._explanation import Explanation
from ._gradient import Gradient
from ._machine import Doctor, Finding, TunedStage, Tuning, doctor
from ._mappings import Params, Reductions
from ._notebook import Watch
from ._picture import Picture, picture
from ._program import Program, compile, load
from ._simulation import Iterations, Simulation, Until
from .authoring import *  # noqa: F403
from .authoring import __all__ as _authoring

__all__ = [
    "Array",
    "Device",
    "DeviceInfo",
    "Doctor",
    "Explanation",
    "Finding",
    "Gradient",
    "Iterations",
    "Params",
    "Picture",
    "Program",
    "Reductions",
    "Simulation",
    "TunedStage",
    "Tuning",
    "Until",
    "Watch",
    "__version__",
    "compile",
    "devices",
    "doctor",
    "load",
    "picture",
    "why_no_gpu",
    *_errors,
    *(name for name in _authoring if not hasattr(_builtins, name)),  # hl.sum; but `import *` leaves Python's sum alone
]


def __getattr__(name):
    """halocline.torch and halocline.jax are there without being imported, once they are used."""
    if name in ("torch", "jax"):
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(ipython):
    """``%load_ext halocline``: brings the cell magic ``%%halo``."""
    from ._magic import load as load_magic

    load_magic(ipython)
