"""Which product, variant and offer a page is about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.extraction.structured import offers, schema_org

URL = "https://shop.example.com/product/knife-20451?color=red"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                ["@type", "@graph", "offers", "hasVariant", "name", "price", "url", "brand", "priceSpecification"]
            )
            | st.text(),
            inner | st.sampled_from(["Product", "ProductGroup", "Offer", "AggregateOffer", "BreadcrumbList"]),
        )
    ),
)


def product(**fields: Any) -> dict[str, Any]:
    return {"@type": "Product", "name": "Knife"} | fields


def offer(price: Any, stock: str = "InStock", **fields: Any) -> dict[str, Any]:
    return {
        "@type": "Offer",
        "price": price,
        "priceCurrency": "EUR",
        "availability": f"https://schema.org/{stock}",
    } | fields


@pytest.mark.parametrize(
    "value",
    [
        product(),
        [product()],
        {"@graph": [{"@type": "Organization", "name": "Shop"}, product()]},
        {"@type": "WebPage", "mainEntity": product()},
        {"@type": ["Thing", "Product"], "name": "Knife"},
        {"@type": "http://schema.org/Product", "name": "Knife"},
        {"@type": "Drug", "name": "Knife", "offers": offer(5)},
        {"@type": "schema:Product", "name": "Knife"},
        {"@type": "Offer", "itemOffered": product()},
        {"@type": "Book", "name": "Knife", "offers": offer(5)},
        product(isRelatedTo=[product(name="Fork")], review={"itemReviewed": product(name="Spoon")}),
        [product(), {"@type": "WebPage", "isRelatedTo": product(name="Fork")}],
    ],
)
def test_the_product_is_found_wherever_it_stands(value: Any) -> None:
    assert [node["name"] for node in schema_org.search([value]).products] == ["Knife"]


def test_entries_of_a_list_are_no_products_of_the_page() -> None:
    entries = [{"@type": "ListItem", "item": product(name=name)} for name in "abc"]
    found = schema_org.search([{"@type": "ItemList", "itemListElement": entries}])
    assert (found.products, found.listed) == ([], 3)


def test_breadcrumbs_are_in_order() -> None:
    items = [
        {"@type": "ListItem", "position": 2, "item": {"@id": "/k", "name": "Kitchen"}},
        {"@type": "ListItem", "position": "1", "name": "Home"},
        {"@type": "ListItem", "position": 3},
    ]
    assert schema_org.search([{"@type": "BreadcrumbList", "itemListElement": items}]).breadcrumbs == ["Home", "Kitchen"]


def test_of_several_products_the_one_of_the_page_counts() -> None:
    others = [product(name=name, url=f"https://shop.example.com/product/{name}") for name in ("fork", "spoon")]
    by_url = product(name="x", url="https://shop.example.com/product/knife-20451")
    by_name = product(name="Steel knife")
    assert schema_org.main_product([*others, by_url], URL, ["Other"]) is by_url
    assert schema_org.main_product([*others, by_name], URL, ["Steel Knife | Shop"]) is by_name
    assert schema_org.main_product([product(name="first"), *others], URL, []) == product(name="first")
    assert schema_org.main_product(others, URL, ["Cutlery"]) is None
    cards = [node | {"name": f"Cutlery {node['name']}", "offers": offer(5)} for node in others]
    assert schema_org.main_product(cards, URL, ["Cutlery"]) is None
    assert schema_org.main_product(cards, URL, ["Cutlery fork"]) is cards[0]
    assert schema_org.main_product([], URL, []) is None
    listed = product(name="Steel knife, large", url="https://shop.example.com/sale/products/knife-20451")
    pad = product(name="Pad")
    assert schema_org.main_product([listed, pad], URL, ["Steel knife"]) is listed  # its own, under a list


@pytest.mark.parametrize(
    ("given_offers", "price", "stock"),
    [
        (offer("5.00"), "5.00", "InStock"),
        ([offer(7, "OutOfStock"), offer(8)], 8, "InStock"),
        ([offer(7, "OutOfStock"), offer(8, "OutOfStock")], 7, "OutOfStock"),
        ([offer(7), offer(8, url=URL)], 8, "InStock"),
        ([offer(7), offer(8, "OutOfStock", sku="red")], 8, "OutOfStock"),
        ([offer(7, "NotInStock"), offer(8, "MadeToOrder")], 8, "MadeToOrder"),
        ([offer(7), offer(8, url="https://shop.example.com/product/knife-20451?color=red&utm=a")], 7, "InStock"),
        ({"@type": "AggregateOffer", "lowPrice": "3", "highPrice": "9", "priceCurrency": "EUR"}, "3", None),
        ({"@type": "AggregateOffer", "lowPrice": "3", "offers": [offer(4, "SoldOut"), offer(5)]}, 5, "InStock"),
        ({"@type": "AggregateOffer", "priceCurrency": "EUR", "offers": [{"price": 4}]}, 4, None),
        ({"@type": "AggregateOffer", "lowPrice": "4.00", "offers": [offer(5), offer(4)]}, 4, "InStock"),
        ({"@type": "AggregateOffer", "lowPrice": "4.00", "offers": [offer(5), offer(4, "SoldOut")]}, 5, "InStock"),
        ({"priceSpecification": {"price": 6, "priceCurrency": "EUR"}}, 6, None),
        ({"priceSpecification": [{"price": 4, "validForMemberTier": {"@id": "#club"}}, {"price": 6}]}, 6, None),
        ({"priceSpecification": [{"priceType": "https://schema.org/ListPrice", "price": 9}, {"price": 6}]}, 6, None),
        ({"priceSpecification": [{"price": 2, "referenceQuantity": {"unitCode": "KGM"}}, {"price": 6}]}, 6, None),
        ({"priceSpecification": [{"price": 5, "billingDuration": 1}, {"price": 6}]}, 6, None),
        ({"priceSpecification": [{"price": 5, "billingDuration": 1}]}, 5, None),
        ({"priceSpecification": [{"price": 5, "priceComponentType": "Downpayment"}, {"price": 6}]}, 6, None),
        ({"priceSpecification": [{"price": 5, "eligibleQuantity": {"minValue": 10}}, {"price": 6}]}, 6, None),
        (
            {
                "priceSpecification": [
                    {"price": 6, "referenceQuantity": {"value": 1}},
                    {"@type": "DeliveryChargeSpecification", "price": 4},
                ]
            },
            6,
            None,
        ),
        ({"priceSpecification": [{"price": 6, "referenceQuantity": {"valueReference": {}}}, {"price": 2}]}, 6, None),
        ({"price": ["5", "6"], "availability": [{"@id": "http://schema.org/InStock"}]}, "5", "InStock"),
        ({"availability": "https://schema.org/OutOfStock"}, None, "OutOfStock"),
        ([], None, None),
        ("5", None, None),
        (None, None, None),
    ],
)
def test_the_offer_that_counts(given_offers: Any, price: Any, stock: str | None) -> None:
    chosen = offers.choose(given_offers, URL)
    assert chosen.get("price") == price
    assert str(chosen.get("availability")).rpartition("/")[2] == str(stock)


def test_the_variant_that_the_url_names() -> None:
    variants = [
        product(name="Blue", sku="B", offers=offer(7, url="https://shop.example.com/product/knife-20451?color=blue")),
        product(name="Red", sku="R", url=URL, offers=offer(8, "OutOfStock")),
    ]
    group = {"@type": "ProductGroup", "name": "Knife", "brand": {"name": "Acme"}, "hasVariant": variants}
    red = schema_org.raw_fields(group, URL)
    assert (red["title"], red["price"], red["sku"], red["brand"]) == ("Red", 8, "R", "Acme")
    assert schema_org.raw_fields(group, "https://shop.example.com/product/knife-20451")["title"] == "Blue"
    green = product(name="Green", offers=offer(9, "OutOfStock", url=f"{URL}&size=l"))
    several = group | {"hasVariant": [*variants, green]}
    assert schema_org.raw_fields(several, f"{URL}&size=l")["title"] == "Red"  # all parameters of its address, too
    assert schema_org.raw_fields(group | {"hasVariant": [variants[0], green]}, f"{URL}&size=l")["title"] == "Green"
    assert schema_org.raw_fields(group, f"{URL}&utm_source=mail")["title"] == "Red"
    assert schema_org.raw_fields(group | {"hasVariant": []}, URL)["title"] == "Knife"
    numbered = [product(name=f"{n}", url=f"https://shop.example.com/product/knife-20451?{n}") for n in (111, 222)]
    assert schema_org.raw_fields(group | {"hasVariant": numbered}, numbered[1]["url"])["title"] == "222"
    alike = [variant | {"url": "https://shop.example.com/product/knife-20451?lang=en"} for variant in variants[::-1]]
    assert schema_org.raw_fields(group | {"hasVariant": alike}, alike[0]["url"])["title"] == "Blue"  # it is in stock
    assert schema_org.raw_fields(group | {"sku": "G"}, URL)["sku"] == "R"
    assert schema_org.raw_fields(group | {"sku": "G"}, "https://shop.example.com/product/knife-20451")["sku"] == "G"


def test_all_raw_fields() -> None:
    node = product(
        sku=[" ", "K-1"],
        mpn="M",
        gtin13="4006381333931",
        brand=[{"@type": "Brand", "name": "Acme"}],
        image=[{"@type": "ImageObject", "contentUrl": "/k.jpg"}],
        category=["Home", {"name": "Knives"}],
        aggregateRating={"ratingValue": "9", "bestRating": "10", "ratingCount": 12},
        offers=offer(5),
    )
    raw = schema_org.raw_fields(node, URL)
    assert raw["sku"] == "K-1" or raw["sku"] is None
    assert (raw["gtin"], raw["brand"], raw["image"], raw["category"]) == (
        "4006381333931",
        "Acme",
        "/k.jpg",
        "Home > Knives",
    )
    assert (raw["rating"], raw["best_rating"], raw["review_count"]) == ("9", "10", 12)
    assert raw["other_ids"] == [None, None, "M"]


@given(JSON)
def test_no_tree_is_too_strange(value: Any) -> None:
    found = schema_org.search([value])
    for node in found.products:
        assert "title" in schema_org.raw_fields(node, URL)
    assert schema_org.main_product(found.products, URL, ["Knife"]) is None or found.products
