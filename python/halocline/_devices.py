"""Where programs run."""

from __future__ import annotations

import importlib.util
import logging
import os
import threading
from pathlib import Path
from typing import Any

from . import _core
from ._core import DeviceInfo
from ._errors import ArgumentError

__all__ = ["Device", "DeviceInfo", "devices", "why_no_gpu"]

_NVRTC_PACKAGES = ("nvidia.cuda_nvrtc", "nvidia.cu13")  # of CUDA 12, and of 13
_NVRTC_NAMES = ("libnvrtc.so.12", "libnvrtc.so.13")

_log = logging.getLogger("halocline")


def _find_nvrtc() -> None:
    """Names the NVRTC of a wheel (extra ``cuda``) to the compiler, which searches the system by itself."""
    if os.environ.get("HALOCLINE_NVRTC"):
        return
    for package in _NVRTC_PACKAGES:
        try:
            spec = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        for folder in (spec.submodule_search_locations or []) if spec else []:
            for name in _NVRTC_NAMES:
                library = Path(folder) / "lib" / name
                if library.is_file():
                    os.environ["HALOCLINE_NVRTC"] = str(library)
                    return


_find_nvrtc()


def _stream_handle(stream: Any) -> int | None:
    """The CUstream of an integer, or of another library's stream: by ``__cuda_stream__``, else as torch
    (``cuda_stream``) and CuPy (``ptr``) call it."""
    if stream is None:
        return None
    if isinstance(stream, int) and not isinstance(stream, bool):
        if stream < 0:
            raise ArgumentError(f"stream={stream}: a stream is an address, or 0 for the default stream")
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        version, handle = protocol() if callable(protocol) else protocol
        if version != 0:
            raise ArgumentError(f"this stream speaks version {version} of __cuda_stream__, and 0 is known here")
        return int(handle)
    for attribute in ("cuda_stream", "ptr"):
        handle = getattr(stream, attribute, None)
        if isinstance(handle, int):
            return handle
    raise ArgumentError(
        f"stream={stream!r} is no CUDA stream: give an integer, or an object with __cuda_stream__ "
        "(cuda.core), cuda_stream (torch) or ptr (CuPy)"
    )


class Device:
    """A GPU, or the CPU, with what is asked of it done in order.

    Calls on one Device take turns: simulations that are to run beside each other on one GPU, or on parts of the
    CPU's cores, have a Device each.

    kind: ``'cuda'``, ``'cuda:1'``, ``'cpu'``.
    stream: of a GPU, the stream of yours that everything is done in: an integer (0: the default stream), or an
        object of cuda.core, torch or CuPy, which is held as long as it is needed; what an integer names must outlive
        the Device. Without it there is one of its own.
    threads: of the CPU; 0: as many as there are cores.
    """

    __slots__ = ("_core",)

    def __init__(self, kind: str = "cpu", *, stream: Any = None, threads: int = 0) -> None:
        name, _, number = kind.partition(":")
        if name == "cuda" and (number.isdigit() or (not number and ":" not in kind)):
            if threads:
                raise ArgumentError("threads are of the CPU, and this device is a GPU; leave them out")
            self._core = _core.Device.cuda(int(number or 0), _stream_handle(stream), stream)
        elif kind == "cpu":
            if stream is not None:
                raise ArgumentError("streams are of GPUs, and this device is the CPU; leave stream= out")
            self._core = _core.Device.cpu(threads)
        else:
            raise ArgumentError(f"there is no device '{kind}'; say 'cpu', 'cuda', or 'cuda:1' and so on")

    @property
    def kind(self) -> str:
        """``'cuda:0'``, ``'cpu'``."""
        return self._core.kind

    @property
    def description(self) -> str:
        """One line for people."""
        return self._core.description

    @property
    def arch(self) -> str:
        """``'sm_90'``; ``'cpu'``."""
        return self._core.arch

    @property
    def stream(self) -> int:
        """The CUstream that everything is done in; 0 on the CPU."""
        return self._core.stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.stream

    def wait(self) -> None:
        """Until everything that was asked for is done. Raises what went wrong meanwhile."""
        self._core.wait()

    def __repr__(self) -> str:
        return f"<halocline.Device {self.kind}: {self.description}>"


def devices() -> list[DeviceInfo]:
    """The GPUs that there are, and the CPU at the end."""
    return _core.find_devices()[0]


def why_no_gpu() -> str:
    """What is missing, and the mend; empty where there is a GPU."""
    return _core.find_devices()[1]


# Without a stream of the caller's, simulations share one Device for each name: the CPU's threads and a GPU's context
# are there once. Operators of torch share one for each stream of torch, which come from a pool and stay.
_shared: dict[tuple[str, int | None], Device] = {}
_lock = threading.Lock()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _shared.clear()


os.register_at_fork(after_in_child=_after_fork)


def shared_device(kind: str, stream: int | None = None) -> Device:
    """The one that all who ask have: by name, and by the stream where there is one."""
    key = ("cuda:0" if kind == "cuda" else kind, stream)
    with _lock:
        if key not in _shared:
            _shared[key] = Device(key[0], stream=stream)
        return _shared[key]


def _best() -> str:
    found, why = _core.find_devices()
    if found[0].kind != "cpu" and not why:
        return found[0].kind
    with _lock:
        if "said" not in _said:
            _said.add("said")
            _log.warning("no GPU is used: %s. Programs run on the CPU; device='cpu' says so silently", why.rstrip("."))
    return "cpu"


_said: set[str] = set()


def chosen_devices(device: Any, count: Any, stream: Any) -> list[Device]:
    """The devices that ``simulate(device=, devices=, stream=)`` names."""
    if count is None:
        if isinstance(device, Device):
            if stream is not None:
                raise ArgumentError("this Device has its stream already; leave stream= out")
            return [device]
        kind = _best() if device is None else str(device)
        return [shared_device(kind) if stream is None else Device(kind, stream=stream)]
    if stream is not None:
        raise ArgumentError("stream= is for one device; give a list of Device('cuda:0', stream=…) as devices=")
    if isinstance(count, int) and not isinstance(count, bool):
        if count < 1:
            raise ArgumentError(f"devices={count}: a simulation needs one device or more")
        kind = str(device) if device is not None else _best()
        if kind == "cpu":
            return [Device("cpu") for _ in range(count)] if count > 1 else [shared_device("cpu")]
        if kind not in ("cuda", "cuda:0"):
            raise ArgumentError(f"devices={count} begins at the first GPU; name others by a list: ['cuda:1', …]")
        return [shared_device(f"cuda:{i}") for i in range(count)]
    if device is not None:
        raise ArgumentError("device= names one device and devices= several; give one of them")
    return [each if isinstance(each, Device) else shared_device(str(each)) for each in count]
