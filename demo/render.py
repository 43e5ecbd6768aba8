"""Whole pages of the demo shops: realistic in size and noise, and deterministic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from random import Random
from typing import Final

from demo import markup, words
from demo.catalogue import Product, Store, money, worth


@dataclass(frozen=True, slots=True)
class Card:
    """One entry of a listing or a "related products" block: what it shows and links to."""

    href: str
    title: str
    price: str = ""


def card(product: Product, href: str) -> Card:
    """The card of *product*, linking to *href* (some spelling of its URL)."""
    return Card(href, product.title, money(product.store, product.price))


def product_page(product: Product, related: Sequence[Card], reviews: int = 8) -> bytes:
    """The page of one product, with other products' prices around it; eight reviews make it 11 KB."""
    rng = Random(product.url)
    description = " ".join(rng.sample(words.SENTENCES, 5))
    body = (
        f'<nav class="breadcrumbs" aria-label="Breadcrumb"><a href="/">Home</a> › '
        f'<a href="{category_path(product.category)}">{escape(product.category)}</a> › '
        f"<span>{escape(product.title)}</span></nav>\n"
        f"{markup.offer(product, description)}\n{_specification(product, rng)}\n{_reviews(rng, reviews)}\n"
        f'<section class="related"><h2>Others also looked at</h2>{_cards(related)}</section>'
    )
    return _page(product.store, product.title, body, head=f'<link rel="canonical" href="{product.url}">')


def listing_page(store: Store, title: str, cards: Sequence[Card], previous: str, following: str) -> bytes:
    """One page of a listing with pagination links (empty for none)."""
    links = ""
    if previous:
        links += f'<a class="prev" rel="prev" href="{escape(previous)}">Previous</a> '
    if following:
        links += f'<a class="next" rel="next" href="{escape(following)}">Next</a>'
    body = (
        f'<h1>{escape(title)}</h1>\n<div class="products">{_cards(cards)}</div>\n<nav class="pagination">{links}</nav>'
    )
    return _page(store, title, body)


def text_page(store: Store, title: str) -> bytes:
    """A page of prose: help, imprint, an error."""
    rng = Random(f"{store.host}/{title}")
    paragraphs = "".join(f"<p>{' '.join(rng.sample(words.SENTENCES, 6))}</p>\n" for _ in range(6))
    return _page(store, title, f"<h1>{escape(title)}</h1>\n{paragraphs}")


def category_path(category: str) -> str:
    """`/c/home-office` for Home Office."""
    return "/c/" + category.lower().replace(" ", "-")


HELP: Final = ("Delivery", "Returns", "Payment", "Contact")

_STYLE: Final = "\n".join(
    f".{name}{{display:flex;flex-wrap:wrap;gap:.{place}rem;color:#2{place:02}}}"
    for place, name in enumerate(
        (
            "menu",
            "basket",
            "card",
            "product",
            "price",
            "old-price",
            "stock",
            "rating",
            "details",
            "review",
            "pagination",
        ),
        start=1,
    )
)
# Leftovers of tag managers: numbers and names that look like an offer but are not.
_SCRIPT: Final = (
    "window.dataLayer=window.dataLayer||[];"
    'dataLayer.push({"event":"page","experiment":"b",'
    '"ecommerce":{"impressions":[{"name":"Gift card","price":"25.00"}]}});'
)


def _page(store: Store, title: str, body: str, head: str = "") -> bytes:
    text = f"""<!doctype html>
<html lang="{store.language}">
<head>
<meta charset="utf-8">
<title>{escape(title)} | {escape(store.name)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
{head}
<style>{_STYLE}</style>
<script>{_SCRIPT}</script>
</head>
<body>
<header><a class="logo" href="/">{escape(store.name)}</a>
<nav class="menu"><ul>{_menu()}</ul></nav>
<p class="notice">Free delivery from {money(store, worth(store, Decimal(75)))}.</p>
<a class="basket" href="/cart" rel="nofollow">Basket ({money(store, Decimal(0))})</a></header>
<main>
{body}
</main>
<footer><nav class="help"><ul>{_help()}</ul></nav>
<p><a href="/private/deals">Staff deals</a> · © {escape(store.name)}</p></footer>
</body>
</html>
"""
    return text.encode()


def _menu() -> str:
    links = [
        f'<li><a href="{category_path(category)}">{escape(category)}</a>'
        f"<ul>{''.join(f'<li>{escape(noun)}</li>' for noun in nouns)}</ul></li>"
        for category, nouns in words.NOUNS.items()
    ]
    return "".join([*links, '<li><a href="/new?utm_source=menu&amp;utm_medium=nav">New arrivals</a></li>'])


def _help() -> str:
    return "".join(f'<li><a href="/help/{topic.lower()}">{topic}</a></li>' for topic in HELP)


def _cards(cards: Iterable[Card]) -> str:
    return "\n".join(
        f'<article class="card"><a href="{escape(entry.href)}"><h3>{escape(entry.title)}</h3></a>'
        f'<span class="price">{entry.price}</span></article>'
        for entry in cards
    )


def _specification(product: Product, rng: Random) -> str:
    delivery = money(product.store, worth(product.store, Decimal("4.90")))
    rows = {
        "Weight": f"{rng.randrange(1, 90) / 10} kg",
        "Height": f"{rng.randrange(5, 120)} cm",
        "Width": f"{rng.randrange(5, 120)} cm",
        "Guarantee": f"{rng.randrange(1, 11)} years",
        "Item number of the maker": f"{product.brand[:2].upper()}{rng.randrange(10_000, 99_999)}",
        "Delivery": f"{delivery} within {rng.randrange(2, 9)} days",
    }
    cells = "".join(f"<tr><th>{name}</th><td>{escape(value)}</td></tr>\n" for name, value in rows.items())
    return f'<h2>Details</h2><table class="details">\n{cells}</table>'


def _reviews(rng: Random, number: int) -> str:
    entries = "\n".join(_review(rng) for _ in range(number))
    return f'<section class="reviews"><h2>What others say</h2>\n{entries}\n</section>'


def _review(rng: Random) -> str:
    month = f"{rng.randrange(2019, 2026)}-{rng.randrange(1, 13):02d}"
    return (
        f'<article class="review"><h4>{rng.choice(words.NAMES)}, {month}</h4>'
        f'<p class="stars">{rng.randrange(1, 6)} stars</p>'
        f"<p>{' '.join(rng.sample(words.SENTENCES, 9))}</p></article>"
    )
