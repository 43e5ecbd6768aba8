"""Where what a page states in one place is checked against what it says in another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crawler.extraction import extract_product

URL = "https://www.fjellbua-shop.com/p/trekking-pole"
HEADING, BUY, PRICE = "<h1>Trekking Pole</h1>", "<button>Add to cart</button>", "<p class=price>$49.90</p>"


def data(**fields: Any) -> str:
    offer = {"price": "49.90", "priceCurrency": "USD", "availability": "https://schema.org/InStock"}
    product = {"@type": "Product", "name": "Trekking Pole", "offers": offer, **fields}
    return f'<script type="application/ld+json">{json.dumps(product)}</script>'


def offered(price: str, currency: str = "USD", **fields: Any) -> str:
    return data(offers={"price": price, "priceCurrency": currency, "availability": "InStock"}, **fields)


def state(**product: Any) -> str:
    return f'<script type="application/json">{json.dumps({"product": product})}</script>'


def value(field: str, body: str, head: str = "", url: str = URL, title: str = "Trekking Pole", lang: str = "en") -> Any:
    page = f'<!doctype html><html lang="{lang}"><head><title>{title} | Fjellbua</title>{head}</head><body>'
    item = extract_product(f"{page}<main>{body}</main>", url)
    assert item is not None
    found = getattr(item, field)
    return str(found) if field == "price" else found


RANGE = data(offers={"@type": "AggregateOffer", "lowPrice": "39.90", "highPrice": "69.90", "priceCurrency": "USD"})
SIZES = "<p><a href='?v=1'>100 cm <b>$39.90</b></a> <a href='?v=2'>120 cm <b>$49.90</b></a></p>"


@pytest.mark.parametrize(
    ("stated", "body", "price"),
    [
        (RANGE, f"{SIZES}{PRICE}", "49.90"),
        (RANGE, "<p class=price>$39.90 – $69.90</p>", "39.90"),
        (RANGE, "<p class=price>From $39.90</p>", "39.90"),
        (RANGE, f"{SIZES}<p class=price>$89.90</p>", "39.90"),  # not of this range
        (offered("41.58"), "<p>Price excl. VAT $41.58</p><p>Price incl. VAT <b>$49.90</b></p>", "49.90"),
        (offered("41.58"), "<table><tr><td>Excl. VAT<td>$41.58<tr><td>Price<td>$49.90</table>", "49.90"),
        (offered("20.00"), "<p>Price excl. VAT $20.00</p><p>Price <b>$49.90</b></p>", "20.00"),  # no tax is so high
        (offered("44.90", sku="TP-100"), f"{PRICE}<p>SKU: TP-100</p>", "49.90"),  # of last week
        (offered("9.90", sku="TP-100"), f"{PRICE}<p>SKU: TP-100</p>", "9.90"),  # too different: of something else
    ],
)
def test_a_stated_price_gives_way_to_the_one_that_the_page_asks(stated: str, body: str, price: str) -> None:
    assert value("price", f"{HEADING}{body}{BUY}", stated) == price


@pytest.mark.parametrize(
    ("stated", "shown", "currency"),
    [("USD", "249,90 zł", "PLN"), ("CAD", "$249.90", "CAD"), ("USD", "249,90 zł</p><p>$65.00", "USD")],
)
def test_a_stated_currency_gives_way_to_the_only_one_of_the_page(stated: str, shown: str, currency: str) -> None:
    assert value("currency", f"{HEADING}<p class=price>{shown}</p>{BUY}", offered("249.90", stated)) == currency


@pytest.mark.parametrize(
    ("body", "url", "lang", "price"),
    [
        ("<p>MRP: <b>₹2,499.00</b> (incl. of all taxes)</p>", "https://fjell.in/p/pole", "en-IN", "2499.00"),
        ("<p class=mrp>M.R.P. ₹ 2,499</p>", "https://fjell.in/p/pole", "en-IN", "2499"),
        ("<p>RRP £49.90</p>", "https://fjell.co.uk/p/pole", "en-GB", "49.90"),
        ("<p>MRP <s>₹2,499</s></p>", "https://fjell.in/p/pole", "en-IN", "None"),
        ("<p>MRP ₹2,499</p><p>MRP ₹1,499</p>", "https://fjell.in/p/pole", "en-IN", "None"),
        ("<p>Regular <s>$55.90</s></p><p>Online <b>$49.90</b></p><p>Fjell Card <b>$44.90</b></p>", URL, "en", "49.90"),
        ("<i>299 zł</i><p><b>249</b><i><sup>90</sup><u>zł</u></i></p>", "https://fjell.pl/p/kij", "pl", "249.90"),
        ("<p><b>2\u00a0349</b><i><sup>90</sup><u>zł</u></i></p>", "https://fjell.pl/p/kij", "pl", "2349.90"),
        ("<p class=price aria-label='$49.90'><i></i></p>", URL, "en", "49.90"),
        ("<p aria-label='Save $9.90'></p><p aria-label='Current price: $49.90'></p>", URL, "en", "49.90"),
        ("<p data-price-amount=49.90></p>", URL, "en", "49.90"),
        ("<form><input type=hidden name=price value=49.90></form>", URL, "en", "49.90"),
        ("<p data-price=4990></p>", URL, "en", "None"),  # perhaps in cents
        ("<aside><p data-price=49.90></p></aside>", URL, "en", "None"),
    ],
)
def test_the_only_price_of_a_page_counts_wherever_it_stands(body: str, url: str, lang: str, price: str) -> None:
    assert (
        value(
            "price", f"{HEADING}{body}{BUY}{'<button>Dodaj do koszyka</button>' * (lang == 'pl')}", "", url, lang=lang
        )
        == price
    )


def test_a_recommended_price_counts_though_the_button_is_disabled() -> None:
    body = f"{HEADING}<p>MRP ₹1,999</p><p>Out of stock</p><button disabled>Add to cart</button>"
    assert value("price", body, url="https://fjell.in/p/pole", lang="en-IN") == "1999"


@pytest.mark.parametrize(
    ("price", "found"),
    [
        ({"price": {"amount": 4990, "currency": "USD", "scale": 2}}, "49.9"),
        ({"price": {"amount": 4990, "currency": "JPY", "precision": 0}}, "4990"),
        ({"prices": {"price": "4990", "currency_code": "USD", "currency_minor_unit": 2}}, "49.9"),
        ({"priceInCents": 4990}, "49.9"),
        ({"price": {"amount": 4990, "currency": "USD"}}, "4990"),
    ],
)
def test_a_state_says_how_many_decimals_its_price_has(price: dict[str, Any], found: str) -> None:
    assert value("price", HEADING, state(name="Trekking Pole", **price)) == found


def test_a_page_without_a_heading_is_told_by_its_title_and_address() -> None:
    product = state(name="Altivo Trekking Pole Summit 3 XL", price="49.90", currency="USD")
    url = "https://www.fjellbua-shop.com/altivo-trekking-pole-summit-3"
    assert value("title", "<div id=app></div>", product, url) == "Altivo Trekking Pole Summit 3 XL"
    for other in (
        "https://www.fjellbua-shop.com/altivo-trekking",
        "https://www.fjellbua-shop.com/corvo-trekking-pole-2",
    ):
        html = f"<title>Trekking Pole | Fjellbua</title>{product}<div id=app></div>"
        assert extract_product(html, other) is None


@pytest.mark.parametrize(
    ("stated", "button", "availability"),
    [
        ("InStock", "<button>Pre-order</button>", "PreOrder"),
        ("Discontinued", BUY, "InStock"),
        ("OutOfStock", BUY, "InStock"),
        ("InStock", "<p>Pre-order our catalogue</p>" + BUY, "InStock"),
    ],
)
def test_a_working_button_outweighs_stated_stock(stated: str, button: str, availability: str) -> None:
    head = data(offers={"price": "49.90", "priceCurrency": "USD", "availability": stated})
    assert value("availability", f"{HEADING}{PRICE}{button}", head) == availability


@pytest.mark.parametrize(
    ("head", "body", "brand"),
    [
        (data(brand="Fjellbua"), "<p>Brand: Altivo</p>", "Altivo"),  # the end of the page's title
        (data(brand="Fjellbua"), "<a href=/brand/trekking>Trekking</a>", "Trekking"),
        (data(brand="Kjell Sport"), "<p>Brand: Trekking</p>", "Trekking"),  # the title names it
        (data(brand="Altivo"), "<p>Brand: Corvo</p>", "Altivo"),
        ("", "<p>SKU: TP-100 · Brand: Altivo · Weight: 300 g</p>", "Altivo"),
        ("", "<p>SKU: TP-100 | Brand: <a href=/altivo>Altivo</a> | Weight: 300 g</p>", "Altivo"),
        ("", "<p>Winery: <a href=/w/kessler>Kessler</a></p>", "Kessler"),
        ("", "<p>Publisher: Harbour Games</p>", "Harbour Games"),
        ("", "<p>By: J. Doe | Publisher: Harbour Press</p><p>ISBN: 9783161484100</p>", None),
        ("", "<p>Author: J. Doe</p><p>Publisher: Harbour Press</p>", None),
        ("", "<a href=/brands/altivo title=Altivo><img alt='' src=/1.png></a>", "Altivo"),
        ("", "<div data-name='Trekking Pole' data-brand=\"Altivo\"></div>", "Altivo"),
        ("", '<div data-gtm=\'{"name":"Trekking Pole","brand":"Altivo"}\'></div>', "Altivo"),
        ("", "<div data-name='Rain Coat' data-brand=\"Altivo\"></div>", None),
        ('<script>x={"product_name":["Trekking Pole"],"product_brand":["Altivo"]}</script>', "", "Altivo"),
        ('<script>x={"productName":"Trekking Pole","productBrand":"Altivo"}</script>', "", "Altivo"),
        ('<script>x={"name":"Trekking Pole","grand":"Altivo"}</script>', "", None),
    ],
)
def test_a_brand_is_the_one_that_the_page_confirms(head: str, body: str, brand: str | None) -> None:
    assert value("brand", f"{HEADING}{PRICE}{BUY}{body}", head) == brand


def test_a_brand_stands_in_a_block_of_its_own_above_the_heading() -> None:
    block = "<div class=ProductCard__brand><a href=/altivo>ALTIVO</a></div>"
    assert value("brand", f"{block}{HEADING}{PRICE}{BUY}") == "ALTIVO"


@pytest.mark.parametrize(
    ("url", "head", "body", "sku"),
    [
        (
            "/trekking-pole-48213.html",
            "<script>x={'item_id':'48213','item_name':'Trekking Pole'}</script>",
            "",
            "48213",
        ),
        ("/trekking-pole.html", "<script>x={'item_id':'48213','item_name':'Trekking Pole'}</script>", "", None),
        ("/trekking-pole-821.html", "<script>x={'item_id':'821','item_name':'Trekking Pole'}</script>", "", None),
        ("/trekking-pole.html", "", "<p>EAN: 4006381333931</p>", "4006381333931"),
        ("/trekking-pole.html", "", "<p>EAN: 4006381333931</p><p>SKU: TP-100</p>", "TP-100"),
    ],
)
def test_an_identifier_is_one_that_two_places_state_or_a_gtin(url: str, head: str, body: str, sku: str | None) -> None:
    assert value("sku", f"{HEADING}{PRICE}{BUY}{body}", head, f"https://www.fjellbua-shop.com{url}") == sku


@pytest.mark.parametrize(
    ("name", "site", "title"),
    [
        ("{{ product.name }}", "", "Trekking Pole"),
        ("Trekking Pole — Fjellbua", "Fjellbua", "Trekking Pole"),
        ("Trekking Pole — Black", "Fjellbua", "Trekking Pole — Black"),
    ],
)
def test_a_title_is_no_template_and_does_not_name_the_site(name: str, site: str, title: str) -> None:
    head = f'<meta property="og:site_name" content="{site}">{data(name=name)}'
    assert value("title", f"{HEADING}{PRICE}{BUY}", head) == title


@pytest.mark.parametrize(
    ("name", "path", "price"),
    [
        ("Rain Boot", "/p/rain-boot", "49.90"),  # described on its own page
        ("Rain Boot", "/p/trekking-pole", "199.00"),
        ("Altivo Trekking Pole", "/altivo/trekking-pole", "199.00"),
    ],
)
def test_the_only_product_that_is_described_may_be_of_another_page(name: str, path: str, price: str) -> None:
    head = offered("199.00", name=name, url=f"https://www.fjellbua-shop.com{path}")
    body = f"{HEADING}{PRICE}{BUY}" if price == "49.90" else f"{HEADING}{BUY}"
    assert value("price", body, head) == price


def test_the_end_of_another_products_price_does_not_confirm_the_stated_one() -> None:
    shown = "<p class=price>3 150 ₽</p>"
    others = "<ul><li class=card><a href=/b>Rain Boot</a> <b>990 ₽</b></li></ul>"
    head = offered("2990", "RUB", sku="TP-100")
    assert value("price", f"{HEADING}{shown}<p>SKU: TP-100</p>{BUY}{others}", head, lang="ru") == "3150"
    grouped = shown.replace("3 150", "<b>2</b> <i>990</i>")
    assert value("price", f"{HEADING}{grouped}<p>SKU: TP-100</p>{BUY}{others}", head, lang="ru") == "2990"


def test_a_heading_that_leads_to_the_front_page_is_the_sites_name() -> None:
    logo = '<h1><a href="/">Fjellbua</a></h1>'
    body = f"{logo}<h2>Trekking Pole</h2>{PRICE}{BUY}"
    assert value("title", body) == "Trekking Pole"
    assert value("title", body.replace('href="/"', 'href="/p/fjellbua"').replace("h2>", "p>")) == "Fjellbua"


@pytest.mark.parametrize(
    ("count", "heading", "title"),
    [(9, "Poles", None), (9, "Pole 3", "Pole 3"), (3, "Poles", None), (3, "Pole 1", "Pole 1"), (2, "", "Pole 0")],
)
def test_of_many_products_one_is_the_pages_only_if_the_page_names_it(
    count: int, heading: str, title: str | None
) -> None:
    items = "".join(
        f"<div itemscope itemtype=https://schema.org/Product><b itemprop=name>Pole {number}</b>"
        f"<p itemprop=offers itemscope><b itemprop=price>{number + 20}.00</b> $</p></div>"
        for number in range(count)
    )
    item = extract_product(
        f"<title>{heading} | Fjellbua</title><h1>{heading}</h1>{items}", "https://fjellbua.com/poles"
    )
    assert (item.title if item else None) == title


@pytest.mark.parametrize(("count", "is_product"), [(3120, False), ("3120", False), (40, True), ("many", True)])
def test_a_range_of_hundreds_of_offers_is_a_categorys(count: Any, is_product: bool) -> None:
    offers = {"@type": "AggregateOffer", "lowPrice": 20, "highPrice": 18000, "offerCount": count}
    head = data(name="Poles", offers=offers | {"priceCurrency": "USD"})
    ads = "".join(f"<li><a href=/ad/{n}><h4>Pole {n}</h4></a></li>" for n in range(9))
    page = f"<title>Poles</title>{head}<h1>Poles</h1><ul>{ads if not is_product else ''}</ul>"
    assert (extract_product(page, "https://ads.example.com/sport/poles") is not None) == is_product


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("<span class='note is-hidden'>Reserved •</span> Trekking Pole", "Trekking Pole"),
        ("<b class=sr-only>Product:</b>Trekking Pole<i class=d-none>Sold</i>", "Trekking Pole"),
        ("<span class=visually-hidden>Trekking Pole</span>", "Trekking Pole"),
    ],
)
def test_a_title_is_what_people_see_of_the_heading(heading: str, title: str) -> None:
    assert value("title", f"<h1>{heading}</h1>{PRICE}{BUY}") == title


@pytest.mark.parametrize("name", ["fbt__item", "set-builder__item", "often-bought", "successor panel"])
def test_what_is_bought_with_it_or_replaces_it_is_another_product(name: str) -> None:
    other = f"<div class='{name}'>Rain Boot <b class=price>$27.99</b> {BUY}</div>"
    gone = "<p class=stock>This product is discontinued</p>"
    assert value("price", f"{HEADING}{PRICE}{BUY}{other}") == "49.90"
    assert value("price", f"{HEADING}{gone}{other}", data(offers={}, sku="TP-100")) == "None"


OTHERS = """<section{}><h2>You may also like</h2><ul><li><h3><a href=/p/axe>Axe</a></h3><b>$19.00</b>
<span class=badge>Sold out</span></li><li><h3><a href=/p/saw>Saw</a></h3><b>$29.00</b></li></ul></section>"""


def test_what_the_card_of_another_product_says_of_stock_contradicts_no_data() -> None:
    assert value("availability", f"{HEADING}{PRICE}{OTHERS.format('')}", data(sku="TP-100")) == "InStock"


def test_the_heading_of_other_products_is_not_that_of_a_page_without_one() -> None:
    told = state(name="Trekking Pole", price=49.9, currency="USD", inStock=True)
    assert value("availability", f"<p>Loading</p>{OTHERS.format(' class=related')}", told) == "InStock"
    assert value("title", f"<p>Loading</p>{OTHERS.format(' class=related')}", told) == "Trekking Pole"
