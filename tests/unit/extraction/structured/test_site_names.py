"""The site's own name, and brands with a slogan behind it."""

from __future__ import annotations

import pytest

from crawler.extraction import extract_product
from crawler.extraction.structured import site_names
from crawler.extraction.tree.document import Document


def document(url: str, called: str = "") -> Document:
    return Document(f'<head><meta property="og:site_name" content="{called}"></head><body>', url)


@pytest.mark.parametrize(
    ("brand", "url", "called", "expected"),
    [
        ("Marta Berg - Keramik aus Lübeck", "https://www.martaberg.example/p/1", "", "Marta Berg"),
        ("Acme – tools since 1920", "https://shop.acme.example/p/1", "", "Acme"),
        ("Été & Fils — fromages", "https://shop.example/p/1", "Été & Fils", "Été & Fils"),
        ("雅竹堂 - 手工茶具", "https://shop.example/p/1", "雅竹堂 | 茶具", "雅竹堂"),
        ("Мастерская: керамика ручной работы", "https://shop.example/p/1", "Мастерская", "Мастерская"),
        ("Mercedes - Benz", "https://parts.example/p/1", "Parts", "Mercedes - Benz"),
        ("Tikka - T3", "https://www.knives.example/p/1", "Knives", "Tikka - T3"),
        ("Pro - Ject", "https://www.proshop.example/p/1", "Proshop", "Pro - Ject"),
        ("Alb-Gold", "https://www.alb.example/p/1", "Alb", "Alb-Gold"),
        ("Acme", "https://www.acme.example/p/1", "Acme", "Acme"),
    ],
)
def test_a_slogan_behind_the_sites_name_is_cut_off(brand: str, url: str, called: str, expected: str) -> None:
    assert site_names.without_slogan(brand, document(url, called)) == expected


@pytest.mark.parametrize(
    ("title", "url", "called", "expected"),
    [
        ("Hill House Kettle 2 l", "https://www.hill-house.example/p/1", "Hill House", "Hill House"),
        ("Solara G3", "https://solarahair.example/p/1", "Solara Hair Tools - since 1990", "Solara"),
        ("SOLARA Wasserkocher", "https://www.solara.example/p/1", "Solara", "SOLARA"),
        ("Nordlys kaffekande", "https://nordlys.example/da/p/1", "Nordlys | Kaffe", "Nordlys"),
        ("Zumo exprimidor", "https://zumo.example/p/1", "zumo", "Zumo"),
        ("Solara", "https://www.solara.example/p/1", "Solara", None),
        ("Solaris Lamp", "https://www.sola.example/p/1", "Sola", None),
        ("Solara Kettle", "https://www.kitchenworld.example/p/1", "Kitchen World", None),
        ("Kitchen scale", "https://www.kitchenworld.example/p/1", "Kitchenworld", None),
        ("Solara Kettle", "https://market.example/p/1", "Solara", None),
        ("Kettle", "https://www.solara.example/p/1", "", None),
        ("Vitamin D3", "https://www.vitamin-corner.example/p/1", "Vitamin Corner", None),
        ("Solara of Sicily", "https://solarahair.example/p/1", "Solara Hair Tools", None),
        ("Sapone alla lavanda", "https://www.sapone-artigiano.example/p/1", "Sapone Artigiano", None),
        ("Solara Pro", "https://solarahair.example/p/1", "Solara Hair Tools", "Solara"),
        ("A B C D E F", "https://abcde.example/p/1", "A B C D E", None),
    ],
)
def test_the_makers_own_shop(title: str, url: str, called: str, expected: str | None) -> None:
    assert site_names.maker(title, document(url, called)) == expected


@pytest.mark.parametrize(
    ("heading", "title", "url", "expected"),
    [
        ("Solara Kettle", "Kettle, 2 l | Solara", "https://www.solara.example/p/1", "Solara"),
        ("Hill House Kettle", "Kettle – Hill &amp; House - Hill House", "https://hillhouse.example/p/1", "Hill House"),
        ("Solara Kettle", "Solara Kettle | Kitchenworld", "https://kitchenworld.example/p/1", None),
        ("Kitchen scale", "Kitchen scale | Kitchenworld", "https://kitchenworld.example/p/1", None),
        ("Matelas mémoire", "Matelas mémoire", "https://www.matelaspro.example/p/1", None),
    ],
)
def test_the_end_of_a_title_is_the_sites_name(heading: str, title: str, url: str, expected: str | None) -> None:
    assert site_names.maker(heading, Document(f"<head><title>{title}</title></head><body>", url)) == expected


def test_what_anybody_states_comes_before_the_makers_own_shop() -> None:
    metas = '<meta property="og:site_name" content="Solara"><meta property="og:type" content="product">'
    head = f"<title>Solara Kettle</title>{metas}"
    url = "https://www.solara.example/p/kettle"
    alone = extract_product(f"<head>{head}</head><h1>Solara Kettle</h1><p class=price>$20</p>", url)
    assert alone is not None
    assert (alone.brand, alone.found_in["brand"]) == ("Solara", "inferred")
    other = extract_product(f"<head>{head}</head><h1>Solara Kettle</h1><p>Brand: Acme</p><p class=price>$20</p>", url)
    assert other is not None
    assert other.brand == "Acme"
