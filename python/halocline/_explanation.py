"""How a program runs on a GPU: a text, which notebooks show with a picture."""

from __future__ import annotations

import math
from typing import Any, Callable

from ._html import block, code, details, escape

__all__ = ["Explanation", "roofline"]

_ROOFS = (
    ("L1, shared memory", "l1_bytes_per_s", "#7a9e3f"),
    ("L2 cache", "l2_bytes_per_s", "#2a9d8f"),
    ("device memory", "device_bytes_per_s", "#245f9f"),
)
_WIDTH, _HEIGHT, _LEFT, _TOP = 460, 280, 62, 24


class Explanation(str):
    """What ``Program.explain()`` gives: the text, with the same as data (``.data``), and a picture of it
    (``.roofline``), which notebooks show."""

    _read: Callable[[], dict]
    _known: dict | None

    def __new__(cls, text: str, read: Callable[[], dict]) -> "Explanation":
        made = super().__new__(cls, text)
        made._read, made._known = read, None
        return made

    @property
    def data(self) -> dict[str, Any]:
        """What ``explain(json=True)`` gives."""
        if self._known is None:
            self._known = self._read()
        return self._known

    @property
    def roofline(self) -> str:
        """The roofline as SVG: flops a second against flops a byte of device memory. Rising lines are what the
        memories deliver; points are the stages at the speed that device memory bounds them to, and the whole step as
        it is predicted, where several steps are done in one pass."""
        return roofline(self.data)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))  # in IPython, in lines and not in quotes

    def _repr_html_(self) -> str:
        title, _, rest = self.partition("\n")
        return block(title, "", self.roofline, details("text", code(rest), is_open=True))


def _points(data: dict) -> list[tuple[str, float, float]]:
    """Name, flops a byte, flops a second."""
    points, flops, moved = [], 0.0, 0.0
    for index, stage in enumerate(data["stages"]):
        bytes_moved = stage["bytes_read"] + stage["bytes_written"]
        flops, moved = flops + stage["flops"], moved + bytes_moved
        if stage["flops"] > 0 and bytes_moved > 0:
            name = "bound" if len(data["stages"]) == 1 else f"bound of stage {index + 1}"
            points.append((name, stage["flops"] / bytes_moved, stage["bound_gstencil_per_s"] * 1e9 * stage["flops"]))
    for name in ("temporal", "resident"):
        predicted = data.get(name, {}).get("predicted_gstencil_per_s")
        if predicted and flops > 0 and moved > 0:
            points.append((f"predicted, {name}", flops / moved, predicted * 1e9 * flops))
    return points


def _decades(low: float, high: float) -> list[int]:
    return list(range(math.floor(low), math.ceil(high) + 1))


def _si(value: float) -> str:
    for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= size:
            return f"{value / size:g} {prefix}"
    return f"{value:g} "


def roofline(data: dict) -> str:
    """The picture as SVG, of what ``explain(json=True)`` gives."""
    points = _points(data)
    roofs = [(name, data["memory"][key], colour) for name, key, colour in _ROOFS if data["memory"].get(key, 0) > 0]
    across = [math.log10(point[1]) for point in points] or [0.0]
    least, most = math.floor(min(across) - 0.5), math.ceil(max(across) + 0.5)
    heights = [math.log10(rate) + at for _, rate, _ in roofs for at in (least, most)]
    heights += [math.log10(point[2]) for point in points]
    low, high = math.floor(min(heights)), math.ceil(max(heights))

    def x(value: float) -> float:
        return _LEFT + _WIDTH * (value - least) / (most - least)

    def y(value: float) -> float:
        return _TOP + _HEIGHT * (high - value) / (high - low)

    parts = []
    for decade in _decades(least, most):
        parts.append(f'<path d="M{x(decade):.4g} {_TOP}v{_HEIGHT}" stroke="currentColor" stroke-opacity=".15"/>')
        parts.append(f'<text x="{x(decade):.4g}" y="{_TOP + _HEIGHT + 14}" text-anchor="middle">{10.0**decade:g}</text>')
    for decade in _decades(low, high):
        parts.append(f'<path d="M{_LEFT} {y(decade):.4g}h{_WIDTH}" stroke="currentColor" stroke-opacity=".15"/>')
        parts.append(f'<text x="{_LEFT - 4}" y="{y(decade) + 4:.4g}" text-anchor="end">{_si(10.0**decade)}</text>')
    for index, (name, rate, colour) in enumerate(roofs):
        begin, end = math.log10(rate) + least, math.log10(rate) + most
        below = _TOP + _HEIGHT - 12 - 15 * (len(roofs) - 1 - index)  # where no line comes
        parts.append(
            f'<path d="M{x(least):.4g} {y(begin):.4g}L{x(most):.4g} {y(end):.4g}" stroke="{colour}" fill="none"/>'
            f'<text x="{x(most) - 4:.4g}" y="{below}" text-anchor="end" fill="{colour}">{escape(name)}: {_si(rate)}B/s</text>'
        )
    for name, intensity, rate in points:
        at_x, at_y = x(math.log10(intensity)), y(math.log10(rate))
        parts.append(
            f'<circle cx="{at_x:.4g}" cy="{at_y:.4g}" r="4" fill="#a03024"><title>{escape(name)}: {_si(rate)}FLOP/s at '
            f'{intensity:.3g} flops a byte</title></circle><text x="{at_x + 7:.4g}" y="{at_y + 4:.4g}">{escape(name)}</text>'
        )
    parts.append(f'<text x="{_LEFT + _WIDTH / 2}" y="{_TOP + _HEIGHT + 30}" text-anchor="middle">flops a byte of device memory</text>')
    parts.append(f'<text x="2" y="12">FLOP/s</text>')
    width, height = _LEFT + _WIDTH + 16, _TOP + _HEIGHT + 38
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="roofline of {escape(data["stencil"])}" font-family="sans-serif" font-size="11" fill="currentColor">'
        + "".join(parts)
        + "</svg>"
    )
