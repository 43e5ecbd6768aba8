"""JSON-LD as it is found in the wild."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.extraction.source import source
from crawler.extraction.structured import jsonld

PRODUCT = '{"@type": "Product", "name": "Knife"}'


def script(body: str, attributes: str = ' type="application/ld+json"') -> str:
    return f"<html><head><script{attributes}>{body}</script></head>"


def blocks(html: str) -> Iterator[Any]:
    return jsonld.blocks(html, source.read(html).scripts)


def names(html: str) -> list[Any]:
    return [value["name"] if isinstance(value, dict) else value for value in blocks(html)]


@pytest.mark.parametrize(
    "html",
    [
        script(PRODUCT),
        script(PRODUCT, " id=a type=application/ld+json"),
        script(PRODUCT, " type='application/ld+json; charset=utf-8'"),
        script(f"<!-- {PRODUCT} -->"),
        script(f"//<![CDATA[\n{PRODUCT}\n//]]>"),
        script(f"/*<![CDATA[*/{PRODUCT}/*]]>*/"),
        script(f"{PRODUCT};"),
        script(f"// our product\n{PRODUCT}"),
        script('{"@type": "Product", "name": "Knife",}'),
        script('{"@type": "Product", "name": "Knife", "description": "two\nlines\tand a tab"}'),
        script('{"@type": "Product", "name": "Knife", "description": "it\\\'s \\x"}'),
        script("{&quot;@type&quot;: &quot;Product&quot;, &quot;name&quot;: &quot;Knife&quot;}"),
        script('{"@type": "Product", "name": "Knife", "description": "so "called" steel"}'),
        script('{"@type": "Product", "name": "Knife", "offers": {"price": 5'),
        '<script>document.write("<!--")</script>' + script(PRODUCT) + "<!-- end -->",
    ],
)
def test_a_product_is_read_however_it_is_wrapped_or_broken(html: str) -> None:
    assert names(html) == ["Knife"]


def test_several_values_in_one_block() -> None:
    assert names(script('{"name": 1}, {"name": 2}\n{"name": 3}')) == [1, 2, 3]


def test_commented_out_and_foreign_scripts_are_not_read() -> None:
    assert names(f"<!-- {script(PRODUCT)} -->" + script('{"name": "B"}')) == ["B"]
    assert names(script(PRODUCT, ' type="application/json"')) == []
    assert names('<script type="application/ld+json">' + PRODUCT) == []


def test_numbers_keep_their_spelling_and_nan_is_none() -> None:
    values = list(blocks(script('{"a": 13.40, "b": 5, "c": NaN, "d": Infinity, "e": 1e5}')))
    assert values == [{"a": "13.40", "b": 5, "c": None, "d": None, "e": "1e5"}]


def test_what_is_salvaged_of_a_hopeless_block() -> None:
    offer = '{"price":"5.00","priceCurrency":"EUR","x":"}}'
    broken = (
        f'{{"@type":"Product","name":"A "B" C","sku":"X1","brand":{{"@type":"Brand","name":"Acme"}},"offers":{offer}'
    )
    (product,) = blocks(script(broken))
    assert (product["sku"], product["brand"]) == ("X1", "Acme")
    assert product["offers"] == {"@type": "Offer", "price": "5.00", "priceCurrency": "EUR"}


def test_what_is_salvaged_is_the_products_and_not_what_stands_before_it() -> None:
    shop = '{"@type":"Organization","name":"Shop","image":"/logo.png"}'
    broken = f'{{"@graph":[{shop},{{"name":"Knife","@type":"Product","sku":"X1","description":"A "B" C"}}]}}'
    (product,) = blocks(script(broken))
    assert (product["name"], product["sku"], "image" in product) == ("Knife", "X1", False)


def test_a_prefix_for_its_words_is_no_part_of_them() -> None:
    (product,) = blocks(script('{"@type":"schema:Product","schema:name":"Knife","schema:offers":{"@id":"schema:X"}}'))
    assert product == {"@type": "Product", "name": "Knife", "offers": {"@id": "X"}}


def test_a_comma_too_many_loses_nothing() -> None:
    (product,) = blocks(script('{"@type":"Product","name":"A" , ,"brand":{"name":"Acme"},}'))
    assert product["brand"] == {"name": "Acme"}


def test_deep_and_endless_json_ends() -> None:
    for body in ("[" * 100_000, '{"a":' * 100_000, "{" * 100_000, "1 " * 100_000, "/*" * 100_000, "\\" * 100_000):
        assert len(list(blocks(script(body)))) <= jsonld.MAX_BLOCKS


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_valid_json_comes_back(value: Any) -> None:
    body = json.dumps(value).replace("</", "<\\/")
    assert list(blocks(script(body))) == [value]


WORDS = ["NaN", "1e999", '"a":', '"b"', '"name":"x"', '"price":1.5', '"@type":"Product"']
PIECES = st.sampled_from([*'{}[]:,\\\n";1', "<!--", "-->", "//", "/*", "*/", *WORDS])


@given(st.lists(PIECES).map("".join))
@example('<!-- {"a": NaN, "b": [1e999,],} */ [2')
def test_no_block_is_too_broken(body: str) -> None:
    for block in blocks(script(body)):
        assert json.loads(json.dumps(block)) == block, "what is salvaged is JSON"
