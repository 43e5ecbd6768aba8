"""A page's metadata: title, author, date and the like. Cheap sources first, visible text last, nothing guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from typing import Any, Final

from crawler.extraction.content import authors, dates
from crawler.extraction.content.marks import BITS, READING
from crawler.extraction.content.page_kind import Kind
from crawler.extraction.content.passages import Passage
from crawler.extraction.structured import jsonld, site_names
from crawler.extraction.structured.site_names import squeezed
from crawler.extraction.tree.document import Document
from crawler.extraction.tree.nodetext import text_of
from crawler.extraction.words.counting import WORD

MAX_NODES: Final = 2_000  # of JSON-LD, examined

_WORKS: Final = frozenset(
    str.split(
        """
    Article NewsArticle BlogPosting TechArticle Report Recipe ScholarlyArticle DiscussionForumPosting QAPage
    Question WebPage SocialMediaPosting LiveBlogPosting AnalysisNewsArticle OpinionNewsArticle ReviewNewsArticle
    Review VideoObject Course Event JobPosting CreativeWork Book
    """
    )
)
_TITLES: Final = ("og:title", "twitter:title", "dc.title", "citation_title")
_DETAILS: Final = {
    "sitename": ("og:site_name", "application-name"),
    "description": ("description", "og:description", "twitter:description", "dc.description"),
    "image": ("og:image", "og:image:secure_url", "twitter:image"),
    "pagetype": ("og:type",),
    "tags": ("keywords", "article:tag", "news_keywords"),
    "categories": ("article:section", "category"),
}
_SEPARATOR: Final = re.compile(r"\s+[|–—·•»«:/-]\s+|\s*[|｜»]\s*")
_LISTS: Final = frozenset(READING["lists"].split())
_HEADER: Final = BITS["header"] | BITS["nav"]
_HEADINGS: Final = frozenset(("h1", "h2", "h3"))
_OWN: Final = BITS["main"] | BITS["article"]


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts; `published` is midnight UTC of the stated day."""

    title: str | None
    author: str | None
    published: datetime | None
    details: dict[str, Any]


def facts(document: Document, metas: Mapping[str, str], kind: Kind, found: Sequence[Passage], today: date) -> Facts:
    """The facts of *document*; a date after *today* is ignored."""
    works = list(_works(document))
    return Facts(
        title=_title(document, metas, found),
        author=authors.author(document, metas, works, kind, found),
        published=dates.published(document, metas, works, kind, found, today),
        details=_details(document, metas),
    )


def _works(document: Document) -> Iterator[dict[str, Any]]:
    """JSON-LD objects about the page and its content: articles before web pages."""
    nodes = list(typed_nodes(jsonld.blocks(document.html, document.source.scripts)))
    yield from (node for node in nodes if _types(node) & _WORKS and "WebPage" not in _types(node))
    yield from (node for node in nodes if "WebPage" in _types(node))


def typed_nodes(blocks: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The objects with a type in JSON-LD *blocks*, outermost first, the first MAX_NODES."""
    return islice(_nodes([*blocks]), MAX_NODES)


def _nodes(stack: list[Any]) -> Iterator[dict[str, Any]]:
    seen = 0
    while seen < len(stack) < 4 * MAX_NODES:
        value = stack[seen]
        seen += 1
        if isinstance(value, list):
            stack.extend(value[:MAX_NODES])
        elif isinstance(value, dict):
            if "@type" in value:
                yield value
            stack.extend(
                each
                for key in ("@graph", "mainEntity", "mainEntityOfPage")
                if isinstance(each := value.get(key), (dict, list))
            )


def _types(node: Mapping[str, Any]) -> set[str]:
    types = node.get("@type")
    return {each for each in (types if isinstance(types, list) else [types]) if isinstance(each, str)}


def _title(document: Document, metas: Mapping[str, str], found: Sequence[Passage]) -> str | None:
    """The heading, if <title> or og:title confirms it; else these without the site's name."""
    node = document.first("title:not(svg *)")  # which an icon has, too
    written = text_of(node, 1_000) if node is not None else ""
    stated = next((" ".join(metas[name].split()) for name in _TITLES if metas.get(name)), "")
    site = " ".join(metas.get("og:site_name", "").split())
    if heading := _below_a_name(found, _SEPARATOR.split(" ".join(written.split())), site):
        return heading
    known = set(WORD.findall(f"{written} {stated}".lower()))
    headings = [each.text for each in found if each.box.tag == "h1" and len(each.text) <= 300][:5]
    for heading in headings:
        words = set(WORD.findall(heading.lower()))
        if words and squeezed(heading) != squeezed(site) and 2 * len(words & known) >= len(words):
            return _without_label(site_names.without_site(heading, document) if site else heading, known)
    if len(headings) == 1 and len(WORD.findall(headings[0])) > 1:
        return headings[0]
    return _bare(stated or written, site) or _bare(written, site) or None


def _without_label(heading: str, known: set[str]) -> str:
    """*heading* without the label of a list that has no *known* word of the title: `Category: x`."""
    label, _, name = heading.partition(": ")
    words = set(WORD.findall(name.lower()))
    return name if words and words <= known and label.lower() in _LISTS - known else heading


def _below_a_name(found: Sequence[Passage], parts: Sequence[str], site: str) -> str | None:
    """The heading with the words of the first of the title's *parts* below another h1, of a site, a book or a forum.

    No prose stands between the two. An h2 or h3 only below one outside of the page's own part, in
    its header or called as the title ends: others are the page's own, and the h2 is of a part of it.
    """
    below, wanted, last = set[str](), parts[0].lower(), parts[-1].lower()
    for each in found if wanted != site.lower() else ():
        if each.box.tag in _HEADINGS:
            text = each.text.lower()
            if each.box.tag in below and text == wanted:
                return each.text
            if each.box.tag == "h1":
                is_name = not each.around & _OWN and (each.around & _HEADER or text == last != wanted)
                below |= _HEADINGS if is_name else {"h1"}
            if text == wanted:
                return None
        elif below and each.is_prose:
            return None
    return None


def _bare(title: str, site: str) -> str:
    """*title* without the site's name at its end or start."""
    parts = _SEPARATOR.split(title)
    if len(parts) < 2:
        return title
    if site and parts[-1].lower() == site.lower():
        return title[: title.rfind(parts[-1])].rstrip(" |｜–—·•»«:/-")
    if site and parts[0].lower() == site.lower():
        return title[title.find(parts[0]) + len(parts[0]) :].lstrip(" |｜–—·•»«:/-")
    last = max((match for match in _SEPARATOR.finditer(title)), key=lambda match: match.start())
    return title[: last.start()] if len(title) - last.end() < last.start() else title


def _details(document: Document, metas: Mapping[str, str]) -> dict[str, Any]:
    details: dict[str, Any] = {}
    for name, keys in _DETAILS.items():
        if value := next((" ".join(metas[key].split()) for key in keys if metas.get(key)), ""):
            details[name] = value
    for name in ("tags", "categories"):
        if name in details:
            details[name] = [each.strip() for each in details[name].split(",")[:50] if each.strip()]
    if "image" in details:
        image = document.absolute(details.pop("image"))
        details |= {"image": image} if image else {}
    return details
