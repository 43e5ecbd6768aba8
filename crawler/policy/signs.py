"""Many short texts that are looked for in a page at once. Pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final

import re2

_NOTHING: Final = r"[^\x00-\x{10FFFF}]"  # a pattern that matches nowhere


class Signs(tuple[str, ...]):  # noqa: SLOT001 - a tuple can have no slot for the pattern
    """RE2 reads a page once for all of them, in linear time, where `in` reads it once for each: 174 signs cost 2 µs in
    a page of 1 KB instead of 60, and 1.5 ms instead of 130 in 1 MB of slashes. Compiled on first use."""

    def any_in(self, where: str | bytes) -> bool:
        """Whether one of them is in *where*; bytes are UTF-8, broken or not."""
        return self._search(where.encode("utf-8", "replace") if isinstance(where, str) else where) is not None

    @cached_property
    def _search(self) -> Callable[[bytes], object]:
        search: Callable[[bytes], object] = re2.compile("|".join(map(re2.escape, self)) or _NOTHING).search
        return search
