"""A response as it is read: its status, source, text and headings, and the vendors' marks in it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Self

from crawler.policy.blocks.page_shape import (
    OWN_FORM,
    fields,
    heading,
    headline,
    leads_on,
    reloads,
    states_data,
    without_ways_home,
)
from crawler.policy.blocks.page_text import (
    any_in,
    condensed,
    prose,
    spelled_out,
    unframed,
    unquoted,
    visible_text,
    width,
    without_listings,
)
from crawler.policy.blocks.vendors import HINTS, MARKS, REFUSES, TRACES, VENDORS, Vendor
from crawler.policy.endings.response_headers import names_told, values_of
from crawler.utils.lazy import cached_property

MAX_TEXT: Final = 1_500  # characters
SHORT_TEXT: Final = 700
NO_TEXT: Final = 40
NO_PAGE_BYTES: Final = 3_000
LINKED_BYTES: Final = 32_768  # most that is read of a page with more links
# No block page has as many tags, or is as long without its scripts. Of one that is, the text is read in part only: a
# bomb of 1 MB of `<p` would cost a second.
MANY_TAGS: Final = 5_000
MOST_SOURCE: Final = 160_000  # bytes
CROWDED_BYTES: Final = 16_384
STATUSES: Final = frozenset({202, 401, 403, 405, 406, 416, 418, 428, 429, 430, 451, 456, 498, 503, 999})
OWN: Final = frozenset({428, 430, 451, 456, 498, 999})  # statuses that say little but this
TURNED_AWAY: Final = STATUSES - {202, 401, 429, 503}  # not for want of a login, nor for a while
UNAVAILABLE: Final = 503  # roads, too
_UNINDEXED: Final = (b"oindex", b"NOINDEX")
# In the text.
PRICE: Final = re.compile(r"(?:[€$£¥₹₽]|\b(?:eur|usd|gbp|chf))\s?\d|\d\s?(?:€|zł|kč|kr\b|₽|руб|円|元|원|usd|eur)")
_DATA: Final = re.compile(r"\{|\[\s*(?:[\[{\"\]\d-]|true|false|null)")  # and not "[!] Stop"
ERROR_KEYS: Final = ('"message"', '"error"', '"errors"', '"detail"', '"msg"', '"reason"', '"code"', '"status"')


class ReadPage:
    """One response, read as far as somebody asks; each part is computed on first use. *linked*: it has many links."""

    def __init__(self, status: int, headers: Mapping[Any, Any], body: bytes, title: str, *, linked: bool) -> None:
        self.headers = headers
        self.title = unquoted(title)
        self.is_refused = status in STATUSES and status != UNAVAILABLE
        self.status = status
        self.is_turned_away = status in TURNED_AWAY
        self.is_good = 200 <= status < 300
        self.refused = (status in STATUSES) + (status in OWN)
        self._linked = linked
        self._inner: Self | None = None
        self.source = body[:LINKED_BYTES] if linked else without_ways_home(without_listings(condensed(body)))

    def within(self, body: bytes) -> Self:
        """What this page, of the document *body*, is inside its site's design."""
        if self._inner is None:
            self._inner = type(self)(self.status, self.headers, unframed(body), self.title, linked=False)
        return self._inner

    @cached_property
    def text(self) -> str:
        most = CROWDED_BYTES if self._is_crowded else None
        return spelled_out(visible_text(self.source[:most].decode("utf-8", "replace")))

    @cached_property
    def spoken(self) -> str:
        """Its text in its own words."""
        return self.text if self.is_data else unquoted(self.text)

    @property
    def is_data(self) -> bool:
        """Whether it is JSON, to look at its beginning."""
        return _DATA.match(self.text) is not None

    @property
    def answers(self) -> bool:
        """Whether it has the keys that APIs give their errors by."""
        return any_in(ERROR_KEYS, self.text)

    @cached_property
    def headline(self) -> str:
        """Its first heading with the sentence that follows it."""
        return unquoted(spelled_out(headline(self.source)))

    @cached_property
    def heading(self) -> str:
        return unquoted(spelled_out(heading(self.source)))

    @cached_property
    def marked(self) -> tuple[Vendor, str] | None:
        """The first vendor whose mark the page bears, and the kind of page that it indicates."""
        if not MARKS.any_in(self.source):
            return None
        source = unquoted(self.source.decode("utf-8", "replace"), is_source=True).encode()
        return next(((vendor, kind) for vendor in VENDORS if (kind := vendor.kind(source))), None)

    @cached_property
    def traced(self) -> Vendor | None:
        if not TRACES.any_in(self.source):
            return None
        return next(vendor for vendor in VENDORS if vendor.trace.any_in(self.source))

    def sender(self) -> Vendor | None:
        """The vendor whose header alone says that this is no page."""
        for vendor in VENDORS:
            for name, values in vendor.decisive.items():
                if any(value.decode("latin-1") in values for value in values_of(self.headers, name)):
                    return vendor
        return None

    @cached_property
    def told(self) -> Vendor | None:
        said = list(names_told(self.headers))
        return next((vendor for vendor in VENDORS if any(any_in(vendor.told, one) for one in said)), None)

    @cached_property
    def states_data(self) -> bool:
        """Whether it states for machines what it is about, other than a website."""
        return states_data(self.source)

    @property
    def sells(self) -> bool:
        """Whether it shows a price."""
        return PRICE.search(self.text[:MAX_TEXT]) is not None

    @cached_property
    def has_own_form(self) -> bool:
        """Whether it has fields of a login, a sign-up or a letter: not one alone for who is kept out to hear more."""
        if OWN_FORM.search(self.source) is None:
            return False
        is_one = len(fields(self.source)) == 1 and b"password" not in self.source
        return not (is_one and (HINTS.any_in(self.headline) or REFUSES.any_in(self.headline)))

    @property
    def is_linked(self) -> bool:
        """Whether it leads anywhere."""
        return leads_on(self.source)

    @property
    def waits(self) -> bool:
        """Whether it only waits to be loaded again."""
        return reloads(self.source) and not self.is_linked

    @property
    def is_unindexed(self) -> bool:
        """Whether it asks not to be indexed."""
        return any_in(_UNINDEXED, self.source)

    @cached_property
    def is_short(self) -> bool:
        """Whether the page says little more than one thing."""
        return width(self.text) <= SHORT_TEXT

    @cached_property
    def is_empty(self) -> bool:
        return len(self.text) < NO_TEXT and len(self.source) < NO_PAGE_BYTES

    @cached_property
    def is_bare(self) -> bool:
        return (
            not self._linked and not self._is_crowded and (width(self.text) <= MAX_TEXT or prose(self.text) <= MAX_TEXT)
        )

    @cached_property
    def _is_crowded(self) -> bool:
        return len(self.source) > MOST_SOURCE or self.source.count(b"<") > MANY_TAGS
