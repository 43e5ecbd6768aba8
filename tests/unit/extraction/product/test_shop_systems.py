"""How the default templates of shop systems set a product's price, brand and stock among those of other products."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.extraction import extract_product
from crawler.items import ProductItem

BUY = "<form><button type=submit>Add to cart</button></form>"
URL = "https://shop.example.com/knife"


def found(body: str, lang: str = "en", title: str = "Knife", url: str = URL) -> ProductItem | None:
    return extract_product(f'<html lang="{lang}"><title>{title} | Shop</title><body>{body}', url)


def price(body: str, lang: str = "en", title: str = "Knife") -> Decimal | None:
    item = found(body, lang, title)
    return item.price if item is not None else None


def cards(*amounts: str, form: str = "<p class=price>{amount}</p>") -> str:
    """Other products, each with a price written in that *form*."""
    named = "<li><a href=/goods/{n} class=item-link>Fork {n}</a>{price}</li>"
    shown = (named.format(n=n, price=form.format(amount=each)) for n, each in zip("ABCDE", amounts, strict=False))
    return f"<section><h2>More</h2><ul>{''.join(shown)}</ul></section>"


OTHERS = ("$12.00", "$13.50", "$19.00", "$21.00")
BOX = "<span class=box><b>{label}</b><span class=amount><span class=price>{amount}</span></span></span>"


def boxed(label: str, amount: str) -> str:
    return BOX.format(label=label, amount=amount)


SPECIAL = f"<span class=special-price>{boxed('Special', '$28.00')}</span>"


@pytest.mark.parametrize(
    "own",
    [
        f"{SPECIAL}<span class=old-price>{boxed('Regular price', '$34.00')}</span>",
        f"<div><del>{boxed('', '$34.00')}</del>{boxed('', '$28.00')}</div>",
    ],
)
def test_the_products_own_old_price_is_no_other_products(own: str) -> None:
    others = cards(*OTHERS, form=boxed("", "{amount}"))
    assert price(f"<main><div><h1>Knife</h1>{own}<p>SKU: A-100</p>{BUY}</div>{others}</main>") == Decimal(28)


def test_the_first_entry_of_a_listing_with_an_old_price_is_not_its_product() -> None:
    entries = f"<a href=/a>A</a>{boxed('', '$28.00')}<del>{boxed('', '$34.00')}</del>{BUY}"
    entries += "".join(f"<a href=/{each}>{each}</a>{boxed('', each)}{BUY}" for each in OTHERS)
    assert found(f"<h1>Knives</h1><div>{entries}</div>", title="Knives", url="https://shop.example.com/c") is None


@pytest.mark.parametrize(
    ("between", "amount"),
    [(" – ", "69.00"), ("<i>-</i>", "69.00"), ("<b>Fork</b>", None)],
)
def test_both_ends_of_a_range_are_the_products(between: str, amount: str | None) -> None:
    own = f"<div class=prices>{boxed('', '$69.00')}{between}{boxed('', '$79.00')}</div>"
    others = cards(*OTHERS, form=boxed("", "{amount}"))
    expected = Decimal(amount) if amount is not None else None
    assert price(f"<main><div><h1>Knife</h1>{own}<p>SKU: A-100</p>{BUY}</div>{others}</main>") == expected


@pytest.mark.parametrize(
    ("heading", "shown", "amount"),
    [
        ("Amp X3", "<div><p><b><i>$</i><i>1,299.00</i></b></p></div>", "1299.00"),
        ("Camera 90", "<div><p><b><i>$</i><i>650</i></b></p></div>", "650"),
        ("Amp", "<div class=price><b>from 12</b><i>€</i></div>", "12"),
        ("Amp", "<div class=price><b><i>12</i></b><b><i>€</i></b></div>", "12"),
    ],
)
def test_a_sign_in_an_element_of_its_own_belongs_to_the_number_beside_it(heading: str, shown: str, amount: str) -> None:
    body = f"<div><h1>{heading}</h1></div><div class=prices>{shown}</div><p>SKU: A-100</p>{BUY}"
    assert price(body, title=heading) == Decimal(amount)


LABELLED = "<span>Regular price</span><p>{amount}</p>"


@pytest.mark.parametrize(
    "beside",
    [
        "",
        cards(*OTHERS, form="</a><a href=/goods/{amount}>" + LABELLED),
        "<div class=hidden><h4>Cart</h4><span>$79.00</span></div>",
    ],
)
def test_a_price_that_is_only_called_regular_is_asked(beside: str) -> None:
    cart = beside if "Cart" in beside else ""
    own = f"<main><h1>Knife</h1><div>{LABELLED.format(amount='$149.00')}</div>{BUY}</main>"
    item = found(cart + own + ("" if cart else beside), url="https://shop.example.com/products/knife")
    assert item is not None
    assert (item.price, item.currency) == (Decimal(149), "USD")


@pytest.mark.parametrize(
    ("lang", "net"),
    [
        ("en", "$100.00 tax excluded"),
        ("en", "$100.00 (tax excl.)"),
        ("en", "$100.00 VAT excluded"),
        ("en", "$100.00</b> <b>without tax"),
        ("de", "100,00 € zzgl. 19% MwSt."),
        ("de", "100,00 €</b> <b>exkl. 20 % USt."),
        ("de", "100,00 € ohne Mehrwertsteuer"),
        ("fr", "100,00 € hors TVA"),
        ("es", "100,00 € (impuestos excl.)"),
        ("it", "100,00 € (tasse escl.)"),
        ("nl", "€ 100,00 excl. 21% btw"),
        ("pt", "100,00 € IVA não incluído"),
        ("da", "100,00 kr. eks. moms"),
        ("fi", "100,00 €</b> <b>ALV 0%"),
        ("hu", "100 Ft ÁFA nélkül"),
    ],
)
def test_the_price_with_tax_beside_one_without(lang: str, net: str) -> None:
    sign = next(sign for sign in ("$", "€", "kr.", "Ft") if sign in net)
    shown = f"<div><p class=product-price><i>Price:</i> 120 {sign}</p></div><p class=taxless-price><b>{net}</b></p>"
    assert price(f"<h1>Knife</h1>{shown}<p>SKU: A-100</p>{BUY}", lang) == Decimal(120)


@pytest.mark.parametrize(
    ("shown", "amount"),
    [
        ("<p class=price>59,90 € (-20%)</p>", "59.90"),
        ("<p class=price>−20 % 59,90 €</p>", "59.90"),
        ("<p>Preis <b>74,90 €</b></p><p>Sonderpreis <b>59,90 € (20% Rabatt)</b></p>", "59.90"),
        ("<p class=price>59,90 €</p><p>Sie sparen</p><p>15,00 € (20% Rabatt)</p>", "59.90"),
        ("<p class=price>59,90 €</p><p>Rabatt: 15,00 € (20% Rabatt)</p>", "59.90"),
        ("<p class=price>59,90 €</p><p>ab 50,00 € (10% Rabatt)</p>", "59.90"),
        ("<p class=price>59,90 €</p><p>40,00 € (20% Gutschein)</p>", "59.90"),
        ("<p class=price>59,90 EUR -12,5%</p>", "59.90"),
        ("<del>74,90 €</del> <b>59,90 € [-20%]</b>", "59.90"),
        ("<p class=price>59,90 €</p><p>Sie sparen 15,00 € (-20%)</p>", "59.90"),
        ("<p class=price>59,90 €</p><p>-15,00 € (-20%)</p>", "59.90"),
        ("<p class=price>59,90 €</p><p>-20% ab 100,00 € im Warenkorb</p>", "59.90"),
        ("<p class=price>-20% -10%</p>", None),
    ],
)
def test_a_price_with_the_discount_that_it_has(shown: str, amount: str | None) -> None:
    item = found(f"<h1>Knife</h1>{shown}<p>SKU: A-100</p>{BUY}", "de", url="https://shop.example.de/product/knife")
    assert (item and item.price) == (Decimal(amount) if amount is not None else None)


@pytest.mark.parametrize(
    ("lang", "text", "amount"),
    [
        ("de", "59,90 € inkl. 19% MwSt.", "59.90"),
        ("de", "59,90 EUR (inkl. 19 % MwSt. zzgl. Versand)", "59.90"),
        ("de", "inkl. 20 % USt.: 59,90 €", "59.90"),
        ("nl", "€ 59,90 incl. 21% btw", "59.90"),
        ("en", "£59.90 inc. VAT @ 20%", "59.90"),
        ("it", "59,90 € IVA 22% inclusa", "59.90"),
        ("en", "Save 20%: £10.00", None),
        ("en", "20% VAT", None),
        ("en", "VAT 20%: £10.00", None),
        ("es", "IVA 21%: 10,00 €", None),
        ("pt", "R$ 59,90 com 5% de desconto", None),
    ],
)
def test_a_price_with_its_rate_of_tax(lang: str, text: str, amount: str | None) -> None:
    expected = Decimal(amount) if amount is not None else None
    url = "https://shop.example.com/product/knife"
    item = found(f"<h1>Knife</h1><p class=price>{text}</p><p>SKU: A-100</p>{BUY}", lang, url=url)
    assert item is not None
    assert item.price == expected


ROWS = "<div class=prices>{first}{second}</div>"


@pytest.mark.parametrize(
    ("lang", "first", "second"),
    [
        ("en", "<p><i>Excl. VAT</i><b>$100</b></p>", "<p><i>Incl. VAT</i><b>$120</b></p>"),
        ("en", "<p><i>Incl. VAT</i><b>$120</b></p>", "<p><i>Excl. VAT</i> <b>$100</b></p>"),
        ("de", "<p><i>Netto</i><b><u>100 €</u></b></p>", "<p><i>Brutto</i><b><u>120 €</u></b></p>"),
        ("tr", "<p><i>Fiyat</i><b>120 TL</b></p>", "<p><i>Havale ile</i><b>100 TL</b></p>"),
        ("en", "<p><i>Member price</i><b>$100</b></p>", "<p><i>Price</i><b>$120</b></p>"),
        # a label behind its price, that stands first in the row of the next
        ("en", "<b>$100</b>", "<p><i>ex VAT</i><b>$120</b><i>inc VAT</i></p>"),
        ("en", "<b>$100</b> <i>ex VAT</i>", " <b>$120</b> <i>inc VAT</i>"),
    ],
)
def test_a_label_alone_in_a_row_with_its_price(lang: str, first: str, second: str) -> None:
    body = f"<h1>Knife</h1>{ROWS.format(first=first, second=second)}<p>SKU: A-100</p>{BUY}"
    assert price(body, lang) == Decimal(120)


def test_a_price_without_tax_alone_is_asked() -> None:
    assert price(f"<h1>Knife</h1><p class=price><i>Excl. VAT</i><b>$100</b></p><p>SKU: A-100</p>{BUY}") == Decimal(100)


@pytest.mark.parametrize(
    ("shown", "brand"),
    [
        ("<dl><dt>Vendor</dt><dd></dd><dt><span class=hide-text>Price was</span></dt><dd>$9</dd></dl>", None),
        ("<dl><dt>Vendor</dt><dd></dd><dt>Colour</dt><dd>Red</dd></dl>", None),
        ("<table><tr><th>Brand</th><td></td></tr><tr><th>Colour</th><td>Red</td></tr></table>", None),
        ("<dl><dt>Vendor</dt><dd>Acme</dd><dt>Colour</dt><dd>Red</dd></dl>", "Acme"),
        ("<div class=vendor><span>Vendor</span><p></p></div>", None),
        ("<div class=vendor>Acme</div>", "Acme"),
        ("<table><tr><th>Brand<th>Colour</th></tr><tr><td>Acme<td>Red</tr></table>", None),
    ],
)
def test_the_next_label_is_no_brand(shown: str, brand: str | None) -> None:
    item = found(f"<h1>Knife</h1><p class=price>$30.00</p>{shown}{BUY}")
    assert item is not None
    assert item.brand == brand


def test_an_address_that_ends_with_a_mark_of_products_is_one() -> None:
    body = "<h1>Knife</h1><p>Reference: REF-55</p><p>This product is currently unavailable</p><form><input></form>"
    item = found(body, url="https://shop.example.com/bread-knife/p")
    assert item is not None
    assert (item.price, item.availability, item.sku) == (None, "OutOfStock", "REF-55")
    for letter in ("bread-knife/x", "help/p", "brands/p", "a-z/p", "en-us/p", "users/john-smith/p"):
        assert found(body, url=f"https://shop.example.com/{letter}") is None


DEEP = "<div class=information><h3><a href=/products/{n}>{n}</a></h3><div class=info>{price}</div></div>"
OWN = "<div class=price><div class=container><div class=sale><span>{amount}</span></div></div></div>"


def deep(name: str, amount: str) -> str:
    """A card whose price stands six elements deep in it."""
    return f"<li>{DEEP.format(n=name, price=OWN.format(amount=amount))}</li>"


@pytest.mark.parametrize("entries", [deep("Axe", "$89.00"), deep("Axe", "$89.00") + deep("Hatchet", "$49.00")])
def test_a_short_list_is_no_product(entries: str) -> None:
    sold = '<p class="badge"><span>Sold out</span></p>'
    url = "https://shop.example.com/collections/tools"
    assert found(f"<h1>Tools</h1><ul>{entries}</ul>", title="Tools", url=url) is None
    assert found(f"<h1>Tools</h1><ul>{entries}</ul>{sold}", title="Tools", url=url) is None


@pytest.mark.parametrize("badge", ["<span>Sold out</span>", "<p><span>Sold out</span></p>"])
def test_what_a_badge_on_another_products_card_says_of_stock_is_not_the_pages(badge: str) -> None:
    card = f"<div class=content><h3><a href=/products/axe>Axe</a></h3><div>{badge}</div></div>"
    url = "https://shop.example.com/pages/gifts"
    assert found(f"<h1>Gift guide</h1><p>Gifts from $50</p><div>{card}</div>", title="Gift guide", url=url) is None


@pytest.mark.parametrize(("name", "is_listed"), [("Gift Card", True), ("Gift Cards", False)])
def test_a_product_named_by_the_singular_of_its_list_is_not_the_page(name: str, is_listed: bool) -> None:
    shown = f"<a href=/gift-card class=product-name>{name}</a><p class=price>$25.00</p>{BUY}"
    assert (found(f"<h1>Gift Cards</h1><div><div>{shown}</div></div>", title="Gift Cards") is None) is is_listed
    stated = (
        f'<div itemscope itemtype="https://schema.org/Product"><a itemprop=url href="/gift-card"></a>'
        f'<b itemprop=name>{name}</b><p itemprop=offers itemscope itemtype="https://schema.org/Offer">'
        f"<i itemprop=price content=25>$25</i><meta itemprop=priceCurrency content=USD></p></div>"
    )
    url = "https://shop.example.com/c/gifts"
    assert (found(f"<h1>Gift Cards</h1>{stated}", title="Gift Cards", url=url) is None) is is_listed


@pytest.mark.parametrize(
    ("lang", "rows", "amount"),
    [
        ("ko", (("판매가", "29,800원"), ("할인판매가", "23,800원 (20% 할인)")), "23800"),
        ("ja", (("価格", "1,290円"), ("特別価格", "990円")), "990"),
        ("en", (("Price", "$20.00"), ("Sale price", "$15.00")), "15.00"),
        ("en", (("Price inc VAT", "£120.00"), ("Price ex VAT", "£100.00")), "120.00"),
        ("en", (("Price", "$20.00"), ("Member price", "$15.00")), "20.00"),
        ("en", (("Price", "$20.00"), ("Price for 10+", "$15.00")), "20.00"),
        ("en", (("1 - 9", "$20.00"), ("10 - 99", "$15.00")), "20.00"),
        ("tr", (("Fiyat", "200 TL"), ("Havale fiyatı", "190 TL")), "200"),
    ],
)
def test_a_lower_price_in_a_row_of_its_own(lang: str, rows: tuple[tuple[str, str], ...], amount: str) -> None:
    cells = "".join(f"<tr><th>{label}</th><td>{shown}</td></tr>" for label, shown in rows)
    assert price(f"<h1>Knife</h1><table>{cells}</table><p>SKU: A-100</p>{BUY}", lang) == Decimal(amount)


@pytest.mark.parametrize(
    ("lang", "label", "asked", "less", "amount"),
    [
        ("ko", "할인", "60,000원", "15,000원 (20% 할인)", "60000"),
        ("ja", "値引き", "6,000円", "1,500円 (20% 割引)", "6000"),
    ],
)
def test_what_is_taken_off_is_no_price(lang: str, label: str, asked: str, less: str, amount: str) -> None:
    body = f"<h1>Knife</h1><p><b>{asked}</b></p><p>{label}</p><p>{less}</p><p>SKU: A-100</p>{BUY}"
    assert price(body, lang) == Decimal(amount)
