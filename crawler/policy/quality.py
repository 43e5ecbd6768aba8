"""How complete an item is: each of its fields present, missing or invalid."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from crawler.items import Item
from crawler.policy import validation

_ABOUT_THE_FETCH: Final = frozenset({"found_in", *(each.name for each in dataclasses.fields(Item))})
_MISSING: Final = "missing_"

# Issue -> the field whose value is wrong; an issue that says that a field is missing is not in it.
INVALID: Final[Mapping[str, str]] = MappingProxyType(
    {name: field for name, field in validation.FIELDS.items() if not name.startswith((_MISSING, "empty_"))}
)


class Quality(StrEnum):
    """The state of one field of one item."""

    PRESENT = "present"
    MISSING = "missing"
    INVALID = "invalid"


def grades(item: Item, found: Collection[validation.Issue]) -> Iterator[tuple[str, Quality]]:
    """Each field of the item's class with its state, judged by the issues that validation found."""
    invalid = {issue.field for issue in found if not issue.name.startswith((_MISSING, "empty_"))} if found else ()
    kind: Any = type(item)
    for name in fields(kind):
        value = getattr(item, name)
        if name in invalid:
            yield name, Quality.INVALID
        else:
            yield name, Quality.MISSING if value is None or value in ("", [], {}) else Quality.PRESENT


@functools.cache
def fields(kind: Any) -> tuple[str, ...]:
    """What an item of that class can say about its page."""
    return tuple(each.name for each in dataclasses.fields(kind) if each.name not in _ABOUT_THE_FETCH)
