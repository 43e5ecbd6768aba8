"""Why a page is taken for no product, in words."""

from __future__ import annotations

import json

import pytest

from crawler.extraction import Document, extract_product
from crawler.extraction.product.refusal import refusal
from crawler.policy.rules.domains import NO_RULES, parse_rules

PLAIN = "https://shop.example.de/about"
CARDS = "".join(
    f'<div class="card"><a href="/artikel/{n}.html">Messer {n}</a> <span class="price">{n},99 €</span></div>'
    for n in range(11, 19)
)


def typed(**fields: object) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@context": "https://schema.org", **fields})}</script>'


ARTICLE = typed(**{"@type": "NewsArticle", "headline": "Knives"})
LIST = typed(
    **{
        "@type": "ItemList",
        "itemListElement": [
            {"@type": "ListItem", "position": n, "item": {"@type": "Product", "name": f"Knife {n}"}}
            for n in range(1, 5)
        ],
    }
)


@pytest.mark.parametrize(
    ("html", "words"),
    [
        (f"<title>Knives</title>{ARTICLE}<h1>Knives</h1>", "a page of another kind, such as an article"),
        (f"<title>All</title>{LIST}<h1>All</h1>", "structured data lists several products"),
        (f"<title>All</title><h1>All</h1>{CARDS}", "in the cards of several products, or repeat"),
        ("<meta property=og:type content=product><p>9,99 €", "it has no title"),
        ("<h1>About us</h1>", "no price of its own by a heading, no buy button, no identifier with a label, no URL"),
        ("<h1>Knife</h1><p>9,99 €</p><p>Nice", "speaks for one: no buy button, no identifier with a label, no URL"),
        ('{"items": []}', "no object of this JSON has a name and a price"),
    ],
)
def test_the_likely_reason_is_told(html: str, words: str) -> None:
    document = Document(html, PLAIN)
    assert extract_product(document, PLAIN) is None
    assert words in refusal(document, NO_RULES)


def test_a_page_of_another_kind_is_called_so() -> None:
    url = "https://shop.example.de/search?q=knife"
    document = Document('<html lang="de"><h1>Messer vs. Gabel</h1><p>9,99 €</p><p>Art.-Nr.: KM-20451</p>', url)
    assert extract_product(document, url) is None
    assert "no buy button" in (why := refusal(document, NO_RULES))
    assert why.endswith("URL, heading or text as of a search, a recipe, an event or an article")


def test_a_rule_that_does_not_match_comes_first() -> None:
    rules = parse_rules('["shop.example.de"]\nproduct = "/p/"').for_url(PLAIN)
    assert refusal(Document(f"{ARTICLE}<h1>Knives", PLAIN), rules) == (
        "the domain's rule product = '/p/' (DOMAINS_FILE) does not match the URL"
    )
