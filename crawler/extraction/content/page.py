"""The main text of any page, as text and Markdown, and its metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Final

from crawler.extraction.content.cells import row_of
from crawler.extraction.content.inline import link_of
from crawler.extraction.content.main_text import main_passages
from crawler.extraction.content.markdown import markdown
from crawler.extraction.content.marks import BITS
from crawler.extraction.content.page_facts import facts, typed_nodes
from crawler.extraction.content.page_kind import Kind, kind_of
from crawler.extraction.content.passages import Box, Passage
from crawler.extraction.content.pictures import MAX_IMAGES, addresses, illustrated
from crawler.extraction.content.tables import whole_rows
from crawler.extraction.content.walk import MAX_CHARACTERS, passages
from crawler.extraction.structured import jsonld, opengraph, properties, schema_org
from crawler.extraction.tree.document import Document
from crawler.extraction.words import values
from crawler.items import PageItem
from crawler.urls import MAX_URL_LENGTH

MAX_LINKS: Final = 2_000  # in the main text

_CELLS: Final = BITS["td"] | BITS["th"]


def extract_page(html: str | bytes | Document, url: str, *, links: bool = False, images: bool = False) -> PageItem:
    """The page at *url*; missing fields are None. Never raises.

    Takes some milliseconds of CPU per page, more with many elements. *links*, *images*: include those of the main text,
    as absolute URLs; images are then in the Markdown too. `published_at` is the page's date at midnight UTC; `language`
    is the declared one.
    """
    document = html if isinstance(html, Document) else Document(html, url)
    kind, found = kind_and_passages(document)
    chosen = main_passages(found, kind)
    shown = whole_rows(illustrated(document, found, chosen) if images else chosen)
    stated = facts(document, opengraph.metas(document), kind, found, datetime.now(UTC).date())
    return PageItem(
        url=document.canonical_url,
        title=stated.title,
        text=_text(whole_rows(chosen) if images else shown) or _stated_text(document),
        markdown=markdown(document, shown, images=images) or None,
        links=_some_of((_links(document, each) for each in chosen), MAX_LINKS) if links else None,
        images=_some_of((addresses(document, each) for each in shown), MAX_IMAGES) if images else None,
        published_at=stated.published,
        author=stated.author,
        language=document.language_code or None,
        metadata=stated.details,
    )


def kind_and_passages(document: Document) -> tuple[Kind, list[Passage]]:
    """The kind of page that *document* is, and its passages."""
    found = passages(document)
    return kind_of(document, opengraph.metas(document), found), found


def _text(chosen: Sequence[Passage]) -> str:
    """One line per passage, and per table row."""
    parts: list[str] = []
    row: Box | None = None
    for passage in chosen:
        of = row_of(passage.box) if passage.around & _CELLS else None
        parts.append((" | " if of is not None and of is row else "\n" if parts else "") + passage.text)
        row = of
    return "".join(parts)


def _stated_text(document: Document) -> str | None:
    """The text of an article or a product in JSON-LD, if the page shows none."""
    blocks = list(jsonld.blocks(document.html, document.source.scripts))
    for node in typed_nodes(blocks):
        if isinstance(body := node.get("articleBody"), str) and (lines := _lines(body)):
            return lines
    product = schema_org.main_product(schema_org.search(blocks).products, document.url, ())
    return values.text(properties.name_of(product.get("description")), values.MAX_DESCRIPTION) if product else None


def _lines(body: str) -> str:
    """The lines of *body* as plain text."""
    written = (values.text(line, MAX_CHARACTERS) for line in body[:MAX_CHARACTERS].splitlines())
    return "\n".join(filter(None, written))


def _links(document: Document, passage: Passage) -> Iterator[str]:
    """The absolute URLs of the links in *passage*, not of those to a place in the page itself."""
    for target in (piece[1] for piece in passage.pieces if isinstance(piece, tuple) and piece[0] == "a"):
        if (address := link_of(document, target)) and len(address) <= MAX_URL_LENGTH:
            yield address


def _some_of(several: Iterable[Iterable[str]], most: int) -> list[str]:
    """At most so many, each once."""
    return list(islice(dict.fromkeys(chain.from_iterable(several)), most))
