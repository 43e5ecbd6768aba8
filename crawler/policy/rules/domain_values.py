"""Readers of what `domains.toml` says of fields and links: TOML value in, checked rule out."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from crawler.items import Item, ProductItem
from crawler.policy.toml_values import BadValueError

FIELDS: Final = tuple(
    each.name for each in fields(ProductItem) if each.name not in {"found_in", *(own.name for own in fields(Item))}
)

_ATTRIBUTE = re.compile(r"(.*)::(?:(text)|attr\(([\w:-]+)\))$", re.DOTALL)
_ELEMENT = re.compile(r"(?:[\w.-]+(?::[\w.-]+)?/)*@?[\w.-]+(?::[\w.-]+)?")
_NAME = re.compile(r"[a-z\d][a-z\d_-]{0,62}")
_EMPTY = LexborHTMLParser("")


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a page."""

    css: str


@dataclass(frozen=True, slots=True)
class FieldRule:
    """Where a field is: the text or *attribute* of the first element that *css* selects and that has one, reduced to
    the match of *pattern* (its first group, if any); the value at path *json* in a page's state, or in element *xml* of
    a feed's item; or a fixed *value*."""

    css: str = ""
    attribute: str | None = None
    pattern: re.Pattern[str] | None = None
    value: str | None = None
    json: str | None = None
    xml: str | None = None

    def part(self, text: str) -> str:
        """The match of `pattern` in *text*, or *text* without a pattern."""
        if self.pattern is None:
            return text
        match = self.pattern.search(text)
        return (match[1 if match.re.groups else 0] or "") if match else ""


@dataclass(frozen=True, slots=True)
class LinkRule:
    """Which links: those whose URL matches *pattern*, or those that *css* selects (links, or elements that contain
    links)."""

    pattern: re.Pattern[str] | None = None
    css: str | None = None


def name(raw: Any) -> str:
    """A name that no host can have."""
    if not isinstance(raw, str) or not _NAME.fullmatch(raw) or raw == "localhost":
        raise BadValueError(raw, "a name of small letters, digits, - and _, without dots, at most 63")
    return raw


def field_rules(raw: Any) -> MappingProxyType[str, tuple[FieldRule, ...]]:
    """The `fields` table."""
    if not isinstance(raw, dict):
        raise BadValueError(raw, "a table of fields: " + ", ".join(FIELDS))
    for name in raw:
        if name not in FIELDS:
            raise BadValueError(name, "the name of a field: one of " + ", ".join(FIELDS), (name,))
    return MappingProxyType({name: _each(value, _field, (name,)) for name, value in raw.items()})


def required(raw: Any) -> tuple[str | Element, ...]:
    """The `required` list: field names, and `{ css = "…" }`."""

    def one(entry: Any) -> str | Element:
        if isinstance(entry, str):
            if entry not in FIELDS:
                raise BadValueError(entry, f'a field ({", ".join(FIELDS)}) or {{ css = "…" }}')
            return entry
        return Element(_selector(_only(entry, "css")["css"]))

    return _each(raw, one)


def links(raw: Any) -> tuple[LinkRule, ...]:
    """Regular expressions on the link's URL, and `{ css = "…" }`."""

    def one(entry: Any) -> LinkRule:
        if isinstance(entry, str):
            return LinkRule(pattern=_pattern(entry))
        return LinkRule(css=_selector(_only(entry, "css")["css"]))

    return _each(raw, one)


def _field(raw: Any) -> FieldRule:
    if isinstance(raw, str):
        return _located(raw)
    table = _only(raw, "css", "pattern", "value", "json", "xml")
    if "value" in table:
        if len(table) > 1 or not isinstance(table["value"], str):
            raise BadValueError(raw, '{ value = "text" } alone')
        return FieldRule(value=table["value"])
    pattern = _pattern(table["pattern"]) if "pattern" in table else None
    if len(table.keys() & {"css", "json", "xml"}) > 1:
        raise BadValueError(raw, "one of css, json and xml")
    if "json" in table:
        return FieldRule(pattern=pattern, json=_path(table["json"]))
    if "xml" in table:
        return FieldRule(pattern=pattern, xml=_element(table["xml"]))
    rule = _located(table.get("css"))
    return FieldRule(rule.css, rule.attribute, pattern)


def _element(raw: Any) -> str:
    if not isinstance(raw, str) or not _ELEMENT.fullmatch(raw):
        raise BadValueError(
            raw, 'the name of an element in a feed\'s item, such as "g:price", "g:shipping/g:price" or "link/@href"'
        )
    return raw


def _path(raw: Any) -> str:
    if not isinstance(raw, str) or not all(key.strip() for key in raw.split(".")):
        raise BadValueError(
            raw, 'a path such as "props.pageProps.product.price" (keys, places in lists or *, with dots between)'
        )
    return raw


def _located(raw: Any) -> FieldRule:
    """`h1.name`, `h1::text`, `img::attr(src)`."""
    match = _ATTRIBUTE.fullmatch(raw) if isinstance(raw, str) else None
    if match is None:
        return FieldRule(css=_selector(raw))
    return FieldRule(css=_selector(match[1]), attribute=match[3])


def _selector(raw: Any) -> str:
    with suppress(SelectolaxError):  # refused below, like a non-string
        if isinstance(raw, str) and raw.strip():
            _EMPTY.css_first(raw)
            return raw
    raise BadValueError(raw, "a CSS selector such as h1.name (for a field also img::attr(src))")


def _pattern(raw: Any) -> re.Pattern[str]:
    try:
        if isinstance(raw, str) and raw:
            return re.compile(raw)
    except re.error as error:
        raise BadValueError(raw, f"a valid regular expression ({error})") from None
    raise BadValueError(raw, "a non-empty regular expression")


def _only(raw: Any, *keys: str) -> dict[str, Any]:
    if not isinstance(raw, dict) or not raw or set(raw) - set(keys) or not raw.keys() & {"css", "value", "json", "xml"}:
        raise BadValueError(raw, f"a string, or a table with {', '.join(keys)}")
    return raw


def _each(raw: Any, one: Callable[[Any], Any], path: tuple[str, ...] = ()) -> tuple[Any, ...]:
    """One value or a list of values, each read by *one*."""
    try:
        return tuple(one(entry) for entry in (raw if isinstance(raw, list) else [raw]))
    except BadValueError as error:
        raise BadValueError(error.value, error.expected, path) from None
