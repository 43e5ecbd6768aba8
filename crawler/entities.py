"""Character references of HTML (`&amp;`, `&#8364;`) -> characters."""

from __future__ import annotations

import html
import re
from typing import Final

_NO_CHARACTER: Final = re.compile(r"&#\d{100,}+;?")  # of so many digits Python makes no number, and raises ValueError


def unescape(text: str) -> str:
    """*text* with its references resolved; raises on no text."""
    if "&#" in text:
        text = _NO_CHARACTER.sub("\ufffd", text)
    return html.unescape(text)
