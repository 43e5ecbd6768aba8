"""Every address a shop links leads where it says, and every product can be reached from a front page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawler.urls import canonicalize
from demo import catalogue
from demo.site import Site, is_disallowed, start_urls

GOODS = catalogue.build(size=40)
SITES = {store.host: Site(GOODS, store) for store in GOODS.stores}


def fetch(url: str) -> tuple[int, bytes, str]:
    parts = urlsplit(url)
    reply = SITES[parts.hostname or ""].reply(parts.path, dict(parse_qsl(parts.query)))
    return reply.status, reply.body, reply.location


def walk() -> Iterator[tuple[str, int, bytes]]:
    """Follow every link once, as a crawler that canonicalises addresses would."""
    waiting, seen = start_urls(GOODS), set(map(canonicalize, start_urls(GOODS)))
    while waiting:
        url = waiting.pop()
        status, body, location = fetch(url)
        yield url, status, body
        links = [location] if location else [a.attributes["href"] or "" for a in LexborHTMLParser(body).css("a")]
        for link in {urljoin(url, link) for link in links}:
            if canonicalize(link) not in seen and not is_disallowed(urlsplit(link).path):
                seen.add(canonicalize(link))
                waiting.append(link)


@cache
def walked() -> dict[str, tuple[int, bytes]]:
    """Status and body of each address. Made when a test asks: each process of a run imports this file."""
    return {url: (status, body) for url, status, body in walk()}


def canonical(body: bytes) -> str | None:
    link = LexborHTMLParser(body).css_first('link[rel="canonical"]')
    return link.attributes["href"] if link else None


def test_every_product_is_reached_from_the_front_pages() -> None:
    reached = {canonical(body) for status, body in walked().values() if status == 200}
    assert {product.url for product in GOODS.products} <= reached


def test_a_host_needs_few_enough_requests_for_the_demo_to_end_in_time() -> None:
    more_products = len(catalogue.build().products) - len(GOODS.products)
    assert (len(walked()) + more_products) / len(GOODS.stores) < 300


def test_the_web_of_links_has_redirects_and_dead_ends() -> None:
    statuses = [status for status, _ in walked().values()]
    assert {200, 301, 302, 404, 410} == set(statuses)


def test_some_products_have_a_second_address_that_names_the_first() -> None:
    named = {url.partition("?")[0]: canonical(body) for url, (_, body) in walked().items()}
    doubles = {url for url, first in named.items() if first and first != url}

    assert {urlsplit(url).path.split("/")[1] for url in doubles} == {"sale", "Product"}


def test_redirects_stay_on_the_host_or_lead_to_the_next() -> None:
    targets = {
        (urlsplit(url).hostname, urlsplit(urljoin(url, fetch(url)[2])).hostname) for url in walked() if fetch(url)[2]
    }
    assert any(one == other for one, other in targets)
    assert any(one != other for one, other in targets)


def test_disallowed_pages_are_linked_and_exist() -> None:
    _, body = walked()[start_urls(GOODS)[0]]
    links = [link.attributes["href"] or "" for link in LexborHTMLParser(body).css("a")]
    forbidden = [link for link in links if is_disallowed(link)]

    assert forbidden
    assert all(fetch(urljoin(start_urls(GOODS)[0], link))[0] == 200 for link in forbidden)


def test_robots_txt_asks_for_a_tenth_of_a_second() -> None:
    _, body, _ = fetch("http://127.0.0.2/robots.txt")
    assert b"Crawl-delay: 0.1" in body
    assert b"Disallow: /private/" in body


@pytest.mark.parametrize("page", ["0", "99", "x", "²", ""])
def test_a_listing_page_that_does_not_exist_is_missing(page: str) -> None:
    assert SITES["127.0.0.2"].reply("/c/garden", {"page": page}).status == 404


def test_pages_are_of_a_real_size_and_never_change_on_their_own() -> None:
    product = GOODS.products[0]
    sizes = [len(body) for _, body in walked().values() if canonical(body)]

    assert 9_000 < min(sizes) <= max(sizes) < 20_000
    assert fetch(product.url) == fetch(product.url)


def test_json_ld_states_the_truth() -> None:
    product = next(item for item in GOODS.products if item.style == "json-ld")
    node = LexborHTMLParser(fetch(product.url)[1]).css_first('script[type="application/ld+json"]')
    assert node is not None
    stated = json.loads(node.text())["@graph"][-1]

    assert stated["name"] == product.title
    assert stated["offers"]["price"] == str(product.price)
    assert stated["offers"]["priceCurrency"] == product.store.currency


def test_a_withdrawn_product_is_gone_on_the_next_day() -> None:
    second = catalogue.build(size=40, day=2)
    gone = second.retired[0]

    assert Site(second, gone.store).reply(urlsplit(gone.url).path, {}).status == 410
    assert SITES[gone.store.host].reply(urlsplit(gone.url).path, {}).status == 200


def test_faults_are_planted_at_products_of_the_shop() -> None:
    for site in SITES.values():
        kinds = sorted(fault.kind for path in site.products if (fault := site.fault(path)))
        assert kinds == ["busy", "busy", "drop", "drop", "slow"]
