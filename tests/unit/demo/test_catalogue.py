"""The catalogue is the demo's truth: the same for the same seed, and honest about what a day changes."""

from __future__ import annotations

from decimal import Decimal

import pytest

from demo import catalogue
from demo.catalogue import STORES


def test_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    assert catalogue.build(seed=1, size=20).truth() == catalogue.build(seed=1, size=20).truth()
    assert catalogue.build(seed=1, size=20).truth() != catalogue.build(seed=2, size=20).truth()


def test_default_size_is_more_than_500_products_with_addresses_and_skus_of_their_own() -> None:
    products = catalogue.build().products

    assert len(products) >= 500
    assert len({product.url for product in products}) == len(products)
    assert len({product.sku for product in products}) == len(products)


def test_every_style_and_currency_is_on_sale() -> None:
    products = catalogue.build(size=20).products

    assert {product.style for product in products} == {"json-ld", "microdata", "html"}
    assert {product.store.currency for product in products} == {"EUR", "USD", "GBP", "SEK", "JPY"}


@pytest.mark.parametrize("day", [2, 3, 5])
def test_a_day_changes_exactly_the_prices_it_names(day: int) -> None:
    before = {product.url: product.price for product in catalogue.build(day=day - 1).products}
    today = catalogue.build(day=day)
    now = {product.url: product.price for product in today.products}

    differing = {url: (before[url], now[url]) for url in before.keys() & now.keys() if before[url] != now[url]}
    assert differing == today.changed
    assert differing


def test_a_day_replaces_some_products_and_remembers_those_it_took_away() -> None:
    first, second = catalogue.build(day=1), catalogue.build(day=2)
    gone = {item.url for item in first.products} - {item.url for item in second.products}

    assert gone == {item.url for item in second.retired}
    assert len(second.products) == len(first.products)
    assert gone


@pytest.mark.parametrize(
    ("store", "amount", "text"),
    [
        (STORES[0], "1299.00", "€1,299.00"),
        (STORES[1], "0.99", "£0.99"),
        (STORES[2], "15", "$15.00"),
        (STORES[3], "15873.50", "15\u00a0873,50 kr"),
        (STORES[4], "232400", "¥232,400"),
    ],
)
def test_money_is_written_as_the_country_writes_it(store: catalogue.Store, amount: str, text: str) -> None:
    assert catalogue.money(store, Decimal(amount)) == text


def test_gtins_carry_a_true_check_digit() -> None:
    from stdnum import ean

    assert all(ean.is_valid(product.gtin) for product in catalogue.build(size=20).products)


@pytest.mark.parametrize(("size", "day"), [(19, 1), (20, 0)])
def test_refuses_a_shop_too_small_for_its_troubles(size: int, day: int) -> None:
    with pytest.raises(ValueError, match="at least 20 and 1"):
        catalogue.build(size=size, day=day)
