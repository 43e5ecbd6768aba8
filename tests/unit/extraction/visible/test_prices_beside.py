"""Prices without tax and of more pieces, beside the one that everybody pays for one."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.extraction import extract_product


def price(body: str, lang: str = "en-GB") -> Decimal | None:
    html = f"<html lang={lang}><title>Grinder 115 | Tools</title><h1>Grinder 115</h1><p>SKU: GR-115</p>{body}"
    item = extract_product(f"{html}<button>Add to basket</button>", "https://tools.example.com/product/grinder-115")
    assert item is not None
    return item.price


TAXES = {
    "en-GB": ("£75.00", "£90.00", "ex VAT", "inc VAT"),
    "de": ("75,00 €", "90,00 €", "zzgl. MwSt.", "inkl. MwSt."),
    "fr": ("75,00 €", "90,00 €", "H.T.", "T.T.C."),
    "nl": ("€ 75,00", "€ 90,00", "excl. btw", "incl. btw"),
    "pl": ("75,00 zł", "90,00 zł", "netto", "brutto"),
    "cs": ("75 Kč", "90 Kč", "bez DPH", "s DPH"),
}


@pytest.mark.parametrize("lang", TAXES)
@pytest.mark.parametrize(
    "shape",
    [
        "<b>{net}</b> <i>{without}</i> <b>{gross}</b> <i>{with_}</i>",
        "<b>{gross}</b> <i>{with_}</i> <b>{net}</b> <i>{without}</i>",
        "<i>{without}</i> <b>{net}</b> <i>{with_}</i> <b>{gross}</b>",
        "<i>{with_}</i> <b>{gross}</b> <i>{without}</i> <b>{net}</b>",
        "<p><b>{net}</b> {without}</p><p><b>{gross}</b> {with_}</p>",
        "<p class=price><b>{net}</b> <i>{without}</i></p><p>{gross} {with_}</p>",
        "<span>{net} {without}</span> <span>{gross} {with_}</span>",
    ],
)
def test_of_two_prices_the_one_with_tax_is_paid(lang: str, shape: str) -> None:
    net, gross, without, with_ = TAXES[lang]
    shown = shape.format(net=net, gross=gross, without=without, with_=with_)
    assert price(f"<div class=x>{shown}</div>", lang) == 90


@pytest.mark.parametrize(
    "body",
    [
        "<p class=price><b>£75.00</b> <i>ex VAT</i></p><p>Delivery £5.00 inc VAT</p>",
        "<p class=price><b>£75.00</b> <i>ex VAT</i></p><p><del>£90.00 inc VAT</del></p>",
        "<p class=price><b>£75.00</b> <i>ex VAT</i></p><p>Pallet delivery £79.00 inc VAT</p>",
        "<p class=price><b>£75.00</b> <i>ex VAT</i></p><p>Fitted: £190.00 inc VAT</p>",
        "<i>ex VAT</i> <b>£75.00</b> <i>In stock</i> <b>90</b>",
    ],
)
def test_what_else_is_told_with_tax_is_not_its_price(body: str) -> None:
    assert price(f"<div class=x>{body}</div>") == 75


@pytest.mark.parametrize("rows", [("1", "100", "1000"), ("1000", "100", "1")], ids=["up", "down"])
@pytest.mark.parametrize("label", ["{}+", "from {}", "{} pcs+", "&gt;= {}"])
@pytest.mark.parametrize("price_class", ["", " class=price"])
def test_of_many_pieces_one_costs_most(rows: tuple[str, ...], label: str, price_class: str) -> None:
    prices = {"1": "$0.60", "100": "$0.29", "1000": "$0.18"}
    cells = "".join(f"<tr><td>{label.format(row)}</td><td{price_class}>{prices[row]}</td></tr>" for row in rows)
    assert price(f"<table>{cells}</table>", "en") == Decimal("0.60")
