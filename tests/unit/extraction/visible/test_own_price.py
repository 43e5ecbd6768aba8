"""The product's own price among cards whose prices are written in the same way, and listings, where there is none."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.extraction import extract_product

PRICE = '<div class="price"><span class="sr">{label}</span><span class="amount">{amount}</span></div>'


def price(amount: str, label: str = "Price") -> str:
    return PRICE.format(label=label, amount=amount)


def cards(*amounts: str, named: str = "<a href=/goods/{n}><i>Fork {n}</i></a><img src={n}.jpg>") -> str:
    """Cards of which nothing tells that a link is a product's title."""
    return "".join(
        f"<div class=tile>{named.format(n=n)}{price(each)}</div>" for n, each in zip("ABCDE", amounts, strict=False)
    )


BUY = "<form><button type=submit>Add to cart</button></form>"
OTHERS = cards("$12.00", "$13.50", "$19.00", "$21.00", "$8.00")

OWN = f"<div class=tile>{price('$30.00')}{BUY}</div>"
ALIKE = "".join(f"<div class=tile>{price(each)}</div>" for each in ("$12.00", "$13.50", "$19.00", "$21.00", "$8.00"))


def extracted(body: str, title: str = "Knife", url: str = "https://shop.example.com/knife") -> Decimal | None:
    product = extract_product(f'<html lang="en"><title>{title} | Shop</title><body>{body}', url)
    return product.price if product is not None else None


@pytest.mark.parametrize(
    "body",
    [
        f"<main><div class=top><h1>Knife</h1>{price('$30.00')}{BUY}</div><div>{OTHERS}</div></main>",
        f"<main><div><div><h1>Knife</h1></div><div>{price('$30.00')}{BUY}</div></div><ul>{OTHERS}</ul></main>",
        # the heading twice, for small screens above the images
        f"<main><div><h1>Knife</h1></div><div><div><h1>Knife</h1></div>{price('$30.00')}{BUY}</div>{OTHERS}</main>",
        # a bar that stays in view says the price again
        f"<main><div><h1>Knife</h1>{price('$30.00')}{BUY}</div>{OTHERS}</main>",
        # written exactly as the others, which are in no cards, in another part of the page
        f"<main><section><h1>Knife</h1>{OWN}</section><section>{ALIKE}</section></main>",
        f"<main><div><p><section><h1>Knife</h1></section><section>{OWN}</section></div>{ALIKE}</main>",
        f"<main><div><h1>Knife</h1></div><div><div><h1>Knife</h1></div>{OWN}</div>{ALIKE}</main>",
        # all in one part of the page, but the others in cards with titles
        f"<h1>Knife</h1>{price('$30.00')}{BUY}"
        + cards("$12.00", "$13.50", "$19.00", "$21.00", named="<h3><a href=/goods/{n}>Fork {n}</a></h3>"),
    ],
)
def test_price_like_those_of_cards_below_is_the_products(body: str) -> None:
    assert extracted(body) == Decimal("30.00")


@pytest.mark.parametrize(
    "body",
    [
        f"<main><h1>Forks</h1>{OTHERS}</main>",
        f"<main><div><h1>Forks</h1><p>All we have.</p></div><div>{OTHERS}</div></main>",
        f"<main><h1>Forks</h1>{OTHERS}{BUY}</main>",
        f"<main><section><h1>Forks</h1>{OWN}{ALIKE}</section></main>",
        # each entry with its button
        "<main><h1>Forks</h1>"
        + "".join(f"<div class=tile><i>A fork</i>{price(f'${n}.00')}{BUY}</div>" for n in range(11, 16))
        + "</main>",
    ],
)
def test_listing_has_no_price_of_its_own(body: str) -> None:
    assert extracted(body, title="Forks", url="https://shop.example.com/forks") is None


BANNER = "<header><div class=banner><h1>{heading}</h1></div></header><main>{body}</main>"
TITLED = "<h3><a href=/goods/{n}>Fork {n}</a></h3>"
CARDS = {
    "link": "<li><a href=/goods/{n}><h3>Fork {n}</h3><span class=price>{amount}</span></a></li>",
    "title": f"<li>{TITLED}<span class=price>{{amount}}</span>{BUY}</li>",
    "columns": f"<div><div>{TITLED}$45.00 / kg</div><div>{{amount}}{BUY}</div></div>",
    "flat": f"{TITLED}<p class=price>{{amount}}</p>{BUY}",
}


@pytest.mark.parametrize("form", CARDS)
@pytest.mark.parametrize("amounts", [("$12.00", "$13.50"), ("$12.00", "$13.50", "$19.00", "$21.00")])
def test_cards_beside_a_product_whose_heading_is_elsewhere_are_not_its_own(form: str, amounts: tuple[str, ...]) -> None:
    tiles = "".join(CARDS[form].format(n=n, amount=each) for n, each in zip("ABCD", amounts, strict=False))
    own = f"<div><p class=price>$30.00</p><p>SKU: A-100</p>{BUY}</div>"
    assert extracted(BANNER.format(heading="Knife", body=f"{own}<ul>{tiles}</ul>")) == Decimal(30)
    if form != "flat":
        assert extracted(BANNER.format(heading="Knife", body=f"<ul>{tiles}</ul>{own}")) == Decimal(30)
    list_url = "https://shop.example.com/forks"
    assert extracted(BANNER.format(heading="Forks", body=f"<ul>{tiles}</ul>"), "Forks", list_url) is None


def test_instalments_written_like_the_price_are_no_entry_of_a_list() -> None:
    parts = "<div>or from <b>$3.00</b> × 10 payments</div>"
    others = "".join(f"<div><a href=/{n}>Fork {n}</a><b>${n}.50</b></div>" for n in (12, 13))
    own = f"<div><h1>Knife</h1><div><b>$30.00</b></div>{parts}{BUY}</div>"
    assert extracted(f"<div>{own}<div>{others}</div></div>") == Decimal(30)
    listed = "".join(f"<div><b>${n}.00</b> <i>× {n} payments</i></div>" for n in range(11, 16))
    list_url = "https://shop.example.com/forks"
    assert extracted(f"<h1>Forks</h1><div><b>$30.00</b></div>{listed}{others}", "Forks", list_url) is None


def test_lower_price_in_a_card_makes_no_regular_price_an_old_one() -> None:
    own = f"<div><h1>Knife</h1>{price('$30.00', 'Regular price')}{BUY}</div>"
    card = f"<div class=tile><h3><a href=/goods/fork>Fork</a></h3>{price('$12.00', 'Regular price')}</div>"
    assert extracted(f"<main>{own}<div>{card}</div></main>") == Decimal("30.00")
    reduced = f"<div><h1>Knife</h1>{price('$30.00', 'Regular price')}{price('$24.00', 'Sale price')}{BUY}</div>"
    assert extracted(f"<main>{reduced}<div>{card}</div></main>") == Decimal("24.00")


def test_prices_of_quantities_in_rows_of_a_table_are_not_those_of_one() -> None:
    rows = "".join(f"<tr><td>from <b>{n}</b></td><td>${each}</td></tr>" for n, each in ((1, "0.39"), (100, "0.29")))
    assert extracted(f"<h1>Knife</h1><table>{rows}</table>{BUY}") == Decimal("0.39")
    old = "<table><tr><td>$0.39</td><td>$0.29</td></tr></table>"
    assert extracted(f"<h1>Knife</h1>{old}{BUY}") == Decimal("0.29")


def test_what_is_added_to_a_price_is_none() -> None:
    body = "<h1>Speakers</h1><p>€ 430,00</p><p>prezzo online</p><p>+ € 90,00 di trasporto</p><button>Acquista</button>"
    item = extract_product(f"<html lang=it><title>Speakers</title>{body}</html>", "https://negozio.example/p/1093")
    assert item is not None
    assert str(item.price) == "430.00"
