"""A setting that is misspelt on the command line is named; Scrapy would take it for one of the project's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from scrapy.settings import BaseSettings, default_settings

from crawler import defaults

KNOWN: Final = sorted(name for module in (default_settings, defaults) for name in vars(module) if name.isupper())
ALIKE: Final = 0.87


def hints(settings: BaseSettings, given: Iterable[str]) -> Iterator[str]:
    """A line for each of the names *given* that *settings*, Scrapy and Shoal do not have, but one much like it."""
    for name in given:
        if name not in settings and name not in KNOWN:
            for meant in get_close_matches(name.upper(), KNOWN, 1, ALIKE):
                yield f"there is no setting {name}, did you mean {meant}?"
