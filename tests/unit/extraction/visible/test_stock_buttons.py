"""What the label of the product's own buy button says of its stock."""

from __future__ import annotations

import pytest

from crawler.extraction.tree.document import Document
from crawler.extraction.visible import buy_buttons, visible_stock
from crawler.extraction.visible.view import View


def stock(lang: str, body: str) -> str | None:
    page = f'<html lang="{lang}"><title>Knife | Shop</title><body><h1>Knife</h1>{body}'
    return visible_stock.shown_availability(View(Document(page, "https://shop.example.com/x")))


@pytest.mark.parametrize(
    ("expected", "lang", "body"),
    [
        ("PreOrder", "sv", "<p>199 kr</p><a href=/korg class=btn>Förbeställ nu</a>"),
        ("PreOrder", "de", '<p>9 €</p><input type=submit value="Jetzt vorbestellen"><p>Auf Lager</p>'),
        ("PreOrder", "fr", "<p>En stock le 3 mai</p><button>Pré-commander cet article</button>"),
        ("PreOrder", "pt", "<a class=botao href=/c>Compre na pré-venda</a>"),
        ("PreOrder", "ja", "<a class=button href=/cart>予約注文する</a>"),
        ("PreOrder", "ru", "<a href=/cart><span>Оформить предзаказ</span></a>"),
        ("InStock", "en", "<button>Add to cart</button><p>Other knife</p><a href=/k>Pre-order</a>"),
        ("BackOrder", "en", "<button>Back order</button>"),
        ("BackOrder", "pl", "<a href=/koszyk>Kup na zamówienie</a>"),
        ("PreOrder", "tr", "<button>Ön sipariş ver</button>"),
        ("PreOrder", "vi", "<a href=/cart class=btn>Đặt trước ngay</a>"),
        ("OutOfStock", "en", "<p>Availability: out of stock</p><button>Pre-order</button>"),
        ("OutOfStock", "de", "<p class=a-size-medium>Nicht verfügbar</p><p>Bald wieder vorrätig?</p>"),
        ("PreOrder", "it", "<a href=/carrello>Preordina ora</a>"),
        ("InStock", "cs", "<button>Do košíku</button><a href=/jine>Předobjednat</a>"),
    ],
)
def test_a_buy_button_may_take_orders_in_advance(expected: str, lang: str, body: str) -> None:
    assert stock(lang, body) == expected


@pytest.mark.parametrize(
    ("expected", "lang", "body"),
    [
        ("BackOrder", "en", "<p>Special order</p><p>$20</p><button>Add to cart</button>"),
        ("BackOrder", "en", "<p>Expected availability: 3 weeks</p><button>Add to cart</button>"),
        ("InStock", "en", "<button>Add to cart</button><p>Special order</p>"),
        ("InStock", "en", "<p>Special order policy</p><button>Add to cart</button>"),
        ("BackOrder", "ru", "<p>Спецзаказ, 14 дней</p><button>В корзину</button>"),
        ("BackOrder", "ja", "<p>受注生産品です</p><button>カートに入れる</button>"),
        ("BackOrder", "it", "<span>Ordine speciale (3 settimane)</span><button>Aggiungi al carrello</button>"),
        ("BackOrder", "nl", "<p>Speciale bestelling</p><button>In winkelwagen</button>"),
        ("InStock", "fr", "<p>Commandes spéciales : nous consulter</p><button>Ajouter au panier</button>"),
    ],
)
def test_a_special_order_is_no_stock(expected: str, lang: str, body: str) -> None:
    assert stock(lang, body) == expected


@pytest.mark.parametrize(
    ("expected", "lang", "body"),
    [
        ("OutOfStock", "en", "<p>$20</p><p>Ended</p>"),
        ("OutOfStock", "en", "<p>$20</p><button disabled>Coming soon!</button>"),
        ("InStock", "en", "<p>$20</p><button>Add to cart</button><p>Blue</p><p>Coming soon</p>"),
        (None, "en", "<p>$20</p><p>More colours are coming soon to our shop</p>"),
        ("OutOfStock", "fi", "<p>20 €</p><span>Tulossa pian</span>"),
        ("OutOfStock", "ja", "<p>近日発売</p>"),
        ("OutOfStock", "nl", "<p>20 €</p><p>Binnenkort beschikbaar</p>"),
        ("OutOfStock", "ro", "<div>În curând</div>"),
        (None, "de", "<p>Die Aktion ist beendet, der Preis bleibt</p>"),
        ("OutOfStock", "pl", "<p>Zakończona</p><p>129 zł</p>"),
    ],
)
def test_what_has_ended_or_is_to_come_is_not_in_stock(expected: str | None, lang: str, body: str) -> None:
    assert stock(lang, body) == expected


@pytest.mark.parametrize("lang_label", ["en Back-order", "en Pre-order", "ru Предзаказ", "hr Prednarudžba"])
def test_a_badge_of_a_listing_is_no_button(lang_label: str) -> None:
    lang, label = lang_label.split()
    badge = f'<li>Knife<div class="card"><span class="badge hidden">{label}</span></div><b>$9</b>'
    page = f'<html lang="{lang}"><title>Knives</title><body><h1>Knives</h1><ul>{badge * 3}</ul>'
    document = Document(page, "https://shop.example.com/x")
    assert buy_buttons.buy_button(View(document)) is buy_buttons.Button.NONE


@pytest.mark.parametrize(("text", "is_out"), [("Sold out", True), ("Coming soon", False), ("Ended", False)])
def test_listings_have_what_is_to_come_too(text: str, is_out: bool) -> None:
    page = Document(f"<title>Knives</title><body><h1>Knives</h1><p>{text}</p>", "https://shop.example.com/x")
    assert visible_stock.is_out(View(page)) is is_out
