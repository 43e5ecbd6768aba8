"""A page's product: sources in order, the page decided on, prices corrected, never a wrong guess."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from crawler.extraction import Document, extract_product
from crawler.items import ProductItem
from crawler.policy.rules.domains import parse_rules
from tests.unit.extraction.shop import URL, json_ld, page

MICRODATA = """<div itemscope itemtype="https://schema.org/Product"><b itemprop="name">Micro</b>
<meta itemprop="sku" content="MD-1"><div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
<meta itemprop="price" content="48.00"><meta itemprop="priceCurrency" content="EUR"></div></div>"""
OPEN_GRAPH = """<meta property="og:type" content="product"><meta property="og:title" content="Kaufen: Kochmesser">
<meta property="product:price:amount" content="47,00"><meta property="product:price:currency" content="EUR">
<meta property="product:availability" content="in stock"><meta property="og:image" content="/og.jpg">"""
ARTICLE = """<html lang="en"><h1>Ten knives under $50</h1><p class="date">2 May</p>
<p>The first costs $49.90 and cuts.</p>
<p>Another was $20.</p><a href="/buy">Buy a subscription</a></html>"""


def found(html: str, url: str = URL, rules: str = "") -> ProductItem:
    item = extract_product(html, url, parse_rules(rules).for_url(url))
    assert item is not None
    return item


def test_what_is_shown_is_enough() -> None:
    item = found(page())
    values = {name: getattr(item, name) for name in item.found_in}
    assert values == {
        "title": "Kochmesser 20 cm",
        "price": Decimal("49.90"),
        "currency": "EUR",
        "availability": "InStock",
        "sku": "KM-20451",
        "gtin": "4006381333931",
        "brand": "Solinger",
        "rating": 4.5,
        "image": "https://shop.example.de/bild.jpg",
        "category": "Start > Messer",
    }
    assert set(item.found_in.values()) == {"html"}
    assert item.url == URL


def test_structured_data_wins_in_its_order_and_gaps_are_filled() -> None:
    item = found(page(json_ld(brand=None, offers={"price": "49.90"}) + MICRODATA, OPEN_GRAPH))
    assert item.title == "Kochmesser"
    assert {name: (getattr(item, name), source) for name, source in item.found_in.items()} | {
        "price": (Decimal("49.90"), "json-ld"),
        "sku": ("KM-20451", "html"),
        "currency": ("EUR", "microdata"),
        "availability": ("InStock", "opengraph"),
    } == {name: (getattr(item, name), source) for name, source in item.found_in.items()}


def test_open_graph_alone_makes_a_product() -> None:
    item = found(f"<html><head>{OPEN_GRAPH}</head><body><p>x</p>")
    assert (item.title, item.price, item.currency, item.availability) == (
        "Kaufen: Kochmesser",
        Decimal(47),
        "EUR",
        "InStock",
    )
    assert item.image == "https://shop.example.de/og.jpg"


def test_rules_win_over_everything() -> None:
    rules = """
["shop.example.de".fields]
title = "h1"
price = [".missing", { css = "p.price", pattern = "[0-9.]+" }]
sku = { css = "p", pattern = "Art\\\\.-Nr\\\\.: (\\\\S+)" }
currency = { value = "CHF" }
image = "main img::attr(src)"
"""
    item = found(page(json_ld()), rules=rules)
    assert (item.title, item.price, item.sku, item.currency) == (
        "Kochmesser 20 cm",
        Decimal("49.90"),
        "KM-20451",
        "CHF",
    )
    assert item.image == "https://shop.example.de/bild.jpg"
    assert {name for name, source in item.found_in.items() if source == "rule"} == {
        "title",
        "price",
        "sku",
        "currency",
        "image",
    }
    assert item.found_in["brand"] == "json-ld"


def test_a_rule_that_reads_nonsense_leaves_its_field_to_the_next_source() -> None:
    item = found(page(json_ld()), rules='["shop.example.de".fields]\nprice = "h2"\nrating = "h1"')
    assert (item.price, item.found_in["price"]) == (Decimal("49.90"), "json-ld")


def test_a_page_that_states_everything_is_not_parsed() -> None:
    document = Document(page(json_ld(sku="KM-20451")).replace("<del>59,00 €</del>", ""), URL)
    assert extract_product(document, URL) is not None
    assert "tree" not in document.__dict__


LD = '<script type="application/ld+json">{}</script>'
SOLD = """<p class=price>$49.90</p><button>Add to cart</button>"""
KNIVES = ", ".join(
    f'{{"@type": "Product", "name": "Knife {n}", "offers": {{"price": "{n}", "priceCurrency": "USD"}}}}'
    for n in range(3)
)


@pytest.mark.parametrize(
    "html",
    [
        "",
        "just text",
        "<html></html>",
        ARTICLE,
        "<h1>Messer</h1>"
        + "".join(
            f'<li class="card"><a href="/artikel/{n}.html">M {n}</a><b class="price">{n},99 €</b>'
            f"<button>In den Warenkorb</button></li>"
            for n in range(5, 15)
        ),
        '<h1>Messer</h1><button>In den Warenkorb</button><p class="price">5 €</p>'
        + "".join(
            f'<div itemscope itemtype="http://schema.org/Product"><a itemprop="url" href="/artikel/{n}.html">'
            f'<b itemprop="name">M {n}</b></a></div>'
            for n in range(5)
        ),
        '<h1>Kontakt</h1><p>Tel. 0123 456789</p><a href="/p/1">Kaufen</a>',
        json_ld(name=None),
        LD.format('{"@type": "Recipe", "name": "Knife soup"}') + f"<h1>Knife soup</h1>{SOLD}",
        LD.format('{"@type": "BlogPosting", "headline": "A knife"}') + f"<h1>A knife</h1>{SOLD}",
        LD.format(f'[{{"@type": "NewsArticle", "headline": "Ten knives"}}, {KNIVES}]') + f"<h1>Ten knives</h1>{SOLD}",
        LD.format('{"@type": "CollectionPage", "name": "Knives"}') + f"<h1>Knives</h1>{SOLD}",
        LD.format('{"@type": "Product", "name": "Movers", "aggregateRating": {"ratingValue": 5}}') + "<h1>Movers</h1>",
    ],
    ids=[
        "empty",
        "text",
        "html",
        "article",
        "cards",
        "microdata listing",
        "contact",
        "nameless",
        "recipe",
        "post",
        "review",
        "collection",
        "stars",
    ],
)
def test_other_pages_are_no_product_pages(html: str) -> None:
    assert extract_product(html, "https://shop.example.de/messer") is None


@pytest.mark.parametrize(
    ("language", "host", "offer"),
    [
        ("de", "de", "<span>Neu und gebraucht (21) ab </span><span>99,12&nbsp;€</span>"),
        ("de", "de", "Neu und gebraucht ab 99,12 €"),
        ("de", "de", "Andere Verkäufer: 3 neu ab 99,12 €"),
        ("en", "co.uk", "New &amp; used (21) from £99.12 &amp; FREE shipping"),
        ("fr", "fr", "Neufs et d’occasion (3) à partir de 99,12 €"),
        ("es", "es", "Nuevos y usados (3) desde 99,12 €"),
        ("it", "it", "Nuovo e usato (3) da 99,12 €"),
        ("pl", "pl", "Nowe (3) od 99,12 zł"),
    ],
)
def test_offers_of_other_sellers_alone_make_a_product(language: str, host: str, offer: str) -> None:
    html = f"<html lang={language}><title>Hammer X</title><h1>Hammer X</h1><p>x<p><a href=/offers/77>{offer}</a>"
    item = extract_product(html, f"https://shop.example.{host}/dp/B00ABC1234")
    assert item is not None
    assert item.price == Decimal("99.12")


def test_a_page_without_a_heading_needs_more() -> None:
    metas = '<meta property="og:title" content="Hammer"><title>Shop</title>'
    body = f"<p class=price>$49.90</p><button>Add to cart</button>{metas}"
    assert found(body, "https://shop.example.com/product/hammer").title == "Hammer"
    assert extract_product(body.replace("button", "i"), "https://shop.example.com/product/hammer") is None


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("https://news.example.com/article/a-knife", "<p>$49.90</p>"),
        ("https://news.example.com/product/a-knife", "<p>It costs $49.90, and it cuts everything.</p>"),
        ("https://spa.example.com/services/massage", "<p>$99 an hour</p><a class=btn href=/book>Book now</a>"),
        ("https://blog.example.com/p/a-knife", "<p>Was $20</p><a href=/subscribe>Subscribe</a>"),
    ],
)
def test_a_page_that_speaks_of_money_is_no_products(url: str, body: str) -> None:
    assert extract_product(f"<title>A knife</title><h1>A knife</h1>{body}", url) is None


@pytest.mark.parametrize(
    ("path", "above", "below"),
    [
        ("recipes/steak", "", ""),
        ("order/thanks", "", ""),
        ("wishlist", "", ""),
        ("wunschliste", "", ""),
        ("vergleich/steak", "", ""),
        ("produkt-kategorie/steak", "", ""),
        ("categoria-produto/carne/steak/", "", ""),
        ("search?q=steak", "", ""),
        ("buscar/?q=steak", "", ""),
        ("suche", "", ""),
        ("?s=steak&post_type=product", "", ""),
        ("2023/05/04/steak", "", ""),
        ("steak", "<p class=byline>Jo</p>", ""),
        ("steak", "<time>May 4</time>", ""),
        ("steak", "", "<ul class=wprm-recipe-ingredients></ul>"),
        ("steak", "", "<h2>Ingredients</h2><p>Prep time: 5 min</p>"),
        ("steak", "", "<a class=btn href=/t>Tickets</a>"),
        ("steak", "", "<p>3 bedrooms, 92 m²</p>"),
        ("steak", "", "<li class=card><h3><a href=/a>Fork</a></h3><p class=price>$9</p>"),
    ],
)
def test_pages_of_other_kinds_show_prices_too(path: str, above: str, below: str) -> None:
    price = "" if "card" in below else "<p class=price>$9</p>"
    body = f"<title>A steak</title>{above}<h1>A steak</h1>{price}{below}<button>Order now</button>"
    assert extract_product(body, f"https://example.com/{path}") is None
    versus = body.replace("A steak", "A steak vs. a fish")
    assert extract_product(versus, "https://example.com/steak") is None
    card = "<a href=/card>Apply for a credit card</a>"
    plain = f"<title>A steak</title><h1>A steak</h1><p class=price>$9</p><button>Order now</button>{card}"
    assert extract_product(plain, "https://example.com/steak") is not None


@pytest.mark.parametrize(
    ("heading", "is_product"),
    [
        ("My cart", False),
        ("Warenkorb", False),
        ("Meine Wunschliste", False),
        ("Корзина", False),
        ("カート", False),
        ("1 result for steak", False),
        ("Résultats pour « steak »", False),
        ("Shopping cart for children", True),
        ("Picnic basket", True),
    ],
)
def test_a_cart_or_a_search_is_told_by_its_heading(heading: str, is_product: bool) -> None:
    body = f"<title>{heading}</title><h1>{heading}</h1><p class=price>$9</p><button>Order now</button>"
    assert (extract_product(body, "https://example.com/steak") is not None) is is_product


@pytest.mark.parametrize(
    ("stated", "metas"),
    [
        ({"@type": "Recipe", "name": "Beef"}, ""),
        ({"@type": "MusicEvent", "name": "A night of fine steak"}, ""),
        ({"@type": "Article", "headline": "What cows eat"}, '<meta property="og:type" content="article">'),
    ],
)
def test_what_a_page_says_it_is_counts_under_another_name(stated: dict[str, str], metas: str) -> None:
    body = "<title>Night of steak</title><h1>Night of steak</h1><p class=price>$9</p><button>Order now</button>"
    assert extract_product(LD.format(json.dumps(stated)) + metas + body, "https://example.com/steak") is None
    shop = LD.format('{"@type": "Organization", "name": "Steak"}')
    assert extract_product(shop + body, "https://example.com/steak") is not None


@pytest.mark.parametrize(("sku", "is_product"), [(None, False), ("K-1", True)])
def test_a_range_of_prices_over_cards_is_a_category(sku: str | None, is_product: bool) -> None:
    offers = {"@type": "AggregateOffer", "lowPrice": 9, "highPrice": 90, "priceCurrency": "USD"}
    cards = "".join(f"<li><h3><a href=/{n}>Knife {n}</a></h3><p class=price>${n}</p></li>" for n in (9, 90))
    html = f"<title>Knives</title>{json_ld(name='Knives', sku=sku, offers=offers)}<h1>Knives</h1><ul>{cards}"
    assert (extract_product(html, "https://example.com/knives") is not None) is is_product


def test_the_only_price_of_a_page_with_a_buy_button_is_its_price() -> None:
    body = f"<p>{'It is' + ' very' * 4} nice for 9 €</p><input type=submit value='Add to cart'>"
    assert found(f"<title>Knife 20 cm</title><h1>Knife 20 cm</h1><p>SKU: K-1{body}").price == Decimal(9)


@pytest.mark.parametrize(
    ("first", "price"),
    [
        ("<p class=price>Free to Play</p>", 0),
        ("<p><b>Free</b> shipping</p>", 20),
        ("<p class=price><a href=/s>Free</a></p>", 20),
    ],
)
def test_what_is_free_has_no_price_of_a_bundle(first: str, price: int | None) -> None:
    body = f"{first}<button>Add to cart</button><h2>Supporter bundle</h2><p class=price>$20</p>"
    assert found(f"<title>Knife</title><h1>Knife</h1><p>SKU: K-100</p>{body}").price == price


def test_prices_of_different_links_make_a_listing() -> None:
    cards = "".join(f"<li><a href=/{n}>{n} pair</a><b>$9</b><button>Add to cart</button></li>" for n in "AB")
    assert extract_product(f"<title>Pairs</title><h1>Pairs</h1><ul>{cards}</ul>", "https://example.com/pairs") is None


def test_an_offer_may_name_what_it_offers() -> None:
    offer = {"@type": "Offer", "price": "9", "itemOffered": {"@type": "Product", "name": "Knife", "sku": "K-1"}}
    item = found(f"<title>Knife</title>{LD.format(json.dumps(offer))}<h1>Knife</h1>")
    assert (item.price, item.sku) == (Decimal(9), "K-1")


def test_a_price_stated_in_cents_gives_way_to_the_shown_one() -> None:
    stated = json_ld(name="Knife", sku=None, offers={"price": 1990, "priceCurrency": "EUR"})
    item = found(f"<title>Knife</title>{stated}<h1>Knife</h1><p class=price>19,90 €</p>")
    assert item.price == Decimal("19.90")


def test_what_a_review_is_of_is_not_sold_by_its_page() -> None:
    review = {"@type": "Review", "itemReviewed": {"@type": "Product", "name": "Knife", "offers": {"price": "9"}}}
    html = f"<title>Knife</title>{LD.format(json.dumps(review))}<h1>Knife</h1>"
    assert extract_product(html, "https://example.com/knife") is None


@pytest.mark.parametrize(
    "stated",
    [
        '{"@type": "BlogPosting", "headline": "How knives are made"}',
        '{"@type": "ItemList", "itemListElement": [{"@type": "Recipe", "name": "Knife 20 cm"}]}',
        '{"@type": "Product", "name": "Knife", "aggregateRating": {"ratingValue": 5}}',
        '[{"@type": "Article", "headline": "About knives"}, {"@type": "Product", "name": "Knife 20 cm", "sku": "1"}]',
    ],
)
def test_a_product_page_may_name_articles_and_stars(stated: str) -> None:
    item = found(f"<title>Knife 20 cm | Shop</title>{LD.format(stated)}<h1>Knife 20 cm</h1>{SOLD}")
    assert item.price == Decimal("49.90")


@pytest.mark.parametrize(
    ("body", "availability", "source"),
    [
        ("<button>Add to cart</button>", "InStock", "html"),
        ("<button disabled>Add to cart</button>", "OutOfStock", "json-ld"),
        ("<p>Sold out</p><button>Add to cart</button>", "OutOfStock", "json-ld"),
        ("<ul class=sizes><li>M (sold out)</ul><button>Add to cart</button>", "InStock", "html"),
        ("<button>Add to wish list</button>", "OutOfStock", "json-ld"),
        ("<p>Get notified when it is back</p><button>Add to cart</button>", "OutOfStock", "json-ld"),
        ("", "OutOfStock", "json-ld"),
    ],
)
def test_what_sells_is_in_stock_whatever_machines_are_told(body: str, availability: str, source: str) -> None:
    offer = {"price": "9", "priceCurrency": "EUR", "availability": "OutOfStock"}
    item = found(f"<title>Knife</title>{json_ld(name='Knife', offers=offer)}<h1>Knife</h1><p>9 €</p>{body}")
    assert (item.availability, item.found_in["availability"]) == (availability, source)


@pytest.mark.parametrize(
    ("body", "availability"),
    [
        ("<button>Add to cart</button><p>Pre-order the next edition</p>", "InStock"),
        ("<p>Pre-order</p><button>Add to cart</button>", "PreOrder"),
        ("<p>Stock: 0</p>", "OutOfStock"),
        ("<p>Stock:</p><p>0</p><button>Add to cart</button>", "OutOfStock"),
        ("<p>Stock: 10</p>", "InStock"),
        ("<select><option>M</select><button disabled>Add to cart</button>", "InStock"),
        ("<button class='btn sold-out'>Add to cart</button>", "OutOfStock"),
    ],
)
def test_what_buttons_say_of_the_stock(body: str, availability: str) -> None:
    assert found(f"<title>Knife</title><h1>Knife</h1><p class=price>$9</p>{body}").availability == availability


@pytest.mark.parametrize(
    ("body", "brand"),
    [
        ("<h2 class=productView-brand><a href=/acme><i>Acme</i></a></h2>", "Acme"),
        ("<p class=Marka><a href=/acme>Acme</a></p>", "Acme"),
        ("<div class='producertag h6 producer text-muted'><i>Acme</i></div>", "Acme"),
        ("<p>Vendor</p><p>Acme</p>", "Acme"),
        ("<p>Märke:</p><p>\u200eAcme</p>", "Acme"),
        ("<a href=/marque/acme>Acme</a>", "Acme"),
        ("<a href='/collections/vendors?q=Acme'>Acme</a>", "Acme"),
        ("<a href=/brand/acme>All of Acme</a>", "Acme"),
        ("<a href=/brands/7-acme-tools>More from Acme Tools</a>", "Acme Tools"),
        ("<a href=/brand/x1>All of Acme</a>", None),
        ("<p class=product-single__vendor>Acme</p>", "Acme"),
        ("<a id=brandTitle href=/acme>Acme</a>", "Acme"),
        ("<a href=/designers/acme>Acme of York</a>", "Acme of York"),
        ("<div class=manufacturer-box><img src=/7.png alt=Acme></div>", "Acme"),
        ("<a href=/brand/acme><img src=/7.png alt=Acme></a>", "Acme"),
        ("<a data-test=brand-logo><img src=/7.png alt=Acme></a>", "Acme"),
        ("<div class=product--supplier><img src=/7.png alt=Acme></div>", "Acme"),
        ("<div class=payment><img src=/7.png alt=Acme></div>", None),
        ("<div data-qa=pdp-brand-123>Acme</div>", "Acme"),
        ("<button class=btn-brand><i>Buy now</i></button>", None),
        ("<p class=brand><i>Knife</i></p>", None),
    ],
)
def test_the_brand_that_is_shown(body: str, brand: str | None) -> None:
    html = f"<title>Knife</title><main><h1>Knife</h1><p class=price>$9</p>{body}<button>Add to cart</button></main>"
    item = found(html)
    assert item.brand == brand


@pytest.mark.parametrize(
    ("heading", "image", "brand"),
    [
        ("Acme X200 knife", "<div class=brand><a href=/acme><img alt=Acme src=/1.png></a></div>", "Acme"),
        ("Knife ACME X200", "<p class=marca><img alt=ACME src=/1.png></p>", "ACME"),
        ("Knife ACME X200", "<p class=marca><img alt='ACME X200' src=/1.png></p>", None),
        ("Knife", "<p class=marca><img alt=Knife src=/1.png></p>", None),
        ("Acme X200 knife", "<p>Steel</p><p>Wood</p><p>Oil</p><p><a href=/brands/7>Acme</a></p>", "Acme"),
        ("Acme X200 knife", "<p>Steel</p><p>Wood</p><p>Oil</p><p><a href=/brands/7>X200</a></p>", None),
        ("Acme X200 knife", "<p class=gallery><img alt=X200 src=/1.png></p>", None),
    ],
)
def test_an_image_named_a_brands_may_show_what_the_heading_says(heading: str, image: str, brand: str | None) -> None:
    body = f"<main><h1>{heading}</h1><p class=price>$9</p>{image}<button>Add to cart</button></main>"
    assert found(f"<title>{heading}</title>{body}").brand == brand


@pytest.mark.parametrize(
    ("title", "above", "heading", "brand"),
    [
        ("Acme - Jumper", "", "<b>Acme</b> <i>Jumper</i>", "Acme"),
        ("Jumper | Acme Wool", "<p>Acme Wool</p>", "Jumper", "Acme Wool"),
        ("Jumper", "<p>Best of wool</p>", "Jumper", None),
        ("Wexley T3", "", "Wexley T3</h1><p>by Wexley</p><h1 hidden>", "Wexley"),
        ("Salt Road", "", "Salt Road</h1><p>by Wexley</p><h1 hidden>", None),
        ("Jumper", "<p><a href=/>Acme Wool</a></p>", "Jumper", None),
    ],
)
def test_a_brand_that_only_its_place_tells(title: str, above: str, heading: str, brand: str | None) -> None:
    html = f"<title>{title}</title>{above}<h1>{heading}</h1><p class=price>$9</p><button>Buy now</button>"
    assert found(html, "https://www.acmewool.example/p/1").brand == brand


@pytest.mark.parametrize(
    ("body", "availability"),
    [
        ("<p>Out of stock</p><button disabled>Add to cart</button>", "OutOfStock"),
        ("<input type=submit disabled value='Sold out'>", "OutOfStock"),
        ("<button class=btn-disable>Add to cart</button><p>Sold out</p>", "OutOfStock"),
        ("<p>Sold out</p><a role=button aria-disabled=true>Add to cart</a>", "OutOfStock"),
        ("<p>Almost sold out</p><button disabled>Add to cart</button>", "InStock"),
        ("<p>In stock</p><p>XL: out of stock</p><button disabled>Add to cart</button>", "InStock"),
        ("<p>Out of stock</p><button>Add to cart</button>", "InStock"),
        ("<p>Out of stock</p>", "OutOfStock"),
        ("<p class=price__badge-sold-out>Sold out</p>", "InStock"),  # in each page, where styles hide it
        ("<div class=related><p>Sold out</p></div><button disabled>Add to cart</button>", "InStock"),
    ],
)
def test_a_promise_of_machines_that_the_page_denies(body: str, availability: str) -> None:
    html = f"<title>Kochmesser</title>{json_ld(sku=None)}<h1>Kochmesser</h1><p class=price>49.90 €</p>{body}"
    assert found(html, "https://x.example/knife").availability == availability


@pytest.mark.parametrize(("body", "is_out"), [("<p>Not available</p>", True), ("<p>Last one</p>", False)])
def test_a_few_that_machines_promise_are_none_if_the_page_denies_them(body: str, is_out: bool) -> None:
    stated = json_ld(offers={"price": "49.90", "priceCurrency": "EUR", "availability": "LimitedAvailability"})
    item = found(f"<title>Kochmesser</title>{stated}<h1>Kochmesser</h1><p class=price>49.90 €</p>{body}")
    assert item.availability == ("OutOfStock" if is_out else "LimitedAvailability")


def test_complete_data_is_denied_by_what_stands_right_behind_the_heading() -> None:
    denied = "<h1>Kochmesser</h1><p>49.90 €</p><p>Ausverkauft</p><button disabled>In den Warenkorb</button>"
    for above, availability in (("", "OutOfStock"), ("<p>Auf Lager</p>", "InStock"), ("<p>x</p>" * 1000, "InStock")):
        item = found(json_ld() + denied.replace("<p>Ausv", f"{above}<p>Ausv"))
        assert item.availability == availability
    assert found(f"{json_ld()}<h1>Kochmesser</h1><p>49.90 €</p><i>Ausverkauft</i>").availability == "OutOfStock"


def test_a_card_that_names_its_product_beside_the_link_is_anothers() -> None:
    card = "<div><a href=/p/fork><img alt=Fork></a><h6>Fork</h6><p>$4</p><button>Add to cart</button></div>"
    html = f"<title>Knife</title><h1>Knife</h1><p class=price>$9</p><p>Sold out</p>{card * 3}"
    assert found(html, "https://x.example/p/knife").availability == "OutOfStock"


def test_products_on_a_page_that_calls_itself_a_collection_are_its_entries() -> None:
    drills = [{"@type": "Product", "name": each, "offers": {"price": "59.00"}} for each in ("Drill A", "Drill B")]
    data = json.dumps([{"@type": "CollectionPage", "name": "Tools"}, *drills])
    shown = "<h1>Tools</h1><p class=price>$59.00</p><button>Add to cart</button>"
    html = f'<title>Tools</title><script type="application/ld+json">{data}</script>{shown}'
    assert extract_product(html, "https://shop.example.com/collections/tools") is None
    named = extract_product(html.replace("Tools", "Drill B"), "https://shop.example.com/collections/tools")
    assert named is not None
    assert named.title == "Drill B"


def test_a_category_that_calls_itself_a_product_is_none() -> None:
    cards = "".join(f"<li><a href=/p/{at}>Drill {at}</a><p class=price>{at}9 €</p></li>" for at in range(1, 9))
    html = f'<title>Drills</title><meta property="og:type" content="product"><h1>Drills</h1><ul>{cards}</ul>'
    assert extract_product(html, "https://x.example/drills/") is None


def test_cards_that_link_to_their_products_twice_are_a_listings() -> None:
    card = (
        '<li itemscope itemtype="https://schema.org/Product"><a itemprop="url" href="/p/{0}"><img alt=x></a>'
        '<a itemprop="url" href="/p/{0}"><b itemprop="name">Board {0}</b></a><div itemprop="offers" itemscope '
        'itemtype="https://schema.org/Offer"><b itemprop="price">{0}8.00</b>'
        '<meta itemprop="priceCurrency" content="EUR"></div></li>'
    )
    html = f"<title>Wood</title><h1>Wood</h1><ul>{card.format(1)}{card.format(2)}</ul>"
    assert extract_product(html, "https://x.example/wood/") is None


def test_a_category_of_products_that_are_named_by_a_number_is_none() -> None:
    cards = "".join(
        f"<li><a class=name href=/bags/{at}>{at}</a><p class=price>230 €</p></li>" for at in ("0996-4", "0997-1")
    )
    html = f"<title>Shopping bags</title><h1>Shopping bags</h1><ul>{cards}</ul><button>Add to cart</button>"
    assert extract_product(html, "https://x.example/bags/") is None


def test_one_size_in_stock_is_enough() -> None:
    sizes = [{"@type": "Product", "name": "Shirt", "sku": str(n), "offers": {"price": "9", "priceCurrency": "EUR",
              "availability": stock}} for n, stock in enumerate(("OutOfStock", "InStock", "OutOfStock"))]  # fmt: skip
    item = found(f"<title>Shirt</title>{LD.format(json.dumps(sizes))}<h1>Shirt</h1>")
    assert (item.sku, item.availability) == ("0", "InStock")


def test_a_product_pattern_decides_for_its_urls_and_against_all_others() -> None:
    rules = '["shop.example.de"]\nproduct = "/artikel/"'
    bare = "<h1>Kochmesser</h1><p>Beschreibung"
    assert found(bare, rules=rules).title == "Kochmesser"
    chosen = parse_rules(rules).for_url(URL)
    assert extract_product(page(), "https://shop.example.de/blog/kochmesser", chosen) is None
    assert extract_product(page(json_ld()), "https://shop.example.de/blog/kochmesser", chosen) is not None


def test_a_price_that_is_struck_through_gives_way_to_the_one_asked() -> None:
    item = found(page(json_ld(offers={"price": "59.00", "priceCurrency": "EUR", "availability": "InStock"})))
    assert (item.price, item.found_in["price"]) == (Decimal("49.90"), "html")


def test_a_price_that_the_page_does_not_show_gives_way_to_a_higher_one() -> None:
    html = page(json_ld(offers={"price": "39.00", "priceCurrency": "EUR", "availability": "InStock"}))
    assert found(html).price == Decimal("49.90")


def test_of_two_stated_prices_the_shown_one_counts() -> None:
    metas = '<meta property="product:price:amount" content="49.90">'
    item = found(page(json_ld(offers={"price": "45.00", "priceCurrency": "EUR", "availability": "InStock"}), metas))
    assert (item.price, item.found_in["price"]) == (Decimal("49.90"), "html")


@pytest.mark.parametrize(
    ("stock", "button", "availability", "source"),
    [
        ("Auf Lager", "", "InStock", "html"),
        ("Ausverkauft", ' disabled=""', "OutOfStock", "html"),
        ("Ausverkauft in Größe M", "", "InStock", "html"),
        ("Jetzt vorbestellen", "", "PreOrder", "html"),
        ("Nicht mehr im Sortiment", " disabled", "Discontinued", "html"),
        ("Farbe: rot", " disabled", "InStock", "inferred"),
        ("Farbe: rot", "", "InStock", "html"),
    ],
)
def test_what_the_page_says_of_its_stock(stock: str, button: str, availability: str, source: str) -> None:
    item = found(page(stock=stock, button=button))
    assert (item.availability, item.found_in["availability"]) == (availability, source)


@pytest.mark.parametrize(
    ("body", "availability"),
    [
        ("<li>Availability: Out of stock</li>", "OutOfStock"),
        ("<li><b>Availability:</b> <i>Out of stock</i></li>", "OutOfStock"),
        ("<li>Availability: in stock, blue sold out</li>", "InStock"),
        ("<li>Наличие: Нет в наличии</li>", "OutOfStock"),
        ("<button disabled>Out of stock</button>", "OutOfStock"),
        ("<button>Size 12: sold out</button>", "InStock"),
        ("<button><b>12</b> <i>sold out</i></button>", "InStock"),
        ("<ul class=sizes><li><button>12: sold out</button></ul>", "InStock"),
        ("<li>Size M: sold out</li>", "InStock"),
        ("<div class=related><li>Availability: Out of stock</li></div>", "InStock"),
    ],
)
def test_a_labelled_denial_outweighs_a_button(body: str, availability: str) -> None:
    html = f"<title>Knife</title><h1>Knife</h1><p class=price>$9</p>{body}<button>Add to cart</button>"
    assert found(html, "https://shop.example.com/product/knife").availability == availability


def test_a_price_that_nothing_denies_means_in_stock_and_says_that_it_is_inferred() -> None:
    item = found(json_ld(offers={"price": "5", "priceCurrency": "EUR"}) + "<h1>Messer</h1>")
    assert (item.availability, item.found_in["availability"]) == ("InStock", "inferred")
    unpriced = found(json_ld(offers={}) + "<h1>Messer</h1>")
    assert (unpriced.price, unpriced.availability) == (None, None)


@pytest.mark.parametrize(
    ("url", "fields", "sku", "source"),
    [
        ("https://x.example/p/20451-knife", {"sku": None}, "20451", "url"),
        ("https://x.example/knife?sku=AB-12", {"sku": None}, "AB-12", "url"),
        ("https://x.example/dp/B0ABC12345", {"sku": " "}, "B0ABC12345", "url"),
        ("https://x.example/knife", {"sku": None}, None, None),
        ("https://x.example/knife-20451.html", {"sku": "MODEL X", "mpn": "20451"}, "20451", "json-ld"),
        ("https://x.example/knife-20451.html", {"sku": "KN-9", "mpn": "M-1"}, "KN-9", "json-ld"),
        ("https://x.example/knife-20451.html", {"sku": None, "productID": "PX-7"}, "PX-7", "html"),
    ],
)
def test_the_identifier_with_the_most_evidence(
    url: str, fields: dict[str, Any], sku: str | None, source: str | None
) -> None:
    item = found(json_ld(**fields) + "<h1>Knife</h1>", url)
    assert (item.sku, item.found_in.get("sku")) == (sku, source)


@pytest.mark.parametrize(
    ("stated", "body", "sku"),
    [
        ("9988776", "<p>Item no.: KN-77</p>", "KN-77"),
        ("9988776", "<p>Item no.: KN-77, internally <b>9988776</b></p>", "9988776"),
        ("9988776", "<p>Model number: KN-77</p>", "9988776"),
        ("9988776", "<p data-id='9988776'>SKU: 20.5.2024</p>", "9988776"),
        ("9988776", "<div class=related>Item no.: KN-77</div>", "9988776"),
        ("9988776", "<img alt='x > 9988776'><p>Item no.: KN-77</p>", "9988776"),
    ],
)
def test_an_identifier_that_nobody_sees_gives_way_to_the_one_shown(stated: str, body: str, sku: str) -> None:
    assert found(f"<title>Knife</title>{json_ld(sku=stated)}<h1>Knife</h1>{body}").sku == sku


@pytest.mark.parametrize(
    "brand",
    [
        "{{ product.brand }}",
        "${brand}",
        "<%= brand %>",
        "product.brand.name",
        "%BRAND%",
        "__BRAND__",
        "[object Object]",
        "2020-12-01",
        "1.12.2020",
        "Dec 1, 2020",
        "2020-12-01T10:00:00Z",
        "https://shop.example.com/brand",
    ],
)
def test_templates_and_dates_are_no_brands(brand: str) -> None:
    assert found(json_ld(brand=brand) + "<h1>Knife</h1>").brand is None


@pytest.mark.parametrize(
    ("body", "sku"),
    [
        ("<aside>SKU: KN-77</aside>", "KN-77"),
        ("<aside>SKU: KN-77</aside><aside>SKU: KN-77</aside>", "KN-77"),
        ("<aside>SKU: KN-77</aside><aside>SKU: KN-78</aside>", None),
        ("<p>SKU: KN-78</p><aside>SKU: KN-77</aside>", "KN-78"),
    ],
)
def test_an_identifier_in_what_opens_beside_the_page(body: str, sku: str | None) -> None:
    html = f"<h1>Knife</h1><p class=price>$49</p><button>Buy</button>{body}"
    assert found(html, "https://x.example/knife").sku == sku


@pytest.mark.parametrize(
    ("body", "price"),
    [
        ("<p class=price>$49.90</p>", "49.90"),  # the stated one is without tax, or of last week
        ("<p class=price>$49.90</p><p>$41.00 excl. VAT</p>", "49.90"),
        ("<p class=price>$41<sup>00</sup></p><p class=price>$49.90</p>", "41.00"),
        ("<p class=price>$149.90</p>", "41.00"),
        ("<p class=price--withoutTax>$49.90</p><p hidden>$9</p>", "49.90"),
        ("<p class=price>€49.90</p>", "41.00"),
        ("<p>$49.90</p><p>$47.90</p><p>$52.90</p>", "41.00"),
        ("<div class=related><p class=price>$49.90</p></div>", "41.00"),
        ("", "41.00"),
    ],
)
def test_a_stated_price_that_the_page_does_not_show(body: str, price: str) -> None:
    offer = {"price": "41.00", "priceCurrency": "USD", "availability": "InStock", "valueAddedTaxIncluded": False}
    assert str(found(f"{json_ld(offers=offer)}<h1>Kochmesser</h1>{body}", "https://x.example/knife").price) == price


@pytest.mark.parametrize(
    ("title", "image", "brand"),
    [
        ("Acme X200 knife", '<img class="brand-logo" alt="Acme" src="/1.png">', "Acme"),
        ("Acme X200 knife", '<img src="/marques/7.png" alt="Acme logo">', "Acme"),
        ("Acme X200 knife", '<img src="/7.png" alt="Acme">', None),
        ("Acme X200 knife", '<img class="logo" alt="Best Shop">', None),
        ("Shop - X200 knife", '<img class="logo" alt="Shop">', None),
        ("L'Acme, X200 knife", "<img class=logo alt=L&#39;Acme,>", "L'Acme,"),
        ('a"],* X200 knife', "<img class=logo alt='a\"],*'>", None),
        ("a\\ X200 knife", "<img class=logo alt=a\\>", None),
    ],
)
def test_the_logo_of_the_brand(title: str, image: str, brand: str | None) -> None:
    html = f"<title>{title}</title>{image}<h1>{title}</h1><p class=price>$49</p><button>Buy</button>"
    assert found(html, "https://x.example/p/knife").brand == brand


@pytest.mark.parametrize(("href", "brand"), [("#", None), ("/brand/acme", "Acme"), ("/brand/others", None)])
def test_a_logo_that_asks_to_see_more_of_a_brand_has_the_name_that_its_link_has(href: str, brand: str | None) -> None:
    logo = f'<div id="brand-logo"><a href="{href}"><img alt="View all products by Acme"></a></div>'
    html = f"<title>Knife</title><main><h1>Knife</h1>{logo}<p class=price>$49</p><button>Buy</button></main>"
    assert found(html, "https://x.example/p/knife").brand == brand


def test_reviews_near_the_heading_count_before_those_beside_other_stars() -> None:
    shown = "<i class=stars>7 reviews</i><h1>Acme knife</h1><p>782 reviews<p class=price>$49<p><button>Buy</button>"
    assert found(f"<title>Acme knife</title>{shown}", "https://x.example/p/knife").review_count == 782


@pytest.mark.parametrize(
    "meta",
    [
        '<meta property="og:type" content="article"><meta property="og:type" content="og:product">',
        '<meta property="og:type" content="website"><meta property="product:price:amount" content="49">',
    ],
)
def test_metas_of_a_product(meta: str) -> None:
    html = f"<head><title>Knife</title>{meta}</head><h1>Knife</h1><p>$49"
    assert found(html, "https://x.example/knife").title == "Knife"


@pytest.mark.parametrize(
    ("body", "url", "is_product"),
    [
        (
            "<h1>Contact us</h1><form><textarea></textarea><button>Send</button></form>",
            "https://x.example/contact",
            False,
        ),
        ("<h1>Log in</h1><form><input type=password><button>Log in</button></form>", "https://x.example/login", False),
        ("<h1>Knife</h1><p>Forged by hand</p>", "https://x.example/product/knife", True),
        ("<h1>Knife</h1><p>Item no. KN-2041</p>", "https://x.example/knife", True),
        ("<h1>Knife</h1><p>Out of stock</p>", "https://x.example/knife", True),
        ("<h1>Knife</h1><p>$49</p>", "https://x.example/knife", True),
        ("<h1>Knife</h1><button>Add to cart</button>", "https://x.example/knife", True),
    ],
)
def test_a_page_has_to_bear_out_that_it_is_a_product(body: str, url: str, *, is_product: bool) -> None:
    called = f'<title>Example</title><meta property="og:type" content="product">{body}'
    assert (extract_product(called, url) is not None) is is_product


def test_a_recipe_that_calls_itself_a_product_is_none_without_a_sign_of_one() -> None:
    stated = '<script type="application/ld+json">{"@type": "Recipe", "name": "Bean curry"}</script>'
    called = f'<meta property="og:type" content="product">{stated}'
    assert extract_product(f"{called}<h1>Bean curry</h1><p>Soak the beans.", "https://x.example/recipes/curry") is None


@pytest.mark.parametrize(
    ("value", "sku"),
    [
        ("5f908b0e176fbe430b867170", None),
        ("1b4e28ba-2fa1-11d2-883f-0016d3cca427", None),
        ("34366276239491", None),
        ("4006381333931", "4006381333931"),
        ("20451", "20451"),
    ],
)
def test_numbers_of_a_database_are_no_identifiers(value: str, sku: str | None) -> None:
    body = f"<h1>Knife</h1><p class=price>$49</p><button data-product-id={value}>Buy</button>"
    assert found(body, f"https://x.example/knife-{value}").sku == sku


def test_what_the_cart_offers_is_no_listing() -> None:
    card = "<div class=card><b class=price>$9</b><button>Add to cart</button></div>"
    html = f"<title>Steel knife</title>{card}<h1>Steel knife</h1>{card.replace('$9', '$49')}"
    assert found(html, "https://x.example/knife").price == 49
    assert extract_product(f"<h1>Knives</h1>{card}{card.replace('$9', '$49')}", "https://x.example/knives") is None


def test_an_identifier_that_page_and_url_share_wins() -> None:
    html = "<h1>Knife</h1><p>Model: X1</p><form><input type=hidden name=product_id value=77001></form>" + json_ld(
        sku=None
    )
    assert found(html, "https://x.example/knife-77001.html").sku == "77001"


@pytest.mark.parametrize("kind", ["bytes", "text", "document"])
def test_bytes_text_and_documents_give_the_same(kind: str) -> None:
    html = page(json_ld(name="Messer ½"))
    given: Any = {"bytes": html.encode(), "text": html, "document": Document(html, URL)}[kind]
    item = extract_product(given, URL)
    assert item is not None
    assert item.title == "Messer ½"


def test_the_currency_of_a_shared_symbol_is_the_countrys() -> None:
    html = "<h1>Doorbell</h1><p class=price>$219.99</p><button>Add to cart</button>"
    assert found(html, "https://shop.example.ca/p/doorbell").currency == "CAD"
    assert found(html, "https://shop.example.com/en-au/p/doorbell").currency == "AUD"
    assert found(html, "https://shop.example.com/p/doorbell").currency == "USD"


def plans(number: int, button: str, price: str = "€{n}9") -> str:
    cards = (f"<h3>Plan {n}</h3><b>{price.format(n=n)}</b><button>{button}</button>" for n in range(1, number + 1))
    return "<h1>Plans</h1>" + "".join(f"<div class=card>{card}</div>" for card in cards)


ABOUT = '{{"@type": "{}", "name": "Jazz Night", "offers": {{"price": "25", "priceCurrency": "EUR"}}}}'
TICKETS = "<h1>Jazz Night</h1><p>12 December, 20:00</p><p class=price>€25.00</p><button>{}</button>"


@pytest.mark.parametrize(
    "body",
    [
        plans(2, "Buy now"),
        plans(3, "Add to cart"),
        plans(6, "Add to cart", "€19"),
        "<h1>Pricing</h1><p class=price>€29</p><span>per month</span><button>Buy now</button>",
        "<h1>Suite</h1><p class=price>€129 / Nacht</p><button>Jetzt kaufen</button>",
        "<h1>Karnet Open</h1><p class=price>129 zł / miesiąc</p><button>Dodaj do koszyka</button>",
        "<h1>Kreta</h1><p class=price>499 €</p><p>p.P.</p><button>Jetzt kaufen</button>",
        "<h1>Kreta</h1><p class=price>499 €</p><button>Jetzt buchen</button>",
        "<h1>Piso</h1><p class=price>215.000 €</p><p>3 habitaciones, 90 m²</p><p>Ref. VLC-1290</p>",
        "<h1>Zemljište, 800 m²</h1><p class=price>120.000 €</p><p>Šifra: ZD-12</p>",
        *(
            LD.format(ABOUT.format(kind)) + TICKETS.format("Buy now")
            for kind in ("Event", "MusicEvent", "Service", "Hotel")
        ),
        *map(TICKETS.format, ("Buy tickets", "Tickets kaufen", "Acheter des billets", "Comprar entradas", "Kup bilet")),
        "<h1>Altbau in Leipzig</h1><p>Kaltmiete <b class=price>890 €</b></p><p>Objektnummer 88123</p>",
        "<h1>Flat in Leeds</h1><p>Monthly rent <b class=price>£890</b></p><p>Ref: LS-88123</p>",
        "<h1>Verkäufer</h1><p>Referenz: 88123</p><p>Gehalt: 2.800 €</p><button>Jetzt bewerben</button>",
        "<h1>Gold card</h1><p>Annual fee <b class=price>$95</b></p><p>Product code: GC-100</p><a href=/a>Apply now</a>",
        "<h1>Acme AG</h1><p>ISIN: DE0007236101</p><p class=price>€49.90</p><button>Buy now</button>",
        "<h1>Acme knife: our test</h1><p class=price>€49.90</p><a href=https://other.example.net/x>Buy now</a>",
    ],
)
def test_what_is_sold_but_no_product(body: str) -> None:
    assert extract_product(body, "https://shop.example.com/some/page") is None


def test_the_same_price_for_screens_of_all_sizes() -> None:
    bar = "<div class=bar><b>€49.90</b><button>Add to cart</button></div>"
    item = extract_product(f"<h1>Steel knife</h1>{bar * 3}", "https://shop.example.de/p/knife")
    assert item is not None
    assert str(item.price) == "49.90"


@pytest.mark.parametrize(
    ("path", "body", "is_product"),
    [
        ("p/mill", "<p>SKU: M-100</p><p class=price>$9</p><button>Add to cart</button>", True),
        ("mill", "<p>SKU: M-100</p><p class=price>$9</p><button>Add to cart</button>", False),
        ("p/mill", "<p class=price>$9</p>", False),
    ],
)
def test_data_about_other_products_hides_none(path: str, body: str, is_product: bool) -> None:
    others = [{"@type": "Product", "name": f"Pan {n}", "offers": {"price": n, "priceCurrency": "USD"}} for n in (7, 8)]
    data = {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": each} for each in others]}
    script = f'<script type="application/ld+json">{json.dumps({"@context": "https://schema.org", **data})}</script>'
    html = f"<title>Mill</title>{script}<h1>Mill</h1>{body}"
    assert (extract_product(html, f"https://shop.example.com/{path}") is not None) is is_product


def test_offers_and_their_stock_may_begin_with_a_capital() -> None:
    offer = {
        "@type": "Offer",
        "price": "38.25",
        "priceCurrency": "USD",
        "Availability": "https://schema.org/OutOfStock",
    }
    stated = json.dumps({"@type": "Product", "name": "Hat", "Offers": offer})
    item = extract_product(f"<title>Hat</title>{LD.format(stated)}<h1>Hat</h1>", "https://shop.example.com/hat")
    assert item is not None
    assert (item.price, item.availability, item.found_in["price"]) == (Decimal("38.25"), "OutOfStock", "json-ld")


REGULAR = '<p class="price price--regular"><i>Regular price</i> <b>$64</b></p>'


@pytest.mark.parametrize(
    ("body", "is_product"),
    [
        (f"{REGULAR}<p>Sold out</p>", True),
        (f"{REGULAR}<p>For a while</p>", False),
        ("<p>Shipping: <b class=price>$64</b></p><p>Sold out</p>", False),
    ],
)
def test_what_is_sold_out_has_its_regular_price(body: str, is_product: bool) -> None:
    item = extract_product(f"<title>Bowl | Clay</title><h1>Bowl</h1>{body}", "https://clay.example.com/products/bowl")
    assert (item is not None and (item.price, item.availability) == (Decimal(64), "OutOfStock")) is is_product


def test_a_front_page_is_no_product_by_its_looks() -> None:
    body = "<h1>Welcome</h1><h2>Deal of the day</h2><b class=price>€49.90</b><button>Buy now</button>"
    assert extract_product(body, "https://shop.example.de/") is None
    assert extract_product(body, "https://shop.example.de/?p=2231") is not None


BUY = "<button>Add to cart</button>"
TWO = [{"price": "98", "priceCurrency": "EUR"}, {"price": "115", "priceCurrency": "USD"}]


@pytest.mark.parametrize(
    ("body", "price", "lang"),
    [
        (
            "<dl><dt>Weight</dt><dd>2 kg</dd><dt>Our price</dt><dd>$38.25</dd><dt>List price</dt><dd>$45</dd></dl>",
            38.25,
            "en",
        ),
        ("<p>£45.00 - £54.00 inc. VAT</p>", 45, "en"),
        ("<p>45,00 € – 54,00 € inkl. MwSt.</p>", 45, "de"),
        ("<a href=/n>Subscribe for 10% off</a><h1>Hat</h1><p class=price>€20.00</p><p>Shipping €5.00</p>", 20, "en"),
        ("<p class=price>20 €</p><p>Krém na den</p>", 20, "cs"),
        ("<p class=price>20 kr</p><p>Finns även i den här färgen</p>", 20, "sv"),
        ("<p class=price>20 €</p><p>Material: PP</p>", 20, "de"),
        ("<p class=price>499 €</p><p>Für Grundstücke bis 800 m²</p>", 499, "de"),
        ("<p class=price>49 €</p><p>Haute d’environ un mètre</p>", 49, "fr"),
        ("<p>€45</p><p>3 - 5 days</p><p>€38</p>", 38, "en"),
    ],
)
def test_rules_for_other_texts_leave_these_alone(body: str, price: float, lang: str) -> None:
    """Each was read wrong by a rule that a text like it had asked for."""
    heading = "" if "<h1>" in body else "<h1>Hat</h1>"
    html = f"<html lang={lang}><title>Hat | Shop</title><body>{heading}{body}{BUY}"
    item = extract_product(html, "https://shop.example.com/product/hat-20451")
    assert item is not None
    assert item.price == Decimal(str(price))


@pytest.mark.parametrize(
    ("body", "price", "currency"),
    [
        ("<s>€98</s> <b class=price>€79</b>", 79, "EUR"),
        ("<b class=price>€99</b><p>Free delivery from €115</p>", 99, "EUR"),
        ("<b class=price>€98</b><p>Free shipping over $115</p>", 98, "EUR"),
        ("<b class=price>$115</b>", 115, "USD"),
    ],
)
def test_a_price_in_another_currency_replaces_the_stated_one_where_it_is_asked(
    body: str, price: int, currency: str
) -> None:
    stated = json.dumps({"@type": "Product", "name": "Hat", "offers": TWO})
    item = extract_product(
        f"<title>Hat</title>{LD.format(stated)}<h1>Hat</h1>{body}{BUY}", "https://shop.example.com/hat"
    )
    assert item is not None
    assert (item.price, item.currency) == (Decimal(price), currency)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/makers", '<span aria-label="Cart, $12.00"></span><button>Add to cart</button>'),
        ("/our-story", "<progress class=price-goal data-price=50.00></progress><button>Add to cart</button>"),
        ("/card", "<p class=price>$9</p><button>Order now</button><a href=/a>Apply for this credit card</a>"),
    ],
)
def test_pages_that_only_look_like_a_products_in_part_are_none(path: str, body: str) -> None:
    html = f"<title>Our story</title><h1>Our story</h1>{body}"
    assert extract_product(html, f"https://shop.example.com{path}") is None
