"""Identifiers beside other statements, in other letters, and keys that are none."""

from __future__ import annotations

import pytest

from crawler.items import ProductItem
from tests.unit.extraction.shop import product

URL = "https://shop.example.com/p/steel-knife"


def read(body: str, url: str = URL, lang: str = "en") -> ProductItem:
    head = f"<html lang={lang}><title>Steel knife</title><h1>Steel knife</h1><p>$20.00</p>"
    return product(f"{head}{body}<button>Add to cart</button>", url)


@pytest.mark.parametrize(
    ("lang", "body", "sku"),
    [
        ("pt", "<p>Marca: Serra Alta | SKU: MM-100</p>", "MM-100"),
        ("de", "<p>Gewicht 2 kg · Art.-Nr. 48210-A</p>", "48210-A"),
        ("en", "<p>• 5 in stock • Item #: AA-T3</p>", "AA-T3"),
        ("ru", "<dl><dt>Артикул</dt><dd>ДУ-780ЭР</dd></dl>", "ДУ-780ЭР"),
        ("uk", "<p>Код товару: ВС-2611</p>", "ВС-2611"),
        ("ru", "<p>Артикул: по запросу, 5 дней</p>", None),
        ("pl", "<p>Kod producenta: W2168</p><p>Numer oferty: 14552290</p>", "14552290"),
        ("it", "<p>Codice produttore: W2168</p><p>Codice prodotto: 77412</p>", "77412"),
        ("ro", "<p>Cod producător: W2168</p><p>Cod produs: 77412</p>", "77412"),
        ("en", "<p>SKU: AB 123 45</p>", "AB 123 45"),
        ("de", "<p>Artikelnummer: <b>12 345 678</b></p>", "12 345 678"),
        ("en", "<p>SKU: AB 12345</p>", "AB 12345"),
        ("en", "<p>SKU: 77412 in 3 colours</p>", "77412"),
        ("en", "<p>SKU: 77412 XL</p>", "77412"),
        ("en", "<p>SKU: EAN 4006381333931</p>", "4006381333931"),
        ("en", "<p>SKU: 1 2 3 4 5 6 7 8 9 10 11 12 13</p>", None),
        ("en", "<p>Model: 2019 05 12</p>", None),
        ("en", "<p>SKU: PRODUCT_SKU</p>", None),
        ("en", "<p>SKU: ITEM_CODE</p>", None),
        ("en", "<p>SKU: ITEM_CODE_RED</p>", "ITEM_CODE_RED"),
        ("fr", "<p>Référence produit : LAG-12</p>", "LAG-12"),
        ("fr", "<p>Réf. article LAG-12</p>", "LAG-12"),
        ("fr", "<td>Référence interne: <span>FURN-0180</span></td>", "FURN-0180"),
        ("es", "<td>Referencia interna: <span>FURN-0180</span></td>", "FURN-0180"),
        ("nl", "<td>Interne referentie: <span>FURN-0180</span></td>", "FURN-0180"),
        ("en", "<td>Internal Reference: <span>FURN-0180</span></td>", "FURN-0180"),
        ("fr", "<p>N° d'article : 77412</p>", "77412"),
        ("ru", "<p>Артикул товара: 77412</p>", "77412"),
        ("sr", "<p>Шифра производа: 77412</p>", "77412"),
        ("el", "<p>Κωδ. προϊόντος: 77412</p>", "77412"),
        ("el", "<p>Κωδικός είδους: 77412</p>", "77412"),
        ("nl", "<dl><dt>Bestelnummer</dt><dd>77412</dd></dl>", "77412"),
        ("hu", "<p>Rendelési szám: 77412</p>", "77412"),
        ("sv", "<p>Varunummer 77412</p>", "77412"),
        ("lt", "<p>Artikulas: 77412</p>", "77412"),
        ("fi", "<p>Koodi: 77412</p>", "77412"),
        ("ja", "<p>管理番号：A-77412</p>", "A-77412"),
        ("ja", "<p>品番・型番 A-77412</p>", "A-77412"),
        ("ja", "<p>型番 A-77412</p>", "A-77412"),
        ("zh", "<p>型号 A77412 全新</p>", "A77412"),
        ("ja", "<p>型番 2024年モデル</p>", None),
        ("zh", "<p>商品代碼：A-77412</p>", "A-77412"),
        ("ar", "<p>رقم الموديل: A-77412</p>", "A-77412"),
        ("en", "<p>Sizes: 38 | 40 | 42</p>", None),
        ("en", "<p>SKU Number: AB-123</p>", "AB-123"),
        ("en", "<p>Store SKU # 1001234</p>", "1001234"),
        ("en", "<p>Cat. No.: 14-882</p>", "14-882"),
        ("en", "<p>Item 1488221</p>", "1488221"),
        ("en", "<p>Item 2 of 3</p>", None),
        ("en", "<p>Style: Casual 2000</p>", None),
        ("en", "<p>Style: SS-32-M</p>", "SS-32-M"),
        ("en", "<p>Style: Two-piece 32</p>", None),
        ("pt", "<p>Ref.ª VD-TR19</p>", "VD-TR19"),
        ("en", "<p>SKU: <span>HOOD</span></p>", "HOOD"),
        ("en", "<p>SKU: <span>HOOD_KIT</span></p>", "HOOD_KIT"),
        ("en", "<p>SKU: Hood</p>", None),
        ("en", "<p>SKU: NONE</p>", None),
        ("en", "<p>HOOD</p>", None),
        ("en", "<p>SKU: PENDING</p>", None),
        ("en", "<table><tr><th>SKU</th><th>PRICE</th></tr></table>", None),
        ("en", "<table><tr><th>SKU</th><td></td></tr><tr><th>COLOR</th></tr></table>", None),
        ("en", "<dl><dt>SKU</dt><dd></dd><dt>BRAND</dt></dl>", None),
        ("en", "<p>Article 24500, 12 May</p>", None),
        ("de", "<p>Anzeigen-ID: <b>2698112233</b></p>", "2698112233"),
        ("de", "<p>Warennummer: 77412</p>", "77412"),
        ("fr", "<p>Numéro de l’annonce : 77412</p>", "77412"),
        ("es", "<p>Referencia del producto: LAG-12</p>", "LAG-12"),
        ("sv", "<p>Beställningsnummer: 77412</p>", "77412"),
        ("cs", "<p>Obj. č.: 77412</p>", "77412"),
        ("bg", "<p>Арт. номер: 77412</p>", "77412"),
        ("ru", "<p>Объявление № 77412</p>", "77412"),
        ("tr", "<p>İlan No: 77412</p>", "77412"),
        ("hu", "<p>Azonosító: 77412</p>", "77412"),
        ("lt", "<p>Prekės numeris: 77412</p>", "77412"),
        ("zh", "<p>款號：A-77412</p>", "A-77412"),
        ("ko", "<p>자체상품코드 A-77412</p>", "A-77412"),
        ("en", "<p>Example Part Number</p><p>SH-77412</p>", "SH-77412"),
        ("en", "<p>Example Item #: 77412</p><p>Model: MK-1</p>", "77412"),
        ("de", "<p>Example Bestell-Nr.: 77412</p>", "77412"),
        ("bg", "<p>Модел: UT33C</p>", "UT33C"),
        ("el", "<p>ΚΩΔΙΚΟΣ:</p><p>EC685-M</p>", "EC685-M"),
        ("en", "<p>Exam 77412</p>", None),
        ("en", "<p>Example # 77412</p>", "77412"),
    ],
)
def test_labelled_identifiers(lang: str, body: str, sku: str | None) -> None:
    assert read(body, lang=lang).sku == sku


@pytest.mark.parametrize(
    ("query", "sku"),
    [
        ("?offerid=kcAegb3-qDjA4lHeWgMAqw", None),
        ("?item=5Hm3xUsbH96jgL7vmreaoQ", None),
        ("?item=B07FW264WL", "B07FW264WL"),
        ("?item=KN-77a", "KN-77a"),
        ("?item=kn-770012345-a", "kn-770012345-a"),
    ],
)
def test_a_random_key_is_no_sku(query: str, sku: str | None) -> None:
    assert read("", URL + query).sku == sku


def test_a_random_key_of_a_form_is_no_sku() -> None:
    assert read('<form><input type=hidden name=pid value="xJ4kQ9vTzL2a"></form>').sku is None
