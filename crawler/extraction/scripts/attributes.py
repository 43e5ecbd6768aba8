"""State in attributes of a page's elements, where its components find it: Inertia, Livewire, Astro, Vue, PrestaShop."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

from crawler.extraction.scripts import state, state_prices
from crawler.utils.entities import unescape

MAX_STATES: Final = 200  # per page: each card may have its product's
MAX_FOUND: Final = 5_000  # attributes looked at
LEAST: Final = 30  # characters of one that may hold a product
MAX_DEPTH: Final = 16  # of what Astro wrote

_OPENED = re.compile(r"=[\"'](?=[\[{])")


def states(markup: str, wanted: Callable[[str], bool] = bool) -> list[Any]:
    """The objects and lists that attributes hold as JSON, in document order, of *wanted* source as written.

    Bounded like states in scripts.
    """
    return list(islice(_in_attributes(markup, wanted), MAX_STATES))


def may_have_price(text: str) -> bool:
    """Whether the source of a state may hold one."""
    return ("rice" in text or "RICE" in text) and state_prices.may_be_in(text)


def _in_attributes(markup: str, wanted: Callable[[str], bool]) -> Iterator[Any]:
    left = state.MAX_ALL
    for opened in islice(_OPENED.finditer(markup), MAX_FOUND):
        start = opened.end()
        end = markup.find(markup[start - 1], start, start + min(state.MAX_STATE, left))
        if end - start < LEAST:
            continue
        left -= end - start
        text = markup[start:end]
        found = state.whole(unescape(text)) if wanted(text) else None
        if found is not None:
            yield _unpaired(found, MAX_DEPTH) if _is_paired(found) else found


def _is_paired(found: Any) -> bool:
    """Whether Astro wrote it: each value as a pair of its type, 0 or 1, and itself."""
    return isinstance(found, dict) and all(
        isinstance(each, list) and len(each) == 2 and each[0] in (0, 1) for each in found.values()
    )


def _unpaired(value: Any, depth: int) -> Any:
    """*value* without the types in front of its members."""
    if not depth or not isinstance(value, (dict, list)):
        return value
    if isinstance(value, list):
        return [_member(each, depth) for each in value]
    return {name: _member(each, depth) for name, each in value.items()}


def _member(pair: Any, depth: int) -> Any:
    return _unpaired(pair[-1] if isinstance(pair, list) and pair else pair, depth - 1)
