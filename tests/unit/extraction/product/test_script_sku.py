"""An identifier that only the scripts of a page state beside its product."""

from __future__ import annotations

import json

import pytest

from tests.effort import cpu_seconds
from tests.unit.extraction.shop import stated


def sku(script: str, title: str = "Trail Vest", body: str = "") -> tuple[str | None, str | None]:
    html = (
        f"<html lang=en><head><title>{title}</title><script>{script}</script></head><body><h1>{title}</h1>"
        f"<p class=price>$49</p>{body}<button>Add to cart</button>"
    )
    return stated(html, "https://shop.example.com/trail-vest", "sku")


@pytest.mark.parametrize(
    "script",
    [
        'dataLayer.push({ecommerce: {items: [{item_id: "TV-4711", item_name: "Trail Vest", price: 49}]}})',
        "dataLayer.push({'ecommerce':{'detail':{'products':[{'id':'TV-4711','name':'Trail Vest','price':49}]}}})",
        'var utag_data = {"product_name":["Trail Vest"],"product_sku":["TV-4711"]};',
        'digitalData = {product: [{productInfo: {productName: "Trail Vest", sku: "TV-4711"}}]}',
        'var meta = {"product":{"variants":[{"id":43012345678901,"name":"Trail Vest","sku":"TV-4711"}]}};',
        r'self.__next_f.push([1,"{\"title\":\"Trail Vest\",\"skuCode\":\"TV-4711\"}"])',
        'x = {"productId":"A-77","sku":"TV-4711","name":"Trail Vest"}',
        'x = [{"sku":"RC-1","name":"Rain Coat"},{"sku":"TV-4711","name":"Trail Vest"}]',
        'x = {"name":"Trail Vest","variants":[{"a":{"sku":"TV-4711-L"}},{"sku":"TV-4711-M"}],"sku":"TV-4711"}',
    ],
)
def test_scripts_state_the_identifier(script: str) -> None:
    assert sku(script) == ("TV-4711", "state")


@pytest.mark.parametrize(
    "script",
    [
        'x = {"sku":"TV-4711","name":"Trail Vest Kids"}',
        'x = {"name":"Rain Coat","sku":"TV-4711"}',
        'x = {"name":"Trail Vest","shopSku":"TV-4711"}',
        'x = {"name":"Trail Vest","sku":"TV-1"}; y = {"name":"Trail Vest","sku":"TV-2"}',  # of variants
        'x = {"name":"Trail Vest","item_id":"8123"}',  # a row's
        'x = {"name":"Trail Vest","id":"shopify_US_8012345678123_44012345678901"}',
        'x = {"name":"Trail Vest","id":"wh2poqpk3uy9cefl6ph4iqcq"}',
        'x = {"name":"Trail Vest","sku":""}',
        'x = {"name":"Trail Vest","sku":"{{ sku }}"}',
        'x = {"name":"Trail Vest","sku":null}',
    ],
)
def test_what_is_of_others_or_of_a_database_does_not_count(script: str) -> None:
    assert sku(script) == (None, None)


def test_a_title_is_found_as_scripts_write_it() -> None:
    title = "Träger 'Nord'"
    assert sku(f"x = {json.dumps({'name': title, 'sku': 'TN-1'})}", title)[0] == "TN-1"


def test_what_the_page_shows_goes_first() -> None:
    assert sku('x = {"name":"Trail Vest","sku":"TV-4711"}', body="<p>SKU: KN-1</p>") == ("KN-1", "html")


def test_many_titles_cost_little() -> None:
    assert cpu_seconds(lambda: sku('x = "Trail Vest" + ' * 50_000), 2) < 2
