"""How far a run is, on standard error."""

import sys
import time


class Progress:
    """A line on standard error that says how far a run is; on a terminal it is written over itself."""

    def __init__(self, count: int) -> None:
        self._begin = self._shown = time.monotonic()
        self._on_terminal = sys.stderr.isatty()
        self._every = 0.2 if self._on_terminal else 5.0

    def __call__(self, done: int, count: int) -> None:
        now = time.monotonic()
        if done < count and now - self._shown < self._every:
            return
        self._shown = now
        seconds = max(now - self._begin, 1e-9)
        text = f"{done} of {count} steps, {done / seconds:.3g} steps/s"
        if done < count:
            text += f", {(count - done) * seconds / max(done, 1):.0f} s left"
        self._write(text, done >= count)

    def end(self) -> None:
        if self._on_terminal:
            sys.stderr.write("\n")

    def _write(self, text: str, last: bool) -> None:
        sys.stderr.write(f"\r{text:<60}" if self._on_terminal else text + "\n")
        sys.stderr.flush()
