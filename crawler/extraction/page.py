"""A page of any kind -> its main text and what it says of itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from crawler.extraction import opengraph
from crawler.extraction.document import Document
from crawler.extraction.nodetext import text_of
from crawler.items import PageItem

MAX_TAGS: Final = 32_000  # read of a page
MANY_CELLS: Final = 4_000  # of tables
_DETAILS: Final = ("sitename", "description", "categories", "tags", "image", "pagetype", "license")


def extract_page(html: str | bytes | Document, url: str) -> PageItem:
    """The page at *url* as trafilatura reads it; a field that it does not find is None. Raises on no input.

    Takes some ten to fifty milliseconds of CPU a page: call it in a thread. `published_at` is the page's date
    at midnight UTC; `language` is what the page declares of itself.
    """
    import trafilatura  # a third of a second and 30 MB that a product crawl does not pay

    document = html if isinstance(html, Document) else Document(html, url)
    read = trafilatura.bare_extraction(
        _within(document.tamed), url=document.url, with_metadata=True, include_comments=False
    )
    found: dict[str, Any] = read if isinstance(read, dict) else read.as_dict() if read is not None else {}
    return PageItem(
        url=document.canonical_url,
        title=found.get("title") or _title(document),
        text=found.get("text") or None,
        published_at=_date(found.get("date")),
        author=found.get("author") or None,
        language=found.get("language") or document.language[:2] or None,
        metadata={name: found[name] for name in _DETAILS if found.get(name)},
    )


def _within(html: str) -> str:
    """The first tags of *html*: each costs trafilatura up to forty microseconds, and a cell more the more there are."""
    most = MAX_TAGS if html.count("<td") + html.count("<TD") < MANY_CELLS else MAX_TAGS // 4
    if html.count("<") <= most:
        return html
    place = -1
    for _ in range(most):
        place = html.find("<", place + 1)
    return html[:place]


def _title(document: Document) -> str | None:
    node = document.first("title")
    text = text_of(node) if node is not None else ""
    return text or opengraph.metas(document).get("og:title")


def _date(raw: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(raw).replace(tzinfo=UTC) if raw else None
    except ValueError:
        return None
