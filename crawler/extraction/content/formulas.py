"""Formulas as TeX, where a page has it, and what shows them once more to readers whose browsers lack MathML."""

from __future__ import annotations

import re
from typing import Final

from selectolax.lexbor import LexborNode

_STYLE: Final = re.compile(r"\{\\(?:displaystyle|textstyle) (.*)\}")  # MediaWiki puts it around each


def tex_of(math: LexborNode) -> str:
    """The TeX of <math>; empty if it has none."""
    if stated := math.attributes.get("alttext"):
        return _unstyled(stated)
    note = math.css_first("annotation[encoding='application/x-tex']")
    return _unstyled(note.text()) if note is not None else ""


def signs_of(math: LexborNode) -> str:
    """What <math> shows, in one line."""
    shown = math.css_first("semantics > *") or math
    return "".join(shown.text().split())


def is_shown_again(node: LexborNode, tex: str) -> bool:
    """Whether the *node* behind a formula and what holds only that shows it as letters, or as an image."""
    attributes = node.attributes
    return "katex-html" in (attributes.get("class") or "") or (
        bool(tex) and _unstyled(attributes.get("alt") or "") == tex
    )


def _unstyled(tex: str) -> str:
    tex = " ".join(tex.split())
    return styled[1].strip() if (styled := _STYLE.fullmatch(tex)) else tex
