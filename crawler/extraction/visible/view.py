"""How a page looks without a browser: its heading, and the context of each text, judged by tags and names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, Final, TypeVar

from selectolax.lexbor import LexborNode

from crawler import urls
from crawler.extraction.structured import opengraph
from crawler.extraction.tree import elements, names
from crawler.extraction.tree.document import Document, visible_texts
from crawler.extraction.tree.nodetext import ancestors, nodes_from, price_text, tag_ids, text_of, texts_before
from crawler.extraction.words import wording
from crawler.utils.lazy import cached_property

MAX_HEADING: Final = 400  # characters
SURE: Final = 0.6  # share of a heading's words in the page's title that leaves no doubt
ALIKE: Final = 0.3  # share of a heading's words in the page's title; less means the name of something else
MAX_NAME: Final = 100  # characters of a site's name
MIN_TITLE: Final = 8  # characters of a meaningful title; half as many if a character is a word

TESTED: Final = ("data-testid", "data-test", "data-test-id", "data-qa", "data-cy", "data-hook")  # names for tests
_NAMED_BY: Final = ("class", "id", *TESTED)
BEFORE, AFTER = 60, 500  # texts around the heading that may be about the product

# The context of an element; inherited by everything inside it.
OTHER: Final = names.OTHER
PAST: Final = 2  # struck through
LINK: Final = 4  # inside a link to another page
PRICE: Final = names.PRICE
CURRENT: Final = names.CURRENT
BUTTON: Final = names.BUTTON
HIDDEN: Final = names.HIDDEN
OLD: Final = names.OLD
CHOICE: Final = names.CHOICE
NET: Final = names.NET

_NEUTRAL: Final = tag_ids("body html")
_TAG_FLAGS: Final = {
    **dict.fromkeys(tag_ids("nav footer header aside dialog select"), OTHER),
    **dict.fromkeys(tag_ids("del s strike"), PAST),
    **dict.fromkeys(tag_ids("button"), BUTTON),
}
_A: Final = tag_ids("a")
_SHEETS: Final = tag_ids("aside dialog")
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
_HIDDEN_STYLE = re.compile(r"display:\s*none|visibility:\s*hidden")


R = TypeVar("R")


def class_and_id(attributes: Mapping[str, str | None]) -> str:
    return f"{attributes.get('class') or ''} {attributes.get('id') or ''}"


def named(attributes: Mapping[str, str | None]) -> str:
    """What an element with *attributes* is called: its classes, its id, its names for tests."""
    return " ".join(filter(None, (attributes.get(name) for name in _NAMED_BY)))


class View:
    """The visible side of one document. Built only if structured data leaves something open."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._flags: dict[int, int] = {}
        self._price_texts: dict[int, str] = {}
        self._looks: dict[int, str] = {}
        self._read: dict[Callable[[View], Any], Any] = {}

    @cached_property
    def texts(self) -> list[tuple[str, LexborNode]]:
        """The visible texts around the heading, each with its element; the first ones if there is no heading."""
        return self._window[0]

    @cached_property
    def heading_index(self) -> int:
        """The index in `texts` where the heading starts, or -1."""
        return self._window[1]

    @cached_property
    def numbers(self) -> list[int]:
        """Which of `texts` have a digit."""
        has_digit = _DIGIT.search
        return [index for index, (text, _) in enumerate(self.texts) if has_digit(text)]

    @cached_property
    def _window(self) -> tuple[list[tuple[str, LexborNode]], int]:
        heading = self.heading
        if heading is None:
            return list(islice(visible_texts(self.document.nodes()), AFTER)), -1
        texts = list(islice(visible_texts(texts_before(heading, 2 * BEFORE)), BEFORE))[::-1]
        place = len(texts)
        texts += islice(visible_texts(nodes_from(heading)), AFTER)
        inside = {heading.mem_id, *(node.mem_id for node in heading.css("*"))}
        return texts, place if place < len(texts) and texts[place][1].mem_id in inside else -1

    @cached_property
    def numbered(self) -> frozenset[int]:
        """The same, to ask whether one has."""
        return frozenset(self.numbers)

    def once(self, read: Callable[[View], R]) -> R:
        """The result of *read* on this page, cached."""
        if read not in self._read:
            self._read[read] = read(self)
        found: R = self._read[read]
        return found

    def look(self, node: LexborNode) -> str:
        """Tag and classes of an element."""
        if (known := self._looks.get(node.mem_id)) is None:
            known = self._looks[node.mem_id] = f"{node.tag}.{node.attributes.get('class')}"
        return known

    def price_text(self, node: LexborNode, limit: int) -> str:
        """`nodetext.price_text`, cached per element: adjacent prices look at the same neighbours."""
        if (known := self._price_texts.get(node.mem_id)) is None:
            known = self._price_texts[node.mem_id] = price_text(node, limit)
        return known

    @cached_property
    def lexicon(self) -> wording.Lexicon:
        """The words of the page's languages."""
        document = self.document
        return wording.lexicon(wording.languages_of(document.language_code, document.country))

    @cached_property
    def heading(self) -> LexborNode | None:
        """The element that names the product: of the h1s the one most like the page's title, else an h2.

        One with few words of the title gives way to one with all of them: it may be a recommended product's. An h2
        without any in a part that is about other products is none.
        """
        page = words_of(self.title)
        first, alike = None, None
        for tag in ("h1", "[itemprop=name]", "h2"):
            named = [
                (_likeness(words, page) - bool(self._raw_flags(node) & OTHER), len(words & page) / len(words), node)
                for node in (elements.of(self.document).h1s if tag == "h1" else self.document.tree.css(tag))[:50]
                if (words := words_of(text := text_of(node, MAX_HEADING))) and not self._is_logo(node, text)
            ]
            _, shared, node = max(named, key=lambda each: each[0], default=(0.0, 0.0, None))
            if node is not None and (shared >= (SURE if alike is None else 1.0) or not page):
                return node
            first = first or node
            alike = alike or (node if shared >= ALIKE else None)
        if alike is not None:
            return alike
        titled = self._titled()
        if titled is not None and not self._raw_flags(titled) & OTHER:
            return titled
        return None if first is None or (first.tag != "h1" and self._raw_flags(first) & OTHER) else first

    def _is_logo(self, node: LexborNode, text: str) -> bool:
        """Whether it is nothing but a link to the front page: some themes head each page with the site's name."""
        link = node.css_first("a[href]") if len(text) <= MAX_NAME else None
        if link is None or text_of(link) != text:
            return False
        target = self.document.absolute(link.attributes.get("href") or "")
        return target is not None and urls.is_front(target)

    @cached_property
    def title(self) -> str:
        """The page's title and og:title."""
        node = self.document.first("title")
        title = text_of(node, MAX_HEADING) if node is not None else ""
        shared = opengraph.metas(self.document).get("og:title", "")[:MAX_HEADING]
        return title if shared in title else f"{title} | {shared}"

    def _titled(self) -> LexborNode | None:
        """The element whose text is the longest part of the page's title, rather not a crumb or a menu's."""
        title = self.title
        parts = [
            (len(text), node)
            for text, node in self.document.texts
            if len(text) >= (MIN_TITLE if text.isascii() else MIN_TITLE // 2) and text in title
        ]
        likely = max(parts, key=lambda part: (part[0], not self._raw_flags(part[1]) & OTHER), default=None)
        return likely[1] if likely is not None else None

    @cached_property
    def _mask(self) -> int:
        """Removes flags that the heading itself has: they do not distinguish its neighbours."""
        return ~self._raw_flags(self.heading) if self.heading is not None else ~0

    def flags(self, node: LexborNode) -> int:
        """The context of *node*, as a sum of the constants above."""
        return self._raw_flags(node) & self._mask

    def is_sheet(self, node: LexborNode) -> bool:
        """Whether *node*, in a part that may be about other products, is in one that opens over the page instead."""
        return not any(_own_flags(each) & OTHER and not _opens(each) for each in ancestors(node))

    def _raw_flags(self, node: LexborNode) -> int:
        known = self._flags
        inside: list[tuple[int, LexborNode]] = []
        current: LexborNode | None = node
        value = 0
        while current is not None:
            identity = current.mem_id
            if identity in known:
                value = known[identity]
                break
            inside.append((identity, current))
            current = current.parent
        for identity, element in reversed(inside):
            value |= _own_flags(element)
            known[identity] = value
        return value


def _own_flags(node: LexborNode) -> int:
    tag = node.tag_id
    if tag in _NEUTRAL:
        return 0
    attributes = node.attributes
    value = _TAG_FLAGS.get(tag, 0)
    if not attributes:
        return value
    if len(attributes) == 1 and (classes := attributes.get("class")):  # most
        return value | names.flags(classes[:300])
    if tag in _A and (attributes.get("href") or "#")[0] not in "#j":
        value |= LINK
    if attributes.get("role") == "button":
        value |= BUTTON
    name = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"  # class_and_id: asked of every element
    if len(name) > 1:
        value |= names.flags(name[:300])
    style = attributes.get("style")
    if "hidden" in attributes or (style and _HIDDEN_STYLE.search(style)):
        value |= HIDDEN
    if style and "line-through" in style:
        value |= PAST
    return value


def _opens(node: LexborNode) -> bool:
    """Whether it is named as a part that opens over the page."""
    return node.tag_id in _SHEETS or names.is_sheet(class_and_id(node.attributes)[:300])


def words_of(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _likeness(words: set[str], page: set[str]) -> float:
    return len(words & page) / len(words) + 0.05 * min(len(words), 6)
