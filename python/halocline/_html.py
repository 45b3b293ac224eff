"""HTML for notebooks. Whatever comes from a user is escaped here."""

from __future__ import annotations

import html
from typing import Any, Iterable

__all__ = ["block", "code", "details", "escape", "table"]


def escape(text: Any) -> str:
    """Text as HTML, also within an attribute."""
    return html.escape(str(text), quote=True)


def code(text: Any) -> str:
    """Text as it is, in lines."""
    return f'<pre style="margin:.3em 0;line-height:1.3">{escape(text)}</pre>'


def table(head: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """A table of texts; nothing where it has no rows."""
    cells = ["".join(f'<td style="text-align:left">{escape(each)}</td>' for each in row) for row in rows]
    if not cells:
        return ""
    heads = "".join(f'<th style="text-align:left">{escape(each)}</th>' for each in head)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</tbody></table>"


def details(summary: str, inner: str, is_open: bool = False) -> str:
    """What can be folded. inner is HTML."""
    return f"<details{' open' if is_open else ''}><summary>{escape(summary)}</summary>{inner}</details>" if inner else ""


def block(title: str, note: str, *parts: str) -> str:
    """A heading and what is below it. parts are HTML."""
    aside = f' <span style="opacity:.7">{escape(note)}</span>' if note else ""
    return f'<div class="halocline"><div><b>{escape(title)}</b>{aside}</div>' + "".join(parts) + "</div>"
