"""Whether an answer is a part of its page alone: 206 where nobody asked for a range. Pure."""

from __future__ import annotations

import re
from typing import Final

PARTIAL_CONTENT: Final = 206
LONGEST: Final = 100  # characters of a Content-Range
_RANGE: Final = re.compile(r"\s*bytes\s+0-(\d{1,19})/(\d{1,19})\s*", re.IGNORECASE)


def part(content_range: str) -> str:
    """What is had of a page whose answer is 206, in words; "" where that is all of it."""
    if not content_range:
        return "a part of it, without saying which (no Content-Range)"
    found = _RANGE.fullmatch(content_range[:LONGEST])
    whole = found is not None and int(found[1]) + 1 == int(found[2])
    return "" if whole else f"a part of it (Content-Range: {content_range[:LONGEST]!r})"
