"""How a page looks without a browser: its heading, and what each text stands in, judged by tags and names."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from selectolax.lexbor import LexborNode

from crawler.caches import cached
from crawler.extraction import wording
from crawler.extraction.document import Document
from crawler.extraction.nodetext import text_of

MAX_HEADING: Final = 400  # characters
MIN_TITLE: Final = 8  # characters that name something; half as many where a character is a word

# What an element stands in; inherited by everything inside it.
OTHER: Final = 1  # related products, menus, carts, reviews, pop-ups: not the product itself
PAST: Final = 2  # struck through, or named as an old price
LINK: Final = 4  # inside a link to another page
PRICE: Final = 8  # named as a price
CURRENT: Final = 16  # named as the price asked now
BUTTON: Final = 32  # inside something to press
HIDDEN: Final = 64  # not shown

_OTHER_TAGS: Final = frozenset(("nav", "footer", "header", "aside", "dialog", "select"))
_PAST_TAGS: Final = frozenset(("del", "s", "strike"))
_OTHER_NAME = re.compile(
    r"related|recommend|similar|cross-?_?sell|up-?_?sell|also|recent|last-?viewed|carousel|swiper|slick|slider|owl"
    r"|accessor|sponsor|advert|suggest|best-?sell|mini-?_?cart|cart-?_?(content|flyout|popup|drop|summary|modal)|popup"
    r"|\bmodal|tooltip|overlay|cookie|newsletter|wish|\bcompare\b|bundle|review|comment|\bmenu|\bnav\b|navbar|breadcrumb"
    r"|\bfooter|\bheader\b|site-?header|page-?header|top-?bar|history|together|faq|question"
)
_PAST_NAME = re.compile(
    r"(old|was|original|regular|list|before|strike|crossed|previous|base|rrp|msrp|retail|compare|initial|full|uvp|statt"
    r"|antes|barre|vecchi|viejo)[-_]?(price|preis|prix|precio|preco|prezzo)|price[-_]*(old|was|original|before|strike"
    r"|crossed|previous|list|rrp|msrp|regular|compare|initial)|strike|line-?through|\bold\b|\bwas\b|msrp|crossed"
)
_PRICE_NAME = re.compile(
    r"price|preis|prix|prec[ií]o|pre[cç]o|prezzo|prijs|\bcen[ay]\b|\bpris\b|hinta|amount|cost|מחיר"
)
_CURRENT_NAME = re.compile(
    r"(sale|current|now|final|special|our|offer|actual|main|buy|deal|new|promo\w*|discounted|today)[-_ ]*(price|preis"
    r"|prix|amount)|price[-_ ]*(sale|current|now|final|special|our|offer|actual|main|buy|new|value|promo)"
)
_BUTTON_NAME = re.compile(r"\bbtn|button|add-?_?to-?_?(cart|basket|bag)|buy(?!er)")
_HIDDEN_STYLE = re.compile(r"display:\s*none|visibility:\s*hidden")


class View:
    """The visible side of one document. Built only when structured data leaves something open."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._flags: dict[int, int] = {}

    @property
    def texts(self) -> list[tuple[str, LexborNode]]:
        return self.document.texts

    @cached_property
    def lexicon(self) -> wording.Lexicon:
        """The words of the page's languages."""
        document = self.document
        return wording.lexicon(wording.languages_of(document.language[:2], document.country))

    @cached_property
    def heading(self) -> LexborNode | None:
        """The element that names the product: of the h1s the one most like the page's title, else an h2."""
        page = _words(self._page_title)
        for tag in ("h1", "[itemprop=name]", "h2"):
            named = [
                (words, node)
                for node in self.document.tree.css(tag)[:50]
                if (words := _words(text_of(node, MAX_HEADING)))
            ]
            if named:
                return max(named, key=lambda pair: _likeness(pair[0], page) - bool(self._raw_flags(pair[1]) & OTHER))[1]
        return self._titled()

    @cached_property
    def _page_title(self) -> str:
        node = self.document.first("title")
        return text_of(node, MAX_HEADING) if node is not None else ""

    def _titled(self) -> LexborNode | None:
        """The element with the longest text that is a part of the page's title."""
        title = self._page_title
        parts = [
            (len(text), node)
            for text, node in self.texts
            if len(text) >= (MIN_TITLE if text.isascii() else MIN_TITLE // 2) and text in title
        ]
        return max(parts, key=lambda part: part[0])[1] if parts else None

    @cached_property
    def heading_index(self) -> int:
        """Where in `texts` the heading begins, or -1."""
        if self.heading is None:
            return -1
        inside = {self.heading.mem_id} | {node.mem_id for node in self.heading.css("*")}
        return next((i for i, (_, node) in enumerate(self.texts) if node.mem_id in inside), -1)

    @cached_property
    def _mask(self) -> int:
        """Flags that the heading itself has say nothing about what stands beside it."""
        return ~self._raw_flags(self.heading) if self.heading is not None else ~0

    def flags(self, node: LexborNode) -> int:
        """What *node* stands in, as a sum of the constants above."""
        return self._raw_flags(node) & self._mask

    def _raw_flags(self, node: LexborNode) -> int:
        chain: list[LexborNode] = []
        current: LexborNode | None = node
        value = 0
        while current is not None:
            known = self._flags.get(current.mem_id)
            if known is not None:
                value = known
                break
            chain.append(current)
            current = current.parent
        for element in reversed(chain):
            value |= _own_flags(element)
            self._flags[element.mem_id] = value
        return value


def _own_flags(node: LexborNode) -> int:
    tag = node.tag or ""
    if tag in ("body", "html", "-document"):
        return 0
    attributes = node.attributes
    value = OTHER if tag in _OTHER_TAGS else PAST if tag in _PAST_TAGS else 0
    if tag == "a" and (attributes.get("href") or "#")[0] not in "#j":
        value |= LINK
    if tag == "button" or attributes.get("role") == "button":
        value |= BUTTON
    name = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower()
    if len(name) > 1:
        value |= _named_flags(name[:300])
    style = attributes.get("style")
    if "hidden" in attributes or (style and _HIDDEN_STYLE.search(style)):
        value |= HIDDEN
    return value


@cached(16_384)  # a site's pages share their names
def _named_flags(name: str) -> int:
    value = 0
    if _OTHER_NAME.search(name):
        value |= OTHER
    if _PRICE_NAME.search(name):
        value |= PRICE | (CURRENT if _CURRENT_NAME.search(name) else 0)
    if _PAST_NAME.search(name):
        value |= PAST
    if _BUTTON_NAME.search(name):
        value |= BUTTON
    return value


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _likeness(words: set[str], page: set[str]) -> float:
    return len(words & page) / len(words) + 0.05 * min(len(words), 6)
