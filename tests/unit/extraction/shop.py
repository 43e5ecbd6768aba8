"""Product pages as shops write them, for the tests of this room."""

from __future__ import annotations

import json
from typing import Any

from crawler.extraction import extract_product
from crawler.extraction.visible import visible_price
from crawler.extraction.visible.shown_price import Price
from crawler.extraction.visible.view import View
from crawler.items import ProductItem

URL = "https://shop.example.de/artikel/kochmesser-20451.html"

HEAD = """<!doctype html><html lang="de"><head><meta charset="utf-8"><title>Kochmesser 20 cm | Messershop</title>
<link rel="canonical" href="/artikel/kochmesser-20451.html">{metas}</head><body>
<header><a href="/">Messershop</a> <span class="minicart">2 Artikel, 99,90 €</span></header>
<nav class="breadcrumb"><a href="/">Start</a> › <a href="/c/messer">Messer</a> › <span>Kochmesser 20 cm</span></nav>"""
FOOT = """<section class="related"><h2>Dazu passt</h2>
<div class="card"><a href="/artikel/gabel-1.html">Gabel</a> <span class="price">4,99 €</span>
<button>In den Warenkorb</button></div>
<div class="card"><a href="/artikel/loeffel-2.html">Löffel</a> <span class="price">3,99 €</span></div></section>
<footer>Versand 4,90 € · Ausverkauft? Wir melden uns.</footer></body></html>"""
SHOWN = """<main><h1>Kochmesser 20 cm</h1><p>Marke:</p><p>Solinger</p><p>Art.-Nr.: KM-20451</p>
<img src="/bild.jpg" alt="Kochmesser 20 cm"><p>EAN: 4006381333931</p>
<span class="stars" title="4,5 von 5 Sternen"></span>
<p><del>59,00 €</del></p><p class="price">49<sup>90</sup> €</p><p>zzgl. Versand 4,90 €</p>
<p class="stock">{stock}</p><button{button}>In den Warenkorb</button></main>"""


def page(body: str = "", metas: str = "", stock: str = "Auf Lager", button: str = "", shown: bool = True) -> str:
    """A product page; *body* stands before what is shown."""
    visible = SHOWN.format(stock=stock, button=button) if shown else ""
    return HEAD.format(metas=metas) + body + visible + FOOT


def product(html: str, url: str = URL) -> ProductItem:
    """What is read of a page that shows one."""
    item = extract_product(html, url)
    assert item is not None
    return item


def stated(html: str, url: str, field: str) -> tuple[str | None, str | None]:
    """The value of *field*, and where it was found."""
    item = product(html, url)
    return getattr(item, field), item.found_in.get(field)


def json_ld(**changed: Any) -> str:
    """A script with a product that states everything, but for what is *changed*."""
    product = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": "Kochmesser",
        "sku": "LD-1",
        "brand": {"@type": "Brand", "name": "Ld"},
        "image": "https://shop.example.de/ld.jpg",
        "description": "Scharf.",
        "offers": {
            "@type": "Offer",
            "price": "49.90",
            "priceCurrency": "EUR",
            "availability": "https://schema.org/InStock",
        },
    }
    return f'<script type="application/ld+json">{json.dumps(product | changed)}</script>'


def shown_prices(page: View) -> list[Price]:
    """Those that *page* shows, the product's likeliest one first."""
    return visible_price.chosen(page, visible_price.by_score(page))
