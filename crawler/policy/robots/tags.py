"""What X-Robots-Tag and robots meta elements ask for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

NOFOLLOW: Final = "nofollow"
NOINDEX: Final = "noindex"
MOST: Final = 4_096  # characters per header
_MEANS: Final = {"none": (NOFOLLOW, NOINDEX), NOFOLLOW: (NOFOLLOW,), NOINDEX: (NOINDEX,)}
_WITH_VALUE: Final = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))


def asked(values: Iterable[str], agent: str) -> frozenset[str]:
    """Which of `nofollow` and `noindex` the headers ask of a crawler named *agent*.

    `name: a, b` applies only to that crawler, up to the next name or the header's end.
    """
    found: set[str] = set()
    for value in values:
        ours = True
        for part in value[:MOST].lower().split(","):
            name, colon, rest = map(str.strip, part.partition(":"))
            if colon and name not in _WITH_VALUE:
                ours = _names(name, agent)
            if ours:
                found.update(_MEANS.get(rest if colon else name, ()))
    return frozenset(found)


def _names(name: str, agent: str) -> bool:
    return name in {"*", "robots"} or (bool(name) and name == agent.lower())
