"""Remembers which callbacks are generators that return a value, of which Scrapy warns.

Scrapy asks on each page and keeps the answer with the bound method, an object that is gone with the request that asked
first: then the source of a callback that yields is read and parsed again, 0.4 ms. With few requests in flight that is
for each page, with 64 for about one in thirty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrapy.utils import misc
from scrapy.utils.misc import is_generator_with_return_value


def remembered(callback: Callable[..., Any]) -> bool:
    """As Scrapy's `is_generator_with_return_value`; the answer is kept with the function."""
    return is_generator_with_return_value(getattr(callback, "__func__", callback))


def install() -> None:
    """Use it for all callbacks of this process."""
    misc.is_generator_with_return_value = remembered  # type: ignore[assignment]  # its argument is named `callable`
