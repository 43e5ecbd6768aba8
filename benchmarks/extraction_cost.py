"""What extraction costs: CPU microseconds for one synthetic page of 20 KB, by how it states its product."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from rich.table import Table

from crawler.extraction import Document, extract_product, links

URL: Final = "https://shop.example.com/product/steel-knife-20451"
SIZE: Final = 20 * 1024
ROUNDS, PAGES = 7, 100  # the best round counts: other work on the machine only adds

_HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Steel knife | Shop</title>
<link rel="canonical" href="/product/steel-knife-20451"><meta name="description" content="It cuts.">
<meta property="og:title" content="Steel knife"><meta property="og:image" content="/knife.jpg"></head><body>"""
_PRODUCT = {
    "@context": "https://schema.org",
    "@type": "Product",
    "name": "Steel knife",
    "sku": "KN-20451",
    "gtin13": "4006381333931",
    "brand": {"@type": "Brand", "name": "Acme"},
    "image": "https://shop.example.com/knife.jpg",
    "description": "It cuts. " * 20,
    "aggregateRating": {"@type": "AggregateRating", "ratingValue": "4.5", "reviewCount": "12"},
    "offers": {
        "@type": "Offer",
        "price": "19.99",
        "priceCurrency": "EUR",
        "availability": "https://schema.org/InStock",
    },
}
_MICRODATA = """<div itemscope itemtype="https://schema.org/Product"><b itemprop="name">Steel knife</b>
<meta itemprop="sku" content="KN-20451"><div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
<meta itemprop="price" content="19.99"><meta itemprop="priceCurrency" content="EUR">
<link itemprop="availability" href="https://schema.org/InStock"></div></div>"""
_SHOWN = """<h1>Steel knife</h1><p class="price">€19.99</p><p>In stock</p><p>SKU: KN-20451</p>
<button>Add to cart</button>"""


def pages() -> dict[str, str]:
    """The three pages: the same product, stated for machines in two ways or only shown."""
    json_ld = f'<script type="application/ld+json">{json.dumps(_PRODUCT)}</script>'
    starts = {"JSON-LD": json_ld + _SHOWN, "microdata": _MICRODATA + _SHOWN, "shown only": _SHOWN}
    return {name: _filled(_HEAD + start) for name, start in starts.items()}


def table() -> Table:
    """CPU microseconds per page of the product, of the links, and of both from one document."""
    shown = Table(title=f"One page of {SIZE // 1024} KB, CPU microseconds")
    for heading in ("product stated as", "product", "links", "both"):
        shown.add_column(heading, justify="left" if heading.startswith("product ") else "right")
    for name, html in pages().items():
        costs = [cost(partial(work, html)) for work in (_product, _links, _both)]
        shown.add_row(name, *(f"{microseconds:.0f}" for microseconds in costs))
    return shown


def cost(work: Callable[[], object]) -> float:
    """CPU microseconds that *work* takes at best."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(PAGES):
            work()
        best = min(best, (time.process_time() - started) / PAGES)
    return best * 1e6


def _filled(start: str) -> str:
    """*start* with the rest of a shop's page around it: links, texts, pictures."""
    parts = [start]
    for number in range(SIZE):
        parts.append(
            f'<div class="row"><a href="/c/category-{number}">Category {number}</a><p class="text">Words on {number}'
            f' that say nothing of the offer.</p><img src="/i/{number}.jpg" alt="picture {number}"></div>\n'
        )
        if sum(map(len, parts)) >= SIZE:
            break
    return "".join(parts) + "</body></html>"


def _product(html: str) -> None:
    extract_product(html, URL)


def _links(html: str) -> None:
    links(html, URL)


def _both(html: str) -> None:
    document = Document(html, URL)
    extract_product(document, URL)
    links(document, URL)
