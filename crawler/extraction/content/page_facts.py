"""A page's metadata: title, author, date and the like. Cheap sources first, visible text last, nothing guessed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from typing import Any, Final

from crawler.extraction.content import authors, dates, titles
from crawler.extraction.content.page_kind import Kind
from crawler.extraction.content.passages import Passage
from crawler.extraction.structured import jsonld
from crawler.extraction.tree.document import Document

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
_DETAILS: Final = {
    "sitename": ("og:site_name", "application-name"),
    "description": ("description", "og:description", "twitter:description", "dc.description"),
    "image": ("og:image", "og:image:secure_url", "twitter:image"),
    "pagetype": ("og:type",),
    "tags": ("keywords", "article:tag", "news_keywords"),
    "categories": ("article:section", "category"),
}


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
        title=titles.title(document, metas, kind, found),
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
