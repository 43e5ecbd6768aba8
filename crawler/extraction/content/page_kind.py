"""The kind of page, as far as its main text depends on it, from its own statements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from crawler import urls
from crawler.extraction.content.passages import Passage
from crawler.extraction.tree.document import Document

Kind = Literal["article", "forum", "product", "shop", "other"]

SHOPS: Final = frozenset(("product", "shop"))
MANY_PRICES: Final = 5

PRICE: Final = re.compile(  # begins with a set of signs, so that others are passed over quickly
    r"[\d$€£¥](?:(?<=\D)\s?\d|(?<=\d)[\d.,]{0,12}\s?(?:€|£|USD|EUR|kr\b))"
)
_TYPE = re.compile(r"\"@type\"\s{0,9}:\s{0,9}\[?\s{0,9}\"([A-Za-z]{1,40})\"")
_THREAD_PATH = re.compile(
    r"/(?:threads?|topics?|questions|forums?|t|viewtopic|showthread|discussions?)[/.]", re.IGNORECASE
)
_FORUM_MARKS: Final = ('itemprop="text"', "itemprop='text'", "Discourse", "vBulletin", "phpBB", "XenForo", "data-xf")
_THREADS: Final = frozenset(("DiscussionForumPosting", "QAPage", "Question"))
_NO_THREADS: Final = frozenset(("FAQPage", "Product"))
_PRODUCTS: Final = frozenset(("Product", "ProductGroup"))
_LISTS: Final = frozenset(("ItemList", "CollectionPage"))
_ARTICLES: Final = frozenset(("Article", "NewsArticle", "BlogPosting", "TechArticle", "Recipe"))


def kind_of(document: Document, metas: dict[str, str], found: Sequence[Passage]) -> Kind:
    """By JSON-LD types, then og:type, then the number of prices; forums also by URL and software."""
    types = _types(document)
    stated = metas.get("og:type", "").lower()
    if (types & _THREADS and not types & _NO_THREADS) or _is_thread(document):
        return "forum"
    if (types & _PRODUCTS and not types & _LISTS) or stated in {"product", "og:product", "product.item"}:
        return "product"
    if types & _ARTICLES or stated == "article":
        return "article"
    prices = (each for each in found if PRICE.search(each.text[:400]))
    return "shop" if sum(1 for _ in zip(range(MANY_PRICES), prices, strict=False)) == MANY_PRICES else "other"


def _types(document: Document) -> set[str]:
    html = document.html
    scripts = (each for each in document.source.scripts if "ld+json" in each.attributes)
    return {name for each in scripts for name in _TYPE.findall(html, each.start, each.end)}


def _is_thread(document: Document) -> bool:
    path = urls.split(document.url).path if _THREAD_PATH.search(document.url) else ""
    return bool(_THREAD_PATH.search(path)) and any(mark in document.markup for mark in _FORUM_MARKS)
