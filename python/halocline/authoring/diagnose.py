"""Messages of the compiler about a text that Python has printed: they are shown at the Python lines that it is from."""

from __future__ import annotations

import linecache
import re
from dataclasses import dataclass, field, replace

from .places import Location, Place
from .text import SpecText

_LONGEST = 100  # characters of a line that is shown


@dataclass(frozen=True)
class Label:
    """A further place, with what it has to do with the mistake."""

    location: Location
    message: str


@dataclass(frozen=True)
class PlacedDiagnostic:
    """One message at a line of Python, or of a module that the stencil uses. It has all that a Diagnostic has."""

    is_error: bool  # else a warning
    kind: str  # "unknown-name": the words of `haloc check --json`
    message: str
    location: Location
    printed: str  # what the compiler has seen there; empty in a module
    labels: list[Label] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    mend: str = ""  # what to put there instead, in the printed text; empty where it is not known
    help: str = ""  # the same in a sentence

    @property
    def file(self) -> str:
        return self.location.file

    @property
    def line(self) -> int:
        """From 1."""
        return self.location.line

    @property
    def column(self) -> int:
        """From 1, in characters."""
        return self.location.column + 1

    def __str__(self) -> str:
        """FILE:LINE:COLUMN: error: MESSAGE, the line with carets, and what else there is to say."""
        lines = [
            f"{_place(self.location)} {'error' if self.is_error else 'warning'}: {self.message}",
            *_excerpt(self.location),
        ]
        for label in self.labels:
            lines += [f"  {_place(label.location)} {label.message}", *_excerpt(label.location)]
        lines += [f"  note: {note}" for note in self.notes]
        if self.printed:
            lines.append(f"  note: printed as `{self.printed}`")
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)


def diagnostics_of(found: list[dict], text: SpecText, file: str, whole: Place) -> list[PlacedDiagnostic]:
    """The messages `found`, as `haloc check --json` has them, about a text that was checked under the name `file`.
    `whole` is the place of what no line of Python has made."""
    printed = str(text).encode()
    return [_diagnostic(each, text, printed, file, whole) for each in found]


def _diagnostic(found: dict, text: SpecText, printed: bytes, file: str, whole: Place) -> PlacedDiagnostic:
    def location(where: dict, name: str) -> Location:
        begin, end = where["begin"], where["end"]
        if name == file:
            place = text.place_of(begin["offset"], end["offset"]) or whole
            return _narrowed(place.location(), printed[begin["offset"] : end["offset"]].decode())
        line = linecache.getline(name, begin["line"]).rstrip()
        last = end["column"] - 1 if end["line"] == begin["line"] else len(line)
        return Location(name, begin["line"], begin["column"] - 1, max(last, begin["column"]))

    where = location(found["range"], found["file"])
    is_printed = found["file"] == file
    return PlacedDiagnostic(
        found["severity"] == "error",
        found["kind"],
        found["message"],
        where,
        _printed_line(printed, found["range"]) if is_printed else "",
        [Label(location(each["range"], each.get("file", found["file"])), each["message"]) for each in found["labels"]],
        list(found["notes"]),
        found["mend"]["replacement"] if found["mend"] else "",
        _help(found["mend"], printed, where) if found["mend"] and is_printed else "",
    )


def _narrowed(location: Location, name: str) -> Location:
    """The one use of a name within a place, where a message is about that name: names have no places of their own."""
    within = location.text[location.column : location.end_column]
    uses = list(re.finditer(rf"(?<![\w.]){re.escape(name)}\b", within)) if name.isidentifier() else []
    if len(uses) != 1:
        return location
    begin = location.column + uses[0].start()
    return replace(location, column=begin, end_column=begin + len(name))


def _printed_line(printed: bytes, where: dict) -> str:
    """The statement that a range is in; of one too long to be shown what the range has."""
    begin, end = where["begin"]["offset"], where["end"]["offset"]
    first = printed.rfind(b"\n", 0, begin) + 1
    last = printed.find(b"\n", begin)
    line = printed[first:last].decode().strip()
    if len(line) > _LONGEST:
        line = " ".join(printed[begin:end].decode().split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "…"


def _help(mend: dict, printed: bytes, where: Location) -> str:
    old = printed[mend["range"]["begin"]["offset"] : mend["range"]["end"]["offset"]].decode()
    new = mend["replacement"]
    if old and new and old in where.text:
        return f"did you mean `{new}`?"  # Python has the same text there
    if not new:
        return f"in the printed text, remove `{old}`"
    return f"in the printed text, `{new}` in place of `{old}`" if old else f"in the printed text, add `{new}`"


def _place(location: Location) -> str:
    return f"{location.file}:{location.line}:{location.column + 1}:"


def _excerpt(location: Location) -> list[str]:
    line = location.text.replace("\t", " ")
    if not line:
        return []
    first = max(0, location.column - 40) if len(line) > _LONGEST else 0
    shown = line[first : first + _LONGEST]
    width = max(min(location.end_column - first, len(shown)) - (location.column - first), 1)
    carets = " " * (location.column - first) + "^" + "~" * (width - 1)
    return [f"{location.line:>5} | {shown}", f"      | {carets}"]
