"""Links to the heading or line that they stand at."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crawler.extraction.content.passages import Piece

# All that such a link shows; also a letter of an icons' font, or nothing to see.
_SIGN = re.compile(r"\s*+(?:[#¶§🔗◆⚓∞↩\u200b\u2060\ufe0e\ufe0f\ufeff\ue000-\uf8ff]\s*+){1,9}")


def permalink(pieces: Sequence[Piece]) -> int | None:
    """Where the link begins that *pieces* end with, if it shows only a sign for a place in a page."""
    at = len(pieces) - 1
    while at > 0 and type(pieces[at]) is str:
        at -= 1
    start = pieces[at] if pieces else ""
    if start[:1] == ("a",) and "#" in start[1] and _SIGN.fullmatch("".join(map(str, pieces[at + 1 :]))):
        return at
    return None
