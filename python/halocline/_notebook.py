"""What notebooks show while something runs. IPython is used where it is there already, and never imported otherwise."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Callable

from . import _picture
from ._arrays import NUMPY_TYPES
from ._html import escape

if TYPE_CHECKING:
    from ._simulation import Simulation

__all__ = ["Shown", "Watch", "in_notebook"]

_AT_LEAST = 0.1  # seconds from one picture in a notebook to the next


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, which shows HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


class _Html:
    """HTML, with a text for where there is none."""

    def __init__(self, html: str, text: str) -> None:
        self._html, self._text = html, text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text


class Shown:
    """A place in a notebook's output whose contents change."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, html: str, text: str) -> None:
        if self._handle is None:
            from IPython.display import display

            self._handle = display(_Html(html, text), display_id=True)
        else:
            self._handle.update(_Html(html, text))


class Watch:
    """A picture of a field that is drawn anew while steps are done. Made by ``Simulation.watch()``; a context manager,
    and ``stop()`` ends it."""

    def __init__(
        self, simulation: "Simulation", field: str, every: int, shown: _picture.Range | None, show: Callable[[Any, int], None] | None
    ) -> None:
        self._simulation, self._field, self.every, self._range = simulation, field, every, shown
        self._show = show
        self._place = None if show is not None else Shown()
        self._last = 0.0
        if show is None:
            self._draw()

    def _values(self) -> Any:
        info = self._simulation._fields[self._field]
        return self._simulation.read(self._field, None if info.type in NUMPY_TYPES else "float32")

    def _draw(self) -> None:
        done = self._simulation.steps_done
        title = f"{self._field} after {done} steps"
        assert self._place is not None
        self._place.show(_picture.figure(self._values(), title, self._simulation.program.axes, self._range), title)
        self._last = time.monotonic()

    def steps_to_next(self, done: int) -> int:
        return self.every - done % self.every

    def look(self, at_end: bool) -> None:
        """Is called after steps: shows the field, where it is time to."""
        done = self._simulation.steps_done
        if self._show is not None:
            if done % self.every == 0:
                self._show(self._values(), done)
        elif at_end or time.monotonic() - self._last >= _AT_LEAST:
            self._draw()

    def stop(self) -> None:
        """Shows no more; the last picture stays. Twice is fine."""
        watches = self._simulation._watches
        if self in watches:
            watches.remove(self)

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "" if self in self._simulation._watches else ", stopped"
        return f"<halocline.Watch of {self._field}, every {self.every} steps{state}>"


class NotebookProgress:
    """A bar in a notebook's output that says how far a run is."""

    def __init__(self) -> None:
        self._place = Shown()

    def show(self, part: float, text: str) -> None:
        self._place.show(f'<progress max="1" value="{part:.4f}" style="width:20em"></progress> {escape(text)}', text)
