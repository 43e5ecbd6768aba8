"""Markdown of a page, and what a reader of it sees."""

from __future__ import annotations

from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.extraction import Document
from crawler.extraction.content.markdown import markdown
from crawler.extraction.content.walk import passages

URL = "https://site.example/docs/page"
RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def markdown_of(body: str, *, images: bool = False) -> str:
    document = Document(body, URL)
    return markdown(document, passages(document), images=images)


def rendered(body: str) -> LexborNode:
    """What a reader of its Markdown sees."""
    return tree_of(RENDERER.render(markdown_of(body)))


def tree_of(html: str) -> LexborNode:
    tree = LexborHTMLParser(f"<body>{html}").body
    assert tree is not None
    return tree
