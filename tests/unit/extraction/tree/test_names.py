"""What class names say of a price."""

from __future__ import annotations

import pytest

from crawler.extraction.tree import names


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("price", 0),
        ("old-price", names.OLD),
        ("price-old-live", names.OLD | names.CURRENT),
        ("price_old price_live", names.OLD | names.CURRENT),
        ("productOldPrice", names.OLD),
        ("oldprice", names.OLD),
        ("price--was", names.OLD),
        ("was-now-price", names.OLD | names.CURRENT),
        ("price-before-sale", names.OLD),
        ("nonSalePrice", names.OLD),
        ("regular-price", names.OLD),
        ("Price_regularPrice__x1", names.OLD),
        ("streichpreis", names.OLD),
        ("prix-barre", names.OLD),
        ("precio-anterior", names.OLD),
        ("strikethrough", names.OLD),
        ("line-through", names.OLD),
        ("salePrice", names.CURRENT),
        ("price-final_price", names.CURRENT),
        ("current-price", names.CURRENT),
        ("preis-aktuell", names.CURRENT),
        ("now", names.CURRENT),
        ("threshold-holder", 0),
        ("wash-wasser", 0),
        ("regular-font", 0),
        ("list", 0),
        ("sale", 0),
    ],
)
def test_the_price_that_a_name_means(name: str, said: int) -> None:
    assert names.flags(name) & (names.OLD | names.CURRENT) == said


@pytest.mark.parametrize(
    "name",
    [
        "list-unstyled price",
        "price list-inline",
        "list-group-item price",
        "price w-full",
        "max-w-full price",
        "text-base price",
        "price font-normal",
        "price fw-normal",
        "font-weight-normal price",
        "price text-regular",
        "price leading-normal",
        "price rounded-full",
    ],
)
def test_how_a_framework_sets_a_text_says_nothing_of_its_price(name: str) -> None:
    assert names.flags(name) == names.PRICE


@pytest.mark.parametrize("name", ["list-price", "price price--list", "full-price", "base-price", "normal-price"])
def test_the_same_words_for_a_price_do(name: str) -> None:
    assert names.flags(name) & names.OLD


def test_sizes_are_choices() -> None:
    assert names.flags("product-sizes__item") & names.CHOICE
    assert not names.flags("resizable") & names.CHOICE
    assert names.flags("size-option size-large") & names.CHOICE


@pytest.mark.parametrize("name", ["btnNormal sizeL", "a-size-medium", "text size-sm"])
def test_how_large_a_text_is_is_no_choice(name: str) -> None:
    assert not names.flags(name) & names.CHOICE


@pytest.mark.parametrize("name", ["stock hidden", "d-none", "price is-hidden", "btn displaynone", "no-display"])
def test_what_classes_hide(name: str) -> None:
    assert names.flags(name) & names.HIDDEN


@pytest.mark.parametrize("name", ["hidden md:block", "d-none d-lg-flex", "overflow-hidden", "hidden-xs", "hideable"])
def test_what_some_screens_show_is_not_hidden(name: str) -> None:
    assert not names.flags(name) & names.HIDDEN


@pytest.mark.parametrize(("name", "is_other"), [("stock-tooltip", False), ("price-tooltip", True), ("reviews", True)])
def test_stock_with_an_explanation_is_the_products(name: str, is_other: bool) -> None:
    assert bool(names.flags(name) & names.OTHER) is is_other


@pytest.mark.parametrize(("name", "net"), [("prices-tier", True), ("price-net", True), ("price_net_brutto_1", False)])
def test_prices_that_are_not_asked(name: str, net: bool) -> None:
    assert bool(names.flags(name) & names.NET) is net


@pytest.mark.parametrize(
    ("name", "is_other"), [("bundle-price price", False), ("bundle-items", True), ("bundle", True)]
)
def test_the_price_of_a_bundle_is_its_own(name: str, is_other: bool) -> None:
    assert bool(names.flags(name) & names.OTHER) is is_other
