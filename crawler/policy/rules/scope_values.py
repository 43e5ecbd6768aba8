"""Reads the keys of a scope, wherever they stand: value in, checked value out."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

from crawler.policy.rules.patterns import BadPatternError, Pattern
from crawler.policy.rules.traps import TRAPS
from crawler.policy.toml_values import BadValueError, Reader, boolean, choice, integer, table

MOST: Final = 200  # patterns or paths of one list
MOST_PAGES: Final = 4_000_000_000
LONGEST_PATH: Final = 1_000


def patterns(raw: Any) -> tuple[Pattern, ...]:
    """Regular expressions that are searched in addresses."""
    return tuple(_pattern(one) for one in _list(raw))


def _pattern(raw: Any) -> Pattern:
    if not isinstance(raw, str) or not raw:
        raise BadValueError(raw, "a non-empty regular expression")
    try:
        return Pattern(raw)
    except BadPatternError as error:
        raise BadValueError(
            raw, f"a regular expression in RE2's syntax, without look-around and back-references ({error})"
        ) from None


def _path(raw: Any) -> str:
    if not isinstance(raw, str) or not raw.startswith("/") or len(raw) > LONGEST_PATH or "?" in raw or "#" in raw:
        raise BadValueError(raw, 'the beginning of a path, such as "/shop" or "/de/", without ? and #')
    return raw


def _trap(raw: Any) -> str:
    if not isinstance(raw, str) or raw not in TRAPS:
        raise BadValueError(raw, "names of traps: " + ", ".join(TRAPS) + '; "all" for all of them')
    return raw


def _traps(raw: Any) -> tuple[str, ...]:
    if raw in ("all", ["all"]):
        return TRAPS
    return tuple(dict.fromkeys(_trap(one) for one in _list(raw)))


def _list(raw: Any) -> list[Any]:
    """One value, or a list of them."""
    several = list(raw) if isinstance(raw, list | tuple) else [raw]
    if len(several) > MOST:
        raise BadValueError(f"{len(several)} entries", f"at most {MOST}")
    return several


_OF_DOMAIN: Final[MappingProxyType[str, Reader]] = MappingProxyType(
    {
        "within": choice("any", "domain", "host"),
        "paths": lambda raw: tuple(_path(one) for one in _list(raw)),
        "include": patterns,
        "exclude": patterns,
        "depth": integer(0, 100_000),
        "query_parameters": integer(0, 1_000),
        "traps": _traps,
        "pages_per_host": integer(0, MOST_PAGES),
        "nofollow": boolean,
        "noindex": boolean,
    }
)
_OF_SPIDER: Final = MappingProxyType({**_OF_DOMAIN, "pages": integer(0, MOST_PAGES)})
_OF_RUN: Final = MappingProxyType({**_OF_SPIDER, "budget": lambda raw: raw})


def of_domain(raw: Any) -> MappingProxyType[str, Any]:
    """A domain's table `scope`; raises BadValueError."""
    return MappingProxyType(table(raw, _OF_DOMAIN))


def of_spider(raw: Any) -> MappingProxyType[str, Any]:
    """The scope of a spider or the settings; raises BadValueError."""
    return MappingProxyType(table(raw, _OF_SPIDER))


def of_run(raw: Any) -> MappingProxyType[str, Any]:
    """The scope of a run, with its budget as it is; raises BadValueError."""
    return MappingProxyType(table(raw, _OF_RUN))
