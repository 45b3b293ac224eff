"""Arrays in and out of simulations. Axes are listed from the slowest to the fastest: (z, y, x)."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _picture
from ._errors import ArrayError

__all__ = ["Array"]

NUMPY_TYPES = {
    "f32": np.dtype("<f4"),
    "f64": np.dtype("<f8"),
    "f16": np.dtype("<f2"),
    "u8": np.dtype("u1"),
    "i32": np.dtype("<i4"),
    "i64": np.dtype("<i8"),
    "bool": np.dtype("?"),
}
"""Of elements, as specs name them. numpy has no bf16."""

_MOST_SHOWN = 2**30  # bytes of an array that is copied from a GPU, or gone through, for a picture

LEGACY_STREAM = 1  # CUstream of the legacy default stream, in DLPack and in version 3 of the CUDA array interface


class Array(_core.Array, np.lib.mixins.NDArrayOperatorsMixin):
    """A level of a field, where it lies. Nothing is copied.

    ``numpy.asarray(a)`` and ``memoryview(a)`` show the same memory on the CPU, ``cupy.asarray(a)``,
    ``torch.from_dlpack(a)`` and ``jax.dlpack.from_dlpack(a)`` on a GPU, too. What was taken keeps its values: steps
    that would write to its memory first move the simulation to other memory, with a copy on the device. What is
    written through an array before the next steps, they start from. Shape and strides have the slowest axis first;
    rows lie apart, so an array is contiguous along x alone.
    """

    _about: Any  # _exports.About

    def __init__(self, simulation: Any, field: str, level: int = 0, read_only: bool = False) -> None:
        super().__init__(simulation, field, level, read_only)

    @property
    def dtype(self) -> np.dtype:
        """The elements' type. bfloat16 has none in numpy: TypeError."""
        if self.typestr == "bfloat16":
            raise TypeError("numpy has no bfloat16; simulation.read(name, 'float32') gives the values as float32")
        return np.dtype(self.typestr)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        shown = np.asarray(memoryview(self)) if self.device == "cpu" else None
        if shown is None:
            if copy is False:
                raise ValueError(
                    "this array is in a GPU's memory, and numpy's are in the host's: without a copy there is no "
                    "numpy array of it"
                )
            shown = self.numpy()
            copy = None
        wanted = shown.dtype if dtype is None else np.dtype(dtype)
        if copy is False and wanted != shown.dtype:
            raise ValueError(f"an array of {shown.dtype} is an array of {wanted} by a copy alone")
        return shown.astype(wanted, copy=bool(copy))

    def to_xarray(self) -> Any:
        """A copy as an ``xarray.DataArray``: dimensions are the axes, the slowest first, with coordinates from the spec's
        spacing and origin, ``time`` where the program has a ``dt``, and the step as an attribute. Raises MissingLibraryError
        where xarray is not installed."""
        from ._exports import data_array

        return data_array(self.numpy(), self._about)

    def to_pyvista(self) -> Any:
        """A copy of two or three axes as a ``pyvista.ImageData`` whose points are the cells' centres. Raises MissingLibraryError
        where pyvista is not installed."""
        from ._exports import image_data
        from ._optional import needed

        pyvista = needed("pyvista", "array.to_pyvista()", "viz")
        return image_data(pyvista, {self._about.field: self.numpy()}, [self._about])

    def numpy(self) -> np.ndarray:
        """A copy in the host's memory, contiguous."""
        if self.device == "cpu":
            return np.array(memoryview(self), order="C")
        dense = np.empty(self.shape, self.dtype)
        self._copy_to_host(dense.ctypes.data, dense.nbytes)
        return dense

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """As the array API standard has it. On a GPU the consumer's stream waits for what computes the array; the
        host does not."""
        here = self.__dlpack_device__()
        if dl_device is not None and tuple(map(int, dl_device)) != here:
            raise BufferError(f"this array is on {self.device}, and is handed over there alone; copy it by .numpy()")
        if copy:
            raise BufferError("arrays are handed over without a copy; copy what you made of it, or use .numpy()")
        if self.device == "cpu":
            if stream is not None:
                raise BufferError(f"stream={stream!r}: an array on the CPU has no stream")
        elif stream != -1:
            self._order_stream(LEGACY_STREAM if stream is None else int(stream))
        versioned = max_version is not None and max_version[0] >= 1
        if self.readonly and not versioned:
            raise BufferError("this array is read-only, which DLPack before version 1.0 cannot say; copy it by .numpy()")
        return self._capsule(versioned)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        def shown(value: Any) -> Any:
            return np.asarray(value) if isinstance(value, Array) else value

        if "out" in kwargs:
            kwargs["out"] = tuple(shown(each) for each in kwargs["out"])
        return getattr(ufunc, method)(*map(shown, inputs), **kwargs)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.device != "cpu":
            raise TypeError(
                "this array is in a GPU's memory; write to it by CuPy, torch or JAX (cupy.asarray(a)[…] = …), or "
                "assign to the simulation's field"
            )
        np.asarray(self)[key] = value

    def __repr__(self) -> str:
        lies = "" if self.device == "cpu" else f" on {self.device}"
        head = f"<halocline.Array {self.shape} of {self.typestr}{lies}>"
        if lies or self.typestr == "bfloat16":
            return head
        return f"{head}\n{np.asarray(self)!r}"

    def _repr_html_(self) -> str | None:
        """A picture with a colour bar; of three axes of the middle plane."""
        if self.typestr == "bfloat16" or not 1 <= self.ndim <= 4 or self.nbytes > _MOST_SHOWN:
            return None
        return _picture.figure(np.asarray(self), f"{self._about.field}: {self.shape} of {self.dtype} on {self.device}", self._about.axes)

    __hash__ = None  # type: ignore[assignment]


def _words(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


class Checked:
    """Cells for a field, in memory that they lie in as a simulation can take them."""

    __slots__ = ("owner", "address", "nbytes", "pitch", "slice", "volume", "on_gpu", "stream")

    def __init__(self, owner: Any, address: int, nbytes: int, pitch: int, slice: int, volume: int = 0) -> None:
        self.owner = owner  # keeps the memory
        self.address, self.nbytes, self.pitch, self.slice = address, nbytes, pitch, slice
        self.volume = volume  # 0: planes lie one after the other
        self.on_gpu = False
        self.stream: int | None = None


def _pitches(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> tuple[int, int, int] | None:
    """Elements from a row, a plane and a volume to the next; None where rows are not contiguous, or overlap."""
    by_axis = list(zip(shape[::-1], strides[::-1]))
    if by_axis[0][0] > 1 and by_axis[0][1] != size:
        return None
    result = []
    least = shape[-1]
    for extent, stride in by_axis[1:]:
        pitch = least if extent == 1 else stride // size
        if stride % size and extent > 1 or pitch < least:
            return None
        result.append(pitch)
        least = pitch * extent
    return tuple((result + [0, 0, 0])[:3])  # type: ignore[return-value]


def _refuse_shape(field: str, shape: tuple[int, ...], wanted: tuple[int, ...], axes: list[str]) -> None:
    order = _words(tuple(reversed(axes))).replace(",)", ")")
    mend = ""
    if shape == wanted[::-1] and len(shape) > 1:
        mend = "; its axes are in the other order: give array.T, copied by numpy.ascontiguousarray()"
    elif int(np.prod(shape, dtype=object)) == int(np.prod(wanted, dtype=object)):
        mend = f"; array.reshape{_words(wanted)} has it"
    raise ArrayError(f"field '{field}' has the shape {_words(wanted)}, axes {order}, and the array {_words(shape)}{mend}")


def _refuse_type(field: str, have: Any, wanted: np.dtype) -> None:
    raise ArrayError(f"field '{field}' has elements of {wanted}, and the array of {have}: give array.astype('{wanted}')")


def _check_common(field: str, shape: Any, dtype: Any, wanted: tuple[int, ...], wanted_type: np.dtype, axes: list[str]) -> None:
    if tuple(shape) != wanted:
        _refuse_shape(field, tuple(shape), wanted, axes)
    if dtype != wanted_type:
        _refuse_type(field, dtype, wanted_type)


def check_bf16(field: str, array: np.ndarray, shape: tuple[int, ...], axes: list[str]) -> None:
    """An array of reals for a field of bfloat16, to which they are rounded."""
    if array.dtype.kind != "f":
        raise ArrayError(
            f"field '{field}' has elements of bfloat16, to which arrays of float32 are rounded, and this is of "
            f"{array.dtype}: give array.astype('float32')"
        )
    if array.shape != shape:
        _refuse_shape(field, array.shape, shape, axes)


_LAYOUT = (
    "the rows of the array for field '{}' do not lie one after the other along {} (strides {}), so it has to be "
    "copied: give numpy.ascontiguousarray(array), or simulation.write('{}', array, copy=True)"
)


def check_host(field: str, values: Any, shape: tuple[int, ...], dtype: np.dtype, axes: list[str], copy: bool) -> Checked:
    """An array of the host for a field, as it is. With `copy` of any layout and any type that numpy casts safely."""
    if isinstance(values, np.ndarray):
        array = values
    elif hasattr(values, "__array_interface__") or not hasattr(values, "__dlpack__"):
        try:
            array = np.asarray(values)
        except (TypeError, ValueError) as error:
            raise ArrayError(f"field '{field}' takes an array of numbers or a real number, and this is neither: {error}") from error
    else:
        try:
            array = np.from_dlpack(values)
        except BufferError as error:  # such as of a tensor that needs a gradient
            raise ArrayError(f"the array for field '{field}' cannot be read: {error}") from error
    if array.dtype.kind not in "biufc" or array.ndim == 0:
        raise ArrayError(f"field '{field}' takes an array of numbers or a real number, and not {type(values).__name__}")
    if copy and tuple(array.shape) == shape:
        if array.dtype != dtype and not np.can_cast(array.dtype, dtype, "same_kind"):
            _refuse_type(field, array.dtype, dtype)
        array = np.ascontiguousarray(array, dtype)
    _check_common(field, array.shape, array.dtype, shape, dtype, axes)
    pitches = _pitches(array.shape, array.strides, array.itemsize)
    if pitches is None:
        raise ArrayError(_LAYOUT.format(field, axes[0], array.strides, field))
    address = array.__array_interface__["data"][0]
    return Checked(array, address, _span(array.shape, array.strides, array.itemsize), *pitches)


def _span(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> int:
    return sum((extent - 1) * abs(stride) for extent, stride in zip(shape, strides)) + size


def check_gpu(field: str, values: Any, shape: tuple[int, ...], dtype: np.dtype, axes: list[str]) -> Checked:
    """An array in a GPU's memory, by the CUDA array interface."""
    interface = _cuda_interface(values)
    _check_common(field, interface["shape"], np.dtype(interface["typestr"]), shape, dtype, axes)
    strides = interface.get("strides")
    if strides is None:
        strides = tuple(int(np.prod(shape[i + 1 :], dtype=object)) * dtype.itemsize for i in range(len(shape)))
    pitches = _pitches(shape, tuple(strides), dtype.itemsize)
    if pitches is None:
        raise ArrayError(
            f"the rows of the array for field '{field}' do not lie one after the other along {axes[0]} (strides "
            f"{tuple(strides)}): give a contiguous copy, such as cupy.ascontiguousarray(array) or array.contiguous()"
        )
    if interface.get("mask") is not None:
        raise ArrayError(f"the array for field '{field}' has a mask, which fields do not have")
    result = Checked(values, interface["data"][0], _span(shape, tuple(strides), dtype.itemsize), *pitches)
    result.on_gpu = True
    result.stream = interface.get("stream")
    return result


def is_on_gpu(values: Any) -> bool:
    if isinstance(values, np.ndarray):
        return False
    return _cuda_interface(values) is not None


def _cuda_interface(values: Any) -> Any:
    try:
        return getattr(values, "__cuda_array_interface__", None)
    except RuntimeError as error:  # of a tensor that needs a gradient
        raise ArrayError(f"this array on a GPU cannot be read: {error}") from error
