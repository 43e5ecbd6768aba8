"""What every page costs, whatever is on it: small pages are most of a crawl."""

from __future__ import annotations

import sys
from types import FrameType

from crawler.extraction import Document, extract_product, links

URL = "https://shop.example.com/about/us"
PAGE = "<html lang=en><title>About us</title><body><h1>About us</h1><p>We sell knives.</p><a href=/help>Help</a></html>"
CALLS = 241  # of functions of ours; each takes a microsecond


def read(page: str) -> None:
    document = Document(page, URL)
    assert extract_product(document, URL) is None
    assert not list(links(document, URL))


def test_a_page_with_nothing_on_it_takes_few_steps() -> None:
    read(PAGE)  # what is made once for all pages
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_globals.get("__name__", "").startswith("crawler.")

    sys.setprofile(count)
    try:
        read(PAGE)
    finally:
        sys.setprofile(None)
    assert 0 < calls < CALLS
