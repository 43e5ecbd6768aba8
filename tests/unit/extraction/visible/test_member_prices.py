"""A lower price for members, holders of a card or traders, with its label in an element of its own."""

from __future__ import annotations

import pytest

from crawler.extraction import extract_product

FORMS = {
    "row": "<div class=price>{asked}</div><div><span>{label}</span> <span>{lower}</span></div>",
    "both named": "<p class=price>{asked}</p><p class=price><i>{label}</i><b>{lower}</b></p>",
    "called regular": "<b class='price price--regular'>{asked}</b><p><i>{label}</i> <b class=price>{lower}</b></p>",
    "first": "<div><div><span>{label}</span> <b>{lower}</b></div><div>{asked}</div></div>",
    "blocks": "<div><div><b>{asked}</b></div><div><div>{label}</div><div><b>{lower}</b></div></div></div>",
}


def price(body: str, lang: str = "en") -> str | None:
    html = f"<html lang={lang}><title>Knife A100 | Shop</title><body><main><h1>Knife A100</h1><p>SKU: A-100</p>{body}"
    item = extract_product(f"{html}<button>Add to cart</button></main>", "https://shop.example.com/knife")
    return str(item.price) if item is not None else None


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("lang", "label"),
    [
        ("en", "Member price"),
        ("en", "Members"),
        ("de", "Clubpreis"),
        ("fr", "Prix adhérent"),
        ("es", "Precio con tarjeta"),
        ("pt", "No Pix"),
        ("nl", "Clubprijs"),
        ("sv", "Medlem"),
        ("no", "Klubbpris"),
        ("fi", "Klubihinta"),
        ("cs", "Cena pro členy"),
        ("uk", "Ціна з карткою"),
        ("tr", "Sepete özel fiyat"),
        ("el", "Τιμή μέλους"),
        ("ja", "会員価格"),
    ],
)
def test_the_price_that_all_pay(form: str, lang: str, label: str) -> None:
    assert price(FORMS[form].format(asked="€ 149.00", label=label, lower="€ 129.00"), lang) == "149.00"


NO_PRICES = {
    "shipping": "<div>£4.90 <span>shipping</span></div>",
    "tax": "<div><span>VAT</span> <span>£25.80</span></div>",
    "an order": "<div>Minimum order £50.00</div>",
    "a higher order": "<div>Minimum order £500.00</div>",
    "instalments": "<div>4 x £32.25</div>",
    "an old price": "<div><s>£159.00</s></div>",
    "what is recommended": "<div><span>RRP</span> <span>£159.00</span></div>",
}


@pytest.mark.parametrize("beside", NO_PRICES)
@pytest.mark.parametrize("label", ["Club price", "Net price"])
def test_it_is_asked_beside_what_is_no_price(beside: str, label: str) -> None:
    row = f"<div><span>{label}</span> <b>£129.00</b></div>"
    assert price(NO_PRICES[beside] + row) == "129.00"
    assert price(row + NO_PRICES[beside]) == "129.00"


@pytest.mark.parametrize(
    ("lang", "others", "members"),
    [
        ("sv", "Ej medlem", "Medlem"),
        ("no", "Ikke-medlem", "Medlem"),
        ("da", "Ikke medlem", "Medlem"),
        ("de", "Nicht-Mitglieder", "Mitglieder"),
    ],
)
def test_who_is_no_member_pays_the_price(lang: str, others: str, members: str) -> None:
    rows = f"<tr><th>{others}<td>€ 20.00</tr><tr><th>{members}<td>€ 15.00</tr>"
    assert price(f"<table>{rows}</table>", lang) == "20.00"


@pytest.mark.parametrize(("lang", "label"), [("sl", "Cena za vas"), ("sr", "Cena za vas"), ("bg", "Цена за вас")])
def test_a_price_for_you_is_for_all(lang: str, label: str) -> None:
    assert price(f"<div>€ 20.00</div><div><span>{label}</span> <span>€ 15.00</span></div>", lang) == "15.00"
