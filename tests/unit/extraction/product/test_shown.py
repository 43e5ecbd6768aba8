"""Prices, stock and identifiers as pages show them."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.extraction.product import stated_price
from crawler.extraction.product.price_in_source import places_of, shown
from crawler.extraction.tree.document import Document
from crawler.extraction.visible import buy_buttons, identifiers, unnamed_price, visible_facts, visible_price
from crawler.extraction.visible.view import View
from crawler.extraction.words import url_identifiers, wording
from tests.unit.extraction.shop import shown_prices


def view(body: str, url: str = "https://shop.example.com/x", lang: str = "en") -> View:
    return View(Document(f'<html lang="{lang}"><title>Knife | Shop</title><body>{body}', url))


@pytest.mark.parametrize(
    ("body", "amount", "currency"),
    [
        ("<p class=price>€ 20,-</p>", "20", "EUR"),
        ("<p>£35.99</p>", "35.99", "GBP"),
        ("<p class=price><b>$219</b><sup>99</sup></p>", "219.99", "USD"),
        ("<p class=price>$219<sup>99</sup></p>", "219.99", "USD"),
        ("<p class=price><i>997</i><i>zł</i></p>", "997", "PLN"),
        ("<p>優惠特價</p><p>7</p><p>折</p><p><b>294</b> 元</p>", "294", "CNY"),
        ("<p>最低價$<b>99</b>元起/包</p>", "99", "USD"),
        ("<p class=price>1689</p>", "1689", None),
        ("<p>$20</p><p>Used from $9</p>", "20", "USD"),
        ("<p>Used from $9</p>", "9", "USD"),
        ("<p>$20</p><p>Member price $17</p>", "20", "USD"),
        ("<p>Non-member price $20</p><p>$17</p>", "17", "USD"),
        ("<p>49€99</p>", "49.99", "EUR"),
        ("<p class=price>549€<i class=cents>99</i></p>", "549.99", "EUR"),
        ("<p><i>549</i><i class=price-fraction>99</i> €</p>", "549.99", "EUR"),
        ("<p class=price>549€ <i class=text-center>99</i></p>", "549", "EUR"),
        ("<p class=price>179<sup><small>,</small>99</sup> <b>lei</b></p>", "179.99", "RON"),
        ("<p class=price>$549</p><p>or 4x <b>$140.74</b></p>", "549", "USD"),
        ("<p>$549</p><p>10 × <b>$140.74</b></p>", "549", "USD"),
        ("<p>$549</p><p>Or from <b>$140.74</b> × 4 payments</p>", "549", "USD"),
        ("<p>$549</p><p><b>$274.50</b> x2</p>", "549", "USD"),
        ("<p>$189</p><p>or 4 interest-free payments of <b>$47.25</b></p>", "189", "USD"),
        ("<p>in 3 Raten von <b>63,00 €</b></p><p>189,00 €</p>", "189.00", "EUR"),
        ("<p>189 €</p><p>o 3 cuotas de <b>63 €</b></p>", "189", "EUR"),
        ("<p>350 SAR</p><p>أو على 4 دفعات بقيمة <b>87.5 SAR</b></p>", "350", "SAR"),
        ("<p>Set of 4 plates <b>$47.25</b></p>", "47.25", "USD"),
        ("<p>Our best 5 star rate <b>$47.25</b></p>", "47.25", "USD"),
        ("<p class=price>$12</p><p>x 30 x 40 cm</p>", "12", "USD"),
        ("<p class=price>$12</p><p>x 1</p>", "12", "USD"),
        ("<p>49<sup>€99</sup></p>", "49.99", "EUR"),
        ("<p><b>49</b><sup>€99</sup></p>", "49.99", "EUR"),
        ("<p>49 €<sup>99</sup></p>", "49.99", "EUR"),
        ("<p>129<sup>99</sup> lei</p>", "129.99", "RON"),
        ("<p>129.<sup>99</sup> €</p>", "129.99", "EUR"),
        ("<p class=price>1.299<sup>99</sup> <b>€</b></p>", "1299.99", "EUR"),
        ("<p class=price>€1.299<sup>99</sup></p>", "1299.99", "EUR"),
        ("<p>129<sup>99 €</sup></p>", "129.99", "EUR"),
        ("<p>1.299<sup>99€</sup></p>", "1299.99", "EUR"),
        ("<p class=price>49 €<sup>1)</sup></p>", "49", "EUR"),
        ("<p>Rs.1,290</p>", "1290", "INR"),
        ("<p>Rs.50</p>", "50", "INR"),
        ("<p>1,290円（税込1,419円）</p>", "1419", "JPY"),
        ("<p>1,419円（税込）</p>", "1419", "JPY"),
        ("<table class=prices><tr><td>Up to <b>4</b></td><td>€129.90</td></tr></table>", "129.90", "EUR"),
        ("<table class=prices><tr><td>Bis <b>4</b></td><td>129,90 €</td></tr></table>", "129.90", "EUR"),
        ("<p class=price><i>$25.00</i> <i>CAD</i></p>", "25.00", "CAD"),
        ("<p>Price:</p><p>12.50</p>", "12.50", None),
        ("<p>Price: <b>US $24.99</b></p><p class=price>Approximately <b>£19.10</b></p>", "24.99", "USD"),
        ("<p class=price>US $24.99 (approx. €22.80)</p>", "24.99", "USD"),
        (
            "<p>10 - 99 pieces <b>$1.20</b></p><p>100 - 499 pieces <b>$0.95</b></p><p>&gt;=500 <b>$0.80</b></p>",
            "1.20",
            "USD",
        ),
        ("<p>10-99 <b>$1.20</b></p><p>100+ <b>$0.95</b></p>", "1.20", "USD"),
        ("<p>$19</p><p>4 stars</p><ul><li>Price<li class=a>$36<li class=a>$39<li class=a>$19</ul>", "19", "USD"),
        ("<p>$19</p><p>4 stars</p><ul><li>Price<li class=a>$16<li class=b>$17</ul>", "16", "USD"),
        ("<p class=was>$59</p><p class=price>$49</p>", "49", "USD"),
        ("<p>$59</p><p>$49</p>", "49", "USD"),
        ("<p>U$S 449</p>", "449", "USD"),
        ("<p class=price>$49</p><p>$0.49 per 100 g</p>", "49", "USD"),
        ("<p>Free shipping over $25</p><p class=price>$49</p>", "49", "USD"),
        ("<p class=price><del>$59</del> $49</p>", "49", "USD"),
        ("<p class=price>$49</p><p class=price>-20%</p>", "49", "USD"),
        ("<p class=price><b>R$</b><b>239</b><b>,</b><b>90</b></p>", "239.90", "BRL"),
        ("<p class=price>$49</p><p class=price><i>(You save</i> <i class=price--saving>$13</i>)</p>", "49", "USD"),
        ("<p><i>Price:</i> <b class=price>$24</b></p><p><i>Excl. tax:</i> <b class=price>$20</b></p>", "24", "USD"),
        ("<p class=price>$24</p><p class=price-net>$20</p>", "24", "USD"),
        ("<p class=c><i>$</i><i>3.75</i></p><p class=c><i>$</i><i>2.50</i><i>/kg</i></p>", "3.75", "USD"),
        ("<p class=price><i>$</i><i>19</i></p><p class=price>in <i>6x</i> <i>$</i><i>3.17</i></p>", "19", "USD"),
        ("<p class=retail-price>$19</p><p>Club price $17</p>", "19", "USD"),
        ("<p class=price>١٬٢٩٩٫٥٠ ر.س</p>", "1299.50", "SAR"),
        ("<p><i>Sale price</i> <i>$49</i> <i>Unit price</i> <i>/</i></p>", "49", "USD"),
        ("<p>$49</p><ul><li><h4><a href=/fork>Fork</a></h4><p>$39</p></ul>", "49", "USD"),
        ("<h2>$49</h2><ul><li><h4><a href=/fork>Fork</a></h4><p class=price>$9</p></ul>", "49", "USD"),
        ("<div class=related><p class=price>$9</p></div><p>$49</p>", "49", "USD"),
        ("<a href=/other class=price>$9</a><p>$49</p>", "49", "USD"),
        ("<p class=price hidden>$9</p><p class=price>$49</p>", "49", "USD"),
        ("<p class='price d-none'>£9</p><p class=price>$49</p>", "49", "USD"),
        ("<p class=price><i>$</i><i>49</i><i class=money__cents>15</i></p>", "49.15", "USD"),
        ("<p>89,<i>90 zł</i></p>", "89.90", "PLN"),
        ("<div>" + "<p>filler text</p>" * 300 + "</div><p>$5</p>", None, None),
        ("<div class=price-preview><p class=price>$49</p></div>", "49", "USD"),
        ("<p class=price>$49</p><p class=price>Lowest price in 30 days: $45</p>", "49", "USD"),
        ("<p class=price><b>42<i>,</i></b><b>99</b><b>€</b></p>", "42.99", "EUR"),
        ("<b>RRP:</b><b class=price><i>$59</i><i>$59</i></b><b class=price>$49</b>", "49", "USD"),
        ("<p class=price>۳۸۵٬۰۰۰ تومان</p>", "385000", "IRR"),
        ("<p class=price-old-live>$49</p><button>Add to cart</button>", "49", "USD"),
        ("<p class='old-price'>$49</p>", "49", "USD"),
        ("<p class='original-price current-price'>$59</p><p class=current-price>$39</p>", "39", "USD"),
        ("<p class=regular-price>$59</p><p class=sale-price>$49</p>", "49", "USD"),
        ("<p class=price><i class=price-old-live>$59</i><s>$69</s></p>", "59", "USD"),
        ("<p class=price style='text-decoration: line-through'>$59</p><p>$49</p>", "49", "USD"),
        ("<p class=price-wrapper><b>MRP $49</b></p>", "49", "USD"),
        ("<p class=old-price><b class='price price-final_price'>$59</b></p><p class=price>$49</p>", "49", "USD"),
        ("<a href=/offers>New & used (12) from $49.99</a>", "49.99", "USD"),
        ("<a href=/offers><b>New and used (12) from</b> <b>$49.99</b></a>", "49.99", "USD"),
        ("<a href=/offers>Used from $39</a><p class=price>$49</p>", "49", "USD"),
        ("<p>Knife<sup>1</sup> <b>$49</b></p>", "49", "USD"),
        ("<p>One-time purchase</p><p class=price>$49</p><p>Subscribe and save</p><p class=price>$39</p>", "49", "USD"),
        ("<div class='sticky top-[var(--nav-height)]'><p>$49</p></div>", "49", "USD"),
        ("<div class=bowls><p>$49</p></div>", "49", "USD"),
        ("<p>For AMD 9800X3D, NT1</p>", None, None),
        ("<p class=price>NT 1,290</p>", "1290", "TWD"),
        ("<p class=price>€20</p><p class=price>£17</p>", "20", "EUR"),
        ("<ul><li class=price>20 €<li class=price>$22<li class=price>£17<li class=price>CHF 19</ul>", "20", "EUR"),
        ("<p>Made in 1998, 12 cm, 3 kg</p>", None, None),
        ("", None, None),
    ],
)
def test_the_price_that_is_asked(body: str, amount: str | None, currency: str | None) -> None:
    best = visible_price.best_price(shown_prices(view(f"<h1>Knife</h1>{body}")))
    assert (best and best.amount, best and best.currency) == (Decimal(amount) if amount else None, currency)


def test_a_lower_price_above_the_heading_is_anothers() -> None:
    body = "<a>Fork</a><p class=sale-price>$35</p><h1>Knife</h1><p class=sale-price>$64</p>"
    assert shown_prices(view(body))[0].amount == 64


@pytest.mark.parametrize(
    ("stated", "body", "amount"),
    [
        (["59"], "<p class=old-price>$59</p><p class=price>$49</p>", "49"),
        (["59"], "<p class=price>$59</p><p>$49 with coupon</p>", None),
        (["39"], "<p class=old-price>$39</p><p class=price>$49</p>", None),
        (["59"], "<p class=price>$49</p>", None),
        (["59", "49"], "<p class=price>$49</p>", "49"),
        (["59", "49"], "<p class=price>$59</p>", None),
        (["59", "49"], "", None),
    ],
)
def test_when_a_stated_price_is_corrected(stated: list[str], body: str, amount: str | None) -> None:
    prices = shown_prices(view(f"<h1>Knife</h1>{body}"))
    corrected = stated_price.corrected([Decimal(each) for each in stated], prices)
    assert (corrected and corrected.amount) == (Decimal(amount) if amount else None)


@pytest.mark.parametrize(
    ("body", "heading"),
    [
        ("<header><h1>Shop</h1></header><h1>Knife</h1>", "Knife"),
        ("<h1></h1><h1>Fork</h1>", "Fork"),
        ("<h2>Knife</h2>", "Knife"),
        ("<div>Menu</div><div><b itemprop=name>Knife</b></div>", "Knife"),
        ("<p>nothing alike</p>", None),
        ("<div class=x><h1>Fork</h1></div><b itemprop=name>Steel knife</b>", "Steel knife"),
        ("<b>Fork</b><h1>Something else</h1>", "Something else"),
        ("<h2>Forks and spoons too</h2><h2>Steel knife</h2>", "Steel knife"),
    ],
)
def test_the_heading_is_the_one_most_like_the_title(body: str, heading: str | None) -> None:
    node = view(body).heading
    assert (node and node.text()) == heading


@pytest.mark.parametrize(
    ("body", "heading"),
    [
        ("<div>小羊肉餐盒</div><i>餐盒</i>", "小羊肉餐盒"),
        ("<div>Kitchen knife</div><i>Shop</i>", "Kitchen knife"),
        ("<nav><i>Kitchen knife</i></nav><div>Kitchen knife</div>", "Kitchen knife"),
        ("<i>Shop</i>", None),
    ],
)
def test_without_headings_it_is_the_longest_part_of_the_title(body: str, heading: str | None) -> None:
    html = f"<title>小羊肉餐盒 - Kitchen knife | Shop</title>{body}"
    node = View(Document(html, "https://shop.example.com/x")).heading
    assert (node and node.text()) == heading
    assert node is None or node.tag == "div"


@pytest.mark.parametrize(
    ("body", "button"),
    [
        ("<button>Add to cart</button>", "WORKING"),
        ("<button><span>Add to basket</span></button>", "WORKING"),
        ("<a href=/cart/add>Buy now</a>", "WORKING"),
        ("<input type=submit value='Add to bag'>", "WORKING"),
        ("<div class=btn-buy>Add to cart</div>", "WORKING"),
        ("<button aria-label='Add to cart'><svg></svg></button>", "WORKING"),
        ("<button disabled>Add to cart</button>", "DISABLED"),
        ("<button class='btn sold-out'>Add to cart</button>", "SOLD_OUT"),
        ("<button disabled>Add to cart</button><button>Add to cart</button>", "WORKING"),
        ("<button class='btn sizeL displaynone'>Add to cart</button>", "NONE"),
        ("<div class=related><button>Add to cart</button></div>", "NONE"),
        ("<li><h3><a href=/fork>Fork</a></h3><button>Add to cart</button></li>", "NONE"),
        ("<p>Add to cart and enjoy</p>", "NONE"),
        ("<button>Subscribe</button>", "NONE"),
        ("<button>One-time purchase</button><button>Purchase type</button>", "NONE"),
    ],
)
def test_the_buy_button(body: str, button: str) -> None:
    assert buy_buttons.buy_button(view(f"<h1>Knife</h1>{body}")) is buy_buttons.Button[button]


@pytest.mark.parametrize(
    ("body", "sku"),
    [
        ("<p>SKU: KN-1</p>", "KN-1"),
        ("<p>Article number</p><p>:</p><p>VXI22-K19</p>", "VXI22-K19"),
        ("<p>Item #418299</p>", "418299"),
        ("<p>Art.-Nr.: 763199</p>", "763199"),
        ("<p>Nr ref.</p><p>82514199</p>", "82514199"),
        ("<p>Produkta kods 520501999</p>", "520501999"),
        ("<p>ID Produto</p><p>1236299</p>", "1236299"),
        ("<p>Cod produs: DX2499</p>", "DX2499"),
        ("<p>〈商品編號：M67296599〉</p>", "M67296599"),
        ("<p>Артикул: 12345</p>", "12345"),
        ("<p>Código del producto 998877</p>", "998877"),
        ("<div data-product-id=445566></div>", None),
        ("<div data-product-id=445566></div><p>445566</p>", "445566"),
        ("<form><input type=hidden name=productId value=445566></form>", None),
        ("<form><input type=hidden name=sku value=445566></form>", "445566"),
        ("<p>SKU: KN-1</p><i data-pid=9901></i>" + "<form><input name=pid value=9901></form>" * 5, "KN-1"),
        ("<p>Model number: X-100</p>", None),
        ("<p>Model: X-100</p>", "X-100"),
        ("<p>SKU:</p><p>KN-RED</p>", "KN-RED"),
        ("<p>Style Code: KN-204</p>", "KN-204"),
        ("<p>Part No.: 88-0612</p>", "88-0612"),
        ("<p>SKU: soon</p>", None),
        ("<p class=product__sku>KN-100</p>", "KN-100"),
        ("<p>[KN-100]</p>", "KN-100"),
        ("<p>קוד מוצר: KN-100</p>", "KN-100"),
        ("<p>Order before 12:00</p>", None),
        ("<div class=related><p>SKU: KN-1</p></div>", None),
        ("<div class=reviews-sku-wrap><p>SKU: KN-1</p></div>", "KN-1"),
        ("<p>Size 20 cm</p>", None),
    ],
)
def test_identifiers_on_a_page(body: str, sku: str | None) -> None:
    found = identifiers.shown_sku(view(f"<h1>Knife</h1>{body}"))
    assert (found and found[0]) == sku


@pytest.mark.parametrize(
    ("url", "first"),
    [
        ("https://x.example/dp/B0ABC12345", "B0ABC12345"),
        ("https://x.example/Shirt-x3411049.php", "3411049"),
        ("https://x.example/c7300a278526199/tv.html", "278526199"),
        ("https://x.example/shop/418299.htm?utm_source=a", "418299"),
        ("https://x.example/x?childSku=545642399", "545642399"),
        ("https://x.example/x?pid=260599", "260599"),
        ("https://x.example/knives/steel", None),
        ("https://x.example/2024", None),
        ("https://x.example/best-knives-2024", None),
        ("https://x.example/product/2024", "2024"),
        ("http://[bad", None),
    ],
)
def test_identifiers_in_a_url(url: str, first: str | None) -> None:
    assert next(url_identifiers.identifiers(url), None) == first


def test_words_are_those_of_the_pages_languages() -> None:
    assert wording.languages_of("de", "") == {"de", "en"}
    assert wording.languages_of("", "ch") == {"de", "fr", "it", "en"}
    assert wording.languages_of("en", "ee") == {"et", "ru", "en"}
    assert wording.languages_of("", "") == wording.LANGUAGES
    assert wording.languages_of("xx", "zz") == wording.LANGUAGES


def test_every_language_has_the_words_that_matter() -> None:
    for language in wording.LANGUAGES:
        lexicon = wording.lexicon(frozenset({language}))
        for kind in ("out_of_stock", "in_stock", "buy", "price", "other_price"):
            assert getattr(lexicon, kind).pattern != "(?!)", (language, kind)


def test_no_word_of_stock_promises_and_denies_at_once() -> None:
    for language in wording.LANGUAGES:
        lexicon = wording.lexicon(frozenset({language}))
        for promise in wording._PHRASES[language]["in_stock"]:
            if promise.replace(" ", "").isalpha():
                assert lexicon.availability(promise) == "InStock", (language, promise)


FAR = "<p>word</p>" * 90


@pytest.mark.parametrize(
    ("body", "amount"),
    [
        (f"{FAR}<p>$49</p><button>Add to cart</button>", "49"),
        (f"{FAR}<p>$59</p><p>$49</p><button>Add to cart</button>", "49"),
        (f"{FAR}<p>$49</p><p>$9 shipping</p><button>Add to cart</button>", "49"),
        (f"{FAR}<button>Add to cart</button><p>$49</p>", "49"),
        (f"{FAR}<p>$49</p>", None),
        (f"{FAR}<div class=related><p>$49</p><button>Add to cart</button></div>", None),
    ],
)
def test_a_price_that_nothing_names_is_that_by_the_buy_button(body: str, amount: str | None) -> None:
    page = view(f"<h1>Knife</h1>{body}")
    prices = shown_prices(page)
    assert visible_price.best_price(prices) is None
    best = unnamed_price.price_by_button(page, prices, buy_buttons.buy_places(page))
    assert (str(best.amount) if best else None) == amount


@given(st.text("19.,< €\"'=:/-a٣", max_size=40), st.sampled_from(["9", "19", "199", "111"]))
def test_shown_digits_are_found_as_by_a_pattern(html: str, digits: str) -> None:
    pattern = re.compile(rf"{digits}(?=[ .,<€])(?<![\"'=:/\d-]{digits})")
    assert list(shown(digits, html)) == [found.start() for found in pattern.finditer(html)]


@pytest.mark.parametrize("counted", ["", "<p>12 reviews</p>"])
def test_the_first_element_that_says_a_rating_counts(counted: str) -> None:
    said = "<p class=rating>rated<p class=stars title='4.5 out of 5'><p class=rating>3 of 5"
    assert visible_facts.shown_rating(view(f"<h1>Knife</h1>{counted}{said}")) == ("4.5", "5")
    assert visible_facts.shown_rating(view(f"<h1>Knife</h1>{counted}")) is None


@pytest.mark.parametrize(
    ("body", "rating"),
    [
        ("<p>4.5 out of 5 stars", ("4.5", "5")),
        ("<p>4.5 out of 5 knives", None),
        ("<p class=rating><b>4,5</b> von <b>5</b>", ("4,5", "5")),
        ("<p><i class=stars aria-label='4.5 von 5'></i> <a>12 Bewertungen</a>", ("4.5", "5")),
        ("<p><i aria-label='4.5 out of 5 stars'></i> <a>12 reviews</a>", ("4.5", "5")),
        ("<p><i aria-label='Picture 1 of 5'></i> <a>12 reviews</a>", None),
        ("<p class=rating>0/5", None),
        ("<p>3 of 5 stars<p><i class=stars title='4.5 of 5'></i> <a>12 reviews</a>", ("3", "5")),
        (f"{FAR}<p class=rating>4.5 out of 5", None),
        (f"{FAR}<a title='5 out of 5 stars'>Fork</a>", None),
    ],
)
def test_a_rating_stands_by_the_heading(body: str, rating: tuple[str, str] | None) -> None:
    assert visible_facts.shown_rating(view(f"<h1>Knife</h1>{body}")) == rating


@pytest.mark.parametrize(("before", "count"), [("", "153"), (FAR, None)])
def test_reviews_far_from_the_heading_are_not_of_the_product(before: str, count: str | None) -> None:
    assert visible_facts.shown_reviews(view(f"<h1>Knife</h1>{before}<p class=rating>153 reviews</p>")) == count


@pytest.mark.parametrize(
    ("lang", "label"),
    [("de", "Neupreis"), ("nl", "Nieuwprijs"), ("sv", "Nypris"), ("da", "Nypris"), ("fr", "Prix neuf")],
)
def test_the_price_as_new_is_not_that_of_a_used_thing(lang: str, label: str) -> None:
    page = view(f"<h1>Knife</h1><p><b>89 €</b></p><p>{label}: 149 €</p>", lang=lang)
    best = visible_price.best_price(shown_prices(page))
    assert best is not None
    assert best.amount == 89


@pytest.mark.parametrize(
    ("url", "sku"),
    [
        ("https://shop.example.com/item/1005010537563439.html", None),
        ("https://shop.example.com/knife?variant=43012345678901", None),
        ("https://shop.example.com/item/4006381333931.html", "4006381333931"),
        ("https://shop.example.com/item/384001234567", "384001234567"),
    ],
)
def test_a_databases_number_in_a_url_is_no_identifier(url: str, sku: str | None) -> None:
    found = identifiers.shown_sku(view("<h1>Knife</h1>", url))
    assert (found[0] if found else None) == sku


@pytest.mark.parametrize(
    "written", ["2990", "2.990", "2 990", "2&nbsp;990", "2&#160;990", "2&#8239;990", "<b>2</b> <i>990", "12990"]
)
def test_the_places_of_a_price_have_all_its_digits(written: str) -> None:
    source = f"<p>{written} kr</p><p>990 kr</p><p>4 990 kr</p>"
    expected = [] if written == "12990" else [source.index("990")]
    assert places_of(Decimal(2990), source) == expected
