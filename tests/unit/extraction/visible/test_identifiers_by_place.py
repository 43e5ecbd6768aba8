"""Identifiers as shops label them, or in the address."""

from __future__ import annotations

import pytest

from crawler.extraction import extract_product

BOUGHT = "<p>$30.00</p><button>Add to cart</button>"
PAGE = "<html lang={lang}><title>{name} | Shop</title><main><h1>{name}</h1>{shown}{bought}</main>"


def sku(shown: str, lang: str = "en", slug: str = "garden-chair", name: str = "Garden Chair") -> str | None:
    page = PAGE.format(lang=lang, name=name, shown=shown, bought=BOUGHT)
    item = extract_product(page, f"https://shop.example.com/product/{slug}.html")
    assert item is not None
    return item.sku


@pytest.mark.parametrize(
    ("lang", "shown", "identifier"),
    [
        ("en", "<p>UPC: 036000291452</p><p>Item Number (DPCI): 091-04-0241</p>", "091-04-0241"),
        ("fi", "<p>Tuotetunnus (SKU): VT-100</p>", "VT-100"),
        ("en", "<p>Item number (optional)</p><p>4 pieces</p>", None),
        ("de", "<p>Artikelnummer (EAN): 4006381333931</p><p>Art.-Nr.: 118822</p>", "118822"),
        ("en", "<p>Product ID (ASIN): B00ABCDEFG</p><p>SKU: GC-1</p>", "GC-1"),
        ("en", "<p>Product number (CAS): 77-92-9</p><p>Catalog no.: C-1188</p>", "C-1188"),
        ("de", "<p>PZN: 01234567</p><p>Art.-Nr.: A-3310</p>", "A-3310"),
        ("de", "<p>PZN: 01234567</p>", "01234567"),
        ("zh", "<p>商品货号：GC-1</p>", "GC-1"),
        ("hu", "<p>Cikkszám: GK 12/3</p>", "GK 12/3"),
        ("ja", "<table><tr><th>型番<td>GC100<tr><th>JANコード<td>4901234567894</table>", "GC100"),
        ("ja", "<table><tr><th>JANコード<td>4901234567894</table>", "4901234567894"),
    ],
)
def test_labels(lang: str, shown: str, identifier: str | None) -> None:
    assert sku(shown, lang) == identifier


@pytest.mark.parametrize("choice", ["128GB", "3XL", "PS5", "W32", "M8x20", "EU42", "RAL7016", "E27", "6-Pack", "60ct"])
def test_a_choice_that_the_address_has_is_none(choice: str) -> None:
    assert sku(f"<p>{choice}</p>", slug=f"garden-chair-{choice.lower()}") is None


def test_a_model_in_the_name_is_none() -> None:
    assert sku("<p>XPS-13</p>", slug="laptop-xps-13", name="Laptop XPS-13") is None


@pytest.mark.parametrize(
    ("path", "identifier"),
    [
        ("garden-chair-p-5540112", "5540112"),
        ("garden-chair-p5540112.html", "5540112"),
        ("garden-chair-5540112", None),
        ("garden-chair-page-5540112", None),
    ],
)
def test_a_number_that_the_address_calls_a_products(path: str, identifier: str | None) -> None:
    page = PAGE.format(lang="en", name="Garden Chair", shown="", bought=BOUGHT)
    item = extract_product(page, f"https://shop.example.com/{path}")
    assert item is not None
    assert item.sku == identifier
