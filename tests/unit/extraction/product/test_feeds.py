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


GOOGLE = "http://base.google.com/ns/1.0"
FIELDS = {"title": "Knife & fork 1", "price": Decimal("1.50"), "currency": "EUR", "sku": "K-1", "brand": "Acme"}


def prefixed(prefix: str, namespace: str = GOOGLE) -> str:
    return rss().replace("g:", f"{prefix}:").replace(f'xmlns:g="{GOOGLE}"', f'xmlns:{prefix}="{namespace}"')


def late() -> str:
    bare = rss().replace(f' xmlns:g="{GOOGLE}"', "").replace("g:", "late:")
    return bare.replace("<item>", f'<item xmlns:late="{GOOGLE}">')


NAMESPACES = {
    "another prefix": prefixed("goog"),
    "a capital": prefixed("G"),
    "a known prefix elsewhere": prefixed("g", "http://www.example.com/ns"),
    "with TLS and a slash": prefixed("goog", "https://base.google.com/ns/1.0/"),
    "no declaration": rss().replace(f' xmlns:g="{GOOGLE}"', ""),
    "declared late": late(),
    "the default": rss().replace("<g:", "<").replace("</g:", "</").replace("xmlns:g", "xmlns"),
    "the default of items": rss()
    .replace("<g:", "<")
    .replace("</g:", "</")
    .replace("<item>", f'<item xmlns="{GOOGLE}">'),
    "Atom with a prefix": f'<a:feed xmlns:a="http://www.w3.org/2005/Atom" xmlns:x="{GOOGLE}">'
    + ITEM.format(n=1).replace("item>", "a:entry>").replace("g:", "x:").replace("title>", "a:title>")
    + "</a:feed>",
    "RSS 1.0 with a prefix": '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    f' xmlns:s="http://purl.org/rss/1.0/" xmlns:g="{GOOGLE}">'
    + ITEM.format(n=1).replace("item>", "s:item>")
    + "</r:RDF>",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMESPACES)
def test_names_go_by_namespace_whatever_the_prefix(name: str) -> None:
    (item,), broken = items(NAMESPACES[name])
    assert {name: getattr(item, name) for name in FIELDS} == FIELDS
    assert (item.url, item.found_in["price"], broken) == ("https://shop.example.de/p/1", "rule", "")
    assert is_feed(NAMESPACES[name], RULES.for_url(URL))


def test_paths_and_attributes_go_by_namespace_too() -> None:
    rules = parse_rules("""["shop.example.de".fields]
price = { xml = "g:shipping/g:price" }
sku = { xml = "note/@g:sku" }""").for_url(URL)
    note = '<note sku="a" other:sku="b" goog:sku="c">n</note></item>'
    text = prefixed("goog").replace("<rss", '<rss xmlns:other="http://other.example/"').replace("</item>", note)
    (item,), _ = items(text, rules)
    assert (item.price, item.sku) == (Decimal("4.90"), "c")


@pytest.mark.parametrize("path", ["goog:price", "x:cost", "price"])
def test_names_as_written_count_too(path: str) -> None:
    rules = parse_rules(f'["shop.example.de".fields]\nprice = {{ xml = "{path}" }}').for_url(URL)
    text = NAMESPACES["the default"] if path == "price" else prefixed("goog").replace("<rss", '<rss xmlns:x="urn:x"')
    (item,), _ = items(text.replace("</item>", "<x:cost>1.50 EUR</x:cost></item>") if path == "x:cost" else text, rules)
    assert (item.price, item.found_in["price"]) == (Decimal("1.50"), "rule")


def test_googles_element_comes_before_one_that_only_has_its_usual_prefix() -> None:
    other = "<item><g:price>9 USD</g:price>"
    text = prefixed("goog").replace("<rss", '<rss xmlns:g="urn:other"').replace("<item>", other)
    (item,), _ = items(text)
    assert (item.price, item.currency) == (Decimal("1.50"), "EUR")


def test_a_declaration_ends_with_its_element() -> None:
    first, second = ITEM.format(n=1).replace("g:", "p:"), ITEM.format(n=2).replace("g:", "p:")
    first = first.replace("<item>", f'<item xmlns:p="{GOOGLE}">')
    nested = second.replace("<item>", f'<item xmlns:p="{GOOGLE}"><x xmlns:p="urn:x"><p:price>9 USD</p:price></x>')
    (one, two, three), _ = items(OPENING + first + second + nested + END)
    assert (one.sku, two.sku, three.sku) == ("K-1", None, "K-2")
    assert (one.currency, two.currency, three.currency) == ("EUR", None, "EUR")


@pytest.mark.parametrize(
    "before",
    ["<!-- made by a shop -->", "<!-- a -->\n<!-- b > c -->", '<?xml-stylesheet href="a.css"?>', "<!DOCTYPE rss>",
     '<!-- a --><?pi?>\n<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://my.netscape.com/rss-0.91.dtd">\n'],
)  # fmt: skip
@pytest.mark.parametrize("declaration", ["", '<?xml version="1.0"?>\n'])
def test_what_may_stand_before_a_root_does(before: str, declaration: str) -> None:
    root = rss().removeprefix('<?xml version="1.0"?>')
    for text in (declaration + before + root, before + declaration + root):
        assert is_feed(text, RULES.for_url(URL))
    (item,), broken = items("\ufeff" + declaration + before + root)
    assert (item.sku, broken) == ("K-1", "")


def test_a_comment_before_the_declaration_is_passed_over() -> None:
    (item,), broken = items("<!-- made by a shop -->\n" + rss())
    assert (item.sku, broken) == ("K-1", "")


BOMB = """<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>"""
PREFIXES = " ".join(f'xmlns:a{n}="{GOOGLE}"' for n in range(10_000))
NAMED = f"<{'n' * 20_000}>"
DEFAULTS = "<!DOCTYPE rss [<!ATTLIST a " + " ".join(f"b{n} CDATA 'c'" for n in range(10_000)) + ">]>"
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
    "prefixes": (rss(2)[: -len(END)] + f"<item {PREFIXES}>" + "<a b='c'/>" * 100_000, 2, "100 prefixes"),
    "other prefixes": (OPENING + f"<item {PREFIXES.replace('base', 'b')}><title>t</title></item>" + END, 1, ""),
    "attributes": (OPENING + f"<item><title>t</title><a {PREFIXES.replace('xmlns:', '')}/></item>" + END, 1, ""),
    "long names": (OPENING + "<item><title>t</title>" + NAMED + "<b>1</b>" * 10_000, 0, "names longer than 200"),
    "default attributes": (DEFAULTS + "<rss><item><title>t</title>" + "<a/>" * 10_000, 0, "declares that 'a' has 'b0'"),
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
    assert not is_feed("<!-- a comment --><!DOCTYPE html><html>", rules)
    assert not is_feed(
        '<?xml version="1.0"?>\n<!-- a web page --><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0">', rules
    )
    assert not is_feed("<!--" * 1_000_000, rules)
    assert is_feed('<?xml version="1.0"?><products>', rules)


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
