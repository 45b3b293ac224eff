"""How far a run is, on standard error or in a notebook."""

import sys
import time

from ._notebook import NotebookProgress, in_notebook


class Progress:
    """Says how far a run is: in a notebook by a bar, on a terminal by a line that is written over itself, elsewhere by
    a line every few seconds."""

    def __init__(self, count: int) -> None:
        self._begin = self._shown = time.monotonic()
        self._notebook = NotebookProgress() if in_notebook() else None
        self._on_terminal = self._notebook is None and sys.stderr.isatty()
        self._every = 0.2 if self._on_terminal or self._notebook is not None else 5.0

    def __call__(self, done: int, count: int) -> None:
        now = time.monotonic()
        if done < count and now - self._shown < self._every:
            return
        self._shown = now
        seconds = max(now - self._begin, 1e-9)
        text = f"{done} of {count} steps, {done / seconds:.3g} steps/s"
        if done < count:
            text += f", {(count - done) * seconds / max(done, 1):.0f} s left"
        if self._notebook is not None:
            self._notebook.show(done / max(count, 1), text)
        else:
            self._write(text)

    def end(self) -> None:
        if self._on_terminal:
            sys.stderr.write("\n")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text:<60}" if self._on_terminal else text + "\n")
        sys.stderr.flush()
