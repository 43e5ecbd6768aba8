"""How complete an item is: each field is present, missing or invalid."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from crawler.items import Item
from crawler.policy.items import validation

_ABOUT_THE_FETCH: Final = frozenset({"found_in", *(each.name for each in dataclasses.fields(Item))})
_MISSING: Final = "missing_"
_EMPTY: Final[tuple[object, ...]] = ("", [], {})

# Issue -> the field whose value is wrong; issues about missing fields are left out.
INVALID: Final[Mapping[str, str]] = MappingProxyType(
    {name: field for name, field in validation.FIELDS.items() if not name.startswith((_MISSING, "empty_"))}
)


class Grades(NamedTuple):
    """The fields of one item by their state."""

    present: list[str]
    missing: list[str]
    invalid: list[str]


def grades(item: Item, found: Collection[validation.Issue]) -> Grades:
    """Each field of the item's class in one of the three, by the issues that validation found."""
    wrong = {issue.field for issue in found if not issue.name.startswith((_MISSING, "empty_"))} if found else ()
    kind: Any = type(item)
    names = fields(kind)
    invalid = [name for name in names if name in wrong] if wrong else []
    empty = [name for name in names if not (value := getattr(item, name)) and (value is None or value in _EMPTY)]
    missing = [name for name in empty if name not in invalid]
    return Grades([name for name in names if name not in empty and name not in invalid], missing, invalid)


@functools.cache
def fields(kind: Any) -> tuple[str, ...]:
    """The fields in which an item of that class describes its page."""
    return tuple(each.name for each in dataclasses.fields(kind) if each.name not in _ABOUT_THE_FETCH)
