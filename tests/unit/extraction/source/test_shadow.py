"""Shadow roots that a page declares: shown by browsers, so read like the rest."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest

from crawler.extraction import Document, extract_page, extract_product
from crawler.extraction.source import shadow

ROOT = '<template shadowrootmode="open">'
OPEN, END = "<shadow-root>", "</shadow-root>"
URL = "https://shop.example/p/knife"


@pytest.mark.parametrize(
    ("markup", "opened"),
    [
        (f"<a-b>{ROOT}<p>x</template></a-b>", f"<a-b>{OPEN}<p>x{END}</a-b>"),
        ("<TEMPLATE id=a shadowrootmode='closed' >x</TEMPLATE >", f"{OPEN}x{END}"),
        (f"{ROOT}a<x-y>{ROOT}b</template></x-y>c</template>", f"{OPEN}a<x-y>{OPEN}b{END}</x-y>c{END}"),
        (f"{ROOT}a<template>b</template>c</template>", f"{OPEN}a<template>b</template>c{END}"),
        (f"<template>a{ROOT}b</template>c</template>", None),
        (f"<!-- {ROOT} -->x</template>", None),
        ("<template data-x='shadowrootmode'>x</template>", None),
        ('<template shadowrootmode="none">x</template>', None),
        ("<template>x</template><p>y", None),
        (f"</template>{ROOT}x", f"</template>{OPEN}x"),
        (f"{ROOT}x</template></template>", f"{OPEN}x{END}</template>"),
        ("<template shadowrootmode='open", None),
    ],
)
def test_templates_that_browsers_show_are_opened(markup: str, opened: str | None) -> None:
    assert shadow.opened(markup) == (markup if opened is None else opened)


def test_a_page_and_a_product_in_shadow_roots_are_read() -> None:
    text = "<p>This is a sentence that people read, and it ends with a dot. So does this one.</p>" * 3
    shop = f"<main><h1>Knife</h1><span class=price>$45.00</span><button>Add to cart</button>{text}</main>"
    html = f"<html lang=en-US><title>Knife</title><body><x-shop>{ROOT}{shop}</template></x-shop>"
    assert (extract_page(html, URL).text or "").startswith("Knife\n")
    item = extract_product(html, URL)
    assert item is not None
    assert (item.title, item.price) == ("Knife", Decimal(45))
    assert Document(html, URL).tree.css_first("h1") is not None


@pytest.mark.parametrize("piece", [ROOT, f"{ROOT}</template>", "</template>", "<!--", "<template '", '<template x="'])
def test_opening_is_linear(piece: str) -> None:
    markup = ROOT + piece * 30_000
    started = time.process_time()
    shadow.opened(markup)
    assert time.process_time() - started < 2
