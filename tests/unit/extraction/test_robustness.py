"""Nothing that a server sends makes extraction raise, hang, or state what cannot be."""

from __future__ import annotations

import random
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.extraction import Document, extract_product, links, missing_required
from crawler.extraction.product.draft import CORE
from crawler.items import ProductItem
from crawler.policy.items.validation import AVAILABILITIES, CURRENCIES
from crawler.policy.rules.domains import parse_rules
from tests.effort import cpu_seconds
from tests.unit.extraction.shop import URL, json_ld, page

RULES = parse_rules('[default]\nrequired = ["title", { css = "h1" }]\n[default.fields]\nprice = "p"').default
WHOLE = page(
    json_ld() + '<div itemscope itemtype="http://schema.org/Product"><b itemprop="name">X</b></div>',
    '<meta property="og:type" content="product"><meta property="product:price:amount" content="48">',
)
PIECES = st.sampled_from(
    """<h1> </h1> <div•class=price> €•12,90 NaN -5•€ <del> <button>Add•to•cart SKU: <p> </div> <svg> <template> <select>
    <script•type="application/ld+json"> </script> {"@type":"Product","name": "offers":[{"price":NaN}] } ] [ <!-- -->
    <a•href='/p/1'> <a•href='http://[x'> <base•href='//'> <link•rel=canonical•href='http://[x'> <title> <plaintext>
    <meta•property='og:type'•content='product'> <div•itemscope•itemtype='/Product'•itemprop='a•b'> <p•itemprop=price>
    &#0; &amp ١٢ ² ½ \x00 \ud800 \u202e""".replace("\n", " ").split(" ")
).map(lambda piece: piece.replace("•", " "))


def check(html: str, url: str = URL) -> ProductItem | None:
    """Extract all there is, and check what holds for any result."""
    document = Document(html, url)
    item = extract_product(document, url)
    assert all(link.startswith(("http://", "https://")) for link in links(document, url))
    missing_required(document, extract_product(html, url, RULES), RULES)
    if item is not None:
        assert item.title
        assert item.price is None or (item.price.is_finite() and item.price > 0)
        assert item.currency is None or item.currency in CURRENCIES
        assert item.availability is None or item.availability in AVAILABILITIES
        assert item.rating is None or 0 <= item.rating <= 5
        assert all(getattr(item, name) is not None for name in item.found_in)
        assert set(item.found_in.values()) <= {"json-ld", "microdata", "rdfa", "opengraph", "html", "url", "inferred"}
    return item


@given(st.lists(PIECES | st.text(max_size=8), max_size=40))
def test_random_html(pieces: list[str]) -> None:
    item = check("".join(pieces))
    assert item is None or item.title


@given(st.integers(0, len(WHOLE)), st.integers(0, 60), st.text(max_size=10), st.randoms(use_true_random=False))
def test_mutilated_pages(start: int, length: int, instead: str, rng: random.Random) -> None:
    cut = check(WHOLE[:start] + instead + WHOLE[start + length :])
    cuts = sorted(rng.sample(range(len(WHOLE)), 6))
    shuffled = [WHOLE[a:b] for a, b in pairwise([0, *cuts, len(WHOLE)])]
    rng.shuffle(shuffled)
    mixed = check("".join(shuffled))
    assert all(item is None or item.title for item in (cut, mixed))


@given(st.text(max_size=200), st.text(max_size=60))
def test_any_text_in_every_place(text: str, url: str) -> None:
    found = check(
        page(json_ld(name=text, sku=text, offers={"price": text, "availability": text, "url": text}), stock=text)
    )
    elsewhere = check(page(), f"https://shop.example.com/{url}")
    assert all(item is None or item.title for item in (found, elsewhere))


@given(st.binary(max_size=400))
def test_any_bytes(data: bytes) -> None:
    assert extract_product(data, URL) is None or b"<" in data


@pytest.mark.parametrize(
    "price", ["NaN", "Infinity", "-Infinity", "-5", "0", "1e400", '"free"', '"1.299,00"', "[]", "{}", "true"]
)
def test_impossible_prices_in_json(price: str) -> None:
    html = f'<script type="application/ld+json">{{"@type":"Product","name":"A","offers":{{"price":{price}}}}}</script>'
    item = check(html)
    assert item is not None
    assert item.price in (None, Decimal(1299))


ENDLESS = {
    "divs": "<div>",
    "prices": "<p class=price>€ 1,99</p>",
    "bare numbers": "<i class=price>1</i>",
    "nested numbers": "<div class=price>1",
    "scripts": "<script ",
    "open blocks": '<script type="application/ld+json">',
    "comments": "<!-- ",
    "metas": "<meta ",
    "links": "<link ",
    "properties": "<p itemscope itemprop=price>1",
    "anchors": '<a href="/product/1">x</a>',
    "buttons": "<button>Add to cart</button>",
    "labels": "<p>SKU: AB-123</p>",
    "digits": "1",
    "commas": ", ",
    "old prices": "<del>49</del>",
    "headings": "<h1>a",
    "nulls": "\x00",
}


@pytest.mark.parametrize("piece", ENDLESS.values(), ids=ENDLESS.keys())
def test_endless_pages_end(piece: str) -> None:
    """1 MB each. What is much longer is read in a child, whose CPU time is bounded (PARSE_APART_KB)."""
    html = "<h1>x</h1>" + piece * (2**20 // len(piece))
    assert cpu_seconds(lambda: check(html), 5) < 5


@pytest.mark.parametrize(
    "body", ["[" * 10**6, '{"a":' * 10**5, "/*" * 10**6, " " * 10**6 + "x", '{"@type":"Product","name":"' * 10**4]
)
def test_endless_json_ends(body: str) -> None:
    assert cpu_seconds(lambda: check(f'<script type="application/ld+json">{body}</script>'), 20) < 20


def test_a_complete_page_stays_cheap() -> None:
    """No tree, no walk, for links neither: what the cost of most pages rests on (benchmarks/extraction.py has it)."""
    document = Document(json_ld() + '<p>49,90 €<p>LD-1 <a href="/c/messer">' + "<p>filler</p>" * 1_500, URL)
    item = extract_product(document, URL)
    assert item is not None
    assert all(getattr(item, name) is not None for name in CORE)
    assert "https://shop.example.de/c/messer" in links(document, URL).listing
    assert not {"tree", "texts"} & document.__dict__.keys()
