"""Which scripts are asked for prices."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.extraction.scripts import state, state_nodes, state_prices
from crawler.extraction.source.source import Script

SPELLINGS = (str, str.upper, str.capitalize, "-{}-".format)  # however a shop's system writes a key


@pytest.mark.parametrize("key", state_prices.KEYS)
def test_no_key_of_a_price_is_missed(key: str) -> None:
    for spelling in SPELLINGS:
        written = spelling(key)
        assert state_nodes.key(written) == key
        plain = json.dumps({"a": [{"name": "Lamp", written: 5}]})
        for code in (
            plain,
            json.dumps(plain),
            json.dumps([1, json.dumps(plain)]),
            json.dumps({written: 5}, indent=2),
            quote(plain),
        ):
            assert state_prices.may_be_in(code), code
    assert state_prices.may_be_in(f"var a = {{name: 'Lamp', {key} : 5}}")
    assert state_prices.may_be_in(f"var a = {{'{key}':5}}")


@pytest.mark.parametrize("key", ["sale_price", "salePrice", "price-range", "Price_Info", "masterData", "finalPrice"])
def test_words_of_a_key_may_be_parted(key: str) -> None:
    assert state_prices.may_be_in(json.dumps({key: 5}))


@pytest.mark.parametrize(
    "code",
    [
        "",
        '{"name": "Price 5"}',
        '{"pdp-sale-price-label": "Now:", "priceless": 1, "computedVariants": {}, "guestOffers": []}',
        '{"text": "the price of lamps", "class": "jss-pricing-lockup"}',
        '"rice" "offers" variants, master',
    ],
)
def test_what_is_no_key_of_a_price_is_not_read(code: str) -> None:
    assert not state_prices.may_be_in(code)


def test_a_script_with_too_many_likely_words_is_read() -> None:
    assert state_prices.may_be_in("rice " * (state_prices.MOST + 1))


json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=8) | st.sampled_from([*state_prices.KEYS, "name", "unit_price"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_only_states_without_a_price_are_passed_by(value: object) -> None:
    html = f"<script type=application/json>{json.dumps(value)}{' ' * 20}</script>"
    start = html.index(">") + 1
    scripts = [Script("type=application/json", start, html.rindex("<"))]
    read = state.states(html, scripts)
    assert state.states(html, scripts, state_prices.may_be_in) in (read, [])
    if any(state_nodes.key(key) in state_prices.KEYS for key in _keys(value)):
        assert state.states(html, scripts, state_prices.may_be_in) == read


def _keys(value: object) -> set[str]:
    if isinstance(value, dict):
        return {*value, *(key for inner in value.values() for key in _keys(inner))}
    return {key for inner in value for key in _keys(inner)} if isinstance(value, list) else set()
