"""Editions of one product, each with its own buy button, beside lists of products and tables of plans."""

from __future__ import annotations

import pytest

from crawler.extraction import extract_product

TOLD = "Everything that belongs to it, and a text of some length."


def rows(button: str, *each: str) -> str:
    """A row for each `name|price`."""
    shown = (one.rpartition("|") for one in each)
    texts = (
        "".join(f"<i>{text}</i>" for text in name.split("/")) + f"<b class=price>{price}</b>"
        for name, _, price in shown
    )
    return "".join(f"<div class=row>{text}<button>{button}</button></div>" for text in texts)


def is_product(lang: str, body: str, url: str = "https://shop.example.com/salt-road") -> bool:
    page = f'<html lang="{lang}"><title>The Salt Road | Shop</title><body><h1>The Salt Road</h1>{body}<p>A text.</p>'
    return extract_product(page, url) is not None


@pytest.mark.parametrize(
    ("lang", "body"),
    [
        ("en", rows("Add to cart", "Paperback|$14.99", "Hardcover|$27.99", "E-book|$9.99")),
        ("en", rows("Buy now", "Kindle|$9", "Audiobook|$19", "Hardcover|$29", "Paperback|$15", "Large print|$25")),
        ("de", rows("In den Warenkorb", "Taschenbuch|12,00 €", "Gebundene Ausgabe|22,00 €", "E-Book|9,99 €")),
        ("fr", rows("Ajouter au panier", "Poche|8,90 €", "Broché|19,00 €", "Numérique|6,99 €")),
        ("es", rows("Añadir al carrito", "Tapa blanda|17,90 €", "Tapa dura|24,90 €")),
        ("sv", rows("Lägg i varukorgen", "CD|149 kr", "LP|299 kr")),
        ("ru", rows("В корзину", "Мягкая обложка|490 ₽", "Аудиокнига|390 ₽")),
        ("ja", rows("カートに入れる", "文庫|800円", "電子書籍|700円")),
        ("en", rows("Add to cart", "250 ml|$12.00", "500 ml|$19.00", "1 L|$32.00")),
        ("en", rows("Add to cart", "S|$12.00", "M|$13.00", "XL|$14.00")),
        ("en", rows("Add to cart", f"Standard Edition/{TOLD}|$29.99", f"Digital Deluxe Edition/{TOLD}|$39.99")),
        ("fr", rows("Ajouter au panier", f"Édition standard/{TOLD}|29,99 €", f"Édition collector/{TOLD}|59,99 €")),
        ("pl", rows("Do koszyka", f"Edycja podstawowa/{TOLD}|99,00 zł", f"Edycja kolekcjonerska/{TOLD}|199,00 zł")),
        ("it", rows("Aggiungi al carrello", "250 g/Disponibile|5,00 €", "1 kg/Disponibile|18,00 €")),
        ("en", rows("Add to cart", "Paperback/ISBN 9781234567897|$15", "Hardcover/ISBN 9781234567890|$28")),
    ],
)
def test_editions_are_of_one_product(lang: str, body: str) -> None:
    assert is_product(lang, body)


@pytest.mark.parametrize(
    ("lang", "body"),
    [
        ("en", rows("Buy now", "Basic|$9", "Pro|$29", "Enterprise|$99")),
        ("de", rows("Jetzt bestellen", "Starter|2,99 €", "Business|5,99 €")),
        ("en", rows("Add to order", "Margherita|$9.50", "Funghi|$11.00")),
        ("en", rows("Add to cart", "Fog/Paperback|$14.99", "Tide/Hardcover|$27.99", "Rain/E-book|$9.99")),
        ("en", rows("Add to cart", "Olive oil/250 ml|$12.00", "Walnut oil/500 ml|$19.00")),
        ("en", rows("Buy now", "10 GB|$9", "50 GB|$29")),
        ("en", rows("Buy now", f"Starter/{TOLD}|$9", f"Professional/{TOLD}|$29")),
        ("en", rows("Add to cart", "Fog/Deluxe Edition|$14.99", "Tide/Deluxe Edition|$27.99")),
        ("en", rows("Buy now", "Digital strategy for large companies|$9", "Digital marketing for small ones|$29")),
    ],
)
def test_plans_and_lists_are_not(lang: str, body: str) -> None:
    assert not is_product(lang, body)
