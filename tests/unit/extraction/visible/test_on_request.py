"""Products that show words in place of a price."""

from __future__ import annotations

import pytest

from crawler.extraction import extract_product
from crawler.items import ProductItem

URL = "https://shop.example.com/product/crane-12"
CODE = "<p>SKU: CR-12</p>"


def found(body: str, lang: str = "en", url: str = URL) -> ProductItem | None:
    return extract_product(f"<html lang={lang}><title>Crane 12 | Shop</title><main><h1>Crane 12</h1>{body}</main>", url)


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", "Price on request"),
        ("en", "Call for pricing"),
        ("de", "Preis auf Anfrage"),
        ("fr", "Prix sur demande"),
        ("es", "Precio a consultar"),
        ("it", "Prezzo su richiesta"),
        ("pl", "Cena na zapytanie"),
        ("cs", "Cena na dotaz"),
        ("ru", "Цена по запросу"),
        ("tr", "Fiyat sorunuz"),
        ("vi", "Giá: Liên hệ"),
        ("zh", "面议"),
        ("en", "POA"),
        ("en", "<b>Price</b> <span>P.O.A.</span>"),
        ("de", "<span>Preis:</span> <span>auf Anfrage</span>"),
        ("fr", "<dt>Prix</dt><dd>Nous consulter</dd>"),
        ("pl", "<b>Cena</b>: na zapytanie"),
        ("ru", "<span>Цена:</span><span>по запросу</span>"),
    ],
)
def test_a_price_to_be_asked_for(lang: str, words: str) -> None:
    item = found(f"<p>{words}</p>{CODE}<section><h2>Questions</h2><p>12 €</p></section>", lang)
    assert item is not None
    assert (item.price, item.currency, item.sku) == (None, None, "CR-12")


@pytest.mark.parametrize(
    ("lang", "words", "button"),
    [
        ("en", "Price on request", "Add to cart"),
        ("en", "Call for price match", ""),
        ("en", "Hand engraving: price on request", ""),
        ("en", "Contact us for pricing on bulk orders", ""),
        ("en", "<label>Custom size</label><span>Price on request</span>", ""),
        ("de", "<span>Versand:</span> <span>Preis auf Anfrage</span>", ""),
        ("es", "Montaje: precio a consultar", ""),
        ("tr", "Toptan fiyat için arayın", ""),
        ("zh", "支持当面议价", ""),
        ("de", "<span>Preis pro Stück:</span> <span>auf Anfrage</span>", ""),
        ("de", "<span>Montage:</span> <span>auf Anfrage</span>", ""),
        ("en", "<p>Poa pratensis</p>", ""),
    ],
)
def test_what_else_is_told_on_request_hides_no_price(lang: str, words: str, button: str) -> None:
    item = found(f"<p>{words}</p><p>145.00 €</p><button>{button}</button>{CODE}", lang)
    assert item is not None
    assert str(item.price) == "145.00"


def test_a_price_before_the_words_is_asked() -> None:
    item = found(f"<p class=price>$99.00</p><p>Spare wheel: price on request</p>{CODE}")
    assert item is not None
    assert str(item.price) == "99.00"


@pytest.mark.parametrize(
    "body",
    [
        "<ul><li><h3><a href=/product/crane-1>Crane A</a></h3><p>Price on request</p></ul>",
        f"<ul><li><h3><a href=/product/crane-1>Crane A</a></h3><p>Price on request</p>{CODE}</ul>",
        "<p>Our engineers tell you of each price on request, by phone or in our office.</p>",
        "<nav><p>Price on request</p></nav>",
        "<p hidden>Price on request</p>",
    ],
)
def test_no_products(body: str) -> None:
    assert found(body) is None


@pytest.mark.parametrize("path", ["repairs", "offices/harbour-4471", "venues/villa-rosa-221", "training/ropes-C771"])
def test_a_service_is_no_product(path: str) -> None:
    body = f"<p>Price on request</p><p>Ref. no.: {path[-4:]}</p><p>Call us</p>"
    assert found(body, url=f"https://shop.example.com/{path}") is None
