"""Which links of a page a product crawl follows: products, further pages of a list, and lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from crawler.caches import cached
from crawler.extraction import opengraph
from crawler.extraction.anchors import Anchor, anchors, of_elements
from crawler.extraction.document import Document
from crawler.policy.domain_values import LinkRule
from crawler.policy.domains import DomainRules
from crawler.urls import MAX_URL_LENGTH, same_site

MAX_LINKS = 5_000  # looked at on one page
_TRAP: Final = "trap"

# Each begins with the signs that its alternatives begin with: the search goes from one to the next, and not by letters.
_TRAPS = re.compile(
    r"[/?&.](?:(?<=/)(?:cart|basket|bag|checkout|log-?in|log-?out|sign-?(?:in|up|out)|register|(?:my-?)?account|wish-?list"
    r"|compare|search|auth|password|print|share|feed|rss|wp-admin|cgi-bin|warenkorb|panier|carrito|carrello|winkelwagen)"
    r"(?:[/.?]|$)"
    r"|(?<=[?&])(?:sort\w*|order(?:by)?|dir|view|mode|limit|per_?page|add-to-cart|add_to_wishlist|replytocom|print|share"
    r"|session\w*|sid|phpsessid|filter\w*|min_price|max_price|price)="
    r"|(?<=\.)(?:jpe?g|png|gif|webp|avif|svg|ico|css|js|json|xml|pdf|zip|gz|rar|mp[34]|avi|mov|docx?|xlsx?|pptx?|woff2?)"
    r"(?:\?|$))",
    re.IGNORECASE,
)
_PAGINATION = re.compile(
    r"[?&/_-](?:(?<=[?&])(?:page|paged|pag|pg|p|page_?(?:no|num|number|id)|pagina|seite|sida|side|strana|strona|start"
    r"|offset|curpage)=\d{1,4}(?:&|$)"
    r"|(?<=/)(?:page|pagina|seite|sida|strana|strona|p)[/_-]?\d{1,3}/?(?:\?|$)"
    r"|(?<=[_-])(?:page|seite)[-_]?\d{1,3}(?:\.html?)?/?(?:\?|$))",
    re.IGNORECASE,
)
_PRODUCT = re.compile(
    r"[/?&](?:(?<=/)(?:products?|prod|dp|pd|ip|itm|items?|goods|gp/product|produkte?|produits?|productos?|produtos?"
    r"|prodott[oi]|produs|artikel|article|artikl|tuote|vare|toode|prece|tovar|termek|urun|detail|details)/[^/?]+"
    r"|(?<=/)p/[^/?]*[a-z\d]{3}|(?<=[?&])(?:product_?id|pid|sku|item_?id|goods_?id)=\w+)",
    re.IGNORECASE,
)
_IDENTIFIED = re.compile(
    r"[-_/.,xX](?:(?<=[/-])[pP]-?\d{3,}|\d{5,}(?:[-.][a-zA-Z]{1,6}){0,2}/?(?:\?|$)"
    r"|(?<=/)(?:[^/?-]++-){3,}+[^/?-]*\d[^/?-]*\.[hH][tT][mM][lL]?(?:\?|$))"
)
_LISTING = re.compile(
    r"[/?&-](?:(?<=/)(?:c|cat|categor(?:y|ies|ia|ias|ie)|kategori(?:en?|a|e|er|ja)?|catalog(?:ue|o)?|collections?"
    r"|departments?|browse|brands?|marken?|marques?|marcas?|shop|store|products|produkte|produits|productos|produtos"
    r"|prodotti|gp|l|list|plp|b|genre|outlet|sale|new|offers?|deals)(?:/[^?]*)?(?:\?|$)"
    r"|(?<=[/-])c-?\d{3,}(?:[/.?-]|$)|(?<=[?&])(?:cat|category|cid|cat_?id)=\w+)",
    re.IGNORECASE,
)
# In this order: a word that says what a page is counts before an identifier, which lists may have too.
_DEFAULTS: Final = (
    ("pagination", _PAGINATION),
    ("product", _PRODUCT),
    ("listing", _LISTING),
    ("product", _IDENTIFIED),
)


@dataclass(frozen=True, slots=True)
class Links:
    """Absolute URLs without fragment, each once and under one kind only, in document order."""

    product: tuple[str, ...] = ()
    pagination: tuple[str, ...] = ()
    listing: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[str]:
        """All of them, pages of lists first."""
        return iter(self.pagination + self.product + self.listing)


def links(html: str | bytes | Document, url: str, rules: DomainRules | None = None) -> Links:
    """The links of the page at *url* that lead on within its registrable domain. Raises on no input.

    When the rules have any of `product`, `pagination` and `follow`, these alone decide, in this order: a link
    is taken when a pattern is found in its absolute URL, or when the CSS selects it or something around it.
    Otherwise the general default decides by the link's URL: further pages (`?page=2`, `/page/2`, rel=next),
    then products (`/product/…`, `/p/…`, an identifier at the end), then lists (`/c/…`, `/category/…`); carts,
    accounts, searches, sorted views and files are left out. `exclude` removes links in both cases.

    A page that says `nofollow` to robots has no links, and a link with rel=nofollow is none, unless the rules
    set `obey_nofollow = false`. A link to the page itself is none.
    """
    document = html if isinstance(html, Document) else Document(html, url)
    if document.is_json:
        return Links()
    rules = rules or DomainRules()
    if rules.obey_nofollow and _forbids(document):
        return Links()
    kinds: dict[str, list[str]] = {"product": [], "pagination": [], "listing": []}
    for kind, target in _chosen(document, rules) if _has_own(rules) else _guessed(document, rules):
        kinds[kind].append(target)
    return Links(**{kind: tuple(targets) for kind, targets in kinds.items()})


def _has_own(rules: DomainRules) -> bool:
    return bool(rules.product or rules.pagination or rules.follow)


def _forbids(document: Document) -> bool:
    if "nofollow" not in document.head.lower() and "none" not in document.head.lower():
        return False
    words = re.split(r"[\s,]+", opengraph.metas(document).get("robots", "").lower())
    return "nofollow" in words or "none" in words


def _guessed(document: Document, rules: DomainRules) -> Iterator[tuple[str, str]]:
    """By their looks."""
    for target, relations in _targets(document, anchors(document, following=True), rules):
        kind = _kind(target[max(0, target.find("/", 8)) :])  # host names are not to look like paths
        if kind != _TRAP and "next" in relations:
            yield "pagination", target
        elif kind and kind != _TRAP:
            yield kind, target


@cached(32_768, longest=256)  # the pages of a site share most of their links
def _kind(path: str) -> str | None:
    """The kind of link that a path and query look like."""
    if _TRAPS.search(path):
        return _TRAP
    return next((kind for kind, pattern in _DEFAULTS if pattern.search(path)), None)


def _chosen(document: Document, rules: DomainRules) -> Iterator[tuple[str, str]]:
    """By the rules, each link under the first kind that takes it."""
    seen: set[str] = set()
    for kind, choices in (("product", rules.product), ("pagination", rules.pagination), ("listing", rules.follow)):
        for rule in choices:
            for target, _ in _targets(document, _selected(document, rule), rules):
                if target not in seen and (rule.pattern is None or rule.pattern.search(target)):
                    seen.add(target)
                    yield kind, target


def _selected(document: Document, rule: LinkRule) -> Iterable[Anchor]:
    if rule.css is None:
        return anchors(document)
    return of_elements(
        link for node in document.tree.css(rule.css) for link in node.css("a[href],area[href],link[href]")
    )


def _targets(document: Document, found: Iterable[Anchor], rules: DomainRules) -> Iterator[tuple[str, str]]:
    """(absolute URL, rel) of each link that may be followed, once."""
    here = document.url.partition("#")[0]
    site = f"{document.origin}/"
    written: set[str | None] = set()
    seen = {here}
    for href, relations in islice(found, MAX_LINKS):
        if href in written or ("nofollow" in relations and rules.obey_nofollow):
            continue
        written.add(href)
        target = document.absolute(href)
        if target is None or target in seen or len(target) > MAX_URL_LENGTH:
            continue
        seen.add(target)
        if not target.startswith(site) and not same_site(target, here):
            continue
        if not any(pattern.search(target) for pattern in rules.exclude):
            yield target, relations
