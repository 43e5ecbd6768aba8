"""Brands that stand in the text of a link to all of their products, and texts that are no brands."""

from __future__ import annotations

import pytest

from crawler.extraction import extract_product
from crawler.items import ProductItem

LOGO = """<dl><dt class=manufacturer>Hersteller:</dt><dd class=manufacturer><a href=/m><img alt=Märklin></a>
<a href=/m>Mehr Artikel</a></dd></dl>"""


def found(title: str, body: str, lang: str = "en") -> ProductItem:
    head = f"<html lang={lang}><title>{title} | Shop</title><body><main><h1>{title}</h1>"
    price = "<p class=price>€ 20.00</p><button>Add to cart</button></main>"
    item = extract_product(f"{head}{body}{price}", "https://shop.example.com/thing")
    assert item is not None
    return item


@pytest.mark.parametrize(
    ("title", "body", "lang", "brand"),
    [
        ("Anker PowerCore", "<p>Brand: <a href=/x>Visit the Anker Store</a></p>", "en", "Anker"),
        ("Oat drink by Oatly", "<a class=product-brand href=/m>Alle Produkte von Oatly</a>", "de", "Oatly"),
        ("Makita DDF484", "<div class=product-brand><a href=/m>Alle Makita Artikel</a></div>", "de", "Makita"),
        ("Chaise Fermob", "<p>Marque : <a href=/m>Voir tous les produits Fermob</a></p>", "fr", "Fermob"),
        ("Дрель Makita", "<p>Бренд: <a href=/m>Все товары Makita</a></p>", "ru", "Makita"),
        ("Makita DDF484", "<a href=/hersteller/makita>Weitere Artikel von Makita</a>", "de", "Makita"),
        ("Märklin 36629", LOGO, "de", "Märklin"),
    ],
)
def test_the_name_in_a_link_to_a_makers_products(title: str, body: str, lang: str, brand: str) -> None:
    assert found(title, body, lang).brand == brand


def test_the_name_in_such_a_link_that_structured_data_states() -> None:
    body = "<section itemscope itemtype=https://schema.org/Product><b itemprop=name>Acme Saw</b>{}</section>"
    item = found("Acme Saw", body.format("<a itemprop=brand href=/m>More Acme</a><i itemprop=sku>A-100</i>"))
    assert (item.brand, item.found_in["brand"]) == ("Acme", "microdata")


@pytest.mark.parametrize(
    ("title", "brand"),
    [
        ("Pan", "All-Clad"),
        ("Vac hose", "Shop Vac"),
        ("Stereo viewer", "View Master"),
        ("Sweater by More & More", "More & More"),
        ("Meer boots", "Meer"),
        ("Zero lamp", "Plus Minus Zero"),
        ("Hana tote", "See By Chloé"),
        ("Blue sweater", "More & More"),
        ("Demi-glace", "More Than Gourmet"),
        ("Gourmet sauce", "More Than Gourmet"),
        ("Swim cap", "Meer Sport"),
        ("Shop-Vac hose", "Shop Vac Corporation"),
        ("Night scope", "Discover Night Optics"),
        ("Frutti socks", "Tutti Frutti Sport"),
    ],
)
def test_names_that_begin_like_such_links(title: str, brand: str) -> None:
    assert found(title, f"<p>Brand: {brand.replace('&', '&amp;')}</p>").brand == brand


@pytest.mark.parametrize(
    ("lang", "body"),
    [
        ("en", "<h3>Brand</h3><p>This is our own label, made to last for many years.</p>"),
        ("de", "<p>Hersteller: <a href=/m>Mehr Artikel</a></p>"),
        ("ms", "<p>Jenama</p><p>Tiada Jenama</p>"),
        ("tr", "<p>Marka: Markasız</p>"),
        ("ru", "<p>Бренд: Без бренда</p>"),
        ("ja", "<p>ブランド：ノーブランド品</p>"),
    ],
)
def test_what_is_no_name(lang: str, body: str) -> None:
    assert found("Knife", body, lang).brand is None
