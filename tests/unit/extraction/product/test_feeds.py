"""XML product feeds by rules."""

from __future__ import annotations

import tracemalloc
from decimal import Decimal
from itertools import islice
from types import SimpleNamespace

import pytest
from scrapy.http import TextResponse, XmlResponse

from crawler.errors import ConfigError
from crawler.extraction import Document, Feed, is_feed
from crawler.items import ProductItem
from crawler.policy.rules.domains import DomainRules, parse_rules
from crawler.spiders.products import ProductsSpider

URL = "https://shop.example.de/feed.xml"
RULES = parse_rules('["shop.example.de".fields]\nprice = { xml = "g:price" }')
OPENING = '<?xml version="1.0"?><rss xmlns:g="http://base.google.com/ns/1.0" version="2.0"><channel><title>Shop</title>'
ITEM = """<item><g:id>K-{n}</g:id><title>Knife &amp; fork {n}</title><link>https://shop.example.de/p/{n}</link>
<g:price>{n}.50 EUR</g:price><g:availability>in_stock</g:availability><g:brand>Acme</g:brand>
<g:gtin>4006381333931</g:gtin><g:image_link>/{n}.jpg</g:image_link>
<g:shipping><g:price>4.90 EUR</g:price></g:shipping></item>"""
END = "</channel></rss>"


def items(text: str, rules: DomainRules | None = None) -> tuple[list[ProductItem], str]:
    feed = Feed(Document(text, URL), rules or RULES.for_url(URL))
    return list(feed), feed.broken


def rss(count: int = 1) -> str:
    return OPENING + "".join(ITEM.format(n=n) for n in range(1, count + 1)) + END


def test_a_product_of_a_feed() -> None:
    (item,), broken = items(rss())
    values = {name: getattr(item, name) for name in item.found_in}
    assert values == {
        "title": "Knife & fork 1", "price": Decimal("1.50"), "currency": "EUR", "availability": "InStock", "sku": "K-1",
        "gtin": "4006381333931", "brand": "Acme", "image": "https://shop.example.de/1.jpg",
    }  # fmt: skip
    assert (item.url, item.key, item.found_in["price"], item.found_in["sku"]) == (
        "https://shop.example.de/p/1",
        "",
        "rule",
        "feed",
    )
    assert broken == ""


def test_ten_thousand_products_are_read_one_by_one_in_little_memory() -> None:
    feed = iter(Feed(Document(rss(10_000), URL), RULES.for_url(URL)))
    tracemalloc.start()
    first = next(feed)
    assert sum(1 for _ in islice(feed, 500)) == 500
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (first.sku, sum(1 for _ in feed)) == ("K-1", 9_499)
    assert peak < 2_000_000  # of a feed of 4 MB


def test_atom_paths_and_patterns() -> None:
    rules = parse_rules("""["shop.example.de".fields]
price = { xml = "g:shipping/g:price" }
sku = { xml = "link/@href", pattern = "p/(\\\\d+)" }
brand = [{ xml = "none" }, { value = "Own" }]""").for_url(URL)
    entry = ITEM.replace("item>", "entry>").replace(
        "<link>https://shop.example.de/p/{n}</link>", '<link rel="self" href="/feed/{n}"/><link href="/p/{n}"/>'
    )
    (item,), _ = items(f'<feed xmlns="http://www.w3.org/2005/Atom">{entry.format(n=7)}</feed>', rules)
    assert (item.price, item.sku, item.brand, item.url) == (
        Decimal("4.90"),
        "7",
        "Own",
        "https://shop.example.de/p/7",
    )


@pytest.mark.parametrize("before", ["\n", "\ufeff", "\ufeff \n\n\t"])
def test_blanks_before_the_xml_declaration_are_passed_over(before: str) -> None:
    (item,), broken = items(before + rss())
    assert (item.sku, broken) == ("K-1", "")
    _, broken = items(f"\n\n{rss(1)}\n<")
    assert "line 7" in broken


def test_products_without_a_link_of_their_own_are_told_apart() -> None:
    twice = ITEM.format(n=1) + ITEM.format(n=1).replace("K-1", "K-2")
    elsewhere = ITEM.format(n=3).replace("shop.example.de", "other.example.org")
    found, _ = items(OPENING + twice + elsewhere + END)
    assert [(item.url, item.key) for item in found] == [
        ("https://shop.example.de/p/1", ""),
        (URL, "K-2"),
        (URL, "K-3"),
    ]


BOMB = """<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>"""
EXTERNAL = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
MANY = "".join(f"<a{n}>1</a{n}>" for n in range(4_000))
BROKEN = {
    "entities": (BOMB + "<rss><item><title>&b;</title></item></rss>", 0, "entity 'a'"),
    "external entity": (EXTERNAL + "<rss><item><title>&a;</title></item></rss>", 0, "entity 'a'"),
    "parameter entity": ('<!DOCTYPE x [<!ENTITY % a SYSTEM "http://x/">%a;]><rss/>', 0, "entity 'a'"),
    "unclosed": (rss(3)[: -len(END)] + "<item><title>x", 3, "line"),
    "unknown entity": (rss(2)[: -len(END)] + "<item><title>&nbsp;</title></item>" + END, 2, "undefined entity"),
    "deep": (OPENING + "<a>" * 100_000, 0, "deeper"),
    "endless tag": (OPENING + "<item a='" + "x" * 3_000_000, 0, "un"),  # terminated; Expat 2.6 says "unclosed token"
    "many values": (OPENING + f"<item><title>t</title>{MANY}</item>" + END, 1, ""),
    "no product": (rss(3)[: -len(END)] + "<item/>" * 100_000 + END, 3, "5,000 elements without a product"),
    "no item": (OPENING + "<a/>" * 100_000 + END, 0, "5,000 elements without a product"),
    "long value": (OPENING + f"<item><title>{'t' * 2_000_000}</title></item>" + END, 1, ""),
    "surrogates": (OPENING + "<item><title>a\ud800b</title></item>" + END, 1, ""),
    "no feed": ("<?xml version='1.0'?><urlset/>", 0, ""),
    "empty": ("", 0, "no element"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_or_hostile_feed_gives_what_came_before(name: str) -> None:
    text, count, reason = BROKEN[name]
    found, broken = items(text)
    assert len(found) == count
    assert reason in broken
    assert bool(broken) == bool(reason)
    assert all(len(item.title or "") <= 1_000 for item in found)


def test_only_domains_with_rules_for_it_have_feeds() -> None:
    rules = RULES.for_url(URL)
    assert is_feed(rss(), rules)
    assert is_feed("\ufeff\n<feed>", rules)
    assert not is_feed("<!doctype html><rss>", rules)
    assert not is_feed(rss(), DomainRules())


def test_the_spider_yields_all_products_and_counts_a_broken_feed() -> None:
    counted: list[str] = []
    spider = ProductsSpider()
    spider.rules = RULES
    spider.crawler = SimpleNamespace(stats=SimpleNamespace(inc_value=counted.append))  # type: ignore[assignment]
    whole = XmlResponse(URL, body=rss(5).encode(), encoding="utf-8")
    assert [item.sku for item in spider.parse(whole) if isinstance(item, ProductItem)] == [
        f"K-{n}" for n in range(1, 6)
    ]
    assert spider.reading(whole) is None
    cut = TextResponse(URL, body=rss(5)[:-10].encode(), encoding="utf-8")
    assert len(list(islice(spider.parse(cut), 10))) == 5
    assert counted == ["extraction/feeds_broken"]


@pytest.mark.parametrize("raw", ['{ xml = "" }', '{ xml = "a b" }', "{ xml = 5 }", '{ xml = "a", json = "b" }'])
def test_an_element_that_is_none_is_refused(raw: str) -> None:
    with pytest.raises(ConfigError, match="price"):
        parse_rules(f'["shop.example.de".fields]\nprice = {raw}')
