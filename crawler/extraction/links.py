"""Which links of a page a product crawl follows: products, next pages of a list, and lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import Final

from crawler.extraction.anchors import Anchor, anchors, of_elements
from crawler.extraction.structured import opengraph
from crawler.extraction.tree.base_url import DOUBLE, NO_PAGES
from crawler.extraction.tree.document import Document
from crawler.extraction.tree.names import word_set
from crawler.extraction.words.url_identifiers import ENDED
from crawler.policy.rules.domain_values import LinkRule
from crawler.policy.rules.domains import NO_RULES, DomainRules
from crawler.policy.rules.patterns import Pattern
from crawler.urls import MAX_URL_LENGTH, same_site
from crawler.utils.caches import cached

MAX_LINKS = 5_000  # examined per page
MANY_LINKS: Final = "many_links"  # how a page with more is flagged, and counted among what is cut
LONGEST_PAGE: Final = 20  # characters of a page number at the end of a path
_TRAP: Final = "trap"


# Most links are classified by the words between slashes, at a third of the cost of patterns.
_TRAP_WORDS: Final = word_set(
    "cart basket bag checkout login log-in logout log-out signin sign-in signup sign-up signout sign-out register "
    "account myaccount my-account wishlist wish-list compare search auth password print share feed rss wp-admin "
    "cgi-bin warenkorb panier carrito carrello winkelwagen"
)
_FILES: Final = word_set(
    "jpg jpeg png gif webp avif svg ico css js json xml pdf zip gz rar mp3 mp4 avi mov doc docx xls xlsx ppt pptx "
    "woff woff2"
)
_PRODUCT_WORDS: Final = word_set(
    "product products prod dp pd ip itm item items goods produkt produkte produit produits producto productos produto "
    "produtos prodotto prodotti produs artikel article artikl tuote vare toode prece tovar termek urun detail details"
)
_LIST_WORDS: Final = word_set(
    "c cat category categories categoria categorias categorie kategori kategorie kategorien kategoria kategorija "
    "kategorier kategorije catalog catalogue catalogo collection collections department departments browse brand "
    "brands marke marken marque marques marca marcas shop store products produkte produits productos produtos "
    "prodotti gp l list plp b genre outlet sale new offer offers deal deals"
)
_QUERY_TRAPS = re.compile(
    r"[?&](?:sort\w*|order(?:by)?|dir|view|mode|limit|per_?page|add-to-cart|add_to_wishlist|replytocom|print|share"
    r"|session\w*|sid|phpsessid|filter\w*|min_price|max_price|price)="
)
_QUERY_PAGES = re.compile(
    r"[?&](?:page|paged|pag|pg|p|page_?(?:no|num|number|id)|pagina|seite|sida|side|strana|strona|start|offset|curpage)=\d{1,4}(?:&|$)"
)
_QUERY_PRODUCTS = re.compile(r"[?&](?:product_?id|pid|sku|item_?id|goods_?id)=\w+")
_QUERY_LISTS = re.compile(r"[?&](?:cat|category|cid|cat_?id)=\w+")
_PAGE = re.compile(
    r"/(?:page|pagina|seite|sida|strana|strona|p)[/_-]?\d{1,3}/?$|[-_](?:page|seite)[-_]?\d{1,3}(?:\.html?)?/?$"
)
_P = re.compile(r"/p/[^/]*[a-z\d]{3}")
_IDENTIFIED = re.compile(
    r"[-_/.,x](?:(?<=[/-])p-?\d{3,}|\d{5,}(?:[-.][a-z]{1,6}){0,2}/?$|(?<=/)(?:[^/-]++-){3,}+[^/-]*\d[^/-]*\.html?$)"
)
_LIST_ID = re.compile(r"[/-]c-?\d{3,}(?:[/.-]|$)")
_DIGIT = re.compile(r"\d")
_SEPARATORS = re.compile(r"[\s,]+")
_FORBIDDING = re.compile(r"[nN][oO](?:[nN][eE]|[fF][oO][lL][lL][oO][wW])")
_ABSOLUTE = re.compile(r"(?:https?:)?//[a-z\d][a-z\d.-]*+(?::\d{1,5}+)?+(?=[/?#]|$)")


@dataclass(frozen=True, slots=True)
class Links:
    """Absolute URLs without fragment, each once and under one kind only, in document order."""

    product: tuple[str, ...] = ()
    pagination: tuple[str, ...] = ()
    listing: tuple[str, ...] = ()
    nofollow: bool = field(default=False, compare=False)  # the page asks to follow none
    cut: bool = field(default=False, compare=False)  # it has more than MAX_LINKS

    def __iter__(self) -> Iterator[str]:
        """All links, pagination first."""
        return iter(self.pagination + self.product + self.listing)


def links(html: str | bytes | Document, url: str, rules: DomainRules | None = None, *, excluding: bool = True) -> Links:
    """The links to follow from the page at *url* within its registrable domain. Never raises.

    If the rules have any of `product`, `pagination` and `follow`, only these decide, in this order: a link is taken if
    a pattern matches its absolute URL, or if the CSS selects it or something around it. Otherwise the general default
    decides by the link's URL: next pages (`?page=2`, `/page/2`, rel=next), then products (`/product/…`, `/p/…`, an
    identifier at the end), then lists (`/c/…`, `/category/…`); carts, accounts, searches, sorted views and files are
    left out. `exclude` removes links in both cases, unless *excluding* is False: where they become requests the scope
    cuts them, which is counted.

    A page whose robots meta says `nofollow` has no links, and links with rel=nofollow are skipped, unless the rules set
    `obey_nofollow = false`. Links to the page itself are skipped.
    """
    document = html if isinstance(html, Document) else Document(html, url)
    if document.is_json:
        return Links()
    rules = rules or NO_RULES
    if rules.obey_nofollow and _forbids(document):
        return Links(nofollow=True)
    if not excluding and rules.exclude:
        rules = replace(rules, exclude=())
    kinds: dict[str, list[str]] = {"product": [], "pagination": [], "listing": []}
    most = _Most()
    for kind, target in _chosen(document, rules, most) if _has_own(rules) else _guessed(document, rules, most):
        kinds[kind].append(target)
    return Links(tuple(kinds["product"]), tuple(kinds["pagination"]), tuple(kinds["listing"]), cut=most.is_cut)


class _Most:
    """Lets MAX_LINKS of the links pass that it is called with, and knows whether there were more."""

    is_cut = False

    def __call__(self, found: Iterable[Anchor]) -> list[Anchor]:
        passed = list(islice(found, MAX_LINKS + 1))
        self.is_cut = self.is_cut or len(passed) > MAX_LINKS
        return passed[:MAX_LINKS]


def _has_own(rules: DomainRules) -> bool:
    return bool(rules.product or rules.pagination or rules.follow)


def _forbids(document: Document) -> bool:
    if not (document.has_tree or _FORBIDDING.search(document.head)):  # who asks for a tree reads the metas anyway
        return False
    robots = opengraph.metas(document).get("robots")
    words = _SEPARATORS.split(robots.lower()) if robots else ()
    return "nofollow" in words or "none" in words


def _guessed(document: Document, rules: DomainRules, most: _Most) -> Iterator[tuple[str, str]]:
    """By the form of their URLs."""
    seen, excluded = {document.url.partition("#")[0]}, rules.exclude
    for root, path, relations in _followed(document, most(anchors(document, following=True)), rules):
        kind = _kind(path)  # so that host names are not mistaken for paths
        if relations and kind != _TRAP and "next" in relations:
            kind = "pagination"
        if kind is None or kind == _TRAP:  # most links
            continue
        target = root + path
        if target not in seen and len(target) <= MAX_URL_LENGTH and not (excluded and _is_excluded(target, excluded)):
            seen.add(target)
            yield kind, target


@cached(32_768, longest=256)  # pages of a site share most of their links
def _kind(path: str) -> str | None:
    """The kind of link, by its path and query.

    Words that name the kind of page count before identifiers, which lists may have too.
    """
    path, mark, query = path.lower().partition("?")
    query = mark + query
    segments = path.split("/")[1:]
    if _is_trap(segments, query):
        return _TRAP
    numbered = _DIGIT.search(path) is not None
    if (query and _QUERY_PAGES.search(query)) or (numbered and _PAGE.search(path[-LONGEST_PAGE:])):
        return "pagination"
    if _is_product(path, segments, query):
        return "product"
    if not _LIST_WORDS.isdisjoint(segments) or (query and _QUERY_LISTS.search(query)):
        return "listing"
    if not numbered:
        return None
    return "listing" if _LIST_ID.search(path) else "product" if _IDENTIFIED.search(path) else None


def _is_trap(segments: list[str], query: str) -> bool:
    last, _, ending = segments[-1].rpartition(".") if segments else ("", "", "")
    if not _TRAP_WORDS.isdisjoint(segments) or (last and (ending in _FILES or last.partition(".")[0] in _TRAP_WORDS)):
        return True
    return bool(query and (_QUERY_TRAPS.search(query) or query.rpartition(".")[2] in _FILES))


def _is_product(path: str, segments: list[str], query: str) -> bool:
    """Whether a word for a product precedes the last part."""
    if not _PRODUCT_WORDS.isdisjoint(segments[:-1]) and any(
        following and word in _PRODUCT_WORDS for word, following in pairwise(segments)
    ):
        return True
    if ("/p/" in path and _P.search(path)) or (path.endswith("/p") and ENDED.match(path)):
        return True
    return ("/gp/product/" in path and segments[-1] != "") or (
        query != "" and _QUERY_PRODUCTS.search(query) is not None
    )


def _chosen(document: Document, rules: DomainRules, most: _Most) -> Iterator[tuple[str, str]]:
    """By the rules, each link under the first kind that matches."""
    seen = {document.url.partition("#")[0]}
    for kind, choices in (("product", rules.product), ("pagination", rules.pagination), ("listing", rules.follow)):
        for rule in choices:
            for root, path, _ in _followed(document, most(_selected(document, rule)), rules):
                target = root + path
                if target in seen or len(target) > MAX_URL_LENGTH or _is_excluded(target, rules.exclude):
                    continue
                if rule.pattern is None or rule.pattern.search(target):
                    seen.add(target)
                    yield kind, target


def _selected(document: Document, rule: LinkRule) -> Iterable[Anchor]:
    if rule.css is None:
        return anchors(document)
    return of_elements(
        link for node in document.tree.css(rule.css) for link in node.css("a[href],area[href],link[href]")
    )


def _is_excluded(target: str, excluded: Iterable[Pattern]) -> bool:
    return any(pattern.search(target) for pattern in excluded)


def _followed(document: Document, found: Iterable[Anchor], rules: DomainRules) -> Iterator[tuple[str, str, str]]:
    """(scheme and host, path with the query, rel) of the links within the page's site that may be followed.

    Each as it is written once, and again where it is called the next page. What `BaseUrl.absolute` does with most of
    them is repeated here: there are hundreds.
    """
    base, obeys = document.base, rules.obey_nofollow
    origin, own, beside, start = base.origin, base.own, base.beside, len(base.origin)
    is_root, is_itself = base.root == origin != "", base.url == document.url
    known: set[str] = set()
    for href, relations in found:
        if not href or (relations and obeys and "nofollow" in relations):
            continue
        if href in known and not (relations and "next" in relations):
            continue
        known.add(href)
        if is_root and href[0] == "/" and href[1:2] not in DOUBLE and "/." not in href:
            yield origin, (href.partition("#")[0] if "#" in href else href).rstrip(), relations
        elif href.startswith(own):
            yield origin, href[start:].partition("#")[0].rstrip(), relations
        elif (is_itself and href[0] == "#") or href.startswith(NO_PAGES):
            continue
        elif href[:4] != "http" and (near := beside(href)) is not None:
            yield origin, near[start:], relations
        elif not _is_elsewhere(_start(href), origin):
            target = base.absolute(href)
            if target and (target.startswith(own) or same_site(target, document.url)):
                root = max(0, target.find("/", 8))
                yield target[:root], target[root:], relations


@cached(4_096)  # the pages of a site link to the same ones
def _is_elsewhere(start: str, origin: str) -> bool:
    """Whether a link that begins with *start*, up to the slash behind its authority, is certainly of another site than
    *origin*."""
    absolute = _ABSOLUTE.match(start)
    return absolute is not None and not same_site(absolute[0], origin)


def _start(href: str) -> str:
    end = href.find("/", 8)
    return href if end < 0 else href[:end]
