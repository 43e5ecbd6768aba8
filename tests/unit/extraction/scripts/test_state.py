"""State in scripts and answers that are JSON."""

from __future__ import annotations

import json
import tracemalloc
from decimal import Decimal
from html import escape
from typing import Any
from urllib.parse import quote

import pytest

from crawler.errors import ConfigError
from crawler.extraction import Document, extract_product, links
from crawler.extraction.scripts import literal, state
from crawler.policy.rules.domains import parse_rules

URL = "https://shop.example.com/products/steel-knife"
PRODUCT = {"id": 991, "name": "Steel knife", "slug": "steel-knife", "price": {"value": 49.9, "currencyCode": "EUR"},
           "brand": {"name": "Acme"}, "inStock": False, "sku": "KN-77"}  # fmt: skip
OTHERS = [
    {"name": f"Fork {n}", "slug": f"fork-{n}", "price": {"value": n + 1, "currencyCode": "EUR"}} for n in range(20)
]
FLAT = [
    ["ShallowReactive", 1],
    {"data": 2},
    {"p": 3},
    {"name": 4, "price": 5, "currency": 6, "slug": 7},
    "Steel knife",
    "49.90",
    "EUR",
    "steel-knife",
]
APOLLO = {
    "ROOT_QUERY": {"product": {"__ref": "Product:1"}},
    "Product:1": {"__typename": "Product", "name": "Steel knife", "price": {"__ref": "Price:1"}, "slug": "steel-knife"},
    "Price:1": {"amount": "49.90", "currency": "EUR"},
}
APOLLO_2 = {  # and the shops of VTEX
    "Product:1": {"productName": "Steel knife", "priceRange": {"type": "id", "generated": True, "id": "$Product:1.x"}},
    "$Product:1.x": {"sellingPrice": {"lowPrice": 49.90}, "currency": "EUR"},
}


def paired(value: Any) -> list[Any]:
    """As Astro writes the properties of its islands."""
    if isinstance(value, dict):
        return [0, {name: paired(each) for name, each in value.items()}]
    return [1, list(map(paired, value))] if isinstance(value, list) else [0, value]


def page(script: str, heading: str = "Steel knife") -> str:
    return f"<html lang=en><title>{heading} | Shop</title><body>{script}<div id=app></div>"


def next_data(value: Any) -> str:
    return f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(value)}</script>'


STATE = json.dumps({"product": PRODUCT})
# As Next.js streams server components: rows in pieces, values that refer to others, a text with its length in bytes.
ROWS = [
    '1:"$Sreact.fragment"\n2:I[29, ["4","static/a.js"],"default"]\n3:T7,Größe5:{"amount":"49.90","currency":"E',
    'UR"}\n0:{"b":"x","f":[["$","div",null,{"product":{"name":"Steel knife","slug":"steel-knife",',
    '"price":"$5","description":"$3","sku":"KN-77"}}]]}\n',
]
FLIGHT = "(self.__next_f=self.__next_f||[]).push([0])</script>" + "".join(
    f"<script>self.__next_f.push({json.dumps([1, rows])})</script>" for rows in ROWS
)
LITERAL = """{name: 'Steel knife', // the name
 "slug": `steel-knife`, onSale: !0, at: new Date(2024, 1), f() { return {price: 1} }, ...others,
 price: {value: 49.90, currencyCode: "EUR",},}"""
SCRIPTS = {
    "next": next_data({"props": {"pageProps": {"related": OTHERS, "product": PRODUCT}}}),
    "nuxt": f'<script type="application/json" id="__NUXT_DATA__" data-ssr="true">{json.dumps(FLAT)}</script>',
    "nuxt object": f"<script>window.__NUXT__={json.dumps({'data': [PRODUCT]})};</script>",
    "apollo": f"<script>window.__APOLLO_STATE__ = {json.dumps(APOLLO)};</script>",
    "initial": f"<script>var a=1;window.__INITIAL_STATE__={STATE};(function(){{}}())</script>",
    "brackets": f"<script>window['__PRELOADED_STATE__'] = {STATE}</script>",
    "string": f"<script>window.__STATE__ = JSON.parse({json.dumps(json.dumps(PRODUCT))})</script>",
    "single quotes": f"<script>window.__STATE__ = JSON.parse('{json.dumps({**PRODUCT, 'x': '_'})}')</script>".replace(
        '"_"', r'"\\n\'"'
    ),
    "escaped quotes": f"<script>window.__STATE__ = JSON.parse('{json.dumps(PRODUCT)}')</script>".replace(
        '"', r"\u0022"
    ),
    "hexadecimal quotes": f"<script>var state = JSON.parse('{json.dumps(PRODUCT)}')</script>".replace('"', r"\x22"),
    "attribute": f"<body><div id=app data-page='{json.dumps({'props': {'product': PRODUCT}})}'></div>",
    "escaped attribute": f'<body><div data-page="{escape(json.dumps({"props": PRODUCT}))}">',
    "component": f'<buy-box :product="{escape(json.dumps(PRODUCT))}"></buy-box>',
    "livewire": f'<div wire:snapshot="{escape(json.dumps({"data": {"p": [PRODUCT, {"s": "arr"}]}}))}"></div>',
    "astro": f'<astro-island props="{escape(json.dumps({"product": paired(PRODUCT)}))}"></astro-island>',
    "another type": f'<script type="text/x-magento-init">{json.dumps({"#p": {"p": PRODUCT}})}</script>',
    "lines": f'<script type="application/json">{json.dumps({"a": 1})}\n{json.dumps(PRODUCT)}\n</script>',
    "angular": '<script id="app-state" type="application/json">'
    + json.dumps({"p": PRODUCT}).replace('"', "&q;")
    + "</script>",
    "server components": f"<script>{FLIGHT}",
    "literal": f"<script>window.__STATE__ = {{product: {LITERAL}}};</script>",
    "nuxt 2": '<script>window.__NUXT__=(function(a,b,c){a.x=1;return {layout:"default",data:[{product:{name:b,price:c,'
    'currency:"EUR"}}]}}({},"Steel knife",49.90));</script>',
    "data layer": "<script>dataLayer.push({'ecommerce': {'currencyCode': 'EUR', 'detail': {'products': [{'name': "
    "'Steel knife', 'price': '49.90'}]}}});</script>",
    "view item": "<script>gtag('event', 'view_item', {currency: 'EUR', items: [{item_name: 'Steel knife', "
    "price: 49.90}]})</script>",
    "property": f"<script>window.App = window.App || {{}};App.page.state={STATE};</script>",
    "after a comment": f"<script>/*<![CDATA[*/window.state={STATE}/*]]>*/</script>",
    "escaped twice": f"<script>window.__STATE__ = {json.dumps(STATE)};</script>",
    "JSON in a string": f'<script type="application/json">{json.dumps(STATE)}</script>',
    "sveltekit": f'<script type="application/json" data-sveltekit-fetched>{json.dumps({"body": STATE})}</script>',
    "escaped for URLs": f"<script>window.__STATE__ = JSON.parse(decodeURIComponent('{quote(STATE)}'))</script>",
    "nuxt of an app": f'<script type="application/json" data-nuxt-data="shop">{json.dumps(FLAT)}</script>',
    "apollo 2": f"<script>__STATE__ = {json.dumps(APOLLO_2)}</script>",
    "undefined": f"<script>window.__STATE__ = {STATE[:-1]}, 'x': undefined, 'y': [undefined]}};</script>".replace(
        "'", '"'
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_product_in_a_pages_state(name: str) -> None:
    item = extract_product(page(SCRIPTS[name]), URL)
    assert item is not None
    assert (item.title, item.price, item.currency) == ("Steel knife", Decimal("49.90"), "EUR")
    assert item.found_in["price"] == "state"


def test_half_of_a_surrogate_pair_does_not_keep_a_product_from_being_stored() -> None:
    """Scripts escape an emoji as two halves, and cut texts between them."""
    html = page(
        r"<script>window.__S__ = {product: {name: 'Steel knife \ud83d\ude00', price: 49.90, currency: 'EUR',"
        r" brand: 'Acme\ud83d', description: 'It cuts \ud83d', image: '/i\ud83d.png', sku: 'KN-77\ude00'}}</script>"
    )
    item = extract_product(html, URL)
    assert item is not None
    assert (item.title, item.brand, item.description) == ("Steel knife \U0001f600", "Acme\ufffd", "It cuts \ufffd")
    assert (item.sku, item.image) == ("KN-77\ufffd", "https://shop.example.com/i\ufffd.png")


def test_all_that_a_state_tells() -> None:
    item = extract_product(page(SCRIPTS["next"]), URL)
    assert item is not None
    assert (item.brand, item.availability, item.sku) == ("Acme", "OutOfStock", "KN-77")


@pytest.mark.parametrize(
    ("price", "amount"),
    [
        (49.9, "49.9"),
        ("€ 49,90", "49.90"),
        ({"centAmount": 4990, "fractionDigits": 2, "currencyCode": "EUR"}, "49.90"),
        ({"regular": {"amount": 59}, "final": {"amount": 49}}, "49"),
        ([{"price": "49.90"}], "49.90"),
        ({"formatted": "49,90 €"}, "49.90"),
    ],
)
def test_the_forms_of_a_price(price: Any, amount: str) -> None:
    item = extract_product(page(next_data({"p": {"name": "Steel knife", "price": price}})), URL)
    assert item is not None
    assert item.price == Decimal(amount)


def test_a_shop_system_that_counts_in_cents() -> None:
    product = {"title": "Steel knife", "handle": "steel-knife", "price": 4990, "price_varies": False}
    item = extract_product(page(next_data({"product": product})), URL)
    assert item is not None
    assert item.price == Decimal("49.90")


@pytest.mark.parametrize(
    ("stated", "availability"),
    [
        ({"stock": 0}, "OutOfStock"),
        ({"stock": 5}, "InStock"),
        ({"availability": False}, "OutOfStock"),
        ({"availability": {"isInStock": False}}, "OutOfStock"),
        ({"inventory": {"quantity": 0}}, "OutOfStock"),
        ({"stockStatus": "sold out"}, "OutOfStock"),
    ],
)
def test_the_forms_of_availability(stated: dict[str, Any], availability: str) -> None:
    item = extract_product(page(next_data({"p": {"name": "Steel knife", "price": 5, **stated}})), URL)
    assert item is not None
    assert (item.availability, item.found_in["availability"]) == (availability, "state")


@pytest.mark.parametrize("price", ["$1:offer:price", "$1:prices:0", "$2:props:price"])
def test_a_value_of_another_row_of_server_components(price: str) -> None:
    other = {"offer": {"price": 49.9}, "prices": [49.9]}
    element = ["$", "p", None, {"price": 49.9}]
    rows = f"0:{json.dumps({'name': 'Steel knife', 'price': price})}\n1:{json.dumps(other)}\n2:{json.dumps(element)}\n"
    item = extract_product(page(f"<script>self.__next_f.push({json.dumps([1, rows])})</script>"), URL)
    assert item is not None
    assert item.price == Decimal("49.9")


@pytest.mark.parametrize(
    "script",
    [
        next_data({"products": OTHERS}),
        next_data({"product": {"name": "Steel knife"}}),
        next_data({"article": {"title": "Another", "price": 5}}),
        "<script>window.__STATE__ = {name: 'Steel fork', price: 49.9}</script>",
        "<script>window.__STATE__ = {name: 'Steel knife', price: 49.9</script>",
        "<script>window.__STATE__ = {name: 'Steel knife', price: f(49.9)}</script>",
        "<script>window.__STATE__ = (function(){return {price: 1}})()</script>",
        '<script type="text/template">x = {"name": "Steel knife", "price": 1}</script>',
        "<ul>" + "".join(f"<li data-product='{json.dumps(each)}'>" for each in OTHERS) + "</ul>",
        f"<p data-all='{json.dumps(OTHERS)}' a='{{x: [' b=\"{{'name': 'Steel knife', 'price': 1}}\"></p>",
        '<!--<script>x = {"name": "Steel knife", "price": 1}</script>-->',
    ],
    ids=[
        "others",
        "no price",
        "another",
        "another literal",
        "no end",
        "expression",
        "function",
        "template",
        "cards",
        "no JSON",
        "comment",
    ],
)
def test_what_nothing_confirms_is_no_product(script: str) -> None:
    assert extract_product(page(script), URL) is None


def test_a_state_does_not_touch_what_the_page_states_and_shows() -> None:
    offers = {"price": "1", "priceCurrency": "USD"}
    stated = json.dumps({"@type": "Product", "name": "Knife", "offers": offers})
    stated = f'<script type="application/ld+json">{stated}</script>'
    item = extract_product(page(stated + SCRIPTS["next"]), URL)
    assert item is not None
    assert (item.title, item.price, item.found_in["price"]) == ("Knife", Decimal(1), "json-ld")
    document = Document(page(stated + SCRIPTS["next"]), URL)
    extract_product(document, URL)
    assert document.__dict__.keys().isdisjoint({"_states", "priced_states"}), "none is read for a complete product"


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("https://shop.example.com/products/steel-knife.json", {"product": PRODUCT}),
        ("https://shop.example.com/api/products/991", PRODUCT),
        ("https://shop.example.com/api?sku=KN-77", [PRODUCT, *OTHERS]),
    ],
)
def test_an_answer_that_is_json(url: str, body: Any) -> None:
    document = Document(json.dumps(body), url)
    item = extract_product(document, url)
    assert item is not None
    assert (item.price, item.brand, item.url) == (Decimal("49.9"), "Acme", url)
    assert not document.has_tree
    assert not links(document, url).product
    assert extract_product(json.dumps(body), "https://shop.example.com/api/other") is None


@pytest.mark.parametrize(
    "form",
    ["\ufeff{}", "\n" * 500 + "{}", ")]}}',\n{}", ")]}}'\n{}", "while(1);{}", "for (;;); {}", '"{}"'],
)
def test_an_answer_that_no_script_may_run_or_that_is_escaped_twice(form: str) -> None:
    body = json.dumps(PRODUCT)
    answer = json.dumps(body) if form == '"{}"' else form.format(body)
    item = extract_product(answer, "https://shop.example.com/api/products/991")
    assert item is not None
    assert (item.title, item.price) == ("Steel knife", Decimal("49.9"))
    assert state.whole(answer.replace("}", "")) is None


@pytest.mark.parametrize("text", ['"{}', '"{x}"', '"[data-price]"', "while(1);", ")]}'", '"' * 90_000, "\n" * 900_000])
def test_what_only_begins_like_an_answer_is_none(text: str) -> None:
    assert state.whole(text) is None


@pytest.mark.parametrize("before", ["[1] ", "{} ", "[1]<!-- -->", "[", "{", "\ufeff"])
def test_a_page_that_begins_like_json_is_a_page(before: str) -> None:
    html = f"{before}<title>Steel knife</title><h1>Steel knife</h1><p class=price>$49.90</p><button>Buy now</button>"
    item = extract_product(html, URL)
    assert item is not None
    assert item.price == Decimal("49.90")


RULES = """
["shop.example.com".fields]
title = {{ json = "{title}" }}
price = [{{ json = "missing.0.x" }}, {{ json = "{price}", pattern = "[0-9.]+" }}]
"""


@pytest.mark.parametrize(
    ("script", "title", "price"),
    [
        ("next", "props.pageProps.product.name", "props.pageProps.product.price.value"),
        ("next", "props.*.product.name", "props.pageProps.*.price.value"),
        ("initial", "__INITIAL_STATE__.product.name", "__INITIAL_STATE__.product.price.value"),
        ("nuxt", "data.p.name", "data.p.price"),
        ("nuxt object", "__NUXT__.data.0.name", "__NUXT__.data.0.price.value"),
        ("property", "App.page.state.product.name", "App.page.state.product.price.value"),
        ("sveltekit", "body.product.name", "body.product.price.value"),
        ("apollo 2", "__STATE__.Product:1.productName", "__STATE__.Product:1.priceRange.sellingPrice.lowPrice"),
        ("apollo", "__APOLLO_STATE__.ROOT_QUERY.product.name", "__APOLLO_STATE__.ROOT_QUERY.product.price.amount"),
    ],
)
def test_rules_read_a_state_by_its_path(script: str, title: str, price: str) -> None:
    rules = parse_rules(RULES.format(title=title, price=price)).for_url(URL)
    item = extract_product(page(SCRIPTS[script], "Else"), "https://shop.example.com/x", rules)
    assert item is not None
    assert (item.title, item.price) == ("Steel knife", Decimal("49.90"))
    assert item.found_in["price"] == "rule"


@pytest.mark.parametrize("script", ["var a = {total: 5}", "App.shop.a={'total': 5}; App.shop.b={'total': 6}"])
def test_a_rule_reads_programs_that_name_no_price(script: str) -> None:
    rules = parse_rules(RULES.format(title="none", price="*.shop.a.total" if "shop" in script else "a.total"))
    html = page(f"<script>f(); {script};</script>{SCRIPTS['literal']}<h1>Steel knife</h1>")
    item = extract_product(html, URL, rules.for_url(URL))
    assert item is not None
    assert (item.price, item.found_in["price"]) == (Decimal(5), "rule")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.1", "2"),
        ("a.2", None),
        ("a.*", "1"),
        ("*.1", "2"),
        ("b.*.c", "x"),
        ("b.*.c.*", None),  # letters are no members
        ("b.*.d", "true"),
        ("b.*", None),
        ("e.f", "y"),
        ("e.g", None),
        ("a.-1", None),
        ("none.x", None),
    ],
)
def test_a_path_leads_to_a_scalar(path: str, value: str | None) -> None:
    found = {"a": [1, 2], "b": [{"c": "x", "d": True}], "e": {"__ref": "E:1"}, "E:1": {"f": "y", "g": {}}}
    assert state.lookup(found, path) == value


def test_the_arguments_of_a_function_that_returns_a_state() -> None:
    code = "(function(a,b,c,d,e,f,g,h){a.x=1;return {a:a,b:b,c:[c,d],e:e,f:f,g:g,h:h,i:i}}"
    arguments = "(void 0,true,!1,'\\u00e9',{x:[1,y]},0x10,-2.50,null))"
    assert literal.returned(code + arguments, 0, literal.Allowance()) == {
        "a": None, "b": True, "c": [False, "é"], "e": {"x": [1, None]}, "f": 16, "g": "-2.50", "h": None, "i": None,
    }  # fmt: skip
    assert literal.returned("(function(a){return {a:a};}(1))", 0, literal.Allowance()) == {"a": 1}
    assert literal.returned("(function(a){return {a:a}}.call(1))", 0, literal.Allowance()) is None


@pytest.mark.parametrize("raw", ['{ json = "" }', '{ json = "a..b" }', "{ json = 5 }", '{ json = "a", css = "b" }'])
def test_a_path_that_is_none_is_refused(raw: str) -> None:
    with pytest.raises(ConfigError, match="price"):
        parse_rules(f'["shop.example.com".fields]\nprice = {raw}')


def cycle() -> list[Any]:
    return [{"a": 1, "price": 2, "name": 3}, {"a": 0}, "5", "Steel knife"]


BOMBS = {
    "deep": "[" * 900_000,
    "deep objects": '{"a":' * 200_000 + "1" + "}" * 200_000,
    "wide": '{"products":[' + ",".join(['{"name":"a","price":1}'] * 40_000) + "]}",
    "empty lists": "[" + "[]," * 300_000 + "0]",
    "digits": '{"name":"Steel knife","price":' + "9" * 900_000 + "}",
    "exponent": '{"name":"Steel knife","price":1e999999999}',
    "references": json.dumps(
        {f"P:{n}": {"__ref": f"P:{n + 1}", "name": "x", "price": {"__ref": "P:0"}} for n in range(9_000)}
    ),
    "long": '{"name":"Steel knife","price":"' + " " * 3_000_000 + '1"}',
    "assignments": ";".join(f"a{n}={{" for n in range(100_000)) + "price",
    "names": "price " + "a" * 900_000,
    "literals": "{price:" * 100_000,
    "members": "{price:1," + "a:[{b:1}]," * 30_000 + "}",
    "escapes": "{price:'" + "\\'" * 500_000,
    "comments": "{price:" + "/* " * 300_000,
    "quotes": "{price:" + "a'" * 300_000 + "\n",
    "brackets": "{price:f" + "(" * 800_000,
    "parameters": "(function(" + "a," * 30_000 + "){return {price:a}}(" + "1," * 400_000 + "))",
    "calls": "x=(function(a){return {price:" * 30_000,
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("form", ['<script type="application/json">{}</script>', "<script>x={}</script>", "{}"])
def test_bombs_in_states_do_not_go_off(name: str, form: str) -> None:
    html = page(form.replace("{}", BOMBS[name])) if form.startswith("<") else BOMBS[name]
    document = Document(html, URL)
    extract_product(document, URL)
    assert len([*document.states]) <= state.MAX_STATES


def test_a_state_that_holds_itself_is_read_once() -> None:
    script = f'<script type="application/json" id="__NUXT_DATA__">{json.dumps(cycle())}</script>'
    item = extract_product(page(script), URL)
    assert item is not None
    assert item.price == Decimal(5)
    found = next(Document(page(script), URL).states)
    assert state.lookup(found, ".".join(["a"] * 1_000)) is None


@pytest.mark.parametrize("flat", [[99_999_999_999_999_999], ["a text of twenty letters"], [["Ref", 7], "some text"]])
def test_a_flat_state_of_one_value_is_none(flat: Any) -> None:
    html = page(f'<script type="application/json" id="__NUXT_DATA__">{json.dumps(flat)}</script>')
    extract_product(html, URL)
    assert [*Document(html, URL).states] == []


FLIGHTS = {
    "rows": "0:1\n" * 300_000,
    "no rows": "x" * 2_000_000,
    "lengths": "0:Tffffffff," * 100_000,
    "circle": '0:{"price":"$1","name":"Steel knife"}\n1:["$0","$1"]\n',
    "deep": "0:" + "[" * 500_000,
    "paths": '0:["' + "$0:0" * 100_000 + '"]\n',
    "references": "".join(f'{n:x}:["${n + 1:x}"]\n' for n in range(50_000)),
}


@pytest.mark.parametrize("name", FLIGHTS)
def test_bombs_in_streams_do_not_go_off(name: str) -> None:
    pushed = f"self.__next_f.push({json.dumps([1, FLIGHTS[name]])})"
    document = Document(page(f"<script>{pushed}</script>"), URL)
    extract_product(document, URL)
    assert len([*document.states]) <= 1


@pytest.mark.parametrize("path", ["__next_f.1.*.*.*.price", "__next_f.*.*.*.price"])
def test_what_a_rule_finds_through_references_is_bounded(path: str) -> None:
    """Each of some members may refer to a row of as many: 160 KB are a million values, and a billion one step on."""
    rows = "".join(f"{at}:{json.dumps([f'${at + 1}'] * 10_000)}\n" for at in (1, 2)) + '3:[{"a":1}]\n'
    pushed = f"self.__next_f.push({json.dumps([1, rows])})"
    (found,) = Document(page(f"<script>{pushed}</script>"), URL).states
    tracemalloc.start()
    assert state.lookup(found, path) is None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000


def test_few_members_are_read_as_json() -> None:
    """To find out that 50,000 are none would take a quarter of a second."""
    found = json.dumps({f"a{n}": '{"price":1}' for n in range(9_000)})
    (opened,) = Document(page(f'<script type="application/json">{found}</script>'), URL).states
    assert sum(isinstance(member, dict) for member in opened.values()) == state.MAX_STEPS


def test_many_pushes_are_bounded() -> None:
    pushed = 'self.__next_f.push([1,"0:1\\n"]);' * 60_000
    document = Document(page(f"<script>{pushed}</script>"), URL)
    extract_product(document, URL)
    assert len([*document.states]) == 1


def test_json_inside_a_literal_costs_hardly_a_token() -> None:
    inner = {"list": [{"name": f"Thing {number}", "price": 1.5, "tags": ["a", None]} for number in range(500)]}
    text = f"{{items: {json.dumps(inner)}, more: [{{'name': x}}], last: 1}} + 1"
    budget = literal.Allowance()

    value, end = literal.read(text, 0, budget)

    assert value["items"]["list"][499] == {"name": "Thing 499", "price": "1.5", "tags": ["a", None]}
    assert (value["more"], value["last"], text[end:]) == ([{"name": None}], 1, " + 1")
    assert literal.MAX_TOKENS - budget.tokens < 40


@pytest.mark.parametrize(
    "tail", ["x" * 1_000_000, '", "x":' * 100_000 + "!"], ids=["unterminated", "broken at the end"]
)
def test_what_is_read_as_json_in_vain_is_bounded(tail: str) -> None:
    budget = literal.Allowance()

    with pytest.raises(ValueError, match="no literal"):
        literal.read("{a:" + '{"b":' * 150 + f'"{tail}', 0, budget)

    assert budget.tokens < 0


def test_the_currency_of_a_state_goes_with_a_price_that_is_shown_without_one() -> None:
    shown = "<h1>Steel knife</h1><div class=price><span>49</span><sup>90</sup></div><button>Add to cart</button>"
    item = extract_product(page(next_data({"product": PRODUCT})) + shown, URL)
    assert item is not None
    assert (item.price, item.currency, item.found_in["currency"]) == (Decimal("49.90"), "EUR", "state")


def test_a_price_that_a_shopify_theme_tells_its_counters_is_in_cents() -> None:
    variant = {"id": 551, "price": 4800, "name": "Steel knife", "public_title": None, "sku": "KN-77"}
    item = extract_product(
        page(f"<script>var meta = {json.dumps({'product': {'variants': [variant]}})};</script>"), URL
    )
    assert item is not None
    assert item.price == Decimal(48)


@pytest.mark.parametrize(
    ("path", "stated", "shown"),
    [
        ("events/steel-knife", {"venue": "Blue Hall"}, "<button>Get tickets</button>"),
        ("recipes/steel-knife", {"servings": 4}, ""),
        ("kurse/steel-knife", {"start": "2027-01-12"}, "<button>Anmelden</button>"),
        ("hotels/steel-knife", {"stars": 4}, "<button>Book now</button>"),
        ("cart", {"items": [PRODUCT]}, ""),
        ("x/steel-knife", {"beds": 3}, "<p>3 bedrooms, 90 m²</p>"),
        ("collections/steel-knife", {"products": OTHERS}, ""),
        ("collections/steel-knife", {"facets": ["Colour"], "productCount": 12}, ""),
    ],
)
@pytest.mark.parametrize("form", ["<script type=application/json>{}</script>", "<div data-page='{}'></div>"])
def test_what_else_has_a_name_and_a_price_is_no_product(
    form: str, path: str, stated: dict[str, Any], shown: str
) -> None:
    state = json.dumps({"data": {"name": "Steel knife", "price": 49.9, "currency": "EUR", **stated}})
    html = page(f"<h1>Steel knife</h1>{form.format(state)}{shown}")
    assert extract_product(html, f"https://shop.example.com/{path}") is None
