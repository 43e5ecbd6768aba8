"""Who has written a page, by JSON-LD, meta elements, or what is marked as a byline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from selectolax.lexbor import LexborNode

from crawler.extraction.content.marks import BITS, bits_of
from crawler.extraction.content.page_kind import Kind
from crawler.extraction.structured import site_names
from crawler.extraction.tree.document import Document
from crawler.extraction.tree.nodetext import around, text_of
from crawler.extraction.words import values
from crawler.utils.entities import unescape

LONGEST_NAME: Final = 100  # characters
MANY_AUTHORS: Final = 10
MANY_BYLINES: Final = 10
LEVELS: Final = 8  # of elements around a byline whose names are read

_COMMENTS: Final = BITS["comm"]
_OF_COMMENTS: Final = _COMMENTS | BITS["meta"]  # a row above a text that says how many there are has both

_AUTHORS: Final = str.split(
    """
    author article:author parsely-author dc.creator dcterms.creator dc.contributor sailthru.author byl
    citation_author twitter:creator
    """
)
_BY = re.compile(
    r"^\W*(?:(?:written|posted|published|reviewed|edited|words?|text)\s+)?(?:by|von|par|por|di|av|door)\b\W*"
    r"|^\W*(?:recipe )?(?:author|autor(?:in|ka|es)?|auteurs?|autrice|autore|författare|автор|作者|著者|저자)[:：]\s*",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"https?:|www\.|@[\w-]+\.|[{}<>|\\]|^(?:admin|administrator|author|unknown|editor|null|undefined)$", re.IGNORECASE
)
# Selectors, each with one for what is in such an element: `.byline a` would climb the whole tree from each link.
_BYLINES: Final = (
    ("[itemprop~=author]", "[itemprop=name]"), ("[itemprop=author]", ""), ("a[rel~=author]", ""), (".author-name", ""),
    (".byline__name", ""), (".post-author", ""), (".entry-author", ""), (".byline", "a"), (".author", "a"),
    (".byline", ""), (".author", ""),
)  # fmt: skip
_ANY_BYLINE: Final = (
    "[itemprop~=author],[rel~=author],[class*=author],[class*=byline]"  # what the others have in common
)


def author(document: Document, metas: Mapping[str, str], works: Sequence[dict[str, Any]], kind: Kind) -> str | None:
    """The first author that is stated or shown, not the site itself if anybody else is."""
    first: str | None = None
    for name in _authors(document, metas, works, kind):
        is_more = first is not None and any(map(str.isdigit, name))  # such as the time of a comment
        if not (is_more or site_names.is_site(name, document)):
            return name
        first = first or name
    return first


def _authors(
    document: Document, metas: Mapping[str, str], works: Sequence[dict[str, Any]], kind: Kind
) -> Iterator[str]:
    for work in works:
        if names := _names(work.get("author") or work.get("creator")):
            yield ", ".join(names)
    for name in _AUTHORS if kind != "forum" else ():
        if (value := _name(metas.get(name, ""))) and not value.startswith("@"):
            yield value
    if kind in {"product", "shop"} or document.first(_ANY_BYLINE) is None:
        return
    for css, inner in _BYLINES:
        node = _byline(document, css, inner, commented=kind == "forum")
        if node is not None and (value := _name(text_of(node, 300))):
            yield value


def _byline(document: Document, css: str, inner: str, *, commented: bool) -> LexborNode | None:
    """The first element of *css*, or the first of *inner* in one of them; in comments only if they are the page."""
    nodes = document.tree.css(css)[:MANY_BYLINES]
    found = (node.css_first(inner) for node in nodes) if inner else nodes
    named = (node for node in found if node is not None)
    return next((node for node in named if commented or not _is_in_comments(document, node)), None)


def _is_in_comments(document: Document, node: LexborNode) -> bool:
    """Whether *node* is in what readers say of the page, by the names of the elements around it."""
    named = (each for each in around(node, LEVELS) if bits_of(each.attributes) & _OF_COMMENTS == _COMMENTS)
    return any(not _is_headed(document, each) for each in named)


def _is_headed(document: Document, element: LexborNode) -> bool:
    """Whether the page's own heading is in *element*: then it is the page, which is open for comments."""
    if element.css_first("h1") is not None:
        return True
    title = " ".join(document.written_title.split())
    return any(
        heading and heading in title for heading in (text_of(h, 300) for h in element.css("h2,h3")[:MANY_BYLINES])
    )


def _names(value: Any) -> list[str]:
    names: list[str] = []
    for each in (value if isinstance(value, list) else [value])[:MANY_AUTHORS]:
        stated = each.get("name") if isinstance(each, dict) else each
        stated = stated[0] if isinstance(stated, list) and stated else stated
        name = _name(stated) if isinstance(stated, str) else ""
        if name and name not in names:
            names.append(name)
    return names


def _name(text: str) -> str:
    """*text* as a name, without that of a site behind it (`Ann Lee | Kitchen Notes`), or ""."""
    written = " ".join(unescape(values.paired(text[: 4 * LONGEST_NAME])).split()).partition(" | ")[0]
    name = _BY.sub("", written).strip(" ,;:–—-")
    return name if 1 < len(name) <= LONGEST_NAME and len(name.split()) <= 12 and not _NO_NAME.search(name) else ""
