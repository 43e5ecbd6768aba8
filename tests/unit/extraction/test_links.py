"""Which links are followed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.extraction import Links, links
from crawler.policy.rules.domains import parse_rules

URL = "https://www.shop.example.com/c/knives?page=2"
BASE = "https://www.shop.example.com"


def of(body: str, rules: str = "", head: str = "") -> Links:
    return links(f"<html><head>{head}</head><body>{body}", URL, parse_rules(rules).for_url(URL))


@pytest.mark.parametrize(
    ("href", "kind"),
    [
        ("/product/knife", "product"),
        ("/products/knife-20", "product"),
        ("/p/knife/20451", "product"),
        ("/knife-20451.html", "product"),
        ("/shirt-x3411049.php", "product"),
        ("/camera-10134699-pdt.html", "product"),
        ("/rain-boots-yellow-ab312c00d-c11.html", "product"),
        ("/item/93133899_cushions", "product"),
        ("/dp/B0ABC12345", "product"),
        ("/bread-knife/p", "product"),
        ("/bread-knife/p?skuId=5", "product"),
        ("/pt-br/bread-knife/p", "product"),
        ("/en/p", None),
        ("/brands/p", "listing"),
        ("/a-z/p", None),
        ("/users/ann-lee/p", None),
        ("/x?product_id=5", "product"),
        ("/c/forks", "listing"),
        ("/category/forks/12345", "listing"),
        ("/collections/summer", "listing"),
        ("/brand/acme", "listing"),
        ("/promos-c-1234", "listing"),
        ("/c/knives?page=3", "pagination"),
        ("/c/knives/page/3", "pagination"),
        ("/knives?p=2", "pagination"),
        ("/product/", None),
        ("/products/", "listing"),
        ("/knives/product/", None),
        ("/product/knife?sort=price", None),
        ("/cart", None),
        ("/product/knife?add-to-cart=5", None),
        ("/account/login", None),
        ("/img/product/knife-20451.jpg", None),
        ("/about-us", None),
        ("/?p=20451", None),
        ("https://other.example.org/product/knife", None),
        ("mailto:a@b.c", None),
        ("#top", None),
        ("?page=2", None),
    ],
)
def test_the_general_default_goes_by_the_looks_of_a_url(href: str, kind: str | None) -> None:
    found = of(f'<a href="{href}">x</a>')
    assert [name for name in ("product", "pagination", "listing") if getattr(found, name)] == ([kind] if kind else [])


@pytest.mark.parametrize(
    "href",
    [
        "/x/../product/b",
        "/./product/b",
        "../product/b",
        " /product/b ",
        "/product/b#top",
        "//www.shop.example.com/product/b",
        "https://u:p@www.shop.example.com/product/b",
    ],
)
def test_a_link_leads_where_a_browser_would_go(href: str) -> None:
    (found,) = of(f'<a href="{href}">x</a>').product
    assert found == f"{BASE}/product/b"


def test_links_are_absolute_unique_in_order_and_of_the_site() -> None:
    found = of(
        '<a href="/product/b#x">b</a><a href="/product/a">a</a><a href="/product/b">b</a>'
        '<a href="http://m.shop.example.com/product/c">c</a><a rel=next href="/more">n</a>'
    )
    assert found == Links(
        product=(f"{BASE}/product/b", f"{BASE}/product/a", "http://m.shop.example.com/product/c"),
        pagination=(f"{BASE}/more",),
    )
    assert list(found) == [*found.pagination, *found.product]


def test_a_link_that_stands_in_the_menu_too_is_the_next_page() -> None:
    found = of('<a href="/guide/more">in the menu</a><a href="/guide/more" rel="next">continue</a>')
    assert found == Links(pagination=(f"{BASE}/guide/more",))


def test_nofollow_is_obeyed_unless_the_rules_say_otherwise() -> None:
    body = '<a rel="nofollow noopener" href="/product/a">a</a><a href="/product/b">b</a>'
    robots = '<meta name="robots" content="noindex, NoFollow">'
    assert of(body).product == (f"{BASE}/product/b",)
    assert of(body, head=robots) == Links()
    assert of(body, head='<meta name="robots" content="none">') == Links()
    assert of(body, head=f"<!-- {robots} -->").product == (f"{BASE}/product/b",)
    assert of(body, head='<meta name="robots" content="noindex">').product == (f"{BASE}/product/b",)
    assert len(of(body, "[default]\nobey_nofollow = false", robots).product) == 2


def test_with_rules_they_alone_decide() -> None:
    rules = """
["shop.example.com"]
product = ["/artikel/\\\\d+", { css = "li.card" }]
pagination = { css = "a.next" }
follow = ["/thema/"]
exclude = ["[?&]print="]
"""
    body = (
        '<li class=card><a href="/x/1">1</a></li><a href="/artikel/2">2</a><a href="/artikel/2?print=1">2</a>'
        '<a class=next href="/seite-2">n</a><a href="/thema/a">t</a><a href="/product/3">3</a>'
        '<li class=card><a href="https://other.example.org/x">o</a></li>'
    )
    assert of(body, rules) == Links(
        product=(f"{BASE}/artikel/2", f"{BASE}/x/1"), pagination=(f"{BASE}/seite-2",), listing=(f"{BASE}/thema/a",)
    )


def test_exclude_holds_for_the_general_default_too() -> None:
    assert of('<a href="/product/a">a</a>', '[default]\nexclude = "/product/"') == Links()


@given(st.text(max_size=300))
def test_no_href_is_too_strange(href: str) -> None:
    escaped = href.replace("&", "&amp;").replace('"', "&quot;")
    for target in of(f'<a href="{escaped}">x</a>', '[default]\nfollow = "."'):
        assert target.startswith(("http://", "https://"))


@pytest.mark.parametrize("url", ["http://[bad/", "//[", "http://a\u2100b/"])
def test_a_page_whose_url_is_none_leads_to_no_site(url: str) -> None:
    assert tuple(links('<a href="https://shop.example/p/12345-lamp">Lamp</a>', url)) == ()


def test_an_absolute_link_is_of_the_site_of_its_host_wherever_that_ends() -> None:
    own = ["http://shop.example.com", "https://b.example.com?x=/1", "//c.example.com/", "https://d.example.com/e//f"]
    others = [
        "https://example.org",
        "https://other.example.org?x=/shop.example.com/",
        "//www.example.net",
        "https://ä.org",
    ]
    body = "".join(f'<a href="{href}">x</a>' for href in own + others)
    assert of(body, '["shop.example.com"]\nfollow = "."').listing == (*own[:2], f"https:{own[2]}", own[3])
