"""A brand that only the scripts of a page state beside its product, and that the page shows."""

from __future__ import annotations

import json

import pytest

from tests.effort import cpu_seconds
from tests.unit.extraction.shop import stated

FLIGHT = json.dumps('{"title":"Trail Vest","brand":{"id":4,"name":"Tikkr"}}')
SHOWN = "<div><span>Tikkr</span></div>"


def page(script: str, body: str = SHOWN) -> str:
    return (
        f"<html lang=en><head><title>Trail Vest</title>"
        f"<link rel=preconnect href=https://cdn.shopify.com><script>{script}</script></head><body><h1>Trail Vest</h1>"
        f"<p class=price>$49</p><p>SKU: TV-4711</p><button>Add to cart</button><h2>Text</h2><p>On the trail.</p>{body}"
    )


def brand(html: str) -> tuple[str | None, str | None]:
    return stated(html, "https://shop.example.com/p/trail-vest", "brand")


@pytest.mark.parametrize(
    "script",
    [
        "dataLayer.push({items: [{item_name: 'Trail Vest', item_brand: 'Tikkr', price: 49}]})",
        'window.item = {"sku":"TV-4711","brand":"TIKKR"}',
        'var meta = {"product":{"id":77,"vendor":"Tikkr","title":"Trail Vest"}};',
        'x = {"brandName": "Tikkr", "name": "Trail Vest"}',
        f"self.__next_f.push([1,{FLIGHT}])",
        'y = {"name":"Trail Vest","brand":"Tikkr"}; z = {"brand":"visa"}; t = {"brand":"#ff0000"}' + " " * 600,
    ],
)
def test_scripts_state_the_brand(script: str) -> None:
    found, source = brand(page(script))
    assert (found or "").lower() == "tikkr"
    assert source == "state"


@pytest.mark.parametrize(
    ("title", "stated", "found"),
    [
        ("TIK-KR Trail Vest", "Tik Kr", "TIK-KR"),
        ("Warm Trail Vest Tik Kr 2", "tikkr", "Tik Kr"),
    ],
)
def test_a_brand_that_the_title_names_is_written_as_there(title: str, stated: str, found: str) -> None:
    html = page(f"x = {json.dumps({'name': title, 'brand': stated})}", "<p>Text</p>").replace("Trail Vest", title)
    assert brand(html)[0] == found


@pytest.mark.parametrize(
    ("script", "body"),
    [
        ('x = {"name":"Trail Vest","vendor":"Tikkr"}', "<p>Text</p>"),  # nowhere to be seen
        ('x = {"name":"Trail Vest","vendor":"Tikkr"}', "<p>More of Tikkr and others</p>"),
        ('x = {"name":"Trail Vest","brand":"Example"}', "<p>Text</p>"),  # the site's own name
        ('x = {"name":"Trail Vest","brand":"Tikkr"}; y = {"name":"Trail Vest","brand":"Zorro"}', SHOWN),
        ('x = {"name":"Rain Coat","brand":"Tikkr"}', SHOWN),
        ('x = {"name":"Trail Vest","brand":"{{ brand }}"}', SHOWN),
        ('x = {"name":"Trail Vest","brand":""}', SHOWN),
        ('x = {"name":"Trail Vest","brand":null}', SHOWN),
    ],
)
def test_what_is_the_sites_or_of_others_does_not_count(script: str, body: str) -> None:
    assert brand(page(script, body)) == (None, None)


def test_a_labelled_brand_comes_first() -> None:
    assert brand(page('x = {"name":"Trail Vest","brand":"Tikkr"}', SHOWN + "<p>Brand: Acme</p>")) == ("Acme", "html")


def test_an_image_shows_it_too() -> None:
    assert brand(page('x = {"name":"Trail Vest","brand":"Tikkr"}', '<i><img alt="Tikkr" src=/t.png></i>'))[0] == "Tikkr"


@pytest.mark.parametrize(
    "piece", ['brand:"', "brand:{" + "x" * 79, 'brand:"Tikkr",', "brand" + " " * 9 + ":", "vendor"]
)
def test_hostile_scripts_cost_little(piece: str) -> None:
    html = page(piece * (500_000 // len(piece)))
    assert cpu_seconds(lambda: brand(html), 2.0) < 2.0
