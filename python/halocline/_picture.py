"""Pictures of arrays as inline SVG with a PNG in it, by numpy alone. The colours are those of ``haloc run --plot``."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any, NamedTuple

import numpy as np

from ._errors import ArgumentError, ArrayError
from ._html import escape

__all__ = ["Picture", "Range", "cells_to_show", "figure", "given_range", "picture", "png", "range_of"]

_MOST = 512  # cells along an axis of a picture; of more every second, third … is shown
_WIDTH, _HEIGHT = 420, 340  # of a picture's cells, at most
_NOT_FINITE = (255, 0, 255)


def _colours(text: str) -> np.ndarray:
    anchors = np.array([list(bytes.fromhex(each)) for each in text.split()], np.float64)
    places = np.linspace(0, len(anchors) - 1, 256)
    return np.stack([np.interp(places, np.arange(len(anchors)), anchors[:, i]) for i in range(3)], 1).round().astype(np.uint8)


_SEQUENTIAL = _colours(
    "140e36 1c1244 251653 2e1a63 371f72 362c7d 343988 304594 29519f 245f9f 1f6d9f 177a9e 09879e 1a939a 279f96 33ab91 "
    "3fb78b 5ec082 78c878 90d16b a6d95b bee05c d4e75e eaee5f fff464"
)
_DIVERGING = _colours(
    "0b2964 0e3574 124285 154f97 195ca9 3271b7 4b87c5 639dd3 7cb2e1 9bc3e6 b9d4ec d7e4f1 f5f5f5 f2ded5 eec6b5 e9af95 "
    "e39775 d37e5f c2644b b14b37 a03024 8d271f 7b1d1b 6a1317 590912"
)


class Range(NamedTuple):
    """The values that the ends of a colour bar stand for."""

    low: float
    high: float

    @property
    def diverging(self) -> bool:
        """About zero, which is white."""
        return self.low < 0 and self.low == -self.high


def range_of(values: np.ndarray) -> Range:
    """From the least to the largest finite value; symmetric about zero where both signs matter."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return Range(0.0, 1.0)
    low, high = float(finite.min()), float(finite.max())
    reach = max(-low, high)
    if low < 0 < high and min(-low, high) >= 0.2 * reach:
        return Range(-reach, reach)
    return Range(low, high)


def png(pixels: np.ndarray) -> bytes:
    """A PNG of pixels (rows, columns, 3) of bytes, the first row at the top."""
    rows, columns, _ = pixels.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = np.concatenate([np.zeros((rows, 1), np.uint8), pixels.reshape(rows, -1)], 1)
    head = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)) + chunk(b"IEND", b"")


def cells_to_show(array: Any) -> tuple[np.ndarray, str]:
    """One or two axes of an array, as float64, and what was left out: of three axes and four the middle of the slowest
    is shown, and of very long axes every second, third … cell."""
    values, notes = array, []
    while values.ndim > 2:
        notes.append(f"plane {values.shape[0] // 2} of {values.shape[0]}")
        values = values[values.shape[0] // 2]
    steps = tuple(-(-extent // _MOST) for extent in values.shape)
    if max(steps) > 1:
        values = values[tuple(slice(None, None, step) for step in steps)]
        notes.append("every " + " x ".join(map(str, steps[::-1])) + "th cell")
    return np.asarray(values, np.float64), ", ".join(notes)


def _pixels(values: np.ndarray, shown: Range) -> np.ndarray:
    finite = np.isfinite(values)
    span = shown.high - shown.low
    with np.errstate(invalid="ignore", over="ignore"):
        part = (np.where(finite, values, shown.low) - shown.low) / span if span > 0 else np.full(values.shape, 0.5)
    pixels = (_DIVERGING if shown.diverging else _SEQUENTIAL)[np.clip(part * 255, 0, 255).astype(np.uint8)]
    pixels[~finite] = _NOT_FINITE
    return pixels


def _image(pixels: np.ndarray, x: float, y: float, width: float, height: float) -> str:
    data = base64.b64encode(png(pixels)).decode()
    return (
        f'<image x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" dominant-baseline="middle">{escape(text)}</text>'


def _svg(width: float, height: float, parts: list[str], label: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        f'role="img" aria-label="{escape(label)}" font-family="sans-serif" font-size="11" fill="currentColor">'
        + "".join(parts)
        + "</svg>"
    )


def _plane(values: np.ndarray, shown: Range, axes: tuple[str, str], label: str, square: bool) -> str:
    rows, columns = values.shape
    scale = min(_WIDTH / columns, _HEIGHT / rows)
    width, height = (max(columns * scale, 24), max(rows * scale, 24)) if square else (_WIDTH, _HEIGHT)
    left, top, bar = 22, 8, 14
    parts = [_image(_pixels(values[::-1], shown), left, top, width, height)]  # the first row below, as in a diagram
    parts.append(_text(left + width / 2, top + height + 14, axes[0] + " →", "middle"))
    parts.append(f'<g transform="translate(12 {top + height / 2:g}) rotate(-90)">{_text(0, 0, axes[1] + " →", "middle")}</g>')
    x, tall = left + width + 16, max(height, 60)
    ramp = np.linspace(shown.high, shown.low, 128)[:, None]
    parts.append(_image(_pixels(ramp, shown), x, top, bar, tall))
    for part in (0, 0.5, 1):
        parts.append(_text(x + bar + 4, top + 4 + (tall - 8) * part, f"{shown.high + (shown.low - shown.high) * part:.4g}"))
    return _svg(x + bar + 70, top + max(height + 26, tall + 8), parts, label)


def _line(values: np.ndarray, shown: Range, axis: str, label: str) -> str:
    width, height, left, top = 420, 160, 60, 8
    span = shown.high - shown.low or 1.0
    across = width / max(len(values) - 1, 1)
    pieces: list[list[str]] = [[]]
    for index, value in enumerate(values):
        if np.isfinite(value):
            pieces[-1].append(f"{left + index * across:.4g},{top + height * (shown.high - value) / span:.4g}")
        elif pieces[-1]:
            pieces.append([])
    parts = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="currentColor" stroke-opacity=".3"/>']
    parts += [f'<polyline points="{" ".join(each)}" fill="none" stroke="#245f9f" stroke-width="1.5"/>' for each in pieces if each]
    parts += [_text(left - 4, top + 4, f"{shown.high:.4g}", "end"), _text(left - 4, top + height - 4, f"{shown.low:.4g}", "end")]
    parts.append(_text(left + width / 2, top + height + 14, axis + " →", "middle"))
    return _svg(left + width + 8, top + height + 26, parts, label)


def figure(array: Any, title: str = "", axes: tuple[str, ...] = (), shown: Range | None = None, square: bool = True) -> str:
    """An array of one to four axes as HTML: a picture with a colour bar (of one axis a line), and a caption.

    axes: names, the fastest first. shown: what the colours stand for; found from the values without it. square: whether
    cells are; else they fill the picture.
    Raises ValueError for more than four axes, or no cell.
    """
    if not 1 <= array.ndim <= 4 or 0 in array.shape:
        raise ValueError(f"an array of shape {tuple(array.shape)} has no picture")
    values, left_out = cells_to_show(array)
    bad = values.size - int(np.count_nonzero(np.isfinite(values)))
    shown = shown or range_of(values)
    names = (*axes, *("x", "y", "z", "w")[len(axes) :])
    drawn = _line(values, shown, names[0], title) if values.ndim == 1 else _plane(values, shown, (names[0], names[1]), title, square)
    notes = [title, left_out, f"{bad} of {values.size} cells are not finite (magenta)" if bad else ""]
    caption = ", ".join(each for each in notes if each)
    return f'<figure style="margin:0"><figcaption>{escape(caption)}</figcaption>{drawn}</figure>'


def given_range(limits: Any) -> Range | None:
    """Of ``range=``."""
    if limits is None:
        return None
    try:
        low, high = (float(each) for each in limits)
    except (TypeError, ValueError):
        low = high = 0.0
    if not low < high:
        raise ArgumentError(f"range={limits!r}: what the colours stand for is (low, high), two numbers")
    return Range(low, high)


class Picture:
    """An array as notebooks show it. ``html`` is what they are given."""

    def __init__(self, html: str, title: str) -> None:
        self.html, self._title = html, title

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"<halocline.Picture {self._title}>"


def picture(
    values: Any,
    title: str = "",
    *,
    axes: tuple[str, ...] = (),
    range: tuple[float, float] | None = None,
    square: bool = True,
) -> Picture:
    """A picture of any array of one to four axes, as notebooks show fields: with a colour bar, the first row below.

    axes: their names, the fastest first. range: (low, high), what the ends of the colour bar stand for; found from the
    values without it. square: whether cells are; else they fill the picture, as suits traces (steps, points).

    Raises ArrayError for what has no picture.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or not 1 <= array.ndim <= 4 or array.size == 0:
        raise ArrayError(f"a picture is of one to four axes of real numbers, and this is an array {array.shape} of {array.dtype}")
    return Picture(figure(array, title, tuple(axes), given_range(range), square), title)
