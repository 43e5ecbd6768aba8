"""What the label of the product's own buy button says of its stock."""

from __future__ import annotations

import pytest

from crawler.extraction import visible_stock
from crawler.extraction.document import Document
from crawler.extraction.view import View


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
        ("PreOrder", "it", "<a href=/carrello>Preordina ora</a>"),
        ("InStock", "cs", "<button>Do košíku</button><a href=/jine>Předobjednat</a>"),
    ],
)
def test_a_buy_button_may_take_orders_in_advance(expected: str, lang: str, body: str) -> None:
    assert stock(lang, body) == expected
