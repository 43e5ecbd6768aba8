"""Texts that state several prices."""

from __future__ import annotations

import pytest

from crawler.extraction import extract_product
from crawler.extraction.tree.document import Document
from crawler.extraction.visible import visible_price
from crawler.extraction.visible.view import View
from tests.unit.extraction.shop import shown_prices


def price(lang: str, body: str) -> str | None:
    html = f"<html lang={lang}><title>Knife | Shop</title><body><h1>Knife</h1>{body}<p>Steel.</p>"
    best = visible_price.best_price(shown_prices(View(Document(html, "https://shop.example.com/x"))))
    return str(best.amount) if best else None


@pytest.mark.parametrize(
    ("lang", "text", "amount"),
    [
        ("en", "Now $25 Was $40", "25"),
        ("en", "Was $40 Now $25", "25"),
        ("en", "$25.00 (reg. $40.00)", "25.00"),
        ("en", "List: $40.00 Price: $25.00 You save: $15.00", "25.00"),
        ("en", "RRP £40.00 Our price £25.00", "25.00"),
        ("de", "Unser bisheriger Preis 249,90 EUR Nur 219,90 EUR", "219.90"),
        ("de", "219,90 € statt 249,90 €", "219.90"),
        ("de", "3,98 € (3,32 €/kg)", "3.98"),
        ("de", "3,32 €/kg 3,98 €", "3.98"),
        ("fr", "Au lieu de 249,90 € 219,90 €", "219.90"),
        ("pt", "De R$ 249,90 por R$ 219,90", "219.90"),
        ("nl", "Van € 249,90 voor € 219,90", "219.90"),
        ("ru", "Было 2490 ₽ Стало 2190 ₽", "2190"),
        ("ja", "通常価格 2,490円 セール価格 2,190円", "2190"),
        ("ja", "2,490円（税込2,739円）", "2739"),
        ("ja", "2,739円(本体2,490円、税249円)", "2739"),
        ("en", "$45.00 - $54.99", "45.00"),
        ("en", "$480.00 or 4 payments of $120.00", "480.00"),
        ("en", "Was $40 Save $15", None),
        ("en", "£45.00 (£54.00 inc VAT)", "54.00"),
        ("en", "£54.00 inc VAT £45.00 ex VAT", "54.00"),
        ("en", "$450.00 ex GST / $495.00 inc GST", "495.00"),
        ("en", "Ex VAT £45.00, inc VAT £54.00", "54.00"),
        ("en", "£54.00 inc. VAT (was £60.00)", "54.00"),
        ("en", "£45.00 was £54.00 inc VAT", "45.00"),
        ("en", "$480.00 inc GST or 4 payments of $120.00", "480.00"),
        ("de", "CHF 45.00 exkl. MwSt. CHF 48.60 inkl. MwSt.", "48.60"),
        ("fr", "99,00 € HT (118,80 € TTC)", "118.80"),
        ("pl", "100,00 zł (123,00 zł brutto)", "123.00"),
        ("cs", "1 652 Kč (1 999 Kč s DPH)", "1999"),
        ("ja", "¥12,000（税込 ¥13,200）", "13200"),
        ("ja", "¥13,200（税込）送料 ¥500", "13200"),
        ("de", "Startpreis: 120 € Gebot: 180 €", "180"),
    ],
)
def test_of_several_prices_in_a_text_the_one_asked_counts(lang: str, text: str, amount: str | None) -> None:
    assert price(lang, f"<p>{text}</p>") == amount


def test_what_is_said_of_one_price_is_not_said_of_the_other() -> None:
    assert price("en", "<p>Was $40 Now $25</p><p class=price>$19</p>") == "19"
    assert price("en", "<p class=price>Was $40 Now $25</p><p>$29</p>") == "25"


def test_a_stated_price_gives_way_to_the_lower_one_in_its_text() -> None:
    stated = (
        '<script type="application/ld+json">{"@type":"Product","name":"Knife","sku":"K-1","offers":'
        '{"@type":"Offer","price":"40","priceCurrency":"USD","availability":"https://schema.org/InStock"}}</script>'
    )
    html = f"<title>Knife</title>{stated}<h1>Knife</h1><p>K-1</p><p class=old-price>Was $40 Now $25</p>"
    item = extract_product(html, "https://shop.example.com/knife")
    assert item is not None
    assert item.price == 25


@pytest.mark.parametrize(
    ("lang", "body", "amount"),
    [
        ("en", "<p class=price>$54.99</p><p>Member-only price $49.99</p>", "54.99"),
        ("ko", "<p class=price>15,900원</p><p>와우할인가 14,310원</p>", "15900"),
        ("ko", "<p class=price>15,900원</p><p>카드할인가 14,310원</p>", "15900"),
        ("ko", "<p class=price>15,900원</p><p class=price>와우할인가 <i><b>14,310원</b></i></p>", "15900"),
        ("es", "<p class=price>$38.500</p><p>Pagando con transferencia</p><p class=price>$34.650</p>", "38500"),
        ("en", "<p>One-time purchase <b>$32</b></p><p>Subscribe &amp; save 15% <b>$27.20</b></p>", "32"),
        ("en", "<p>One-time purchase <b>$32</b></p><p>Subscribe (<i>15%</i> off) <b>$27.20</b></p>", "32"),
        ("en", "<p>Save 15% <b>$27.20</b></p><p>Was <b>$32</b></p>", "27.20"),
        ("de", "<p>Einmalig <b>39,90 €</b></p><p>Im Abo 10 % sparen <b>35,91 €</b></p>", "39.90"),
        ("fr", "<p>Une fois <b>39,90 €</b></p><p>Abonnement -10 % <b>35,91 €</b></p>", "39.90"),
        ("ja", "<p>通常購入 <b>3,980円</b></p><p>定期便 10% OFF <b>3,582円</b></p>", "3980"),
        ("es", "<p class=price>$38.500</p><div class=price><b>6</b> cuotas de <b>$6.416</b></div>", "38500"),
    ],
)
def test_prices_for_members_and_kinds_of_payment_are_not_asked_of_all(lang: str, body: str, amount: str) -> None:
    assert price(lang, body) == amount


@pytest.mark.parametrize(
    ("body", "amount"),
    [
        ("<b>$45</b><i>Regular Price</i><b>$38.25</b><i>Sale Price</i>", "38.25"),
        ("<b>$38.25</b><i>Sale Price</i><b>$45</b><i>Regular Price</i>", "38.25"),
        ("<i>Sale Price</i><b>$38.25</b><i>Regular Price</i><b>$45</b>", "38.25"),
        ("<i>Regular Price</i><b>$45</b><i>Sale Price</i><b>$38.25</b>", "38.25"),
        ("<b>$38.25</b><i>In stock</i><b>$45</b><i>Regular Price</i>", "38.25"),
    ],
)
def test_labels_may_stand_behind_their_prices(body: str, amount: str) -> None:
    assert price("en", f"<div>{body}</div>") == amount
