"""Titles of pages that are no article, product or thread: their headings may be words of a menu."""

from __future__ import annotations

import json

import pytest

from crawler.extraction import extract_page

URL = "https://acme.example/a"
TEXT = f"<p>{'This is a sentence that people read, and it ends with a dot. ' * 3}</p>" * 3


def title_of(heading: str, title: str, head: str = "", url: str = URL) -> str | None:
    return extract_page(f"<head><title>{title}</title>{head}</head><body><main><h1>{heading}</h1>{TEXT}", url).title


@pytest.mark.parametrize(
    ("heading", "title", "found"),
    [
        ("Coupons", "Coupons for Plumbing Repairs | Lake Plumbing", "Coupons for Plumbing Repairs"),
        ("Reviews", "Reviews of our Swimming Lessons &mdash; Wave School", "Reviews of our Swimming Lessons"),
        ("Tables", "Wooden Kitchen Tables - Holz Haus", "Wooden Kitchen Tables"),
        ("Tent Rental", "Tent Rental for Weddings in Graz - Zelt Profi", "Tent Rental for Weddings in Graz"),
        ("Evening Courses", "120 Evening Courses for Adults | City College", "120 Evening Courses for Adults"),
        ("cameras", "cameras News, Tests and Guides · Photo Weekly", "cameras News, Tests and Guides"),
        ("Prices", "Our Prices for Dental Care • Dr. Weiss", "Our Prices for Dental Care"),
        ("Kontakt", "Kontakt und Anfahrt | Gasthof Post", "Kontakt und Anfahrt"),
        ("Nos services", "Nos services de nettoyage » Propre &amp; Net", "Nos services de nettoyage"),
    ],
)
def test_a_title_that_says_the_same_and_more_names_a_page_better(heading: str, title: str, found: str) -> None:
    assert title_of(heading, title) == found


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("Knives", "Knives Archives - Kitchen Notes"),
        ("Knives", "Category: Knives | Kitchen Notes"),
        ("Knives", "Knives - Kitchen Notes"),
        ("Knives", "KNIVES | Buy knives online | Kitchen Notes"),
        ("Knives", "Kitchen Notes: Knives"),
        ("SELECT", "Sea Database: Documentation: 18: SELECT"),
        ("map - apply to each", "map - apply to each — Tools 3.1 documentation"),
        ("Getting started", "Documentation | Getting started | Acme"),
        ("Getting started", "Acme Cloud Documentation - Getting started"),
        ("Good knives", "Acme"),
        ("Sharp knives for bread and meat", "Knives for bread | Acme"),
        ("Bread and knives", "The history of eating with tools | Acme"),
        ("Hire a cook in Graz", "Hire Local Cooks – Help in Graz"),
        ("On bread", "Acme on bread"),
        ("Class ArrayList", "ArrayList (Sea Platform 17 and later versions)"),
        ("パンとナイフ", "パンとナイフ | 台所ノート"),
        ("Struct Vec", "Vec in acme::vec - Sea"),
        ("Knives", "Shop Knives at Acme-on-Bread.example with Free Returns"),
        ("Good knives", ""),
        ("Good knives", " | | "),
        ("Knives", "Knives ⋆ Kitchen Notes"),
        ("Knives", "Knives &lt; Kitchen Notes"),
        ("Knives", "Knives, Kitchen Notes"),
        ("Knives", "Knives [Kitchen Notes]"),
        ("Knives", "Knives (page 2)"),
        ("Knives", "Knives- Kitchen Notes"),
        ("Knives", "Knives Page 2 | Kitchen Notes"),
        ("Knives", "Arquivo de Knives | Kitchen Notes"),
        ("Knives", "3.2. Knives — Kitchen Notes"),
        ("Knives", "Knives Acme on Bread | Kitchen"),
        ("On bread", "On bread by Ann Lee"),
        ("Ann Lee", "Ann Lee, Author at Kitchen Notes"),
        ("产品中心", "产品中心-北京刀具有限公司"),
        ("产品中心", "产品中心_北京刀具有限公司"),
        ("会社概要", "会社概要・刃物屋"),
    ],
)
def test_else_the_heading_is_the_title(heading: str, title: str) -> None:
    assert title_of(heading, title, url="https://acme-on-bread.example/a") == heading


@pytest.mark.parametrize(
    ("heading", "title", "site"),
    [("Lamps & lights", "Modern Lamps for Every Room", " – Lumina"), ("All Tents", "Tents for Families", " | Zelt")],
)
def test_a_shop_may_name_its_goods_in_other_words(heading: str, title: str, site: str) -> None:
    goods = "".join(f"<a href=/{n}>Item {n}</a><p>$ {n}</p>" for n in range(10, 16))
    assert title_of(heading + "</h1>" + goods + "<h1>", title + site) == title
    assert title_of(heading, title + site) == heading


@pytest.mark.parametrize(
    "head",
    [
        f'<script type="application/ld+json">{json.dumps({"@type": "NewsArticle", "headline": "Reviews"})}</script>',
        f'<script type="application/ld+json">{json.dumps({"@type": "Product", "name": "Reviews"})}</script>',
        '<meta property="og:type" content="article">',
        '<meta property="og:type" content="product">',
        '<meta property="og:title" content="Reviews">',
    ],
)
def test_articles_and_products_have_their_heading_as_title(head: str) -> None:
    assert title_of("Reviews", "Reviews of our Swimming Lessons | Wave School", head) == "Reviews"


def test_the_name_of_the_site_is_no_title_of_a_page() -> None:
    head = '<meta property="og:site_name" content="All About Knives">'
    assert title_of("Knives", "All About Knives | The best", head) == "Knives"


@pytest.mark.parametrize("tag", ["div", "center", "p", "header"])
def test_a_heading_may_hold_a_block(tag: str) -> None:
    assert title_of(f"<{tag}>On rivers</{tag}>", "Rivers of the north | On rivers") == "On rivers"


@pytest.mark.parametrize("kind", ["article", "product", "website"])
def test_blocks_of_one_heading_are_a_title_as_far_as_the_title_has_them(kind: str) -> None:
    head = f'<meta property="og:type" content="{kind}">'
    lines = "<div>How to build</div><div>a better river</div>"
    assert title_of(lines, "How to build a better river | Acme", head) == "How to build a better river"
    assert title_of("<div>Rivers</div><div>How they flow</div>", "How they flow | Acme", head) == "How they flow"
    assert title_of("How they flow<div>On rivers</div>", "Acme", head) == "How they flow"


@pytest.mark.parametrize("own", ["h1", "h2"])
@pytest.mark.parametrize("tag", ["div", "p"])
def test_a_logo_that_is_a_block_in_a_heading_is_no_title(own: str, tag: str) -> None:
    logo = f"<header><h1><{tag}><a href=/>Acme Tools</a></{tag}></h1></header>"
    page = f"<title>On rivers | Acme Tools</title><body>{logo}<main><{own}>On rivers</{own}>{TEXT}</main>"
    assert extract_page(page, "https://site.example/a").title == "On rivers"


def test_a_title_is_not_cut_before_what_its_address_names() -> None:
    page = f"<title>Kitchen Notes | How to cut bread for all guests</title><body><main>{TEXT}"
    url = "https://site.example/how-to-cut_bread"
    assert extract_page(page, url).title == "Kitchen Notes | How to cut bread for all guests"


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("Garden Designer | Plans for small gardens - Ann Lee", "Garden Designer"),
        ("Safe ladders | Agency for Safety and Health at Work", "Safe ladders"),
        ("Oil and gas - Overview | Agency for Safety and Health at Work", "Oil and gas - Overview"),
        ("Sauber &amp; Rein | Die Reinigung", "Sauber & Rein"),
        ("Pianos ｜ tuned and mended in Graz", "Pianos ｜ tuned and mended in Graz"),
        ("Acme Works | Heating and boilers of all kinds", "Acme Works | Heating and boilers of all kinds"),
        ("What a | b means in a shell", "What a"),  # known weakness: without a heading nobody knows
        (" | Heating", "Heating"),
        ("|", None),
    ],
)
def test_a_title_without_a_heading_ends_at_its_first_pipe(title: str, found: str | None) -> None:
    page = f"<head><title>{title}</title></head><body><main>{TEXT}"
    assert extract_page(page, "https://www.acme-works.example/a").title == found
