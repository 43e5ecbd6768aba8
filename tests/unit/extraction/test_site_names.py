"""The site's own name, and brands with a slogan behind it."""

from __future__ import annotations

import pytest

from crawler.extraction import site_names
from crawler.extraction.document import Document


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
