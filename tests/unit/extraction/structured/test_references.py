"""Properties that only name another node of the page's structured data."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from crawler.extraction import extract_product
from crawler.extraction.structured import references
from crawler.items import ProductItem

URL = "https://shop.example.com/p/knife"
OFFER = {"@type": "Offer", "price": "49.90", "priceCurrency": "EUR", "availability": "https://schema.org/PreOrder"}


def found(*blocks: Any) -> ProductItem:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(block)}</script>' for block in blocks)
    item = extract_product(f"<title>Knife</title>{scripts}<h1>Knife</h1>", URL)
    assert item is not None
    return item


def product(**fields: Any) -> dict[str, Any]:
    return {"@type": "Product", "@id": f"{URL}#product", "name": "Knife", "sku": "K-1", "offers": OFFER} | fields


@pytest.mark.parametrize(
    "blocks",
    [
        ([{"@id": "#org", "@type": "Organization", "name": "Acme"}, product(brand={"@id": "#org"})],),
        ({"@graph": [product(brand={"@id": "#org", "@type": "Brand"}), {"@id": "#org", "name": "Acme"}]},),
        (product(manufacturer=[{"@id": "#org"}]), {"@id": "#org", "@type": "Corporation", "name": ["Acme"]}),
        (product(brand={"@id": "#none"}, manufacturer={"@id": "#org"}), {"publisher": {"@id": "#org", "name": "Acme"}}),
        ({"@graph": [{"@id": "#org"}, {"@id": "#org", "name": "Acme"}, product(brand={"@id": "#org"})]},),
    ],
)
def test_the_brand_is_the_name_of_what_is_referred_to(blocks: tuple[Any, ...]) -> None:
    assert found(*blocks).brand == "Acme"


@pytest.mark.parametrize(
    "nodes",
    [
        [product(offers={"@id": "#offer"}), OFFER | {"@id": "#offer"}],
        [product(offers=[{"@id": "#gone"}, {"@id": "#offer"}]), OFFER | {"@id": "#offer"}],
        [
            product(offers={"@type": "AggregateOffer", "offers": [{"@id": "#a"}]}),
            OFFER | {"@id": "#a"},
        ],
        [
            {"@type": "ProductGroup", "name": "Knife", "sku": "K-1", "hasVariant": [{"@id": "#small"}]},
            {"@id": "#small", "@type": "Thing", "name": "Knife", "offers": {"@id": "#a"}},
            OFFER | {"@id": "#a"},
        ],
        [
            product(offers={"@type": "Offer", "availability": "PreOrder", "priceSpecification": {"@id": "#price"}}),
            {"@id": "#price", "@type": "UnitPriceSpecification", "price": 49.9, "priceCurrency": "EUR"},
        ],
    ],
)
def test_the_offer_may_stand_elsewhere(nodes: list[Any]) -> None:
    item = found({"@graph": nodes})
    assert (item.price, item.currency, item.availability) == (Decimal("49.90"), "EUR", "PreOrder")


def test_an_image_is_no_place_in_the_page() -> None:
    image = {"@id": f"{URL}#primaryimage", "@type": "ImageObject", "url": "https://shop.example.com/knife.jpg"}
    item = found({"@graph": [product(image={"@id": f"{URL}#primaryimage"}), image]})
    assert item.image == "https://shop.example.com/knife.jpg"


def test_circles_and_what_leads_nowhere_do_no_harm() -> None:
    circle = [
        product(brand={"@id": "#a"}, offers={"@id": "#b"}),
        {"@id": "#a", "brand": {"@id": "#b"}, "offers": {"@id": "#a"}},
        {"@id": "#b", "offers": [{"@id": "#a"}, {"@id": "#b"}]},
    ]
    item = found({"@graph": circle})
    assert (item.title, item.brand, item.price) == ("Knife", None, None)


def test_what_is_referred_to_again_and_again_is_copied_seldom() -> None:
    many = {"@id": "#many", "offers": [{"@id": "#many"}] * 1_000 + [{"price": 1}]}
    stack, entries = [references.resolved(product(offers=[{"@id": "#many"}] * 3_000), [many])], 0
    while stack:
        value = stack.pop()
        offered = value.get("offers", ()) if isinstance(value, dict) else value
        entries += len(offered)
        stack.extend(each for each in offered if isinstance(each, dict) and "offers" in each)
    assert entries <= references.MAX_COPIED


def test_a_product_without_references_is_left_as_it_is() -> None:
    node = product(brand={"@id": "#org", "name": "Acme"})
    assert references.resolved(node, [{"@id": "#org", "name": "Other"}]) is node
